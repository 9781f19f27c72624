//! The calls that a host stores apart from its messages, each with its result.

use crate::formats::message::{ToolCall, ToolResult};
use crate::json::value::{Key, Value, names, text_or_empty};
use crate::pairing::block::Entry;
use crate::text::Text;

/// Read a host's record as an entry. Each member may have one of several names. A record without a result and without
/// an error is an interrupted call.
pub(super) fn record_entry<'a, V: Value<'a>>(record: V) -> Entry<'a, V> {
    let function = record.get(names::FUNCTION).and_then(Value::object);
    let member = |key: Key<'_>| match function {
        Some(function) if function.has(key) => function.get(key),
        _ => record.get(key),
    };
    let first = |wire: V, keys: &[Key<'_>]| keys.iter().find_map(|key| wire.get(*key));
    let name = text_or_empty(member(names::NAME).or_else(|| member(names::TOOL_NAME)));
    let arguments = [names::ARGUMENTS, names::INPUT, names::ARGS].into_iter().find_map(member);
    let error = record.get(names::ERROR).filter(|error| error.text_len() != Some(0) && !is_false(*error));
    let given = || error.filter(|error| !error.is_true());
    let content = first(record, &[names::RESULT, names::OUTPUT, names::CONTENT]).or_else(given);
    let is_error = error.is_some() || record.get(names::IS_ERROR).is_some_and(Value::is_true);
    let no_id = Text::ascii("");
    let call = ToolCall { wire: record, call_id: no_id, name, arguments, server: no_id };
    let result = ToolResult { wire: record, call_id: no_id, name, content, is_error };
    let result = Some(result).filter(|_| content.is_some() || is_error);
    let mut entry = Entry::new(Some(call), result, (0, 0), (no_id, true));
    entry.read_arguments();
    entry
}

/// Return true if a value is `false`. Only a scalar is written as JSON to find that out.
fn is_false<'a, V: Value<'a>>(value: V) -> bool {
    let is_scalar = value.text_len().is_none() && value.list().is_none() && value.object().is_none();
    is_scalar && value.json().as_text().is("false")
}
