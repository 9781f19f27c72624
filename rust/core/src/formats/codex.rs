//! Codex rollouts: records that hold an item of `OpenAI` Responses as their `payload`.
//!
//! The other types of records (`event_msg`, which repeats outputs, `turn_context`, `compacted`) add nothing to the
//! items. The older flat form, whose records are the items, is read as Responses.

use super::anthropic::Anthropic;
use super::message::{Format, MessageParts, Spoken};
use super::responses::{CODEX_RECORDS, Responses};
use super::unread::is_known;
use crate::json::value::{Value, names, text_or_empty};

const NAME: &str = "codex";

pub(crate) struct Codex;

impl Format for Codex {
    fn read<'a, V: Value<'a>>(
        message: V,
        role: Option<V>,
        message_parts: &mut MessageParts<'a, V>,
    ) -> Option<&'static str> {
        let payload = message.get(names::PAYLOAD).filter(|_| role.is_none())?.object()?;
        let kind = text_or_empty(message.get(names::TYPE));
        if !CODEX_RECORDS.iter().any(|name| kind.is(name)) {
            return None;
        }
        if is_item(message) {
            read_item(payload, message_parts);
        }
        Some(NAME)
    }

    fn spoken<'a, V: Value<'a>>(message: V) -> Option<Spoken<'a, V>> {
        let payload = message.get(names::PAYLOAD).filter(|_| is_item(message))?.object()?;
        Some(Spoken { speaker: text_or_empty(payload.get(names::ROLE)), content: payload.get(names::CONTENT) })
    }
}

/// Read an item of Responses: a call, a result, or a message with its parts.
fn read_item<'a, V: Value<'a>>(item: V, message_parts: &mut MessageParts<'a, V>) {
    let role = item.get(names::ROLE);
    if role.is_some() {
        Anthropic::read(item, role, message_parts);
    } else if Responses::read(item, None, message_parts).is_some() {
        return;
    }
    if message_parts.unread.is_none() && !is_known(item, role) {
        message_parts.note(item);
    }
}

fn is_item<'a, V: Value<'a>>(record: V) -> bool {
    text_or_empty(record.get(names::TYPE)).is("response_item")
}
