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

use std::borrow::Cow;
use std::ops::ControlFlow;

use super::Encoding;
use crate::graphemes::{ceil_boundary, floor_boundary};
use crate::text::{Text, on_units};
use crate::truncate::Keep;
use crate::utf8;

/// Tokens of text and code are seldom longer on average. Of a start so many characters for each are looked at first, of
/// which no more are encoded than need be.
const MANY_CHARACTERS_A_TOKEN: usize = 6;
/// Tokens of Chinese are seldom shorter. Of an end all is encoded that is looked at: better too little at first.
const FEW_CHARACTERS_A_TOKEN: usize = 2;

/// A start or an end of a text in UTF-8, and what tokens of the text are in it.
#[derive(Default)]
struct Part<'a> {
    bytes: Cow<'a, [u8]>,
    /// Where the first token begins.
    first: usize,
    /// Where the tokens end. There may be more text behind the last one.
    ends: Vec<usize>,
}

impl<'a> Part<'a> {
    /// Put the bytes from `first` on before what there is, with their tokens.
    fn prepend(&mut self, bytes: Cow<'a, [u8]>, first: usize, ends: Vec<usize>) {
        if self.bytes.is_empty() {
            *self = Self { bytes, first, ends };
            return;
        }
        let (size, own) = (bytes.len(), self.first);
        let mut all = bytes.into_owned();
        all.extend_from_slice(self.bytes(own, self.bytes.len()));
        let later = self.ends.iter().map(|end| end - own + size);
        self.ends = ends.into_iter().chain(later).collect();
        (self.bytes, self.first) = (Cow::Owned(all), first);
    }

    fn bytes(&self, from: usize, to: usize) -> &[u8] {
        self.bytes.get(from..to).unwrap_or_default()
    }

    /// Where so many tokens end, counted from the first one.
    fn end_of(&self, count: usize) -> usize {
        count.checked_sub(1).and_then(|last| self.ends.get(last)).copied().unwrap_or(self.first)
    }

    fn count_to(&self, at: usize) -> usize {
        self.ends.partition_point(|end| *end <= at)
    }

    /// Behind so many of a text's first tokens, without a cluster of which only a part is in them: in bytes of this
    /// start, and in characters of the text.
    fn head(&self, text: Text<'_>, count: usize) -> (usize, usize) {
        let mut at = utf8::floor(&self.bytes, self.end_of(count));
        let mut index = utf8::count(self.bytes(0, at));
        let boundary = on_units!(text, units => floor_boundary(units, index));
        while index > boundary {
            at = utf8::floor(&self.bytes, at - 1);
            index -= 1;
        }
        (at, index)
    }

    /// Before so many of a text's last tokens, without a cluster of which only a part is in them.
    fn tail(&self, text: Text<'_>, count: usize) -> (usize, usize) {
        let mut at = utf8::ceil(&self.bytes, self.end_of(self.ends.len() - count));
        let mut index = text.len() - utf8::count(self.bytes(at, self.bytes.len()));
        let boundary = on_units!(text, units => ceil_boundary(units, index));
        while index < boundary {
            at = utf8::ceil(&self.bytes, at + 1);
            index += 1;
        }
        (at, index)
    }
}

impl Encoding {
    /// The plan of a cut to so many tokens, marker aside: where the head that stays ends, and where the tail begins.
    ///
    /// `text[..head]` and `text[tail..]` stay, in code points. Both are `text.len()` where nothing is cut, and
    /// `head < tail` where something is. A lone surrogate counts as U+FFFD.
    #[must_use]
    pub fn cut(&self, text: Text<'_>, limit: usize, keep: Keep, marker: Text<'_>) -> (usize, usize) {
        let length = text.len();
        let (whole, nothing) = ((length, length), (0, length));
        // Each byte is a token at most.
        if length <= limit && text.utf8_len() <= limit {
            return whole;
        }
        if limit == 0 {
            return nothing;
        }
        let (mut head, mut tail) = (Part::default(), Part::default());
        if keep != Keep::Tail {
            head = self.first_tokens(text, limit.saturating_add(1));
            if head.ends.len() <= limit {
                return whole;
            }
        }
        if keep != Keep::Head {
            let is_alone = keep == Keep::Tail;
            tail = self.last_tokens(text, if is_alone { limit.saturating_add(1) } else { limit - limit / 2 });
            if is_alone && tail.ends.len() <= limit {
                return whole;
            }
        }
        let marker = utf8_of(marker);
        let allowed = limit.saturating_add(self.count(&marker));
        let cuts = (1..=limit).rev().map(|size| {
            let before = match keep {
                Keep::Head => size,
                Keep::Tail => 0,
                Keep::Ends => size / 2,
            };
            let head_end = head.head(text, before);
            let tail_start = if keep == Keep::Head { (0, length) } else { tail.tail(text, size - before) };
            (head_end, tail_start)
        });
        let mut within = cuts.filter(|((head_at, _), (tail_at, _))| {
            self.count_joined((&head, *head_at), &marker, (&tail, *tail_at)) <= allowed
        });
        within.next().map_or(nothing, |((_, head), (_, tail))| (head, tail))
    }

