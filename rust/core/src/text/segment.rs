//! The segments of an output: pieces, and text that stays as it is written in JSON until the output is written.
//!
//! Most of what a context shows can be measured, cut and looked through with its escapes, so that none of it stands beside
//! the output. The rest is made first: what cleaning would change, and what might be cut between characters that belong
//! together.

use super::escaped::{EscapedText, place_of};
use super::graphemes::{ends_look_back, is_boundary};
use super::piece::Piece;
use super::sanitize::{MARKER_END, has_marker_tail, is_dirty};
use super::unescape::write_unescaped;
use super::utf8::{character_at, floor, width};
use super::{OwnedText, Text, Width};
use crate::simd::{BLOCK, Lanes, Others, Work, block_at, dispatch, find_escaped};

/// A part of an output: a piece, or text that is made only where it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Segment<'a> {
    /// A piece.
    Piece(Piece<'a>),
    /// Text that is not yet made.
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
    /// The number of code points.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Piece(piece) => piece.len(),
            Self::Plain(plain) => plain.len(),
        }
    }

    /// Return whether there is no code point.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Return whether the last code point is a newline.
    #[must_use]
    pub fn ends_with_newline(&self) -> bool {
        match self {
            Self::Piece(piece) => piece.text().ends_with("\n"),
            Self::Plain(plain) => plain.ends_with_newline(),
        }
    }

    /// The number of bytes it takes in UTF-8.
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

    /// Write it in UTF-8 into room for [`Segment::utf8_len`] bytes; how many it took. A lone surrogate becomes U+FFFD. What
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

/// A part of a JSON string, as it is written, that cleaning would leave as it is, and that holds no escape of a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Plain<'a> {
    bytes: &'a [u8],
    chars: usize,
    escapes: usize,
    has_backticks: bool,
}

impl<'a> Plain<'a> {
    /// The number of code points.
    #[must_use]
    pub fn len(self) -> usize {
        self.chars
    }

    /// Return whether there is no code point.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.chars == 0
    }

    /// The number of bytes the text takes in UTF-8.
    #[must_use]
    pub fn utf8_len(self) -> usize {
        self.bytes.len() - self.escapes
    }

    /// The text as it is written: what is found in it that is no letter, no quote and no slash, the text has there too.
    #[must_use]
    pub fn written(self) -> &'a [u8] {
        self.bytes
    }

    /// Return whether there may be backticks.
    #[must_use]
    pub fn has_backticks(self) -> bool {
        self.has_backticks
    }

    /// Return whether the last character is a newline.
    #[must_use]
    pub fn ends_with_newline(self) -> bool {
        self.bytes.ends_with(b"\\n") && self.bytes.get(last_start(self.bytes)..) == Some(b"\\n")
    }

    /// What the widest code point needs.
    #[must_use]
    pub fn width(self) -> Width {
        width(self.bytes)
    }

    /// Write the text in UTF-8 into room for [`Plain::utf8_len`] bytes; how many it took. What stands in the room behind
    /// them may be overwritten.
    pub fn write_utf8(self, room: &mut [u8]) -> usize {
        write_unescaped(self.bytes, room)
    }

    /// The text, made.
    #[must_use]
    pub fn made(self) -> OwnedText {
        let mut bytes = vec![0; self.utf8_len()];
        self.write_utf8(&mut bytes);
        OwnedText::from_bytes(&bytes)
    }

    /// All but the last character, where the text may be cut there.
    pub(crate) fn without_last(self) -> Option<Self> {
        let (before, last) = self.bytes.split_at_checked(last_start(self.bytes))?;
        let escapes = self.escapes - usize::from(last.first() == Some(&b'\\'));
        may_be_parted(before, last).then_some(Self { bytes: before, chars: self.chars - 1, escapes, ..self })
    }

    /// The last code points, so many or all, where the text may be cut before them.
    fn last(self, count: usize, is_ascii: bool) -> Option<Self> {
        let left = look(self.bytes, self.chars.saturating_sub(count), is_ascii)?;
        let (before, behind) = self.bytes.split_at_checked(left.bytes.len())?;
        let (chars, escapes) = (self.chars - left.chars, self.escapes - left.escapes);
        may_be_parted(before, behind).then_some(Self { bytes: behind, chars, escapes, ..self })
    }
}

impl<'a> EscapedText<'a> {
    /// The first code points, so many or all, where they and the next one are plain, and may be parted.
    pub(crate) fn plain_start(self, count: usize) -> Option<Plain<'a>> {
        let plain = look(self.bytes, count.saturating_add(1), self.is_ascii)?;
        if plain.chars > count { plain.without_last() } else { Some(plain) }
    }

    /// The last code points, so many or all, where they and so many before them are plain, and may be parted.
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

/// Where the last character begins, as it is written: an escape, or a character of UTF-8.
fn last_start(bytes: &[u8]) -> usize {
    let start = floor(bytes, bytes.len().saturating_sub(1));
    let before = bytes.get(..start).unwrap_or_default();
    let backslashes = before.iter().rev().take_while(|byte| **byte == b'\\').count();
    start - backslashes % 2
}

/// Return whether a text may be cut between what is written here and there, as far as the two characters tell: of an
/// escape, which is ASCII, any byte says the same.
fn may_be_parted(before: &[u8], behind: &[u8]) -> bool {
    if before.is_empty() || behind.is_empty() {
        return true;
    }
    let left = character_at(before, floor(before, before.len() - 1)).0;
    ends_look_back(left) && is_boundary(&[left, character_at(behind, 0).0], 1)
}

/// The first code points of a string, so many or all; nothing where they are not plain.
fn look(bytes: &[u8], count: usize, is_ascii: bool) -> Option<Plain<'_>> {
    let found = dispatch(Looking { bytes, count, is_ascii })?;
    let is_marked = found.may_hold_marker && has_marker_tail(Text::Latin1(found.plain.bytes));
    (!is_marked).then_some(found.plain)
}

/// For each low half of a byte, the one that may stand behind a backslash, and means what may stand in a context.
const KEPT: [u8; 16] = [0xFF, 0, b'"', 0, b't', 0, 0, 0, 0, 0, 0, 0, b'\\', 0, b'n', b'/'];
const DELETE: u8 = 0x7F;

struct Looking<'b> {
    bytes: &'b [u8],
    count: usize,
    is_ascii: bool,
}

/// What was looked at, and whether it holds the last two characters of a marker.
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

/// How far a string was looked at.
#[derive(Default)]
struct Look<'b> {
    bytes: &'b [u8],
    is_ascii: bool,
    at: usize,
    /// The number of further code points that are looked at.
    left: usize,
    carry: u64,
    escapes: usize,
    backticks: u64,
    marks: u64,
    carried_mark: u64,
}

impl Look<'_> {
    /// Look at whole blocks, as long as none can hold too many.
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

    /// Look at the next block, or at what of it is inside of the string and holds no code point too many; whether that is
    /// all of it, and nothing where it is not plain.
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
        // Of the controls of ASCII the scan lets no other stand in a string.
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

/// The bytes of UTF-8 that characters begin with that may not stand in a context, but for those of ASCII.
const UNSURE: [u8; 5] = [0xC2, 0xD8, 0xE2, 0xED, 0xF3];

/// Return whether a character that may not stand in a context, and is no ASCII, begins inside of the block at `at`.
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
    fn no_character_that_may_not_stand_in_a_context_begins_otherwise() {
        for code_point in (0x80..0x11_0000).filter(|code_point| is_dirty(*code_point)) {
            let ([first, ..], _) = bytes_of(code_point);
            assert!(UNSURE.contains(&first), "{code_point:x}");
        }
    }
}
