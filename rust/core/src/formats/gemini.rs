//! Gemini: parts that hold `functionCall` or `functionResponse`, often without ids.
//!
//! Code that ran on the server (`executableCode`, `codeExecutionResult`) and server tools (`toolCall`, `toolResponse`)
//! are calls and results like any other.

use super::message::{Format, MessageParts, Spoken, ToolCall, ToolResult};
use super::unread::is_known_part;
use crate::json::value::{Key, Value, names, text_or_empty};
use crate::json::value::{first_text, items, objects};
use crate::text::Text;

const NAME: &str = "gemini";
const OUTCOME: Key<'static> = Key::new("outcome");
const RESOURCE: Key<'static> = Key::new("resource");
const CODE: Text<'static> = Text::ascii("code_execution");

pub(crate) struct Gemini;

impl Format for Gemini {
    fn read<'a, V: Value<'a>>(
        message: V,
        _: Option<V>,
        message_parts: &mut MessageParts<'a, V>,
    ) -> Option<&'static str> {
        let parts = message.get(names::PARTS)?;
        let mut seen = objects(Some(parts)).peekable();
        if seen.peek().is_none() || seen.any(|part| part.has(names::TYPE) && !is_of_protocol(part)) {
            return None;
        }
        if let Some(strange) = objects(Some(parts)).find(|part| !is_known_part(*part)) {
            message_parts.note(strange);
            if !objects(Some(parts)).any(is_known_part) {
                return None;
            }
        }
        if parts.list().into_iter().flat_map(items).any(|part| part.object().is_none() && part.text_len().is_none()) {
            message_parts.note(message);
        }
        for part in objects(Some(parts)) {
            message_parts.calls.extend(Self::call(part));
            message_parts.results.extend(Self::result(part));
        }
        Some(NAME)
    }

    fn call<'a, V: Value<'a>>(wire: V) -> Option<ToolCall<'a, V>> {
        let used = member(wire, &[names::FUNCTION_CALL_CAMEL, names::FUNCTION_CALL, names::TOOL_CALL_CAMEL]);
        if let Some(used) = used {
            return Some(ToolCall {
                wire,
                call_id: text_or_empty(used.get(names::ID)),
                name: tool_name(used),
                arguments: used.get(names::ARGS),
                server: Text::ascii(""),
            });
        }
        let code = member(wire, &[names::EXECUTABLE_CODE_CAMEL, names::EXECUTABLE_CODE])?;
        let (call_id, server) = (text_or_empty(code.get(names::ID)), Text::ascii(""));
        Some(ToolCall { wire, call_id, name: CODE, arguments: Some(code), server })
    }

    fn result<'a, V: Value<'a>>(wire: V) -> Option<ToolResult<'a, V>> {
        let given =
            member(wire, &[names::FUNCTION_RESPONSE_CAMEL, names::FUNCTION_RESPONSE, names::TOOL_RESPONSE_CAMEL]);
        if let Some(given) = given {
            let (content, is_error) = answer_of(given);
            let call_id = text_or_empty(given.get(names::ID));
            return Some(ToolResult { wire, call_id, name: tool_name(given), content, is_error });
        }
        let ran = member(wire, &[names::CODE_EXECUTION_RESULT_CAMEL, names::CODE_EXECUTION_RESULT])?;
        let outcome = text_or_empty(ran.get(OUTCOME));
        Some(ToolResult {
            wire,
            call_id: text_or_empty(ran.get(names::ID)),
            name: CODE,
            content: ran.get(names::OUTPUT),
            is_error: outcome.is("OUTCOME_FAILED") || outcome.is("OUTCOME_DEADLINE_EXCEEDED"),
        })
    }

    fn spoken<'a, V: Value<'a>>(message: V) -> Option<Spoken<'a, V>> {
        let parts = message.get(names::PARTS)?.list()?;
        let role = message.get(names::ROLE);
        let speaker = if role.is_none() { Text::ascii("user") } else { text_or_empty(role) };
        Some(Spoken { speaker, content: Some(parts) })
    }
}

/// Return true if a part is one of the Model Context Protocol, which clients put between those of Gemini.
///
/// <https://modelcontextprotocol.io/specification/2025-06-18/schema#contentblock>
fn is_of_protocol<'a, V: Value<'a>>(part: V) -> bool {
    let kind = text_or_empty(part.get(names::TYPE));
    let has_text = |key| part.get(key).is_some_and(|held: V| held.text_len().is_some());
    match () {
        () if kind.is("image") || kind.is("audio") => has_text(names::DATA) && has_text(names::MIME_TYPE),
        () if kind.is("resource") => part.get(RESOURCE).and_then(Value::object).is_some(),
        () => kind.is("resource_link") && has_text(names::URI),
    }
}

/// Return the first of these members that is present, if it is an object.
fn member<'a, V: Value<'a>>(wire: V, keys: &[Key<'static>]) -> Option<V> {
    keys.iter().find_map(|key| wire.get(*key))?.object()
}

fn tool_name<'a, V: Value<'a>>(held: V) -> Text<'a> {
    first_text(held, [names::NAME, names::TOOL_TYPE])
}

/// Return the content that a function returned, and true if it is an error.
fn answer_of<'a, V: Value<'a>>(given: V) -> (Option<V>, bool) {
    let response = given.get(names::RESPONSE);
    let held = response.and_then(Value::object);
    let is_error = held.is_some_and(|held| held.get(names::ERROR).is_some());
    if given.get(names::PARTS).and_then(Value::list).is_some_and(|parts| parts.count() > 0) {
        return (Some(given.under(names::FUNCTION_RESPONSE_CAMEL)), is_error); // an answer with media
    }
    let Some(held) = held else { return (response, false) };
    let only = [names::OUTPUT, names::RESULT, names::ERROR].iter().find_map(|key| held.get(*key));
    (only.filter(|_| held.size() == 1).or(Some(held)), is_error)
}
