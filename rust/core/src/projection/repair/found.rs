//! The things in the parts of messages that some steps of a repair look for.
//!
//! One look at each part finds them all, so that a request without them skips these steps.

use super::cache_marks::{is_marked, is_point};
use super::destinations::Destination;
use super::media::{holds_media, is_medium};
use super::text_types::{has_other_type, is_text_of_responses};
use crate::json::value::{Key, Value, items, names, text_or_empty};
use crate::projection::edits::PartsKey;
use crate::projection::request::EditedMessages;
use crate::text::Text;

/// The types of parts that have no member of another form.
const PLAIN: [&str; 3] = ["text", "tool_use", "tool_result"];

#[derive(Default)]
pub(super) struct Found {
    pub(super) has_thoughts: bool,
    pub(super) has_refused: bool,
    pub(super) has_marks: bool,
    pub(super) has_other_texts: bool,
    /// True if a part may have members that its type does not have, or is not one of the plain types.
    pub(super) has_odd_parts: bool,
}

impl Found {
    pub(super) fn new<'a, V: Value<'a>>(edited: &EditedMessages<'a, '_, V>, destination: &Destination) -> Self {
        let mut found = Self::default();
        let refused = destination.rules.refused_members;
        for message in edited.messages {
            found.has_refused = found.has_refused || (!refused.is_empty() && message.has_any_name(refused));
            let parts = message.get(names::CONTENT).and_then(Value::list);
            for part in parts.into_iter().flat_map(items).filter_map(Value::object) {
                found.note(part, destination);
            }
            if destination.key == PartsKey::Parts {
                found.note_all(message.get(names::PARTS), destination);
            }
        }
        if destination.rules.judges_parts() {
            for block in edited.blocks {
                found.note_all(block.slot.and_then(|slot| slot.content), destination);
            }
        }
        found
    }

    /// Note what a part has. The parts of a result may have marks.
    fn note<'a, V: Value<'a>>(&mut self, part: V, destination: &Destination) {
        let Some(kind) = part.get(names::TYPE) else {
            let is_text = part.has(names::TEXT);
            self.has_other_texts = self.has_other_texts || is_text;
            self.has_marks = self.has_marks || is_marked(part) || is_point(part);
            self.has_odd_parts = self.has_odd_parts || is_odd(part, destination);
            return;
        };
        let kind = text_or_empty(Some(kind));
        self.has_thoughts = self.has_thoughts || kind.is("thinking");
        match known_members(kind, destination) {
            Some(known) if part.has_only(without_mark(known)) && !is_medium(part, kind) => {}
            Some(known) => {
                self.has_marks = self.has_marks || is_marked(part);
                self.has_odd_parts = self.has_odd_parts || is_medium(part, kind) || !part.has_only(known);
            }
            None => {
                self.has_marks = self.has_marks || is_marked(part);
                self.has_other_texts = self.has_other_texts || is_text_of_responses(part);
                self.has_odd_parts = self.has_odd_parts || is_odd(part, destination);
            }
        }
        if !self.has_marks && destination.rules.cache_marks > 0 && kind.is("tool_result") {
            let inner = part.get(names::CONTENT).and_then(Value::list);
            self.has_marks = inner.into_iter().flat_map(items).filter_map(Value::object).any(is_marked);
        }
    }

    /// Note if one of the parts in a list is odd.
    fn note_all<'a, V: Value<'a>>(&mut self, list: Option<V>, destination: &Destination) {
        if !self.has_odd_parts
            && let Some(list) = list.and_then(Value::list)
        {
            self.has_odd_parts = items(list).filter_map(Value::object).any(|part| is_odd(part, destination));
        }
    }
}

/// Return true if a part may have to be corrected by itself.
fn is_odd<'a, V: Value<'a>>(part: V, destination: &Destination) -> bool {
    if !destination.rules.judges_parts() {
        return false;
    }
    let kind = kind_in(part, destination);
    if kind.is_empty() {
        return holds_media(part);
    }
    match known_members(kind, destination) {
        Some(known) => is_medium(part, kind) || !part.has_only(known),
        None => !PLAIN.iter().any(|name| kind.is(name)),
    }
}

/// Return the members of a type of parts; `None` if the destination takes any.
pub(super) fn known_members(kind: Text<'_>, destination: &Destination) -> Option<&'static [Key<'static>]> {
    destination.rules.part_members.iter().find(|(own, _)| kind.is(own)).map(|(_, known)| *known)
}

/// Return the members of a part without a mark for the prompt cache, which is the last one of each list.
fn without_mark(known: &'static [Key<'static>]) -> &'static [Key<'static>] {
    match known {
        [rest @ .., last] if *last == names::CACHE_CONTROL => rest,
        all => all,
    }
}

/// Return the type of a part, as it will be.
pub(super) fn kind_in<'a, V: Value<'a>>(part: V, destination: &Destination) -> Text<'a> {
    if destination.has_types() && has_other_type(part) {
        return Text::ascii("text");
    }
    text_or_empty(part.get(names::TYPE))
}
