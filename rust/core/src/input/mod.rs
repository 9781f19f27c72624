//! The messages of request bodies, JSON arrays and session files, read from bytes.
//!
//! [`document`] finds the messages of a document of [`crate::json`]; [`jsonl`] reads the lines of a session file from
//! the last to the first, as they are asked for; [`body_spans`] says where the members and messages of a body are.

pub mod body_spans;
mod document;
pub(crate) mod jsonl;
pub mod messages;
pub mod value_count;

use bumpalo::Bump;

use self::document::{is_request, open_document};
use self::jsonl::{JsonLines, is_pretty, is_prose};
use self::messages::{List, Messages, Record};
use crate::json::error::{Fault, Refused};
use crate::json::scanned::Scanned;

pub(crate) use self::document::{
    CONTINUED_PATHS, MODEL_KEYS, REQUEST_LISTS, holds_conversations, is_imported_whole, messages_of,
};

/// A conversation in bytes.
#[derive(Debug)]
pub struct Conversation<'a> {
    source: Source<'a>,
}

#[derive(Debug)]
enum Source<'a> {
    /// The messages of a document, and the numbers of the lines that were skipped before it.
    Document(List<Scanned<'a>>, Vec<usize>),
    JsonLines(Box<JsonLines<'a>>),
}

/// The arena is sized in pages of memory, less the bytes that it needs for itself.
const PAGE: usize = 4096;
const ARENA_OVERHEAD: usize = 64;

/// The largest size of data for which the whole arena is allocated at once.
const LARGE: usize = 4 << 20;

/// Create the arena for reading some data. It holds nodes above all, which take less than a twentieth of the data if
/// results are long, and an eighth if they are short. Beyond its first size, the arena doubles.
#[must_use]
pub fn room_for(data: &[u8]) -> Bump {
    let size = data.len().min(LARGE);
    let pages = (size / 20 / PAGE * PAGE).max((size / 8).min(2 * PAGE));
    Bump::with_capacity(pages.saturating_sub(ARENA_OVERHEAD))
}

impl<'a> Conversation<'a> {
    /// Read a request body, a JSON array, or JSONL. The error for any other data has the offset of the first byte that
    /// is wrong in a document. Values that are made are kept in `bump`.
    pub fn open(data: &'a [u8], bump: &'a Bump) -> Result<Self, Refused> {
        match open_document(data, bump) {
            Ok(Some(messages)) => Ok(Source::Document(List(messages), Vec::new())),
            Ok(None) => Err(Refused { at: 0, fault: Fault::NoMessages }),
            Err(refused) if is_pretty(data) || is_prose(data) => Err(refused),
            Err(refused) => open_lines(data, refused, bump),
        }
        .map(|source| Self { source })
    }

    /// Return the numbers, from 1, of the lines read so far that hold no object.
    #[must_use]
    pub fn skipped_lines(&self) -> Vec<usize> {
        match &self.source {
            Source::Document(_, skipped) => skipped.clone(),
            Source::JsonLines(lines) => lines.skipped_lines(),
        }
    }
}

/// Open the records of a session file, or the one request that it holds.
fn open_lines<'a>(data: &'a [u8], refused: Refused, bump: &'a Bump) -> Result<Source<'a>, Refused> {
    let lines = JsonLines::new(data, bump);
    let Some((start, end, record)) = lines.last_before(lines.len()) else { return Err(refused) };
    if !is_request(record) {
        return Ok(Source::JsonLines(Box::new(JsonLines::new(data, bump))));
    }
    if start.checked_sub(1).is_some_and(|end| lines.last_before(end).is_some()) {
        return lines.refuse(start);
    }
    let messages = open_document(lines.line(start, end), bump)?.ok_or(refused)?;
    Ok(Source::Document(List(messages), lines.skipped_lines()))
}

impl<'a> Messages<'a> for Conversation<'a> {
    type Item = Scanned<'a>;
    type Error = Refused;

    fn before(&self, position: Option<usize>) -> Result<Option<(usize, Scanned<'a>)>, Refused> {
        match &self.source {
            Source::Document(messages, _) => messages.before(position).map_err(|never| match never {}),
            Source::JsonLines(lines) => lines.before(position),
        }
    }

    fn number(&self, position: usize) -> usize {
        match &self.source {
            Source::Document(messages, _) => messages.number(position),
            Source::JsonLines(lines) => lines.number(position),
        }
    }

    fn records(&self, last: usize) -> Result<Vec<Option<Record<'a>>>, Refused> {
        match &self.source {
            Source::Document(messages, _) => messages.records(last).map_err(|never| match never {}),
            Source::JsonLines(lines) => lines.records(last),
        }
    }
}
