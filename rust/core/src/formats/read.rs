//! What a message says: its tool calls, its tool results, and what was spoken.
//!
//! Every message is recognised by its own structure, so that a conversation may mix shapes; [`crate::formats`] has a
//! reader for each family. A structure that nobody knows has no calls and no results. The twin is `_pure/read.py`.

use super::Chat;
use super::message::{Said, Spoken, ToolCall, ToolResult};
use crate::formats;
use crate::json::value::{Value, names, text_or_empty};
use crate::text::Text;

/// The name of a tool that nothing names.
pub const UNKNOWN: &str = "unknown";

/// Who speaks where a person does.
pub(crate) const USER: &str = "USER";

/// Who speaks, by what the shapes call them.
pub(crate) fn speaker_of(role: Text<'_>) -> Option<&'static str> {
    match () {
        () if ["user", "human"].iter().any(|name| role.is(name)) => Some(USER),
        () if ["assistant", "ai", "AIMessageChunk", "model", "agent"].iter().any(|name| role.is(name)) => {
            Some("ASSISTANT")
        }
        () => None,
    }
}

/// Take in what a message of this role says; the name of its shape, nothing where it fits any.
pub fn read_message<'a, V: Value<'a>>(message: V, role: Option<V>, said: &mut Said<'a, V>) -> Option<&'static str> {
    if role.is_some() && message.get(names::CONTENT).is_some() {
        formats::read_with_content(message, role, said)
    } else {
        formats::read(message, role, said)
    }
}

/// What a call says that stands by itself; what is of no other shape is read as [`Chat`]'s.
pub fn read_call<'a, V: Value<'a>>(wire: V) -> ToolCall<'a, V> {
    formats::call(wire).unwrap_or_else(|| Chat::to_call(wire))
}

/// What a result says that stands by itself; what is of no other shape is read as [`Chat`]'s.
pub fn read_result<'a, V: Value<'a>>(wire: V) -> ToolResult<'a, V> {
    formats::result(wire).unwrap_or_else(|| Chat::to_result(wire))
}

/// Who speaks in a message, and what is said.
pub fn read_spoken<'a, V: Value<'a>>(message: V) -> Spoken<'a, V> {
    let (role, content) = (message.get(names::ROLE), message.get(names::CONTENT));
    let plain = Spoken { speaker: text_or_empty(role), content };
    if role.is_some() && content.is_some() {
        return plain;
    }
    formats::spoken(message).unwrap_or(plain)
}
