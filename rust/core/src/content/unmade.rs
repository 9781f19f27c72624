//! Text that need not be made whole: where it is looked at, or copied, a part of it will do.

use crate::json::value::{Spelling, Value, text_or_empty};
use crate::text::Text;
use crate::text::escaped::Plain;
use crate::text::piece::Piece;

/// A text that need not be made whole: a value of the input that is one, or a piece.
#[derive(Clone, Debug)]
pub enum Content<'a, V> {
    /// A value that is a text.
    Value(V),
    /// A text that was put together.
    Piece(Piece<'a>),
}

impl<'a, V: Value<'a>> Content<'a, V> {
    /// How many code points.
    pub fn len(&self) -> usize {
        match self {
            Self::Value(value) => value.text_len().unwrap_or(0),
            Self::Piece(piece) => piece.len(),
        }
    }

    /// Whether there is no code point.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many bytes in UTF-8; a lone surrogate has three.
    pub fn utf8_len(&self) -> usize {
        match self {
            Self::Value(value) => value.utf8_len().unwrap_or(0),
            Self::Piece(piece) => piece.text().utf8_len(),
        }
    }

    /// How it stands in its source.
    pub fn spelling(&self) -> Spelling<'_> {
        match self {
            Self::Value(value) => value.spelling().unwrap_or(Spelling::Text(Text::ascii(""))),
            Self::Piece(piece) => Spelling::Text(piece.text()),
        }
    }

    /// All of it.
    pub fn whole(&self) -> Piece<'a> {
        match self {
            Self::Value(value) => Piece::Borrowed(text_or_empty(Some(*value))),
            Self::Piece(piece) => piece.clone(),
        }
    }

    /// Whether it begins with one of these ASCII literals. That it doesn't, its first code point mostly tells.
    pub fn starts_with_any(&self, literals: &[&str]) -> bool {
        let first = match self.spelling() {
            Spelling::Text(text) => text.get(0),
            // In JSON the first byte is that of the first character, unless it begins an escape.
            Spelling::Json([first, ..]) if *first != b'\\' => Some(u32::from(*first)),
            Spelling::Json(_) => self.start(1).text().get(0),
        };
        literals.iter().any(|literal| {
            literal.bytes().next().map(u32::from) == first && self.start(literal.len()).text().starts_with(literal)
        })
    }

    /// Its first code points: so many, or all.
    pub fn start(&self, count: usize) -> Piece<'a> {
        match self {
            Self::Value(value) => Piece::Borrowed(value.text_start(count).unwrap_or(Text::ascii(""))),
            Self::Piece(piece) => piece.slice(0, count),
        }
    }

    /// Its last code points: so many or more, or all.
    pub fn end(&self, count: usize) -> Piece<'a> {
        match self {
            Self::Value(value) => Piece::Borrowed(value.text_end(count).unwrap_or(Text::ascii(""))),
            Self::Piece(piece) => piece.slice(piece.len().saturating_sub(count), piece.len()),
        }
    }

    /// Its first code points, so many or all, where none has to be made, nor the next one.
    #[must_use]
    pub fn plain_start(&self, count: usize) -> Option<Plain<'a>> {
        match self {
            Self::Value(value) => value.plain_start(count),
            Self::Piece(_) => None,
        }
    }

    /// Its last code points, so many or all, where none has to be made, nor so many before them.
    #[must_use]
    pub fn plain_end(&self, count: usize, before: usize) -> Option<Plain<'a>> {
        match self {
            Self::Value(value) => value.plain_end(count, before),
            Self::Piece(_) => None,
        }
    }

    /// Its first code points, so many or all, without making them where that can be left.
    #[must_use]
    pub fn first(&self, count: usize) -> Self {
        match self {
            Self::Value(value) => value.first(count).map_or_else(|| Self::Piece(self.start(count)), Self::Value),
            Self::Piece(_) => Self::Piece(self.start(count)),
        }
    }

    /// Its last code points, so many or all, without making them where that can be left.
    #[must_use]
    pub fn last(&self, count: usize) -> Self {
        let made = || {
            let end = self.end(count);
            Self::Piece(end.slice(end.len().saturating_sub(count), end.len()))
        };
        match self {
            Self::Value(value) => value.last(count).map_or_else(made, Self::Value),
            Self::Piece(_) => made(),
        }
    }
}
