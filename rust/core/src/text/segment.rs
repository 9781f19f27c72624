//! The segments of an output: pieces, and JSON text that is decoded only when the output is written.
//!
//! Most text of a context can be measured, cut and searched with its escapes, so that no decoded copy exists except in
//! the output. Other text is decoded first: text that cleaning would change, and text that might be cut between
//! characters that belong together.

use super::escaped::{EscapedText, place_of};
use super::graphemes::{ends_look_back, is_boundary};
use super::piece::Piece;
use super::sanitize::{MARKER_END, has_marker_tail, is_dirty};
use super::unescape::write_unescaped;
use super::utf8::{character_at, floor, width};
use super::{OwnedText, Text, Width};
use crate::simd::{BLOCK, Lanes, Others, Work, block_at, dispatch, find_escaped};

/// A part of an output: a piece, or text that is decoded when it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Segment<'a> {
    /// A piece.
    Piece(Piece<'a>),
    /// Text that is not decoded yet.
    Plain(Plain<'a>),
}

impl<'a> From<Piece<'a>> for Segment<'a> {
    fn from(piece: Piece<'a>) -> Self {
        Self::Piece(piece)
    }
}

impl Default for Segment<'_> {
    fn default() -> Self {
        Self::Piece(Piece::default())
    }
}

impl Segment<'_> {
    /// Return the number of code points.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Piece(piece) => piece.len(),
            Self::Plain(plain) => plain.len(),
        }
    }

    /// Return true if the text is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Return true if the last code point is a newline.
    #[must_use]
    pub fn ends_with_newline(&self) -> bool {
        match self {
            Self::Piece(piece) => piece.text().ends_with("\n"),
            Self::Plain(plain) => plain.ends_with_newline(),
        }
    }

    /// Return the number of bytes in UTF-8.
    #[must_use]
    pub fn utf8_len(&self) -> usize {
        match self {
            Self::Piece(piece) => piece.text().utf8_len(),
            Self::Plain(plain) => plain.utf8_len(),
        }
    }

    /// Return the width of the widest code point.
    #[must_use]
    pub fn width(&self) -> Width {
        match self {
            Self::Piece(piece) => piece.text().width(),
            Self::Plain(plain) => plain.width(),
        }
    }

    /// Write the text in UTF-8 to `room`, which holds at least [`Segment::utf8_len`] bytes, and return the number of bytes
    /// written. A lone surrogate becomes U+FFFD. The rest of `room` may be overwritten.
    pub fn write_utf8(&self, room: &mut [u8]) -> usize {
        match self {
            Self::Piece(piece) => piece.text().write_utf8(room),
            Self::Plain(plain) => plain.write_utf8(room),
        }
    }

    /// Call a function with the text, which is decoded first if necessary.
    pub fn with_text<T>(&self, then: impl FnOnce(Text<'_>) -> T) -> T {
        match self {
            Self::Piece(piece) => then(piece.text()),
            Self::Plain(plain) => then(plain.made().as_text()),
        }
    }
}

/// A part of a JSON string, with its escapes. It has no `\u` escapes, and cleaning would not change it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Plain<'a> {
    bytes: &'a [u8],
    chars: usize,
    escapes: usize,
    has_backticks: bool,
}

impl<'a> Plain<'a> {
    /// Return the number of code points.
    #[must_use]
    pub fn len(self) -> usize {
        self.chars
    }

