//! A conversation as the walk sees it: messages by position, from the last to the first.

use super::document::MESSAGE_RECORDS;
use crate::json::value::{Key, Value, names, text_or_empty};
use crate::text::Text;

/// The error for a message that only an importer can read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NeedsImport;

/// A source of messages.
pub trait Messages<'a> {
    /// A message.
    type Item: Value<'a>;
    /// The reason why a message can't be read.
    type Error;

    /// Return the last message before a position, or the last of all, with its position. Positions are ordered, and may
    /// have gaps.
    fn before(&self, position: Option<usize>) -> Result<Option<(usize, Self::Item)>, Self::Error>;

    /// Return the number, from 0, of the message or of the line at a position.
    fn number(&self, position: usize) -> usize;

    /// Return the session records of all messages up to the one at a position, by number; `None` for those that are not
    /// objects.
    fn records(&self, last: usize) -> Result<Vec<Option<Record<'a>>>, Self::Error>;
}

/// The reason why a walk stops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Halt<E> {
    /// A message that is not an object.
    NotAnObject {
        /// The number of the message.
        number: usize,
        /// The name of its type.
        type_name: String,
    },
    /// A message that only an importer can read.
    NeedsImport,
    /// An error of the source of messages.
    Source(E),
}

impl<E> From<NeedsImport> for Halt<E> {
    fn from(_: NeedsImport) -> Self {
        Self::NeedsImport
    }
}

/// The member that names the call whose sub-agent wrote a record, in the stream of the Agent SDK.
pub(crate) const PARENT_CALL: Key<'static> = Key::new("parent_tool_use_id");

/// Return the message in a record; `None` if it has none, or if its type says that it is not one.
///
/// Clients copy messages into records about their requests, which are no part of the conversation.
pub(crate) fn held_message<'a, V: Value<'a>>(record: V) -> Option<V> {
    let message = record.get(names::MESSAGE)?.object()?;
    let is_own = |kind: V| kind.text().is_some_and(|kind| MESSAGE_RECORDS.iter().any(|own| kind.is(own)));
    record.get(names::TYPE).is_none_or(is_own).then_some(message)
}

/// The place of a record in its session.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// The record's id; `None` if the item is a message without a record around it, with a role.
    pub uuid: Option<Text<'a>>,
    /// The id of the record's parent; may be empty.
    pub parent: Text<'a>,
    /// True if the record belongs to a side chain.
    pub is_sidechain: bool,
    /// The agent of the side chain; may be empty.
    pub agent: Text<'a>,
    /// True if the record has no member for a parent, not even an empty one: it continues the record before it.
    pub follows: bool,
    /// The id of the record's message (may be empty), if it holds one.
    pub message_id: Option<Text<'a>>,
}

impl<'a> Record<'a> {
    /// Read the place of an item; `None` if it is not an object.
    pub fn of<V: Value<'a>>(item: V) -> Option<Self> {
        let record = item.object()?;
        let mut parent = text_or_empty(record.get(names::PARENT_UUID));
        if parent.is_empty() {
            parent = text_or_empty(record.get(names::LOGICAL_PARENT_UUID));
        }
        let follows = !record.has_name(names::PARENT_UUID) && !record.has_name(names::LOGICAL_PARENT_UUID);
        let called = if follows { text_or_empty(record.get(PARENT_CALL)) } else { Text::ascii("") };
        let is_sidechain = record.get(names::IS_SIDECHAIN).is_some_and(Value::is_true);
        let message = held_message(record);
        let is_message = record.get(names::ROLE).is_some();
        Some(Self {
            uuid: record.get(names::UUID).and_then(Value::text).filter(|_| !is_message),
            parent,
            is_sidechain: is_sidechain || !called.is_empty(),
            agent: if is_sidechain { text_or_empty(record.get(names::AGENT_ID)) } else { called },
            follows,
            message_id: message.map(|message| text_or_empty(message.get(names::ID))),
        })
    }
}

/// A list that holds all messages.
#[derive(Clone, Copy, Debug)]
pub struct List<V>(pub V);

impl<'a, V: Value<'a>> Messages<'a> for List<V> {
    type Item = V;
    type Error = std::convert::Infallible;

    fn before(&self, position: Option<usize>) -> Result<Option<(usize, V)>, Self::Error> {
        let Some(position) = position.unwrap_or_else(|| self.0.count()).checked_sub(1) else { return Ok(None) };
        Ok(self.0.item(position).map(|item| (position, item)))
    }

    fn number(&self, position: usize) -> usize {
        position
    }

    fn records(&self, last: usize) -> Result<Vec<Option<Record<'a>>>, Self::Error> {
        Ok((0..=last).map(|position| self.0.item(position).and_then(Record::of)).collect())
    }
}

/// A slice that holds all messages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slice<'m, V>(pub(crate) &'m [V]);

impl<'a, V: Value<'a>> Messages<'a> for Slice<'_, V> {
    type Item = V;
    type Error = std::convert::Infallible;

    fn before(&self, position: Option<usize>) -> Result<Option<(usize, V)>, Self::Error> {
        let Some(position) = position.unwrap_or(self.0.len()).checked_sub(1) else { return Ok(None) };
        Ok(self.0.get(position).map(|item| (position, *item)))
    }

    fn number(&self, position: usize) -> usize {
        position
    }

    fn records(&self, last: usize) -> Result<Vec<Option<Record<'a>>>, Self::Error> {
        Ok(self.0.iter().take(last + 1).map(|item| Record::of(*item)).collect())
    }
}

impl<'a, M: Messages<'a>> Messages<'a> for &M {
    type Item = M::Item;
    type Error = M::Error;

    fn before(&self, position: Option<usize>) -> Result<Option<(usize, Self::Item)>, Self::Error> {
        (**self).before(position)
    }

    fn number(&self, position: usize) -> usize {
        (**self).number(position)
    }

    fn records(&self, last: usize) -> Result<Vec<Option<Record<'a>>>, Self::Error> {
        (**self).records(last)
    }
}
