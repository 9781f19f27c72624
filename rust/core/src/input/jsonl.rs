//! JSONL, with one record per line, read from the end as far as the walk goes.
//!
//! Lines without an object are skipped and noted. If the places of records in their session are asked for, one pass
//! over all lines reads them.

use std::cell::{OnceCell, RefCell};

use bumpalo::Bump;

use super::document::{MESSAGE_RECORDS, MemberRole, is_request};
use super::messages::{Messages, Record};
use crate::json::error::{Fault, Refused};
use crate::json::grammar::{Literal, Visit, read_value, skip_blanks};
use crate::json::nodes::{Building, Origin, Stacks};
use crate::json::parse::MARK;
use crate::json::scanned::Scanned;
use crate::json::strings::Long;
use crate::json::value::{Value, names};
use crate::simd::{BLOCK, Lanes, Work, dispatch};
use crate::text::Text;
use crate::text::escaped::EscapedText;

/// The distance in bytes at which memory is prefetched while lines are searched backwards.
const AHEAD: usize = 4_096;

/// The lines of a session file.
#[derive(Debug)]
pub(crate) struct JsonLines<'a> {
    data: &'a [u8],
    /// The length of the byte order mark before the data.
    mark: usize,
    bump: &'a Bump,
    stacks: RefCell<Stacks<'a>>,
    /// The offsets of lines that hold no object.
    skipped: RefCell<Vec<usize>>,
    /// All lines, once they were asked for.
    seen: OnceCell<Seen<'a>>,
    /// The offsets of all lines, if only those were asked for.
    starts: OnceCell<Vec<usize>>,
}

impl<'a> JsonLines<'a> {
    /// Open the lines of data that was refused as a document.
    pub(crate) fn new(data: &'a [u8], bump: &'a Bump) -> Self {
        let marked = data.len();
        let data = data.strip_prefix(MARK).unwrap_or(data);
        let mark = marked - data.len();
        Self {
            data,
            mark,
            bump,
            stacks: RefCell::default(),
            skipped: RefCell::default(),
            seen: OnceCell::new(),
            starts: OnceCell::new(),
        }
    }

    /// Return the numbers, from 1, of the lines read so far that hold no object.
    pub(crate) fn skipped_lines(&self) -> Vec<usize> {
        let mut numbers: Vec<usize> = self.skipped.borrow().iter().map(|start| self.number(*start) + 1).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }

    /// Return the last line before an offset that holds an object: its start, its end and the object.
    pub(crate) fn last_before(&self, end: usize) -> Option<(usize, usize, Scanned<'a>)> {
        let mut end = end;
        loop {
            let data = self.data.get(..end)?;
            let start = dispatch(Seeking(data)).map_or(0, |newline| newline + 1);
            if let Some(object) = self.object(start, data) {
                return Some((start, end, object));
            }
            if !is_blank(data.get(start..).unwrap_or_default()) {
                self.skipped.borrow_mut().push(start);
            }
            end = start.checked_sub(1)?;
        }
    }

    /// Read the object in the last line of some data, which begins at `start`.
    fn object(&self, start: usize, data: &'a [u8]) -> Option<Scanned<'a>> {
        let line = data.get(start..)?;
        let at = if line.starts_with(MARK) { start + MARK.len() } else { start };
        if u32::try_from(data.len()).is_err() {
            // Nodes store offsets of 32 bits, so the line is read as a document of its own.
            return Scanned::document(line, self.bump).ok()?.object();
        }
        let long = self.seen.get().map_or(&[][..], |seen| Long::from(&seen.long, at));
        let (origin, stacks) = (self.bump.alloc(Origin { data, bump: self.bump }), &mut self.stacks.borrow_mut());
        let node =
            dispatch(Building { origin, at, depth: 0, long, is_all: true, checks_utf8: true, keeps: None, stacks });
        Scanned::new(node.ok()?, origin).object()
    }

    /// Refuse the whole request in the line that begins at `start`.
    pub(crate) fn refuse<T>(&self, start: usize) -> Result<T, Refused> {
        Err(Refused { at: self.mark + start, fault: Fault::Request })
    }

    pub(crate) fn len(&self) -> usize {
        self.data.len()
    }

    /// Return a line by its offsets.
    pub(crate) fn line(&self, start: usize, end: usize) -> &'a [u8] {
        self.data.get(start..end).unwrap_or_default()
    }
}

