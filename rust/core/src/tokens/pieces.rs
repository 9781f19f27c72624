//! The tokens of a piece.
//!
//! Pieces of up to 15 bytes are remembered, for the words of a text recur: in a table of fixed size for each thread,
//! where a new one takes the place of an old one. It has them side by side, whereas in the vocabulary each of them is
//! in another line of the processor's caches, and other work drives those out.

use std::cell::RefCell;

use super::keys::{SIZE_BITS, medium_key, near_hash};
use super::long::{count_long, merge_long};
use super::merge::{Joins, SHORT, merge_no_token};
use super::vocabulary::Vocabulary;

/// Pieces remembered: 288 kB.
const REMEMBERED_BITS: u32 = 14;

/// The longest piece that is remembered, in bytes.
const WORD: usize = 15;

/// In the upper bits of a remembered key, where no size is so large: how many tokens the piece has.
const COUNT_SHIFT: u32 = 124;

/// Encodings that a thread remembers pieces of.
const ENCODINGS: usize = 2;

/// Room for merging, and what is remembered.
struct Room {
    joins: Box<Joins>,
    /// Pieces as keys, with the number of their tokens.
    keys: Vec<u128>,
    /// Where the tokens begin: a bit each.
    starts: Vec<u16>,
}

impl Room {
    fn new() -> Self {
        let size = 1 << REMEMBERED_BITS;
        Self { joins: Box::new([0; SHORT]), keys: vec![0; size], starts: vec![0; size] }
    }
}

thread_local! {
    /// The rooms by the encodings' numbers, the one used last at the end.
    static ROOMS: RefCell<Vec<(u64, Room)>> = const { RefCell::new(Vec::new()) };
}

/// Encodes pieces of a text.
pub(crate) struct Encoder<'a> {
    vocabulary: &'a Vocabulary,
    number: u64,
    room: Room,
}

impl<'a> Encoder<'a> {
    /// Take what the thread has remembered of the encoding of this number, and give it back when done.
    pub(crate) fn new(vocabulary: &'a Vocabulary, number: u64) -> Self {
        let known = ROOMS.try_with(|rooms| {
            let mut rooms = rooms.try_borrow_mut().ok()?;
            let place = rooms.iter().rposition(|(own, _)| *own == number)?;
            Some(rooms.remove(place).1)
        });
        Self { vocabulary, number, room: known.ok().flatten().unwrap_or_else(Room::new) }
    }

    /// How many tokens the bytes from `start` to before `end` are, which are a piece.
    #[inline(always)]
    pub(crate) fn count(&mut self, text: &[u8], start: usize, end: usize) -> usize {
        if end - start > WORD {
            return self.count_long(text, start, end, usize::MAX);
        }
        let key = medium_key(text, start, end - start);
        match self.room.keys.get(place_of(key)) {
            Some(own) if own & SIZE_BITS == key => usize::try_from(own >> COUNT_SHIFT).unwrap_or(0),
            _ => self.word(text, start, end, key).count_ones() as usize,
        }
    }

    /// The same, or any number above `limit` where there are more.
    #[inline(always)]
    pub(crate) fn count_up_to(&mut self, text: &[u8], start: usize, end: usize, limit: usize) -> usize {
        if end - start > WORD { self.count_long(text, start, end, limit) } else { self.count(text, start, end) }
    }

    #[inline(never)]
    fn count_long(&mut self, text: &[u8], start: usize, end: usize, limit: usize) -> usize {
        if self.vocabulary.is_token(text, start, end) {
            1
        } else if end - start <= SHORT {
            merge_no_token(self.vocabulary, text, start, end, &mut self.room.joins).count_ones() as usize
        } else {
            count_long(self.vocabulary, text.get(start..end).unwrap_or_default(), &mut self.room.joins, limit)
        }
    }

    /// Add where the tokens of such a piece end: the first `enough` of them at least.
    pub(crate) fn ends(&mut self, text: &[u8], start: usize, end: usize, enough: usize, ends: &mut Vec<usize>) {
        let mut later = if end - start <= WORD {
            let key = medium_key(text, start, end - start);
            let place = place_of(key);
            match (self.room.keys.get(place), self.room.starts.get(place)) {
                (Some(own), Some(starts)) if own & SIZE_BITS == key => u64::from(*starts),
                _ => self.word(text, start, end, key),
            }
        } else if self.vocabulary.is_token(text, start, end) {
            1
        } else if end - start <= SHORT {
            merge_no_token(self.vocabulary, text, start, end, &mut self.room.joins)
        } else {
            let piece = text.get(start..end).unwrap_or_default();
            let found = merge_long(self.vocabulary, piece, &mut self.room.joins, enough);
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

    /// Where the tokens of a piece begin that is not remembered: a bit each. From now on it is.
    #[inline(never)]
    fn word(&mut self, text: &[u8], start: usize, end: usize, key: u128) -> u64 {
        let starts = if self.vocabulary.is_token(text, start, end) {
            1
        } else {
            merge_no_token(self.vocabulary, text, start, end, &mut self.room.joins)
        };
        let place = place_of(key);
        if let (Some(own), Some(own_starts)) = (self.room.keys.get_mut(place), self.room.starts.get_mut(place)) {
            *own = key | u128::from(starts.count_ones()) << COUNT_SHIFT;
            *own_starts = u16::try_from(starts).unwrap_or(1);
        }
        starts
    }
}

/// Where a piece is remembered.
#[inline(always)]
fn place_of(key: u128) -> usize {
    usize::try_from(near_hash(key) >> (64 - REMEMBERED_BITS)).unwrap_or(0)
}

impl Drop for Encoder<'_> {
    fn drop(&mut self) {
        let room = std::mem::replace(
            &mut self.room,
            Room { joins: Box::new([0; SHORT]), keys: Vec::new(), starts: Vec::new() },
        );
        let number = self.number;
        // A thread that ends has no rooms any more.
        let _ = ROOMS.try_with(|rooms| {
            if let Ok(mut rooms) = rooms.try_borrow_mut() {
                if rooms.len() >= ENCODINGS {
                    rooms.remove(0);
                }
                rooms.push((number, room));
            }
        });
    }
}
