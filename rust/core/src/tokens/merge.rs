//! Byte pair merging: join the two neighbours whose union has the lowest rank, the leftmost among equals, until no
//! union has a rank.
//!
//! A long piece is merged in linear time, in short stretches that are then joined. A sequence of tokens is the encoding
//! of its bytes if every two neighbours are the encoding of theirs. So the encoding of two joined stretches differs
//! from the two encodings only near the seam. The bytes around the seam are encoded again, first one token on each
//! side, then more, until the outermost tokens are the old ones; beyond them, the neighbours are unchanged.
//!
//! The same property makes repetitions cheap. If the same tokens occur twice in a row, they may occur as often as their
//! bytes repeat, since no new pair of neighbours arises.

use super::characters::Character;
use super::vocabulary::{NONE, Vocabulary};
use crate::simd::{Lanes, Work, dispatch};

/// The maximum number of bytes that are merged with one integer and one small array for all state.
pub(crate) const SHORT: usize = 64;

/// For each byte that begins a part, the rank of that part joined with the next one, above the byte's own place:
/// the minimum says both what to join and where. Other bytes have [`NONE`].
pub(crate) type Joins = [i32; SHORT];

/// Return the starts of the tokens of the bytes from `start` to before `end`, 1 to [`SHORT`] of them, one bit for each.
pub(crate) fn merge_short(vocabulary: &Vocabulary, text: &[u8], start: usize, end: usize, joins: &mut Joins) -> u64 {
    let piece = Piece { vocabulary, text, start, size: end - start, largest: usize::MAX };
    dispatch(Merge { piece, joins })
}

/// The same for bytes that are known not to be one token.
pub(crate) fn merge_no_token(vocabulary: &Vocabulary, text: &[u8], start: usize, end: usize, joins: &mut Joins) -> u64 {
    let piece = Piece { vocabulary, text, start, size: end - start, largest: end - start - 1 };
    dispatch(Merge { piece, joins })
}

/// Bytes of a string to merge.
struct Piece<'a> {
    vocabulary: &'a Vocabulary,
    text: &'a [u8],
    start: usize,
    size: usize,
    /// The largest token to look for, in bytes.
    largest: usize,
}

impl<'a> Piece<'a> {
    #[inline(always)]
    fn bytes(&self) -> &'a [u8] {
        self.text.get(self.start..self.start + self.size).unwrap_or_default()
    }

    /// Return the rank of some of the bytes, above the place where they begin.
    #[inline(always)]
    fn join(&self, from: usize, to: usize) -> i32 {
        if to - from > self.largest {
            return NONE;
        }
        join_of(self.vocabulary.rank(self.text, self.start + from, self.start + to), from)
    }
}

/// Return the minimum, which is needed for every join; the widest available vectors compute it.
struct Merge<'a> {
    piece: Piece<'a>,
    joins: &'a mut Joins,
}

impl Work for Merge<'_> {
    type Done = u64;

    #[inline(always)]
    fn run<L: Lanes>(self) -> u64 {
        let Self { piece, joins } = self;
        // Whole vectors are compared, so lanes beyond the bytes must not count.
        let Some(joins) = joins.get_mut(..piece.size.next_multiple_of(8)) else { return 1 };
        joins.fill(NONE);
        let starts = if piece.bytes().is_ascii() { of_bytes(&piece, joins) } else { of_characters(&piece, joins) };
        join_parts(&piece, starts, joins)
    }
}

/// Make every byte a part: note the rank of each one joined with the next, and return the starts.
#[inline(always)]
fn of_bytes(piece: &Piece<'_>, joins: &mut [i32]) -> u64 {
    for (at, (join, pair)) in joins.iter_mut().zip(piece.bytes().windows(2)).enumerate() {
        *join = join_of(pair_rank(piece.vocabulary, pair), at);
    }
    all_starts(piece.size)
}

