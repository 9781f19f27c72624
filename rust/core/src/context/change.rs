//! What an edit changed. The twin is `_pure/change.py`.

use crate::content::Content;
use crate::json::value::{Key, Value, items, names, text_or_empty};
use crate::pairing::argument_names::{DIFF_KEYS, NEW_KEYS, OLD_KEYS, SOURCE_KEY, WHOLE_FILE_KEYS};
use crate::text::piece::Piece;
use crate::text::{OwnedText, Text};

/// Room for the signs of lines of so many characters is made at once.
const SHORT_LINE: usize = 16;

/// What an edit changed, as lines with `-` and `+` (true), or the whole that a write wrote (false).
pub(crate) fn change_of<'a, V: Value<'a>>(input: V) -> Option<(Content<'a, V>, bool)> {
    if let Some(edits) = input.get(names::EDITS).and_then(Value::list) {
        let mut text = OwnedText::default();
        for edit in items(edits).filter_map(Value::object) {
            push_replaced(&mut text, replaced(edit));
        }
        if !text.as_text().is_empty() {
            return Some((Content::Piece(Piece::own(text)), true));
        }
    }
    let texts = replaced(input);
    if texts.iter().any(Option::is_some) {
        let mut text = OwnedText::default();
        push_replaced(&mut text, texts);
        return (!text.as_text().is_empty()).then(|| (Content::Piece(Piece::own(text)), true));
    }
    if let Some(diff) = first_text(input, DIFF_KEYS) {
        return Some((Content::Value(diff), true));
    }
    let whole = first_text(input, WHOLE_FILE_KEYS).or_else(|| first_text(input, &[SOURCE_KEY]))?;
    Some((Content::Value(whole), false))
}

/// The old text and the new.
fn replaced<'a, V: Value<'a>>(edit: V) -> [Option<V>; 2] {
    [first_text(edit, OLD_KEYS), first_text(edit, NEW_KEYS)]
}

/// Add the old lines with `-` and the new lines with `+`.
fn push_replaced<'a, V: Value<'a>>(text: &mut OwnedText, [old, new]: [Option<V>; 2]) {
    push_prefixed(text, text_or_empty(old), "-");
    push_prefixed(text, text_or_empty(new), "+");
}

fn push_prefixed(text: &mut OwnedText, lines: Text<'_>, sign: &str) {
    if lines.is_empty() {
        return;
    }
    let unix = without_returns(lines);
    let mut rest = unix.text().without_suffix("\n");
    text.reserve(rest.len() + rest.len() / SHORT_LINE + 2);
    text.push_ascii(sign);
    while let Some(newline) = rest.find(b'\n') {
        text.push(rest.slice(0, newline + 1));
        text.push_ascii(sign);
        rest = rest.slice(newline + 1, rest.len());
    }
    text.push(rest);
    text.push_ascii("\n");
}

/// `text` with LF in place of CRLF and CR.
fn without_returns(text: Text<'_>) -> Piece<'_> {
    let mut rest = text;
    let mut unix = OwnedText::default();
    while let Some(found) = rest.find(b'\r') {
        unix.push(rest.slice(0, found));
        unix.push_ascii("\n");
        let is_pair = rest.get(found + 1) == Some(0x0A);
        rest = rest.slice(found + 1 + usize::from(is_pair), rest.len());
    }
    if rest.len() == text.len() {
        return Piece::Borrowed(text);
    }
    unix.push(rest);
    Piece::own(unix)
}

/// The first of these members that is a text.
fn first_text<'a, V: Value<'a>>(input: V, keys: &[Key<'_>]) -> Option<V> {
    keys.iter().find_map(|key| input.get(*key).filter(|value| value.text_len().is_some()))
}