/// The work of finding the last newline.
struct Seeking<'a>(&'a [u8]);

impl Work for Seeking<'_> {
    type Done = Option<usize>;

    #[inline(always)]
    fn run<L: Lanes>(self) -> Option<usize> {
        let (rest, blocks) = self.0.as_rchunks();
        let mut end = self.0.len();
        for block in blocks.iter().rev() {
            L::fetch(block, AHEAD.wrapping_neg());
            let newlines = L::equal(block, b'\n');
            if newlines != 0 {
                return Some(end - 1 - newlines.leading_zeros() as usize);
            }
            end -= BLOCK;
        }
        memchr::memrchr(b'\n', rest)
    }
}

/// Return `line` without white space around it.
fn trim(line: &[u8]) -> &[u8] {
    let is_written = |byte: &u8| !matches!(byte, b' ' | 0x09..=0x0D);
    let start = line.iter().position(is_written).unwrap_or(line.len());
    let end = line.iter().rposition(is_written).map_or(start, |last| last + 1);
    line.get(start..end).unwrap_or_default()
}

/// Return true if a line is only white space.
pub(crate) fn is_blank(line: &[u8]) -> bool {
    trim(line).is_empty()
}

/// Return true if data that was refused as a document looks like one that is printed over several lines.
pub(crate) fn is_pretty(data: &[u8]) -> bool {
    let data = data.strip_prefix(MARK).unwrap_or(data);
    let mut written = data.split(|byte| *byte == b'\n').take(64).filter(|line| !is_blank(line)).take(2);
    let Some(first) = written.next() else { return false };
    let opening = trim(first);
    if opening == b"{" || opening == b"[" {
        return true;
    }
    let last = written.next().unwrap_or(first);
    matches!(opening, [.., b'{' | b'[' | b',']) && matches!(last, [b' ' | b'\t', ..])
}

/// So many lines that begin an object are records, whatever stands between them.
const ENOUGH_RECORDS: usize = 3;

/// Return true for lines of which the first and nearly all others begin no object, as in Markdown with a record in it.
pub(crate) fn is_prose(data: &[u8]) -> bool {
    let (mut objects, mut others) = (0, 0);
    for line in data.strip_prefix(MARK).unwrap_or(data).split(|byte| *byte == b'\n') {
        let line = trim(line);
        match line.strip_prefix(MARK).unwrap_or(line) {
            [] => {}
            [b'{', ..] => {
                objects += 1;
                if others == 0 || objects == ENOUGH_RECORDS {
                    return false;
                }
            }
            _ => others += 1,
        }
    }
    others > 2 * objects
}

impl<'a> Messages<'a> for JsonLines<'a> {
    type Item = Scanned<'a>;
    type Error = Refused;

    fn before(&self, position: Option<usize>) -> Result<Option<(usize, Scanned<'a>)>, Refused> {
        let end = match position {
            None => self.data.len(),
            Some(0) => return Ok(None),
            Some(start) => start - 1,
        };
        let Some((start, _, record)) = self.last_before(end) else { return Ok(None) };
        if is_request(record) {
            return self.refuse(start);
        }
        Ok(Some((start, record)))
    }

    fn number(&self, position: usize) -> usize {
        let starts = match self.seen.get() {
            Some(seen) => &seen.starts,
            None => self.starts.get_or_init(|| {
                let after_newlines = memchr::memchr_iter(b'\n', self.data).map(|newline| newline + 1);
                std::iter::once(0).chain(after_newlines).collect()
            }),
        };
        starts.partition_point(|start| *start < position)
    }

    fn records(&self, last: usize) -> Result<Vec<Option<Record<'a>>>, Refused> {
        let (data, bump) = (self.data, self.bump);
        let seen = self.seen.get_or_init(|| dispatch(Looking { data, bump }));
        if let Some(at) = seen.request.filter(|start| *start <= last) {
            return self.refuse(at);
        }
        self.skipped.borrow_mut().extend(&seen.skipped);
        let count = seen.starts.partition_point(|start| *start <= last);
        Ok(seen.records.get(..count).unwrap_or_default().to_vec())
    }
}

/// The work of reading the records of all lines.
pub(crate) struct Looking<'a> {
    pub(crate) data: &'a [u8],
    pub(crate) bump: &'a Bump,
}

