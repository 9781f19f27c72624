//! Byte pair merging: join the two neighbours whose union has the lowest rank, the leftmost of equals, until none has one.

use super::vocabulary::{NONE, Vocabulary};

/// So many bytes at most are merged with all that is known of them in one integer and one small array.
pub(crate) const SHORT: usize = 64;

/// For each byte that begins a part, the rank of that part joined with the next one, above the byte's own place:
/// the least of them all is both what to join and where. Other bytes have [`NONE`].
pub(crate) type Joins = [i32; SHORT];

/// Where the tokens begin of the bytes from `start` to before `end`, of which there are 1 to [`SHORT`]: a bit each.
pub(crate) fn merge_short(vocabulary: &Vocabulary, text: &[u8], start: usize, end: usize, joins: &mut Joins) -> u64 {
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

/// Where the tokens end of any bytes, counted from their start. The time grows with the square of their number, so
/// this is for the few that are too many for [`merge_short`] and yet no long piece.
pub(crate) fn merge_plainly(vocabulary: &Vocabulary, bytes: &[u8]) -> Vec<usize> {
    let mut ends: Vec<usize> = (1..=bytes.len()).collect();
    let mut ranks: Vec<i32> = bytes.windows(2).map(|pair| pair_rank(vocabulary, pair)).collect();
    while let Some(best) = ranks.iter().copied().min().filter(|best| *best != NONE) {
        let at = ranks.iter().position(|rank| *rank == best).unwrap_or(0);
        ends.remove(at);
        ranks.remove(at);
        let end_of = |index: usize| ends.get(index).copied();
        let start_of = |index: usize| index.checked_sub(1).map_or(Some(0), end_of).unwrap_or(0);
        for left in [Some(at), at.checked_sub(1)].into_iter().flatten() {
            if let (Some(rank), Some(end)) = (ranks.get_mut(left), end_of(left + 1)) {
                *rank = vocabulary.rank(bytes, start_of(left), end);
            }
        }
    }
    ends
}
