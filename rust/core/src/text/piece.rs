//! Pieces of the input and of owned texts.

use std::hash::{Hash, Hasher};
use std::rc::Rc;

use super::{OwnedText, Text};

/// A piece of an output: borrowed from the input, or a slice of a shared owned text.
#[derive(Clone, Debug)]
pub enum Piece<'a> {
    /// A part of the input.
    Borrowed(Text<'a>),
    /// The code points of an owned text from the first number up to the second, which is excluded.
    Shared(Rc<OwnedText>, usize, usize),
}

impl<'a> Piece<'a> {
    /// Create a piece that borrows an ASCII literal.
    #[must_use]
    pub const fn ascii(literal: &'a str) -> Self {
        Self::Borrowed(Text::ascii(literal))
    }

    /// Create a piece that holds a whole owned text.
    #[must_use]
    pub fn own(text: OwnedText) -> Self {
        let size = text.as_text().len();
        Self::Shared(Rc::new(text), 0, size)
    }

    /// Create a piece that holds an ASCII string.
    #[must_use]
    pub fn own_ascii(text: String) -> Self {
        Self::own(OwnedText::Latin1(text.into_bytes()))
    }

    /// The piece's text.
    #[must_use]
    pub fn text(&self) -> Text<'_> {
        match self {
            Self::Borrowed(text) => *text,
            Self::Shared(text, start, end) => text.as_text().slice(*start, *end),
        }
    }

    /// Return the number of code points.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Borrowed(text) => text.len(),
            Self::Shared(_, start, end) => end - start,
        }
    }

    /// Return true if the piece is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Return the code points from `start` up to `end`, which is excluded, without copying them.
    #[must_use]
    pub fn slice(&self, start: usize, end: usize) -> Self {
        let end = end.min(self.len());
        let start = start.min(end);
        match self {
            Self::Borrowed(text) => Self::Borrowed(text.slice(start, end)),
            Self::Shared(text, base, _) => Self::Shared(Rc::clone(text), base + start, base + end),
        }
    }
}

impl Piece<'_> {
    /// Return the piece without the newlines at its start and end.
    #[must_use]
    pub fn trim_newlines(&self) -> Self {
        let is_newline = |index: usize| self.text().get(index) == Some(0x0A);
        let (mut start, mut end) = (0, self.len());
        while start < end && is_newline(start) {
            start += 1;
        }
        while end > start && is_newline(end - 1) {
            end -= 1;
        }
        self.slice(start, end)
    }
}

impl Default for Piece<'_> {
    fn default() -> Self {
        Self::ascii("")
    }
}

impl PartialEq for Piece<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}

impl Eq for Piece<'_> {}

impl Hash for Piece<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text().hash(state);
    }
}