/// The records of all lines.
#[derive(Debug, Default)]
pub(crate) struct Seen<'a> {
    /// The offset of each line.
    pub(crate) starts: Vec<usize>,
    /// The record of each line; `None` if it holds no object.
    pub(crate) records: Vec<Option<Record<'a>>>,
    /// The offsets of lines that hold something else.
    pub(crate) skipped: Vec<usize>,
    /// The offset of the first line that is a whole request.
    pub(crate) request: Option<usize>,
    /// The long texts of all lines.
    pub(crate) long: Vec<Long>,
}

impl<'a> Work for Looking<'a> {
    type Done = Seen<'a>;

    #[inline(always)]
    fn run<L: Lanes>(self) -> Self::Done {
        let Self { data, bump } = self;
        let mut seen = Seen::default();
        let mut fields = Fields::default();
        let mut at = 0;
        while at < data.len() {
            let start = at;
            let long = fields.long.len();
            let value =
                if data.get(start..).is_some_and(|rest| rest.starts_with(MARK)) { start + MARK.len() } else { start };
            let end = read_value::<L, _>(data, value, 0, &mut fields).map(|end| skip_blanks(data, end));
            let found = match end {
                Ok(end) if data.get(end).is_none_or(|byte| *byte == b'\n') => {
                    at = end + 1;
                    fields.take_found(bump)
                }
                _ => {
                    let rest = data.get(start..).unwrap_or_default();
                    at = start + memchr::memchr(b'\n', rest).unwrap_or(rest.len()) + 1;
                    fields.long.truncate(long);
                    fields.take_found(bump);
                    Found::default()
                }
            };
            if found.is_request {
                seen.request.get_or_insert(start);
            }
            if found.record.is_none() && !is_blank(data.get(start..at - 1).unwrap_or_default()) {
                seen.skipped.push(start);
            }
            seen.starts.push(start);
            seen.records.push(found.record);
        }
        seen.long = fields.long;
        seen
    }
}

/// The content of a line: its record, if it holds an object. `is_request` is true if that object is a whole request.
#[derive(Default)]
struct Found<'a> {
    record: Option<Record<'a>>,
    is_request: bool,
}

/// A member of a record, or of its message, whose value is needed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Field {
    #[default]
    Unknown,
    Uuid,
    Parent,
    LogicalParent,
    IsSidechain,
    Agent,
    ParentCall,
    Message,
    Type,
    Member(MemberRole),
    Role,
    MessageId,
}

impl Field {
    fn of_record(name: EscapedText<'_>) -> Self {
        match &*name.utf8() {
            b"uuid" => Self::Uuid,
            b"parentUuid" => Self::Parent,
            b"logicalParentUuid" => Self::LogicalParent,
            b"isSidechain" => Self::IsSidechain,
            b"agentId" => Self::Agent,
            b"parent_tool_use_id" => Self::ParentCall,
            b"message" => Self::Message,
            b"type" => Self::Type,
            b"role" => Self::Role,
            _ => Self::Member(MemberRole::of(name)),
        }
    }
}

#[derive(Default)]
struct Fields<'a> {
    depth: usize,
    field: Field,
    is_object: bool,
    /// True if `messages` is a list.
    has_messages: bool,
    /// A bit for each other member that may be the messages, set if it is a list.
    lists: u8,
    /// True if a member shows that the record is a single message.
    is_message: bool,
    is_sidechain: bool,
    has_role: bool,
    has_message: bool,
    /// True if the type is not one of records that hold a message.
    is_other: bool,
    is_in_message: bool,
    uuid: Option<EscapedText<'a>>,
    parent: Option<EscapedText<'a>>,
    logical_parent: Option<EscapedText<'a>>,
    agent: Option<EscapedText<'a>>,
    parent_call: Option<EscapedText<'a>>,
    /// True if there is a member for a parent, which may be empty.
    has_parent: bool,
    message_id: Option<EscapedText<'a>>,
    long: Vec<Long>,
}

