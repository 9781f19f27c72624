//! What the lines of a session file say of their places among the records; nothing else of them is kept.

use bumpalo::Bump;

use super::document::Part;
use super::jsonl::is_blank;
use super::messages::Record;
use crate::json::document::MARK;
use crate::json::grammar::{Literal, Visit, read_value, skip_blanks};
use crate::json::strings::Long;
use crate::json::value::names;
use crate::simd::{Lanes, Work};
use crate::text::Text;
use crate::text::escaped::EscapedText;

/// The work of looking at all lines.
pub(crate) struct Looking<'a> {
    pub(crate) data: &'a [u8],
    pub(crate) bump: &'a Bump,
}

/// What was seen of the lines.
#[derive(Debug, Default)]
pub(crate) struct Seen<'a> {
    /// Where they begin.
    pub(crate) starts: Vec<usize>,
    /// What each says as a record; nothing where it holds no object.
    pub(crate) records: Vec<Option<Record<'a>>>,
    /// Where those begin that hold something else.
    pub(crate) skipped: Vec<usize>,
    /// Where the first one begins that is a whole request.
    pub(crate) request: Option<usize>,
    /// Their long texts.
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

/// What was found in a line: a record where it holds an object, and whether that is a whole request.
#[derive(Default)]
struct Found<'a> {
    record: Option<Record<'a>>,
    is_request: bool,
}

/// A member that matters, of the record or of its message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Field {
    #[default]
    Unknown,
    Uuid,
    Parent,
    LogicalParent,
    IsSidechain,
    Agent,
    Message,
    Part(Part),
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
            b"message" => Self::Message,
            b"role" => Self::Role,
            _ => Self::Part(Part::of(name)),
        }
    }
}

#[derive(Default)]
struct Fields<'a> {
    depth: usize,
    field: Field,
    is_object: bool,
    /// Whether `messages` is a list.
    has_messages: bool,
    /// A bit for each other member that may be the messages: whether it is a list.
    lists: u8,
    /// Whether the record says of itself that it is one message.
    is_message: bool,
    is_sidechain: bool,
    has_role: bool,
    has_message: bool,
    is_in_message: bool,
    uuid: Option<EscapedText<'a>>,
    parent: Option<EscapedText<'a>>,
    logical_parent: Option<EscapedText<'a>>,
    agent: Option<EscapedText<'a>>,
    message_id: Option<EscapedText<'a>>,
    long: Vec<Long>,
}

impl<'a> Fields<'a> {
    /// Take in a value of the member that was named last: of a name that is there twice, the last counts.
    fn set(&mut self, text: Option<EscapedText<'a>>, is_true: bool) {
        match self.field {
            Field::Unknown => return,
            Field::Uuid => self.uuid = text,
            Field::Parent => self.parent = text,
            Field::LogicalParent => self.logical_parent = text,
            Field::IsSidechain => self.is_sidechain = is_true,
            Field::Agent => self.agent = text,
            Field::Message => (self.has_message, self.message_id) = (false, None),
            Field::Part(Part::Messages) => self.has_messages = false,
            Field::Part(Part::List(rank)) => self.lists &= !(1 << rank),
            Field::Part(_) => {}
            Field::Role => self.has_role = true,
            Field::MessageId => self.message_id = text,
        }
        self.field = Field::Unknown;
    }

    /// What was found in a line; then the next one may come.
    fn take_found(&mut self, bump: &'a Bump) -> Found<'a> {
        let long = std::mem::take(&mut self.long);
        let line = std::mem::replace(self, Self { long, ..Self::default() });
        line.found(bump)
    }

    fn found(self, bump: &'a Bump) -> Found<'a> {
        let text = |raw: Option<EscapedText<'a>>| raw.map_or(Text::ascii(""), |raw| raw.text(bump));
        let parent = self.parent.filter(|raw| raw.chars > 0).or(self.logical_parent);
        let record = Record {
            uuid: self.uuid.filter(|_| !self.has_role).map(|raw| raw.text(bump)),
            parent: text(parent),
            is_sidechain: self.is_sidechain,
            agent: text(self.agent),
            message_id: self.has_message.then(|| text(self.message_id)),
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
        self.is_message |= matches!(self.field, Field::Uuid | Field::Role | Field::Part(Part::OfMessage));
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
        self.set(None, literal == Literal::True);
    }

    fn open(&mut self, _: usize, is_object: bool) {
        let field = self.field;
        self.set(None, false);
        match self.depth {
            0 => self.is_object = is_object,
            1 if field == Field::Message => (self.has_message, self.is_in_message) = (is_object, is_object),
            1 => match field {
                Field::Part(Part::Messages) => self.has_messages = !is_object,
                Field::Part(Part::List(rank)) if !is_object => self.lists |= 1 << rank,
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
