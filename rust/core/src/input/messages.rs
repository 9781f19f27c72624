//! A conversation as the walk sees it: messages by their position, from the last to the first.

use crate::json::value::{Value, names, text_or_empty};
use crate::text::Text;

/// A message that only an importer can read: the caller is to import the messages, and to ask again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NeedsImport;

/// A source of messages.
pub trait Messages<'a> {
    /// A message.
    type Item: Value<'a>;
    /// Why a message can't be read.
    type Error;

    /// The last message before a position, or the last of all, with its position. Positions only have an order.
    fn before(&self, position: Option<usize>) -> Result<Option<(usize, Self::Item)>, Self::Error>;

    /// The number of the message, or of the line, at a position; from 0.
    fn number(&self, position: usize) -> usize;

    /// What the first messages, up to the one at a position, say of themselves as records of a session, by number.
    fn records(&self, last: usize) -> Result<Vec<Option<Record<'a>>>, Self::Error>;
}

/// Why a walk can't go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Halt<E> {
    /// A message that is no object.
    NotAnObject {
        /// The number of the message.
        number: usize,
        /// What it is instead.
        type_name: String,
    },
    /// A message that only an importer can read.
    NeedsImport,
    /// What the source of the messages says.
    Source(E),
}

impl<E> From<NeedsImport> for Halt<E> {
    fn from(_: NeedsImport) -> Self {
        Self::NeedsImport
    }
}

/// What a record of a session says of its place.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// Its own name; none where the item is a message by itself, with a role.
    pub uuid: Option<Text<'a>>,
    /// The name of its parent; empty where it has none.
    pub parent: Text<'a>,
    /// True if it belongs to a side chain.
    pub is_sidechain: bool,
    /// The agent that a side chain is of; may be empty.
    pub agent: Text<'a>,
    /// The id of its message (may be empty), where it holds one.
    pub message_id: Option<Text<'a>>,
}

impl<'a> Record<'a> {
    /// What an object says as a record.
    pub fn of<V: Value<'a>>(item: V) -> Option<Self> {
        let record = item.object()?;
        let mut parent = text_or_empty(record.get(names::PARENT_UUID));
        if parent.is_empty() {
            parent = text_or_empty(record.get(names::LOGICAL_PARENT_UUID));
        }
        let message = record.get(names::MESSAGE).and_then(Value::object);
        let is_message = record.get(names::ROLE).is_some();
        Some(Self {
            uuid: record.get(names::UUID).and_then(Value::text).filter(|_| !is_message),
            parent,
            is_sidechain: record.get(names::IS_SIDECHAIN).is_some_and(Value::is_true),
            agent: text_or_empty(record.get(names::AGENT_ID)),
            message_id: message.map(|message| text_or_empty(message.get(names::ID))),
        })
    }
}

/// A list of messages that are all there.
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

/// A slice of messages that are all there.
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
