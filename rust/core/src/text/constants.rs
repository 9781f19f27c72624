//! The constant texts of `_data/texts.json`, for modules of all layers.

include!(concat!(env!("OUT_DIR"), "/texts.rs"));
