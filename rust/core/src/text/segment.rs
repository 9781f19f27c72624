//! The parts of an output.

use super::escaped::Plain;
use super::piece::Piece;
use super::{Text, Width};

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
