//! Cut a string to a number of tokens.
//!
//! The kept text with the marker has at most the given number of tokens, not counting those of the marker. It is
//! cut between grapheme clusters: the first, the last, or both ends of the tokens, without a cluster that is only
//! partly in them, and with one token less at a time if the parts and the marker have more tokens together than apart.
//!
//! The time is proportional to the kept text, unless a single piece is far longer: only as much of an end is read as
//! has the tokens, and only the text around the seams is counted again. (The fallback encodes and counts the whole.)
//! The binding joins the parts and the marker, from the caller's own `str`.

use std::borrow::Cow;

use super::encoding::Encoding;
use crate::text::graphemes::{ceil_boundary, floor_boundary};
use crate::text::truncate::Keep;
use crate::text::{Text, on_units, utf8};

/// The kept text: the end of the head and the start of the tail, in code points, and the tokens of both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CutPlan {
    /// The end of the head.
    pub head: usize,
    /// The start of the tail.
    pub tail: usize,
    /// The tokens of the head by itself.
    pub head_tokens: usize,
    /// The tokens of the tail by itself.
    pub tail_tokens: usize,
}

/// A head and a tail of a string that are kept.
#[derive(Default)]
struct Ends<'a> {
    head: Part<'a>,
    /// The end of the head, in bytes of the part, and in characters of the text.
    head_end: (usize, usize),
    tail: Part<'a>,
    /// The start of the tail.
    tail_start: (usize, usize),
}

impl Encoding {
    /// Plan a cut to a number of tokens, without the marker.
    ///
    /// `text[..head]` and `text[tail..]` are kept, in code points. Both are `text.len()` if nothing is cut; otherwise
    /// `head < tail`. A lone surrogate counts as U+FFFD.
    #[must_use]
    pub fn cut(&self, text: Text<'_>, limit: usize, keep: Keep, marker: Text<'_>) -> (usize, usize) {
        match self.ends(text, limit, keep, marker) {
            Ok(ends) => (ends.head_end.1, ends.tail_start.1),
            Err(_) => (text.len(), text.len()),
        }
    }

    /// The same, with the token count of a string that is within the limit.
    pub fn keep(&self, text: Text<'_>, limit: usize, keep: Keep, marker: Text<'_>) -> Result<usize, CutPlan> {
        let ends = match self.ends(text, limit, keep, marker) {
            Ok(ends) => ends,
            Err(tokens) => return Ok(tokens),
        };
        let (head, tail) = ((&ends.head, ends.head_end.0), (&ends.tail, ends.tail_start.0));
        let nothing = (&Part::default(), 0);
        Err(CutPlan {
            head: ends.head_end.1,
            tail: ends.tail_start.1,
            head_tokens: self.count_joined(head, &[], nothing),
            tail_tokens: self.count_joined(nothing, &[], tail),
        })
    }

