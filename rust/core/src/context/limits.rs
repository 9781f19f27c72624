//! The measure of a budget, and the parts of a text that stay within a limit.
//!
//! The tokens of a text are in general not the sum of the tokens of its parts. But both encodings always split after a
//! line feed that is followed by a character other than white space and a slash. Every part of a context that is
//! measured by itself begins and ends at such a place, so the sum of the parts is exactly the count of the whole.
//!
//! A text in the bytes of a body is cut without decoding it. Only a few characters around the two cuts are decoded,
//! because a cut never splits a grapheme cluster.

use std::ops::Range;

use super::output::{Output, OutputPosition};
use crate::content::Content;
use crate::json::value::Value;
use crate::shorten::Kinds;
use crate::text::graphemes::{ceil_boundary, ends_look_back, floor_boundary};
use crate::text::piece::Piece;
use crate::text::sanitize::{LONGEST_SEQUENCE, cut_text, is_clean};
use crate::text::segment::{Plain, Segment};
use crate::text::truncate::Keep;
use crate::text::{Text, on_units};
use crate::tokens::{CutPlan, Encoding, Tally};

/// The value that means "no limit".
pub const NO_LIMIT: usize = isize::MAX.unsigned_abs();

/// The unit of a total: characters or tokens.
#[derive(Clone, Copy, Debug)]
pub enum Measure {
    /// Code points.
    Characters,
    /// Tokens of an encoding.
    Tokens(&'static Encoding),
}

impl Measure {
    /// Return true if characters are counted.
    #[must_use]
    pub fn is_characters(self) -> bool {
        matches!(self, Self::Characters)
    }

    /// Return the size of a text.
    #[must_use]
    pub fn size(self, text: Text<'_>) -> usize {
        match self {
            Self::Characters => text.len(),
            Self::Tokens(encoding) => encoding.count_tokens(text),
        }
    }

    /// Return the size of an ASCII text.
    #[must_use]
    pub fn size_ascii(self, text: &str) -> usize {
        self.size(Text::ascii(text))
    }

    /// Return the size of consecutive parts.
    #[must_use]
    pub fn size_of(self, parts: &[Segment<'_>]) -> usize {
        let Self::Tokens(encoding) = self else { return parts.iter().map(Segment::len).sum() };
        let mut tally = Tally::new(encoding);
        for part in parts {
            part.with_text(|text| tally.add(text));
        }
        tally.finish()
    }

    /// Return the size of consecutive stretches of an output. A stretch of a single part may come with its token count,
    /// if that is already known.
    pub(crate) fn size_kept<const N: usize>(
        self,
        output: &Output<'_>,
        kept: [(Range<OutputPosition>, Option<usize>); N],
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

/// The limits on one text: in characters, and then in tokens.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The limit in characters.
    pub chars: usize,
    /// The limit in tokens, if there is one.
    pub tokens: Option<(usize, &'static Encoding)>,
    /// The kinds of texts that are shortened by what they are where they are over the limits.
    pub kinds: Kinds,
}

impl Limits {
    /// No limit.
    pub const NONE: Self = Self::of_chars(NO_LIMIT);

    /// A limit in characters only.
    #[must_use]
    pub const fn of_chars(chars: usize) -> Self {
        Self { chars, tokens: None, kinds: Kinds::NONE }
    }

    /// Return the limit in the unit of a measure.
    #[must_use]
    pub fn of(self, measure: Measure) -> usize {
        match measure {
            Measure::Characters => self.chars,
            Measure::Tokens(_) => self.tokens.map_or(NO_LIMIT, |(tokens, _)| tokens),
        }
    }

    /// Replace the limit of the policy with that of a rule, if the rule has one.
    #[must_use]
    pub fn by_rule(self, chars: Option<usize>) -> Self {
        Self { chars: chars.unwrap_or(self.chars), ..self }
    }

    /// Lower the limit to the rest of a total.
    #[must_use]
    pub fn within(self, room: usize, measure: Measure) -> Self {
        let room = room.min(self.of(measure));
        match measure {
            Measure::Characters => Self { chars: room, ..self },
            Measure::Tokens(encoding) => Self { tokens: Some((room, encoding)), ..self },
        }
    }
}

/// The parts of a cut text that stay: some of its beginning, some of its end, or both.
#[derive(Clone, Debug)]
pub struct Cut<'a> {
    /// The part from the beginning.
    pub head: Piece<'a>,
    /// The part from the end.
    pub tail: Piece<'a>,
    /// The tokens of both parts, if they were counted.
    pub tokens: Option<[usize; 2]>,
}

impl<'a> Cut<'a> {
    /// Return `Ok` with the token count (if it was needed) for a text within its limits, otherwise `Err` with the parts
    /// that stay.
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
            Err(CutPlan { head, tail, head_tokens, tail_tokens }) => Err(Self {
                head: text.slice(0, head),
                tail: text.slice(tail, length),
                tokens: Some([head_tokens, tail_tokens]),
            }),
        }
    }

