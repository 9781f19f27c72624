//! Text that stays as it is written in a JSON string: measured, cut and copied with its escapes, and decoded only if that
//! is asked for, and as much of it as is asked for.
//!
//! [`EscapedText`] is all of a string or an end of it ([`ends`]); [`Plain`] is a part that needs no cleaning; [`decode`] and
//! [`unescape`] make text of it. Nothing here looks for the quotes: that is the work of [`crate::input`].

mod decode;
mod ends;
mod plain;

use crate::simd::ESCAPES;

pub use super::escaped::plain::Plain;
pub use super::segment::Part;

/// A JSON string as it is written, without its quotes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EscapedText<'a> {
    pub(crate) bytes: &'a [u8],
    /// How many code points it stands for.
    pub(crate) chars: u32,
    pub(crate) has_escapes: bool,
    pub(crate) is_ascii: bool,
}

pub(crate) fn is_high_surrogate(unit: u32) -> bool {
    (0xD800..0xDC00).contains(&unit)
}

/// The low surrogate that is written as an escape at `at`.
pub(crate) fn low_surrogate_at(data: &[u8], at: usize) -> Option<u32> {
    let is_escape = data.get(at..at + 2) == Some(b"\\u");
    is_escape.then(|| hex4(data, at + 2)).flatten().filter(|unit| (0xDC00..0xE000).contains(unit))
}

/// The number that four hexadecimal digits at `at` stand for.
pub(crate) fn hex4(data: &[u8], at: usize) -> Option<u32> {
    let digits = data.get(at..at + 4)?;
    digits.iter().try_fold(0, |number, digit| char::from(*digit).to_digit(16).map(|value| number << 4 | value))
}

/// The code point that is written as an escape at `at`, and how many bytes it takes.
#[inline]
pub(crate) fn escape_at(bytes: &[u8], at: usize) -> (u32, usize) {
    match bytes.get(at + 1).copied().unwrap_or_default() {
        b'u' => unit_at(bytes, at),
        letter => (u32::from(ESCAPES.get(usize::from(letter)).copied().unwrap_or_default()), 2),
    }
}

/// The code point that is written by its number at `at`, and how many bytes it takes.
#[inline(never)]
fn unit_at(bytes: &[u8], at: usize) -> (u32, usize) {
    let unit = hex4(bytes, at + 2).unwrap_or_default();
    match low_surrogate_at(bytes, at + 6).filter(|_| is_high_surrogate(unit)) {
        Some(low) => (0x1_0000 + ((unit - 0xD800) << 10) + (low - 0xDC00), 12),
        None => (unit, 6),
    }
}
