//! The things in the parts of messages that some steps of a repair look for.
//!
//! One look at each part finds them all, so that a request without them skips these steps.

use super::cache_marks::{is_marked, is_point};
use super::destinations::{Destination, Form};
use super::media::{holds_media, is_medium};
use super::message_parts::is_models;
use super::text_types::{GIVEN, SAID, has_other_type, is_text_of_responses};
use crate::json::value::{Key, Value, items, names, text_or_empty};
use crate::projection::edits::PartsKey;
use crate::projection::request::EditedMessages;
use crate::text::Text;

/// The type of the results of a server's search for tools.
pub(super) const SEARCH_RESULT: &str = "tool_search_tool_result";
/// The name that stands for all roles.
const ANY: &str = "*";
/// The type of an item that is a message.
const MESSAGE: &str = "message";
/// The types of the parts of the Model Context Protocol that providers do not have.
const OF_PROTOCOL: [&str; 4] = ["image", "audio", "resource", "resource_link"];
/// The members of a text without a mark, which every destination with types knows.
const PLAIN_TEXT: [Key<'static>; 2] = [names::TYPE, names::TEXT];
/// The types of parts that have no member of another form.
pub(super) const PLAIN: [&str; 3] = ["text", "tool_use", "tool_result"];

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
        let mut known = destination.rules.message_members.iter().flat_map(|(_, known)| *known);
        let overlaps = known.any(|key| refused.contains(key)); // a user may refuse what the base knows
        for message in edited.messages {
            let is_known = match members_of_message(*message, destination) {
                Some(known) => message.has_only(known) && !(overlaps && message.has_any_name(refused)),
                None => refused.is_empty() || !message.has_any_name(refused),
            };
            found.has_refused = found.has_refused || !is_known;
            let parts = message.get(names::CONTENT).and_then(Value::list);
            let is_models = destination.form == Form::Items && is_models(*message);
            for part in parts.into_iter().flat_map(items).filter_map(Value::object) {
                found.note(part, (destination, is_models));
            }
            if destination.key == PartsKey::Parts {
                found.note_all(message.get(names::PARTS), destination);
            }
        }
        if destination.rules.judges_parts() {
            for block in edited.blocks {
                found.note_all(block.slot.and_then(|slot| slot.content), destination);
                let beside = block.slot.and_then(|slot| slot.response_parts());
                found.has_odd_parts = found.has_odd_parts || beside.is_some_and(|beside| beside.count() > 0);
            }
        }
        found
    }

    /// Note what a part has. The parts of a result may have marks.
    fn note<'a, V: Value<'a>>(&mut self, part: V, (destination, is_models): (&Destination, bool)) {
        let Some(kind) = part.get(names::TYPE) else {
            let is_text = part.has(names::TEXT);
            self.has_other_texts = self.has_other_texts || is_text;
            self.has_marks = self.has_marks || is_marked(part) || is_point(part);
            self.has_odd_parts = self.has_odd_parts || is_odd(part, destination, is_models);
            return;
        };
        let kind = match destination.form {
            Form::Items => kind_in(part, destination, is_models),
            _ => text_or_empty(Some(kind)),
        };
        self.has_thoughts = self.has_thoughts || kind.is("thinking");
        match destination.known_members(kind) {
            Some(known) if part.has_only(without_mark(known)) && !is_judged(part, kind) => {}
            Some(known) => {
                self.has_marks = self.has_marks || is_marked(part);
                self.has_odd_parts = self.has_odd_parts || is_judged(part, kind) || !part.has_only(known);
            }
            None => {
                self.has_marks = self.has_marks || is_marked(part);
                self.has_other_texts = self.has_other_texts || is_text_of_responses(part);
                self.has_odd_parts = self.has_odd_parts || is_odd(part, destination, is_models);
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
            self.has_odd_parts = items(list).filter_map(Value::object).any(|part| is_odd(part, destination, false));
        }
    }
}

