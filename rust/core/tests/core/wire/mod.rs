//! Short ways to write messages, so that a test shows only what it is about.

pub(crate) mod author;
pub(crate) mod lines;
pub(crate) mod nonsense;
pub(crate) mod spellings;
pub(crate) mod surrogates;
pub(crate) mod trees;

use bumpalo::Bump;
use serde_json::{Value, json};
use toolcarry::context::policy::Settings;
use toolcarry::context::{Counts, carry as run};
use toolcarry::dedupe::rules::RuleSet;
use toolcarry::input::Conversation;
use toolcarry::text::OwnedText;
use toolcarry::text::piece::Piece;

pub(crate) fn call(id: &str, name: &str, input: &Value) -> Value {
    json!({"type": "tool_use", "id": id, "name": name, "input": input})
}

pub(crate) fn result(id: &str, content: &str) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": content})
}

pub(crate) fn failure(id: &str, content: &str) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": content, "is_error": true})
}

pub(crate) fn assistant(blocks: &[Value]) -> Value {
    json!({"role": "assistant", "content": blocks})
}

pub(crate) fn user(blocks: &[Value]) -> Value {
    json!({"role": "user", "content": blocks})
}

/// A call and its result.
pub(crate) fn turn(id: &str, name: &str, input: &Value, content: &str) -> Vec<Value> {
    vec![assistant(&[call(id, name, input)]), user(&[result(id, content)])]
}

/// A call and a result that reports a failure.
pub(crate) fn failed_turn(id: &str, name: &str, input: &Value) -> Vec<Value> {
    vec![assistant(&[call(id, name, input)]), user(&[failure(id, "no")])]
}

/// A call that never got its result.
pub(crate) fn open_call(id: &str, name: &str, input: &Value) -> Vec<Value> {
    vec![assistant(&[call(id, name, input)])]
}

pub(crate) fn bash(id: &str, command: &str, content: &str) -> Vec<Value> {
    turn(id, "Bash", &json!({"command": command}), content)
}

pub(crate) fn failed_bash(id: &str, command: &str) -> Vec<Value> {
    failed_turn(id, "Bash", &json!({"command": command}))
}

pub(crate) fn read(id: &str, path: &str, content: &str) -> Vec<Value> {
    turn(id, "Read", &json!({"file_path": path}), content)
}

pub(crate) fn edit(id: &str, path: &str, old: &str, new: &str) -> Vec<Value> {
    turn(id, "Edit", &json!({"file_path": path, "old_string": old, "new_string": new}), "done")
}

/// A document in bytes, and the arena for the values made of it.
pub(crate) struct Document {
    pub(crate) bytes: Vec<u8>,
    pub(crate) bump: Bump,
}

impl Document {
    pub(crate) fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Self { bytes: bytes.into(), bump: Bump::new() }
    }

    pub(crate) fn open(&self) -> Conversation<'_> {
        Conversation::open(&self.bytes, &self.bump).unwrap()
    }
}

/// Messages in bytes.
pub(crate) fn json_of(messages: &[Value]) -> Document {
    Document::new(serde_json::to_vec(messages).unwrap())
}

pub(crate) fn piece(text: &str) -> Piece<'static> {
    Piece::own(OwnedText::from_utf8(text))
}

/// The context of messages under the built-in rules, and its counts.
pub(crate) fn carry(messages: &[Value], summary: &str, settings: &Settings) -> (String, Counts) {
    let messages = json_of(messages);
    let carried = run(messages.open(), &piece(summary), settings, RuleSet::built_in(), false).unwrap();
    (carried.output.to_utf8(), carried.counts)
}

/// Pseudo-random numbers that are the same in every run.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    /// A number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end
    }

    pub(crate) fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }
}
