//! Count the pieces of a text, some words at a time.
//!
//! What a word is looked up in, other work has often driven out of the processor's caches. All that some words need of
//! it is asked for before the first of them is looked up, so that the waiting for one goes on beside that for the others.

use std::ops::ControlFlow;

use super::Encoding;
use super::keys::{medium_key, size_of_key};
use super::pieces::Encoder;
use super::remembered::WORD;
use crate::lanes::{Lanes, Work, dispatch};

/// Words that are looked up together.
const SIZE: usize = 64;

/// A short piece of a text.
#[derive(Clone, Copy)]
struct Word {
    key: u128,
    start: usize,
    /// How many tokens it has; 0 if that is not known yet.
    count: u8,
}

/// Words that stand side by side.
struct Batch {
    words: [Word; SIZE],
    size: usize,
}

impl Batch {
    #[inline(always)]
    fn push(&mut self, key: u128, start: usize) {
        if let Some(place) = self.words.get_mut(self.size) {
            *place = Word { key, start, count: 0 };
            self.size += 1;
        }
    }

    /// Count the tokens of each word.
    #[inline(always)]
    fn count(&mut self, text: &[u8], encoder: &mut Encoder<'_>) {
        let (mut new, mut size) = ([0; SIZE], 0);
        for (place, word) in self.words.iter_mut().take(self.size).enumerate() {
            word.count = encoder.remembered.count(word.key);
            if let Some(own) = new.get_mut(size) {
                *own = place;
            }
            size += usize::from(word.count == 0);
        }
        if size > 0 {
            self.count_new(new.get(..size).unwrap_or_default(), text, encoder);
        }
    }

    /// The same of those in these places, which are not remembered.
    #[inline(never)]
    fn count_new(&mut self, places: &[usize], text: &[u8], encoder: &mut Encoder<'_>) {
        for word in places.iter().filter_map(|place| self.words.get(*place)) {
            encoder.fetch(text, word.start, word.key);
        }
        for place in places {
            if let Some(word) = self.words.get_mut(*place) {
                word.count = encoder.count_new(text, word.start, word.key);
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
        let mut batch = Batch { words: [Word { key: 0, start: 0, count: 0 }; SIZE], size: 0 };
        while start < text.len() && total < enough {
            let most = SIZE.min(enough - total); // each has a token at least
            batch.size = 0;
            let longer = encoding.split::<L, _>(text, start, |begin, end| {
                start = end;
                if end - begin > WORD {
                    return ControlFlow::Break(Some(begin));
                }
                let key = medium_key(text, begin, end - begin);
                encoder.remembered.fetch(key);
                batch.push(key, begin);
                if batch.size == most { ControlFlow::Break(None) } else { ControlFlow::Continue(()) }
            });
            batch.count(text, &mut encoder);
            for word in batch.words.iter().take(batch.size) {
                total += usize::from(word.count);
                visit(word.start + size_of_key(word.key), total);
            }
            if let ControlFlow::Break(Some(begin)) = longer
                && total < enough
            {
                total += encoder.count_longer(text, begin, start, enough - total);
                visit(start, total);
            }
        }
    }
}
