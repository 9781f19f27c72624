//! What stands in place of a result: a marker, and before and behind it, on lines of their own, what stays of its text.
//!
//! The ends are parts of the text as it stands: in bytes they are copied with their escapes, and never made.
//! The twin is in `_pure/project/blocks.py`.

use super::drafts::{Json, TextPart};
use super::markers::marker_of;
use super::settings::{Decision, Fate};
use super::stays::Ends;
use crate::content::Content;
use crate::pieces::Piece;
use crate::text::OwnedText;
use crate::value::Value;

/// Two ends, a line feed at each, and the marker.
const MOST_PARTS: usize = 5;

/// What stands in place of a result.
#[derive(Clone, Debug)]
pub(crate) struct Substitute<'a, V> {
    head: Content<'a, V>,
    marker: Piece<'a>,
    tail: Content<'a, V>,
}

impl<'a, V: Value<'a>> Substitute<'a, V> {
    /// Nothing.
    pub(crate) const NONE: Self = Self::marked(Piece::ascii(""));

    /// What a decision makes of a text of so many characters.
    pub(crate) fn of((text, size): (&Content<'a, V>, usize), decision: &Decision<'_>, reference: &str) -> Self {
        if decision.fate != Fate::Cut {
            return Self::marked(Piece::own(marker_of(decision, size, reference)));
        }
        let head = decision.head.min(size);
        let tail = decision.tail.clamp(head, size);
        Self::cut(
            Ends { head: text.first(head), tail: text.last(size - tail) },
            &Decision::cut(head, tail),
            size,
            reference,
        )
    }

    /// The ends of a text that is cut by a decision.
    pub(crate) fn cut(ends: Ends<'a, V>, decision: &Decision<'_>, size: usize, reference: &str) -> Self {
        let Ends { head, tail } = ends;
        Self { head, marker: Piece::own(marker_of(decision, size, reference)), tail }
    }

    const fn marked(marker: Piece<'a>) -> Self {
        Self { head: Content::Piece(Piece::ascii("")), marker, tail: Content::Piece(Piece::ascii("")) }
    }

    /// Its parts in their order.
    fn parts(&self) -> impl Iterator<Item = Content<'a, V>> {
        let line_feed = || Content::Piece(Piece::ascii("\n"));
        let head = (!self.head.is_empty()).then(|| [self.head.clone(), line_feed()]);
        let tail = (!self.tail.is_empty()).then(|| [line_feed(), self.tail.clone()]);
        let marker = Content::Piece(self.marker.clone());
        head.into_iter().flatten().chain([marker]).chain(tail.into_iter().flatten())
    }

    /// How many characters.
    pub(crate) fn len(&self) -> usize {
        let ends = [&self.head, &self.tail].map(Content::len);
        self.marker.len() + ends.iter().map(|size| size + usize::from(*size > 0)).sum::<usize>()
    }

    /// How many bytes in UTF-8; a lone surrogate has three.
    pub(crate) fn utf8_len(&self) -> usize {
        self.parts().map(|part| part.utf8_len()).sum()
    }

    /// All of it.
    pub(crate) fn text(&self) -> Piece<'a> {
        if self.len() == self.marker.len() {
            return self.marker.clone();
        }
        let mut text = OwnedText::default();
        for part in self.parts() {
            text.push(part.whole().text());
        }
        Piece::own(text)
    }

    /// The same as a new value.
    pub(crate) fn json(&self) -> Json<'a> {
        let mut parts = Vec::with_capacity(MOST_PARTS);
        parts.extend(self.parts().map(|part| as_it_stands(&part)));
        Json::Joined(parts)
    }
}

/// A part of a text, as it is written where it stands in JSON.
pub(crate) fn as_it_stands<'a, V: Value<'a>>(part: &Content<'a, V>) -> TextPart<'a> {
    let written = match part {
        Content::Value(value) => value.between_quotes(),
        Content::Piece(_) => None,
    };
    written.map_or_else(|| TextPart::Text(part.whole()), TextPart::Written)
}
