//! The ends of a long text that stay within a limit.
//!
//! A text of bytes is cut as it is written: only a few characters around the two places are decoded, since a cut never
//! splits a grapheme cluster. The twin is `Limits.cut` in `_pure/limits.py`.

use crate::content::Content;
use crate::json::value::Value;
use crate::text::escaped::Plain;
use crate::text::graphemes::{ceil_boundary, ends_look_back, floor_boundary};
use crate::text::piece::Piece;
use crate::text::sanitize::{LONGEST_SEQUENCE, is_clean};
use crate::text::truncate::Keep;
use crate::text::{Text, on_units};

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
