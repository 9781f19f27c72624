//! Count the tokens of one text, or of several texts that form one.
//!
//! Pieces are counted in groups of words. Other work has often evicted the vocabulary from the processor's caches, so
//! the lines of all these words are prefetched before the first look-up. A piece of a script without spaces is a whole
//! clause that seldom recurs, so its parts, between which no token reaches, are counted instead. If the token count of
//! a string by itself is known, only its ends are counted again, up to a place where the text can be split safely.

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

/// The number of code points that are encoded at once, so that a large text is not held twice.
const PART: usize = 1 << 14;

impl Encoding {
    /// Return the number of tokens of a string in UTF-8. Special tokens are read as plain text.
    #[must_use]
    pub fn count(&self, text: &[u8]) -> usize {
        let mut count = 0;
        self.visit_counts(text, 0, usize::MAX, |_, total| count = total);
        count
    }

    /// Return the ranks of the tokens of a string in UTF-8.
    #[must_use]
    pub fn encode(&self, text: &[u8]) -> Vec<u32> {
        let (mut ends, mut encoder) = (Vec::new(), self.encoder());
        let _: ControlFlow<()> = self.split::<Scalar, _>(text, 0, |start, end, _| {
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

    /// Return the number of tokens of a string; a lone surrogate counts as U+FFFD.
    #[must_use]
    pub fn count_tokens(&self, text: Text<'_>) -> usize {
        match text {
            Text::Latin1(units) if units.is_ascii() => self.count(units),
            _ => on_units!(text, units => self.count_units(units)),
        }
    }

    /// Return the number of tokens of a string up to the last place where it can be split safely: as many tokens of any
    /// string that begins with it.
    pub(crate) fn count_start(&self, text: Text<'_>) -> usize {
        let bytes = utf8_of(text);
        let end = self.splitter(&bytes).safe_before(bytes.len());
        self.count(bytes.get(..end).unwrap_or_default())
    }

    /// Return the number of tokens of the units, which are encoded in parts.
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

    /// Return the first [`PART`] units, or a few more, up to a place where the text can be split safely.
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

/// The number of pieces that are looked up together: few for a short text, as making room for more takes time.
const SIZE: usize = 128;
const SHORT_SIZE: usize = 16;
const SHORT: usize = 64;

/// The number of tokens from which on no character is counted with those before it, so that a byte holds the count.
const MOST_TOGETHER: u8 = 250;

/// A piece of a string, or a part of one.
#[derive(Clone, Copy)]
struct Piece {
    /// The key of a word; 0 if the piece is longer, or its count is known.
    key: u128,
    end: usize,
    /// The number of tokens; 0 if it is not known.
    count: u8,
}

/// The least byte with which characters of three bytes begin, and Chinese, Japanese and Korean ones.
const LONG_LEAD: u8 = 0xE0;
const CJK_LEAD: u8 = 0xE3;

/// Return true if a piece is worth looking for its parts. The short words of other scripts recur.
#[inline(always)]
fn may_have_parts(text: &[u8], start: usize, end: usize) -> bool {
    let largest = |bytes: &[u8]| bytes.iter().fold(0, |most: u8, byte| most.max(*byte));
    let rest = text.get(start..).unwrap_or_default();
    if end - start > WORD {
        largest(rest.get(..end - start).unwrap_or_default()) >= LONG_LEAD
    } else {
        // One vector; the bytes after the piece do no harm.
        rest.first_chunk::<16>().map_or_else(|| largest(rest), |bytes| largest(bytes)) >= CJK_LEAD
    }
}

/// Consecutive pieces.
struct Batch<const SIZE: usize> {
    pieces: [Piece; SIZE],
    size: usize,
}

impl<const SIZE: usize> Batch<SIZE> {
    #[inline(always)]
    fn push(&mut self, piece: Piece) {
        if let Some(place) = self.pieces.get_mut(self.size) {
            *place = piece;
            self.size += 1;
        }
    }

    /// Push a piece, or a part of one.
    #[inline(always)]
    fn push_text(&mut self, text: &[u8], start: usize, end: usize, encoder: &Encoder<'_>) {
        let key = if end - start > WORD { 0 } else { medium_key(text, start, end - start) };
        encoder.remembered.fetch(key);
        self.push(Piece { key, end, count: 0 });
    }

    /// Push the parts of a piece, until there are `most` pieces. Return the end of the last part. Characters that are
    /// parts by themselves are counted together.
    #[inline(never)]
    fn push_parts(&mut self, text: &[u8], start: usize, end: usize, most: usize, encoder: &Encoder<'_>) -> usize {
        let (mut begin, mut together) = (start, 0);
        while begin < end && self.size < most {
            let (part_end, count) = encoder.next_part(text, begin, end);
            if count > 0 && together < MOST_TOGETHER {
                together += count;
                begin = part_end;
            } else if together > 0 {
                self.push(Piece { key: 0, end: begin, count: std::mem::take(&mut together) });
            } else {
                self.push_text(text, begin, part_end, encoder);
                begin = part_end;
            }
        }
        if together > 0 {
            self.push(Piece { key: 0, end: begin, count: together });
        }
        begin
    }

    /// Count the tokens of each word.
    #[inline(always)]
    fn count(&mut self, text: &[u8], encoder: &mut Encoder<'_>) {
        let (mut new, mut size) = ([0; SIZE], 0);
        for (place, piece) in self.pieces.iter_mut().take(self.size).enumerate() {
            piece.count |= encoder.remembered.count(piece.key);
            if let Some(own) = new.get_mut(size) {
                *own = place;
            }
            size += usize::from((piece.count == 0) & (piece.key != 0));
        }
        if size > 0 {
            self.count_new(new.get_mut(..size).unwrap_or_default(), text, encoder);
        }
    }

    /// Count the words in these places, which are not in the cache. Those that are single tokens come first, so that
    /// the parts of the others can be prefetched.
    #[inline(never)]
    fn count_new(&mut self, places: &mut [usize], text: &[u8], encoder: &mut Encoder<'_>) {
        for word in places.iter().filter_map(|place| self.pieces.get(*place)) {
            encoder.fetch(text, word.end, word.key);
        }
        let mut others = 0; // they use the first places
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
    /// Visit the end of each piece, from a place where a piece begins, with the number of tokens up to there, until
    /// these are enough. A single piece with more than enough tokens may be counted as any number above that.
    #[inline(always)]
    pub(super) fn visit_counts(&self, text: &[u8], from: usize, enough: usize, visit: impl FnMut(usize, usize)) {
        if text.len() <= SHORT {
            dispatch(Count::<_, SHORT_SIZE> { encoding: self, text, from, enough, visit });
        } else {
            dispatch(Count::<_, SIZE> { encoding: self, text, from, enough, visit });
        }
    }
}

/// The pieces of a string to count.
struct Count<'a, V, const SIZE: usize> {
    encoding: &'a Encoding,
    text: &'a [u8],
    from: usize,
    enough: usize,
    visit: V,
}

impl<V: FnMut(usize, usize), const SIZE: usize> Work for Count<'_, V, SIZE> {
    type Done = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Self { encoding, text, from, enough, mut visit } = self;
        let (mut encoder, mut start, mut total) = (encoding.encoder(), from, 0);
        let mut batch = Batch::<SIZE> { pieces: [Piece { key: 0, end: 0, count: 0 }; SIZE], size: 0 };
        let mut piece_end = from; // of the last piece with parts, which the next batch may have to continue
        while start < text.len() && total < enough {
            let most = SIZE.min(enough - total); // each has at least one token
            batch.size = 0;
            let mut begin = start;
            if start < piece_end {
                start = batch.push_parts(text, start, piece_end, most, &encoder);
            }
            if batch.size < most {
                let _ = encoding.split::<L, _>(text, start, |begin, end, is_ascii| {
                    if is_ascii || !may_have_parts(text, begin, end) {
                        batch.push_text(text, begin, end, &encoder);
                        start = end;
                    } else {
                        start = batch.push_parts(text, begin, end, most, &encoder);
                        piece_end = end;
                    }
                    if batch.size == most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                });
            }
            batch.count(text, &mut encoder);
            for piece in batch.pieces.iter().take(batch.size) {
                if total >= enough {
                    break;
                }
                total += match piece.count {
                    0 => encoder.count_longer(text, begin, piece.end, enough - total),
                    count => usize::from(count),
                };
                begin = piece.end;
                visit(begin, total);
            }
        }
    }
}

/// The maximum number of characters at an end that are counted again. If the text can't be split within them, all of it
/// is counted.
const LONGEST_END: usize = 128;

/// A count in progress.
#[derive(Debug)]
pub struct Tally<'e> {
    encoding: &'e Encoding,
    count: usize,
    /// Text that is not counted yet.
    rest: Vec<u8>,
}

impl<'e> Tally<'e> {
    /// Return an empty count.
    #[must_use]
    pub fn new(encoding: &'e Encoding) -> Self {
        Self { encoding, count: 0, rest: Vec::new() }
    }

    /// Add a string.
    pub fn add(&mut self, text: Text<'_>) {
        self.rest.extend_from_slice(&utf8_of(text));
    }

    /// Add a string whose token count by itself is known.
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

    /// Return the number of tokens of all the text.
    #[must_use]
    pub fn finish(self) -> usize {
        self.count + self.encoding.count(&self.rest)
    }
}
