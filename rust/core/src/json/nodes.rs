//! The values of a document as nodes that know their offsets.
//!
//! The offsets allow the unchanged parts of a document to be copied as bytes.

use std::ops::Range;

use ahash::AHashMap;
use bumpalo::Bump;

use super::error::{Fault, Refused, Scan, unexpected};
use super::grammar::{Literal, MAX_VALUES, Visit, read_value, skip_space};
use super::strings::{Long, Name};
use crate::simd::{Lanes, Work};
use crate::text::Text;
use crate::text::escaped::EscapedText;

/// A value, whose parts live as long as the scan. Its position is the offset of its first byte, or follows from the
/// bytes that it borrows.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Node<'a> {
    Null(u32),
    Bool(bool, u32),
    /// The digits as they are written.
    Number(&'a [u8]),
    /// The fields of an [`EscapedText`].
    Text {
        bytes: &'a [u8],
        chars: u32,
        has_escapes: bool,
        is_ascii: bool,
    },
    List(&'a [Node<'a>], u32),
    /// The members in their order; of those with the same name, the last one counts.
    Object(&'a [Member<'a>], u32),
    /// An object that is not in the document.
    WrappedValue(&'a WrappedValue<'a>),
}

/// An object that holds one value under a known name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WrappedValue<'a> {
    pub(crate) name: Text<'static>,
    pub(crate) value: Node<'a>,
}

/// The data that is scanned, of less than 4 GiB, and the arena for values that are made from it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin<'a> {
    pub(crate) data: &'a [u8],
    pub(crate) bump: &'a Bump,
}

// Building a message copies many nodes, so they must be small. An offset costs nothing if it fits next to a slice, in
// the space in which a string stores its number of characters. For this reason the fields of a string are in the node
// itself, next to its discriminant.
const _: () = assert!(size_of::<Node<'_>>() == size_of::<EscapedText<'_>>());

impl<'a> Node<'a> {
    #[inline(always)]
    pub(crate) fn text(raw: EscapedText<'a>) -> Self {
        let EscapedText { bytes, chars, has_escapes, is_ascii } = raw;
        Self::Text { bytes, chars, has_escapes, is_ascii }
    }

    /// Return the text with its escapes, if the value is a string.
    #[inline(always)]
    pub(crate) fn raw(&self) -> Option<EscapedText<'a>> {
        match *self {
            Self::Text { bytes, chars, has_escapes, is_ascii } => {
                Some(EscapedText { bytes, chars, has_escapes, is_ascii })
            }
            _ => None,
        }
    }
}

/// Up to this number of members, names are compared one by one.
const FEW: usize = 8;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Member<'a> {
    pub(crate) name: Name,
    pub(crate) value: Node<'a>,
}

/// Return the number of different names of an object's members.
pub(crate) fn count_distinct<'a>(members: &'a [Member<'a>], origin: &Origin<'a>) -> usize {
    let name_of = |member: &Member<'a>| member.name.raw(origin.data).text(origin.bump);
    match members {
        [] => 0,
        [_] => 1,
        [first, second] => 1 + usize::from(name_of(first) != name_of(second)),
        _ => distinct(members, origin).len(),
    }
}

