//! What stays of a text that is cut: a part of its beginning, a part of its end.
//!
//! By characters, a few of them around the place tell that, since a cut parts no cluster: so no more of the text is made.
//! The twin is `Limits.cut` in `_pure/limits.py`.

use crate::clean::cut_text;
use crate::content::Content;
use crate::graphemes::{ceil_boundary, ends_look_back, floor_boundary};
use crate::limits::{Cut, Limits};
use crate::pieces::Piece;
use crate::text::on_units;
use crate::truncate::Keep;
use crate::value::Value;
use crate::windows::end_window;

/// So many characters before a place, and behind it, nearly always tell whether it parts a cluster.
const AROUND: usize = 32;

/// What stays of a text that is cut.
#[derive(Clone, Debug)]
pub(crate) struct Ends<'a, V> {
    /// Of its beginning.
    pub(crate) head: Content<'a, V>,
    /// Of its end.
    pub(crate) tail: Content<'a, V>,
}

impl<'a, V: Value<'a>> Ends<'a, V> {
    /// Whether nothing stays.
    pub(crate) fn are_empty(&self) -> bool {
        self.head.is_empty() && self.tail.is_empty()
    }
}

/// What stays of a text of so many characters; nothing where all does.
pub(crate) fn what_stays<'a, V: Value<'a>>(
    (text, size): (&Content<'a, V>, usize),
    limits: Limits,
    keep: Keep,
) -> Option<Ends<'a, V>> {
    if limits.tokens.is_some() {
        let cut = Cut::of(&text.whole(), limits, keep).err()?;
        return Some(Ends { head: text.first(cut.head.len()), tail: text.last(cut.tail.len()) });
    }
    if size <= limits.chars {
        return None;
    }
    let (first, last) = keep.shares(limits.chars);
    let nothing = || Content::Piece(Piece::ascii(""));
    let head = if first > 0 { head_of(text, first) } else { nothing() };
    let tail = if last > 0 { tail_of(text, size, last) } else { nothing() };
    Some(Ends { head, tail })
}

/// The first clusters that stand whole among the first characters.
fn head_of<'a, V: Value<'a>>(text: &Content<'a, V>, count: usize) -> Content<'a, V> {
    let first = text.first(count + 1);
    let window = first.last(AROUND + 1).whole();
    let place = window.len() - 1;
    let known = on_units!(window.text(), units => floor_boundary(units, place));
    if anchor(&window, place).is_some_and(|from| known > from) {
        return first.first(count - place + known);
    }
    first.first(cut_text(text.start(count + 1).text(), count, Keep::Head).0)
}

/// The last clusters that stand whole among the last characters.
fn tail_of<'a, V: Value<'a>>(text: &Content<'a, V>, size: usize, count: usize) -> Content<'a, V> {
    let last = text.last(count + AROUND);
    let window = last.first(2 * AROUND).whole();
    let place = AROUND.min(size - count);
    let known = on_units!(window.text(), units => ceil_boundary(units, place));
    if anchor(&window, place).is_some() && known < window.len() {
        return last.last(count + place - known);
    }
    let window = end_window(text, count);
    last.last(window.len() - cut_text(window.text(), count, Keep::Tail).1)
}

/// The last character before a place, of which no boundary behind it depends on what stands before; nothing where the
/// window doesn't hold it.
fn anchor(window: &Piece<'_>, place: usize) -> Option<usize> {
    on_units!(window.text(), units => units.iter().take(place).rposition(|unit| ends_look_back(*unit)))
}
