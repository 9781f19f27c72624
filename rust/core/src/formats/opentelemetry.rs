//! `OpenTelemetry`'s `gen_ai.input.messages`: typed parts, `tool_call` and `tool_call_response` among them.
//! The twin is `_pure/shapes/opentelemetry.py`.

use super::message::{Said, Shape, ToolCall, ToolResult};
use crate::json::value::objects;
use crate::json::value::{Key, Value, names, text_or_empty};
use crate::text::Text;

const NAME: &str = "opentelemetry";
const SERVER_TOOL_CALL: Key<'static> = Key::new("server_tool_call");
const SERVER_TOOL_CALL_RESPONSE: Key<'static> = Key::new("server_tool_call_response");

pub(crate) struct OpenTelemetry;

impl Shape for OpenTelemetry {
    fn read<'a, V: Value<'a>>(message: V, _: Option<V>, said: &mut Said<'a, V>) -> Option<&'static str> {
        let mut shape = None;
        for part in objects(message.get(names::PARTS)) {
            let kind = text_or_empty(part.get(names::TYPE));
            if is_call(kind) {
                said.calls.push(to_call(part));
            } else if is_result(kind) {
                said.results.push(to_result(part));
            } else if kind.is_empty() || part.has(names::TEXT) {
                continue; // others have typed parts, too
            }
            shape = Some(NAME);
        }
        shape
    }

    fn call<'a, V: Value<'a>>(wire: V) -> Option<ToolCall<'a, V>> {
        // With `args` it is LangChain's.
        let is_call = is_call(text_or_empty(wire.get(names::TYPE))) && !wire.has(names::ARGS);
        is_call.then(|| to_call(wire))
    }

    fn result<'a, V: Value<'a>>(wire: V) -> Option<ToolResult<'a, V>> {
        is_result(text_or_empty(wire.get(names::TYPE))).then(|| to_result(wire))
    }
}

fn is_call(kind: Text<'_>) -> bool {
    kind.is("tool_call") || kind.is("server_tool_call")
}

fn is_result(kind: Text<'_>) -> bool {
    kind.is("tool_call_response") || kind.is("server_tool_call_response")
}

fn to_call<'a, V: Value<'a>>(wire: V) -> ToolCall<'a, V> {
    ToolCall {
        wire,
        call_id: text_or_empty(wire.get(names::ID)),
        name: text_or_empty(wire.get(names::NAME)),
        arguments: wire.get(names::ARGUMENTS).or_else(|| wire.get(SERVER_TOOL_CALL)),
    }
}

fn to_result<'a, V: Value<'a>>(wire: V) -> ToolResult<'a, V> {
    let keys = [names::RESPONSE, names::RESULT, SERVER_TOOL_CALL_RESPONSE];
    ToolResult {
        wire,
        call_id: text_or_empty(wire.get(names::ID)),
        name: text_or_empty(wire.get(names::NAME)),
        content: keys.iter().find_map(|key| wire.get(*key)),
        is_error: false,
    }
}
