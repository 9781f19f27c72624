//! Characters whose bytes may be merged before anything else is.
//!
//! Merging begins with bytes, and in Chinese most of it is to make characters of them. What a character by itself is
//! merged to, it is merged to in a text as well, unless some token has a part of its bytes and what stands beside it
//! there ([`Characters::is_seam`]): for the ranks of a vocabulary are the order in which its tokens were made, each of two
//! that were there before. A token that has all bytes of the character, and more, was made of it, and comes later; one
//! that was made otherwise was made of such a part. So the lowest rank that can be joined is either within the character,
//! or the same when it is whole already.
//!
//! Characters at a seam, and bytes that are no characters, are merged from their bytes.

use std::sync::atomic::{AtomicU8, Ordering};

/// Code points that are looked at: the planes in which nearly all text is.
const CODE_POINTS: usize = 0x2_0000;

/// Bits of the filter of seams: some 30 times the seams.
const SEAM_BITS: u32 = 17;

/// What is known of characters.
pub(crate) struct Characters {
    /// Where the parts start that each is merged to: a bit for a byte, and none where that was not asked for yet.
    parts: Vec<AtomicU8>,
    /// Where tokens cut characters: see [`seam`].
    seams: Vec<u64>,
}

/// A character in UTF-8.
#[derive(Clone, Copy)]
pub(crate) struct Character {
    code_point: usize,
    pub(crate) size: usize,
}

impl Character {
    /// The one that the bytes begin with, if they do, and if it is none of a single byte.
    #[inline(always)]
    pub(crate) fn first(bytes: &[u8]) -> Option<Self> {
        let (code_point, size) = match *bytes {
            [lead @ 0xC2..0xE0, one, ..] => (bits(lead, 0x1F) << 6 | continuation(one)?, 2),
            [lead @ 0xE0..0xF0, one, two, ..] => {
                (bits(lead, 0x0F) << 12 | continuation(one)? << 6 | continuation(two)?, 3)
            }
            [lead @ 0xF0..0xF5, one, two, three, ..] => {
                let upper = bits(lead, 0x07) << 18 | continuation(one)? << 12;
                (upper | continuation(two)? << 6 | continuation(three)?, 4)
            }
            _ => return None,
        };
        let is_shortest = code_point >= [0, 0, 0x80, 0x800, 0x1_0000].get(size).copied()?;
        is_shortest.then_some(Self { code_point, size })
    }
}

fn bits(byte: u8, mask: u8) -> usize {
    usize::from(byte & mask)
}

#[inline(always)]
fn continuation(byte: u8) -> Option<usize> {
    is_continuation(byte).then(|| bits(byte, 0x3F))
}

#[inline(always)]
fn is_continuation(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

impl Characters {
    pub(crate) fn new() -> Self {
        let mut parts = Vec::new();
        parts.resize_with(CODE_POINTS, AtomicU8::default);
        Self { parts, seams: vec![0; 1 << (SEAM_BITS - 6)] }
    }

    /// Note where a token cuts characters.
    pub(crate) fn add(&mut self, token: &[u8]) {
        if std::str::from_utf8(token).is_ok() {
            return; // all are whole
        }
        let mut at = 0;
        while let Some((first, later)) = token.get(at..).and_then(<[u8]>::split_first) {
            let whole = token.get(at..).and_then(Character::first).map(|own| own.size);
            let end = at + whole.unwrap_or_else(|| 1 + later.iter().take_while(|byte| is_continuation(**byte)).count());
            if whole.is_none() && !first.is_ascii() {
                self.cut(token, at);
                self.cut(token, end);
            }
            at = end;
        }
    }

    /// Note that a token has a part of the character on one side of this place, if it has anything on both.
    fn cut(&mut self, token: &[u8], at: usize) {
        let (Some(before), Some(after)) = (at.checked_sub(1).and_then(|before| token.get(before)), token.get(at))
        else {
            return;
        };
        match token.get(at + 1) {
            Some(next) => set(&mut self.seams, seam([*before, *after, *next])),
            None => (0..=255).for_each(|next| set(&mut self.seams, seam([*before, *after, next]))),
        }
    }

    /// Whether some token may have a part of the character on either side of this place in a text.
    #[inline(always)]
    pub(crate) fn is_seam(&self, bytes: &[u8], at: usize) -> bool {
        let Some([before, after]) =
            at.checked_sub(1).and_then(|before| bytes.get(before..=at)).and_then(<[u8]>::first_chunk)
        else {
            return false;
        };
        let next = bytes.get(at + 1).copied().unwrap_or(0);
        is_continuation(*after) || has(&self.seams, seam([*before, *after, next]))
    }

    /// Where the parts start that the bytes of a character, by itself, are merged to: a bit each.
    #[inline(always)]
    pub(crate) fn parts(&self, character: Character, merge: impl FnOnce() -> u64) -> u64 {
        let every = (1 << character.size) - 1;
        let Some(known) = self.parts.get(character.code_point) else { return every };
        match known.load(Ordering::Relaxed) {
            0 => {
                let parts = merge();
                known.store(u8::try_from(parts).unwrap_or(0), Ordering::Relaxed);
                parts
            }
            parts => u64::from(parts),
        }
    }
}

/// The number of three bytes that stand beside one another, of which the second begins a character; others may share it.
#[inline(always)]
fn seam(bytes: [u8; 3]) -> usize {
    let [one, two, three] = bytes.map(u32::from);
    ((one << 16 | two << 8 | three).wrapping_mul(0x9E37_79B1) >> (32 - SEAM_BITS)) as usize
}

#[inline(always)]
fn has(set: &[u64], number: usize) -> bool {
    set.get(number / 64).is_some_and(|word| word >> (number % 64) & 1 == 1)
}

fn set(set: &mut [u64], number: usize) {
    if let Some(word) = set.get_mut(number / 64) {
        *word |= 1 << (number % 64);
    }
}
