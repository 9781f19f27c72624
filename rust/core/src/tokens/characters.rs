//! The merges of characters, and the places between them that no token crosses.
//!
//! A merge begins with bytes, and in Chinese most of the work is to join them into characters. The merge of a character
//! by itself is also its merge within a string, unless some token has a part of its bytes and the neighbouring text
//! ([`Characters::is_seam`]). For the ranks of a vocabulary are the order in which its tokens were made, each by
//! joining two earlier ones. A token with all bytes of the character, and more, was made of the whole character, and
//! comes later; any other was made of a part of it. So the lowest rank that can be joined is either within the
//! character, or the same after the character was joined. Characters at a seam, and bytes that are no characters, are
//! merged from their bytes.
//!
//! Most neighbours in Chinese are in no token together, so that most characters by themselves have the tokens they have
//! within the text ([`Characters::end_of_part`]).

use std::sync::atomic::{AtomicU8, Ordering};

/// The code points with an entry: the planes of nearly all text.
const CODE_POINTS: usize = 0x2_0000;

/// The bits of the filter of seams: some 40 times the number of seams.
const SEAM_BITS: u32 = 17;

/// The bits of the filter of neighbours: some 36 times the number of neighbours, 64 kB.
const NEIGHBOUR_BITS: u32 = 19;

/// The merges of characters.
pub(crate) struct Characters {
    /// The starts of the parts into which each character is merged, one bit for a byte; zero before the first use.
    parts: Vec<AtomicU8>,
    /// The places where tokens cut characters: see [`seam`].
    seams: Vec<u64>,
    /// The characters that are next to each other in a token, one of them with three bytes or more: see [`neighbours`].
    neighbours: Vec<u64>,
}

/// A character in UTF-8.
#[derive(Clone, Copy)]
pub(crate) struct Character {
    code_point: usize,
    pub(crate) size: usize,
}

impl Character {
    /// Return the character with which the bytes begin, if they do and it has more than one byte.
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

    /// Return the character at a place, of any size.
    #[inline(always)]
    fn at(text: &[u8], at: usize) -> Option<Self> {
        let rest = text.get(at..)?;
        match rest.first() {
            Some(byte @ ..0x80) => Some(Self { code_point: usize::from(*byte), size: 1 }),
            _ => Self::first(rest),
        }
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
        Self { parts, seams: vec![0; 1 << (SEAM_BITS - 6)], neighbours: vec![0; 1 << (NEIGHBOUR_BITS - 6)] }
    }

    /// Note the neighbours in a token, and the places where it cuts characters.
    pub(crate) fn add(&mut self, token: &[u8]) {
        if token.is_ascii() {
            return;
        }
        let (mut before, mut at) = (None, 0);
        while let Some((_, later)) = token.get(at..).and_then(<[u8]>::split_first) {
            let own = Character::at(token, at);
            let size = || 1 + later.iter().take_while(|byte| is_continuation(**byte)).count();
            let end = at + own.map_or_else(size, |own| own.size);
            match (before, own) {
                (Some(before), Some(own)) if is_long(before, own) => {
                    set(&mut self.neighbours, neighbours(before, own));
                }
                (_, None) => {
                    self.cut(token, at);
                    self.cut(token, end);
                }
                _ => {}
            }
            (before, at) = (own, end);
        }
    }

    /// Return the end of the first part of the bytes from `start` to before `end`. A part ends between two characters
    /// that no token joins, not even parts of them, so that it has the tokens it has by itself. One of the two has
    /// three bytes or more, as most others are joined.
    #[inline(always)]
    pub(crate) fn end_of_part(&self, text: &[u8], start: usize, end: usize) -> usize {
        let text = text.get(..end).unwrap_or_default();
        let (mut before, mut at) = (Character::at(text, start), start);
        loop {
            at += before.map_or(1, |own| own.size);
            if at >= end {
                return end;
            }
            let after = Character::at(text, at);
            if let (Some(before), Some(after)) = (before, after)
                && is_long(before, after)
                && !has(&self.neighbours, neighbours(before, after))
                && !self.is_seam(text, at)
            {
                return at;
            }
            before = after;
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
            None if after.is_ascii() => (0..=255).for_each(|next| set(&mut self.seams, seam([*before, *after, next]))),
            None => (0x80..0xC0).for_each(|next| set(&mut self.seams, seam([*before, *after, next]))),
        }
    }

