//! Scanned JSON as the steps see it.

use std::borrow::Cow;
use std::ops::Range;

use super::compact::{answer, compact};
use super::nodes::{Made, Member, Node, Origin, distinct};
use super::value::{Key, Spelling, Value, names, text_or_empty};
use crate::simd::{BLOCK, prefetch};
use crate::text::escaped::{EscapedText, Plain};
use crate::text::{OwnedText, Text};

/// A value of scanned JSON. What has to be made of it (a text without its escapes) is kept as long as the scan.
#[derive(Clone, Copy, Debug)]
pub struct Scanned<'a> {
    pub(crate) node: &'a Node<'a>,
    pub(crate) origin: &'a Origin<'a>,
}

/// So many bytes of each end of a text are asked for; what follows them the processor asks for by itself.
const FETCHED: usize = 256;

static EMPTY: Node<'static> = Node::Object(&[], 0);

impl<'a> Scanned<'a> {
    pub(crate) fn new(node: Node<'a>, origin: &'a Origin<'a>) -> Self {
        Self { node: origin.bump.alloc(node), origin }
    }

    pub(crate) fn with(self, node: &'a Node<'a>) -> Self {
        Self { node, ..self }
    }

    /// A list that holds this value alone.
    pub(crate) fn listed(self) -> Self {
        Self::new(Node::List(std::slice::from_ref(self.node), 0), self.origin)
    }

    /// Where the value stands in the data that was scanned, which is shorter than 4 GiB: all that was written of it,
    /// quotes and brackets too. Of a value that the scan made itself it says nothing.
    pub(crate) fn span(self, data: &[u8]) -> Range<usize> {
        self.node.span(data)
    }

    /// The members of an object as they are written, those too that are there twice.
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
            Node::Made(made) => (made.name == key.name).then_some(&made.value),
            _ => None,
        }
    }

    /// The members of an object by name, each once.
    pub(crate) fn distinct(self) -> Vec<(Text<'a>, &'a Node<'a>)> {
        match self.node {
            Node::Made(made) => vec![(made.name, &made.value)],
            _ => distinct(self.raw_members(), self.origin),
        }
    }

    /// The value as it is written, for those who make something else of it.
    #[must_use]
    pub fn written(self) -> Written<'a> {
        match self.node {
            Node::Null(_) => Written::Null,
            Node::Bool(value, _) => Written::Bool(*value),
            Node::Number(digits) => Written::Number(digits),
            Node::Text { .. } => Written::Text(text_or_empty(Some(self))),
            Node::List(..) => Written::List,
            Node::Object(..) | Node::Made(_) => Written::Object,
        }
    }
}

/// What is written for a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written<'a> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number's digits.
    Number(&'a [u8]),
    /// A string.
    Text(Text<'a>),
    /// An array.
    List,
    /// An object.
    Object,
}

impl<'a> Value<'a> for Scanned<'a> {
    fn get(self, key: Key<'_>) -> Option<Self> {
        self.member(key).filter(|node| !matches!(node, Node::Null(_))).map(|node| self.with(node))
    }

    fn has(self, key: Key<'_>) -> bool {
        self.member(key).is_some()
    }

    fn text(self) -> Option<Text<'a>> {
        self.node.raw().map(|raw| raw.text(self.origin.bump))
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

    /// Of a list of parts, the text of the first one.
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
        matches!(self.node, Node::Object(..) | Node::Made(_)).then_some(self)
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
            Node::Object(members @ [_, _, ..], _) => distinct(members, self.origin).len(),
            Node::Object(members, _) => members.len(),
            Node::Made(_) => 1,
            _ => 0,
        }
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
                Node::Object(..) | Node::Made(_) => self,
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
        let made = Made { name: key.name, value: *self.node };
        Self::new(Node::Made(self.origin.bump.alloc(made)), self.origin)
    }

    fn type_name(self) -> String {
        match self.node {
            Node::Null(_) => "NoneType",
            Node::Bool(..) => "bool",
            Node::Number(digits) if digits.iter().any(|byte| matches!(byte, b'.' | b'e' | b'E')) => "float",
            Node::Number(_) => "int",
            Node::Text { .. } => "str",
            Node::List(..) => "list",
            Node::Object(..) | Node::Made(_) => "dict",
        }
        .to_owned()
    }

    fn identity(self) -> usize {
        std::ptr::from_ref(self.node).addr()
    }
}
