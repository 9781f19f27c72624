//! The tokens of an encoding, and their ranks by their bytes.
//!
//! Most tokens are short, and a short one is its own key: its bytes and its length in one integer, which is compared
//! at once. Only the few of 16 bytes and more are hashed and compared as bytes.
//! Merging asks mostly for what is no token; a filter that fits the processor's cache answers that. Not so for a few bytes
//! of ASCII, which mostly are a token: those are looked up at once.

use super::characters::Characters;
use super::keys::{hash, hash_bytes, medium_filter_hash, medium_key, short_filter_hash, short_key};
use super::short::Short;

/// The rank of what is no token. Ranks are signed because comparing signed integers is what every vector unit can.
pub(crate) const NONE: i32 = i32::MAX;

/// Bits of the filter: some ten times the tokens in it, 128 kB.
const FILTER_BITS: u32 = 20;

/// The tokens of 8 to 15 bytes. Open addressing: a key, where it is zero, is a free place; at most two thirds are taken.
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

    /// Where the key stands.
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
    fn rank(&self, key: u128) -> i32 {
        self.place(key).and_then(|place| self.ranks.get(place)).copied().unwrap_or(NONE)
    }
}

/// The tokens of 16 bytes and more.
struct Long {
    /// Where in `bytes` a token begins, how long it is, its rank; no length is a free place.
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
    /// The ranks of the tokens of two bytes, which every merge begins with.
    pairs: Vec<i32>,
    short: Short,
    medium: Medium,
    long: Long,
    filter: Vec<u64>,
    pub(crate) characters: Characters,
}

impl Vocabulary {
    /// Read packed tokens: a byte of length and the bytes of each, in the order of the ranks. `None` where the last one
    /// is cut off, one is empty, or a byte is no token, without which there would be text that has no tokens.
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

    /// The rank of two bytes.
    #[inline(always)]
    pub(crate) fn pair(&self, first: u8, second: u8) -> i32 {
        self.pairs.get(pair_place(first, second)).copied().unwrap_or(NONE)
    }

    /// The rank of the bytes from `start` to before `end`, which are seldom a token.
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

    /// Whether the bytes from `start` to before `end` are a token, as most pieces are.
    #[inline(always)]
    pub(crate) fn is_token(&self, text: &[u8], start: usize, end: usize) -> bool {
        match end - start {
            ..8 => self.short.rank(short_key(text, start, end - start)) != NONE,
            8..16 => self.medium.place(medium_key(text, start, end - start)).is_some(),
            _ => self.long.rank(text.get(start..end).unwrap_or_default()) != NONE,
        }
    }
}

/// Whether the bytes of a short key are ASCII.
#[inline(always)]
fn is_ascii(key: u64) -> bool {
    key & 0x8080_8080_8080_8080 == 0
}

fn pair_place(first: u8, second: u8) -> usize {
    usize::from(u16::from_le_bytes([first, second]))
}

/// The first packed token, and what comes after it.
fn split_token(packed: &[u8]) -> Option<(&[u8], &[u8])> {
    let (size, rest) = packed.split_first()?;
    rest.split_at_checked(usize::from(*size))
}
