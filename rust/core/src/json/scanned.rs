//! A value of scanned JSON: what readers ask of it, and its form as compact JSON. [`super::parse`] makes it of a document.
//!
//! Compact JSON has the form that orjson writes: one line, keys in their order, no escapes that are not required.

use std::borrow::Cow;
use std::ops::Range;

use super::base64::{address_line, base64_line};
use super::nodes::{Member, Node, Origin, WrappedValue, count_distinct, distinct};
use super::value::{Key, Spelling, Value, names, text_or_empty};
use super::write::push_quoted;
use crate::simd::{BLOCK, prefetch};
use crate::text::escaped::EscapedText;
use crate::text::piece::Piece;
use crate::text::segment::Plain;
use crate::text::{OwnedText, Text};

/// A value of scanned JSON. Values that are made from it, such as text without its escapes, live as long as the scan.
#[derive(Clone, Copy, Debug)]
pub struct Scanned<'a> {
    pub(crate) node: &'a Node<'a>,
    pub(crate) origin: &'a Origin<'a>,
}

/// The number of bytes to prefetch at each end of a string; the processor itself prefetches those after them.
const FETCHED: usize = 256;

static EMPTY: Node<'static> = Node::Object(&[], 0);

impl<'a> Scanned<'a> {
    pub(crate) fn new(node: Node<'a>, origin: &'a Origin<'a>) -> Self {
        Self { node: origin.bump.alloc(node), origin }
    }

    pub(crate) fn with(self, node: &'a Node<'a>) -> Self {
        Self { node, ..self }
    }

    /// Return a list that holds only this value.
    pub(crate) fn listed(self) -> Self {
        Self::new(Node::List(std::slice::from_ref(self.node), 0), self.origin)
    }

    /// Return the range of the value in the scanned data, quotes and brackets included. The range has no meaning for a
    /// value that is not in the data.
    pub(crate) fn span(self, data: &[u8]) -> Range<usize> {
        self.node.span(data)
    }

    /// Return the members of an object as they are written, including those with the same name.
    pub(crate) fn raw_members(self) -> &'a [Member<'a>] {
        match self.node {
            Node::Object(members, _) => members,
            _ => &[],
        }
    }

    fn member(self, key: Key<'_>) -> Option<&'a Node<'a>> {
        match self.node {
            Node::Object(members, _) => {
                let data = self.origin.data;
                let found = members.iter().rev().find(|member| member.name.is(key.name, data));
                found.map(|member| &member.value)
            }
            Node::WrappedValue(made) => (made.name == key.name).then_some(&made.value),
            _ => None,
        }
    }

    /// Return the members of an object by name, each name once.
    pub(crate) fn distinct(self) -> Vec<(Text<'a>, &'a Node<'a>)> {
        match self.node {
            Node::WrappedValue(made) => vec![(made.name, &made.value)],
            _ => distinct(self.raw_members(), self.origin),
        }
    }

    /// Return the name of each member of an object, those that are there twice included.
    pub(crate) fn raw_names(self) -> impl Iterator<Item = Text<'a>> {
        let origin = self.origin;
        self.raw_members().iter().map(|member| member.name.raw(origin.data).text(origin.bump))
    }

    /// Return the value in a form that can be converted to other types.
    #[must_use]
    pub fn written(self) -> Written<'a> {
        match self.node {
            Node::Null(_) => Written::Null,
            Node::Bool(value, _) => Written::Bool(*value),
            Node::Number(digits) => Written::Number(digits),
            Node::Text { .. } => Written::Text,
            Node::List(..) => Written::List,
            Node::Object(..) | Node::WrappedValue(_) => Written::Object,
        }
    }
}

/// A value as it is written, without its items or members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written<'a> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number's digits.
    Number(&'a [u8]),
    /// A string.
    Text,
    /// An array.
    List,
    /// An object.
    Object,
}