impl<'a> Fields<'a> {
    /// Store the value of the member that was named last; of members with the same name, the last one counts.
    fn set(&mut self, text: Option<EscapedText<'a>>, is_true: bool) {
        match self.field {
            Field::Unknown => return,
            Field::Uuid => self.uuid = text,
            Field::Parent => self.parent = text,
            Field::LogicalParent => self.logical_parent = text,
            Field::IsSidechain => self.is_sidechain = is_true,
            Field::Agent => self.agent = text,
            Field::ParentCall => self.parent_call = text,
            Field::Message => (self.has_message, self.message_id) = (false, None),
            Field::Type => {
                let is_own = |kind: EscapedText<'a>| MESSAGE_RECORDS.iter().any(|own| kind.is(Text::ascii(own)));
                self.is_other = !text.is_some_and(is_own);
            }
            Field::Member(MemberRole::Messages) => self.has_messages = false,
            Field::Member(MemberRole::List(rank)) => self.lists &= !(1 << rank),
            Field::Member(_) => {}
            Field::Role => self.has_role = true,
            Field::MessageId => self.message_id = text,
        }
        self.field = Field::Unknown;
    }

    /// Return the content of a line, and get ready for the next one.
    fn take_found(&mut self, bump: &'a Bump) -> Found<'a> {
        let long = std::mem::take(&mut self.long);
        let line = std::mem::replace(self, Self { long, ..Self::default() });
        line.found(bump)
    }

    fn found(self, bump: &'a Bump) -> Found<'a> {
        let text = |raw: Option<EscapedText<'a>>| raw.map_or(Text::ascii(""), |raw| raw.text(bump));
        let parent = self.parent.filter(|raw| raw.chars > 0).or(self.logical_parent);
        let follows = !self.has_parent;
        let called = self.parent_call.filter(|raw| raw.chars > 0 && follows);
        let record = Record {
            uuid: self.uuid.filter(|_| !self.has_role).map(|raw| raw.text(bump)),
            parent: text(parent),
            is_sidechain: self.is_sidechain || called.is_some(),
            agent: text(if self.is_sidechain { self.agent } else { called }),
            follows,
            message_id: (self.has_message && !self.is_other).then(|| text(self.message_id)),
        };
        let is_request = self.has_messages || (self.lists != 0 && !self.is_message);
        Found { record: self.is_object.then_some(record), is_request }
    }
}

impl<'a> Visit<'a> for Fields<'a> {
    const IS_LINE: bool = true;

    fn key(&mut self, _: usize, name: EscapedText<'a>) {
        self.field = match self.depth {
            1 => Field::of_record(name),
            2 if self.is_in_message && name.is(names::ID.name) => Field::MessageId,
            _ => Field::Unknown,
        };
        self.has_parent |= matches!(self.field, Field::Parent | Field::LogicalParent);
        self.is_message |=
            matches!(self.field, Field::Uuid | Field::Role | Field::Type | Field::Member(MemberRole::OfMessage));
    }

    #[inline(always)]
    fn text(&mut self, at: usize, text: EscapedText<'a>) {
        self.long.extend(Long::of(at, text));
        self.set(Some(text), false);
    }

    fn number(&mut self, _: &'a [u8]) {
        self.set(None, false);
    }

    fn literal(&mut self, _: usize, literal: Literal) {
        if self.field == Field::Role && literal == Literal::Null {
            (self.field, self.has_role) = (Field::Unknown, false);
        }
        if self.field == Field::Type && literal == Literal::Null {
            (self.field, self.is_other) = (Field::Unknown, false);
        }
        self.set(None, literal == Literal::True);
    }

    fn open(&mut self, _: usize, is_object: bool) {
        let field = self.field;
        self.set(None, false);
        match self.depth {
            0 => self.is_object = is_object,
            1 if field == Field::Message => (self.has_message, self.is_in_message) = (is_object, is_object),
            1 => match field {
                Field::Member(MemberRole::Messages) => self.has_messages = !is_object,
                Field::Member(MemberRole::List(rank)) if !is_object => self.lists |= 1 << rank,
                _ => {}
            },
            _ => {}
        }
        self.depth += 1;
    }

    fn close(&mut self, _: bool) {
        self.depth -= 1;
        self.is_in_message &= self.depth > 1;
    }
}

#[cfg(test)]
mod tests {
    use super::{Seeking, dispatch};
    use crate::simd::{Scalar, Work};

    #[test]
    fn the_last_newline_is_found_at_every_offset() {
        for size in 0..200 {
            for last in (0..size).map(Some).chain([None]) {
                let is_newline = |at: usize| last.is_some_and(|last| at == last || at < last && at.is_multiple_of(3));
                let data: Vec<u8> = (0..size).map(|at| if is_newline(at) { b'\n' } else { b'x' }).collect();
                assert_eq!((dispatch(Seeking(&data)), Seeking(&data).run::<Scalar>()), (last, last));
            }
        }
    }
}
