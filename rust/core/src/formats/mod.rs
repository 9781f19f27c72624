//! The formats of messages, a reader for each that a request path meets, and those of Claude Code and Codex.
//!
//! Every message is recognised by its own structure, so that a conversation may mix formats. A structure that nobody knows
//! has no calls and no results; where an importer may know it, [`NeedsImport`] says so. A new format is a file here and a
//! line in the list below. What other producers write is imported, in Python: `toolcarry.importers`.

use self::foreign::{is_dialect, is_foreign, is_foreign_part};
use self::message::{Said, Shape, Spoken, ToolCall, ToolResult};
use crate::formats;
use crate::input::messages::NeedsImport;
use crate::json::value::{Value, names, text_or_empty};
use crate::text::Text;

mod foreign;
pub mod message;

pub(crate) use self::chat::Chat;

/// Declare the families, and ask them in their order. All of it is compiled into the walk: no reader is called through
/// a pointer.
macro_rules! families {
    (others: $($other:ident::$Other:ident)+; with content: $($module:ident::$Shape:ident)+;) => {
        $(mod $other;)+
        $(mod $module;)+

        /// Take in what a message says that has a role and a content.
        pub(crate) fn read_with_content<'a, V: Value<'a>>(
            message: V,
            role: Option<V>,
            said: &mut Said<'a, V>,
        ) -> Option<&'static str> {
            None$(.or_else(|| $module::$Shape::read(message, role, said)))+
        }

        /// Take in what a message says that has them elsewhere.
        pub(crate) fn read_others<'a, V: Value<'a>>(
            message: V,
            role: Option<V>,
            said: &mut Said<'a, V>,
        ) -> Option<&'static str> {
            None$(.or_else(|| $other::$Other::read(message, role, said)))+
        }

        /// What a call says that stands by itself.
        pub(crate) fn call<'a, V: Value<'a>>(wire: V) -> Option<ToolCall<'a, V>> {
            None$(.or_else(|| $other::$Other::call(wire)))+$(.or_else(|| $module::$Shape::call(wire)))+
        }

        /// What a result says that stands by itself.
        pub(crate) fn result<'a, V: Value<'a>>(wire: V) -> Option<ToolResult<'a, V>> {
            None$(.or_else(|| $other::$Other::result(wire)))+$(.or_else(|| $module::$Shape::result(wire)))+
        }

        /// What is spoken in a message whose speaker and content have places of their own.
        pub(crate) fn spoken<'a, V: Value<'a>>(message: V) -> Option<Spoken<'a, V>> {
            None$(.or_else(|| $other::$Other::spoken(message)))+$(.or_else(|| $module::$Shape::spoken(message)))+
        }
    };
}

// A file and the reader in it, in the order in which they are asked; of a message with a role and a content, only those
// that have both. Before these, an importer has its say. Chat stands before Anthropic, since its messages may hold Anthropic's blocks as well.
families! {
    others:
        gemini::Gemini
        responses::Responses
        codex::Codex;
    with content:
        chat::Chat
        anthropic::Anthropic
        bedrock::Bedrock;
}

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
pub fn read_message<'a, V: Value<'a>>(
    message: V,
    role: Option<V>,
    said: &mut Said<'a, V>,
) -> Result<Option<&'static str>, NeedsImport> {
    if is_dialect(message, role) {
        return Err(NeedsImport);
    }
    if role.is_none() || message.get(names::CONTENT).is_none() {
        let shape = formats::read_others(message, role, said);
        if shape.is_some() {
            return Ok(shape);
        }
        if is_foreign(message, role) {
            return Err(NeedsImport);
        }
    }
    Ok(formats::read_with_content(message, role, said))
}

/// Return whether only an importer can read a message in which nobody seems to speak.
pub(crate) fn needs_import<'a, V: Value<'a>>(message: V, role: Option<V>) -> bool {
    is_foreign(message, role) && read_message(message, role, &mut Said::default()).is_err()
}

/// Return whether only an importer can read a call that stands by itself.
pub fn call_needs_import<'a, V: Value<'a>>(wire: V) -> bool {
    formats::call(wire).is_none() && is_foreign_part(wire)
}

/// Return whether only an importer can read a result that stands by itself.
pub fn result_needs_import<'a, V: Value<'a>>(wire: V) -> bool {
    formats::result(wire).is_none() && is_foreign_part(wire)
}

/// What a call says that stands by itself; what is of no other shape is read as [`Chat`]'s.
pub fn read_call<'a, V: Value<'a>>(wire: V) -> ToolCall<'a, V> {
    formats::call(wire).unwrap_or_else(|| Chat::to_call(wire))
}

/// What a result says that stands by itself; what is of no other shape is read as [`Chat`]'s.
pub fn read_result<'a, V: Value<'a>>(wire: V) -> ToolResult<'a, V> {
    formats::result(wire).unwrap_or_else(|| Chat::to_result(wire))
}

/// Who speaks in a message, and what is said; of a message that needs an importer nothing may be known.
pub fn read_spoken<'a, V: Value<'a>>(message: V) -> Spoken<'a, V> {
    let (role, content) = (message.get(names::ROLE), message.get(names::CONTENT));
    let plain = Spoken { speaker: text_or_empty(role), content };
    if role.is_some() && content.is_some() {
        return plain;
    }
    formats::spoken(message).unwrap_or(plain)
}
