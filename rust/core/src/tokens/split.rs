//! Split a text into the pieces that are encoded one by one, as the regular expressions of the encodings do.
//!
//! Guaranteed: the pieces are those of the expressions in `tiktoken_ext.openai_public`, with their order of
//! alternatives, what they give back and look ahead at. Each piece is found in one walk; no part of a text is walked
//! over more than a few times, whatever it is.
//!
//! A piece depends on nothing before it, which is what [`super::safe`] stands on.

use super::classes::{Classes, LETTER, LOWER, NEWLINE, NUMBER, OTHER, SPACE, UPPER, WIDE, of_byte};

const HIGH_BITS: u64 = 0x8080_8080_8080_8080;
const ONES: u64 = 0x0101_0101_0101_0101;

/// How an encoding splits text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Grammar {
    O200k,
    Cl100k,
}

/// A text to split.
#[derive(Clone, Copy)]
pub(crate) struct Splitter<'a> {
    pub(crate) text: &'a [u8],
    pub(crate) classes: &'a Classes,
}

impl Splitter<'_> {
    /// The class of the character at `at`, and where it ends; no class at the end of the text.
    #[inline(always)]
    pub(crate) fn class_at(self, at: usize) -> (u8, usize) {
        match self.text.get(at).map(|byte| of_byte(*byte)) {
            Some(WIDE) => self.wide_class_at(at),
            Some(class) => (class, at + 1),
            None => (0, at),
        }
    }

    /// The same of a character of more than one byte. What is no UTF-8 is taken for something, and never read beyond.
    #[inline(never)]
    fn wide_class_at(self, at: usize) -> (u8, usize) {
        let rest = self.text.get(at..).unwrap_or_default();
        let bits = |index: usize| rest.get(index).map_or(0, |byte| u32::from(byte & 0x3F));
        let (code_point, size) = match rest.first().copied().unwrap_or_default() {
            byte @ 0xC0..0xE0 => (u32::from(byte & 0x1F) << 6 | bits(1), 2),
            byte @ 0xE0..0xF0 => (u32::from(byte & 0x0F) << 12 | bits(1) << 6 | bits(2), 3),
            byte @ 0xF0.. => (u32::from(byte & 0x07) << 18 | bits(1) << 12 | bits(2) << 6 | bits(3), 4),
            _ => (0xFFFD, 1),
        };
        (self.classes.of(code_point), at + size.min(rest.len()))
    }

    #[inline(always)]
    fn byte(self, at: usize) -> u8 {
        self.text.get(at).copied().unwrap_or_default()
    }

    /// Where the characters of these classes end.
    #[inline(always)]
    fn run(self, mut at: usize, classes: u8) -> usize {
        loop {
            let class = self.text.get(at).map_or(0, |byte| of_byte(*byte));
            if class & classes != 0 {
                at += 1;
            } else if class == WIDE {
                let (class, end) = self.wide_class_at(at);
                if class & classes == 0 {
                    return at;
                }
                at = end;
            } else {
                return at;
            }
        }
    }

    /// Where the characters of these classes end, of which many are ASCII letters: those are looked at by eights.
    #[inline(always)]
    fn letter_run(self, mut at: usize, classes: u8, folded: u64) -> usize {
        while let Some(eight) = self.text.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
            let others = others_than_letters(u64::from_le_bytes(*eight), folded);
            at += (others.trailing_zeros() / 8) as usize;
            if others != 0 {
                if self.byte(at) < 0x80 {
                    return at;
                }
                let (class, end) = self.wide_class_at(at);
                if class & classes == 0 {
                    return at;
                }
                at = end;
            }
        }
        self.run(at, classes)
    }

    /// Where the piece that begins at `at` ends, in the grammar of `o200k_base`.
    #[inline(always)]
    pub(crate) fn o200k(self, at: usize) -> usize {
        let (class, after) = self.class_at(at);
        if class & LETTER != 0 {
            return self.contraction(self.word(at).0);
        }
        if class & NUMBER != 0 {
            return self.numbers(after);
        }
        if class & NEWLINE == 0 {
            let (end, is_lower) = self.word(after);
            if class & UPPER != 0 && !is_lower {
                return self.contraction(after); // a mark before no lower case is rather a word than a word's prefix
            }
            if end > after {
                return self.contraction(end);
            }
            let start = if self.byte(at) == b' ' { after } else { at };
            let end = self.run(start, OTHER);
            if end > start {
                return self.skip(end, |byte| matches!(byte, b'\r' | b'\n' | b'/'));
            }
        }
        self.space(at, false)
    }

    /// Where the piece that begins at `at` ends, in the grammar of `cl100k_base`.
    #[inline(always)]
    pub(crate) fn cl100k(self, at: usize) -> usize {
        const FOLD: u64 = 0x20 * ONES;
        let (class, after) = self.class_at(at);
        if class & LETTER != 0 {
            return self.letter_run(at, LETTER, FOLD);
        }
        if class & NUMBER != 0 {
            return self.numbers(after);
        }
        if class & NEWLINE == 0 {
            let end = self.contraction(at);
            if end > at {
                return end;
            }
            let end = self.letter_run(after, LETTER, FOLD);
            if end > after {
                return end;
            }
            let start = if self.byte(at) == b' ' { after } else { at };
            let end = self.run(start, OTHER);
            if end > start {
                return self.skip(end, |byte| matches!(byte, b'\r' | b'\n'));
            }
        }
        self.space(at, true)
    }

    /// Where a word ends, and whether in lower case: upper case and then lower case, where there is any.
    ///
    /// What is both may be the one lower-case letter: where no lower case follows, the expression gives back upper
    /// case until it has one.
    #[inline(always)]
    fn word(self, start: usize) -> (usize, bool) {
        let (mut at, mut both) = (start, start);
        loop {
            let (class, after) = self.class_at(at);
            if class & UPPER == 0 {
                if class & LOWER != 0 {
                    return (self.letter_run(after, LOWER, 0), true);
                }
                return if both > start { (both, true) } else { (at, false) };
            }
            at = after;
            if class & LOWER != 0 {
                both = at;
            }
        }
    }

    /// Where `'s`, `'t`, `'re`, `'ve`, `'m`, `'ll` or `'d` ends, in any case, if one is at `at`.
    #[inline(always)]
    fn contraction(self, at: usize) -> usize {
        if self.byte(at) != b'\'' {
            return at;
        }
        let [first, second] = [self.byte(at + 1), self.byte(at + 2)];
        match [first | 0x20, second | 0x20] {
            [b's' | b't' | b'm' | b'd', _] => at + 2,
            [b'r' | b'v', b'e'] | [b'l', b'l'] => at + 3,
            _ if [first, second] == *"\u{17F}".as_bytes() => at + 3, // an s in upper case is S in lower case
            _ => at,
        }
    }

    /// Where up to three numbers end, the first of which ends at `at`.
    #[inline(always)]
    fn numbers(self, mut at: usize) -> usize {
        for _ in 0..2 {
            let (class, after) = self.class_at(at);
            if class & NUMBER == 0 {
                break;
            }
            at = after;
        }
        at
    }

    #[inline(always)]
    fn skip(self, mut at: usize, is_skipped: impl Fn(u8) -> bool) -> usize {
        while self.text.get(at).is_some_and(|byte| is_skipped(*byte)) {
            at += 1;
        }
        at
    }

    /// Where a piece of white space ends: behind its last newline; else before its last character, which goes with
    /// what follows. All of it stays together at the end of a text, newlines or not where `is_end_first`.
    #[inline(always)]
    fn space(self, start: usize, is_end_first: bool) -> usize {
        let (mut at, mut last, mut newline) = (start, start, start);
        loop {
            let (class, after) = self.class_at(at);
            if class & SPACE == 0 {
                break;
            }
            (last, at) = (at, after);
            if class & NEWLINE != 0 {
                newline = at;
            }
        }
        let is_end = at >= self.text.len();
        if newline > start && !(is_end && is_end_first) {
            newline
        } else if last > start && !is_end {
            last
        } else {
            at
        }
    }
}

/// The upper bits of the bytes that are no letters `a` to `z` after `folded` is set in them.
#[inline(always)]
fn others_than_letters(bytes: u64, folded: u64) -> u64 {
    let low = (bytes | folded) & !HIGH_BITS;
    let at_least = low + u64::from(0x80 - b'a') * ONES;
    let beyond = low + u64::from(0x7F - b'z') * ONES;
    !(at_least & !beyond & !bytes) & HIGH_BITS
}
