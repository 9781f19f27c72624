//! What stays of a text, found by looking at its ends alone; and where it need not be made, not even of these.

use crate::clean::{LONGEST_SEQUENCE, cut_text, is_clean};
use crate::content::Content;
use crate::graphemes::ends_look_back;
use crate::limits::Cut;
use crate::pieces::Piece;
use crate::scan::Plain;
use crate::text::{Text, on_units};
use crate::truncate::Keep;
use crate::value::Value;

/// The ends of an over-long text that stay, where what [`cut_windows`] looks at is plain. Either may be empty.
pub(crate) fn plain_ends<'a, V: Value<'a>>(text: &Content<'a, V>, limit: usize, side: Keep) -> Option<[Plain<'a>; 2]> {
    let (first, last) = side.shares(limit);
    let head = if first > 0 { text.plain_start(first)? } else { Plain::default() };
    let tail = if last > 0 { text.plain_end(last, 1 + LONGEST_SEQUENCE)? } else { Plain::default() };
    Some([head, tail])
}

/// The cut of an over-long text, found by looking at its ends alone; `None` where what they show is not clean.
pub(crate) fn cut_windows<'a, V: Value<'a>>(text: &Content<'a, V>, limit: usize, side: Keep) -> Option<Cut<'a>> {
    let (first, last) = side.shares(limit);
    let mut cut = Cut { head: Piece::default(), tail: Piece::default(), tokens: None };
    if first > 0 {
        let window = text.start(first + 1);
        if !is_clean(window.text()) {
            return None;
        }
        cut.head = window.slice(0, cut_text(window.text(), first, Keep::Head).0);
    }
    if last > 0 {
        let window = end_window(text, last);
        let shown = window.len().saturating_sub(last + 1 + LONGEST_SEQUENCE);
        if !is_clean(window.text().slice(shown, window.len())) {
            return None;
        }
        cut.tail = window.slice(cut_text(window.text(), last, Keep::Tail).1, window.len());
    }
    Some(cut)
}

/// The last `count` code points and enough before them to tell where clusters begin.
pub(crate) fn end_window<'a, V: Value<'a>>(text: &Content<'a, V>, count: usize) -> Piece<'a> {
    let mut margin = 1 + LONGEST_SEQUENCE;
    loop {
        let window = text.end(count + margin);
        let before = window.text().slice(0, window.len() - count.min(window.len()));
        if window.len() == text.len() || has_look_back_end(before) {
            return window;
        }
        margin *= 2;
    }
}

fn has_look_back_end(text: Text<'_>) -> bool {
    on_units!(text, units => units.iter().rev().any(|unit| ends_look_back(*unit)))
}
