//! `OpenAI` Responses: calls and results are items of their own, recognised by their type.
//!
//! The item of a server tool (`web_search_call`, `mcp_call`) holds both the call and the result. A `reasoning` item
//! holds neither; it stays with its call when items are moved.

use super::message::{Format, MessageParts, ToolCall, ToolResult};
use crate::json::value::{Key, Value, names, text_or_empty};
use crate::json::value::{first_text, items};
use crate::text::Text;

const NAME: &str = "openai-responses";
/// The type of an event of Cursor's command line, which has a `call_id` too.
const CURSORS: &str = "tool_call";
const OPERATION: Key<'static> = Key::new("operation");
const METADATA: Key<'static> = Key::new("metadata");
const EXIT_CODE: Key<'static> = Key::new("exit_code");
const OUTCOME: Key<'static> = Key::new("outcome");
const TOOLS: Key<'static> = Key::new("tools");
/// A call that holds its result: the keys of the arguments and of the result.
pub(crate) struct ServerCall {
    arguments: Key<'static>,
    result: Key<'static>,
}

include!(concat!(env!("OUT_DIR"), "/responses.rs"));

const MOST_EXIT_CODE: u64 = 1 << 32;

pub(crate) struct Responses;

impl Format for Responses {
    fn read<'a, V: Value<'a>>(
        message: V,
        role: Option<V>,
        message_parts: &mut MessageParts<'a, V>,
    ) -> Option<&'static str> {
        if role.is_some() {
            return None;
        }
        let kind = message.get(names::TYPE).and_then(Value::text)?;
        if NO_CALLS.iter().any(|name| kind.is(name)) {
            return Some(NAME);
        }
        message_parts.calls.extend(Self::call(message));
        message_parts.results.extend(Self::result(message));
        (!message_parts.is_empty()).then_some(NAME)
    }

    fn call<'a, V: Value<'a>>(wire: V) -> Option<ToolCall<'a, V>> {
        let kind = text_or_empty(wire.get(names::TYPE));
        let is_known = server_call(kind).is_some() || CALLS.iter().any(|name| kind.is(name));
        let is_item = || kind.ends_with("_call") && wire.has(names::CALL_ID) && !kind.is(CURSORS);
        if !(is_known || is_item()) {
            return None;
        }
        let name = tool_name(wire, kind);
        let server = server_of(wire, kind);
        Some(ToolCall { wire, call_id: item_id(wire), name, arguments: arguments(wire, kind), server })
    }

    fn result<'a, V: Value<'a>>(wire: V) -> Option<ToolResult<'a, V>> {
        let kind = text_or_empty(wire.get(names::TYPE));
        if let Some(server) = server_call(kind) {
            return Some(server_result(wire, kind, server.result));
        }
        let tool = OUTPUTS.iter().find(|(name, _)| kind.is(name)).map(|(_, tool)| *tool);
        if tool.is_none() && !kind.ends_with("_call_output") {
            return None;
        }
        let output = [names::OUTPUT, TOOLS, names::RESULT].iter().find_map(|key| wire.get(*key));
        let (content, has_failed) = output.and_then(unpacked).unwrap_or((output, false));
        let is_broken = || {
            kind.is("shell_call_output") && output.and_then(Value::list).is_some_and(|list| items(list).any(has_broken))
        };
        let is_error = has_failed || is_broken() || text_or_empty(wire.get(names::STATUS)).is("failed");
        let own = text_or_empty(wire.get(names::NAME));
        let name = if own.is_empty() { Text::ascii(tool.unwrap_or_default()) } else { own };
        Some(ToolResult { wire, call_id: item_id(wire), name, content, is_error })
    }
}