/// Return the members of an object by name, each name once: at its first position, with its last value.
pub(crate) fn distinct<'a>(members: &'a [Member<'a>], origin: &Origin<'a>) -> Vec<(Text<'a>, &'a Node<'a>)> {
    let mut places: AHashMap<Text<'a>, usize> = AHashMap::new();
    let mut found: Vec<(Text<'a>, &'a Node<'a>)> = Vec::with_capacity(members.len());
    for member in members {
        let name = member.name.raw(origin.data).text(origin.bump);
        // Among a few names, comparing with each is faster than hashing.
        let place = if members.len() <= FEW {
            found.iter().position(|(own, _)| *own == name).unwrap_or(found.len())
        } else {
            *places.entry(name).or_insert(found.len())
        };
        match found.get_mut(place) {
            Some(known) => known.1 = &member.value,
            None => found.push((name, &member.value)),
        }
    }
    found
}

/// The work of building nodes for the value at an offset, inside `depth` arrays and objects. `long` are the texts from
/// this offset on that were read before.
pub(crate) struct Building<'a, 'i> {
    pub(crate) origin: &'a Origin<'a>,
    pub(crate) at: usize,
    pub(crate) depth: usize,
    pub(crate) long: &'i [Long],
    /// True if only white space may follow the value.
    pub(crate) is_all: bool,
    /// True if bytes that are not UTF-8 are refused. Text that was decoded before may hold lone surrogates.
    pub(crate) checks_utf8: bool,
    /// A predicate for the members of the document to keep, if not all: arrays and objects in the others are left
    /// empty.
    pub(crate) keeps: Option<fn(EscapedText<'a>) -> bool>,
    pub(crate) stacks: &'i mut Stacks<'a>,
}

impl<'a> Work for Building<'a, '_> {
    type Done = Scan<Node<'a>>;

    #[inline(always)]
    fn run<L: Lanes>(self) -> Self::Done {
        let Self { origin, at, depth, long, is_all, checks_utf8, keeps, stacks } = self;
        let Origin { data, bump } = *origin;
        stacks.clear();
        let mut builder = Builder { data, long, checks_utf8, keeps, is_kept: true, bump, values: 0, stacks };
        let end = read_value::<L, _>(data, at, depth, &mut builder)?;
        if builder.values > MAX_VALUES {
            return Err(Refused { at, fault: Fault::TooLong });
        }
        if is_all && skip_space(data, end) < data.len() {
            return unexpected(skip_space(data, end));
        }
        Ok(stacks.items.pop().unwrap_or(Node::Null(offset(at))))
    }
}

/// The containers that are open while nodes are built. The memory is used again from message to message.
#[derive(Debug, Default)]
pub(crate) struct Stacks<'a> {
    items: Vec<Node<'a>>,
    members: Vec<Member<'a>>,
    opened: Vec<Opened>,
    /// The names of members whose values are not yet read.
    names: Vec<Name>,
}

/// An open array or object.
#[derive(Clone, Copy, Debug)]
struct Opened {
    is_object: bool,
    /// The offset of its bracket.
    at: u32,
    /// The index of its first item or member on the stack.
    start: usize,
}

/// Convert an offset to the type that nodes store.
fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

impl Stacks<'_> {
    fn clear(&mut self) {
        self.items.clear();
        self.members.clear();
        self.opened.clear();
        self.names.clear();
    }
}

/// A visitor that builds nodes.
struct Builder<'a, 'i> {
    data: &'a [u8],
    long: &'i [Long],
    checks_utf8: bool,
    keeps: Option<fn(EscapedText<'a>) -> bool>,
    /// False inside a member of the document that is left empty.
    is_kept: bool,
    bump: &'a Bump,
    /// The number of values so far.
    values: usize,
    stacks: &'i mut Stacks<'a>,
}

impl<'a> Builder<'a, '_> {
    #[inline(always)]
    fn add(&mut self, value: Node<'a>) {
        self.values += 1;
        if self.values > MAX_VALUES {
            return;
        }
        match self.stacks.opened.last() {
            Some(Opened { is_object: true, .. }) => {
                if let Some(name) = self.stacks.names.pop() {
                    self.stacks.members.push(Member { name, value });
                }
            }
            _ => self.stacks.items.push(value),
        }
    }
}

impl<'a> Visit<'a> for Builder<'a, '_> {
    #[inline(always)]
    fn key(&mut self, at: usize, name: EscapedText<'a>) {
        if let Some(keeps) = self.keeps
            && self.stacks.opened.len() == 1
        {
            self.is_kept = keeps(name);
        }
        self.stacks.names.push(Name::of(name, at + 1));
    }

    #[inline(always)]
    fn text(&mut self, _: usize, text: EscapedText<'a>) {
        self.add(Node::text(text));
    }

    fn number(&mut self, digits: &'a [u8]) {
        self.add(Node::Number(digits));
    }

    fn literal(&mut self, at: usize, literal: Literal) {
        let at = offset(at);
        self.add(match literal {
            Literal::Null => Node::Null(at),
            Literal::True => Node::Bool(true, at),
            Literal::False => Node::Bool(false, at),
        });
    }

    fn open(&mut self, at: usize, is_object: bool) {
        let start = if is_object { self.stacks.members.len() } else { self.stacks.items.len() };
        self.stacks.opened.push(Opened { is_object, at: offset(at), start });
    }

