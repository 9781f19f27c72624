//! The measure of a budget, and the ends of one text that stay within a limit.
//!
//! Tokens of a text are not the sum of those of its parts. But where a line feed is followed by what is neither white
//! space nor a slash, both encodings split, whatever stands on either side: every part of a context that is measured
//! by itself ends and begins so, and the sum of the parts is the count of the whole, exactly.
//!
//! A text of bytes is cut as it is written: only a few characters around the two places are decoded, since a cut never
//! splits a grapheme cluster.

use std::ops::Range;

use super::output::{Output, Place};
use crate::content::Content;
use crate::json::value::Value;
use crate::text::graphemes::{ceil_boundary, ends_look_back, floor_boundary};
use crate::text::piece::Piece;
use crate::text::sanitize::{LONGEST_SEQUENCE, cut_text, is_clean};
use crate::text::segment::{Plain, Segment};
use crate::text::truncate::Keep;
use crate::text::{Text, on_units};
use crate::tokens::{Encoding, Kept, Tally};

/// The value of a limit that says: none.
pub const NO_LIMIT: usize = isize::MAX.unsigned_abs();

/// What a total counts.
#[derive(Clone, Copy, Debug)]
pub enum Measure {
    /// Code points.
    Characters,
    /// Tokens of an encoding.
    Tokens(&'static Encoding),
}

impl Measure {
    /// Return whether it is characters that are counted.
    #[must_use]
    pub fn is_characters(self) -> bool {
        matches!(self, Self::Characters)
    }

    /// What a text takes.
    #[must_use]
    pub fn size(self, text: Text<'_>) -> usize {
        match self {
            Self::Characters => text.len(),
            Self::Tokens(encoding) => encoding.count_text(text),
        }
    }

    /// What a text of ASCII takes.
    #[must_use]
    pub fn size_ascii(self, text: &str) -> usize {
        self.size(Text::ascii(text))
    }

    /// What parts take that stand one behind the other.
    #[must_use]
    pub fn size_of(self, parts: &[Segment<'_>]) -> usize {
        let Self::Tokens(encoding) = self else { return parts.iter().map(Segment::len).sum() };
        let mut tally = Tally::new(encoding);
        for part in parts {
            part.with_text(|text| tally.add(text));
        }
        tally.finish()
    }

    /// What an output takes that is kept between places, each behind the one before. Of some stretches, which are one
    /// part each, is known how many tokens they have.
    pub(crate) fn size_kept<const N: usize>(
        self,
        output: &Output<'_>,
        kept: [(Range<Place>, Option<usize>); N],
    ) -> usize {
        let Self::Tokens(encoding) = self else { return kept.iter().map(|(kept, _)| Output::size_of(kept)).sum() };
        let mut tally = Tally::new(encoding);
        for (stretch, tokens) in kept {
            output.see_parts(&stretch, &mut |part| {
                part.with_text(|text| match tokens {
                    Some(tokens) => tally.add_counted(text, tokens),
                    None => tally.add(text),
                });
            });
        }
        tally.finish()
    }
}

/// How much of one text may stay: characters, and of these, tokens.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The limit in characters.
    pub chars: usize,
    /// The limit in tokens, where there is one.
    pub tokens: Option<(usize, &'static Encoding)>,
}

impl Limits {
    /// No limit.
    pub const NONE: Self = Self::of_chars(NO_LIMIT);

    /// A limit in characters alone.
    #[must_use]
    pub const fn of_chars(chars: usize) -> Self {
        Self { chars, tokens: None }
    }

    /// The limit in a measure.
    #[must_use]
    pub fn of(self, measure: Measure) -> usize {
        match measure {
            Measure::Characters => self.chars,
            Measure::Tokens(_) => self.tokens.map_or(NO_LIMIT, |(tokens, _)| tokens),
        }
    }

    /// With the limit of a rule in place of the policy's, where there is one.
    #[must_use]
    pub fn by_rule(self, chars: Option<usize>) -> Self {
        Self { chars: chars.unwrap_or(self.chars), ..self }
    }

    /// No more than fits into what is left of a total.
    #[must_use]
    pub fn within(self, room: usize, measure: Measure) -> Self {
        let room = room.min(self.of(measure));
        match measure {
            Measure::Characters => Self { chars: room, ..self },
            Measure::Tokens(encoding) => Self { tokens: Some((room, encoding)), ..self },
        }
    }
}

/// What of a text stays where it is cut: a part of its beginning, a part of its end.
#[derive(Clone, Debug)]
pub struct Cut<'a> {
    /// The part of its beginning.
    pub head: Piece<'a>,
    /// The part of its end.
    pub tail: Piece<'a>,
    /// The tokens of both, where they were counted.
    pub tokens: Option<[usize; 2]>,
}

impl<'a> Cut<'a> {
    /// A text that is within its limits, and its tokens where they were counted; or else what stays of it.
    pub fn of(text: &Piece<'a>, limits: Limits, side: Keep) -> Result<Option<usize>, Self> {
        let length = text.len();
        if length > limits.chars {
            let (head, tail) = cut_text(text.text(), limits.chars, side);
            let cut = Self { head: text.slice(0, head), tail: text.slice(tail, length), tokens: None };
            return Err(cut.within(limits, side));
        }
        let Some((limit, encoding)) = limits.tokens else { return Ok(None) };
        match encoding.keep(text.text(), limit, side, Text::ascii("")) {
            Ok(tokens) => Ok(Some(tokens)),
            Err(Kept { head, tail, head_tokens, tail_tokens }) => Err(Self {
                head: text.slice(0, head),
                tail: text.slice(tail, length),
                tokens: Some([head_tokens, tail_tokens]),
            }),
        }
    }

