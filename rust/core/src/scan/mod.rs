//! The bytes door: request bodies, JSON arrays and session files, read without making values of them.
//!
//! A document is checked to the letter once from end to end ([`syntax`], [`strings`], with the masks of [`crate::lanes`]).
//! Of a small one, [`nodes`] are made meanwhile; of a large one, what is kept is where its messages begin, and they become
//! nodes as the walk comes to them, from the last on. A text is made without its escapes only when it is asked for, and as
//! much of it as is asked for ([`decode`], [`unescape`]). The [`lines`] of a session file are read from the last on.

mod body;
mod decode;
mod document;
mod ends;
mod header;
mod index;
mod lines;
mod name;
mod nodes;
mod plain;
mod quote;
mod request;
mod short;
mod spans;
mod strings;
mod syntax;
mod unescape;
mod value;
mod write;

use bumpalo::Bump;

use self::body::Body;
use self::index::Reading;
use self::lines::{Lines, is_pretty};
use self::request::is_request;
use crate::lanes::dispatch;
use crate::messages::{List, Messages, Record};
use crate::value::{Value, names};

pub use self::plain::Plain;
pub(crate) use self::quote::{push_escaped, push_string};
pub(crate) use self::request::messages_of;
pub(crate) use self::spans::span_of;
pub use self::syntax::{Fault, MAX_DEPTH, Refused};
pub use self::value::{Scanned, Written};
pub use self::write::push_quoted;

/// A conversation in bytes.
#[derive(Debug)]
pub struct Conversation<'a> {
    source: Source<'a>,
}

#[derive(Debug)]
enum Source<'a> {
    /// All messages, as nodes.
    Nodes(List<Scanned<'a>>),
    Body(Body<'a>, Vec<usize>),
    Lines(Lines<'a>),
}

/// Room is asked for by pages of memory, less what is kept with it.
const PAGE: usize = 4096;
const OF_A_CHUNK: usize = 64;

/// In documents of so many bytes, nodes are made of all messages while they are checked: most of them will be asked for.
const SMALL: usize = 4 << 20;

/// Room for what is made of some data while it is read: of a small document its nodes above all, which take less than a
/// twentieth of it where results have some length, and an eighth where they have less. What goes beyond takes twice as
/// much at a time.
#[must_use]
pub fn room_for(data: &[u8]) -> Bump {
    let size = if data.len() <= SMALL { data.len() } else { 0 };
    let pages = (size / 20 / PAGE * PAGE).max((size / 8).min(2 * PAGE));
    Bump::with_capacity(pages.saturating_sub(OF_A_CHUNK))
}

impl<'a> Conversation<'a> {
    /// Read a request body, a JSON array, or JSONL. An error tells the first byte at which it is none of them, as a
    /// document; the bump keeps what is made of it.
    pub fn open(data: &'a [u8], bump: &'a Bump) -> Result<Self, Refused> {
        Self::open_with(data, bump, SMALL)
    }

    /// The same; what is a small document is told by its bytes, so that both ways can be tested.
    pub fn open_with(data: &'a [u8], bump: &'a Bump, small: usize) -> Result<Self, Refused> {
        match open_document(data, bump, small) {
            Ok(source) => source.ok_or(Refused { at: 0, fault: Fault::NoMessages }),
            Err(refused) if is_pretty(data) => Err(refused),
            Err(refused) => open_lines(data, refused, bump),
        }
        .map(|source| Self { source })
    }

    /// The numbers, from 1, of the lines that were come by and hold no object.
    #[must_use]
    pub fn skipped_lines(&self) -> Vec<usize> {
        match &self.source {
            Source::Nodes(_) => Vec::new(),
            Source::Body(_, skipped) => skipped.clone(),
            Source::Lines(lines) => lines.skipped_lines(),
        }
    }
}

/// The messages of a document, if it has any.
fn open_document<'a>(data: &'a [u8], bump: &'a Bump, small: usize) -> Result<Option<Source<'a>>, Refused> {
    if data.len() <= small {
        let document = Scanned::messages(data, bump)?;
        let messages = document.get(names::MESSAGES).and_then(Value::list);
        // What else a document may be, one place tells.
        let is_told = messages.is_some() || !document.has(names::MESSAGES);
        if let Some((list, _)) = messages_of(document).filter(|_| is_told) {
            return Ok(Some(Source::Nodes(List(list))));
        }
    }
    let body = Body::of(dispatch(Reading(data))?, data, bump)?;
    Ok(body.map(|body| Source::Body(body, Vec::new())))
}

/// The records of a session file, or the one request that it holds.
fn open_lines<'a>(data: &'a [u8], refused: Refused, bump: &'a Bump) -> Result<Source<'a>, Refused> {
    let lines = Lines::new(data, bump);
    let Some((start, end, record)) = lines.last_before(lines.len()) else { return Err(refused) };
    if !is_request(record) {
        return Ok(Source::Lines(Lines::new(data, bump)));
    }
    if start.checked_sub(1).is_some_and(|end| lines.last_before(end).is_some()) {
        return lines.refuse(start);
    }
    let line = lines.line(start, end);
    let body = Body::of(dispatch(Reading(line))?, line, bump)?.ok_or(refused)?;
    Ok(Source::Body(body, lines.skipped_lines()))
}

impl<'a> Messages<'a> for Conversation<'a> {
    type Item = Scanned<'a>;
    type Error = Refused;

    fn before(&self, position: Option<usize>) -> Result<Option<(usize, Scanned<'a>)>, Refused> {
        match &self.source {
            Source::Nodes(messages) => messages.before(position).map_err(|never| match never {}),
            Source::Body(body, _) => body.before(position),
            Source::Lines(lines) => lines.before(position),
        }
    }

    fn number(&self, position: usize) -> usize {
        match &self.source {
            Source::Nodes(messages) => messages.number(position),
            Source::Body(body, _) => body.number(position),
            Source::Lines(lines) => lines.number(position),
        }
    }

    fn records(&self, last: usize) -> Result<Vec<Option<Record<'a>>>, Refused> {
        match &self.source {
            Source::Nodes(messages) => messages.records(last).map_err(|never| match never {}),
            Source::Body(body, _) => body.records(last),
            Source::Lines(lines) => lines.records(last),
        }
    }
}