impl<'a> Value<'a> for Scanned<'a> {
    fn get(self, key: Key<'_>) -> Option<Self> {
        self.member(key).filter(|node| !matches!(node, Node::Null(_))).map(|node| self.with(node))
    }

    fn has_name(self, key: Key<'_>) -> bool {
        self.member(key).is_some()
    }

    fn has_any_name(self, keys: &[Key<'_>]) -> bool {
        let Node::Object(members, _) = self.node else { return keys.iter().any(|key| self.has_name(*key)) };
        members.iter().any(|member| {
            let name = member.name.raw(self.origin.data);
            keys.iter().any(|key| name.is(key.name))
        })
    }

    fn has_only(self, keys: &[Key<'_>]) -> bool {
        self.raw_members().iter().all(|member| {
            let name = member.name.raw(self.origin.data);
            keys.iter().any(|key| name.is(key.name))
        })
    }

    fn text(self) -> Option<Text<'a>> {
        self.node.raw().map(|raw| raw.text(self.origin.bump))
    }

    fn brief_text(self) -> Option<Piece<'a>> {
        self.node.raw().map(|raw| match raw {
            EscapedText { bytes, has_escapes: false, is_ascii: true, .. } => Piece::Borrowed(Text::Latin1(bytes)),
            _ => Piece::own(OwnedText::from_owned(raw.utf8().into_owned())),
        })
    }

    fn spelling(self) -> Option<Spelling<'a>> {
        self.node.raw().map(|raw| match raw {
            EscapedText { bytes, has_escapes: false, is_ascii: true, .. } => Spelling::Text(Text::Latin1(bytes)),
            EscapedText { bytes, .. } => Spelling::Json(bytes),
        })
    }

    fn between_quotes(self) -> Option<&'a [u8]> {
        self.node.raw().map(|raw| raw.bytes)
    }

    fn text_len(self) -> Option<usize> {
        self.node.raw().map(|raw| raw.chars as usize)
    }

    fn utf8_len(self) -> Option<usize> {
        self.node.raw().map(EscapedText::utf8_len)
    }

    /// Prefetch the text; for a list of parts, that of the first one.
    fn fetch(self) {
        let part = match self.node {
            Node::List([Node::Object([.., last], _), ..], _) => &last.value,
            own => own,
        };
        if let Node::Text { bytes, .. } = part {
            for ahead in (0..FETCHED).step_by(BLOCK) {
                prefetch(bytes, ahead);
                prefetch(bytes, bytes.len().saturating_sub(ahead + 1));
            }
        }
    }

    fn text_start(self, count: usize) -> Option<Text<'a>> {
        self.node.raw().map(|raw| raw.start(count, self.origin.bump))
    }

    fn text_end(self, count: usize) -> Option<Text<'a>> {
        self.node.raw().map(|raw| raw.end(count, self.origin.bump))
    }

    fn plain_start(self, count: usize) -> Option<Plain<'a>> {
        self.node.raw()?.plain_start(count)
    }

    fn plain_end(self, count: usize, before: usize) -> Option<Plain<'a>> {
        self.node.raw()?.plain_end(count, before)
    }

    fn first(self, count: usize) -> Option<Self> {
        self.node.raw().map(|raw| Self::new(Node::text(raw.first(count)), self.origin))
    }

    fn last(self, count: usize) -> Option<Self> {
        self.node.raw().map(|raw| Self::new(Node::text(raw.last(count)), self.origin))
    }

    fn object(self) -> Option<Self> {
        matches!(self.node, Node::Object(..) | Node::WrappedValue(_)).then_some(self)
    }

    fn list(self) -> Option<Self> {
        matches!(self.node, Node::List(..)).then_some(self)
    }

    fn count(self) -> usize {
        match self.node {
            Node::List(items, _) => items.len(),
            _ => 0,
        }
    }

    fn item(self, index: usize) -> Option<Self> {
        match self.node {
            Node::List(items, _) => items.get(index).map(|node| self.with(node)),
            _ => None,
        }
    }

    fn is_true(self) -> bool {
        matches!(self.node, Node::Bool(true, _))
    }

    fn integer(self) -> Option<i64> {
        match self.node {
            Node::Number(digits) => std::str::from_utf8(digits).ok()?.parse().ok(),
            _ => None,
        }
    }

    fn size(self) -> usize {
        match self.node {
            Node::Object(members, _) => count_distinct(members, self.origin),
            Node::WrappedValue(_) => 1,
            _ => 0,
        }
    }

    fn is_null(self) -> bool {
        matches!(self.node, Node::Null(_))
    }

    fn size_without_nulls(self) -> usize {
        let has_nulls = self.raw_members().iter().any(|member| matches!(member.value, Node::Null(_)));
        if !has_nulls {
            return self.size();
        }
        self.distinct().iter().filter(|(_, value)| !matches!(value, Node::Null(_))).count()
    }

    fn members(self, visit: &mut dyn FnMut(Text<'a>, Self) -> bool) {
        let _ = self.distinct().into_iter().all(|(name, node)| visit(name, self.with(node)));
    }

    fn json(self) -> OwnedText {
        compact(self)
    }

    fn answer_json(self) -> OwnedText {
        answer(self)
    }

    fn arguments(self) -> Self {
        let Some(raw) = self.node.raw() else {
            return match self.node {
                Node::Null(_) => self.empty(),
                Node::Object(..) | Node::WrappedValue(_) => self,
                _ => self.under(names::ARGUMENTS),
            };
        };
        if raw.chars == 0 {
            return self.empty();
        }
        let bump = self.origin.bump;
        let data = match raw.utf8() {
            Cow::Borrowed(bytes) => bytes,
            Cow::Owned(bytes) => bump.alloc_slice_copy(&bytes),
        };
        match Self::decoded(data, bump) {
            Ok(value) => value.object().unwrap_or_else(|| value.under(names::ARGUMENTS)),
            Err(_) => self.under(names::ARGUMENTS),
        }
    }

    fn empty(self) -> Self {
        self.with(&EMPTY)
    }

    fn under(self, key: Key<'static>) -> Self {
        let made = WrappedValue { name: key.name, value: *self.node };
        Self::new(Node::WrappedValue(self.origin.bump.alloc(made)), self.origin)
    }

    fn type_name(self) -> String {
        match self.node {
            Node::Null(_) => "NoneType",
            Node::Bool(..) => "bool",
            Node::Number(digits) if digits.iter().any(|byte| matches!(byte, b'.' | b'e' | b'E')) => "float",
            Node::Number(_) => "int",
            Node::Text { .. } => "str",
            Node::List(..) => "list",
            Node::Object(..) | Node::WrappedValue(_) => "dict",
        }
        .to_owned()
    }

    fn identity(self) -> usize {
        std::ptr::from_ref(self.node).addr()
    }
}

