//! Output in the making: pieces of the input and of our own texts, written once into one exact allocation.

use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::rc::Rc;

use crate::scan::{Plain, Recipe};
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

    /// Say something of the text, which is made for it where it is not yet.
    pub fn with_text<T>(&self, then: impl FnOnce(Text<'_>) -> T) -> T {
        match self {
            Self::Piece(piece) => then(piece.text()),
            Self::Plain(plain) => then(plain.made().as_text()),
        }
    }
}

/// Finished output: its parts, and the order in which they stand.
#[derive(Clone, Debug, Default)]
pub struct Output<'a> {
    parts: Vec<Part<'a>>,
    order: Vec<Range<usize>>,
}

impl<'a> Output<'a> {
    /// An empty output with room for so many parts.
    #[must_use]
    pub fn with_room(parts: usize) -> Self {
        Self { parts: Vec::with_capacity(parts), order: Vec::new() }
    }

    /// An empty output that has parts, so that they need not be moved, but none in its order.
    #[must_use]
    pub fn of_unordered(parts: Vec<Part<'a>>, ranges: usize) -> Self {
        Self { parts, order: Vec::with_capacity(ranges) }
    }

    /// Add a part.
    pub fn push(&mut self, part: impl Into<Part<'a>>) {
        let (part, place) = (part.into(), self.parts.len());
        if part.is_empty() {
            return;
        }
        self.parts.push(part);
        self.push_range(place..place + 1);
    }

    /// Add parts that it has.
    pub fn push_range(&mut self, range: Range<usize>) {
        match self.order.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ => self.order.push(range),
        }
    }

    /// Its parts, one behind the other.
    pub(crate) fn parts(&self) -> impl Iterator<Item = &Part<'a>> {
        self.order.iter().flat_map(|range| self.parts.get(range.clone()).unwrap_or_default())
    }

    /// How many code points there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.parts().map(Part::len).sum()
    }

    /// Whether there is no code point.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.parts().next().is_none()
    }

    /// What the widest code point needs.
    #[must_use]
    pub fn width(&self) -> Width {
        let widen = |width: Width, part: &Part<'a>| match part {
            _ if width == Width::Ucs4 => width,
            Part::Piece(piece) => width.max(piece.text().width()),
            Part::Plain(plain) => width.max(plain.width()),
        };
        self.parts().fold(Width::Ascii, widen)
    }

    /// Write all code points into `room`, which holds exactly as many and is wide enough.
    pub fn write<C: Unit>(&self, room: &mut [C]) {
        let mut rest = room;
        for part in self.parts() {
            let Some((own, behind)) = rest.split_at_mut_checked(part.len()) else { return };
            part.with_text(|text| C::copy_text(text, own));
            rest = behind;
        }
    }

    /// The output in UTF-8; a lone surrogate becomes U+FFFD.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let recipe = Recipe::of(self, &[]);
        let mut bytes = vec![0; recipe.len()];
        recipe.write(&mut bytes);
        bytes
    }

    /// [`Output::to_bytes`] as text.
    #[must_use]
    pub fn to_utf8(&self) -> String {
        String::from_utf8(self.to_bytes()).unwrap_or_default()
    }
}