    /// Cut the parts further, to the limit in tokens.
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

/// Convert a length to a signed number, for budgets that may be overdrawn.
pub(crate) fn signed(size: usize) -> isize {
    isize::try_from(size).unwrap_or(isize::MAX)
}

/// Convert the rest of a budget to a length; an overdrawn budget gives 0.
pub(crate) fn room_of(left: isize) -> usize {
    usize::try_from(left).unwrap_or(0)
}

/// The number of characters on each side of a place that nearly always suffice to find the cluster boundaries there.
const AROUND: usize = 32;

/// Return the head and the tail that stay of a text of more than `limit` characters. Either may be empty.
pub(crate) fn cut<'a, V: Value<'a>>(text: &Content<'a, V>, limit: usize, side: Keep) -> [Content<'a, V>; 2] {
    let (first, last) = side.shares(limit);
    [head_of(text, first), tail_of(text, last)]
}

/// Do the same as [`cut`] for a text that is shown in a context; `None` if the shown text has to be cleaned.
pub(crate) fn cut_clean<'a, V: Value<'a>>(text: &Content<'a, V>, limit: usize, side: Keep) -> Option<[Piece<'a>; 2]> {
    let (first, last) = side.shares(limit);
    let [head, tail] = cut(text, limit, side).map(|end| end.len());
    // A sequence that cleaning removes may begin before the tail or end after the head.
    let start = if first > 0 { text.start(first + 1) } else { Piece::default() };
    let end = if last > 0 { text.end(last + 1 + LONGEST_SEQUENCE) } else { Piece::default() };
    let shown = end.len().saturating_sub(last + 1 + LONGEST_SEQUENCE);
    let is_shown_as_it_is = is_clean(start.text()) && is_clean(end.text().slice(shown, end.len()));
    is_shown_as_it_is.then(|| [start.slice(0, head), end.slice(end.len() - tail, end.len())])
}

/// Do the same as [`cut_clean`] without decoding the text; `None` if that is not possible.
pub(crate) fn cut_plain<'a, V: Value<'a>>(text: &Content<'a, V>, limit: usize, side: Keep) -> Option<[Plain<'a>; 2]> {
    let (first, last) = side.shares(limit);
    let head = if first > 0 { text.plain_start(first)? } else { Plain::default() };
    let tail = if last > 0 { text.plain_end(last, 1 + LONGEST_SEQUENCE)? } else { Plain::default() };
    Some([head, tail])
}

/// Return the whole clusters among the first `count` characters of a longer text.
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

/// Return the whole clusters among the last `count` characters of a longer text.
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

/// Return true if no cluster boundary after this text depends on the characters before it.
fn ends_clusters(text: Text<'_>) -> bool {
    on_units!(text, units => units.iter().rev().any(|unit| ends_look_back(*unit)))
}
