//! A whole document, checked, and where its messages stand.
//!
//! What is kept beside the body is small: four bytes a message, and a few numbers for each of the last long texts, so
//! that those need not be scanned again when the walk comes to them.

use super::request::read_request;
use super::strings::Raw;
use super::syntax::{Fault, Literal, Refused, Scan, Visit, read_value, skip_space, unexpected};
use crate::lanes::{Lanes, Work};

/// Texts of so many bytes are remembered.
const LONG: usize = 256;
/// At least so many of the last of them are, and at most twice as many.
const LAST: usize = 2_048;

/// A long text: where its quote stands, and what is known of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Long {
    pub(crate) at: u32,
    size: u32,
    chars: u32,
    has_escapes: bool,
    is_ascii: bool,
}

impl Long {
    /// A text that is worth to be remembered; `at` is the offset of its quote.
    #[inline(always)]
    pub(crate) fn of(at: usize, text: Raw<'_>) -> Option<Self> {
        let Raw { bytes, chars, has_escapes, is_ascii } = text;
        if bytes.len() < LONG {
            return None;
        }
        Some(Self { at: u32::try_from(at).ok()?, size: u32::try_from(bytes.len()).ok()?, chars, has_escapes, is_ascii })
    }

    /// Those of a list that stand at an offset or behind it.
    pub(crate) fn from(long: &[Self], at: usize) -> &[Self] {
        long.get(long.partition_point(|long| (long.at as usize) < at)..).unwrap_or_default()
    }

    /// The text as it was read.
    pub(crate) fn raw(self, data: &[u8]) -> Option<Raw<'_>> {
        let start = self.at as usize + 1;
        let bytes = data.get(start..start + self.size as usize)?;
        Some(Raw { bytes, chars: self.chars, has_escapes: self.has_escapes, is_ascii: self.is_ascii })
    }
}

/// Where the messages of a document begin, and its long texts.
#[derive(Debug, Default)]
pub(crate) struct Index {
    pub(crate) starts: Vec<u32>,
    pub(crate) long: Vec<Long>,
    /// How deep the messages stand in the document.
    pub(crate) depth: usize,
}

/// What a document is, if it is one.
#[derive(Debug)]
pub(crate) enum Document {
    Messages(Index),
    /// SWE-agent's two lists: the history counts where it knows of calls, else the trajectory.
    Either {
        history: Index,
        trajectory: Index,
    },
    /// Well-formed, but neither a request nor a list of messages nor a message.
    Other,
}

impl<'a> Visit<'a> for Index {
    fn key(&mut self, _: usize, _: Raw<'a>) {}

    #[inline(always)]
    fn text(&mut self, at: usize, text: Raw<'a>) {
        if let Some(long) = Long::of(at, text) {
            if self.long.len() == 2 * LAST {
                self.long.drain(..LAST);
            }
            self.long.push(long);
        }
    }

    fn number(&mut self, _: &'a [u8]) {}
    fn literal(&mut self, _: usize, _: Literal) {}
    fn open(&mut self, _: usize, _: bool) {}
    fn close(&mut self, _: bool) {}
}

impl Index {
    /// Read an array's items, as messages; `at` is behind its bracket.
    #[inline(always)]
    pub(super) fn read_items<L: Lanes>(&mut self, data: &[u8], at: usize, depth: usize) -> Scan<usize> {
        self.starts.clear();
        self.long.clear();
        self.depth = depth;
        let mut at = skip_space(data, at);
        if data.get(at) == Some(&b']') {
            return Ok(at + 1);
        }
        loop {
            at = skip_space(data, at);
            self.starts.push(u32::try_from(at).map_err(|_| Refused { at, fault: Fault::TooLong })?);
            at = skip_space(data, read_value::<L, _>(data, at, depth, self)?);
            match data.get(at) {
                Some(b',') => at += 1,
                Some(b']') => return Ok(at + 1),
                _ => return unexpected(at),
            }
        }
    }
}

/// The work of checking a document from its first byte to its last.
pub(crate) struct Reading<'a>(pub(crate) &'a [u8]);

impl Work for Reading<'_> {
    type Done = Scan<Document>;

    #[inline(always)]
    fn run<L: Lanes>(self) -> Scan<Document> {
        let data = self.0;
        let start = skip_space(data, if data.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 });
        let mut index = Index::default();
        let (end, document) = match data.get(start) {
            Some(b'[') => (index.read_items::<L>(data, start + 1, 1)?, Document::Messages(index)),
            Some(b'{') => read_request::<L>(data, start)?,
            _ => (read_value::<L, _>(data, start, 0, &mut index)?, Document::Other),
        };
        let end = skip_space(data, end);
        if end < data.len() { unexpected(end) } else { Ok(document) }
    }
}
