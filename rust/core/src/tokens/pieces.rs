//! The tokens of a piece.
//!
//! Most pieces are a token. Of the others, those of up to 15 bytes are remembered, for the names of a text recur: in a
//! table of fixed size for each thread, where a new one takes the place of an old one.

use std::cell::RefCell;

use super::keys::{Key, medium_key};
use super::long::merge_long;
use super::merge::{Joins, SHORT, merge_short};
use super::vocabulary::Vocabulary;

/// Pieces remembered: 80 kB.
const REMEMBERED_BITS: u32 = 12;

/// Encodings that a thread remembers pieces of.
const ENCODINGS: usize = 2;

/// Room for merging, and what is remembered.
struct Room {
    joins: Joins,
    /// Pieces of up to 15 bytes as keys, and where their tokens begin: a bit each.
    keys: Vec<u128>,
    starts: Vec<u16>,
}

thread_local! {
    /// The rooms by the encodings' numbers, the one used last at the end.
    static ROOMS: RefCell<Vec<(u64, Box<Room>)>> = const { RefCell::new(Vec::new()) };
}

/// Encodes pieces of a text.
pub(crate) struct Encoder<'a> {
    vocabulary: &'a Vocabulary,
    number: u64,
    room: Option<Box<Room>>,
}

impl<'a> Encoder<'a> {
    /// Take what the thread has remembered of the encoding of this number, and give it back when done.
    pub(crate) fn new(vocabulary: &'a Vocabulary, number: u64) -> Self {
        let known = ROOMS.try_with(|rooms| {
            let mut rooms = rooms.try_borrow_mut().ok()?;
            let place = rooms.iter().rposition(|(own, _)| *own == number)?;
            Some(rooms.remove(place).1)
        });
        let room = known.ok().flatten().unwrap_or_else(|| {
            Box::new(Room {
                joins: [0; SHORT],
                keys: vec![u128::FREE; 1 << REMEMBERED_BITS],
                starts: vec![0; 1 << REMEMBERED_BITS],
            })
        });
        Self { vocabulary, number, room: Some(room) }
    }

    /// How many tokens the bytes from `start` to before `end` are, which are a piece.
    #[inline(always)]
    pub(crate) fn count(&mut self, text: &[u8], start: usize, end: usize) -> usize {
        if self.vocabulary.is_token(text, start, end) { 1 } else { self.count_many(text, start, end) }
    }

    #[inline(never)]
    fn count_many(&mut self, text: &[u8], start: usize, end: usize) -> usize {
        match end - start {
            ..=SHORT => self.starts(text, start, end).count_ones() as usize,
            _ => self.long(text, start, end, usize::MAX).len(),
        }
    }

    /// The same, or any number above `limit` where there are more.
    #[inline(always)]
    pub(crate) fn count_up_to(&mut self, text: &[u8], start: usize, end: usize, limit: usize) -> usize {
        if end - start <= SHORT { self.count(text, start, end) } else { self.count_long(text, start, end, limit) }
    }

    #[inline(never)]
    fn count_long(&mut self, text: &[u8], start: usize, end: usize, limit: usize) -> usize {
        let is_token = self.vocabulary.is_token(text, start, end);
        if is_token { 1 } else { self.long(text, start, end, limit.saturating_add(1)).len() }
    }

    /// Add where the tokens of such a piece end: the first `enough` of them at least.
    pub(crate) fn ends(&mut self, text: &[u8], start: usize, end: usize, enough: usize, ends: &mut Vec<usize>) {
        if self.vocabulary.is_token(text, start, end) {
            ends.push(end);
        } else if end - start <= SHORT {
            let mut later = self.starts(text, start, end) & !1;
            while later != 0 {
                ends.push(start + later.trailing_zeros() as usize);
                later &= later - 1;
            }
            ends.push(end);
        } else {
            ends.extend(self.long(text, start, end, enough).into_iter().map(|end| start + end));
        }
    }

    fn long(&mut self, text: &[u8], start: usize, end: usize, enough: usize) -> Vec<usize> {
        let (Some(room), Some(piece)) = (&mut self.room, text.get(start..end)) else { return Vec::new() };
        merge_long(self.vocabulary, piece, &mut room.joins, enough)
    }

    /// Where the tokens of a piece of up to 64 bytes begin: a bit each.
    fn starts(&mut self, text: &[u8], start: usize, end: usize) -> u64 {
        let Some(room) = &mut self.room else { return 1 };
        if end - start > 15 {
            return merge_short(self.vocabulary, text, start, end, &mut room.joins);
        }
        let key = medium_key(text, start, end - start);
        let place = usize::try_from(key.hash() >> (64 - REMEMBERED_BITS)).unwrap_or(0);
        let (Some(own), Some(starts)) = (room.keys.get_mut(place), room.starts.get_mut(place)) else { return 1 };
        if *own != key {
            let merged = merge_short(self.vocabulary, text, start, end, &mut room.joins);
            (*own, *starts) = (key, u16::try_from(merged).unwrap_or(1));
        }
        u64::from(*starts)
    }
}

impl Drop for Encoder<'_> {
    fn drop(&mut self) {
        let Some(room) = self.room.take() else { return };
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
