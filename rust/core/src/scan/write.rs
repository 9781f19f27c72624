//! Compact JSON of what was scanned, as orjson writes it: one line, keys in their order, no escape without need.

use bumpalo::Bump;

use super::nodes::Node;
use super::value::distinct;
use crate::text::{OwnedText, Text};

/// A value as JSON on one line.
pub(crate) fn compact<'a>(node: &'a Node<'a>, bump: &'a Bump) -> OwnedText {
    let mut out = OwnedText::default();
    write(node, bump, &mut out);
    out
}

/// Values are at most as deep as the grammar lets them be, so that this may call itself.
fn write<'a>(node: &'a Node<'a>, bump: &'a Bump, out: &mut OwnedText) {
    match node {
        Node::Null => out.push_ascii("null"),
        Node::Bool(true) => out.push_ascii("true"),
        Node::Bool(false) => out.push_ascii("false"),
        Node::Number(digits) => out.push_ascii(&number(digits)),
        Node::Text(raw) => push_quoted(out, raw.text(bump)),
        Node::List(items) => {
            out.push_ascii("[");
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push_ascii(",");
                }
                write(item, bump, out);
            }
            out.push_ascii("]");
        }
        Node::Object(members) => {
            out.push_ascii("{");
            for (index, (name, value)) in distinct(members, bump).into_iter().enumerate() {
                if index > 0 {
                    out.push_ascii(",");
                }
                push_quoted(out, name);
                out.push_ascii(":");
                write(value, bump, out);
            }
            out.push_ascii("}");
        }
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

/// Add a text in quotes.
pub(crate) fn push_quoted(out: &mut OwnedText, text: Text<'_>) {
    out.push_ascii("\"");
    let mut start = 0;
    for index in 0..text.len() {
        let Some(code_point) = text.get(index).filter(|unit| *unit < 0x20 || *unit == 0x22 || *unit == 0x5C) else {
            continue;
        };
        out.push(text.slice(start, index));
        start = index + 1;
        match code_point {
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
