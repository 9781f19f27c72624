//! The tokens of an encoding: a map from their bytes to their ranks.
//!
//! Most tokens are short, and a short token is its own key: its bytes and its length in one integer, compared in one
//! step. Only the few of 16 bytes and more are hashed and compared as bytes. A merge mostly looks up bytes that are no
//! token; a filter that fits the processor's cache answers these. A few bytes of ASCII mostly are a token, so they skip
//! the filter.
//!
//! Other work evicts the vocabulary from the processor's caches, and the misses decide the speed. So a token of up to 7
//! bytes and its rank take eight bytes of one cache line. The bytes are mixed into a number that identifies them; its
//! upper bits are the number of the line, and only the other bits are stored.

use super::characters::Characters;
use crate::simd::prefetch;

/// The rank of bytes that are no token. Ranks are signed because every vector unit compares signed integers.
pub(crate) const NONE: i32 = i32::MAX;

/// The bits of the filter: some ten times the number of tokens in it, 128 kB.
const FILTER_BITS: u32 = 20;

/// The tokens of 8 to 15 bytes, in a table with open addressing: a key of zero is a free place; two thirds are used.
struct Medium {
    keys: Vec<u128>,
    ranks: Vec<i32>,
    shift: u32,
}

impl Medium {
    fn new(size: usize) -> Self {
        let places = (size * 3 / 2).next_power_of_two().max(2);
        Self { keys: vec![0; places], ranks: vec![NONE; places], shift: 64 - places.ilog2() }
    }

    fn insert(&mut self, key: u128, rank: i32) {
        let (mut place, last) = (self.first_place(key), self.keys.len() - 1);
        while self.keys.get(place).is_some_and(|own| *own != 0) {
            place = (place + 1) & last;
        }
        if let (Some(own_key), Some(own_rank)) = (self.keys.get_mut(place), self.ranks.get_mut(place)) {
            (*own_key, *own_rank) = (key, rank);
        }
    }

    #[inline(always)]
    fn first_place(&self, key: u128) -> usize {
        usize::try_from(hash(key) >> self.shift).unwrap_or(0)
    }

    /// Return the place of the key.
    #[inline(always)]
    fn place(&self, key: u128) -> Option<usize> {
        let (mut place, last) = (self.first_place(key), self.keys.len() - 1);
        loop {
            match self.keys.get(place) {
                Some(own) if *own == key => return Some(place),
                Some(own) if *own != 0 => place = (place + 1) & last,
                _ => return None,
            }
        }
    }

    #[inline(always)]
    fn fetch(&self, key: u128) {
        prefetch(&self.keys, self.first_place(key));
    }

    #[inline(always)]
    fn rank(&self, key: u128) -> i32 {
        self.place(key).and_then(|place| self.ranks.get(place)).copied().unwrap_or(NONE)
    }
}

/// The tokens of 16 bytes and more.
struct Long {
    /// The start of a token in `bytes`, its length, and its rank; a length of zero is a free place.
    places: Vec<(u32, u8, i32)>,
    bytes: Vec<u8>,
    longest: usize,
}

impl Long {
    fn new(size: usize) -> Self {
        Self { places: vec![(0, 0, NONE); (size * 2).next_power_of_two().max(2)], bytes: Vec::new(), longest: 0 }
    }

    fn insert(&mut self, token: &[u8], rank: i32) {
        let mut place = self.first_place(token);
        while self.places.get(place).is_some_and(|(_, size, _)| *size > 0) {
            place = (place + 1) & (self.places.len() - 1);
        }
        if let (Some(own), Ok(start), Ok(size)) =
            (self.places.get_mut(place), u32::try_from(self.bytes.len()), u8::try_from(token.len()))
        {
            *own = (start, size, rank);
            self.bytes.extend_from_slice(token);
            self.longest = self.longest.max(token.len());
        }
    }

    fn first_place(&self, token: &[u8]) -> usize {
        usize::try_from(hash_bytes(token) >> 32).unwrap_or(0) & (self.places.len() - 1)
    }

