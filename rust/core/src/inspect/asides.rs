//! What is in a file, and is no part of the conversation: records without a message, thinking, and other members.

use ahash::AHashMap;

use crate::formats::message::MessageParts;
use crate::formats::{self, SYSTEM_ROLES, read_message, read_spoken};
use crate::json::value::{Key, Value, items, names};
use crate::session::queued_text;
use crate::text::{OwnedText, Text};

/// The members of a message that hold the conversation.
const HELD: [Key<'static>; 7] = [
    names::ROLE,
    names::CONTENT,
    names::PARTS,
    names::MESSAGE,
    names::PAYLOAD,
    names::TOOL_CALLS,
    names::FUNCTION_CALL,
];

/// The number of records, parts and members with a text, by the types of the first two and the names of the last.
#[derive(Debug, Default)]
pub(super) struct Asides<'a> {
    found: AHashMap<Text<'a>, usize>,
}

impl<'a> Asides<'a> {
    /// Add what a message, or a record of a session file, holds besides the conversation.
    pub(super) fn add<V: Value<'a>>(&mut self, record: V) {
        if let Some(kind) = kind_of_silent(record) {
            self.note(kind);
            return;
        }
        if let Some(role) = record.get(names::ROLE).and_then(Value::text)
            && SYSTEM_ROLES.iter().any(|name| role.is(name))
        {
            self.note(role);
            return;
        }
        let inner = [names::MESSAGE, names::PAYLOAD].iter().find_map(|key| record.get(*key).and_then(Value::object));
        for message in [Some(record), inner].into_iter().flatten().filter(|message| is_message(*message)) {
            message.members(&mut |name, value| {
                if !HELD.iter().any(|key| key.name == name) && has_words(value) {
                    self.note(name);
                }
                true
            });
            let parts = [names::CONTENT, names::PARTS].iter().filter_map(|key| message.get(*key).and_then(Value::list));
            for part in parts.flat_map(items).filter_map(Value::object) {
                if let Some(kind) = part.get(names::TYPE).and_then(Value::text)
                    && !kind.is("text") // OpenTelemetry's text is a content
                    && is_aside(part)
                {
                    self.note(kind);
                }
            }
        }
    }

    /// Return all counts, in alphabetical order.
    pub(super) fn in_order(self) -> Vec<(OwnedText, usize)> {
        let mut found: Vec<_> = self.found.into_iter().collect();
        found.sort_by_cached_key(|(name, _)| name.to_utf8());
        found.into_iter().map(|(name, count)| (OwnedText::from(name), count)).collect()
    }

    fn note(&mut self, name: Text<'a>) {
        *self.found.entry(name).or_default() += 1;
    }
}

/// Return true if an object has a speaker, or holds the message that has one.
fn is_message<'a, V: Value<'a>>(object: V) -> bool {
    object.has(names::ROLE) || object.has(names::MESSAGE)
}

/// Return true for a part with a text that is neither said, nor a call or a result.
fn is_aside<'a, V: Value<'a>>(part: V) -> bool {
    let is_block = || formats::call(part).is_some() || formats::result(part).is_some();
    part.get(names::TEXT).is_none() && has_words(part) && !is_block()
}

/// The type of a record, or an item, that is known and says nothing; `None` for anything else.
fn kind_of_silent<'a, V: Value<'a>>(record: V) -> Option<Text<'a>> {
    if is_message(record) || queued_text(record).is_some() {
        return None;
    }
    let mut message_parts = MessageParts::default();
    read_message(record, None, &mut message_parts).ok()?;
    let is_silent = message_parts.is_empty() && message_parts.unread.is_none();
    let kind = record.get(names::TYPE).and_then(Value::text)?;
    (is_silent && read_spoken(record).speaker.is_empty()).then_some(kind)
}

/// Return true if a value holds a text with a space, at any depth.
fn has_words<'a, V: Value<'a>>(value: V) -> bool {
    if value.text_len().is_some() {
        return value.text().is_some_and(|text| text.find(b' ').is_some());
    }
    if let Some(list) = value.list() {
        return items(list).any(has_words);
    }
    let Some(object) = value.object() else { return false };
    let mut is_found = false;
    object.members(&mut |_, held| {
        is_found = has_words(held);
        !is_found
    });
    is_found
}
