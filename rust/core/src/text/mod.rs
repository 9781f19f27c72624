//! Text as code points in the narrowest units that can hold them, as `CPython` stores its strings.
//!
//! The core borrows such text, slices it, and writes pieces of it into one exact allocation.
//! Texts of one source are canonical: equal texts have equal units, so that comparing units compares texts.
//! Lone surrogates are ordinary code points here.

mod ansi;
pub(crate) mod constants;
pub mod cut_words;
pub mod escaped;
mod grapheme_table;
pub mod graphemes;
mod owned;
pub mod piece;
pub mod sanitize;
pub mod segment;
pub(crate) mod surrogates;
pub mod truncate;
mod unit;
mod unescape;
pub(crate) mod utf8;

use std::borrow::Cow;

use self::graphemes::CodePoint;
use crate::simd::is_ascii;

pub use self::owned::OwnedText;
pub use self::unit::{Text, Unit, Width};
pub(crate) use self::unit::{convert, on_units};

impl<'a> Text<'a> {
    /// Create text from an ASCII literal.
    #[must_use]
    pub const fn ascii(literal: &'a str) -> Self {
        Self::Latin1(literal.as_bytes())
    }

    /// Return the number of code points.
    #[must_use]
    pub fn len(self) -> usize {
        on_units!(self, units => units.len())
    }

    /// Return true if the text is empty.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Return the code points from `start` up to `end`, which is excluded.
    #[must_use]
    pub fn slice(self, start: usize, end: usize) -> Self {
        let end = end.min(self.len());
        let start = start.min(end);
        match self {
            Self::Latin1(units) => Self::Latin1(units.get(start..end).unwrap_or_default()),
            Self::Ucs2(units) => Self::Ucs2(units.get(start..end).unwrap_or_default()),
            Self::Ucs4(units) => Self::Ucs4(units.get(start..end).unwrap_or_default()),
        }
    }

    /// Return the code point at `index`.
    #[must_use]
    pub fn get(self, index: usize) -> Option<u32> {
        on_units!(self, units => units.get(index).map(|unit| unit.code_point()))
    }

    /// Return true if the text equals this ASCII literal, even if it is a slice of a wider text.
    #[must_use]
    pub fn is(self, literal: &str) -> bool {
        match self {
            Self::Latin1(units) => units == literal.as_bytes(),
            _ => self.len() == literal.len() && self.starts_with(literal),
        }
    }

    /// Return true if the text begins with this ASCII literal.
    #[must_use]
    pub fn starts_with(self, literal: &str) -> bool {
        self.len() >= literal.len()
            && on_units!(self, units => units.iter().zip(literal.bytes()).all(|(unit, byte)| unit.code_point() == u32::from(byte)))
    }

    /// Return true if the text ends with this ASCII literal.
    #[must_use]
    pub fn ends_with(self, literal: &str) -> bool {
        let size = self.len();
        size >= literal.len() && self.slice(size - literal.len(), size).starts_with(literal)
    }

    /// Return the text without this ASCII literal at its end.
    #[must_use]
    pub fn without_suffix(self, literal: &str) -> Self {
        if self.ends_with(literal) { self.slice(0, self.len() - literal.len()) } else { self }
    }

    /// Return the text without this ASCII literal at its beginning.
    #[must_use]
    pub fn without_prefix(self, literal: &str) -> Self {
        if self.starts_with(literal) { self.slice(literal.len(), self.len()) } else { self }
    }

    /// Return the index of the first occurrence of an ASCII character.
    #[must_use]
    pub fn find(self, character: u8) -> Option<usize> {
        match self {
            Self::Latin1(units) => memchr::memchr(character, units),
            Self::Ucs2(units) => find_unit(units, u16::from(character)),
            Self::Ucs4(units) => find_unit(units, u32::from(character)),
        }
    }

    /// Return the width of the widest code point.
    #[must_use]
    pub fn width(self) -> Width {
        match self {
            Self::Latin1(units) if is_ascii(units) => Width::Ascii,
            Self::Latin1(_) => Width::Latin1,
            Self::Ucs2(units) => width_of(u32::from(units.iter().fold(0, |all, unit| all | unit))),
            Self::Ucs4(units) => width_of(units.iter().fold(0, |all, unit| all | unit)),
        }
    }

    /// Return the number of bytes in UTF-8.
    #[must_use]
    pub fn utf8_len(self) -> usize {
        if self.is_ascii() {
            return self.len();
        }
        on_units!(self, units => utf8::len(units))
    }

    /// Return the text as UTF-8; a lone surrogate becomes U+FFFD.
    #[must_use]
    pub fn to_utf8(self) -> String {
        let mut bytes = vec![0; self.utf8_len()];
        self.write_utf8(&mut bytes);
        String::from_utf8(bytes).unwrap_or_default()
    }

    /// Return the text as UTF-8, borrowed if it is ASCII; a lone surrogate becomes U+FFFD.
    #[must_use]
    pub fn as_utf8(self) -> Cow<'a, str> {
        let ascii = match self {
            Self::Latin1(units) if is_ascii(units) => std::str::from_utf8(units).ok(),
            _ => None,
        };
        ascii.map_or_else(|| Cow::Owned(self.to_utf8()), Cow::Borrowed)
    }

    /// Write the text in UTF-8 to `room`, which holds at least [`Text::utf8_len`] bytes, and return the number of bytes
    /// written. A lone surrogate becomes U+FFFD.
    pub fn write_utf8(self, room: &mut [u8]) -> usize {
        match self {
            Self::Latin1(units) if is_ascii(units) => {
                if let Some(own) = room.get_mut(..units.len()) {
                    own.copy_from_slice(units);
                }
                units.len()
            }
            _ => on_units!(self, units => utf8::encode(units, room)),
        }
    }

    fn is_ascii(self) -> bool {
        matches!(self, Self::Latin1(units) if is_ascii(units))
    }
}

/// Format a number with commas: `12,345`.
#[must_use]
pub(crate) fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Return the width for the bitwise OR of all code points.
fn width_of(bits: u32) -> Width {
    match bits {
        0..0x80 => Width::Ascii,
        0x80..0x100 => Width::Latin1,
        0x100..0x1_0000 => Width::Ucs2,
        _ => Width::Ucs4,
    }
}

/// Return the index of the first unit that equals `wanted`. The units of a stretch are compared together, which
/// compiles to vector code.
pub(crate) fn find_unit<C: Unit>(units: &[C], wanted: C) -> Option<usize> {
    let mut base = 0;
    for stretch in units.chunks(64) {
        if stretch.iter().fold(false, |found, unit| found | (*unit == wanted)) {
            return stretch.iter().position(|unit| *unit == wanted).map(|index| base + index);
        }
        base += stretch.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::grouped;

    #[test]
    fn numbers_are_grouped() {
        let numbers = [0, 7, 80, 999, 1_000, 12_045, 1_000_000, 102_030_405, usize::MAX];
        let expected =
            ["0", "7", "80", "999", "1,000", "12,045", "1,000,000", "102,030,405", "18,446,744,073,709,551,615"];
        assert_eq!(numbers.map(grouped), expected);
    }
}
