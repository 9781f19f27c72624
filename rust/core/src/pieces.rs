//! What an output is made of: pieces of the input and of our own texts, and text that is not yet made.

use std::hash::{Hash, Hasher};
use std::rc::Rc;

use crate::scan::Plain;
use crate::text::{OwnedText, Text, Width};

/// A piece of an output: borrowed from the input, or part of a text of our own.
#[derive(Clone, Debug)]
pub enum Piece<'a> {
    /// A part of the input.
    Borrowed(Text<'a>),
    /// The code points of an own text from the first number to before the second.
    Shared(Rc<OwnedText>, usize, usize),
}

impl<'a> Piece<'a> {
    /// A piece of ASCII.
    #[must_use]
    pub const fn ascii(literal: &'a str) -> Self {
        Self::Borrowed(Text::ascii(literal))
    }

    /// The whole of an own text.
    #[must_use]
    pub fn own(text: OwnedText) -> Self {
        let size = text.as_text().len();
        Self::Shared(Rc::new(text), 0, size)
    }

    /// A piece from ASCII of our own making.
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

    /// How many code points.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Borrowed(text) => text.len(),
            Self::Shared(_, start, end) => end - start,
        }
    }

    /// Whether there is no code point.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A part of the piece; nothing is copied.
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
    /// The piece without newlines around it.
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

/// A part of an output: a piece, or text that is made only where it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part<'a> {
    /// A piece.
    Piece(Piece<'a>),
    /// Text that is not yet made.
    Plain(Plain<'a>),
}

impl<'a> From<Piece<'a>> for Part<'a> {
    fn from(piece: Piece<'a>) -> Self {
        Self::Piece(piece)
    }
}

impl Default for Part<'_> {
    fn default() -> Self {
        Self::Piece(Piece::default())
    }
}

impl Part<'_> {
    /// How many code points.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Piece(piece) => piece.len(),
            Self::Plain(plain) => plain.len(),
        }
    }

    /// Whether there is no code point.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the last code point is a newline.
    #[must_use]
    pub fn ends_with_newline(&self) -> bool {
        match self {
            Self::Piece(piece) => piece.text().ends_with("\n"),
            Self::Plain(plain) => plain.ends_with_newline(),
        }
    }

    /// How many bytes it takes in UTF-8.
    #[must_use]
    pub fn utf8_len(&self) -> usize {
        match self {
            Self::Piece(piece) => piece.text().utf8_len(),
            Self::Plain(plain) => plain.utf8_len(),
        }
    }

    /// What the widest code point needs.
    #[must_use]
    pub fn width(&self) -> Width {
        match self {
            Self::Piece(piece) => piece.text().width(),
            Self::Plain(plain) => plain.width(),
        }
    }

    /// Write it in UTF-8 into room for [`Part::utf8_len`] bytes; how many it took. A lone surrogate becomes U+FFFD. What
    /// stands in the room behind them may be overwritten.
    pub fn write_utf8(&self, room: &mut [u8]) -> usize {
        match self {
            Self::Piece(piece) => piece.text().write_utf8(room),
            Self::Plain(plain) => plain.write_utf8(room),
        }
    }

    /// Say something of the text, which is made for it where it is not yet.
    pub fn with_text<T>(&self, then: impl FnOnce(Text<'_>) -> T) -> T {
        match self {
            Self::Piece(piece) => then(piece.text()),
            Self::Plain(plain) => then(plain.made().as_text()),
        }
    }
}
