//! The formats of messages: a reader for each format of requests, and for the session files of Claude Code and Codex.
//!
//! Every message is recognised by its own structure, so that a conversation may mix formats. A format is
//! recognised by what its provider requires; nothing is read as the nearest one. A message of unknown structure has no
//! calls and no results, and is reported as unread; if an importer may know it, the readers return [`NeedsImport`]. A new format
//! is a file here and a line in the list below. Formats of other producers are imported in Python, by
//! `toolcarry.importers.producers`.

use self::foreign::{END_ROLE, IMPORTED, has_foreign_call, has_typed_parts, is_candidate, is_dialect, is_foreign_part};
use self::in_text::is_in_text;
use self::message::{Format, MessageParts, Spoken, ToolCall, ToolResult};
use self::roles::{ASSISTANT_ROLES, USER_ROLES};
use crate::formats;
use crate::input::messages::NeedsImport;
use crate::json::value::{Value, names, text_or_empty};
use crate::text::Text;

mod foreign;
mod in_text;
pub mod message;
mod roles;
mod unread;

pub(crate) use self::chat::Chat;
pub use self::foreign::{Signs, ask_for_signs};
pub(crate) use self::in_text::begins_with_result;
pub(crate) use self::responses::{DIRECTORY_RECORDS, FOUND_TOOLS, SEARCHING_CALL, TEXT_OUTPUTS, is_program};
pub(crate) use self::roles::{CLIENT_TEXTS, REQUEST_MODEL_ROLES, REQUEST_USER_ROLES, SYSTEM_ROLES, TOOL_ROLES};
use self::unread::has_unread_text;
pub(crate) use self::unread::is_known;

/// Declare the readers, and try them in their order. All of it is compiled into the walk: no reader is called through a
/// pointer.
macro_rules! families {
    (others: $($other:ident::$Other:ident)+; with content: $($module:ident::$Format:ident)+;) => {
        $(mod $other;)+
        $(mod $module;)+

        /// Collect the calls and results of a message that has a role and a content, and return the name of its format.
        fn read_with_content<'a, V: Value<'a>>(
            message: V,
            role: Option<V>,
            message_parts: &mut MessageParts<'a, V>,
        ) -> Option<&'static str> {
            None$(.or_else(|| $module::$Format::read(message, role, message_parts)))+
        }

        /// Collect the calls and results of a message that has its role or content elsewhere, and return the name of
        /// its format.
        fn read_others<'a, V: Value<'a>>(
            message: V,
            role: Option<V>,
            message_parts: &mut MessageParts<'a, V>,
        ) -> Option<&'static str> {
            None$(.or_else(|| $other::$Other::read(message, role, message_parts)))+
        }

        /// Read a call that is not in a message.
        pub(crate) fn call<'a, V: Value<'a>>(wire: V) -> Option<ToolCall<'a, V>> {
            None$(.or_else(|| $other::$Other::call(wire)))+$(.or_else(|| $module::$Format::call(wire)))+
        }

        /// Read a result that is not in a message.
        pub(crate) fn result<'a, V: Value<'a>>(wire: V) -> Option<ToolResult<'a, V>> {
            None$(.or_else(|| $other::$Other::result(wire)))+$(.or_else(|| $module::$Format::result(wire)))+
        }

        /// Return the speaker and the content of a message that doesn't have them in `role` and `content`.
        pub(crate) fn spoken<'a, V: Value<'a>>(message: V) -> Option<Spoken<'a, V>> {
            None$(.or_else(|| $other::$Other::spoken(message)))+$(.or_else(|| $module::$Format::spoken(message)))+
        }
    };
}

// Each line is a file and its reader, in the order in which they are tried. A message with a role and a content is only
// tried with the second group. Any other message is tried with the first group, then left to an importer if one may
// know it, and then tried with the second group. Chat precedes Anthropic, because its messages may also hold
// Anthropic's blocks.
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

/// The name of a tool whose call doesn't name it.
pub const UNKNOWN: &str = "unknown";

/// The speaker in the messages of a person.
pub(crate) const USER: &str = "USER";

/// The speaker in the messages of a model.
pub(crate) const ASSISTANT: &str = "ASSISTANT";

