//! A cache per thread of pieces that were encoded before, with their tokens: the words of most text recur.
//!
//! The tables have a fixed size, and a new piece replaces an old one. In these tables recent pieces are near each
//! other; in the vocabulary each piece is in another cache line, which other work evicts.

use std::cell::RefCell;

use super::vocabulary::{SIZE_BITS, hash_bytes, near_hash};
use crate::simd::prefetch;

/// The longest piece that is a word: one that has a key.
pub(crate) const WORD: usize = 15;

/// Words remembered: 288 kB.
const WORD_BITS: u32 = 14;

/// The token count of a word, in the upper bits of its key, which no size reaches.
const COUNT_SHIFT: u32 = 124;

/// The number of longer pieces that are remembered: 32 kB.
const LONGER_BITS: u32 = 8;

/// The size in bytes of the longest of them.
pub(crate) const LONGEST: usize = 126;

/// The number of encodings whose pieces a thread remembers.
const ENCODINGS: usize = 2;

/// The cache of one encoding.
#[derive(Default)]
pub(crate) struct Remembered {
    /// Words as keys, with the number of their tokens.
    keys: Vec<u128>,
    /// The starts of the tokens of each word, one bit for each.
    starts: Vec<u16>,
    longer: Vec<Longer>,
}

/// A piece with more bytes than a word.
#[repr(align(128))]
#[derive(Clone)]
struct Longer {
    bytes: [u8; LONGEST],
    size: u8,
    count: u8,
}

thread_local! {
    /// By the numbers of the encodings; the one used last is at the end.
    static OF_THREAD: RefCell<Vec<(u64, Remembered)>> = const { RefCell::new(Vec::new()) };
}

impl Remembered {
    fn with_room() -> Self {
        let nothing = Longer { bytes: [0; LONGEST], size: 0, count: 0 };
        Self { keys: vec![0; 1 << WORD_BITS], starts: vec![0; 1 << WORD_BITS], longer: vec![nothing; 1 << LONGER_BITS] }
    }

    /// Take the cache of this thread for an encoding.
    pub(crate) fn take(number: u64) -> Self {
        let known = OF_THREAD.try_with(|all| {
            let mut all = all.try_borrow_mut().ok()?;
            let place = all.iter().rposition(|(own, _)| *own == number)?;
            Some(all.remove(place).1)
        });
        known.ok().flatten().unwrap_or_else(Self::with_room)
    }

    /// Put the cache back for the next call.
    pub(crate) fn keep(self, number: u64) {
        // A thread that is ending has no cache any more.
        let _ = OF_THREAD.try_with(|all| {
            if let Ok(mut all) = all.try_borrow_mut() {
                if all.len() >= ENCODINGS {
                    all.remove(0);
                }
                all.push((number, self));
            }
        });
    }

    /// Prefetch the word of a key.
    #[inline(always)]
    pub(crate) fn fetch(&self, key: u128) {
        prefetch(&self.keys, place_of(key));
    }

    /// Return the number of tokens of the word of a key; 0 if it is not in the cache.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation)] // four bits
    pub(crate) fn count(&self, key: u128) -> u8 {
        let own = self.keys.get(place_of(key)).copied().unwrap_or(0);
        // No branch: a processor can't predict if a word is new.
        u8::from(own & SIZE_BITS == key).wrapping_neg() & (own >> COUNT_SHIFT) as u8
    }

    /// Return the starts of its tokens, one bit for each.
    pub(crate) fn starts(&self, key: u128) -> Option<u64> {
        let starts = self.starts.get(place_of(key)).filter(|_| self.count(key) > 0)?;
        Some(u64::from(*starts))
    }

    /// Remember the starts of the tokens of a word.
    #[inline(always)]
    pub(crate) fn add(&mut self, key: u128, starts: u64) {
        let place = place_of(key);
        if let (Some(own), Some(own_starts)) = (self.keys.get_mut(place), self.starts.get_mut(place)) {
            *own = key | u128::from(starts.count_ones()) << COUNT_SHIFT;
            *own_starts = u16::try_from(starts).unwrap_or(1);
        }
    }

    /// Return the number of tokens of a longer piece, from the cache, or counted and put there.
    #[inline(always)]
    pub(crate) fn count_longer(&mut self, piece: &[u8], find: impl FnOnce() -> usize) -> usize {
        let place = usize::try_from(hash_bytes(piece) >> (64 - LONGER_BITS)).unwrap_or(0);
        let Some(own) = self.longer.get_mut(place).filter(|_| piece.len() <= LONGEST) else { return find() };
        if own.bytes.get(..usize::from(own.size)) == Some(piece) {
            return usize::from(own.count);
        }
        let count = find();
        if let (Some(bytes), Ok(size), Ok(count)) =
            (own.bytes.get_mut(..piece.len()), u8::try_from(piece.len()), u8::try_from(count))
        {
            bytes.copy_from_slice(piece);
            (own.size, own.count) = (size, count);
        }
        count
    }
}

/// Return the place of a word in the cache.
#[inline(always)]
fn place_of(key: u128) -> usize {
    usize::try_from(near_hash(key) >> (64 - WORD_BITS)).unwrap_or(0)
}