    /// Return the cut, or the token count of a string that is within the limit.
    fn ends<'a>(&self, text: Text<'a>, limit: usize, keep: Keep, marker: Text<'_>) -> Result<Ends<'a>, usize> {
        let length = text.len();
        // Each byte is at most one token.
        if length <= limit && text.utf8_len() <= limit {
            return Err(self.count_tokens(text));
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

    /// Return true if there is certainly a gap between the first and the last tokens of a string.
    fn is_apart(&self, text: Text<'_>, (head, first): (&Part<'_>, usize), (tail, last): (&Part<'_>, usize)) -> bool {
        let has_both = head.total() >= first && tail.total() >= last;
        // The ends that were read of a long text don't meet: each character has at least one byte.
        let is_long = || head.bytes.len() + tail.bytes.len() + 1 < text.len();
        has_both && (is_long() || head.head_end(self, first) + 1 < tail.tail_start(self, text, last))
    }

    /// Return the number of tokens of a head, a marker and a tail together. Only the text between places where it can
    /// be split safely is counted again; beyond them, the tokens are those of the text.
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

/// Characters for each token of a start that are read first; tokens of text and code are seldom longer on average. No
/// more of them are encoded than necessary.
const MANY_CHARACTERS_A_TOKEN: usize = 6;
/// The same for an end, which is encoded whole, so that too few are better; tokens of Chinese are seldom shorter.
const FEW_CHARACTERS_A_TOKEN: usize = 1;

/// In bytes.
const LONGEST_CHARACTER: usize = 4;

/// The end of a piece, and the number of tokens up to there.
#[derive(Clone, Copy)]
struct Piece {
    end: usize,
    total: usize,
}

/// A start or an end of a string in UTF-8, in pieces.
#[derive(Default)]
pub(super) struct Part<'a> {
    pub(super) bytes: Cow<'a, [u8]>,
    /// The start of the first piece.
    first: usize,
    /// The text may continue after the last piece. Once there are enough tokens, those of the last piece may be
    /// overcounted.
    pieces: Vec<Piece>,
}

impl<'a> Part<'a> {
    /// Return a start of a string with this many of its tokens, or all of it.
    pub(super) fn start(encoding: &Encoding, text: Text<'a>, enough: usize) -> Self {
        let mut reach = enough.saturating_mul(MANY_CHARACTERS_A_TOKEN).saturating_add(64);
        loop {
            let is_all = reach >= text.len();
            let bytes = utf8_of(text.slice(0, reach));
            let end = if is_all { bytes.len() } else { encoding.splitter(&bytes).safe_before(bytes.len()) };
            let pieces = encoding.pieces(bytes.get(..end).unwrap_or_default(), 0, enough);
            let part = Self { bytes, first: 0, pieces };
            if is_all || part.total() >= enough {
                return part;
            }
            reach = reach.saturating_mul(4);
        }
    }

    /// Return an end of a string with this many of its tokens, or all of it.
    pub(super) fn end(encoding: &Encoding, text: Text<'a>, enough: usize) -> Self {
        let mut part = Self::default();
        let mut start = text.len(); // of the encoded text
        let mut reach = enough.saturating_mul(FEW_CHARACTERS_A_TOKEN).saturating_add(64);
        loop {
            let (from, bytes, first) = Self::before(encoding, text, start, reach);
            let pieces = encoding.pieces(&bytes, first, usize::MAX);
            start = from + utf8::count(bytes.get(..first).unwrap_or_default());
            part.prepend(bytes, first, pieces);
            if from == 0 || part.total() >= enough {
                return part;
            }
            // As many characters for each of the remaining tokens, and some more.
            let needed = (enough - part.total()).saturating_mul(text.len() - start) / part.total().max(1);
            reach = (needed + needed / 16).saturating_add(32);
        }
    }

    /// Return at least this many characters before `start`: their start, their bytes, and the first place in these
    /// where the text can be split safely.
    fn before(encoding: &Encoding, text: Text<'a>, start: usize, reach: usize) -> (usize, Cow<'a, [u8]>, usize) {
        let (mut reach, mut end) = (reach, start);
        loop {
            let from = start.saturating_sub(reach);
            let bytes = utf8_of(text.slice(from, end));
            let first = if from == 0 { 0 } else { encoding.splitter(&bytes).safe_after(0) };
            if from == 0 || first < bytes.len() {
                return (from, if end == start { bytes } else { utf8_of(text.slice(from, start)) }, first);
            }
            // There is no such place. Read the text before them, up to the first of its characters.
            (reach, end) = (reach.saturating_mul(4), from + 1);
        }
    }

    /// Put the bytes from `first` on, with their pieces, before the others.
    fn prepend(&mut self, bytes: Cow<'a, [u8]>, first: usize, mut pieces: Vec<Piece>) {
        if self.bytes.is_empty() {
            *self = Self { bytes, first, pieces };
            return;
        }
        let (size, own, total) = (bytes.len(), self.first, pieces.last().map_or(0, |last| last.total));
        let mut all = bytes.into_owned();
        all.extend_from_slice(self.slice(own, self.bytes.len()));
        pieces
            .extend(self.pieces.iter().map(|piece| Piece { end: piece.end - own + size, total: piece.total + total }));
        *self = Self { bytes: Cow::Owned(all), first, pieces };
    }

    pub(super) fn slice(&self, from: usize, to: usize) -> &[u8] {
        self.bytes.get(from..to).unwrap_or_default()
    }

    /// Return the number of tokens.
    pub(super) fn total(&self) -> usize {
        self.pieces.last().map_or(0, |last| last.total)
    }

    /// Return the number of tokens up to a place where the text can be split safely.
    fn count_to(&self, at: usize) -> usize {
        let behind = self.pieces.partition_point(|piece| piece.end <= at);
        behind.checked_sub(1).and_then(|last| self.pieces.get(last)).map_or(0, |last| last.total)
    }

    /// Return the end of this many tokens, counted from the first one.
    fn end_of(&self, encoding: &Encoding, count: usize) -> usize {
        let number = self.pieces.partition_point(|piece| piece.total < count);
        let before = number.checked_sub(1).and_then(|last| self.pieces.get(last));
        let (start, done) = before.map_or((self.first, 0), |piece| (piece.end, piece.total));
        match self.pieces.get(number) {
            _ if count == done => start,
            Some(piece) if piece.total == count => piece.end,
            Some(piece) => encoding.end_within(&self.bytes, (start, piece.end), count - done),
            None => start,
        }
    }

    /// Return the character after which the first tokens of a string end, this many or fewer.
    pub(super) fn head_end(&self, encoding: &Encoding, count: usize) -> usize {
        utf8::count(self.slice(0, self.end_of(encoding, count)))
    }

    /// Return the character before which the last tokens of a string begin, this many or fewer.
    pub(super) fn tail_start(&self, encoding: &Encoding, text: Text<'_>, count: usize) -> usize {
        let start = self.end_of(encoding, self.total() - count);
        text.len() - utf8::count(self.slice(start, self.bytes.len()))
    }

    /// Return the end of the first tokens of a string, without a cluster that is only partly in them: in bytes of this
    /// start, and in characters of the text.
    pub(super) fn head(&self, encoding: &Encoding, text: Text<'_>, count: usize) -> (usize, usize) {
        let mut at = utf8::floor(&self.bytes, self.end_of(encoding, count));
        let mut index = utf8::count(self.slice(0, at));
        let boundary = on_units!(text, units => floor_boundary(units, index));
        while index > boundary {
            at = utf8::floor(&self.bytes, at - 1);
            index -= 1;
        }
        (at, index)
    }

    /// Return the start of the last tokens of a string, without a cluster that is only partly in them.
    pub(super) fn tail(&self, encoding: &Encoding, text: Text<'_>, count: usize) -> (usize, usize) {
        let mut at = utf8::ceil(&self.bytes, self.end_of(encoding, self.total() - count));
        let mut index = text.len() - utf8::count(self.slice(at, self.bytes.len()));
        let boundary = on_units!(text, units => ceil_boundary(units, index));
        while index < boundary {
            at = utf8::ceil(&self.bytes, at + 1);
            index += 1;
        }
        (at, index)
    }
}

impl Encoding {
    /// Return the pieces from a place where one begins, until they have this many tokens.
    fn pieces(&self, text: &[u8], from: usize, enough: usize) -> Vec<Piece> {
        let mut pieces = Vec::with_capacity(enough.min(text.len() / 4)); // pieces of text are seldom shorter
        self.visit_counts(text, from, enough, |end, total| pieces.push(Piece { end, total }));
        pieces
    }

    /// Return the end of this many tokens of a piece.
    fn end_within(&self, text: &[u8], (start, end): (usize, usize), count: usize) -> usize {
        let mut ends = Vec::new();
        self.encoder().ends(text, start, end, count, &mut ends);
        count.checked_sub(1).and_then(|last| ends.get(last)).copied().unwrap_or(end)
    }
}

/// Return a string in UTF-8, borrowed if it is ASCII; a lone surrogate becomes U+FFFD.
pub(super) fn utf8_of(text: Text<'_>) -> Cow<'_, [u8]> {
    match text {
        Text::Latin1(units) if units.is_ascii() => Cow::Borrowed(units),
        _ => {
            let mut bytes = vec![0; text.len() * LONGEST_CHARACTER];
            let size = text.write_utf8(&mut bytes);
            bytes.truncate(size);
            Cow::Owned(bytes)
        }
    }
}