    fn rank(&self, token: &[u8]) -> i32 {
        if token.len() > self.longest {
            return NONE;
        }
        let mut place = self.first_place(token);
        while let Some((start, size, rank)) = self.places.get(place).filter(|(_, size, _)| *size > 0) {
            let own = self.bytes.get(*start as usize..).and_then(|rest| rest.get(..usize::from(*size)));
            if own == Some(token) {
                return *rank;
            }
            place = (place + 1) & (self.places.len() - 1);
        }
        NONE
    }
}

/// The tokens of an encoding.
pub(crate) struct Vocabulary {
    /// The ranks of the tokens of two bytes, with which every merge begins.
    pairs: Vec<i32>,
    short: Short,
    medium: Medium,
    long: Long,
    filter: Vec<u64>,
    pub(crate) characters: Characters,
}

impl Vocabulary {
    /// Read packed tokens: for each, in the order of ranks, a byte of length and its bytes. `None` if the last one is
    /// cut off, one is empty, or a single byte is no token, since some text would then have no tokens.
    pub(crate) fn parse(packed: &[u8]) -> Option<Self> {
        let ([mut all, mut not_short, mut long], mut rest) = ([0; 3], packed);
        while let Some((token, after)) = split_token(rest).filter(|(token, _)| !token.is_empty()) {
            all += 1;
            not_short += usize::from(token.len() >= 8);
            long += usize::from(token.len() >= 16);
            rest = after;
        }
        if !rest.is_empty() {
            return None;
        }
        let mut vocabulary = Self {
            pairs: vec![NONE; 0x1_0000],
            short: Short::of(&[])?,
            medium: Medium::new(not_short - long),
            long: Long::new(long),
            filter: vec![0; 1 << (FILTER_BITS - 6)],
            characters: Characters::new(),
        };
        let (mut short, mut rank, mut rest) = (Vec::with_capacity(all - not_short), 0, packed);
        while let Some((token, after)) = split_token(rest) {
            vocabulary.insert(token, rank, &mut short);
            vocabulary.characters.add(token);
            (rank, rest) = (rank + 1, after);
        }
        vocabulary.short = Short::of(&short)?;
        let has_bytes = (0..=255).all(|byte| vocabulary.rank(&[byte], 0, 1) != NONE);
        has_bytes.then_some(vocabulary)
    }

    fn insert(&mut self, token: &[u8], rank: i32, short: &mut Vec<(u64, i32)>) {
        match token.len() {
            ..8 => {
                if let [first, second] = token
                    && let Some(own) = self.pairs.get_mut(pair_place(*first, *second))
                {
                    *own = rank;
                }
                let key = short_key(token, 0, token.len());
                if !is_ascii(key) {
                    self.let_pass(short_filter_hash(key));
                }
                short.push((key, rank));
            }
            8..16 => {
                let key = medium_key(token, 0, token.len());
                self.let_pass(medium_filter_hash(key));
                self.medium.insert(key, rank);
            }
            _ => self.long.insert(token, rank),
        }
    }

    fn let_pass(&mut self, hash: u64) {
        let bit = hash >> (64 - FILTER_BITS);
        if let Some(word) = usize::try_from(bit / 64).ok().and_then(|index| self.filter.get_mut(index)) {
            *word |= 1 << (bit % 64);
        }
    }

    #[inline(always)]
    fn may_be(&self, hash: u64) -> bool {
        let bit = hash >> (64 - FILTER_BITS);
        let word = usize::try_from(bit / 64).ok().and_then(|index| self.filter.get(index));
        word.is_some_and(|word| word >> (bit % 64) & 1 == 1)
    }

    /// Return the rank of two bytes.
    #[inline(always)]
    pub(crate) fn pair(&self, first: u8, second: u8) -> i32 {
        self.pairs.get(pair_place(first, second)).copied().unwrap_or(NONE)
    }

