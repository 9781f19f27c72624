//! Merge long pieces in linear time: by short stretches, which are then joined.
//!
//! Tokens are the encoding of their bytes if each two neighbours are the encoding of theirs. So two encoded stretches
//! joined differ from both together only near the seam: what stands there is encoded anew, from one token to each
//! side on, then more and more, until the outermost tokens are what they were; beyond them, the neighbours are unchanged.
//!
//! It also makes rows cheap. Where the same tokens follow one another twice, they may as often as the bytes repeat: no
//! two of them are neighbours that were not neighbours before.

use super::merge::{Joins, SHORT, merge_plainly, merge_short};
use super::vocabulary::Vocabulary;

/// Bytes in a stretch: what is merged fast, and in a row, where there is less to merge.
const STRETCH: usize = 60;
const LONG_STRETCH: usize = 1024;

/// What happens at the end of a part of a piece seldom reaches further back than so many tokens.
const SETTLED: usize = 128;

/// A row repeats at most so many bytes, and is at least so long.
const LONGEST_PERIOD: usize = 32;
const SHORTEST_ROW: usize = 64;

/// A block of a row is at least so long, and less than so many times as much, if tokens don't repeat in shorter ones.
const SHORTEST_BLOCK: usize = 64;
const LONGEST_BLOCK: usize = 1024;

/// So many tokens at the end of a row may be other ones than in its middle.
const UNSETTLED: usize = 32;

/// So many of the last tokens are known where the others are only counted.
const KEPT: usize = 4096;

/// Bytes that repeat.
struct Row {
    start: usize,
    end: usize,
    /// A multiple of the bytes that repeat, such that the tokens may repeat, too: in a row of one kind they double.
    block: usize,
}

impl Row {
    /// The row that begins at `start`, if one does.
    fn at(piece: &[u8], start: usize) -> Option<Self> {
        let rest = piece.get(start..)?;
        let row = rest.get(..SHORTEST_ROW)?;
        let period = (1..=LONGEST_PERIOD).find(|period| {
            let is_near = row.get(*period..).and_then(|later| later.first_chunk()) == row.first_chunk::<8>();
            is_near && row.get(*period..) == row.get(..SHORTEST_ROW - period)
        })?;
        let later = rest.get(period..).unwrap_or_default();
        let stretches = rest.chunks(SHORTEST_ROW).zip(later.chunks(SHORTEST_ROW));
        let mut same = stretches.take_while(|(one, other)| one == other).count() * SHORTEST_ROW;
        let ends = [rest, later].map(|bytes| bytes.get(same..).unwrap_or_default().iter());
        let [one, other] = ends;
        same += one.zip(other).take_while(|(one, other)| one == other).count();
        let block = period * (SHORTEST_BLOCK / period).next_power_of_two();
        Some(Self { start, end: start + same + period, block })
    }

    /// Repeat the tokens of a block for all of the row behind `at` that is whole blocks, or until there are `enough`.
    /// Returns how many bytes those are.
    fn fill(&mut self, at: usize, tokens: &mut Tokens, enough: usize) -> usize {
        let blocks = self.end.saturating_sub(at) / self.block;
        if blocks == 0 || at < self.start + 3 * self.block {
            return 0;
        }
        let found = (0..UNSETTLED).find_map(|unsettled| {
            let after = tokens.ends.len().checked_sub(unsettled)?; // the number of tokens to the end of the two blocks
            Some((after, self.tokens_of_block(tokens.ends.get(..after)?)?))
        });
        let Some((after, size)) = found else {
            if self.block >= LONGEST_BLOCK {
                return 0;
            }
            self.block *= 2;
            return self.fill(at, tokens, enough);
        };
        let copies = blocks.min(enough.saturating_sub(tokens.counted + tokens.ends.len()) / size + 1);
        tokens.repeat((after, size), copies, self.block);
        copies * self.block
    }

    /// How many tokens a block has, if the last ones are those of two blocks of the row.
    fn tokens_of_block(&self, ends: &[usize]) -> Option<usize> {
        let end = *ends.last()?;
        let before = end.checked_sub(2 * self.block).filter(|before| *before > self.start)?;
        let middle = ends.binary_search(&(end - self.block)).ok()?;
        let size = ends.len() - 1 - middle;
        let first = ends.get(middle.checked_sub(size)?..=middle)?;
        let second = ends.get(middle..)?;
        let is_same = first.iter().zip(second).all(|(first, second)| first + self.block == *second);
        (is_same && first.first() == Some(&before)).then_some(size)
    }
}

/// The tokens of a piece so far.
#[derive(Default)]
struct Tokens {
    /// Where they end, but for those that are only counted.
    ends: Vec<usize>,
    /// So many stand before them.
    counted: usize,
    /// Whether tokens may be only counted.
    is_count: bool,
}

