//! The pieces of a hand-over, each with its exact size.
//!
//! The sizes of pieces are summed, never counted again. So each piece begins with a letter or a sign other than a slash, and
//! ends with a line feed (see `limits`). Foreign text is only ever in a fence that is longer than any run inside, or in one
//! line after words of ours, in which markdown does not act: so no text can forge a heading, a step or a speaker.

use std::borrow::Cow;
use std::marker::PhantomData;

use super::chars::{content_of, in_one_line, inert_line, is_longer};
use super::clean::without_keys;
use crate::context::fence::{Source, fence_into};
use crate::context::limits::{Limits, Measure, signed};
use crate::context::output::Output;
use crate::json::value::Value;
use crate::text::truncate::Keep;
use crate::text::{OwnedText, Text};

/// The characters that stand for one token where the total counts characters.
const CHARS: isize = 4;
/// The most characters for each token of a text that is shown.
const MOST_CHARS: usize = 24;
/// The characters of a text of one line that needs no fence.
pub(super) const LONGEST_INLINE: usize = 200;

/// A finished part of a context, its size, and true if a text in it was shortened, or became one line.
#[derive(Clone, Debug, Default)]
pub(super) struct Piece {
    pub(super) text: String,
    pub(super) size: isize,
    pub(super) is_cut: bool,
    pub(super) is_outlined: bool,
}

impl Piece {
    /// Return a piece that follows this one, and this one, as one piece.
    pub(super) fn and(mut self, next: &Self) -> Self {
        self.text.push_str(&next.text);
        self.size += next.size;
        self.is_cut |= next.is_cut;
        self
    }
}

/// Writes pieces in the unit of a total.
#[derive(Clone, Copy, Debug)]
pub(super) struct Paper {
    pub(super) measure: Measure,
    pub(super) limits: Limits,
    /// The size that stands for one token.
    pub(super) token: isize,
}

impl Paper {
    pub(super) fn new(measure: Measure, limits: Limits) -> Self {
        Self { measure, limits, token: if measure.is_characters() { CHARS } else { 1 } }
    }

    /// Return the size of a text.
    pub(super) fn size(&self, text: &str) -> isize {
        signed(if text.is_ascii() {
            self.measure.size(Text::ascii(text))
        } else {
            self.measure.size(OwnedText::from_utf8(text).as_text())
        })
    }

    /// Return a text with its size.
    pub(super) fn piece(&self, text: String) -> Piece {
        Piece { size: self.size(&text), text, ..Piece::default() }
    }

    /// Return what a line of a list takes at most, be it the last one, which an empty line follows, or not.
    pub(super) fn line_size(&self, line: &str) -> isize {
        self.size(line).max(self.size(&format!("{line}\n")))
    }

    /// Return a text in a fence, shortened to the room; `None` if too little of it would be shown.
    pub(super) fn fence<'a, V: Value<'a>>(
        &self,
        source: &Source<'a, V>,
        limits: Limits,
        room: isize,
        end: &'static str,
    ) -> Option<Piece> {
        let room = usize::try_from(room).ok().filter(|room| *room > 0)?;
        // So that a long text is not counted as a whole.
        let most = MOST_CHARS.saturating_mul(room) / self.token.unsigned_abs();
        let limits = if most > 0 { Limits { chars: limits.chars.min(most), ..limits } } else { limits };
        let mut out = Output::default();
        let start = out.end();
        let fenced = fence_into(source, limits, (room, self.measure), end, &mut out)?;
        let text = out.kept(start..out.end());
        let text = match text {
            OwnedText::Latin1(units) if units.is_ascii() => String::from_utf8(units).unwrap_or_default(),
            text => text.as_text().to_utf8(),
        };
        Some(Piece { text, size: signed(fenced.size), is_cut: fenced.is_cut, ..Piece::default() })
    }

    /// Return what a person said, after a label: in one line if it is short, else in a fence.
    pub(super) fn spoken<'a, V: Value<'a>>(
        &self,
        label: &str,
        text: &str,
        room: isize,
        _: PhantomData<V>,
    ) -> Option<Piece> {
        let text = without_keys(text);
        let text = text.trim_matches(['\n', ' ', '\t']);
        if !text.contains('\n') && !is_longer(text, LONGEST_INLINE) {
            let piece = self.piece(format!("**{label}:** {}\n\n", inert_line(text, LONGEST_INLINE)));
            return (piece.size <= room).then_some(piece);
        }
        let head = self.piece(format!("**{label}:**\n"));
        let source: Source<'a, V> = source_of(Cow::Owned(text.to_owned()), "text", Keep::Ends, Text::ascii(""));
        let body = self.fence(&source, Limits::NONE, room - head.size, "\n")?;
        Some(head.and(&body))
    }

    /// Return the beginning and the end of what a person said, after a label, in one line.
    pub(super) fn spoken_in_short(&self, label: &str, text: &str) -> Piece {
        let line = in_one_line(&without_keys(text));
        let piece = self.piece(format!("**{label}:** {}\n\n", inert_line(&line, LONGEST_INLINE)));
        Piece { is_cut: true, ..piece }
    }
}

/// Return a text to be fenced.
pub(super) fn source_of<'a, V>(
    text: Cow<'a, str>,
    language: &'static str,
    side: Keep,
    reference: Text<'a>,
) -> Source<'a, V> {
    Source {
        text: content_of(text),
        language,
        side,
        reference,
        is_exempt: false,
        content: None,
        printed_by: None,
        has_marker_below: false,
    }
}
