//! `OpenHands`: events, of which actions are calls, and observations, rejections and errors are results.
//! The twin is `_pure/shapes/openhands.py`.

use super::message::{Said, Shape, Spoken, ToolCall, ToolResult};
use crate::json::value::{Key, Value, names, text_or_empty};
use crate::text::Text;

const NAME: &str = "openhands";
const LLM_MESSAGE: Key<'static> = Key::new("llm_message");
const REJECTION_REASON: Key<'static> = Key::new("rejection_reason");
/// The events that say why there is no observation, and where.
const FAILURES: [(&str, Key<'static>); 2] =
    [("UserRejectObservation", REJECTION_REASON), ("AgentErrorEvent", names::ERROR)];

pub(crate) struct OpenHands;

impl Shape for OpenHands {
    fn read<'a, V: Value<'a>>(message: V, role: Option<V>, said: &mut Said<'a, V>) -> Option<&'static str> {
        if role.is_some() {
            return None;
        }
        said.calls.extend(Self::call(message));
        said.results.extend(Self::result(message));
        let is_message = || kind_of(message).is("MessageEvent") && message.has(LLM_MESSAGE);
        (!said.is_empty() || is_message()).then_some(NAME)
    }

    fn call<'a, V: Value<'a>>(wire: V) -> Option<ToolCall<'a, V>> {
        if !kind_of(wire).is("ActionEvent") {
            return None;
        }
        let asked = wire.get(names::TOOL_CALL).and_then(Value::object);
        let function = asked.and_then(|asked| asked.get(names::FUNCTION)).and_then(Value::object).or(asked);
        let inner = |key| function.and_then(|function| function.get(key));
        Some(ToolCall {
            wire,
            call_id: filled(wire.get(names::TOOL_CALL_ID), asked.and_then(|asked| asked.get(names::ID))),
            name: filled(wire.get(names::TOOL_NAME), inner(names::NAME)),
            arguments: inner(names::ARGUMENTS).or_else(|| wire.get(names::ACTION)),
        })
    }

    fn result<'a, V: Value<'a>>(wire: V) -> Option<ToolResult<'a, V>> {
        let kind = kind_of(wire);
        let call_id = text_or_empty(wire.get(names::TOOL_CALL_ID));
        let name = text_or_empty(wire.get(names::TOOL_NAME));
        if let Some((_, key)) = FAILURES.iter().find(|(name, _)| kind.is(name)) {
            let is_agents_own = call_id.is_empty() && name.is_empty();
            let failure = || ToolResult { wire, call_id, name, content: wire.get(*key), is_error: true };
            return (!is_agents_own).then(failure);
        }
        if !kind.is("ObservationEvent") {
            return None;
        }
        let seen = wire.get(names::OBSERVATION);
        let held = seen.and_then(Value::object);
        let inner = |key| held.and_then(|held| held.get(key));
        Some(ToolResult {
            wire,
            call_id,
            name,
            content: inner(names::CONTENT).or_else(|| inner(names::OUTPUT)).or(seen),
            is_error: inner(names::IS_ERROR).is_some_and(Value::is_true),
        })
    }

    fn spoken<'a, V: Value<'a>>(message: V) -> Option<Spoken<'a, V>> {
        if kind_of(message).is("ActionEvent") {
            return Some(Spoken { speaker: Text::ascii("assistant"), content: message.get(names::THOUGHT) });
        }
        let said = message.get(LLM_MESSAGE).filter(|_| kind_of(message).is("MessageEvent"))?.object()?;
        let speaker = said.get(names::ROLE).or_else(|| message.get(names::SOURCE));
        Some(Spoken { speaker: text_or_empty(speaker), content: said.get(names::CONTENT) })
    }
}

fn kind_of<'a, V: Value<'a>>(event: V) -> Text<'a> {
    text_or_empty(event.get(names::KIND))
}

/// The first of two texts that is not empty.
fn filled<'a, V: Value<'a>>(first: Option<V>, second: Option<V>) -> Text<'a> {
    let text = text_or_empty(first);
    if text.is_empty() { text_or_empty(second) } else { text }
}
