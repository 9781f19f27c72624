//! `OpenAI` Chat (`tool_calls`, role `tool`, the legacy `function_call` and role `function`), and Ollama's dialect of it
//! (arguments as objects, `tool_name`, no ids).
//!
//! A call or a result that is not in a message shows no sign of this format: it is read as Chat if no other format has
//! it.

use ahash::{AHashMap, AHashSet};

use super::anthropic::Anthropic;
use super::message::{Said, Shape, ToolCall, ToolResult};
use crate::json::value::{Value, names, text_or_empty};
use crate::json::value::{first_text, objects};
use crate::text::Text;

const NAME: &str = "openai-chat";
const OLLAMA: &str = "ollama";

pub(crate) struct Chat;

impl Shape for Chat {
    fn read<'a, V: Value<'a>>(message: V, role: Option<V>, said: &mut Said<'a, V>) -> Option<&'static str> {
        let role_name = text_or_empty(role);
        let is_answer = role_name.is("tool") || role_name.is("function");
        let has_calls = || message.has(names::TOOL_CALLS) || message.has(names::FUNCTION_CALL);
        if !is_answer && (role_name.is("user") || !has_calls()) {
            return None;
        }
        let found = Anthropic::read(message, role, said); // the content may hold blocks, too
        if is_answer && said.results.is_empty() {
            said.calls.clear();
            said.results.push(Self::to_result(message));
            let has_id = role_name.is("function") || message.has(names::TOOL_CALL_ID);
            return Some(if has_id { NAME } else { OLLAMA });
        }
        if !said.calls.is_empty() {
            unite(message, said);
        }
        Self::read_calls(message, said).or(found)
    }
}

/// Give the calls of the content the names and arguments that they have in `tool_calls`, if they are there, too: the
/// provider reads those.
fn unite<'a, V: Value<'a>>(message: V, said: &mut Said<'a, V>) {
    let calls = objects(message.get(names::TOOL_CALLS)).map(Chat::to_call);
    let own: AHashMap<Text<'a>, ToolCall<'a, V>> = calls.map(|call| (call.call_id, call)).collect();
    for call in said.calls.iter_mut().filter(|call| !call.call_id.is_empty()) {
        if let Some(other) = own.get(&call.call_id) {
            (call.name, call.arguments) = (other.name, other.arguments);
        }
    }
}

impl Chat {
    /// Collect the calls of a message. A call that is also in the content counts once.
    pub(super) fn read_calls<'a, V: Value<'a>>(message: V, said: &mut Said<'a, V>) -> Option<&'static str> {
        let known: AHashSet<Text<'a>> =
            said.calls.iter().map(|call| call.call_id).filter(|call_id| !call_id.is_empty()).collect();
        let mut shape = None;
        for call in objects(message.get(names::TOOL_CALLS)).map(Self::to_call) {
            let is_object = || !call.wire.has(names::CUSTOM) && call.arguments.and_then(Value::object).is_some();
            shape = shape.or_else(|| Some(if is_object() { OLLAMA } else { NAME }));
            if known.is_empty() || !known.contains(&call.call_id) {
                said.calls.push(call);
            }
        }
        if let Some(legacy) = message.get(names::FUNCTION_CALL).and_then(Value::object) {
            said.calls.push(Self::to_call(legacy));
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
            call_id: first_text(wire, [names::TOOL_USE_ID, names::TOOL_CALL_ID]),
            name: first_text(wire, [names::TOOL_NAME, names::NAME]),
            content: wire.get(names::CONTENT),
            is_error: wire.get(names::IS_ERROR).is_some_and(Value::is_true),
        }
    }
}
