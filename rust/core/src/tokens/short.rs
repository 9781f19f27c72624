//! The tokens of up to 7 bytes, and their ranks: most of what is asked for.
//!
//! What other work leaves of the processor's caches decides on the speed, so a token and its rank take eight bytes in
//! one line of them. A token's bytes are mixed into a number that tells them, and of which the upper bits say in which
//! line it belongs: only the others need be kept.

use super::vocabulary::NONE;

/// Bits of a key: 7 bytes, and the one behind them that tells how many there are.
const KEY_BITS: u32 = 57;
const KEYS: u64 = (1 << KEY_BITS) - 1;
const RANK_BITS: u32 = 18;
const RANKS: u64 = (1 << RANK_BITS) - 1;

/// Bits of a line's number at least, so that what is kept of a key leaves room for its rank and for how far it is away.
const LEAST_BITS: u32 = KEY_BITS + RANK_BITS + 3 - u64::BITS;

const MIX: u64 = 0x9E37_79B9_7F4A_7C15;

/// No token: its rank would be the greatest.
const FREE: u64 = u64::MAX;

/// As many tokens as a line of the cache holds.
#[repr(align(64))]
#[derive(Clone)]
struct Line([u64; 8]);

/// The tokens by lines. One for which its own line has no place is in one of the next, and says how far.
pub(crate) struct Short {
    lines: Vec<Line>,
    /// Bits of a mixed key that are kept.
    kept_bits: u32,
}

impl Short {
    /// A table of these keys and their ranks, at most two thirds full. `None` where there are too many.
    pub(crate) fn of(tokens: &[(u64, i32)]) -> Option<Self> {
        let first = (tokens.len() * 3 / 16).next_power_of_two().ilog2().max(LEAST_BITS);
        (first..first + 4).find_map(|bits| {
            let lines = vec![Line([FREE; 8]); 1 << bits];
            let mut table = Self { lines, kept_bits: KEY_BITS - bits };
            tokens.iter().all(|(key, rank)| table.insert(*key, *rank)).then_some(table)
        })
    }

    /// Where a key belongs, and what is kept of it there.
    #[inline(always)]
    fn place(&self, key: u64) -> (usize, u64) {
        let mixed = (key ^ key >> 29).wrapping_mul(MIX) & KEYS;
        (usize::try_from(mixed >> self.kept_bits).unwrap_or(0), mixed & ((1 << self.kept_bits) - 1))
    }

    /// Whether there was a place.
    fn insert(&mut self, key: u64, rank: i32) -> bool {
        let (line, kept) = self.place(key);
        let Some(rank) = u64::try_from(rank).ok().filter(|rank| *rank < RANKS) else { return false };
        let last = self.lines.len() - 1;
        for distance in 0..1 << (64 - RANK_BITS - self.kept_bits) {
            let places = self.lines.get_mut((line + distance) & last).map(|line| &mut line.0);
            if let Some(own) = places.into_iter().flatten().find(|own| **own == FREE) {
                *own = ((distance as u64) << self.kept_bits | kept) << RANK_BITS | rank;
                return true;
            }
        }
        false
    }

    /// The rank of a key.
    #[inline(always)]
    pub(crate) fn rank(&self, key: u64) -> i32 {
        let (mut line, mut wanted) = self.place(key);
        loop {
            let Some(Line(places)) = self.lines.get(line) else { return NONE };
            // Without a branch for each: which one it is can't be foreseen.
            let found = places.iter().fold(FREE, |found, own| if own >> RANK_BITS == wanted { *own } else { found });
            if found != FREE {
                return i32::try_from(found & RANKS).unwrap_or(NONE);
            }
            if places.last() == Some(&FREE) {
                return NONE;
            }
            line = (line + 1) & (self.lines.len() - 1);
            wanted += 1 << self.kept_bits;
        }
    }
}
