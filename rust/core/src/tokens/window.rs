//! Where the pieces of a text begin, found for 64 bytes at once.
//!
//! Which rule of the grammar takes a piece can't be foreseen, and a processor that goes the wrong way loses as much time
//! as the piece takes. So the rules of [`super::split`] stand here once more as masks, without a branch, for ASCII. What
//! they can't decide by what is in the window is left to the walk: a contraction, a character that is not ASCII, and the
//! last piece, which may go on.

use std::ops::ControlFlow;

use super::split::{Grammar, Splitter};
use crate::simd::{BLOCK, Lanes, block_at};

impl Splitter<'_> {
    /// Visit where the pieces start and end, from a place on where one starts, until the visitor breaks off.
    #[inline(always)]
    pub(super) fn pieces<L: Lanes, B>(
        self,
        grammar: Grammar,
        from: usize,
        mut visit: impl FnMut(usize, usize) -> ControlFlow<B>,
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
                    visit(start, end)?;
                    start = end;
                }
            }
            if start == window {
                let end = match grammar {
                    Grammar::O200k => self.o200k(start),
                    Grammar::Cl100k => self.cl100k(start),
                };
                visit(start, end)?;
                start = end;
            }
        }
        ControlFlow::Continue(())
    }
}

/// Where pieces begin in a block that begins with one, of which so many bytes are text: as far as that is certain, and
/// without the first.
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

    // One character that is no newline goes with the word behind it, unless it belongs to others. A word begins anew
    // with upper case behind lower case.
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

    // All others that stand together, with the blank before them and the newlines behind them.
    let taken = newlines & !newlines.wrapping_add(newlines & others << 1);
    starts |= other_starts & !(blanks << 1);

    // Other white space to its last newline; then what follows but for the last one, which goes with the word, or by itself.
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

    // An apostrophe may be of a contraction, and newlines behind others may have slashes behind them.
    let may_contract = apostrophes & !((known & !letters) >> 1);
    let contractions = if grammar == Grammar::O200k { may_contract & letters << 1 } else { may_contract };
    starts & known & before_first(contractions | taken << 1 & slashes) & !1
}

/// The bits below the lowest one of a mask.
#[inline(always)]
fn before_first(mask: u64) -> u64 {
    (mask & mask.wrapping_neg()).wrapping_sub(1)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // it fails by panicking

    use std::ops::ControlFlow;

    use crate::simd::{Lanes, Scalar, Work, dispatch};
    use crate::tokens::random::Random;
    use crate::tokens::{Encoding, EncodingName};

    struct Split<'a>(&'a Encoding, &'a [u8]);

    impl Work for Split<'_> {
        type Done = Vec<usize>;

        fn run<L: Lanes>(self) -> Vec<usize> {
            let mut ends = Vec::new();
            let _: ControlFlow<()> = self.0.split::<L, _>(self.1, 0, |_, end| {
                ends.push(end);
                ControlFlow::Continue(())
            });
            ends
        }
    }

    /// What rules begin, end and break off at, between bars.
    const PARTS: &str = "a|b|word|Word|WORD|x|Z|s|ll|ve|t| | | |  |    |\t|\n|\n|\r\n|\n\n|\x0B|\x0C|0|12|345|6789|.|,|(|/|//|==|_\
        |'|'|\"|\0|\u{e9}|\u{4e2d}\u{301}";

    #[test]
    fn pieces_are_those_of_the_walk() {
        let parts: Vec<_> = PARTS.split('|').collect();
        let mut random = Random(88_172_645_463_325_252);
        for name in ["o200k_base", "cl100k_base"] {
            let path = format!("{}/../../python/toolcarry/_data/vocabularies/{name}.bpe", env!("CARGO_MANIFEST_DIR"));
            let name = EncodingName::parse(name).unwrap();
            let encoding = Encoding::parse(name, &std::fs::read(path).unwrap()).unwrap();
            for _ in 0..60_000 {
                let kinds = 1 + random.below(parts.len());
                let first = random.below(parts.len());
                let mut own = parts.clone();
                own.rotate_left(first);
                own.truncate(kinds);
                let text: String = (0..random.below(90)).map(|_| random.pick(&own)).collect();
                let walked = Split(&encoding, text.as_bytes()).run::<Scalar>();
                assert_eq!(dispatch(Split(&encoding, text.as_bytes())), walked, "{text:?}");
            }
        }
    }
}