/// The same, with the characters merged first that can be. A byte that is no token joins nothing.
#[inline(always)]
fn of_characters(piece: &Piece<'_>, joins: &mut [i32]) -> u64 {
    let (bytes, characters) = (piece.bytes(), &piece.vocabulary.characters);
    let (mut starts, mut closed) = (0, 0);
    let (mut at, mut is_seam) = (0, false);
    while at < bytes.len() {
        let character = bytes.get(at..).and_then(Character::first);
        let end = at + character.map_or(1, |own| own.size);
        let was_seam = std::mem::replace(&mut is_seam, characters.is_seam(bytes, end));
        let every = all_starts(end - at);
        let parts = match character {
            Some(own) if !was_seam && !is_seam => {
                characters.parts(own, || by_itself(piece.vocabulary, bytes, at, end)).unwrap_or(every)
            }
            _ => every,
        };
        starts |= parts << at;
        closed |= if parts == 1 || parts == every { 0 } else { parts << at };
        at = end;
    }
    let (mut first, mut later) = (0, starts & !1);
    while later != 0 {
        let second = later.trailing_zeros() as usize;
        later &= later - 1;
        let end = if later == 0 { bytes.len() } else { later.trailing_zeros() as usize };
        if (closed >> first | closed >> second) & 1 == 0
            && let Some(join) = joins.get_mut(first)
        {
            *join = piece.join(first, end);
        }
        first = second;
    }
    starts
}

/// Return the starts of the tokens of these bytes if they are a character, most of which have been merged before.
#[inline(always)]
pub(crate) fn character_starts(vocabulary: &Vocabulary, text: &[u8], start: usize, end: usize) -> Option<u64> {
    let own = Character::first(text.get(start..end)?).filter(|own| own.size == end - start)?;
    vocabulary.characters.parts(own, || by_itself(vocabulary, text, start, end))
}

/// Return the starts of the parts into which a character by itself is merged.
#[cold]
fn by_itself(vocabulary: &Vocabulary, text: &[u8], start: usize, end: usize) -> u64 {
    let piece = Piece { vocabulary, text, start, size: end - start, largest: usize::MAX };
    let mut joins = [NONE; 8];
    let starts = of_bytes(&piece, &mut joins);
    join_parts(&piece, starts, &mut joins)
}

/// Return a mask with one bit for each byte.
#[inline(always)]
fn all_starts(size: usize) -> u64 {
    u64::MAX >> (SHORT - size)
}

/// Return the rank of a part joined with the next one, above its place.
#[inline(always)]
fn join_of(rank: i32, at: usize) -> i32 {
    if rank == NONE { NONE } else { rank << 6 | i32::try_from(at).unwrap_or(0) }
}

/// Join parts until no two can be joined, and return the starts.
#[inline(always)]
fn join_parts(piece: &Piece<'_>, mut starts: u64, joins: &mut [i32]) -> u64 {
    let size = piece.size;
    loop {
        let best = least(joins);
        if best == NONE {
            return starts;
        }
        let at = usize::try_from(best & 63).unwrap_or(0);
        let next_after = |at: usize| {
            let later = starts & (u64::MAX << at << 1);
            if later == 0 { size } else { later.trailing_zeros() as usize }
        };
        let joined = next_after(at);
        let after = next_after(joined);
        let before = starts & ((1 << at) - 1);
        let mut set = |at: usize, join: i32| {
            if let Some(own) = joins.get_mut(at) {
                *own = join;
            }
        };
        set(joined, NONE);
        set(at, if after < size { piece.join(at, next_after(after)) } else { NONE });
        if before != 0 {
            let earlier = 63 - before.leading_zeros() as usize;
            set(earlier, piece.join(earlier, after));
        }
        starts &= !(1 << joined);
    }
}

#[inline(always)]
fn pair_rank(vocabulary: &Vocabulary, pair: &[u8]) -> i32 {
    if let [first, second] = pair { vocabulary.pair(*first, *second) } else { NONE }
}