/// Write a value as JSON on one line.
pub(crate) fn compact(value: Scanned<'_>) -> OwnedText {
    written(value, false)
}

/// Write a value as JSON on one line, with base64 replaced by a line that names it.
pub(crate) fn answer(value: Scanned<'_>) -> OwnedText {
    written(value, true)
}

fn written(value: Scanned<'_>, is_answer: bool) -> OwnedText {
    let mut writer = Writer { is_answer, out: OwnedText::default() };
    writer.value(value, Text::ascii(""));
    writer.out
}

struct Writer {
    /// True if base64 is replaced by a line.
    is_answer: bool,
    out: OwnedText,
}

impl Writer {
    /// Write a value that is stored under the key `name`. The grammar limits the depth of values, so that recursion is
    /// safe.
    fn value<'a>(&mut self, value: Scanned<'a>, name: Text<'a>) {
        match value.node {
            Node::Null(_) => self.out.push_ascii("null"),
            Node::Bool(true, _) => self.out.push_ascii("true"),
            Node::Bool(false, _) => self.out.push_ascii("false"),
            Node::Number(digits) => self.out.push_ascii(&number(digits)),
            Node::Text { .. } => self.text(text_or_empty(Some(value))),
            Node::List(items, _) => {
                self.out.push_ascii("[");
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        self.out.push_ascii(",");
                    }
                    self.value(value.with(item), Text::ascii(""));
                }
                self.out.push_ascii("]");
            }
            Node::Object(..) | Node::WrappedValue(_) => {
                self.out.push_ascii("{");
                for (index, (key, node)) in value.distinct().into_iter().enumerate() {
                    if index > 0 {
                        self.out.push_ascii(",");
                    }
                    push_quoted(&mut self.out, key);
                    self.out.push_ascii(":");
                    self.member(value, key, value.with(node), name);
                }
                self.out.push_ascii("}");
            }
        }
    }

    /// Write the value of a member. `name` is the key under which the holder is stored, and may be a kind of media.
    fn member<'a>(&mut self, holder: Scanned<'a>, key: Text<'a>, item: Scanned<'a>, name: Text<'a>) {
        let data = item.text().filter(|_| self.is_answer);
        match data.and_then(|data| base64_line(holder, key, data, name)) {
            Some(line) => push_quoted(&mut self.out, line.text()),
            None => self.value(item, key),
        }
    }

    fn text(&mut self, text: Text<'_>) {
        let shown = if self.is_answer { address_line(text) } else { Piece::Borrowed(text) };
        push_quoted(&mut self.out, shown.text());
    }
}

/// Format a number as it is written after parsing: an integer beyond 64 bits becomes a float, if a float can hold it.
fn number(digits: &[u8]) -> String {
    let text = std::str::from_utf8(digits).unwrap_or_default();
    let is_integer = !digits.iter().any(|byte| matches!(byte, b'.' | b'e' | b'E'));
    if is_integer && (text.parse::<i64>().is_ok() || text.parse::<u64>().is_ok()) {
        return if text == "-0" { "0".to_owned() } else { text.to_owned() };
    }
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => zmij::Buffer::new().format_finite(value).to_owned(),
        _ if is_integer => text.to_owned(),
        _ => "null".to_owned(),
    }
}
