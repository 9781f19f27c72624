//! Output in the making: pieces of the input and of our own texts, written once into one exact allocation.

use std::hash::{Hash, Hasher};
use std::rc::Rc;

use crate::text::{OwnedText, Text, Unit, Width};

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

/// Finished output: pieces in their order.
#[derive(Clone, Debug, Default)]
pub struct Output<'a> {
    pieces: Vec<Piece<'a>>,
}

impl<'a> Output<'a> {
    /// An empty output with room for so many pieces.
    #[must_use]
    pub fn with_room(pieces: usize) -> Self {
        Self { pieces: Vec::with_capacity(pieces) }
    }

    /// Add a piece.
    pub fn push(&mut self, piece: Piece<'a>) {
        if !piece.is_empty() {
            self.pieces.push(piece);
        }
    }

    /// How many code points there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.pieces.iter().map(Piece::len).sum()
    }

    /// Whether there is no code point.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// What the widest code point needs.
    #[must_use]
    pub fn width(&self) -> Width {
        let widen = |width: Width, piece: &Piece<'a>| {
            if width == Width::Ucs4 { width } else { width.max(piece.text().width()) }
        };
        self.pieces.iter().fold(Width::Ascii, widen)
    }

    /// Write all code points into `room`, which holds exactly as many and is wide enough.
    pub fn write<C: Unit>(&self, room: &mut [C]) {
        let mut rest = room;
        for piece in &self.pieces {
            let Some((own, behind)) = rest.split_at_mut_checked(piece.len()) else { return };
            C::copy_text(piece.text(), own);
            rest = behind;
        }
    }

    /// How many bytes the output takes in UTF-8.
    #[must_use]
    pub fn utf8_len(&self) -> usize {
        self.pieces.iter().map(|piece| piece.text().utf8_len()).sum()
    }

    /// Write the output in UTF-8 into room for [`Output::utf8_len`] bytes; a lone surrogate becomes U+FFFD.
    pub fn write_utf8(&self, room: &mut [u8]) {
        let mut size = 0;
        for piece in &self.pieces {
            size += piece.text().write_utf8(room.get_mut(size..).unwrap_or_default());
        }
    }

    /// The output in UTF-8; a lone surrogate becomes U+FFFD.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.utf8_len()];
        self.write_utf8(&mut bytes);
        bytes
    }

    /// [`Output::to_bytes`] as text.
    #[must_use]
    pub fn to_utf8(&self) -> String {
        String::from_utf8(self.to_bytes()).unwrap_or_default()
    }
}