/// Return true if a part may have to be corrected by itself.
fn is_odd<'a, V: Value<'a>>(part: V, destination: &Destination, is_models: bool) -> bool {
    if !destination.rules.judges_parts() {
        return false;
    }
    let kind = kind_in(part, destination, is_models);
    if PLAIN.iter().any(|name| kind.is(name)) && part.has_only(&PLAIN_TEXT) {
        return !destination.has_types();
    }
    if kind.is_empty() || !destination.has_types() {
        return holds_media(part)
            || members_of_part(part, kind, destination).is_some_and(|known| !part.has_only(known))
            || has_odd_holder(part, destination)
            || is_of_protocol(kind);
    }
    match destination.known_members(kind) {
        Some(known) => is_medium(part, kind) || !part.has_only(known),
        None => !PLAIN.iter().any(|name| kind.is(name)),
    }
}

/// Return true if a part is judged by more than its members: a medium, or what a search for tools found.
fn is_judged<'a, V: Value<'a>>(part: V, kind: Text<'_>) -> bool {
    !PLAIN.iter().any(|name| kind.is(name)) && (is_medium(part, kind) || kind.is(SEARCH_RESULT))
}

/// Return true if a part has the type of one of the Model Context Protocol that no provider has.
pub(super) fn is_of_protocol(kind: Text<'_>) -> bool {
    OF_PROTOCOL.iter().any(|name| kind.is(name))
}

/// Return true if what a part holds has a member that the destination does not know.
pub(super) fn has_odd_holder<'a, V: Value<'a>>(part: V, destination: &Destination) -> bool {
    let is_odd = |(holder, known): &(&str, &[Key<'static>])| {
        let held = part.get(Key::named(Text::ascii(holder))).and_then(Value::object);
        held.is_some_and(|held| !held.has_only(known))
    };
    destination.rules.held_members.iter().any(is_odd)
}

/// Return the members of a part; `None` if the destination takes any. A part without a type is one of its kind by its
/// members, whatever else it has.
pub(super) fn members_of_part<'a, V: Value<'a>>(
    part: V,
    kind: Text<'_>,
    destination: &Destination,
) -> Option<&'static [Key<'static>]> {
    if destination.has_types() {
        return destination.known_members(kind);
    }
    destination.known_members(Text::ascii("")).filter(|known| part.has_any_name(known))
}

/// Return the members of a message or an item; `None` if the destination takes any.
pub(super) fn members_of_message<'a, V: Value<'a>>(
    message: V,
    destination: &Destination,
) -> Option<&'static [Key<'static>]> {
    let all = destination.rules.message_members;
    let named = |name: Text<'_>| all.iter().find(|(own, _)| name.is(own)).map(|(_, known)| *known);
    match all {
        [] => None,
        [(ANY, known)] => Some(known),
        _ if destination.form == Form::Items => match text_or_empty(message.get(names::TYPE)) {
            kind if kind.is_empty() && message.has(names::ROLE) => named(Text::ascii(MESSAGE)),
            kind => named(kind),
        },
        _ => named(text_or_empty(message.get(names::ROLE))).or_else(|| named(Text::ascii(ANY))),
    }
}

/// Return the members of a part without a mark for the prompt cache, which is the last one of each list.
fn without_mark(known: &'static [Key<'static>]) -> &'static [Key<'static>] {
    match known {
        [rest @ .., last] if *last == names::CACHE_CONTROL => rest,
        all => all,
    }
}

/// Return the type of a part, as it will be. In Responses, that of a text follows from the role of its message.
pub(super) fn kind_in<'a, V: Value<'a>>(part: V, destination: &Destination, is_models: bool) -> Text<'a> {
    let kind = text_or_empty(part.get(names::TYPE));
    match destination.form {
        Form::Items if has_other_type(part) || kind.is("text") => Text::ascii(if is_models { SAID } else { GIVEN }),
        Form::Turns | Form::Chat if destination.has_types() && has_other_type(part) => Text::ascii("text"),
        _ => kind,
    }
}
