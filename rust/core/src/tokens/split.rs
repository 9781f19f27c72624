//! Split a string into the pieces that are encoded one by one, as the regular expressions of the encodings do.
//!
//! The pieces are those of the expressions in `tiktoken_ext.openai_public`, with their order of alternatives,
//! backtracking and look-ahead. Each piece is found in one pass, and no part of any text is read more than a few times.
//!
//! A processor can't predict which rule of the grammar takes a piece, and a wrong prediction costs as much time as the
//! piece. So the rules for ASCII exist a second time, as masks over 64 bytes, without branches. Cases that need more
//! than the window are left to the first implementation: contractions, characters beyond ASCII, and the last piece,
//! which may continue.
//!
//! A piece depends on nothing before it. So a string can be split safely, with the same tokens in both parts as in the
//! whole, between two characters that are never in one piece, if the text before them ends as it would at the end of a
//! text. [`is_safe`] knows some of these places, which are frequent in most text. A string without one within reach is
//! read whole.

use std::ops::ControlFlow;

use super::classes::{Classes, LETTER, LOWER, NEWLINE, NUMBER, OTHER, SPACE, UPPER, WIDE, of_byte};
use crate::simd::{BLOCK, Lanes, block_at};
use crate::text::utf8::floor;

const HIGH_BITS: u64 = 0x8080_8080_8080_8080;
const ONES: u64 = 0x0101_0101_0101_0101;

/// The rules by which an encoding splits text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Grammar {
    O200k,
    Cl100k,
}

/// A string to split.
#[derive(Clone, Copy)]
pub(crate) struct Splitter<'a> {
    pub(crate) text: &'a [u8],
    pub(crate) classes: &'a Classes,
}

impl Splitter<'_> {
    /// Return the class of the character at `at`, and its end; no class at the end of the text.
    #[inline(always)]
    pub(crate) fn class_at(self, at: usize) -> (u8, usize) {
        match self.text.get(at).map(|byte| of_byte(*byte)) {
            Some(WIDE) => self.wide_class_at(at),
            Some(class) => (class, at + 1),
            None => (0, at),
        }
    }

    /// The same for a character of more than one byte. Bytes that are not UTF-8 get some class, and nothing is read
    /// beyond them.
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

    /// Return the end of the characters of these classes.
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

    /// The same if many of them are ASCII letters, which are tested eight at a time.
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

    /// Return the end of the piece that begins at `at`, in the grammar of `o200k_base`.
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
                return self.contraction(after); // a mark without lower case after it is a word
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

    /// Return the end of the piece that begins at `at`, in the grammar of `cl100k_base`.
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

    /// Return the end of a word, and true if it is in lower case: upper case, then lower case, each if there is any.
    ///
    /// A character that is both may be the one lower-case letter: if no lower case follows, the expression gives back
    /// upper case until it has one.
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

    /// Return the end of `'s`, `'t`, `'re`, `'ve`, `'m`, `'ll` or `'d`, in any case, if one is at `at`.
    #[inline(always)]
    fn contraction(self, at: usize) -> usize {
        if self.byte(at) != b'\'' {
            return at;
        }
        let [first, second] = [self.byte(at + 1), self.byte(at + 2)];
        match [first | 0x20, second | 0x20] {
            [b's' | b't' | b'm' | b'd', _] => at + 2,
            [b'r' | b'v', b'e'] | [b'l', b'l'] => at + 3,
            _ if [first, second] == *"\u{17F}".as_bytes() => at + 3, // the long s, whose upper case is S
            _ => at,
        }
    }

    /// Return the end of up to three numbers, the first of which ends at `at`.
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

    /// Return the end of a piece of white space: after its last newline, else before its last character, which goes
    /// with the next piece. At the end of a string it is not split, whatever its newlines if `is_end_first`.
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

/// Return the upper bits of the bytes that are not a letter `a` to `z` after `folded` is set in them.
#[inline(always)]
fn others_than_letters(bytes: u64, folded: u64) -> u64 {
    let low = (bytes | folded) & !HIGH_BITS;
    let at_least = low + u64::from(0x80 - b'a') * ONES;
    let beyond = low + u64::from(0x7F - b'z') * ONES;
    !(at_least & !beyond & !bytes) & HIGH_BITS
}

