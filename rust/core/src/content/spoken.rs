//! What a message says aloud: its text without tools and without thinking. The twin is in `_pure/dialogue.py`.

use super::Content;
use crate::json::value::{Value, items, names, text_or_empty};
use crate::text::OwnedText;
use crate::text::piece::Piece;

/// The parts of a message that are said aloud; those without a type are, too.
const TEXT_KINDS: [&str; 3] = ["text", "input_text", "output_text"];

/// The text of a message: a string, or the text parts of a list on lines of their own; one alone stays where it is.
pub(crate) fn spoken_content<'a, V: Value<'a>>(content: Option<V>) -> Content<'a, V> {
    let Some(content) = content else { return Content::Piece(Piece::default()) };
    if content.text_len().is_some() {
        return Content::Value(content);
    }
    let mut parts = content.list().into_iter().flat_map(items).filter_map(part_text);
    let Some(first) = parts.next() else { return Content::Piece(Piece::default()) };
    let Some(second) = parts.next() else { return Content::Value(first) };
    let mut said = OwnedText::from(text_or_empty(Some(first)));
    for part in std::iter::once(second).chain(parts) {
        said.push_ascii("\n");
        said.push(text_or_empty(Some(part)));
    }
    Content::Piece(Piece::own(said))
}

/// The text of a part that is said aloud.
pub(crate) fn part_text<'a, V: Value<'a>>(part: V) -> Option<V> {
    if part.text_len().is_some() {
        return Some(part);
    }
    let part = part.object()?;
    let is_thought = part.get(names::THOUGHT).is_some_and(Value::is_true);
    let kind = part.get(names::TYPE);
    let name = text_or_empty(kind);
    let is_text = kind.is_none() || TEXT_KINDS.iter().any(|text| name.is(text));
    if is_thought || !is_text {
        return None;
    }
    let held_elsewhere = || part.get(names::CONTENT).filter(|_| name.is("text")); // OpenTelemetry
    part.get(names::TEXT).or_else(held_elsewhere).filter(|text| text.text_len().is_some())
}