    /// Return true if the text is empty.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.chars == 0
    }

    /// Return the number of bytes in UTF-8.
    #[must_use]
    pub fn utf8_len(self) -> usize {
        self.bytes.len() - self.escapes
    }

    /// Return the text with its escapes. A character in it that is not a letter, a quote or a slash is also in the
    /// decoded text.
    #[must_use]
    pub fn written(self) -> &'a [u8] {
        self.bytes
    }

    /// Return true if there may be backticks.
    #[must_use]
    pub fn has_backticks(self) -> bool {
        self.has_backticks
    }

    /// Return true if the last character is a newline.
    #[must_use]
    pub fn ends_with_newline(self) -> bool {
        self.bytes.ends_with(b"\\n") && self.bytes.get(last_start(self.bytes)..) == Some(b"\\n")
    }

    /// Return the width of the widest code point.
    #[must_use]
    pub fn width(self) -> Width {
        width(self.bytes)
    }

    /// Write the text in UTF-8 to `room`, which holds at least [`Plain::utf8_len`] bytes, and return the number of
    /// bytes written. The rest of `room` may be overwritten.
    pub fn write_utf8(self, room: &mut [u8]) -> usize {
        write_unescaped(self.bytes, room)
    }

    /// Return the decoded text.
    #[must_use]
    pub fn made(self) -> OwnedText {
        let mut bytes = vec![0; self.utf8_len()];
        self.write_utf8(&mut bytes);
        OwnedText::from_bytes(&bytes)
    }

    /// Return all but the last character; `None` if the text may not be cut there.
    pub(crate) fn without_last(self) -> Option<Self> {
        let (before, last) = self.bytes.split_at_checked(last_start(self.bytes))?;
        let escapes = self.escapes - usize::from(last.first() == Some(&b'\\'));
        may_be_parted(before, last).then_some(Self { bytes: before, chars: self.chars - 1, escapes, ..self })
    }

    /// Return the last `count` code points, or all; `None` if the text may not be cut before them.
    fn last(self, count: usize, is_ascii: bool) -> Option<Self> {
        let left = look(self.bytes, self.chars.saturating_sub(count), is_ascii)?;
        let (before, after) = self.bytes.split_at_checked(left.bytes.len())?;
        let (chars, escapes) = (self.chars - left.chars, self.escapes - left.escapes);
        may_be_parted(before, after).then_some(Self { bytes: after, chars, escapes, ..self })
    }
}

impl<'a> EscapedText<'a> {
    /// Return the first `count` code points, or all; `None` unless they and the next one are plain, and the text may be
    /// cut between them.
    pub(crate) fn plain_start(self, count: usize) -> Option<Plain<'a>> {
        let plain = look(self.bytes, count.saturating_add(1), self.is_ascii)?;
        if plain.chars > count { plain.without_last() } else { Some(plain) }
    }

    /// Return the last `count` code points, or all; `None` unless they and the `before` ones before them are plain, and
    /// the text may be cut between them.
    pub(crate) fn plain_end(self, count: usize, before: usize) -> Option<Plain<'a>> {
        let wanted = count.saturating_add(before);
        for rest in self.longer_ends(wanted) {
            let window = look(rest, usize::MAX, self.is_ascii)?;
            if rest.len() == self.bytes.len() || window.chars >= wanted {
                return window.last(count, self.is_ascii);
            }
        }
        None
    }
}

/// Return the offset of the last character, which is an escape or a UTF-8 character.
fn last_start(bytes: &[u8]) -> usize {
    let start = floor(bytes, bytes.len().saturating_sub(1));
    let before = bytes.get(..start).unwrap_or_default();
    let backslashes = before.iter().rev().take_while(|byte| **byte == b'\\').count();
    start - backslashes % 2
}

/// Return true if text may be cut between these two parts, judging by the two characters there. An escape stands for
/// an ASCII character, so each of its bytes gives the same answer.
fn may_be_parted(before: &[u8], after: &[u8]) -> bool {
    if before.is_empty() || after.is_empty() {
        return true;
    }
    let left = character_at(before, floor(before, before.len() - 1)).0;
    ends_look_back(left) && is_boundary(&[left, character_at(after, 0).0], 1)
}

/// Return the first `count` code points of a string, or all; `None` if they are not plain.
fn look(bytes: &[u8], count: usize, is_ascii: bool) -> Option<Plain<'_>> {
    let found = dispatch(Looking { bytes, count, is_ascii })?;
    let is_marked = found.may_hold_marker && has_marker_tail(Text::Latin1(found.plain.bytes));
    (!is_marked).then_some(found.plain)
}

/// The letters that may follow a backslash and stand for a character that a context may contain, each at the index of
/// its low four bits.
const KEPT: [u8; 16] = [0xFF, 0, b'"', 0, b't', 0, 0, 0, 0, 0, 0, 0, b'\\', 0, b'n', b'/'];
const DELETE: u8 = 0x7F;

struct Looking<'b> {
    bytes: &'b [u8],
    count: usize,
    is_ascii: bool,
}

/// The text that was checked. `may_hold_marker` is true if it contains the last two characters of a marker.
struct Looked<'b> {
    plain: Plain<'b>,
    may_hold_marker: bool,
}

impl<'b> Work for Looking<'b> {
    type Done = Option<Looked<'b>>;