/// Return the speaker for a role, as the formats name it.
pub(crate) fn speaker_of(role: Text<'_>) -> Option<&'static str> {
    match () {
        () if USER_ROLES.iter().any(|name| role.is(name)) => Some(USER),
        () if ASSISTANT_ROLES.iter().any(|name| role.is(name)) => Some(ASSISTANT),
        () => None,
    }
}

/// Return true if an importer wrote a message.
pub(crate) fn is_imported<'a, V: Value<'a>>(message: V) -> bool {
    message.has(IMPORTED)
}

/// Collect the calls and results of a message with this role, and return the name of its format; `None` if no format is
/// recognised, as with plain text. What no format knows becomes `message_parts.unread`, unless an importer may know it.
pub fn read_message<'a, V: Value<'a>>(
    message: V,
    role: Option<V>,
    message_parts: &mut MessageParts<'a, V>,
) -> Result<Option<&'static str>, NeedsImport> {
    let shape = read(message, role, message_parts)?;
    let needs_import = message_parts.is_foreign || message_parts.unread.is_some_and(is_candidate);
    if needs_import && !message.has(IMPORTED) { Err(NeedsImport) } else { Ok(shape) }
}

fn read<'a, V: Value<'a>>(
    message: V,
    role: Option<V>,
    message_parts: &mut MessageParts<'a, V>,
) -> Result<Option<&'static str>, NeedsImport> {
    if is_dialect(message, role) {
        return Err(NeedsImport);
    }
    if role.is_none() || message.get(names::CONTENT).is_none() {
        let shape = formats::read_others(message, role, message_parts);
        if shape.is_some() {
            return Ok(shape);
        }
        if has_typed_parts(message, role) && !message.has(IMPORTED) {
            return Err(NeedsImport);
        }
    }
    let shape = formats::read_with_content(message, role, message_parts);
    let is_unread = || match shape {
        Some(_) => has_unread_text(message, role),
        None => !is_known(message, role) || is_in_text(message, role),
    };
    if message_parts.unread.is_none() && is_unread() {
        message_parts.note(message);
    }
    Ok(shape)
}

/// Return true if only an importer can find the speaker, or the content, of a message in which no format finds it.
pub(crate) fn needs_import<'a, V: Value<'a>>(message: V, role: Option<V>, spoken: Spoken<'a, V>) -> bool {
    let is_found = !spoken.speaker.is_empty() && spoken.content.is_some() && !message.has(names::PARTS);
    let is_readable = is_found && !has_foreign_call(spoken.content) && !text_or_empty(role).is(END_ROLE);
    !is_readable && read_message(message, role, &mut MessageParts::default()).is_err()
}

/// Return true if what was not read is a message with a call in its text, which is only a text for a provider.
pub(crate) fn is_only_text<'a, V: Value<'a>>(unread: V) -> bool {
    let role = unread.get(names::ROLE);
    is_in_text(unread, role) && is_known(unread, role)
}

/// Read a call that is not in a message, unless only an importer can.
pub(crate) fn try_call<'a, V: Value<'a>>(wire: V) -> Result<ToolCall<'a, V>, NeedsImport> {
    match formats::call(wire) {
        Some(call) => Ok(call),
        None if is_foreign_part(wire) => Err(NeedsImport),
        None => Ok(Chat::to_call(wire)),
    }
}

/// Read a result that is not in a message, unless only an importer can.
pub(crate) fn try_result<'a, V: Value<'a>>(wire: V) -> Result<ToolResult<'a, V>, NeedsImport> {
    match formats::result(wire) {
        Some(result) => Ok(result),
        None if is_foreign_part(wire) => Err(NeedsImport),
        None => Ok(Chat::to_result(wire)),
    }
}

/// Read a call that is not in a message. A call of no other format is read as one of [`Chat`].
pub fn read_call<'a, V: Value<'a>>(wire: V) -> ToolCall<'a, V> {
    formats::call(wire).unwrap_or_else(|| Chat::to_call(wire))
}

/// Read a result that is not in a message. A result of no other format is read as one of [`Chat`].
pub fn read_result<'a, V: Value<'a>>(wire: V) -> ToolResult<'a, V> {
    formats::result(wire).unwrap_or_else(|| Chat::to_result(wire))
}

/// Return the speaker and the content of a message. Both may be unknown if the message needs an importer.
pub fn read_spoken<'a, V: Value<'a>>(message: V) -> Spoken<'a, V> {
    let (role, content) = (message.get(names::ROLE), message.get(names::CONTENT));
    let plain = Spoken { speaker: text_or_empty(role), content };
    if role.is_some() && content.is_some() {
        return plain;
    }
    formats::spoken(message).unwrap_or(plain)
}
