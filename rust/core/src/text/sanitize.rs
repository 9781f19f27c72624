//! Cleaning of text for a context: no controls, no forged markers.
//!
//! Controls other than tab and newline, ANSI sequences, bidirectional controls and Unicode tag characters are removed;
//! CRLF and CR become LF; a lone surrogate becomes U+FFFD; the two marker lines are escaped. Most text is clean and
//! only checked.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::ansi::{CONTROL_SEQUENCE, ESCAPE, code_point_at, sequence_length};
use super::constants;
use super::piece::Piece;
use super::truncate::{Keep, cut};
use super::{OwnedText, Text, Unit, find_unit, on_units};
use crate::simd::{Lanes, Work, dispatch};

/// The line that opens a context.
pub const OPEN_MARKER: &str = constants::OPEN_MARKER;
/// The line that closes a context.
pub const CLOSE_MARKER: &str = constants::CLOSE_MARKER;
/// The common end of both markers.
const MARKER_TAIL: &str = OPEN_MARKER.split_at(1).1;
/// The last two characters of both markers, which rarely occur together.
pub(crate) const MARKER_END: [u8; 2] = *b"N]";

/// The maximum length of a control sequence that does not end with a control.
pub const LONGEST_SEQUENCE: usize = 80;

static FIND_MARKER_TAIL: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(MARKER_TAIL));

/// A unit with a check for characters that a context may not contain. The check has no branches, so that it compiles to
/// vector code.
trait Checked: Unit {
    fn is_dirty(self) -> bool;
}

impl Checked for u8 {
    #[inline]
    fn is_dirty(self) -> bool {
        (self.wrapping_sub(b'\t') > 1) & (self.wrapping_sub(0x20) > 0x5E) & (self < 0xA0)
    }
}

impl Checked for u16 {
    #[inline]
    fn is_dirty(self) -> bool {
        ((self < 0x20) & (self != 0x09) & (self != 0x0A))
            | (self.wrapping_sub(0x7F) < 0x21)
            | (self == 0x061C)
            | (self.wrapping_sub(0x200E) < 2)
            | (self.wrapping_sub(0x202A) < 5)
            | (self.wrapping_sub(0x2066) < 4)
            | (self.wrapping_sub(0xD800) < 0x800)
    }
}

impl Checked for u32 {
    #[inline]
    fn is_dirty(self) -> bool {
        ((self < 0x20) & (self != 0x09) & (self != 0x0A))
            | (self.wrapping_sub(0x7F) < 0x21)
            | (self == 0x061C)
            | (self.wrapping_sub(0x200E) < 2)
            | (self.wrapping_sub(0x202A) < 5)
            | (self.wrapping_sub(0x2066) < 4)
            | (self.wrapping_sub(0xD800) < 0x800)
            | (self.wrapping_sub(0xE_0000) < 0x80)
    }
}

/// Return true if a context may not contain the code point.
pub(crate) fn is_dirty(code_point: u32) -> bool {
    Checked::is_dirty(code_point)
}

/// Return true if it is certain that [`clean`] would change nothing.
#[must_use]
pub fn is_clean(text: Text<'_>) -> bool {
    !has_controls(text) && !has_marker_tail(text)
}

/// Return true if [`without_controls`] would change the text.
pub(crate) fn has_controls(text: Text<'_>) -> bool {
    on_units!(text, units => dispatch(Looking(units)))
}

/// The work of searching for units that a context may not contain.
struct Looking<'a, C>(&'a [C]);

impl<C: Checked> Work for Looking<'_, C> {
    type Done = bool;

    #[inline(always)]
    fn run<L: Lanes>(self) -> bool {
        self.0.chunks(STRETCH).any(|stretch| stretch.iter().fold(false, |found, unit| found | unit.is_dirty()))
    }
}

/// The number of units that are checked before the result is tested.
const STRETCH: usize = 512;