    /// Return true if some token may have a part of the character on either side of this place in a string.
    #[inline(always)]
    pub(crate) fn is_seam(&self, bytes: &[u8], at: usize) -> bool {
        let Some([before, after]) =
            at.checked_sub(1).and_then(|before| bytes.get(before..=at)).and_then(<[u8]>::first_chunk)
        else {
            return false;
        };
        let next = bytes.get(at + 1).copied().unwrap_or(0);
        let is_character = after.is_ascii() || (!is_continuation(*after) && is_continuation(next));
        !is_character || has(&self.seams, seam([*before, *after, next]))
    }

    /// Return the starts of the parts into which a character by itself is merged, one bit for each; `None` if it has no
    /// entry.
    #[inline(always)]
    pub(crate) fn parts(&self, character: Character, merge: impl FnOnce() -> u64) -> Option<u64> {
        let known = self.parts.get(character.code_point)?;
        Some(match known.load(Ordering::Relaxed) {
            0 => {
                let parts = merge();
                known.store(u8::try_from(parts).unwrap_or(0), Ordering::Relaxed);
                parts
            }
            parts => u64::from(parts),
        })
    }
}

/// Return the number of three consecutive bytes, the second of which begins a character; others may share it.
#[inline(always)]
fn seam(bytes: [u8; 3]) -> usize {
    let [one, two, three] = bytes.map(u32::from);
    ((one << 16 | two << 8 | three).wrapping_mul(0x9E37_79B1) >> (32 - SEAM_BITS)) as usize
}

/// Return true if one of two characters has three bytes or more.
#[inline(always)]
fn is_long(before: Character, after: Character) -> bool {
    before.size.max(after.size) >= 3
}

/// Return the number of two neighbours; others may share it.
#[inline(always)]
fn neighbours(before: Character, after: Character) -> usize {
    let both = (before.code_point as u64) << 21 | after.code_point as u64;
    usize::try_from(both.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - NEIGHBOUR_BITS)).unwrap_or(0)
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)] // it fails by panicking

    use super::{Character, Characters, is_continuation};

    fn tokens(packed: &[u8]) -> Vec<&[u8]> {
        let (mut tokens, mut rest) = (Vec::new(), packed);
        while let Some((size, after)) = rest.split_first() {
            let (token, after) = after.split_at(usize::from(*size));
            tokens.push(token);
            rest = after;
        }
        tokens
    }

    /// Return a token between two ideographs, with the bytes that its first and last characters lack, and its start.
    fn completed(token: &[u8], filler: u8) -> (Vec<u8>, usize) {
        let mut text = "\u{4E00}".as_bytes().to_vec();
        match token.iter().take_while(|byte| is_continuation(**byte)).count() {
            0 => {}
            1 => text.extend([0xE4, filler]),
            _ => text.push(0xE4),
        }
        let start = text.len();
        text.extend_from_slice(token);
        let lead = text.iter().rposition(|byte| !is_continuation(*byte)).unwrap();
        while text[lead] >= 0xC0 && Character::first(&text[lead..]).is_none() && text.len() < lead + 4 {
            text.push(filler);
        }
        text.extend("\u{4E00}".as_bytes());
        (text, start)
    }

    #[test]
    fn no_token_crosses_the_end_of_a_part() {
        for name in ["o200k_base", "cl100k_base"] {
            let path = format!("{}/../../python/toolcarry/_data/vocabularies/{name}.bpe", env!("CARGO_MANIFEST_DIR"));
            let packed = std::fs::read(path).unwrap();
            let mut characters = Characters::new();
            for token in tokens(&packed) {
                characters.add(token);
            }
            for token in tokens(&packed) {
                for filler in [0x80, 0x95, 0xA0, 0xBF] {
                    let (text, start) = completed(token, filler);
                    let mut end = 0;
                    while end < text.len() {
                        end = characters.end_of_part(&text, end, text.len());
                        assert!(end <= start || end >= start + token.len(), "{name} {token:X?} {end}");
                    }
                }
            }
        }
    }
}