impl Tokens {
    /// Repeat so many tokens, a block of bytes, up to this one, so many times; they are the second of two equal blocks.
    fn repeat(&mut self, (after, size): (usize, usize), copies: usize, block: usize) {
        if self.is_count {
            // The first of both blocks and what is behind it move; what is before them is counted.
            self.counted += copies * size + after - 2 * size;
            self.ends.drain(..after - 2 * size);
            for end in &mut self.ends {
                *end += copies * block;
            }
            return;
        }
        let unsettled = self.ends.split_off(after);
        self.ends.reserve(copies * size + unsettled.len());
        for _ in 0..copies {
            let from = self.ends.len() - size;
            for index in from..from + size {
                let end = self.ends.get(index).copied().unwrap_or_default();
                self.ends.push(end + block);
            }
        }
        self.ends.extend(unsettled.into_iter().map(|end| end + copies * block));
    }

    /// Only count the older ones where there are many.
    fn settle(&mut self) {
        if self.is_count && self.ends.len() > 2 * KEPT {
            self.counted += KEPT;
            self.ends.drain(..KEPT);
        }
    }

    /// Add the tokens of what begins at `at` to those of what ends there. `None` where one would have to be known that
    /// was only counted.
    fn join(&mut self, merger: &mut Merger<'_>, at: usize, fresh: &[usize], seam: &mut Vec<usize>) -> Option<()> {
        let (mut before, mut behind) = (1, 1);
        let start = |ends: &[usize], index: usize, first: usize| {
            index.checked_sub(1).and_then(|before| ends.get(before)).copied().unwrap_or(first)
        };
        if at == 0 {
            self.ends.extend_from_slice(fresh);
            return Some(());
        }
        loop {
            let kept = self.ends.len().saturating_sub(before);
            let taken = behind.min(fresh.len());
            if kept == 0 && self.counted > 0 {
                return None;
            }
            let (from, to) = (start(&self.ends, kept, 0), start(fresh, taken, at));
            merger.encode((from, to), seam);
            let is_left_same = kept == 0 || seam.first() == self.ends.get(kept);
            let last_start = start(seam, seam.len() - 1, from);
            let is_right_same = taken == fresh.len() || last_start == start(fresh, taken - 1, at);
            if is_left_same && is_right_same {
                self.ends.truncate(kept);
                self.ends.extend_from_slice(seam);
                self.ends.extend_from_slice(fresh.get(taken..).unwrap_or_default());
                return Some(());
            }
            before += if is_left_same { 0 } else { before.div_ceil(2) };
            behind += if is_right_same { 0 } else { behind.div_ceil(2) };
        }
    }
}

/// Where the tokens of a piece end, counted from its start: the first `enough` of them at least.
pub(crate) fn merge_long(vocabulary: &Vocabulary, piece: &[u8], joins: &mut Joins, enough: usize) -> Vec<usize> {
    let mut merger = Merger { vocabulary, piece, joins };
    merger.merge(Tokens::default(), enough.saturating_add(SETTLED)).unwrap_or_default().ends
}

/// How many tokens a piece has, or any number above `limit` where there are more.
pub(crate) fn count_long(vocabulary: &Vocabulary, piece: &[u8], joins: &mut Joins, limit: usize) -> usize {
    let mut merger = Merger { vocabulary, piece, joins };
    let counted = merger.merge(Tokens { is_count: true, ..Tokens::default() }, limit.saturating_add(SETTLED));
    let counted = counted.map(|tokens| tokens.counted + tokens.ends.len());
    counted.unwrap_or_else(|| merge_long(vocabulary, piece, joins, limit.saturating_add(1)).len())
}

/// What merges the parts of a piece.
struct Merger<'a> {
    vocabulary: &'a Vocabulary,
    piece: &'a [u8],
    joins: &'a mut Joins,
}

impl Merger<'_> {
    fn merge(&mut self, mut tokens: Tokens, enough: usize) -> Option<Tokens> {
        let (mut fresh, mut seam) = (Vec::new(), Vec::new());
        let (mut at, mut row) = (0, None::<Row>);
        while at < self.piece.len() && tokens.counted + tokens.ends.len() < enough {
            if row.as_ref().is_none_or(|row| at >= row.end) {
                row = Row::at(self.piece, at);
            }
            let size = row.as_ref().map_or(STRETCH, |row| LONG_STRETCH.min(row.end - at));
            let next = self.piece.len().min(at + size);
            self.encode((at, next), &mut fresh);
            tokens.join(self, at, &fresh, &mut seam)?;
            tokens.settle();
            at = next + row.as_mut().map_or(0, |row| row.fill(next, &mut tokens, enough));
        }
        Some(tokens)
    }

    /// Where the tokens end of a part of the piece by itself.
    fn encode(&mut self, (from, to): (usize, usize), ends: &mut Vec<usize>) {
        ends.clear();
        if to - from <= SHORT {
            let mut later = merge_short(self.vocabulary, self.piece, from, to, self.joins) & !1;
            while later != 0 {
                ends.push(from + later.trailing_zeros() as usize);
                later &= later - 1;
            }
            ends.push(to);
        } else {
            let bytes = self.piece.get(from..to).unwrap_or_default();
            ends.extend(merge_plainly(self.vocabulary, bytes).into_iter().map(|end| from + end));
        }
    }
}