/// Return true if the text contains the common end of both markers.
pub(crate) fn has_marker_tail(text: Text<'_>) -> bool {
    match text {
        _ if text.len() < MARKER_TAIL.len() => false,
        Text::Latin1(units) => FIND_MARKER_TAIL.find(units).is_some(),
        Text::Ucs2(units) => find_ascii(units, MARKER_TAIL, 5, 0).is_some(),
        Text::Ucs4(units) => find_ascii(units, MARKER_TAIL, 5, 0).is_some(),
    }
}

/// Return the index of an ASCII literal at or after `from`. The search is for the literal's character at index `rare`.
pub(crate) fn find_ascii<C: Unit>(units: &[C], literal: &str, rare: usize, from: usize) -> Option<usize> {
    let bytes = literal.as_bytes();
    let wanted = C::from_code_point(u32::from(*bytes.get(rare)?));
    let mut at = from + rare;
    loop {
        at += find_unit(units.get(at..)?, wanted)?;
        let start = at - rare;
        let here = units.get(start..start + bytes.len());
        if here.is_some_and(|own| own.iter().zip(bytes).all(|(unit, byte)| unit.code_point() == u32::from(*byte))) {
            return Some(start);
        }
        at += 1;
    }
}

/// Return `piece` without characters that a context may not contain, and with its markers escaped.
#[must_use]
pub fn clean<'a>(piece: &Piece<'a>) -> Piece<'a> {
    if is_clean(piece.text()) {
        return piece.clone();
    }
    Piece::own(match piece.text() {
        Text::Latin1(units) => OwnedText::Latin1(escaped(cleaned(units))),
        Text::Ucs2(units) => OwnedText::Ucs2(escaped(cleaned(units))),
        Text::Ucs4(units) => OwnedText::Ucs4(escaped(cleaned(units))),
    })
}

/// Return `piece` without controls, and with its markers unchanged.
pub(crate) fn without_controls<'a>(piece: &Piece<'a>) -> Piece<'a> {
    if !has_controls(piece.text()) {
        return piece.clone();
    }
    Piece::own(match piece.text() {
        Text::Latin1(units) => OwnedText::Latin1(cleaned(units)),
        Text::Ucs2(units) => OwnedText::Ucs2(cleaned(units)),
        Text::Ucs4(units) => OwnedText::Ucs4(cleaned(units)),
    })
}

fn cleaned<C: Checked>(units: &[C]) -> Vec<C> {
    let mut out = Vec::with_capacity(units.len());
    let mut at = 0;
    while let Some(unit) = units.get(at) {
        if !unit.is_dirty() {
            out.push(*unit);
            at += 1;
            continue;
        }
        let rest = units.get(at..).unwrap_or_default();
        match unit.code_point() {
            0x0D => {
                out.push(C::from_code_point(0x0A));
                at += if code_point_at(rest, 1) == Some(0x0A) { 2 } else { 1 };
            }
            0xD800..0xE000 => {
                out.push(C::from_code_point(0xFFFD));
                at += 1;
            }
            ESCAPE | CONTROL_SEQUENCE => at += sequence_length(rest),
            _ => at += 1,
        }
    }
    out
}

fn escaped<C: Unit>(units: Vec<C>) -> Vec<C> {
    let units = escape_marker(units, OPEN_MARKER, 6);
    escape_marker(units, CLOSE_MARKER, 7)
}

/// Return `piece` with a backslash after the first bracket of every occurrence of these ASCII marks.
#[must_use]
pub fn escape_marks<'a>(piece: &Piece<'a>, marks: &[&str]) -> Piece<'a> {
    fn all<C: Unit>(units: &[C], marks: &[&str]) -> Option<Vec<C>> {
        let is_marked = |mark: &&str| find_ascii(units, mark, bracket_of(mark), 0).is_some();
        let escape = |units, mark: &&str| escape_marker(units, mark, bracket_of(mark));
        marks.iter().any(is_marked).then(|| marks.iter().fold(units.to_vec(), escape))
    }
    let escaped = match piece.text() {
        Text::Latin1(units) => all(units, marks).map(OwnedText::Latin1),
        Text::Ucs2(units) => all(units, marks).map(OwnedText::Ucs2),
        Text::Ucs4(units) => all(units, marks).map(OwnedText::Ucs4),
    };
    escaped.map_or_else(|| piece.clone(), Piece::own)
}

