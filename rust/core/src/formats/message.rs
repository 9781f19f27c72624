//! The content of a message in any format: tool calls, tool results, and spoken text.

use crate::json::value::Value;
use crate::text::Text;

/// A tool call: the object in the message, and the values that were read from it.
#[derive(Clone, Copy, Debug)]
pub struct ToolCall<'a, V> {
    /// The object in the message.
    pub wire: V,
    /// The id of the call; may be empty.
    pub call_id: Text<'a>,
    /// The name of the tool; may be empty.
    pub name: Text<'a>,
    /// The arguments as they are written: an object, a JSON text, or `None`.
    pub arguments: Option<V>,
    /// The MCP server or the namespace of the tool, if it is not part of the name; may be empty.
    pub server: Text<'a>,
}

/// A result: the object in the message, and the values that were read from it.
#[derive(Clone, Copy, Debug)]
pub struct ToolResult<'a, V> {
    /// The object in the message.
    pub wire: V,
    /// The id of the call that it answers; may be empty.
    pub call_id: Text<'a>,
    /// The name of the tool, if the result has it; may be empty.
    pub name: Text<'a>,
    /// The content of the result, of any kind; [`crate::content`] makes text of it.
    pub content: Option<V>,
    /// True if the tool failed.
    pub is_error: bool,
}

/// The calls and the results of one message, each in their order.
#[derive(Debug)]
pub struct MessageParts<'a, V> {
    /// The calls.
    pub calls: Vec<ToolCall<'a, V>>,
    /// The results.
    pub results: Vec<ToolResult<'a, V>>,
    /// The first part or call that no format knows, or the message itself; `None` if all is known.
    pub unread: Option<V>,
    /// True if a call shows that an importer must read the conversation.
    pub is_foreign: bool,
}

impl<V> MessageParts<'_, V> {
    /// Return true if there are no calls and no results.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty() && self.results.is_empty()
    }

    /// Remove all calls and results, and keep the memory for the next message.
    pub fn clear(&mut self) {
        self.calls.clear();
        self.results.clear();
        self.unread = None;
        self.is_foreign = false;
    }

    /// Keep what no format knows, unless something before it is kept.
    pub(crate) fn note(&mut self, unread: V) {
        self.unread.get_or_insert(unread);
    }
}

impl<V> Default for MessageParts<'_, V> {
    fn default() -> Self {
        Self { calls: Vec::new(), results: Vec::new(), unread: None, is_foreign: false }
    }
}

/// The format of a message, and what it holds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadMessage {
    pub(crate) shape: Option<&'static str>,
    pub(crate) has_calls: bool,
    pub(crate) has_results: bool,
    /// True if a call has an id.
    pub(crate) has_call_ids: bool,
}

impl ReadMessage {
    pub(crate) fn new<V>(shape: Option<&'static str>, parts: &MessageParts<'_, V>) -> Self {
        Self {
            shape,
            has_calls: !parts.calls.is_empty(),
            has_results: !parts.results.is_empty(),
            has_call_ids: parts.calls.iter().any(|call| !call.call_id.is_empty()),
        }
    }
}

/// The speaker of a message, in the message's own word, and the content: a string, or a list of parts.
#[derive(Clone, Copy, Debug)]
pub struct Spoken<'a, V> {
    /// The message's word for the speaker; may be empty.
    pub speaker: Text<'a>,
    /// The content.
    pub content: Option<V>,
}

/// A reader of one format.
pub(crate) trait Format {
    /// Collect the calls and results of a message, and return the name of the format; `None` if the message has another
    /// format.
    fn read<'a, V: Value<'a>>(
        message: V,
        role: Option<V>,
        message_parts: &mut MessageParts<'a, V>,
    ) -> Option<&'static str>;

    /// Read a call that is not in a message, if it has this format.
    fn call<'a, V: Value<'a>>(_wire: V) -> Option<ToolCall<'a, V>> {
        None
    }

    /// Read a result that is not in a message, if it has this format.
    fn result<'a, V: Value<'a>>(_wire: V) -> Option<ToolResult<'a, V>> {
        None
    }

    /// Return the speaker and the content of a message, if this format has them elsewhere than in `role` and `content`.
    fn spoken<'a, V: Value<'a>>(_message: V) -> Option<Spoken<'a, V>> {
        None
    }
}
