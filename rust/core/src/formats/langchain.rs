//! `LangChain`'s `messages_to_dict`: the kind of a message as its `type`, all else as its `data`.
//! The twin is `_pure/shapes/langchain.py`.

use super::anthropic::Anthropic;
use super::chat::Chat;
use super::message::{Said, Shape, Spoken, ToolCall, ToolResult};
use crate::json::value::objects;
use crate::json::value::{Value, names, text_or_empty};

const NAME: &str = "langchain";
const KINDS: [&str; 7] = ["ai", "human", "tool", "system", "function", "chat", "AIMessageChunk"];

pub(crate) struct LangChain;

impl Shape for LangChain {
    fn read<'a, V: Value<'a>>(message: V, role: Option<V>, said: &mut Said<'a, V>) -> Option<&'static str> {
        let data = data_of(message).filter(|_| role.is_none())?;
        if let Some(answer) = Self::result(message) {
            said.results.push(answer);
            return Some(NAME);
        }
        for key in [names::TOOL_CALLS, names::INVALID_TOOL_CALLS] {
            said.calls.extend(objects(data.get(key)).map(to_call));
        }
        if said.calls.is_empty() {
            // An older version kept what the provider had written.
            Anthropic::read(data, role, said);
            if let Some(given) = data.get(names::ADDITIONAL_KWARGS).and_then(Value::object) {
                Chat::read_calls(given, said);
            }
        }
        Some(NAME)
    }

    fn call<'a, V: Value<'a>>(wire: V) -> Option<ToolCall<'a, V>> {
        let is_typed =
            |kind: V| ["tool_call", "invalid_tool_call"].iter().any(|name| text_or_empty(Some(kind)).is(name));
        let is_call = wire.has(names::ARGS) && wire.get(names::TYPE).is_none_or(is_typed);
        is_call.then(|| to_call(wire))
    }

    fn result<'a, V: Value<'a>>(wire: V) -> Option<ToolResult<'a, V>> {
        let data = data_of(wire)?;
        let kind = text_or_empty(wire.get(names::TYPE));
        (kind.is("tool") || kind.is("function")).then(|| ToolResult {
            wire,
            call_id: text_or_empty(data.get(names::TOOL_CALL_ID)),
            name: text_or_empty(data.get(names::NAME)),
            content: data.get(names::CONTENT),
            is_error: text_or_empty(data.get(names::STATUS)).is("error"),
        })
    }

    fn spoken<'a, V: Value<'a>>(message: V) -> Option<Spoken<'a, V>> {
        let data = data_of(message)?;
        let kind = text_or_empty(message.get(names::TYPE));
        let speaker = if kind.is("chat") { text_or_empty(data.get(names::ROLE)) } else { kind };
        Some(Spoken { speaker, content: data.get(names::CONTENT) })
    }
}

/// What a message of `LangChain`'s holds.
fn data_of<'a, V: Value<'a>>(message: V) -> Option<V> {
    let kind = text_or_empty(message.get(names::TYPE));
    if KINDS.iter().any(|name| kind.is(name)) { message.get(names::DATA)?.object() } else { None }
}

fn to_call<'a, V: Value<'a>>(wire: V) -> ToolCall<'a, V> {
    ToolCall {
        wire,
        call_id: text_or_empty(wire.get(names::ID)),
        name: text_or_empty(wire.get(names::NAME)),
        arguments: wire.get(names::ARGS),
    }
}
