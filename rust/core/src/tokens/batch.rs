//! Count the pieces of a text, some words at a time: a loop that splits and a loop that counts take less time than one
//! that does both.

use std::ops::ControlFlow;

use super::cache::WORD;
use super::encoder::Encoder;
use super::encoding::Encoding;
use super::keys::medium_key;
use crate::simd::{Lanes, Work, dispatch};

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
        for piece in self.pieces.iter_mut().take(self.size).filter(|piece| piece.key != 0) {
            piece.count = encoder.remembered.count(piece.key);
            if piece.count == 0 {
                piece.count = encoder.count_new(text, piece.end, piece.key);
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
