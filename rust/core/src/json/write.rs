//! Text as a JSON string, as orjson writes it: no escape without need.

use crate::text::graphemes::CodePoint;
use crate::text::{OwnedText, Text, on_units};

/// Add a text in quotes.
pub fn push_quoted(out: &mut OwnedText, text: Text<'_>) {
    out.push_ascii("\"");
    let mut start = 0;
    while let Some(at) = next_escaped(text, start) {
        out.push(text.slice(start, at));
        start = at + 1;
        match text.get(at).unwrap_or_default() {
            0x08 => out.push_ascii("\\b"),
            0x09 => out.push_ascii("\\t"),
            0x0A => out.push_ascii("\\n"),
            0x0C => out.push_ascii("\\f"),
            0x0D => out.push_ascii("\\r"),
            0x22 => out.push_ascii("\\\""),
            0x5C => out.push_ascii("\\\\"),
            other => out.push_ascii(&format!("\\u{other:04x}")),
        }
    }
    out.push(text.slice(start, text.len()));
    out.push_ascii("\"");
}

/// Where the next code point stands that has to be escaped.
fn next_escaped(text: Text<'_>, from: usize) -> Option<usize> {
    let is_escaped = |code_point: u32| code_point < 0x20 || code_point == 0x22 || code_point == 0x5C;
    on_units!(text, units => {
        let rest = units.get(from..).unwrap_or_default();
        rest.iter().position(|unit| is_escaped(unit.code_point())).map(|at| from + at)
    })
}
