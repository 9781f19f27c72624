//! Compact JSON of a scanned value, as orjson writes it: one line, keys in their order, no escape without need.

use super::base64::{address_line, base64_line};
use super::nodes::Node;
use super::scanned::Scanned;
use super::value::{Value, text_or_empty};
use super::write::push_quoted;
use crate::text::piece::Piece;
use crate::text::{OwnedText, Text};

/// A value as JSON on one line.
pub(crate) fn compact(value: Scanned<'_>) -> OwnedText {
    written(value, false)
}

/// A value as JSON on one line, in which base64 is a line that names it. The twin is `_pure/answer.py`.
pub(crate) fn answer(value: Scanned<'_>) -> OwnedText {
    written(value, true)
}

fn written(value: Scanned<'_>, is_answer: bool) -> OwnedText {
    let mut writer = Writer { is_answer, out: OwnedText::default() };
    writer.value(value, Text::ascii(""));
    writer.out
}

struct Writer {
    /// Whether base64 becomes a line.
    is_answer: bool,
    out: OwnedText,
}

impl Writer {
    /// What stands under a name. Values are at most as deep as the grammar lets them be, so that this may call itself.
    fn value<'a>(&mut self, value: Scanned<'a>, name: Text<'a>) {
        match value.node {
            Node::Null(_) => self.out.push_ascii("null"),
            Node::Bool(true, _) => self.out.push_ascii("true"),
            Node::Bool(false, _) => self.out.push_ascii("false"),
            Node::Number(digits) => self.out.push_ascii(&number(digits)),
            Node::Text { .. } => self.text(text_or_empty(Some(value))),
            Node::List(items, _) => {
                self.out.push_ascii("[");
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        self.out.push_ascii(",");
                    }
                    self.value(value.with(item), Text::ascii(""));
                }
                self.out.push_ascii("]");
            }
            Node::Object(..) | Node::Made(_) => {
                self.out.push_ascii("{");
                for (index, (key, node)) in value.distinct().into_iter().enumerate() {
                    if index > 0 {
                        self.out.push_ascii(",");
                    }
                    push_quoted(&mut self.out, key);
                    self.out.push_ascii(":");
                    self.member(value, key, value.with(node), name);
                }
                self.out.push_ascii("}");
            }
        }
    }

    /// A member of an object that stands under a name itself, which may say that it is media.
    fn member<'a>(&mut self, holder: Scanned<'a>, key: Text<'a>, item: Scanned<'a>, name: Text<'a>) {
        let data = item.text().filter(|_| self.is_answer);
        match data.and_then(|data| base64_line(holder, key, data, name)) {
            Some(line) => push_quoted(&mut self.out, line.text()),
            None => self.value(item, key),
        }
    }

    fn text(&mut self, text: Text<'_>) {
        let shown = if self.is_answer { address_line(text) } else { Piece::Borrowed(text) };
        push_quoted(&mut self.out, shown.text());
    }
}

/// A number as it reads once it was a number: an integer beyond 64 bits is a float where one can hold it.
fn number(digits: &[u8]) -> String {
    let text = std::str::from_utf8(digits).unwrap_or_default();
    let is_integer = !digits.iter().any(|byte| matches!(byte, b'.' | b'e' | b'E'));
    if is_integer && (text.parse::<i64>().is_ok() || text.parse::<u64>().is_ok()) {
        return if text == "-0" { "0".to_owned() } else { text.to_owned() };
    }
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => zmij::Buffer::new().format_finite(value).to_owned(),
        _ if is_integer => text.to_owned(),
        _ => "null".to_owned(),
    }
}
