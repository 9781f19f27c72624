//! SWE-agent's `.traj`: a history as `OpenAI` Chat has it, with `tool_call_ids`; or, in older files, a trajectory of
//! steps, each a command and what was observed. The twin is `_pure/shapes/swe_agent.py`.

use super::anthropic::Anthropic;
use super::chat::Chat;
use super::message::{Said, Shape, Spoken, ToolCall, ToolResult};
use crate::json::value::{Value, names, text_or_empty};
use crate::text::Text;

const NAME: &str = "swe-agent";
/// What runs the command of a step.
const SHELL: Text<'static> = Text::ascii("bash");

pub(crate) struct SweAgent;

impl Shape for SweAgent {
    fn read<'a, V: Value<'a>>(message: V, role: Option<V>, said: &mut Said<'a, V>) -> Option<&'static str> {
        if role.is_none() {
            let (call, result) = (Self::call(message)?, Self::result(message)?);
            said.calls.push(call);
            said.results.push(result);
            return Some(NAME);
        }
        let role_name = text_or_empty(role);
        if role_name.is("tool") {
            said.results.push(Self::result(message)?);
            return Some(NAME);
        }
        if role_name.is("assistant") && message.has(names::MESSAGE_TYPE) {
            _ = Chat::read(message, role, said).or_else(|| Anthropic::read(message, role, said));
            return Some(NAME);
        }
        None
    }

    fn call<'a, V: Value<'a>>(wire: V) -> Option<ToolCall<'a, V>> {
        let (action, _) = step_of(wire)?;
        let arguments = Some(action.under(names::COMMAND));
        Some(ToolCall { wire, call_id: Text::ascii(""), name: SHELL, arguments })
    }

    fn result<'a, V: Value<'a>>(wire: V) -> Option<ToolResult<'a, V>> {
        let empty = Text::ascii("");
        if let Some((_, observed)) = step_of(wire) {
            return Some(ToolResult { wire, call_id: empty, name: SHELL, content: Some(observed), is_error: false });
        }
        let first = wire.get(names::TOOL_CALL_IDS)?.list()?;
        let is_answer = first.count() > 0 && text_or_empty(wire.get(names::ROLE)).is("tool");
        is_answer.then(|| ToolResult {
            wire,
            call_id: text_or_empty(first.item(0)),
            name: empty,
            content: wire.get(names::CONTENT),
            is_error: false,
        })
    }

    fn spoken<'a, V: Value<'a>>(message: V) -> Option<Spoken<'a, V>> {
        let is_step = !message.has(names::ROLE) && message.get(names::ACTION)?.text_len().is_some();
        let content = message.get(names::RESPONSE).filter(|text| is_step && text.text_len().is_some())?;
        Some(Spoken { speaker: Text::ascii("assistant"), content: Some(content) })
    }
}

/// What a step of a trajectory ran, and what was observed.
fn step_of<'a, V: Value<'a>>(wire: V) -> Option<(V, V)> {
    let action = wire.get(names::ACTION).filter(|action| action.text_len().is_some_and(|size| size > 0))?;
    let observed = wire.get(names::OBSERVATION).filter(|observed| observed.text_len().is_some())?;
    Some((action, observed))
}