    /// Return the rank of the bytes from `start` to before `end`, which are seldom a token.
    #[inline(always)]
    pub(crate) fn rank(&self, text: &[u8], start: usize, end: usize) -> i32 {
        match end - start {
            ..8 => {
                let key = short_key(text, start, end - start);
                if is_ascii(key) || self.may_be(short_filter_hash(key)) { self.short.rank(key) } else { NONE }
            }
            8..16 => {
                let key = medium_key(text, start, end - start);
                if self.may_be(medium_filter_hash(key)) { self.medium.rank(key) } else { NONE }
            }
            _ => self.long.rank(text.get(start..end).unwrap_or_default()),
        }
    }

    /// Prefetch the line of these bytes.
    #[inline(always)]
    pub(crate) fn fetch(&self, text: &[u8], start: usize, end: usize) {
        match end - start {
            ..8 => self.short.fetch(short_key(text, start, end - start)),
            _ => self.medium.fetch(medium_key(text, start, end - start)),
        }
    }

    /// Return true if the bytes from `start` to before `end` are a token, as most pieces are.
    #[inline(always)]
    pub(crate) fn is_token(&self, text: &[u8], start: usize, end: usize) -> bool {
        match end - start {
            ..8 => self.short.rank(short_key(text, start, end - start)) != NONE,
            8..16 => self.medium.place(medium_key(text, start, end - start)).is_some(),
            _ => self.long.rank(text.get(start..end).unwrap_or_default()) != NONE,
        }
    }
}

/// Return true if the bytes of a short key are ASCII.
#[inline(always)]
fn is_ascii(key: u64) -> bool {
    key & 0x8080_8080_8080_8080 == 0
}

fn pair_place(first: u8, second: u8) -> usize {
    usize::from(u16::from_le_bytes([first, second]))
}

/// Return the first packed token, and the rest.
fn split_token(packed: &[u8]) -> Option<(&[u8], &[u8])> {
    let (size, rest) = packed.split_first()?;
    rest.split_at_checked(usize::from(*size))
}

/// The bits of a key: 7 bytes, and the bit after them, which gives their number.
const KEY_BITS: u32 = 57;
const KEYS: u64 = (1 << KEY_BITS) - 1;
const RANK_BITS: u32 = 18;
const RANKS: u64 = (1 << RANK_BITS) - 1;

/// The minimum number of bits of a line's number, so that the stored bits leave room for the rank and the distance.
const LEAST_BITS: u32 = KEY_BITS + RANK_BITS + 3 - u64::BITS;

const MIX: u64 = 0x9E37_79B9_7F4A_7C15;

/// No token: the greatest rank.
const FREE: u64 = u64::MAX;

/// The number of tokens in a cache line.
#[repr(align(64))]
#[derive(Clone)]
struct CacheLine([u64; 8]);

/// The tokens by lines. A token that has no place in its own line is in one of the next, with the distance.
pub(crate) struct Short {
    lines: Vec<CacheLine>,
    /// The bits of a mixed key that are stored.
    kept_bits: u32,
}

impl Short {
    /// Make a table of these keys and their ranks, at most two thirds full. `None` if there are too many.
    pub(crate) fn of(tokens: &[(u64, i32)]) -> Option<Self> {
        let first = (tokens.len() * 3 / 16).next_power_of_two().ilog2().max(LEAST_BITS);
        (first..first + 4).find_map(|bits| {
            let lines = vec![CacheLine([FREE; 8]); 1 << bits];
            let mut table = Self { lines, kept_bits: KEY_BITS - bits };
            tokens.iter().all(|(key, rank)| table.insert(*key, *rank)).then_some(table)
        })
    }

    /// Return the line of a key, and the bits that are stored there.
    #[inline(always)]
    fn place(&self, key: u64) -> (usize, u64) {
        let mixed = (key ^ key >> 29).wrapping_mul(MIX) & KEYS;
        (usize::try_from(mixed >> self.kept_bits).unwrap_or(0), mixed & ((1 << self.kept_bits) - 1))
    }

    /// Insert a key; return true if there was a place.
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

    /// Prefetch the line of a key.
    #[inline(always)]
    pub(crate) fn fetch(&self, key: u64) {
        prefetch(&self.lines, self.place(key).0);
    }