/// Return the least of some joins, whose number is a multiple of 8.
#[inline(always)]
fn least(joins: &[i32]) -> i32 {
    let (chunks, _) = joins.as_chunks::<8>();
    let mut lanes = [NONE; 8];
    for chunk in chunks {
        for (lane, join) in lanes.iter_mut().zip(chunk) {
            *lane = (*lane).min(*join);
        }
    }
    lanes.into_iter().min().unwrap_or(NONE)
}

/// Return the ends of the tokens of any bytes, counted from their start. All joins of one rank are made in one pass, so
/// a repetition takes few passes. With many ranks the time is quadratic, so this is for bytes that are too many for
/// [`merge_short`] and too few for the merging of long pieces.
pub(crate) fn merge_plainly(vocabulary: &Vocabulary, bytes: &[u8]) -> Vec<usize> {
    // The end of each part, and the rank of the part joined with the next one.
    let pairs = bytes.windows(2).map(|pair| pair_rank(vocabulary, pair)).chain([NONE]);
    let mut parts: Vec<(usize, i32)> = (1..).zip(pairs).collect();
    let mut joined = Vec::with_capacity(parts.len());
    while let Some(best) = parts.iter().map(|(_, rank)| *rank).min().filter(|best| *best != NONE) {
        join_all(vocabulary, bytes, &parts, best, &mut joined);
        std::mem::swap(&mut parts, &mut joined);
    }
    parts.into_iter().map(|(end, _)| end).collect()
}

/// Make all joins of a rank from left to right, or until one makes a part whose own join comes first.
fn join_all(vocabulary: &Vocabulary, bytes: &[u8], parts: &[(usize, i32)], best: i32, joined: &mut Vec<(usize, i32)>) {
    joined.clear();
    let (mut rest, mut before, mut start) = (parts, 0, 0); // the last part of `joined` is from `before` to `start`
    while let [(end, rank), after @ ..] = rest {
        rest = after;
        let (mut part, mut is_outranked) = ((*end, *rank), false);
        if *rank == best
            && let [(end, _), after @ ..] = after
        {
            rest = after;
            part = (*end, after.first().map_or(NONE, |(next, _)| vocabulary.rank(bytes, start, *next)));
            if let Some((_, rank)) = joined.last_mut() {
                *rank = vocabulary.rank(bytes, before, *end);
                is_outranked = *rank < best;
            }
            is_outranked |= part.1 < best;
        }
        joined.push(part);
        (before, start) = (start, part.0);
        if is_outranked {
            joined.extend_from_slice(rest);
            return;
        }
    }
}

/// The bytes of a stretch, short enough to merge fast; and of a stretch in a repetition, where fewer are merged.
const STRETCH: usize = 60;
const LONG_STRETCH: usize = 1024;

/// The number of tokens before the end of a part that its end seldom changes.
const SETTLED: usize = 128;

/// The longest unit of a repetition, in bytes, and the least length of a repetition.
const LONGEST_PERIOD: usize = 32;
const SHORTEST_ROW: usize = 64;

/// The least size of a block of a repetition, and the size at which it is no longer doubled if its tokens don't repeat.
const SHORTEST_BLOCK: usize = 64;
const LONGEST_BLOCK: usize = 1024;

/// The number of tokens at the end of a repetition that may differ from those in its middle.
const UNSETTLED: usize = 32;

/// The number of last tokens that are known if the others are only counted.
const KEPT: usize = 4096;

/// A repetition of bytes.
struct Row {
    start: usize,
    end: usize,
    /// A multiple of the repeated bytes after which the tokens may repeat, too; the tokens of one repeated byte double.
    block: usize,
}

impl Row {
    /// Return the repetition that begins at `start`, if one does.
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

    /// Repeat the tokens of a block for all whole blocks of the repetition after `at`, or until there are `enough`.
    /// Return the number of bytes of these blocks.
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