    /// How many of a text's characters stay of its head, so that they count at most `limit` tokens by themselves.
    #[must_use]
    pub fn head(&self, text: Text<'_>, limit: usize) -> usize {
        self.cut(text, limit, Keep::Head, Text::ascii("")).0
    }

    /// Where the tail begins that counts at most `limit` tokens by itself.
    #[must_use]
    pub fn tail(&self, text: Text<'_>, limit: usize) -> usize {
        let (head, tail) = self.cut(text, limit, Keep::Tail, Text::ascii(""));
        if head == tail { 0 } else { tail }
    }

    /// How many tokens a head, a marker and a tail have together. Anew is counted only what stands between places
    /// where the text can be taken apart; beyond them, the tokens are those of the text.
    fn count_joined(&self, head: (&Part<'_>, usize), marker: &[u8], tail: (&Part<'_>, usize)) -> usize {
        let ((head, head_end), (tail, tail_start)) = (head, tail);
        let kept = head.bytes(0, head_end);
        let from = self.splitter(kept).safe_before(kept.len());
        let rest = tail.bytes(tail_start, tail.bytes.len());
        let to = tail_start + self.splitter(rest).safe_after(0);
        let seam = [head.bytes(from, head_end), marker, tail.bytes(tail_start, to)].concat();
        head.count_to(from) + self.count(&seam) + tail.ends.len() - tail.count_to(to)
    }

    /// A start of a text that has so many of its tokens, or all of it.
    fn first_tokens<'a>(&self, text: Text<'a>, enough: usize) -> Part<'a> {
        let mut reach = enough.saturating_mul(MANY_CHARACTERS_A_TOKEN).saturating_add(64);
        loop {
            let is_all = reach >= text.len();
            let bytes = utf8_of(text.slice(0, reach));
            let end = if is_all { bytes.len() } else { self.splitter(&bytes).safe_before(bytes.len()) };
            let ends = self.ends(bytes.get(..end).unwrap_or_default(), 0, enough);
            if is_all || ends.len() >= enough {
                return Part { bytes, first: 0, ends };
            }
            reach = reach.saturating_mul(4);
        }
    }

    /// An end of a text that has so many of its tokens, or all of it.
    fn last_tokens<'a>(&self, text: Text<'a>, enough: usize) -> Part<'a> {
        let mut part = Part::default();
        let mut start = text.len(); // of what is encoded
        let mut reach = enough.saturating_mul(FEW_CHARACTERS_A_TOKEN).saturating_add(64);
        loop {
            let from = start.saturating_sub(reach);
            let bytes = utf8_of(text.slice(from, start));
            let first = if from == 0 { 0 } else { self.splitter(&bytes).safe_after(0) };
            if from > 0 && first == bytes.len() {
                reach = reach.saturating_mul(4);
                continue;
            }
            let ends = self.ends(&bytes, first, usize::MAX);
            start = from + utf8::count(bytes.get(..first).unwrap_or_default());
            part.prepend(bytes, first, ends);
            if from == 0 || part.ends.len() >= enough {
                return part;
            }
            // As many characters for each of the other tokens, and some more.
            let needed = (enough - part.ends.len()).saturating_mul(text.len() - start) / part.ends.len().max(1);
            reach = (needed + needed / 8).saturating_add(64);
        }
    }

    /// Where the tokens from a place on end where a piece begins: the first `enough` of them at least.
    fn ends(&self, text: &[u8], from: usize, enough: usize) -> Vec<usize> {
        let (mut ends, mut encoder) = (Vec::new(), self.encoder());
        let _: ControlFlow<()> = self.split(text, from, |start, end| {
            encoder.ends(text, start, end, enough.saturating_sub(ends.len()), &mut ends);
            if ends.len() >= enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        ends
    }
}

/// A text in UTF-8, borrowed where it is ASCII; a lone surrogate becomes U+FFFD.
fn utf8_of(text: Text<'_>) -> Cow<'_, [u8]> {
    match text {
        Text::Latin1(units) if units.is_ascii() => Cow::Borrowed(units),
        _ => Cow::Owned(text.to_utf8().into_bytes()),
    }
}
