//! Codex rollouts: records that hold an item of `OpenAI` Responses as their `payload`.
//!
//! The other kinds of records (`event_msg` and its mirror of outputs, `turn_context`, `compacted`) say nothing that the
//! items don't. The older flat form, in which the records are the items, is read as Responses.
//! The twin is `_pure/shapes/codex.py`.

use super::responses::Responses;
use crate::said::{Said, Shape, Spoken};
use crate::value::{Value, names, text_or_empty};

const NAME: &str = "codex";

pub(crate) struct Codex;

impl Shape for Codex {
    fn read<'a, V: Value<'a>>(message: V, _: Option<V>, said: &mut Said<'a, V>) -> Option<&'static str> {
        let payload = message.get(names::PAYLOAD)?.object()?;
        if is_item(message) {
            Responses::read(payload, None, said);
        }
        Some(NAME)
    }

    fn spoken<'a, V: Value<'a>>(message: V) -> Option<Spoken<'a, V>> {
        let payload = message.get(names::PAYLOAD).filter(|_| is_item(message))?.object()?;
        Some(Spoken { speaker: text_or_empty(payload.get(names::ROLE)), content: payload.get(names::CONTENT) })
    }
}

fn is_item<'a, V: Value<'a>>(record: V) -> bool {
    text_or_empty(record.get(names::TYPE)).is("response_item")
}