impl Splitter<'_> {
    /// Visit the start and the end of each piece, from a place where a piece starts, until the visitor stops. The third
    /// argument is true if the piece is known to be ASCII.
    #[inline(always)]
    pub(super) fn pieces<L: Lanes, B>(
        self,
        grammar: Grammar,
        from: usize,
        mut visit: impl FnMut(usize, usize, bool) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let (text, mut start, mut padded) = (self.text, from, [0; BLOCK]);
        while start < text.len() {
            let window = start;
            if L::ARE_WIDE {
                let block = block_at(text, window, &mut padded);
                let mut starts = later_starts::<L>(grammar, block, text.len() - window);
                while starts != 0 {
                    let end = window + starts.trailing_zeros() as usize;
                    starts &= starts - 1;
                    visit(start, end, true)?;
                    start = end;
                }
            }
            if start == window {
                let end = match grammar {
                    Grammar::O200k => self.o200k(start),
                    Grammar::Cl100k => self.cl100k(start),
                };
                visit(start, end, false)?;
                start = end;
            }
        }
        ControlFlow::Continue(())
    }
}

/// Return the starts of pieces in a block that begins with one, and whose first `size` bytes are text: as far as they
/// are certain, and without the first.
#[inline(always)]
fn later_starts<L: Lanes>(grammar: Grammar, block: &[u8; BLOCK], size: usize) -> u64 {
    let text = if size < BLOCK { (1 << size) - 1 } else { u64::MAX };
    let known = text & before_first(L::others(block).high);
    let (upper, lower) = (L::between(block, b'A', b'Z'), L::between(block, b'a', b'z'));
    let (letters, digits) = ((upper | lower) & known, L::between(block, b'0', b'9') & known);
    let (blanks, apostrophes, slashes) = (L::equal(block, b' '), L::equal(block, b'\''), L::equal(block, b'/'));
    let spaces = (L::between(block, b'\t', b'\r') | blanks) & known;
    let newlines = (L::equal(block, b'\n') | L::equal(block, b'\r')) & known;
    let others = known & !(letters | digits | spaces);

    // One character that is not a newline goes with the word after it, unless it belongs to other punctuation. A word
    // also begins with upper case after lower case.
    let flat = spaces & !newlines;
    let other_starts = others & !(others << 1);
    let lone = other_starts & !(others >> 1) & !(blanks << 1);
    let mut starts = letters & !((letters | flat | lone) << 1);
    if grammar == Grammar::O200k {
        starts |= upper & (lower << 1);
    }

    // Up to three digits.
    let mut numbers = digits & !(digits << 1);
    while numbers != 0 {
        starts |= numbers;
        numbers = numbers << 3 & digits & digits << 1 & digits << 2;
    }

    // Other characters in a row, with the blank before them and the newlines after them.
    let taken = newlines & !newlines.wrapping_add(newlines & others << 1);
    starts |= other_starts & !(blanks << 1);

    // Other white space up to its last newline; then the rest but for its last character, which goes with the next
    // word.
    let free = spaces & !taken;
    starts |= free & !(free << 1);
    starts |= flat & (known & !spaces) >> 1;
    let mut indents = flat & newlines << 1;
    while indents != 0 {
        let start = indents.trailing_zeros();
        let behind = 1_u64.checked_shl(start + (!(flat >> start)).trailing_zeros()).unwrap_or(0);
        starts |= if behind & known & !newlines == 0 { 0 } else { 1 << start };
        indents &= indents - 1;
    }

    // An apostrophe may begin a contraction, and newlines after punctuation may be followed by slashes.
    let may_contract = apostrophes & !((known & !letters) >> 1);
    let contractions = if grammar == Grammar::O200k { may_contract & letters << 1 } else { may_contract };
    starts & known & before_first(contractions | taken << 1 & slashes) & !1
}

/// The bits below the lowest one of a mask.
#[inline(always)]
fn before_first(mask: u64) -> u64 {
    (mask & mask.wrapping_neg()).wrapping_sub(1)
}

/// Return true if a string can be split safely between two characters of these classes, the second of which begins with
/// `byte`.
pub(crate) fn is_safe(before: u8, after: u8, byte: u8) -> bool {
    let is_alphanumeric = |class: u8| class & (LETTER | NUMBER) != 0;
    if is_alphanumeric(before) {
        // A mark continues a word; an apostrophe may.
        let is_punctuation = after & OTHER != 0 && after & LOWER == 0 && byte != b'\'';
        let is_space = after & SPACE != 0 && after & NEWLINE == 0;
        is_punctuation || is_space || (is_alphanumeric(after) && (before ^ after) & NUMBER != 0)
    } else if before & NEWLINE != 0 {
        after & SPACE == 0 && byte != b'/' && after != 0
    } else {
        before & OTHER != 0 && after & SPACE != 0 && after & NEWLINE == 0
    }
}

