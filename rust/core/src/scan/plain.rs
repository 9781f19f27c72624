//! Text that stays as it is written up to the output, so that none of it stands beside the output.
//!
//! Most of what a context shows can be measured, cut and looked through with its escapes. The rest is made: what cleaning
//! would change, and what might be cut between characters that belong together.

use super::ends::place_of;
use super::strings::Raw;
use super::unescape::write_unescaped;
use crate::clean::is_dirty;
use crate::graphemes::{ends_look_back, is_boundary};
use crate::lanes::{BLOCK, Lanes, Others, Work, block_at, dispatch, find_escaped};
use crate::text::{OwnedText, Width};
use crate::utf8::{character_at, floor, width};

/// A part of a JSON string, as it is written, that holds nothing that may not stand in a context, except for markers, and
/// no escape of a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Plain<'a> {
    bytes: &'a [u8],
    chars: usize,
    escapes: usize,
}

impl<'a> Plain<'a> {
    /// How many code points.
    #[must_use]
    pub fn len(self) -> usize {
        self.chars
    }

    /// Whether there is no code point.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.chars == 0
    }

    /// How many bytes the text takes in UTF-8.
    #[must_use]
    pub fn utf8_len(self) -> usize {
        self.bytes.len() - self.escapes
    }

    /// The text as it is written: what is found in it that is no letter, no quote and no slash, the text has there too.
    #[must_use]
    pub fn written(self) -> &'a [u8] {
        self.bytes
    }

    /// Whether the last character is a newline.
    #[must_use]
    pub fn ends_with_newline(self) -> bool {
        let Some((b'n', before)) = self.bytes.split_last() else { return false };
        before.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1
    }

    /// The first code points, so many or all, and the rest, where they may be parted.
    #[must_use]
    pub fn split_at(self, count: usize) -> Option<(Self, Self)> {
        let Self { bytes, chars, escapes } = self;
        let (count, is_ascii) = (count.min(chars), bytes.len() == chars + escapes);
        let raw = Raw { bytes, chars: u32::try_from(chars).ok()?, has_escapes: escapes > 0, is_ascii };
        let (before, behind) = bytes.split_at_checked(raw.first(count).bytes.len())?;
        // One side tells of both: the shorter one.
        let first = if before.len() < behind.len() {
            look(before, usize::MAX, is_ascii)?.escapes
        } else {
            escapes - look(behind, usize::MAX, is_ascii)?.escapes
        };
        may_be_parted(before, behind).then_some((
            Self { bytes: before, chars: count, escapes: first },
            Self { bytes: behind, chars: chars - count, escapes: escapes - first },
        ))
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
}

impl<'a> Raw<'a> {
    /// The first code points, so many or all, where they are plain.
    pub(crate) fn plain_start(self, count: usize) -> Option<Plain<'a>> {
        look(self.bytes, count, self.is_ascii)
    }

    /// The last code points, so many or all, where they are plain.
    pub(crate) fn plain_end(self, count: usize) -> Option<Plain<'a>> {
        look(self.last(count).bytes, usize::MAX, self.is_ascii)
    }
}

/// Whether a text may be cut between what is written here and there, as far as the two characters tell: of an escape,
/// which is ASCII, any byte says the same.
fn may_be_parted(before: &[u8], behind: &[u8]) -> bool {
    if before.is_empty() || behind.is_empty() {
        return true;
    }
    let left = character_at(before, floor(before, before.len() - 1)).0;
    ends_look_back(left) && is_boundary(&[left, character_at(behind, 0).0], 1)
}

/// The first code points of a string, so many or all; nothing where one of them is not plain.
fn look(bytes: &[u8], count: usize, is_ascii: bool) -> Option<Plain<'_>> {
    dispatch(Looking { bytes, count, is_ascii })
}

struct Looking<'b> {
    bytes: &'b [u8],
    count: usize,
    is_ascii: bool,
}

impl<'b> Work for Looking<'b> {
    type Done = Option<Plain<'b>>;

    #[inline(always)]
    fn run<L: Lanes>(self) -> Self::Done {
        let Self { bytes, count, is_ascii } = self;
        let (mut at, mut left, mut carry, mut escapes) = (0, count, 0, 0);
        let mut padded = [0; BLOCK];
        while at < bytes.len() {
            let block = block_at(bytes, at, &mut padded);
            let letters = find_escaped(L::equal(block, b'\\'), &mut carry);
            let Others { high, continuations } =
                if is_ascii { Others { high: 0, continuations: 0 } } else { L::others(block) };
            let (mut end, mut inside) = (BLOCK, u64::MAX);
            if bytes.len() - at < BLOCK {
                end = bytes.len() - at;
                inside = (1 << end) - 1;
            }
            let begins = !(letters | continuations) & inside;
            let held = begins.count_ones() as usize;
            if held > left {
                end = place_of(begins, left);
                inside = (1 << end) - 1;
            }
            let rare = || L::equal(block, b'u') | L::equal(block, b'r') | L::equal(block, b'b') | L::equal(block, b'f');
            let wrong = !(L::between(block, b' ', b'~') | high) | if letters == 0 { 0 } else { letters & rare() };
            if wrong & inside != 0 || (high & inside != 0 && has_dirty::<L>(bytes, at, block, inside)) {
                return None;
            }
            escapes += (letters & inside).count_ones() as usize;
            at += end;
            if held > left {
                left = 0;
                break;
            }
            left -= held;
        }
        Some(Plain { bytes: bytes.get(..at)?, chars: count - left, escapes })
    }
}

/// The bytes of UTF-8 that characters begin with that may not stand in a context, but for those of ASCII.
const UNSURE: [u8; 5] = [0xC2, 0xD8, 0xE2, 0xED, 0xF3];

/// Whether a character that may not stand in a context, and is no ASCII, begins inside of the block at `at`.
#[inline(always)]
fn has_dirty<L: Lanes>(bytes: &[u8], at: usize, block: &[u8; BLOCK], inside: u64) -> bool {
    let mut unsure = UNSURE.into_iter().fold(0, |found, byte| found | L::equal(block, byte));
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
    use crate::utf8::bytes_of;

    #[test]
    fn no_character_that_may_not_stand_in_a_context_begins_otherwise() {
        for code_point in (0x80..0x11_0000).filter(|code_point| is_dirty(*code_point)) {
            let ([first, ..], _) = bytes_of(code_point);
            assert!(UNSURE.contains(&first), "{code_point:x}");
        }
    }
}
