//! The section that names the newest of what was left out. The twin is `_pure/left_out.py`.

use super::block::{Section, title};
use super::limits::{Measure, signed};
use crate::json::value::Value;
use crate::pairing::block::Entry;
use crate::text::OwnedText;
use crate::text::constants::{EARLIER_RESULTS, LEFT_OUT_HEADING};
use crate::text::piece::Piece;
use crate::text::sanitize::{clean_line, shorten};

pub(crate) const MOST_LISTED: usize = 20;
const LONGEST_LISTED: usize = 100;

/// The section that names the newest of what was left out, as far as they fit.
pub(crate) fn list_left_out<'a, V: Value<'a>>(
    entries: &[&Entry<'a, V>],
    (room, measure): (usize, Measure),
    has_more: bool,
) -> OwnedText {
    let mut has_more = has_more || entries.len() > MOST_LISTED;
    let mut room = signed(room) - signed(measure.size_ascii(LEFT_OUT_HEADING));
    let end = signed(measure.size_ascii(EARLIER_RESULTS));
    let mut text = OwnedText::default();
    text.push_ascii(LEFT_OUT_HEADING);
    let count = entries.len().min(MOST_LISTED);
    let mut is_empty = true;
    for (number, entry) in entries.iter().take(MOST_LISTED).enumerate() {
        let mut line = OwnedText::default();
        line.push_ascii("- ");
        line.push(shorten(&listed_title(entry), LONGEST_LISTED).text());
        line.push_ascii("\n");
        let line_size = signed(measure.size(line.as_text()));
        let is_last = number + 1 == count && !has_more;
        let size = if is_last { last_size(&line, measure) } else { line_size + end };
        if size > room {
            has_more = true;
            break;
        }
        room -= line_size;
        text.push(line.as_text());
        is_empty = false;
    }
    if is_empty && (count == 0 || end > room) {
        return OwnedText::default();
    }
    text.push_ascii(if has_more { EARLIER_RESULTS } else { "\n" });
    text
}

/// What the last line takes, with the empty line behind it.
fn last_size(line: &OwnedText, measure: Measure) -> isize {
    let mut last = line.clone();
    last.push_ascii("\n");
    signed(measure.size(last.as_text()))
}

/// What the list says of a block: the tool with its path or command, or the call.
///
/// What could open a block of markdown at the beginning of a list item is escaped.
fn listed_title<'a, V: Value<'a>>(entry: &Entry<'a, V>) -> Piece<'a> {
    let name = title(entry);
    let mut text = OwnedText::default();
    if Section::of(entry) != Section::Others {
        text.push(clean_line(&Piece::Borrowed(entry.name()), 40).text());
        text.push_ascii(": ");
    }
    text.push(name.text());
    let first = text.as_text().get(0).and_then(char::from_u32);
    if first.is_none_or(|first| !first.is_ascii() || first.is_ascii_alphabetic() || first == '_') {
        return Piece::own(text);
    }
    let mut escaped = OwnedText::default();
    escaped.push_ascii("\\");
    escaped.push(text.as_text());
    Piece::own(escaped)
}
