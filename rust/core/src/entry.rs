//! A block in the making, on its way through the steps. The twin is `_pure/entry.py`.

use crate::content::is_synthetic;
use crate::pieces::Piece;
use crate::read::{UNKNOWN, call_name, result_name};
use crate::rules::Kind;
use crate::text::Text;
use crate::value::{Value, names};

/// A block in the making: a call, a result, or both, as the wire's own objects.
#[derive(Clone, Debug)]
pub struct Entry<'a, V> {
    /// The call, unless it is missing.
    pub call: Option<V>,
    /// The result, unless it is missing.
    pub result: Option<V>,
    /// What came back.
    pub content: Option<V>,
    /// The arguments, an object; known once the entry was judged.
    pub given: Option<V>,
    /// The id of the call; may be empty.
    pub call_id: Text<'a>,
    /// The index of the message.
    pub position: usize,
    /// Entries in the order of the walk; unique.
    pub order: usize,
    /// How many newer blocks there are.
    pub age: usize,
    /// The side chain; empty for the main conversation.
    pub scope: Text<'a>,
    /// Whether the block stands on the active branch.
    pub is_active: bool,
    /// Whether the file was edited after this read.
    pub is_stale: bool,
    is_error: bool,
    is_failure: bool,
    /// While the entry waits for its call: the place of the next one behind it that waits for a call of this id.
    pub(crate) behind: Option<usize>,
    /// What kind of tool it is.
    pub kind: Kind,
    /// What tells blocks of this kind apart.
    pub value: Option<Piece<'a>>,
}

impl<'a, V: Value<'a>> Entry<'a, V> {
    /// An entry that nothing is known of but what it holds.
    #[must_use]
    pub fn new(
        call: Option<V>,
        result: Option<V>,
        call_id: Text<'a>,
        (position, order): (usize, usize),
        (scope, is_active): (Text<'a>, bool),
    ) -> Self {
        let mut entry = Self {
            call,
            result: None,
            content: None,
            given: None,
            call_id,
            position,
            order,
            age: 0,
            scope,
            is_active,
            is_stale: false,
            is_error: false,
            is_failure: true,
            behind: None,
            kind: Kind::Other,
            value: None,
        };
        entry.set_result(result);
        entry
    }

    /// Take over what came back for another entry.
    pub(crate) fn take_over(&mut self, other: &Self) {
        (self.result, self.content) = (other.result, other.content);
        (self.is_error, self.is_failure) = (other.is_error, other.is_failure);
    }

    fn set_result(&mut self, result: Option<V>) {
        self.result = result;
        self.content = result.and_then(|result| result.get(names::CONTENT));
        self.is_error = result.and_then(|result| result.get(names::IS_ERROR)).is_some_and(Value::is_true);
        self.is_failure = self.is_error || result.is_none() || is_synthetic(self.content);
    }

    /// Let what is known of a block from elsewhere count.
    pub fn set_error(&mut self, is_error: bool) {
        self.is_error = is_error;
        self.is_failure = is_error || self.result.is_none() || is_synthetic(self.content);
    }

    /// The tool's name, by the call, else by what the result says of itself.
    #[must_use]
    pub fn name(&self) -> Text<'a> {
        let name = match (self.call, self.result) {
            (Some(call), _) => call_name(call),
            (None, Some(result)) => result_name(result),
            (None, None) => Text::ascii(""),
        };
        if name.is_empty() { Text::ascii(UNKNOWN) } else { name }
    }

    /// Whether the tool failed.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.is_error
    }

    /// Whether the tool failed, or was interrupted.
    #[must_use]
    pub fn is_failure(&self) -> bool {
        self.is_failure
    }
}