fn bracket_of(mark: &str) -> usize {
    mark.find('[').unwrap_or(0)
}

/// Put a backslash after the first bracket of every occurrence of `marker`.
fn escape_marker<C: Unit>(units: Vec<C>, marker: &str, rare: usize) -> Vec<C> {
    let Some(mut found) = find_ascii(&units, marker, rare, 0) else { return units };
    let after = 1 + bracket_of(marker);
    let mut out = Vec::with_capacity(units.len() + 16);
    let mut done = 0;
    loop {
        out.extend_from_slice(units.get(done..found + after).unwrap_or_default());
        out.push(C::from_code_point(u32::from(b'\\')));
        done = found + after;
        match find_ascii(&units, marker, rare, found + marker.len()) {
            Some(next) => found = next,
            None => break,
        }
    }
    out.extend_from_slice(units.get(done..).unwrap_or_default());
    out
}

/// Return `piece` as one clean line of at most `limit` characters; a longer line loses its middle.
#[must_use]
pub fn clean_line<'a>(piece: &Piece<'a>, limit: usize) -> Piece<'a> {
    if piece.len() <= limit && is_plain_line(piece.text()) {
        return piece.clone();
    }
    let bounded = if piece.len() > 4 * limit { shorten(piece, 4 * limit) } else { piece.clone() };
    let mut line = clean(&bounded);
    if (0..line.len()).any(|index| line.text().get(index).and_then(letter_of).is_some()) {
        line = Piece::own(match line.text() {
            Text::Latin1(units) => OwnedText::Latin1(without_breaks(units)),
            Text::Ucs2(units) => OwnedText::Ucs2(without_breaks(units)),
            Text::Ucs4(units) => OwnedText::Ucs4(without_breaks(units)),
        });
    }
    if line.len() <= limit { line } else { shorten(&line, limit) }
}

/// Return true if the text is printable ASCII without `]`, which ends a marker. Most texts of headings are.
fn is_plain_line(text: Text<'_>) -> bool {
    let Text::Latin1(units) = text else { return false };
    units.iter().fold(true, |plain, unit| plain & matches!(unit, b' '..=b'~') & (*unit != MARKER_END[1]))
}

fn without_breaks<C: Unit>(units: &[C]) -> Vec<C> {
    let mut out = Vec::with_capacity(units.len() + 16);
    for unit in units {
        match letter_of(unit.code_point()) {
            Some(letter) => out.extend([b'\\', letter].map(|byte| C::from_code_point(u32::from(byte)))),
            None => out.push(*unit),
        }
    }
    out
}

/// Return the letter that stands, behind a backslash, for a break or a tab in a text that becomes one line.
fn letter_of(code_point: u32) -> Option<u8> {
    match code_point {
        0x0A | 0x2028 | 0x2029 => Some(b'n'),
        0x09 => Some(b't'),
        _ => None,
    }
}

/// Return `piece` in at most `limit` characters, with `...` in place of its middle.
#[must_use]
pub fn shorten<'a>(piece: &Piece<'a>, limit: usize) -> Piece<'a> {
    let (head, tail) = cut_text(piece.text(), limit.saturating_sub(3), Keep::Ends);
    if head == tail {
        return piece.clone();
    }
    let mut text = OwnedText::default();
    text.push(piece.text().slice(0, head));
    text.push_ascii("...");
    text.push(piece.text().slice(tail, piece.len()));
    Piece::own(text)
}

/// Apply [`cut`] to text of any width.
#[must_use]
pub fn cut_text(text: Text<'_>, limit: usize, keep: Keep) -> (usize, usize) {
    on_units!(text, units => cut(units, limit, keep))
}
