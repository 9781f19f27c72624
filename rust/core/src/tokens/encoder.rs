//! The tokens of a piece.

use std::ops::RangeInclusive;

use super::cache::{LONGEST, Remembered, WORD};
use super::merge::{Joins, SHORT, character_starts, merge_no_token};
use super::merge::{count_long, merge_long};
use super::vocabulary::Vocabulary;
use super::vocabulary::{medium_key, size_of_key};

/// The sizes in bytes of the parts that a merge looks up most. Parts of two bytes have their own table.
const PARTS: RangeInclusive<usize> = 3..=6;

/// Encodes pieces of a string.
pub(crate) struct Encoder<'a> {
    vocabulary: &'a Vocabulary,
    number: u64,
    pub(crate) remembered: Remembered,
    joins: Joins,
}

impl<'a> Encoder<'a> {
    /// Take the thread's cache of an encoding, and put it back when done.
    pub(crate) fn new(vocabulary: &'a Vocabulary, number: u64) -> Self {
        Self { vocabulary, number, remembered: Remembered::take(number), joins: [0; SHORT] }
    }

    /// Prefetch the vocabulary's line for a word.
    #[inline(always)]
    pub(crate) fn fetch(&self, text: &[u8], end: usize, key: u128) {
        self.vocabulary.fetch(text, end - size_of_key(key), end);
    }

    /// Return the end of the first part of a piece, and the number of its tokens if it is a character, else 0.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation)] // not more than there are bytes
    pub(crate) fn next_part(&self, text: &[u8], start: usize, end: usize) -> (usize, u8) {
        let part_end = self.vocabulary.characters.end_of_part(text, start, end);
        let starts = character_starts(self.vocabulary, text, start, part_end).unwrap_or(0);
        (part_end, starts.count_ones() as u8)
    }

    /// Return true if a word that is not in the cache is a token; cache it as one until it is merged.
    #[inline(always)]
    pub(crate) fn is_token(&mut self, text: &[u8], end: usize, key: u128) -> bool {
        self.remembered.add(key, 1);
        self.vocabulary.is_token(text, end - size_of_key(key), end)
    }

    /// Prefetch the lines of the parts into which a word is likely to be merged; most of the time is spent waiting for
    /// these.
    #[inline(always)]
    pub(crate) fn fetch_parts(&self, text: &[u8], end: usize, key: u128) {
        let start = end - size_of_key(key);
        for size in PARTS {
            for from in start..(end + 1).saturating_sub(size) {
                self.vocabulary.fetch(text, from, from + size);
            }
        }
    }

    /// Count the tokens of a word that is not itself a token.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation)] // not more than there are bytes
    pub(crate) fn count_no_token(&mut self, text: &[u8], end: usize, key: u128) -> u8 {
        let starts = merge_no_token(self.vocabulary, text, end - size_of_key(key), end, &mut self.joins);
        self.remembered.add(key, starts);
        starts.count_ones() as u8
    }

    /// Return the starts of its tokens, one bit for each, and remember them.
    #[inline(always)]
    fn starts(&mut self, text: &[u8], start: usize, key: u128) -> u64 {
        let end = start + size_of_key(key);
        let starts = if self.vocabulary.is_token(text, start, end) {
            1
        } else {
            merge_no_token(self.vocabulary, text, start, end, &mut self.joins)
        };
        self.remembered.add(key, starts);
        starts
    }

    /// Return the number of tokens of a longer piece, from `start` to before `end`; any number above `limit` if there
    /// are more.
    #[inline(never)]
    pub(crate) fn count_longer(&mut self, text: &[u8], start: usize, end: usize, limit: usize) -> usize {
        let Self { vocabulary, remembered, joins, .. } = self;
        let piece = text.get(start..end).unwrap_or_default();
        remembered.count_longer(piece, || {
            if vocabulary.is_token(text, start, end) {
                1
            } else if end - start <= SHORT {
                merge_no_token(vocabulary, text, start, end, joins).count_ones() as usize
            } else {
                count_long(vocabulary, piece, joins, limit.max(LONGEST)) // the cache needs an exact count
            }
        })
    }

    /// Add the ends of the tokens of a piece, at least the first `enough`.
    pub(crate) fn ends(&mut self, text: &[u8], start: usize, end: usize, enough: usize, ends: &mut Vec<usize>) {
        let mut later = if end - start <= WORD {
            let key = medium_key(text, start, end - start);
            self.remembered.starts(key).unwrap_or_else(|| self.starts(text, start, key))
        } else if self.vocabulary.is_token(text, start, end) {
            1
        } else if end - start <= SHORT {
            merge_no_token(self.vocabulary, text, start, end, &mut self.joins)
        } else {
            let piece = text.get(start..end).unwrap_or_default();
            let found = merge_long(self.vocabulary, piece, &mut self.joins, enough);
            ends.extend(found.into_iter().map(|end| start + end));
            return;
        };
        later &= !1;
        while later != 0 {
            ends.push(start + later.trailing_zeros() as usize);
            later &= later - 1;
        }
        ends.push(end);
    }
}

impl Drop for Encoder<'_> {
    fn drop(&mut self) {
        std::mem::take(&mut self.remembered).keep(self.number);
    }
}
