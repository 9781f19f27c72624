//! A request body or a JSON array: checked once from end to end; then its messages, from the last to the first.

use std::cell::RefCell;

use bumpalo::Bump;

use super::index::{Document, Index, Long};
use super::nodes::{Building, Origin, Stacks};
use super::syntax::{Fault, Refused};
use super::value::Scanned;
use crate::lanes::dispatch;
use crate::messages::{Messages, Record};
use crate::value::{Value, names};

/// The messages of a document.
#[derive(Debug)]
pub(crate) struct Body<'a> {
    origin: &'a Origin<'a>,
    index: Index,
    stacks: RefCell<Stacks<'a>>,
}

impl<'a> Body<'a> {
    /// The messages of a document, if it has any.
    pub(crate) fn of(document: Document, data: &'a [u8], bump: &'a Bump) -> Result<Option<Self>, Refused> {
        if u32::try_from(data.len()).is_err() {
            return Err(Refused { at: 0, fault: Fault::TooLong });
        }
        let origin = &*bump.alloc(Origin { data, bump });
        let with = |index| Self { origin, index, stacks: RefCell::default() };
        match document {
            Document::Messages(index) => Ok(Some(with(index))),
            Document::Other => Ok(None),
            Document::Either { history, trajectory } => {
                let history = with(history);
                Ok(Some(if history.has_calls()? { history } else { with(trajectory) }))
            }
        }
    }

    /// Whether a message says that it may have calls.
    fn has_calls(&self) -> Result<bool, Refused> {
        for position in 0..self.index.starts.len() {
            if self.message(position)?.is_some_and(|message| message.has(names::TOOL_CALLS)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn message(&self, position: usize) -> Result<Option<Scanned<'a>>, Refused> {
        let Some(start) = self.index.starts.get(position) else { return Ok(None) };
        let (origin, stacks) = (self.origin, &mut self.stacks.borrow_mut());
        let at = *start as usize;
        let long = Long::from(&self.index.long, at);
        let depth = self.index.depth;
        let node = dispatch(Building {
            origin,
            at,
            depth,
            long,
            is_all: false,
            checks_utf8: false,
            only_messages: false,
            stacks,
        })?;
        Ok(Some(Scanned::new(node, origin)))
    }
}

impl<'a> Messages<'a> for Body<'a> {
    type Item = Scanned<'a>;
    type Error = Refused;

    fn before(&self, position: Option<usize>) -> Result<Option<(usize, Self::Item)>, Refused> {
        let Some(position) = position.unwrap_or(self.index.starts.len()).checked_sub(1) else { return Ok(None) };
        Ok(self.message(position)?.map(|message| (position, message)))
    }

    fn number(&self, position: usize) -> usize {
        position
    }

    fn records(&self, last: usize) -> Result<Vec<Option<Record<'a>>>, Refused> {
        (0..=last).map(|position| Ok(self.message(position)?.and_then(Record::of))).collect()
    }
}
