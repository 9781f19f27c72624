//! The constant texts of `_data/texts.json`, for modules of all layers.

include!(concat!(env!("OUT_DIR"), "/texts.rs"));

/// Return a text of a message that a destination asks for, or that holds the media of results; empty for another name.
pub(crate) fn added(name: &str) -> &'static str {
    ADDED.iter().find(|(own, _)| *own == name).map_or("", |(_, text)| *text)
}
