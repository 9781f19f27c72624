//! The section that names the newest of what was left out. The twin is `_pure/left_out.py`.

use crate::clean::{clean_line, shorten};
use crate::entry::Entry;
use crate::fill::signed;
use crate::pieces::Piece;
use crate::render::{Section, title};
use crate::text::OwnedText;
use crate::value::Value;

const LEFT_OUT_TITLE: &str = "## Left Out\n";
const EARLIER: &str = "- ... and earlier results\n";
pub(crate) const MOST_LISTED: usize = 20;
const LONGEST_LISTED: usize = 100;

/// The section that names the newest of what was left out, as far as they fit.
pub(crate) fn list_left_out<'a, V: Value<'a>>(entries: &[&Entry<'a, V>], room: usize, has_more: bool) -> OwnedText {
    let mut has_more = has_more || entries.len() > MOST_LISTED;
    let mut room = signed(room) - signed(LEFT_OUT_TITLE.len() + 1);
    let mut text = OwnedText::default();
    let count = entries.len().min(MOST_LISTED);
    for (number, entry) in entries.iter().take(MOST_LISTED).enumerate() {
        let line = shorten(&listed_title(entry), LONGEST_LISTED);
        let size = signed(line.len() + 3);
        let is_last = number + 1 == count && !has_more;
        if size + if is_last { 0 } else { signed(EARLIER.len()) } > room {
            has_more = true;
            break;
        }
        room -= size;
        if number == 0 {
            text.push_ascii(LEFT_OUT_TITLE);
        }
        text.push_ascii("- ");
        text.push(line.text());
        text.push_ascii("\n");
    }
    if text.as_text().is_empty() {
        if count == 0 || signed(EARLIER.len()) > room {
            return text;
        }
        text.push_ascii(LEFT_OUT_TITLE);
    }
    text.push_ascii(if has_more { EARLIER } else { "" });
    text.push_ascii("\n");
    text
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
