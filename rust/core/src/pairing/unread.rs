//! The report about messages, records and parts of a structure that no format knows.

use crate::json::value::Value;
use crate::text::OwnedText;

/// The maximum number of places in a report.
pub(super) const MOST_PLACES: usize = 5;
/// The maximum number of keys of a place.
const MOST_KEYS: usize = 8;
/// The maximum number of characters of a key that are needed to show it; a longer one is cut.
const ENOUGH: usize = 41;

/// Messages that a walk could not read: a count, the number of all messages, and the first of them, each by its number
/// and the keys of what no format knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unread {
    /// The number of messages that are unknown, or have a part or a call of an unknown structure.
    pub count: usize,
    /// The number of messages that were walked.
    pub total: usize,
    /// The number of each of the first messages, with the keys.
    pub first: Vec<(usize, Vec<OwnedText>)>,
}

/// Return the first keys of an object.
pub(super) fn keys_of<'a, V: Value<'a>>(object: V) -> Vec<OwnedText> {
    let mut keys = Vec::new();
    object.members(&mut |name, _| {
        keys.push(OwnedText::from(name.slice(0, name.len().min(ENOUGH))));
        keys.len() < MOST_KEYS
    });
    keys
}
