//! Count tokens: of one text, or of texts that stand one behind the other.
//!
//! Pieces are counted some words at a time. Other work has often driven the vocabulary out of the processor's caches, so
//! the lines for all of these words are prefetched before the first is looked up. Where it is known how many tokens a text has by itself, what is counted again is what stands at its ends, up to
//! where the text can be taken apart.

use std::ops::ControlFlow;

use super::cache::WORD;
use super::classes::of_byte;
use super::encoder::Encoder;
use super::encoding::Encoding;
use super::split::is_safe;
use super::truncate::utf8_of;
use super::vocabulary::medium_key;
use crate::simd::{Lanes, Scalar, Work, dispatch};
use crate::text::{Text, Unit, on_units, utf8};

/// Code points that are encoded at once, so that a large text is not held twice.
const PART: usize = 1 << 14;

impl Encoding {
    /// The number of tokens a text in UTF-8 has. What looks like a special token is text.
    #[must_use]
    pub fn count(&self, text: &[u8]) -> usize {
        let mut count = 0;
        self.visit_counts(text, 0, usize::MAX, |_, total| count = total);
        count
    }

    /// The ranks of the tokens of a text in UTF-8.
    #[must_use]
    pub fn encode(&self, text: &[u8]) -> Vec<u32> {
        let (mut ends, mut encoder) = (Vec::new(), self.encoder());
        let _: ControlFlow<()> = self.split::<Scalar, _>(text, 0, |start, end| {
            encoder.ends(text, start, end, usize::MAX, &mut ends);
            ControlFlow::Continue(())
        });
        let mut start = 0;
        let ranks = ends.into_iter().map(|end| {
            let rank = self.vocabulary.rank(text, start, end);
            start = end;
            rank.unsigned_abs()
        });
        ranks.collect()
    }

    /// The number of tokens a text has; a lone surrogate counts as U+FFFD.
    #[must_use]
    pub fn count_tokens(&self, text: Text<'_>) -> usize {
        match text {
            Text::Latin1(units) if units.is_ascii() => self.count(units),
            _ => on_units!(text, units => self.count_units(units)),
        }
    }

    /// The number of tokens the units have, which are encoded in parts.
    fn count_units<C: Unit>(&self, units: &[C]) -> usize {
        let (mut count, mut start) = (0, 0);
        let mut bytes = Vec::new();
        while start < units.len() {
            let part = self.safe_part(units.get(start..).unwrap_or_default());
            bytes.resize(utf8::len(part), 0);
            utf8::encode(part, &mut bytes);
            count += self.count(&bytes);
            start += part.len();
        }
        count
    }

    /// The first [`PART`] units or a few more, up to where the text can be taken apart.
    fn safe_part<'a, C: Unit>(&self, units: &'a [C]) -> &'a [C] {
        let class = |unit: &C| match u8::try_from(unit.code_point()) {
            Ok(byte @ ..0x80) => of_byte(byte),
            _ => self.classes.of(unit.code_point()),
        };
        let Some((first, later)) = units.get(PART - 1..).and_then(<[C]>::split_first) else { return units };
        let mut before = class(first);
        let seam = later.iter().position(|unit| {
            let byte = u8::try_from(unit.code_point()).unwrap_or(u8::MAX);
            let after = class(unit);
            is_safe(std::mem::replace(&mut before, after), after, byte)
        });
        seam.and_then(|at| units.get(..PART + at)).unwrap_or(units)
    }
}

/// Pieces that are looked up together.
const SIZE: usize = 128;

/// A piece of a text.
#[derive(Clone, Copy)]
struct Piece {
    /// 0 if it is longer than a word.
    key: u128,
    end: usize,
    /// The number of tokens it has; 0 if that is not known.
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

    /// Count the words in these places, which are not in the cache: first those that are tokens, so that the parts of the
    /// others can be prefetched, too.
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

/// Of so many characters at most an end is counted again; where the text can't be taken apart within them, all is.
const LONGEST_END: usize = 128;

/// A count in the making.
#[derive(Debug)]
pub struct Tally<'e> {
    encoding: &'e Encoding,
    count: usize,
    /// What is not yet counted.
    rest: Vec<u8>,
}

impl<'e> Tally<'e> {
    /// A count of nothing.
    #[must_use]
    pub fn new(encoding: &'e Encoding) -> Self {
        Self { encoding, count: 0, rest: Vec::new() }
    }

    /// Add a text.
    pub fn add(&mut self, text: Text<'_>) {
        self.rest.extend_from_slice(&utf8_of(text));
    }

    /// Add a text that has so many tokens by itself.
    pub fn add_counted(&mut self, text: Text<'_>, tokens: usize) {
        let size = text.len();
        if size <= 2 * LONGEST_END {
            return self.add(text);
        }
        let (start, end) = (utf8_of(text.slice(0, LONGEST_END)), utf8_of(text.slice(size - LONGEST_END, size)));
        let first = self.encoding.splitter(&start).safe_after(0);
        let last = self.encoding.splitter(&end).safe_before(end.len());
        if first == start.len() || last == 0 {
            return self.add(text);
        }
        let (start, end) = (start.get(..first).unwrap_or_default(), end.get(last..).unwrap_or_default());
        let inside = tokens - (self.encoding.count(start) + self.encoding.count(end)).min(tokens);
        self.rest.extend_from_slice(start);
        self.count += self.encoding.count(&self.rest) + inside;
        self.rest.clear();
        self.rest.extend_from_slice(end);
    }

    /// The number of tokens all of it has.
    #[must_use]
    pub fn finish(self) -> usize {
        self.count + self.encoding.count(&self.rest)
    }
}
