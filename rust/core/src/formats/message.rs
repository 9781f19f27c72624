//! A message as all steps see it, whatever its format: tool calls, tool results, and what is spoken.

use crate::json::value::Value;
use crate::text::Text;

/// A call: the wire's own object, and what was read of it.
#[derive(Clone, Copy, Debug)]
pub struct ToolCall<'a, V> {
    /// The wire's own object.
    pub wire: V,
    /// Empty where it has none.
    pub call_id: Text<'a>,
    /// Of the tool; may be empty.
    pub name: Text<'a>,
    /// As they stand: an object, a JSON text, or nothing.
    pub arguments: Option<V>,
}

/// A result: the wire's own object, and what was read of it.
#[derive(Clone, Copy, Debug)]
pub struct ToolResult<'a, V> {
    /// The wire's own object.
    pub wire: V,
    /// Of the call that it answers; empty where it names none.
    pub call_id: Text<'a>,
    /// The tool's name, where the result says it; may be empty.
    pub name: Text<'a>,
    /// What came back, of any kind; [`crate::content`] makes text of it.
    pub content: Option<V>,
    /// True if the tool failed.
    pub is_error: bool,
}

/// The calls and the results of one message, each in their order.
#[derive(Debug)]
pub struct Said<'a, V> {
    /// The calls.
    pub calls: Vec<ToolCall<'a, V>>,
    /// The results.
    pub results: Vec<ToolResult<'a, V>>,
}

impl<V> Said<'_, V> {
    /// Return whether there is neither a call nor a result.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty() && self.results.is_empty()
    }

    /// Forget what was said; the room is used again.
    pub fn clear(&mut self) {
        self.calls.clear();
        self.results.clear();
    }
}

impl<V> Default for Said<'_, V> {
    fn default() -> Self {
        Self { calls: Vec::new(), results: Vec::new() }
    }
}

/// Who speaks in a message, by the wire's own word for it, and what is said: a text, or a list of parts.
#[derive(Clone, Copy, Debug)]
pub struct Spoken<'a, V> {
    /// The wire's word; may be empty.
    pub speaker: Text<'a>,
    /// What is said.
    pub content: Option<V>,
}

/// A family of wire shapes: what a reader in [`crate::formats`] offers.
pub(crate) trait Shape {
    /// Take in what a message of this shape says; the shape's name, or nothing where it is of another.
    fn read<'a, V: Value<'a>>(message: V, role: Option<V>, said: &mut Said<'a, V>) -> Option<&'static str>;

    /// A call that stands by itself, if it is one of this shape.
    fn call<'a, V: Value<'a>>(_wire: V) -> Option<ToolCall<'a, V>> {
        None
    }

    /// A result that stands by itself, if it is one of this shape.
    fn result<'a, V: Value<'a>>(_wire: V) -> Option<ToolResult<'a, V>> {
        None
    }

    /// What is said in a message of this shape beside its calls.
    fn spoken<'a, V: Value<'a>>(_message: V) -> Option<Spoken<'a, V>> {
        None
    }
}
