//! Cut a text to a number of tokens.
//!
//! Guaranteed: what is kept, with the marker in its place, counts at most so many tokens more than the marker when it is
//! counted again, and is cut between grapheme clusters. It is the first, or the last, tokens of the text, so many as
//! the limit says, without a cluster of which only a part is in them; and one token less at a time where these and the
//! marker are encoded in more than they are apart.
//! The time is proportional to what is kept, unless a single piece of the text is far longer than that: only as much
//! of an end is looked at as has the tokens, and what is counted again is what stands at the seams.
//!
//! Left out: joining the parts with the marker, which the binding does on the caller's own `str`.
//!
//! The twin is `truncate_tokens` in `python/toolcarry/_pure/tokens.py`, which encodes and counts the whole.

use super::encoding::Encoding;
use super::part::{Part, utf8_of};
use crate::text::Text;
use crate::text::truncate::Keep;

/// What stays of a text: where the head ends, and where the tail begins, in code points; and their tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Where the head that stays ends.
    pub head: usize,
    /// Where the tail begins that stays.
    pub tail: usize,
    /// How many tokens the head counts by itself.
    pub head_tokens: usize,
    /// How many the tail does.
    pub tail_tokens: usize,
}

/// A head and a tail of a text that stay.
#[derive(Default)]
struct Ends<'a> {
    head: Part<'a>,
    /// Where the head that stays ends, in bytes of the part, and in characters of the text.
    head_end: (usize, usize),
    tail: Part<'a>,
    /// Where the tail begins that stays.
    tail_start: (usize, usize),
}

impl Encoding {
    /// The plan of a cut to so many tokens, marker aside: where the head that stays ends, and where the tail begins.
    ///
    /// `text[..head]` and `text[tail..]` stay, in code points. Both are `text.len()` where nothing is cut, and
    /// `head < tail` where something is. A lone surrogate counts as U+FFFD.
    #[must_use]
    pub fn cut(&self, text: Text<'_>, limit: usize, keep: Keep, marker: Text<'_>) -> (usize, usize) {
        match self.ends(text, limit, keep, marker) {
            Ok(ends) => (ends.head_end.1, ends.tail_start.1),
            Err(_) => (text.len(), text.len()),
        }
    }

    /// The same: how many tokens a text has that is within the limit, or else what stays of it.
    pub fn keep(&self, text: Text<'_>, limit: usize, keep: Keep, marker: Text<'_>) -> Result<usize, Kept> {
        let ends = match self.ends(text, limit, keep, marker) {
            Ok(ends) => ends,
            Err(tokens) => return Ok(tokens),
        };
        let (head, tail) = ((&ends.head, ends.head_end.0), (&ends.tail, ends.tail_start.0));
        let nothing = (&Part::default(), 0);
        Err(Kept {
            head: ends.head_end.1,
            tail: ends.tail_start.1,
            head_tokens: self.count_joined(head, &[], nothing),
            tail_tokens: self.count_joined(nothing, &[], tail),
        })
    }

    /// What stays of a text, or how many tokens it has if that is all of it.
    fn ends<'a>(&self, text: Text<'a>, limit: usize, keep: Keep, marker: Text<'_>) -> Result<Ends<'a>, usize> {
        let length = text.len();
        // Each byte is a token at most.
        if length <= limit && text.utf8_len() <= limit {
            return Err(self.count_text(text));
        }
        let nothing = Ends { tail_start: (0, length), ..Ends::default() };
        if limit == 0 {
            return Ok(nothing);
        }
        let (first, last) = keep.shares(limit);
        let (mut head, mut tail) = (Part::default(), Part::default());
        if keep == Keep::Tail {
            tail = Part::end(self, text, limit.saturating_add(1));
            if tail.total() <= limit {
                return Err(tail.total());
            }
        }
        if keep == Keep::Ends {
            (head, tail) = (Part::start(self, text, first), Part::end(self, text, last));
        }
        if keep == Keep::Head || (keep == Keep::Ends && !self.is_apart(text, (&head, first), (&tail, last))) {
            head = Part::start(self, text, limit.saturating_add(1));
            if head.total() <= limit {
                return Err(head.total());
            }
        }
        let marker = utf8_of(marker);
        let allowed = limit.saturating_add(self.count(&marker));
        for size in (1..=limit).rev() {
            let (first, last) = match keep {
                Keep::Head => (size, 0),
                Keep::Tail => (0, size),
                Keep::Ends => (size / 2, size - size / 2),
            };
            let head_end = head.head(self, text, first);
            let tail_start = if last == 0 { (0, length) } else { tail.tail(self, text, last) };
            if self.count_joined((&head, head_end.0), &marker, (&tail, tail_start.0)) <= allowed {
                return Ok(Ends { head, head_end, tail, tail_start });
            }
        }
        Ok(nothing)
    }

    /// Whether there is certainly something between so many first and so many last tokens of a text.
    fn is_apart(&self, text: Text<'_>, (head, first): (&Part<'_>, usize), (tail, last): (&Part<'_>, usize)) -> bool {
        let has_both = head.total() >= first && tail.total() >= last;
        // Of a long text not even what was read of both ends meets: each character has a byte at least.
        let is_long = || head.bytes.len() + tail.bytes.len() + 1 < text.len();
        has_both && (is_long() || head.head_end(self, first) + 1 < tail.tail_start(self, text, last))
    }

    /// How many tokens a head, a marker and a tail have together. Anew is counted only what stands between places
    /// where the text can be taken apart; beyond them, the tokens are those of the text.
    fn count_joined(&self, head: (&Part<'_>, usize), marker: &[u8], tail: (&Part<'_>, usize)) -> usize {
        let ((head, head_end), (tail, tail_start)) = (head, tail);
        let kept = head.slice(0, head_end);
        let from = self.splitter(kept).safe_before(kept.len());
        let rest = tail.slice(tail_start, tail.bytes.len());
        let to = tail_start + self.splitter(rest).safe_after(0);
        let seam = [head.slice(from, head_end), marker, tail.slice(tail_start, to)].concat();
        head.count_to(from) + self.count(&seam) + tail.total() - tail.count_to(to)
    }
}
