//! Input that no client would write: known names and words in places where they do not belong.

use serde_json::{Map, Value, json};

use super::Dice;

const KEYS: [&str; 30] = [
    "role",
    "content",
    "type",
    "text",
    "id",
    "name",
    "input",
    "tool_use_id",
    "is_error",
    "tool_calls",
    "function",
    "function_call",
    "arguments",
    "tool_call_id",
    "tool_name",
    "message",
    "uuid",
    "parentUuid",
    "isSidechain",
    "agentId",
    "file_path",
    "command",
    "offset",
    "limit",
    "view_range",
    "edits",
    "old_string",
    "source",
    "data",
    "url",
];
const WORDS: [&str; 16] = [
    "",
    "tool",
    "assistant",
    "tool_use",
    "tool_result",
    "text",
    "image",
    "document",
    "Read",
    "Edit",
    "Bash",
    "ls",
    "a.py",
    "{\"command\": [1]}",
    "data:image/png;base64,AA==",
    "\u{1f600}\u{1b}[",
];

/// A value without a meaning: known names in places where they do not belong.
pub(crate) fn nonsense(dice: &mut Dice, depth: usize) -> Value {
    match dice.below(if depth == 0 { 4 } else { 9 }) {
        0 => Value::Null,
        1 => json!(dice.below(2) == 0),
        2 => json!([0, -1, 3, i64::MAX, i64::MIN][dice.below(5)]),
        3 | 4 => json!(dice.one_of(&WORDS)),
        5 => (0..dice.below(4)).map(|_| nonsense(dice, depth - 1)).collect(),
        _ => Value::Object(nonsense_object(dice, depth)),
    }
}

fn nonsense_object(dice: &mut Dice, depth: usize) -> Map<String, Value> {
    (0..dice.below(7)).map(|_| (dice.one_of(&KEYS).to_owned(), nonsense(dice, depth - 1))).collect()
}

/// A message with blocks of random content.
pub(crate) fn nonsense_message(dice: &mut Dice) -> Value {
    let blocks: Vec<Value> = (0..dice.below(4))
        .map(|_| {
            let mut block = nonsense_object(dice, 4);
            block.insert("type".to_owned(), json!(dice.one_of(&["tool_use", "tool_result"])));
            block.insert("name".to_owned(), json!(dice.one_of(&WORDS)));
            Value::Object(block)
        })
        .collect();
    let mut message = nonsense_object(dice, 4);
    message.insert("content".to_owned(), Value::from(blocks));
    Value::Object(message)
}
