//! Anthropic Messages: calls and results are blocks of the content. Claude Code and Cline write them too.
//!
//! Results of server tools (`web_search_tool_result` and others) are results like any other.

use super::foreign::is_foreign_call;
use super::message::{Format, MessageParts, Spoken, ToolCall, ToolResult};
use super::unread::{SERVER_CALL_PARTS, is_known_part};
use crate::json::value::{Key, Value, names, text_or_empty};
use crate::json::value::{first_text, items};
use crate::text::Text;

const NAME: &str = "anthropic";
const SERVER_NAME: Key<'static> = Key::new("server_name");
const COMMAND_MODE: Key<'static> = Key::new("commandMode");
const PROMPT: Key<'static> = Key::new("prompt");
const RETURN_CODE: Key<'static> = Key::new("return_code");

pub(crate) struct Anthropic;

impl Format for Anthropic {
    fn read<'a, V: Value<'a>>(
        message: V,
        _: Option<V>,
        message_parts: &mut MessageParts<'a, V>,
    ) -> Option<&'static str> {
        let content = message.get(names::CONTENT).and_then(Value::list);
        for item in content.into_iter().flat_map(items) {
            let Some(block) = item.object() else {
                if item.text_len().is_none() {
                    message_parts.note(message);
                }
                continue;
            };
            let kind = text_or_empty(block.get(names::TYPE));
            if is_result(kind) {
                let result = Self::to_result(block);
                let has_id = || block.get(names::TOOL_USE_ID).is_some_and(|id| id.text_len().is_some());
                if kind.is("tool_result") && result.call_id.is_empty() && result.content.is_none() && !has_id() {
                    message_parts.note(block);
                } else {
                    message_parts.results.push(result);
                }
            } else if is_call(kind) {
                message_parts.calls.push(Self::to_call(block, kind));
                message_parts.is_foreign |= is_foreign_call(block, kind);
            } else if !is_known_part(block) {
                message_parts.note(block);
            }
        }
        (!message_parts.is_empty()).then_some(NAME)
    }

    fn call<'a, V: Value<'a>>(wire: V) -> Option<ToolCall<'a, V>> {
        let kind = text_or_empty(wire.get(names::TYPE));
        let has_own = || wire.has(names::NAME) || wire.has(names::INPUT);
        (is_call(kind) && has_own()).then(|| Self::to_call(wire, kind))
    }

    fn result<'a, V: Value<'a>>(wire: V) -> Option<ToolResult<'a, V>> {
        let kind = text_or_empty(wire.get(names::TYPE));
        let has_own = || !kind.is("tool_result") || wire.has(names::TOOL_USE_ID) || wire.has(names::CONTENT);
        (is_result(kind) && has_own()).then(|| Self::to_result(wire))
    }

    /// Read what the user typed while Claude Code worked: an attachment.
    fn spoken<'a, V: Value<'a>>(message: V) -> Option<Spoken<'a, V>> {
        if !text_or_empty(message.get(names::TYPE)).is("queued_command") {
            return None;
        }
        let is_prompt = !message.has(COMMAND_MODE) || text_or_empty(message.get(COMMAND_MODE)).is("prompt");
        (is_prompt && message.has(PROMPT))
            .then(|| Spoken { speaker: Text::ascii("user"), content: message.get(PROMPT) })
    }
}

impl Anthropic {
    fn to_call<'a, V: Value<'a>>(wire: V, kind: Text<'a>) -> ToolCall<'a, V> {
        // https://docs.claude.com/en/docs/agents-and-tools/mcp-connector: an mcp_tool_use names its server.
        let server = Some(wire).filter(|_| kind.is("mcp_tool_use")).and_then(|wire| wire.get(SERVER_NAME));
        ToolCall {
            wire,
            call_id: text_or_empty(wire.get(names::ID)),
            name: text_or_empty(wire.get(names::NAME)),
            arguments: wire.get(names::INPUT),
            server: text_or_empty(server),
        }
    }

    fn to_result<'a, V: Value<'a>>(wire: V) -> ToolResult<'a, V> {
        let content = wire.get(names::CONTENT);
        ToolResult {
            wire,
            call_id: first_text(wire, [names::TOOL_USE_ID, names::TOOL_CALL_ID]),
            name: text_or_empty(wire.get(names::NAME)),
            content,
            is_error: wire.get(names::IS_ERROR).is_some_and(Value::is_true) || is_server_error(content),
        }
    }
}

fn is_call(kind: Text<'_>) -> bool {
    kind.is("tool_use") || SERVER_CALL_PARTS.iter().any(|name| kind.is(name))
}

fn is_result(kind: Text<'_>) -> bool {
    kind.is("tool_result") || kind.ends_with("_tool_result")
}

/// Return true if a server tool returned an error in place of its results, or if code that it ran failed.
fn is_server_error<'a, V: Value<'a>>(content: Option<V>) -> bool {
    let Some(content) = content.filter(|content| content.text_len().is_none() && content.list().is_none()) else {
        return false;
    };
    let Some(error) = content.object() else { return false };
    let has_failed = error.get(RETURN_CODE).and_then(Value::integer).is_some_and(|code| code != 0);
    has_failed || text_or_empty(error.get(names::TYPE)).ends_with("_tool_result_error")
}
