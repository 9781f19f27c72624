//! Count the pieces of a text, some words at a time.
//!
//! What a word is looked up in, other work has often driven out of the processor's caches. All that some words need of
//! it is asked for before the first of them is looked up, so that the waiting for one goes on beside that for the others.

use std::ops::ControlFlow;

use super::Encoding;
use super::keys::medium_key;
use super::pieces::Encoder;
use super::remembered::WORD;
use crate::lanes::{Lanes, Work, dispatch};

/// Pieces that are looked up together.
const SIZE: usize = 128;

/// A piece of a text.
#[derive(Clone, Copy)]
struct Piece {
    /// 0 if it is longer than a word.
    key: u128,
    end: usize,
    /// How many tokens it has; 0 if that is not known.
    count: u8,
}

/// Pieces that stand side by side.
struct Batch {
    pieces: [Piece; SIZE],
    size: usize,
}

impl Batch {
    #[inline(always)]
    fn push(&mut self, key: u128, end: usize) {
        if let Some(place) = self.pieces.get_mut(self.size) {
            *place = Piece { key, end, count: 0 };
            self.size += 1;
        }
    }

    /// Count the tokens of each word.
    #[inline(always)]
    fn count(&mut self, text: &[u8], encoder: &mut Encoder<'_>) {
        let (mut new, mut size) = ([0; SIZE], 0);
        for (place, piece) in self.pieces.iter_mut().take(self.size).enumerate() {
            piece.count = encoder.remembered.count(piece.key);
            if let Some(own) = new.get_mut(size) {
                *own = place;
            }
            size += usize::from((piece.count == 0) & (piece.key != 0));
        }
        if size > 0 {
            self.count_new(new.get_mut(..size).unwrap_or_default(), text, encoder);
        }
    }

    /// The same of the words in these places, which are not remembered: first of those that are tokens, so that what the
    /// others are merged to can be asked for, too.
    #[inline(never)]
    fn count_new(&mut self, places: &mut [usize], text: &[u8], encoder: &mut Encoder<'_>) {
        for word in places.iter().filter_map(|place| self.pieces.get(*place)) {
            encoder.fetch(text, word.end, word.key);
        }
        let mut others = 0; // they take the first of the places
        for index in 0..places.len() {
            let Some(place) = places.get(index).copied() else { break };
            let Some(word) = self.pieces.get_mut(place) else { break };
            word.count = 1;
            let is_token = encoder.is_token(text, word.end, word.key);
            if let Some(own) = places.get_mut(others) {
                *own = place;
            }
            others += usize::from(!is_token);
        }
        for word in places.iter().take(others).filter_map(|place| self.pieces.get(*place)) {
            encoder.fetch_parts(text, word.end, word.key);
        }
        for place in places.iter().take(others) {
            if let Some(word) = self.pieces.get_mut(*place) {
                word.count = encoder.count_no_token(text, word.end, word.key);
            }
        }
    }
}

impl Encoding {
    /// Visit where the pieces end, from a place on where one begins, each with how many tokens there are up to there,
    /// until these are enough. A piece that has more than enough by itself may be counted as any number above that.
    #[inline(always)]
    pub(super) fn visit_counts(&self, text: &[u8], from: usize, enough: usize, visit: impl FnMut(usize, usize)) {
        dispatch(Count { encoding: self, text, from, enough, visit });
    }
}

/// The pieces of a text to count.
struct Count<'a, V> {
    encoding: &'a Encoding,
    text: &'a [u8],
    from: usize,
    enough: usize,
    visit: V,
}

impl<V: FnMut(usize, usize)> Work for Count<'_, V> {
    type Done = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Self { encoding, text, from, enough, mut visit } = self;
        let (mut encoder, mut start, mut total) = (encoding.encoder(), from, 0);
        let mut batch = Batch { pieces: [Piece { key: 0, end: 0, count: 0 }; SIZE], size: 0 };
        while start < text.len() && total < enough {
            let most = SIZE.min(enough - total); // each has a token at least
            batch.size = 0;
            let mut begin = start;
            let _ = encoding.split::<L, _>(text, start, |begin, end| {
                start = end;
                let key = if end - begin > WORD { 0 } else { medium_key(text, begin, end - begin) };
                encoder.remembered.fetch(key);
                batch.push(key, end);
                if batch.size == most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            batch.count(text, &mut encoder);
            for piece in batch.pieces.iter().take(batch.size) {
                if total >= enough {
                    break;
                }
                total += match piece.key {
                    0 => encoder.count_longer(text, begin, piece.end, enough - total),
                    _ => usize::from(piece.count),
                };
                begin = piece.end;
                visit(begin, total);
            }
        }
    }
}
