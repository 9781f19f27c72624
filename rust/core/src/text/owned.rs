//! Text that the library builds.

use super::graphemes::CodePoint;
use super::utf8;
use super::{Text, Unit, Width, on_units};

/// An owned text, whose units widen when wider text is added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OwnedText {
    /// Code points up to U+00FF.
    Latin1(Vec<u8>),
    /// Code points up to U+FFFF.
    Ucs2(Vec<u16>),
    /// All code points.
    Ucs4(Vec<u32>),
}

impl Default for OwnedText {
    fn default() -> Self {
        Self::Latin1(Vec::new())
    }
}

impl From<Text<'_>> for OwnedText {
    fn from(text: Text<'_>) -> Self {
        let mut own = Self::default();
        own.push(text);
        own
    }
}

impl From<String> for OwnedText {
    fn from(text: String) -> Self {
        if text.is_ascii() { Self::Latin1(text.into_bytes()) } else { Self::from_utf8(&text) }
    }
}

impl OwnedText {
    /// Create an empty text with capacity for `size` code points up to U+00FF.
    pub(crate) fn with_room(size: usize) -> Self {
        Self::Latin1(Vec::with_capacity(size))
    }

    /// Reserve capacity for `more` code points that are no wider than the current units.
    pub(crate) fn reserve(&mut self, more: usize) {
        match self {
            Self::Latin1(own) => own.reserve(more),
            Self::Ucs2(own) => own.reserve(more),
            Self::Ucs4(own) => own.reserve(more),
        }
    }

    /// Create text from UTF-8, in canonical units.
    #[must_use]
    pub fn from_utf8(text: &str) -> Self {
        Self::from_bytes(text.as_bytes())
    }

    /// Create text from UTF-8 that may hold lone surrogates, in canonical units.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Self {
        fn decoded<C: Unit>(bytes: &[u8]) -> Vec<C> {
            let mut units = vec![C::from_code_point(0); utf8::count(bytes)];
            utf8::decode(bytes, &mut units);
            units
        }
        match utf8::width(bytes) {
            Width::Ascii | Width::Latin1 => Self::Latin1(decoded(bytes)),
            Width::Ucs2 => Self::Ucs2(decoded(bytes)),
            Width::Ucs4 => Self::Ucs4(decoded(bytes)),
        }
    }

    /// Decode UTF-8, like [`OwnedText::from_bytes`]. ASCII is not copied.
    pub(crate) fn from_owned(bytes: Vec<u8>) -> Self {
        if bytes.is_ascii() { Self::Latin1(bytes) } else { Self::from_bytes(&bytes) }
    }

    /// Borrow the text.
    #[must_use]
    pub fn as_text(&self) -> Text<'_> {
        match self {
            Self::Latin1(units) => Text::Latin1(units),
            Self::Ucs2(units) => Text::Ucs2(units),
            Self::Ucs4(units) => Text::Ucs4(units),
        }
    }

    /// Append text.
    pub fn push(&mut self, text: Text<'_>) {
        match (&mut *self, text) {
            (Self::Latin1(own), Text::Latin1(units)) => own.extend_from_slice(units),
            (Self::Ucs2(own), Text::Latin1(units)) => own.extend(units.iter().map(|unit| u16::from(*unit))),
            (Self::Ucs2(own), Text::Ucs2(units)) => own.extend_from_slice(units),
            (Self::Ucs4(own), Text::Ucs4(units)) => own.extend_from_slice(units),
            (Self::Ucs4(own), _) => on_units!(text, units => own.extend(units.iter().map(|unit| unit.code_point()))),
            (Self::Latin1(own), Text::Ucs2(units)) => {
                let mut wide: Vec<u16> = own.iter().map(|unit| u16::from(*unit)).collect();
                wide.extend_from_slice(units);
                *self = Self::Ucs2(wide);
            }
            (_, Text::Ucs4(units)) => {
                let mut wide: Vec<u32> =
                    on_units!(self.as_text(), own => own.iter().map(|unit| unit.code_point()).collect());
                wide.extend_from_slice(units);
                *self = Self::Ucs4(wide);
            }
        }
    }

    /// Append an ASCII literal.
    pub fn push_ascii(&mut self, literal: &str) {
        self.push(Text::ascii(literal));
    }
}