    /// Return the number of tokens of a block, if the last tokens are those of two blocks of the repetition.
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

/// The tokens of a piece up to now.
#[derive(Default)]
struct Tokens {
    /// The ends of the tokens, without those that are only counted.
    ends: Vec<usize>,
    /// The number of tokens that are only counted, before the others.
    counted: usize,
    /// True if tokens may be only counted.
    is_count: bool,
}

impl Tokens {
    /// Repeat the last tokens of a block of bytes, which are the second of two equal blocks, a number of times.
    fn repeat(&mut self, (after, size): (usize, usize), copies: usize, block: usize) {
        if self.is_count {
            // The first of both blocks and everything after it move; everything before is counted.
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

    /// Reduce the older tokens to their count, if there are many.
    fn settle(&mut self) {
        if self.is_count && self.ends.len() > 2 * KEPT {
            self.counted += KEPT;
            self.ends.drain(..KEPT);
        }
    }

    /// Add the tokens of a part that begins at `at` to those that end there. `None` if this needs a token that is only
    /// counted.
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

/// Return the ends of the tokens of a piece, counted from its start: at least the first `enough`.
pub(crate) fn merge_long(vocabulary: &Vocabulary, piece: &[u8], joins: &mut Joins, enough: usize) -> Vec<usize> {
    let mut merger = Merger { vocabulary, piece, joins };
    merger.merge(Tokens::default(), enough.saturating_add(SETTLED)).unwrap_or_default().ends
}

/// Return the number of tokens of a piece, or any number above `limit` if there are more.
pub(crate) fn count_long(vocabulary: &Vocabulary, piece: &[u8], joins: &mut Joins, limit: usize) -> usize {
    let mut merger = Merger { vocabulary, piece, joins };
    let counted = merger.merge(Tokens { is_count: true, ..Tokens::default() }, limit.saturating_add(SETTLED));
    let counted = counted.map(|tokens| tokens.counted + tokens.ends.len());
    counted.unwrap_or_else(|| merge_long(vocabulary, piece, joins, limit.saturating_add(1)).len())
}

/// A merge of the parts of a piece.
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

    /// Return the ends of the tokens of a part of the piece by itself.
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // it fails by panicking

    use super::{SHORT, Vocabulary, merge_plainly, merge_short};
    use crate::tokens::random::Random;

    fn ends(starts: u64, size: usize) -> Vec<usize> {
        (1..size).filter(|at| starts >> at & 1 == 1).chain([size]).collect()
    }

    /// Bytes that are not UTF-8 included: a stretch of a long piece may begin and end within characters.
    #[test]
    fn characters_are_merged_as_their_bytes_are() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../python/toolcarry/_data/vocabularies/cl100k_base.bpe");
        let vocabulary = Vocabulary::parse(&std::fs::read(path).unwrap()).unwrap();
        let mut random = Random(88_172_645_463_325_252);
        let mut joins = [0; SHORT];
        for _ in 0..20_000 {
            let mut bytes = Vec::new();
            while bytes.len() < SHORT {
                let code_point = match random.below(6) {
                    0 => random.below(0x80),
                    1 => 0x80 + random.below(0x780),
                    2 => 0x1_F300 + random.below(0x400),
                    3 => 0x3000 + random.below(0x100),
                    _ => 0x4E00 + random.below(0x600),
                };
                let character = char::from_u32(u32::try_from(code_point).unwrap()).unwrap();
                bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                if random.below(8) == 0 {
                    bytes.push(u8::try_from(random.below(256)).unwrap());
                }
            }
            let start = random.below(8);
            let end = start + 1 + random.below(SHORT - 8);
            let starts = merge_short(&vocabulary, &bytes, start, end, &mut joins);
            let bytes = bytes.get(start..end).unwrap();
            assert_eq!(ends(starts, bytes.len()), merge_plainly(&vocabulary, bytes), "{bytes:X?}");
        }
    }
}