    fn close(&mut self, _: bool) {
        let Some(Opened { is_object, at, start }) = self.stacks.opened.pop() else { return };
        let is_kept = self.is_kept || self.stacks.opened.is_empty();
        let node = if is_object {
            let members = self.stacks.members.get(start..).filter(|_| is_kept).unwrap_or_default();
            let members = self.bump.alloc_slice_copy(members);
            self.stacks.members.truncate(start);
            Node::Object(members, at)
        } else {
            let items = self.stacks.items.get(start..).filter(|_| is_kept).unwrap_or_default();
            let items = self.bump.alloc_slice_copy(items);
            self.stacks.items.truncate(start);
            Node::List(items, at)
        };
        self.add(node);
    }

    fn checks_utf8(&self) -> bool {
        self.checks_utf8
    }

    #[inline(always)]
    fn known(&mut self, at: usize) -> Option<EscapedText<'a>> {
        let (first, rest) = self.long.split_first()?;
        if first.at as usize != at {
            return None;
        }
        self.long = rest;
        first.raw(self.data)
    }
}

impl Node<'_> {
    /// Return the range of the value in the data, quotes and brackets included.
    pub(crate) fn span(&self, data: &[u8]) -> Range<usize> {
        self.start(data)..self.end(data)
    }

    /// Return the offset of the first byte.
    pub(crate) fn start(&self, data: &[u8]) -> usize {
        match self {
            Self::Null(at) | Self::Bool(_, at) | Self::List(_, at) | Self::Object(_, at) => *at as usize,
            Self::Number(digits) => place(digits, data),
            Self::Text { bytes, .. } => place(bytes, data).saturating_sub(1),
            Self::WrappedValue(_) => 0,
        }
    }

    /// Return the offset after the last byte: go down to the last value that holds no other, then out of its
    /// containers, bracket by bracket.
    fn end(&self, data: &[u8]) -> usize {
        let (mut last, mut open) = (self, 0);
        let mut end = loop {
            let inner = match last {
                Self::Null(at) | Self::Bool(true, at) => break *at as usize + 4,
                Self::Bool(false, at) => break *at as usize + 5,
                Self::Number(digits) => break place(digits, data) + digits.len(),
                Self::Text { bytes, .. } => break place(bytes, data) + bytes.len() + 1,
                Self::List(items, _) => items.last(),
                Self::Object(members, _) => members.last().map(|member| &member.value),
                Self::WrappedValue(_) => break 0,
            };
            open += 1;
            match inner {
                Some(inner) => last = inner,
                None => break last.start(data) + 1,
            }
        };
        for _ in 0..open {
            end = skip_space(data, end) + 1;
        }
        end
    }
}

impl Member<'_> {
    /// Return the range of the member in the data, from the quote of its name to the end of its value.
    pub(crate) fn span(&self, data: &[u8]) -> Range<usize> {
        self.name.start().saturating_sub(1)..self.value.end(data)
    }
}

/// Return the range of a part of the data.
pub(crate) fn span_of(part: &[u8], data: &[u8]) -> Range<usize> {
    let start = place(part, data);
    start..start + part.len()
}

/// Return the offset of a part of the data.
fn place(part: &[u8], data: &[u8]) -> usize {
    part.as_ptr().addr().saturating_sub(data.as_ptr().addr())
}

#[cfg(test)]
#[allow(clippy::indexing_slicing, clippy::unwrap_used)] // a test fails by panicking
mod tests {
    use bumpalo::Bump;

    use super::*;
    use crate::input::Conversation;
    use crate::input::messages::Messages;
    use crate::json::scanned::Scanned;
    use crate::json::value::Value;

    /// Check the spans of a value and of all values in it: parsing the bytes of a span alone gives the same value.
    fn check(value: Scanned<'_>, data: &[u8]) {
        let span = value.span(data);
        let written = &data[span.clone()];
        assert!(!written[0].is_ascii_whitespace() && !written[written.len() - 1].is_ascii_whitespace());
        let bump = Bump::new();
        let again = Scanned::parse(written, &bump).unwrap();
        assert_eq!(again.json().as_text().to_utf8(), value.json().as_text().to_utf8());
        assert_eq!(again.span(written), 0..written.len());
        let mut parts = Vec::new();
        for index in 0..value.count() {
            let item = value.item(index).unwrap();
            check(item, data);
            parts.push(item.span(data));
        }
        for member in value.raw_members() {
            check(value.with(&member.value), data);
            let span = member.span(data);
            assert_eq!(span.end, member.value.span(data).end);
            let alone = [b"{", &data[span.clone()], b"}"].concat();
            let again = Scanned::parse(&alone, &bump).unwrap();
            assert_eq!(again.raw_members()[0].name.raw(&alone).utf8(), member.name.raw(data).utf8());
            parts.push(span);
        }
        if value.list().is_some() || value.object().is_some() {
            check_between(&parts, &data[span.start + 1..span.end - 1], span.start + 1);
        }
    }

