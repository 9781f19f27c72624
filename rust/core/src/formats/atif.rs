//! ATIF, the Agent Trajectory Interchange Format: steps that hold their calls and what was observed.
//! The twin is `_pure/shapes/atif.py`.

use super::message::{Said, Shape, Spoken, ToolCall, ToolResult};
use crate::json::value::objects;
use crate::json::value::{Value, names, text_or_empty};
use crate::text::Text;

const NAME: &str = "atif";

pub(crate) struct Atif;

impl Shape for Atif {
    fn read<'a, V: Value<'a>>(message: V, role: Option<V>, said: &mut Said<'a, V>) -> Option<&'static str> {
        if role.is_some() || !is_step(message) {
            return None;
        }
        said.calls.extend(objects(message.get(names::TOOL_CALLS)).map(to_call));
        let observed = message.get(names::OBSERVATION).and_then(Value::object);
        said.results.extend(objects(observed.and_then(|observed| observed.get(names::RESULTS))).map(to_result));
        Some(NAME)
    }

    fn call<'a, V: Value<'a>>(wire: V) -> Option<ToolCall<'a, V>> {
        wire.has(names::FUNCTION_NAME).then(|| to_call(wire))
    }

    fn result<'a, V: Value<'a>>(wire: V) -> Option<ToolResult<'a, V>> {
        wire.has(names::SOURCE_CALL_ID).then(|| to_result(wire))
    }

    fn spoken<'a, V: Value<'a>>(message: V) -> Option<Spoken<'a, V>> {
        is_step(message).then(|| Spoken {
            speaker: text_or_empty(message.get(names::SOURCE)),
            content: message.get(names::MESSAGE),
        })
    }
}

fn is_step<'a, V: Value<'a>>(message: V) -> bool {
    message.has(names::STEP_ID) && message.has(names::SOURCE)
}

fn to_call<'a, V: Value<'a>>(wire: V) -> ToolCall<'a, V> {
    ToolCall {
        wire,
        call_id: text_or_empty(wire.get(names::TOOL_CALL_ID)),
        name: text_or_empty(wire.get(names::FUNCTION_NAME)),
        arguments: wire.get(names::ARGUMENTS),
    }
}

fn to_result<'a, V: Value<'a>>(wire: V) -> ToolResult<'a, V> {
    ToolResult {
        wire,
        call_id: text_or_empty(wire.get(names::SOURCE_CALL_ID)),
        name: Text::ascii(""),
        content: wire.get(names::CONTENT),
        is_error: false,
    }
}