    /// What of a cut stays by the limit in tokens.
    #[must_use]
    pub fn within(self, limits: Limits, side: Keep) -> Self {
        let Some((tokens, encoding)) = limits.tokens else { return self };
        let (first, last) = side.shares(tokens);
        let Self { head, tail, .. } = self;
        let empty = Text::ascii("");
        let (head_end, head_tokens) = match encoding.keep(head.text(), first, Keep::Head, empty) {
            Ok(tokens) => (head.len(), tokens),
            Err(kept) => (kept.head, kept.head_tokens),
        };
        let (tail_start, tail_tokens) = match encoding.keep(tail.text(), last, Keep::Tail, empty) {
            Ok(tokens) => (0, tokens),
            Err(kept) => (kept.tail, kept.tail_tokens),
        };
        Self {
            head: head.slice(0, head_end),
            tail: tail.slice(tail_start, tail.len()),
            tokens: Some([head_tokens, tail_tokens]),
        }
    }
}

/// A length as a signed number, for budgets that may be overdrawn.
pub(crate) fn signed(size: usize) -> isize {
    isize::try_from(size).unwrap_or(isize::MAX)
}

/// What is left of a budget, as a length.
pub(crate) fn room_of(left: isize) -> usize {
    usize::try_from(left).unwrap_or(0)
}

/// The number of characters on each side of a place that nearly always tell where the clusters around it begin.
const AROUND: usize = 32;

/// Return the head and the tail that stay of a text of more than `limit` characters. Either may be empty.
pub(crate) fn cut<'a, V: Value<'a>>(text: &Content<'a, V>, limit: usize, side: Keep) -> [Content<'a, V>; 2] {
    let (first, last) = side.shares(limit);
    [head_of(text, first), tail_of(text, last)]
}

/// [`cut`] for a text that is shown in a context; `None` if what is shown has to be cleaned.
pub(crate) fn cut_clean<'a, V: Value<'a>>(text: &Content<'a, V>, limit: usize, side: Keep) -> Option<[Piece<'a>; 2]> {
    let (first, last) = side.shares(limit);
    let [head, tail] = cut(text, limit, side).map(|end| end.len());
    // What cleaning takes away may begin before the tail, or end after the head.
    let start = if first > 0 { text.start(first + 1) } else { Piece::default() };
    let end = if last > 0 { text.end(last + 1 + LONGEST_SEQUENCE) } else { Piece::default() };
    let shown = end.len().saturating_sub(last + 1 + LONGEST_SEQUENCE);
    let is_shown_as_it_is = is_clean(start.text()) && is_clean(end.text().slice(shown, end.len()));
    is_shown_as_it_is.then(|| [start.slice(0, head), end.slice(end.len() - tail, end.len())])
}

/// [`cut_clean`] without decoding anything; `None` if that is not possible.
pub(crate) fn cut_plain<'a, V: Value<'a>>(text: &Content<'a, V>, limit: usize, side: Keep) -> Option<[Plain<'a>; 2]> {
    let (first, last) = side.shares(limit);
    let head = if first > 0 { text.plain_start(first)? } else { Plain::default() };
    let tail = if last > 0 { text.plain_end(last, 1 + LONGEST_SEQUENCE)? } else { Plain::default() };
    Some([head, tail])
}

/// The clusters that are whole among the first characters of a longer text.
fn head_of<'a, V: Value<'a>>(text: &Content<'a, V>, count: usize) -> Content<'a, V> {
    if count == 0 {
        return Content::Piece(Piece::default());
    }
    let start = text.first(count + 1);
    let mut around = AROUND;
    loop {
        let window = start.last(around + 1).whole();
        let place = around.min(count);
        let boundary = on_units!(window.text(), units => floor_boundary(units, place));
        if around >= count || ends_clusters(window.text().slice(0, boundary)) {
            return start.first(count - place + boundary);
        }
        around *= 4;
    }
}

/// The clusters that are whole among the last characters of a longer text.
fn tail_of<'a, V: Value<'a>>(text: &Content<'a, V>, count: usize) -> Content<'a, V> {
    if count == 0 {
        return Content::Piece(Piece::default());
    }
    let before = text.len() - count;
    let mut around = AROUND;
    loop {
        let end = text.last(count + around);
        let window = end.first(2 * around).whole();
        let place = around.min(before);
        let boundary = on_units!(window.text(), units => ceil_boundary(units, place));
        let is_start_known = around >= before || ends_clusters(window.text().slice(0, place));
        let is_end_known = around >= count || boundary < window.len();
        if is_start_known && is_end_known {
            return end.last(count + place - boundary);
        }
        around *= 4;
    }
}

/// True if no boundary after this text depends on what precedes the text.
fn ends_clusters(text: Text<'_>) -> bool {
    on_units!(text, units => units.iter().rev().any(|unit| ends_look_back(*unit)))
}
