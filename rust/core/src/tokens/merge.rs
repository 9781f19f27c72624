//! Byte pair merging: join the two neighbours whose union has the lowest rank, the leftmost of equals, until none has one.

use super::vocabulary::{NONE, Vocabulary};
use crate::lanes::{Lanes, Work, dispatch};

/// So many bytes at most are merged with all that is known of them in one integer and one small array.
pub(crate) const SHORT: usize = 64;

/// For each byte that begins a part, the rank of that part joined with the next one, above the byte's own place:
/// the least of them all is both what to join and where. Other bytes have [`NONE`].
pub(crate) type Joins = [i32; SHORT];

/// Where the tokens begin of the bytes from `start` to before `end`, of which there are 1 to [`SHORT`]: a bit each.
pub(crate) fn merge_short(vocabulary: &Vocabulary, text: &[u8], start: usize, end: usize, joins: &mut Joins) -> u64 {
    dispatch(Merge { vocabulary, text, start, end, joins })
}

/// The least of the joins is sought for each that is made: work for the widest vectors that there are.
struct Merge<'a> {
    vocabulary: &'a Vocabulary,
    text: &'a [u8],
    start: usize,
    end: usize,
    joins: &'a mut Joins,
}

impl Work for Merge<'_> {
    type Done = u64;

    #[inline(always)]
    fn run<L: Lanes>(self) -> u64 {
        merge(self.vocabulary, self.text, self.start, self.end, self.joins)
    }
}

#[inline(always)]
fn merge(vocabulary: &Vocabulary, text: &[u8], start: usize, end: usize, joins: &mut Joins) -> u64 {
    let bytes = text.get(start..end).unwrap_or_default();
    let size = bytes.len();
    let ranked = |rank: i32, at: usize| if rank == NONE { NONE } else { rank << 6 | i32::try_from(at).unwrap_or(0) };
    // Whole vectors are compared; what lies beyond the bytes must not count.
    let Some(joins) = joins.get_mut(..size.next_multiple_of(8)) else { return 1 };
    for (at, (join, pair)) in joins.iter_mut().zip(bytes.windows(2)).enumerate() {
        *join = ranked(pair_rank(vocabulary, pair), at);
    }
    joins.get_mut(size - 1..).unwrap_or_default().fill(NONE);
    let mut starts = u64::MAX >> (SHORT - size);
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
        let mut set = |at: usize, rank: i32| {
            if let Some(join) = joins.get_mut(at) {
                *join = rank;
            }
        };
        set(joined, NONE);
        let rank = if after < size {
            let end = next_after(after);
            ranked(vocabulary.rank(text, start + at, start + end), at)
        } else {
            NONE
        };
        set(at, rank);
        if before != 0 {
            let earlier = 63 - before.leading_zeros() as usize;
            set(earlier, ranked(vocabulary.rank(text, start + earlier, start + after), earlier));
        }
        starts &= !(1 << joined);
    }
}

#[inline(always)]
fn pair_rank(vocabulary: &Vocabulary, pair: &[u8]) -> i32 {
    if let [first, second] = pair { vocabulary.pair(*first, *second) } else { NONE }
}

/// The least of some joins, whose number is a multiple of 8.
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

/// Where the tokens end of any bytes, counted from their start. All joins of one rank are made in one walk, so that a row
/// takes few walks; the time grows with the square of the number of bytes where the ranks are many, so this is for the
/// few bytes that are too many for [`merge_short`] and yet no long piece.
pub(crate) fn merge_plainly(vocabulary: &Vocabulary, bytes: &[u8]) -> Vec<usize> {
    // Where each part ends, and the rank of it joined with the next one.
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