impl Splitter<'_> {
    fn byte_at(self, at: usize) -> u8 {
        self.text.get(at).copied().unwrap_or_default()
    }

    /// Return the last place at or before `at` where the text can be split safely; its start is one.
    pub(crate) fn safe_before(self, at: usize) -> usize {
        let mut at = floor(self.text, at);
        let (mut after, _) = self.class_at(at);
        while at > 0 {
            let start = floor(self.text, at - 1);
            let (before, _) = self.class_at(start);
            if is_safe(before, after, self.byte_at(at)) {
                break;
            }
            (at, after) = (start, before);
        }
        at
    }

    /// Return the first place after `at` where the text can be split safely; its end is one.
    pub(crate) fn safe_after(self, at: usize) -> usize {
        let (mut before, mut at) = self.class_at(at);
        while at < self.text.len() {
            let (after, end) = self.class_at(at);
            if is_safe(before, after, self.byte_at(at)) {
                break;
            }
            (at, before) = (end, after);
        }
        at
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // it fails by panicking

    use std::ops::ControlFlow;

    use crate::simd::{Lanes, Quarters, Scalar, Work, dispatch};
    use crate::text::OwnedText;
    use crate::tokens::random::Random;
    use crate::tokens::{Encoding, EncodingName};

    struct Split<'a>(&'a Encoding, &'a [u8]);

    impl Work for Split<'_> {
        type Done = Vec<usize>;

        fn run<L: Lanes>(self) -> Vec<usize> {
            let mut ends = Vec::new();
            let _: ControlFlow<()> = self.0.split::<L, _>(self.1, 0, |_, end, _| {
                ends.push(end);
                ControlFlow::Continue(())
            });
            ends
        }
    }

    /// Texts at which rules begin, end and stop, between bars.
    const PARTS: &str = "a|b|word|Word|WORD|x|Z|s|ll|ve|t| | | |  |    |\t|\n|\n|\r\n|\n\n|\x0B|\x0C|0|12|345|6789|.|,|(|/|//|==|_\
        |'|'|\"|\0|\u{e9}|\u{4e2d}\u{301}";

    fn encodings() -> [Encoding; 2] {
        ["o200k_base", "cl100k_base"].map(|name| {
            let path = format!("{}/../../python/toolcarry/_data/vocabularies/{name}.bpe", env!("CARGO_MANIFEST_DIR"));
            let name = EncodingName::parse(name).unwrap();
            Encoding::parse(name, &std::fs::read(path).unwrap()).unwrap()
        })
    }

    /// Return fewer than 90 parts, of some kinds.
    fn any_text(random: &mut Random) -> String {
        let mut own: Vec<_> = PARTS.split('|').collect();
        let kinds = 1 + random.below(own.len());
        let first = random.below(own.len());
        own.rotate_left(first);
        own.truncate(kinds);
        (0..random.below(90)).map(|_| random.pick(&own)).collect()
    }

    #[test]
    fn a_beginning_has_no_more_tokens_up_to_a_safe_place_than_the_whole() {
        let mut random = Random(6_364_136_223_846_793_005);
        for encoding in encodings() {
            for _ in 0..20_000 {
                let (start, rest) = (any_text(&mut random), any_text(&mut random));
                let whole = start.clone() + &rest;
                let counted = encoding.count_start(OwnedText::from_utf8(&start).as_text());
                assert!(counted <= encoding.count(whole.as_bytes()), "{start:?} {rest:?}");
            }
        }
    }

    #[test]
    fn pieces_are_those_of_the_walk() {
        let mut random = Random(88_172_645_463_325_252);
        for encoding in encodings() {
            for _ in 0..60_000 {
                let text = any_text(&mut random);
                let walked = Split(&encoding, text.as_bytes()).run::<Scalar>();
                assert_eq!(dispatch(Split(&encoding, text.as_bytes())), walked, "{text:?}");
                assert_eq!(Split(&encoding, text.as_bytes()).run::<Quarters>(), walked, "{text:?}");
            }
        }
    }
}
