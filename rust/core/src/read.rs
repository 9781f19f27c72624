//! What a message says: its tool calls, its tool results, and what was spoken.
//!
//! Every message is recognised by its own structure, so that a conversation may mix shapes; [`crate::shapes`] has a
//! reader for each family. A structure that nobody knows has no calls and no results; where an importer may know it,
//! [`NeedsImport`] says so. The twin is `_pure/read.py`.

use crate::foreign::{is_dialect, is_foreign, is_foreign_part};
use crate::said::{Said, Spoken, ToolCall, ToolResult};
use crate::shapes::{self, Chat};
use crate::text::Text;
use crate::value::{Value, names, text_or_empty};

pub(crate) use crate::value::{first_text, items, objects};

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

/// A message that only an importer can read: the caller is to import the messages, and to ask again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NeedsImport;

/// Take in what a message of this role says; the name of its shape, nothing where it fits any.
pub fn read_message<'a, V: Value<'a>>(
    message: V,
    role: Option<V>,
    said: &mut Said<'a, V>,
) -> Result<Option<&'static str>, NeedsImport> {
    if is_dialect(message, role) {
        return Err(NeedsImport);
    }
    if role.is_none() || message.get(names::CONTENT).is_none() {
        let shape = shapes::read_others(message, role, said);
        if shape.is_some() {
            return Ok(shape);
        }
        if is_foreign(message, role) {
            return Err(NeedsImport);
        }
    }
    Ok(shapes::read_with_content(message, role, said))
}

/// Return whether only an importer can read a message in which nobody seems to speak.
pub(crate) fn needs_import<'a, V: Value<'a>>(message: V, role: Option<V>) -> bool {
    is_foreign(message, role) && read_message(message, role, &mut Said::default()).is_err()
}

/// Return whether only an importer can read a call that stands by itself.
pub fn call_needs_import<'a, V: Value<'a>>(wire: V) -> bool {
    shapes::call(wire).is_none() && is_foreign_part(wire)
}

/// Return whether only an importer can read a result that stands by itself.
pub fn result_needs_import<'a, V: Value<'a>>(wire: V) -> bool {
    shapes::result(wire).is_none() && is_foreign_part(wire)
}

/// What a call says that stands by itself; what is of no other shape is read as [`Chat`]'s.
pub fn read_call<'a, V: Value<'a>>(wire: V) -> ToolCall<'a, V> {
    shapes::call(wire).unwrap_or_else(|| Chat::to_call(wire))
}

/// What a result says that stands by itself; what is of no other shape is read as [`Chat`]'s.
pub fn read_result<'a, V: Value<'a>>(wire: V) -> ToolResult<'a, V> {
    shapes::result(wire).unwrap_or_else(|| Chat::to_result(wire))
}

/// Who speaks in a message, and what is said; of a message that needs an importer nothing may be known.
pub fn read_spoken<'a, V: Value<'a>>(message: V) -> Spoken<'a, V> {
    let (role, content) = (message.get(names::ROLE), message.get(names::CONTENT));
    let plain = Spoken { speaker: text_or_empty(role), content };
    if role.is_some() && content.is_some() {
        return plain;
    }
    shapes::spoken(message).unwrap_or(plain)
}
