//! `OpenAI` Chat (`tool_calls`, role `tool`, the legacy `function_call` and role `function`), and Ollama's dialect of it
//! (arguments as objects, `tool_name`, no ids).
//!
//! A call or a result that is not in a message shows no sign of this format: it is read as Chat if no other format has
//! it.

use ahash::{AHashMap, AHashSet};

use super::anthropic::Anthropic;
use super::message::{Format, MessageParts, ToolCall, ToolResult};
use super::unread::{FAILED_FLAGS, has_foreign_calls, is_call_entry};
use crate::json::value::{Value, names, text_or_empty};
use crate::json::value::{first_text, items, objects};
use crate::text::Text;

const NAME: &str = "openai-chat";
const OLLAMA: &str = "ollama";

pub(crate) struct Chat;

impl Format for Chat {
    fn read<'a, V: Value<'a>>(
        message: V,
        role: Option<V>,
        message_parts: &mut MessageParts<'a, V>,
    ) -> Option<&'static str> {
        let role_name = text_or_empty(role);
        let is_answer = role_name.is("tool") || role_name.is("function");
        let has_calls = || message.has(names::TOOL_CALLS) || message.has(names::FUNCTION_CALL);
        if !is_answer && (role_name.is("user") || !has_calls()) {
            return None;
        }
        let found = Anthropic::read(message, role, message_parts); // the content may hold blocks, too
        if is_answer && message_parts.results.is_empty() {
            message_parts.calls.clear();
            let answer = Self::to_result(message);
            let is_named = !answer.call_id.is_empty() || !answer.name.is_empty() || role_name.is("function");
            if !is_named && !is_nameless(message, message_parts) {
                return None;
            }
            message_parts.unread = None; // the parts of a result may be of any kind
            message_parts.results.push(answer);
            let has_id = role_name.is("function") || message.has(names::TOOL_CALL_ID) || message.has(names::CALL_ID);
            return Some(if has_id { NAME } else { OLLAMA });
        }
        if message.get(names::CONTENT).is_some_and(|content| content.text_len().is_none() && content.list().is_none()) {
            message_parts.note(message);
        }
        if !message_parts.calls.is_empty() {
            unite(message, message_parts);
        }
        Self::read_calls(message, message_parts).or(found)
    }
}

/// Return true if an answer that names neither its call nor its tool is Ollama's: a string, or known parts.
///
/// The content is required, and another producer names the call elsewhere: `toolCallId`, or in the parts.
fn is_nameless<'a, V: Value<'a>>(message: V, message_parts: &MessageParts<'a, V>) -> bool {
    let Some(content) = message.get(names::CONTENT) else { return false };
    let is_list = || content.list().is_some() && message_parts.unread.is_none();
    (content.text_len().is_some() || is_list()) && !has_foreign_calls(message)
}

/// Give the calls of the content the names and arguments that they have in `tool_calls`, if they are there, too: the
/// provider reads those.
fn unite<'a, V: Value<'a>>(message: V, message_parts: &mut MessageParts<'a, V>) {
    let calls = objects(message.get(names::TOOL_CALLS)).map(Chat::to_call);
    let own: AHashMap<Text<'a>, ToolCall<'a, V>> = calls.map(|call| (call.call_id, call)).collect();
    for call in message_parts.calls.iter_mut().filter(|call| !call.call_id.is_empty()) {
        if let Some(other) = own.get(&call.call_id) {
            (call.name, call.arguments) = (other.name, other.arguments);
        }
    }
}

impl Chat {
    /// Collect the calls of a message. A call that is also in the content counts once.
    pub(super) fn read_calls<'a, V: Value<'a>>(
        message: V,
        message_parts: &mut MessageParts<'a, V>,
    ) -> Option<&'static str> {
        let known: AHashSet<Text<'a>> =
            message_parts.calls.iter().map(|call| call.call_id).filter(|call_id| !call_id.is_empty()).collect();
        let (mut shape, role) = (None, message.get(names::ROLE));
        let is_known = |entry: V| !known.is_empty() && known.contains(&text_or_empty(entry.get(names::ID)));
        for item in message.get(names::TOOL_CALLS).and_then(Value::list).into_iter().flat_map(items) {
            let entry = item.object();
            let Some(entry) = entry.filter(|entry| is_call_entry(*entry, role) || is_known(*entry)) else {
                // An object whose members can't be read, or another producer's call.
                message_parts.note(entry.unwrap_or(message));
                continue;
            };
            let call = Self::to_call(entry);
            let is_object = || !call.wire.has(names::CUSTOM) && call.arguments.and_then(Value::object).is_some();
            shape = shape.or_else(|| Some(if is_object() { OLLAMA } else { NAME }));
            if known.is_empty() || !known.contains(&call.call_id) {
                message_parts.calls.push(call);
            }
        }
        if let Some(legacy) = message.get(names::FUNCTION_CALL).and_then(Value::object) {
            message_parts.calls.push(Self::to_call(legacy));
            shape = Some(NAME);
        }
        shape
    }

    pub(crate) fn to_call<'a, V: Value<'a>>(wire: V) -> ToolCall<'a, V> {
        let custom = wire.get(names::CUSTOM).and_then(Value::object).filter(|custom| custom.size() > 0);
        let function = || wire.get(names::FUNCTION).and_then(Value::object).filter(|function| function.size() > 0);
        let source = custom.or_else(function).unwrap_or(wire);
        let given = source.get(names::INPUT).or_else(|| source.get(names::ARGUMENTS));
        ToolCall {
            wire,
            call_id: text_or_empty(wire.get(names::ID)),
            name: text_or_empty(source.get(names::NAME)),
            // Free text is not JSON, even if it looks like it.
            arguments: if custom.is_some() { given.map(|text| text.under(names::INPUT)) } else { given },
            server: Text::ascii(""),
        }
    }

    pub(crate) fn to_result<'a, V: Value<'a>>(wire: V) -> ToolResult<'a, V> {
        ToolResult {
            wire,
            call_id: first_text(wire, [names::TOOL_USE_ID, names::TOOL_CALL_ID, names::CALL_ID]),
            name: first_text(wire, [names::TOOL_NAME, names::NAME]),
            content: wire.get(names::CONTENT),
            is_error: FAILED_FLAGS.iter().any(|key| wire.get(*key).is_some_and(Value::is_true)),
        }
    }
}
