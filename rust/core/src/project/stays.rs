//! What stays of a text that is cut: where its head ends, and where its tail begins.
//!
//! By characters, a few of them around the place tell that, since a cut parts no cluster: so no more of the text is made.
//! The twin is `Limits.cut` in `_pure/limits.py`.

use crate::clean::cut_text;
use crate::content::Content;
use crate::fences::end_window;
use crate::graphemes::{ceil_boundary, ends_look_back, floor_boundary};
use crate::limits::{Cut, Limits};
use crate::pieces::Piece;
use crate::text::on_units;
use crate::truncate::Keep;
use crate::value::Value;

/// So many characters before a place, and behind it, nearly always tell whether it parts a cluster.
const AROUND: usize = 32;

/// Where the head that stays ends, and where the tail begins, of a text of so many characters; nothing where all stays.
pub(crate) fn what_stays<'a, V: Value<'a>>(
    (text, size): (&Content<'a, V>, usize),
    limits: Limits,
    keep: Keep,
) -> Option<(usize, usize)> {
    if limits.tokens.is_some() {
        let cut = Cut::of(&text.whole(), limits, keep).err()?;
        return Some((cut.head.len(), size - cut.tail.len()));
    }
    if size <= limits.chars {
        return None;
    }
    let (first, last) = keep.shares(limits.chars);
    let head = if first > 0 { head_end(text, first) } else { 0 };
    let tail = if last > 0 { tail_start(text, size, last) } else { size };
    Some((head, tail))
}

/// Where the last cluster ends that stands whole among the first characters.
fn head_end<'a, V: Value<'a>>(text: &Content<'a, V>, count: usize) -> usize {
    let window = text.first(count + 1).last(AROUND + 1).whole();
    let place = window.len() - 1;
    let known = on_units!(window.text(), units => floor_boundary(units, place));
    if anchor(&window, place).is_some_and(|from| known > from) {
        return count - place + known;
    }
    cut_text(text.start(count + 1).text(), count, Keep::Head).0
}

/// Where the first cluster begins that stands whole among the last characters.
fn tail_start<'a, V: Value<'a>>(text: &Content<'a, V>, size: usize, count: usize) -> usize {
    let window = text.last(count + AROUND).first(2 * AROUND).whole();
    let place = AROUND.min(size - count);
    let known = on_units!(window.text(), units => ceil_boundary(units, place));
    if anchor(&window, place).is_some() && known < window.len() {
        return size - count - place + known;
    }
    let window = end_window(text, count);
    size - (window.len() - cut_text(window.text(), count, Keep::Tail).1)
}

/// The last character before a place, of which no boundary behind it depends on what stands before; nothing where the
/// window doesn't hold it.
fn anchor(window: &Piece<'_>, place: usize) -> Option<usize> {
    on_units!(window.text(), units => units.iter().take(place).rposition(|unit| ends_look_back(*unit)))
}
