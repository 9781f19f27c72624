//! What a message says: its tool calls, its tool results, and the text of a result.
//!
//! Every message is recognised by its own structure: Anthropic Messages (content blocks), `OpenAI` Chat
//! (`tool_calls`, role `tool`, the legacy `function_call` and role `function`) and Ollama (arguments as objects,
//! `tool_name`, no ids). The twin is `_pure/read.py`.

use ahash::AHashSet;

use crate::text::Text;
use crate::value::{Value, names, text_or_empty};

/// The name of a tool that nothing names.
pub const UNKNOWN: &str = "unknown";

/// The calls and the results of one message, each in their order, as the wire's own objects.
#[derive(Debug)]
pub struct Said<V> {
    /// `tool_use` blocks, `tool_calls` entries, a legacy `function_call`.
    pub calls: Vec<V>,
    /// `tool_result` blocks, or the message itself where its role is `tool` or `function`.
    pub results: Vec<V>,
}

impl<'a, V: Value<'a>> Said<V> {
    /// Room for what messages say.
    #[must_use]
    pub fn new() -> Self {
        Self { calls: Vec::new(), results: Vec::new() }
    }

    /// Read `message` in place of what was read before.
    pub fn read(&mut self, message: V, role: Text<'a>) {
        self.calls.clear();
        self.results.clear();
        if let Some(content) = message.get(names::CONTENT).and_then(Value::list) {
            self.read_content_blocks(content);
        }
        if role.is("user") {
            return;
        }
        if self.results.is_empty() && (role.is("tool") || role.is("function")) {
            self.calls.clear();
            self.results.push(message);
            return;
        }
        let calls = message.get(names::TOOL_CALLS);
        let legacy = message.get(names::FUNCTION_CALL);
        if calls.is_some() || legacy.is_some() {
            self.read_tool_calls(calls, legacy);
        }
    }

    /// Anthropic: calls and results are blocks of the content.
    fn read_content_blocks(&mut self, content: V) {
        for block in items(content).filter_map(Value::object) {
            let kind = text_or_empty(block.get(names::TYPE));
            if kind.is("tool_result") {
                self.results.push(block);
            } else if kind.is("tool_use") {
                self.calls.push(block);
            } else if kind.ends_with("_tool_result") {
                self.results.push(block);
            } else if kind.is("server_tool_use") || kind.is("mcp_tool_use") {
                self.calls.push(block);
            }
        }
    }

    /// `OpenAI` Chat and Ollama. A call that stands in the content too is one call.
    fn read_tool_calls(&mut self, calls: Option<V>, legacy: Option<V>) {
        let known: AHashSet<Text<'a>> =
            self.calls.iter().map(|call| call_id_of(*call)).filter(|id| !id.is_empty()).collect();
        for wire in calls.and_then(Value::list).into_iter().flat_map(items).filter_map(Value::object) {
            if known.is_empty() || !known.contains(&call_id_of(wire)) {
                self.calls.push(wire);
            }
        }
        self.calls.extend(legacy.and_then(Value::object));
    }
}

impl<'a, V: Value<'a>> Default for Said<V> {
    fn default() -> Self {
        Self::new()
    }
}

/// The items of a list.
pub(crate) fn items<'a, V: Value<'a>>(list: V) -> impl Iterator<Item = V> {
    (0..list.count()).filter_map(move |index| list.item(index))
}

/// The id of a call; empty where it has none.
pub fn call_id_of<'a, V: Value<'a>>(call: V) -> Text<'a> {
    text_or_empty(call.get(names::ID))
}

/// The id of the call that a result answers; empty where it names none.
pub fn answered_id<'a, V: Value<'a>>(result: V) -> Text<'a> {
    text_or_empty(result.get(names::TOOL_USE_ID).or_else(|| result.get(names::TOOL_CALL_ID)))
}

/// The name of the tool that a call is for, and its arguments, as an object.
pub fn name_and_input<'a, V: Value<'a>>(call: V) -> (Text<'a>, V) {
    let source = call.get(names::FUNCTION).and_then(Value::object).unwrap_or(call);
    let raw = source.get(names::INPUT).or_else(|| source.get(names::ARGUMENTS));
    let input = match raw {
        None => call.empty(),
        Some(raw) => raw.object().unwrap_or_else(|| raw.arguments()),
    };
    (text_or_empty(source.get(names::NAME)), input)
}

/// The name of the tool that a call is for.
pub fn call_name<'a, V: Value<'a>>(call: V) -> Text<'a> {
    let source = call.get(names::FUNCTION).and_then(Value::object).unwrap_or(call);
    text_or_empty(source.get(names::NAME))
}

/// The tool's name as a result says it of itself; empty where it does not.
pub fn result_name<'a, V: Value<'a>>(result: V) -> Text<'a> {
    text_or_empty(result.get(names::TOOL_NAME).or_else(|| result.get(names::NAME)))
}