    #[inline(always)]
    fn run<L: Lanes>(self) -> Self::Done {
        let Self { bytes, count, is_ascii } = self;
        let mut look = Look { bytes, is_ascii, left: count, ..Look::default() };
        if is_ascii {
            look.add_whole::<L, true>()?;
        } else {
            look.add_whole::<L, false>()?;
        }
        let mut padded = [0; BLOCK];
        while look.at < bytes.len() && look.add::<L, false, false>(block_at(bytes, look.at, &mut padded))? {}
        let Look { at, left, escapes, backticks, marks, .. } = look;
        let plain = Plain { bytes: bytes.get(..at)?, chars: count - left, escapes, has_backticks: backticks != 0 };
        Some(Looked { plain, may_hold_marker: marks != 0 })
    }
}

/// The progress of a check of a string.
#[derive(Default)]
struct Look<'b> {
    bytes: &'b [u8],
    is_ascii: bool,
    at: usize,
    /// The number of code points that are left to check.
    left: usize,
    carry: u64,
    escapes: usize,
    backticks: u64,
    marks: u64,
    carried_mark: u64,
}

impl Look<'_> {
    /// Check whole blocks while none can hold more code points than are left.
    #[inline(always)]
    fn add_whole<L: Lanes, const IS_ASCII: bool>(&mut self) -> Option<()> {
        for block in self.bytes.as_chunks().0 {
            if self.left < BLOCK {
                break;
            }
            self.add::<L, true, IS_ASCII>(block)?;
        }
        Some(())
    }

    /// Check the next block, as far as it is inside the string and within the code points that are left. Return true if
    /// that was the whole block, and `None` if it is not plain.
    #[inline(always)]
    fn add<L: Lanes, const IS_WHOLE: bool, const IS_ASCII: bool>(&mut self, block: &[u8; BLOCK]) -> Option<bool> {
        let letters = find_escaped(L::equal(block, b'\\'), &mut self.carry);
        let Others { high, continuations } =
            if IS_ASCII || self.is_ascii { Others { high: 0, continuations: 0 } } else { L::others(block) };
        let (mut end, mut inside) = (BLOCK, u64::MAX);
        if !IS_WHOLE && self.bytes.len() - self.at < BLOCK {
            end = self.bytes.len() - self.at;
            inside = (1 << end) - 1;
        }
        let begins = !(letters | continuations) & inside;
        let mut held = begins.count_ones() as usize;
        if !IS_WHOLE && held > self.left {
            end = place_of(begins, self.left);
            inside = (1 << end) - 1;
            held = self.left;
        }
        // DELETE is the only dirty ASCII character that a JSON string may contain unescaped.
        let wrong = (letters & !L::among(block, &KEPT)) | L::equal(block, DELETE);
        if wrong & inside != 0 || (high & inside != 0 && has_dirty::<L>(self.bytes, self.at, block, inside)) {
            return None;
        }
        self.backticks |= L::equal(block, b'`') & inside;
        let before_last = L::equal(block, MARKER_END[0]);
        self.marks |= L::equal(block, MARKER_END[1]) & (before_last << 1 | self.carried_mark);
        self.carried_mark = before_last >> (BLOCK - 1);
        self.escapes += if IS_WHOLE && IS_ASCII { BLOCK - held } else { (letters & inside).count_ones() as usize };
        self.at += end;
        self.left -= held;
        Some(end == BLOCK)
    }
}

/// The first UTF-8 bytes of the non-ASCII characters that a context may not contain.
const UNSURE: [u8; 5] = [0xC2, 0xD8, 0xE2, 0xED, 0xF3];

/// Return true if a non-ASCII character that a context may not contain begins in the block at `at`, at a bit of
/// `inside`.
#[inline(always)]
fn has_dirty<L: Lanes>(bytes: &[u8], at: usize, block: &[u8; BLOCK], inside: u64) -> bool {
    let mut unsure = 0;
    for byte in UNSURE {
        unsure |= L::equal(block, byte); // in a closure, vector instructions would not be inlined
    }
    unsure &= inside;
    while unsure != 0 {
        if is_dirty(character_at(bytes, at + unsure.trailing_zeros() as usize).0) {
            return true;
        }
        unsure &= unsure - 1;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::{UNSURE, is_dirty};
    use crate::text::utf8::bytes_of;

    #[test]
    fn every_dirty_character_begins_with_an_unsure_byte() {
        for code_point in (0x80..0x11_0000).filter(|code_point| is_dirty(*code_point)) {
            let ([first, ..], _) = bytes_of(code_point);
            assert!(UNSURE.contains(&first), "{code_point:x}");
        }
    }
}
