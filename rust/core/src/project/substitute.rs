//! What stands in place of a result: a marker, and before and behind it, on lines of their own, what stays of its text.
//!
//! The ends are parts of the text as it stands: in bytes they are copied with their escapes, and never made.
//! The twin is in `_pure/project/blocks.py`.

use super::drafts::{Json, TextPart};
use super::markers::marker_of;
use super::settings::{Decision, Fate};
use crate::content::Content;
use crate::pieces::Piece;
use crate::text::OwnedText;
use crate::value::Value;

/// What stands in place of a result, part by part.
#[derive(Clone, Debug)]
pub(crate) struct Substitute<'a, V> {
    parts: Vec<Content<'a, V>>,
}

impl<'a, V: Value<'a>> Substitute<'a, V> {
    /// Nothing.
    pub(crate) const NONE: Self = Self { parts: Vec::new() };

    /// What a decision makes of a text of so many characters.
    pub(crate) fn of((text, size): (&Content<'a, V>, usize), decision: &Decision<'_>, reference: &str) -> Self {
        let marker = |decision: &Decision<'_>| Content::Piece(Piece::own(marker_of(decision, size, reference)));
        if decision.fate != Fate::Cut {
            return Self { parts: vec![marker(decision)] };
        }
        let head = decision.head.min(size);
        let tail = decision.tail.clamp(head, size);
        let line_feed = || Content::Piece(Piece::ascii("\n"));
        let mut parts = Vec::with_capacity(5);
        if head > 0 {
            parts.extend([text.first(head), line_feed()]);
        }
        parts.push(marker(&Decision::cut(head, tail)));
        if tail < size {
            parts.extend([line_feed(), text.last(size - tail)]);
        }
        Self { parts }
    }

    /// How many characters.
    pub(crate) fn len(&self) -> usize {
        self.parts.iter().map(Content::len).sum()
    }

    /// How many bytes in UTF-8; a lone surrogate has three.
    pub(crate) fn utf8_len(&self) -> usize {
        self.parts.iter().map(Content::utf8_len).sum()
    }

    /// All of it.
    pub(crate) fn text(&self) -> Piece<'a> {
        if let [marker] = self.parts.as_slice() {
            return marker.whole();
        }
        let mut text = OwnedText::default();
        for part in &self.parts {
            text.push(part.whole().text());
        }
        Piece::own(text)
    }

    /// The same as a new value.
    pub(crate) fn json(&self) -> Json<'a> {
        Json::Joined(self.parts.iter().map(as_it_stands).collect())
    }
}

/// A part of a text, as it is written where it stands in JSON.
fn as_it_stands<'a, V: Value<'a>>(part: &Content<'a, V>) -> TextPart<'a> {
    let written = match part {
        Content::Value(value) => value.between_quotes(),
        Content::Piece(_) => None,
    };
    written.map_or_else(|| TextPart::Text(part.whole()), TextPart::Written)
}