/// Return the name of the tool. If the call doesn't name it, its type does.
fn tool_name<'a, V: Value<'a>>(wire: V, kind: Text<'a>) -> Text<'a> {
    let name = text_or_empty(wire.get(names::NAME));
    let is_named = !name.is_empty() || UNNAMED_CALLS.iter().any(|name| kind.is(name));
    if is_named { name } else { kind.without_suffix("_call") }
}

/// Return the server of an `mcp_call`, or the namespace of a function.
///
/// Codex writes the namespace of an MCP server as `mcp__server` or `mcp__server__` (github.com/openai/codex,
/// codex-rs/protocol/src/tool_name.rs).
fn server_of<'a, V: Value<'a>>(wire: V, kind: Text<'a>) -> Text<'a> {
    let key = SERVER_NAMES.iter().find(|(name, _)| kind.is(name)).map(|(_, key)| *key);
    let server = text_or_empty(key.and_then(|key| wire.get(key)));
    if !server.starts_with("mcp__") {
        return server;
    }
    let mut own = server.without_prefix("mcp__");
    while own.ends_with("_") {
        own = own.without_suffix("_");
    }
    if own.is_empty() { server } else { own }
}

/// Return true if an item is a program, which runs on the server and may call the client's tools, or its result.
pub(crate) fn is_program(kind: Text<'_>) -> bool {
    PROGRAMS.iter().any(|name| kind.is(name))
}

fn server_call(kind: Text<'_>) -> Option<&'static ServerCall> {
    SERVER_CALLS.iter().find(|(name, _)| kind.is(name)).map(|(_, call)| call)
}

/// Return the arguments of a call.
fn arguments<'a, V: Value<'a>>(wire: V, kind: Text<'a>) -> Option<V> {
    if let Some(server) = server_call(kind) {
        let (key, value) = (server.arguments, wire.get(server.arguments)?);
        return Some(if WRAPPED_ARGUMENTS.contains(&key) { value.under(key) } else { value });
    }
    if let Some((_, key)) = TEXT_ARGUMENTS.iter().find(|(name, _)| kind.is(name)) {
        return Some(wire.get(*key)?.under(*key)); // not JSON, even if it looks like it
    }
    [names::ARGUMENTS, names::ACTION, OPERATION, names::INPUT].iter().find_map(|key| wire.get(*key))
}

fn server_result<'a, V: Value<'a>>(wire: V, kind: Text<'a>, key: Key<'static>) -> ToolResult<'a, V> {
    let error = wire.get(names::ERROR);
    let found = wire.get(key).map(|found| {
        let is_image = kind.is("image_generation_call") && found.text_len().is_some();
        if is_image { found.under(names::DATA).under(names::IMAGE) } else { found }
    });
    let status = text_or_empty(wire.get(names::STATUS));
    let is_error = error.is_some() || status.is("failed") || status.is("incomplete");
    ToolResult { wire, call_id: item_id(wire), name: tool_name(wire, kind), content: error.or(found), is_error }
}

/// Return the output in the JSON that Codex writes, `{"output": ..., "metadata": {"exit_code": ...}}`, and true if the
/// command failed.
fn unpacked<'a, V: Value<'a>>(output: V) -> Option<(Option<V>, bool)> {
    if !output.text_start(1)?.is("{") {
        return None;
    }
    let held = output.arguments();
    let text = held.get(names::OUTPUT).filter(|text| text.text_len().is_some())?;
    Some((Some(text), exit_code_of(held.get(METADATA)?)? != 0))
}

/// Return true if a shell command failed or timed out.
fn has_broken<'a, V: Value<'a>>(item: V) -> bool {
    let Some(outcome) = item.object().and_then(|item| item.get(OUTCOME)) else { return false };
    let kind = outcome.object().and_then(|outcome| outcome.get(names::TYPE));
    text_or_empty(kind).is("timeout") || exit_code_of(outcome).is_some_and(|code| code != 0)
}

/// Return the exit code, unless it is a number that no system returns.
fn exit_code_of<'a, V: Value<'a>>(holder: V) -> Option<i64> {
    holder.object()?.get(EXIT_CODE)?.integer().filter(|code| code.unsigned_abs() <= MOST_EXIT_CODE)
}

/// Return the id that pairs a call with its result: `call_id` if present, otherwise `id`.
///
/// A search for tools by the server has an item for its call and one for its result, each with an `id` of its own.
fn item_id<'a, V: Value<'a>>(wire: V) -> Text<'a> {
    let kind = text_or_empty(wire.get(names::TYPE));
    let is_search = kind.is("tool_search_call") || kind.is("tool_search_output");
    first_text(wire, [names::CALL_ID, if is_search { names::CALL_ID } else { names::ID }])
}
