//! A block while the steps work on it: a call with its result.

use crate::content::{Content, is_stand_in, result_text};
use crate::formats::message::{ToolCall, ToolResult};
use crate::formats::{UNKNOWN, try_call, try_result};
use crate::input::messages::NeedsImport;
use crate::json::value::Value;
use crate::text::Text;
use crate::text::piece::Piece;

/// The kind of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// It reads a file.
    Read,
    /// It changes a file.
    Edit,
    /// It runs a command.
    Command,
    /// Anything else.
    Other,
}

impl Kind {
    /// The kind's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Edit => "edit",
            Self::Command => "command",
            Self::Other => "other",
        }
    }
}

/// A block while the steps work on it: a call, a result, or both, as the objects of the input.
#[derive(Clone, Debug)]
pub struct Entry<'a, V> {
    /// The call, unless it is missing.
    pub call: Option<V>,
    /// The result, unless it is missing.
    pub result: Option<V>,
    /// The arguments as they are in the call: an object, a JSON text, or nothing.
    pub arguments: Option<V>,
    /// The content of the result.
    pub content: Option<V>,
    /// The content of the result, as text.
    pub text: Content<'a, V>,
    /// The arguments as an object; set by `read_arguments`.
    pub given: Option<V>,
    /// The id of the call; may be empty.
    pub call_id: Text<'a>,
    /// The tool's name from the call, or from the result if there is no call; may be empty.
    pub tool_name: Text<'a>,
    /// The server of the call, if it is not part of the name; may be empty.
    pub server: Text<'a>,
    /// The working directory that the call's record gives; may be empty.
    pub directory: Text<'a>,
    /// The index of the call's message, or of the result's message if there is no call.
    pub position: usize,
    /// The index of the result's message.
    pub result_position: usize,
    /// The entry's number in the walk, larger for older entries; unique.
    pub order: usize,
    /// The number of newer blocks.
    pub age: usize,
    /// The side chain; empty for the main conversation.
    pub scope: Text<'a>,
    /// True if the block is on the active branch.
    pub is_active: bool,
    /// True if the file was edited after this read.
    pub is_stale: bool,
    is_doubtful: bool,
    is_error: bool,
    is_failure: bool,
    is_unproven: bool,
    /// While the entry waits for its call: the index of the next newer entry that waits for a call with the same id.
    pub(crate) next_waiting: Option<usize>,
    /// The kind of the tool.
    pub kind: Kind,
    /// The path or the command, as it is shown.
    pub value: Option<Piece<'a>>,
    /// The value in its normal form, with its place: a newer block with the same key may supersede this one.
    pub key: Option<Piece<'a>>,
    /// The rule's limit on the result, if it has one.
    pub max_chars: Option<usize>,
}

impl<'a, V: Value<'a>> Entry<'a, V> {
    /// Create an entry that no rule has been applied to yet.
    #[must_use]
    pub fn new(
        call: Option<ToolCall<'a, V>>,
        result: Option<ToolResult<'a, V>>,
        (position, order): (usize, usize),
        (scope, is_active): (Text<'a>, bool),
    ) -> Self {
        let by_call = call.map(|call| (call.call_id, call.name));
        let by_result = || result.map(|result| (result.call_id, result.name));
        let (call_id, tool_name) = by_call.or_else(by_result).unwrap_or((Text::ascii(""), Text::ascii("")));
        let content = result.and_then(|result| result.content);
        let text = result_text(content);
        let is_error = result.is_some_and(|result| result.is_error);
        Self {
            call: call.map(|call| call.wire),
            result: result.map(|result| result.wire),
            arguments: call.and_then(|call| call.arguments),
            content,
            given: None,
            call_id,
            tool_name,
            server: call.map_or(Text::ascii(""), |call| call.server),
            directory: Text::ascii(""),
            position,
            result_position: position,
            order,
            age: 0,
            scope,
            is_active,
            is_stale: false,
            is_doubtful: false,
            is_error,
            is_failure: is_error || result.is_none() || is_stand_in(&text),
            is_unproven: false,
            text,
            next_waiting: None,
            kind: Kind::Other,
            value: None,
            key: None,
            max_chars: None,
        }
    }

    /// Create an entry from a call and a result outside a message.
    pub fn read(
        call: Option<V>,
        result: Option<V>,
        place: (usize, usize),
        scope: (Text<'a>, bool),
    ) -> Result<Self, NeedsImport> {
        let (call, result) = (call.map(try_call).transpose()?, result.map(try_result).transpose()?);
        Ok(Self::new(call, result, place, scope))
    }

    /// Set `given` to the arguments as an object, and return them; `None` if there is no call.
    pub(crate) fn read_arguments(&mut self) -> Option<V> {
        let call = self.call?;
        self.given = Some(match self.arguments {
            None => call.empty(),
            Some(arguments) => arguments.object().unwrap_or_else(|| arguments.arguments()),
        });
        self.given
    }

    /// Add the call that this result answers.
    pub(crate) fn add_call(
        &mut self,
        call: ToolCall<'a, V>,
        (position, order): (usize, usize),
        is_active: bool,
        directory: Text<'a>,
    ) {
        (self.call, self.arguments, self.tool_name) = (Some(call.wire), call.arguments, call.name);
        (self.server, self.directory) = (call.server, directory);
        (self.position, self.order, self.is_active) = (position, order, is_active);
    }

    /// Copy the result of another entry into this one.
    pub(crate) fn take_over(&mut self, other: &Self) {
        (self.result, self.result_position, self.content) = (other.result, other.result_position, other.content);
        (self.text, self.is_error, self.is_failure) = (other.text.clone(), other.is_error, other.is_failure);
    }

    /// Mark the result as one that may be a failure.
    pub(crate) fn set_doubtful(&mut self) {
        self.is_doubtful = true;
    }

    /// Mark the result as one that does not say if the tool succeeded.
    pub(crate) fn set_unproven(&mut self) {
        self.is_unproven = true;
    }

    /// Mark the result as a failure, by its words or by the caller's report.
    pub fn set_error(&mut self) {
        (self.is_error, self.is_failure) = (true, true);
    }

    /// The tool's name, or the name for unknown tools if neither the call nor the result has one.
    #[must_use]
    pub fn name(&self) -> Text<'a> {
        if self.tool_name.is_empty() { Text::ascii(UNKNOWN) } else { self.tool_name }
    }

    /// Return true if the tool failed.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.is_error
    }

    /// Return true if the words of the result may be a failure.
    #[must_use]
    pub fn is_doubtful(&self) -> bool {
        self.is_doubtful
    }

    /// Return true if the words of the result don't say if the tool succeeded.
    #[must_use]
    pub fn is_unproven(&self) -> bool {
        self.is_unproven
    }

    /// Return true if the tool failed, was interrupted, or gave no result.
    #[must_use]
    pub fn is_failure(&self) -> bool {
        self.is_failure
    }
}