    /// Check that commas and white space separate the parts of a container, and that only white space is around them.
    fn check_between(parts: &[Range<usize>], inside: &[u8], start: usize) {
        let mut end = start;
        let gaps = parts.iter().map(|part| (part.start, part.end)).chain([(start + inside.len(), 0)]);
        for (number, (next, after)) in gaps.enumerate() {
            let gap = inside[end - start..next - start].trim_ascii();
            let is_between = (1..parts.len()).contains(&number);
            assert_eq!(gap, if is_between { &b","[..] } else { b"" });
            end = after;
        }
    }

    #[test]
    fn spans_cover_every_value() {
        for written in [
            "null",
            " true\n",
            "\tfalse ",
            " -0.5e+3 ",
            r#" "" "#,
            r#""a\"b\\" "#,
            "\r\n[ ]\r\n",
            " { \n } ",
            "[[],[[ ] ],[ [[]] , [] ]]",
            r#"{"":{},"a":{"b":{ }},"c":[{"d":[]} ] }"#,
            "[null,true , false,\n0\t,-1.5E5,\"\"]",
            r#" { "a" : null , "b":true,"c" :false, "d": 12 , "e":"x" } "#,
            r#"{"a":1,"a": 2,"\u0061":[3 ]}"#,
            "{\"\u{e9}\u{1f600}\": [\"\u{20ac}\", \"\\ud83d\\ude00\\n\", \"\\ud800\"\n]\n}\n",
            r#"["]", "}", {"]}": "[{\"" }, ",", "\\" ]"#,
        ] {
            for (before, after) in [("", ""), (" \n\t\r", "\r\n  "), ("[", "]"), ("{\"k\" :\n", "\n}")] {
                let data = format!("{before}{written}{after}");
                let bump = Bump::new();
                check(Scanned::parse(data.as_bytes(), &bump).unwrap(), data.as_bytes());
            }
        }
    }

    #[test]
    fn spans_cover_deep_and_long_values() {
        let deep = format!("{}{}", "[ {\"a\" :".repeat(64), " } ]".repeat(64)).replace(": ", ": 0 ");
        let long = format!("[{{\"a\": \"{}\"}} , \"{}\" ]", "x".repeat(700), "\u{20ac}\\n".repeat(300));
        for data in [deep, long] {
            let bump = Bump::new();
            check(Scanned::parse(data.as_bytes(), &bump).unwrap(), data.as_bytes());
        }
    }

    #[test]
    fn spans_cover_the_messages_of_a_document() {
        let said = format!("{{ \"role\":\"user\" , \"content\" : [ \"{}\" ,{{}} ] }}", "\\\"x".repeat(200));
        let bodies = [
            format!(" [ {said} ,\n{said}] "),
            format!("{{\"model\": null, \"messages\" :[{said},{said}\n], \"x\": []}}"),
            format!("\u{feff}[{said},\n\n{said}]"),
            format!("{said}\r\n\n  {said} \n"),
        ];
        for data in bodies {
            let bump = Bump::new();
            let conversation = Conversation::open(data.as_bytes(), &bump).unwrap();
            let (mut found, mut position) = (0, None);
            while let Some((place, message)) = conversation.before(position).unwrap() {
                check(message, data.as_bytes());
                assert_eq!(&data[message.span(data.as_bytes())], said);
                (found, position) = (found + 1, Some(place));
            }
            assert_eq!(found, 2);
        }
    }

    #[test]
    fn spans_of_made_values_do_not_panic() {
        let bump = Bump::new();
        let data = br#"["{\"a\": [1]}", 3]"#;
        let list = Scanned::parse(data, &bump).unwrap();
        for made in [list.empty(), list.item(0).unwrap().arguments(), list.item(1).unwrap().arguments()] {
            let _ = made.span(data);
        }
    }
}