    /// Return the rank of a key.
    #[inline(always)]
    pub(crate) fn rank(&self, key: u64) -> i32 {
        let (mut line, mut wanted) = self.place(key);
        loop {
            let Some(CacheLine(places)) = self.lines.get(line) else { return NONE };
            // No branch for each of them: a processor can't predict which one matches.
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

const FIRST: u64 = 0x9E37_79B9_7F4A_7C15;
const SECOND: u64 = 0xC2B2_AE3D_27D4_EB4F;

/// Return the bits of a key of up to 15 bytes: the bytes and, above them, their number.
pub(crate) const SIZE_BITS: u128 = u128::MAX >> 4;

/// Mix a medium key into the number that gives its place; the upper bits are the best.
#[inline(always)]
#[allow(clippy::cast_possible_truncation)] // its halves
pub(crate) fn hash(key: u128) -> u64 {
    let (low, high) = (key as u64, (key >> 64) as u64);
    (low ^ low >> 29).wrapping_mul(FIRST).wrapping_add((high ^ high >> 31).wrapping_mul(SECOND)).wrapping_mul(FIRST)
}

/// A faster and weaker mix, for a cache.
#[inline(always)]
#[allow(clippy::cast_possible_truncation)] // its halves
pub(crate) fn near_hash(key: u128) -> u64 {
    let (low, high) = (key as u64, (key >> 64) as u64);
    let both = low ^ high.wrapping_mul(SECOND);
    (both ^ both >> 32).wrapping_mul(FIRST)
}

/// Return the filter's bit of a short key.
#[inline(always)]
pub(crate) fn short_filter_hash(key: u64) -> u64 {
    (key ^ key >> 31).wrapping_mul(SECOND)
}

/// The same for a medium key.
#[inline(always)]
pub(crate) fn medium_filter_hash(key: u128) -> u64 {
    hash(key).wrapping_mul(SECOND)
}

/// Return the bytes from `start` on, 16 or as many as there are.
#[inline(always)]
fn sixteen(text: &[u8], start: usize) -> u128 {
    let rest = text.get(start..).unwrap_or_default();
    match rest.first_chunk() {
        Some(bytes) => u128::from_le_bytes(*bytes),
        None => rest.iter().rev().fold(0, |word, byte| word << 8 | u128::from(*byte)),
    }
}

/// Return the bytes from `start` on, 8 or as many as there are.
#[inline(always)]
fn eight(text: &[u8], start: usize) -> u64 {
    let rest = text.get(start..).unwrap_or_default();
    match rest.first_chunk() {
        Some(bytes) => u64::from_le_bytes(*bytes),
        None => rest.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)),
    }
}

/// Return the key of up to 7 bytes: the bytes, and a bit after them.
#[inline(always)]
pub(crate) fn short_key(text: &[u8], start: usize, size: usize) -> u64 {
    let end = 1 << (8 * (size & 7));
    eight(text, start) & (end - 1) | end
}

/// Return the key of up to 15 bytes.
#[inline(always)]
pub(crate) fn medium_key(text: &[u8], start: usize, size: usize) -> u128 {
    #[allow(clippy::indexing_slicing)] // at compile time
    const MASKS: [u128; 16] = {
        let (mut masks, mut size) = ([0; 16], 1);
        while size < 16 {
            masks[size] = u128::MAX >> (128 - 8 * size);
            size += 1;
        }
        masks
    };
    sixteen(text, start) & MASKS.get(size & 15).copied().unwrap_or(0) | (size as u128) << 120
}

/// Return the number of bytes of a medium key.
#[inline(always)]
pub(crate) fn size_of_key(key: u128) -> usize {
    usize::try_from(key >> 120 & 15).unwrap_or(0)
}

/// Return the hash of any number of bytes.
pub(crate) fn hash_bytes(bytes: &[u8]) -> u64 {
    let mix = |hash: u64, word: u64| {
        let mixed = (hash ^ word).wrapping_mul(FIRST);
        mixed ^ mixed >> 32
    };
    let (words, rest) = bytes.as_chunks::<8>();
    let hash = words.iter().fold(bytes.len() as u64, |hash, word| mix(hash, u64::from_le_bytes(*word)));
    mix(hash, eight(rest, 0)).wrapping_mul(SECOND)
}
