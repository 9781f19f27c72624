//! Split the lines of a session file into the parts that become commits.

use bumpalo::Bump;

use crate::content::spoken_text;
use crate::content::{Content, result_text};
use crate::formats::message::{MessageParts, ToolCall};
use crate::formats::{SYSTEM_ROLES, read_message, read_spoken, speaker_of};
use crate::input::messages::{NeedsImport, held_message};
use crate::json::scanned::{Scanned, Written};
use crate::json::value::{Value, names, text_or_empty};
use crate::text::cut_words::has_cut_word;
use crate::text::graphemes::CodePoint;
use crate::text::piece::Piece;
use crate::text::{OwnedText, Text, on_units};
use crate::tokens::Encoding;

/// The part of a line that becomes one commit.
#[derive(Debug)]
pub struct Part {
    /// The kind of the part, with its data.
    pub what: PartKind,
    /// The role of the commit.
    pub role: &'static str,
    /// The tokens of its text.
    pub tokens: usize,
}

/// The kind of a part, with the data that only this kind has.
#[derive(Debug)]
pub enum PartKind {
    /// A string.
    Message,
    /// A string with tool calls: the id and the name of each, and all calls as canonical bytes.
    Calls(Vec<[OwnedText; 2]>, Vec<u8>),
    /// The result of a tool call.
    Result {
        /// The id of the call; may be empty.
        call_id: OwnedText,
        /// The name of the tool; may be empty.
        name: OwnedText,
        /// True if the tool failed.
        is_error: bool,
        /// The text, if it may contain a mark of a cut.
        suspect: Option<OwnedText>,
    },
}

/// The error for a line that only the Python reference can read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unread;

/// Return the parts of a line; `None` if it is blank.
pub fn read_line(line: &[u8], encoding: &Encoding, bump: &Bump) -> Result<Option<Vec<Part>>, Unread> {
    if line.iter().all(|byte| matches!(byte, b' ' | 0x09..=0x0D)) {
        return Ok(None);
    }
    let record = Scanned::parse(line, bump).ok().and_then(Value::object).ok_or(Unread)?;
    let is_held = record.get(names::ROLE).is_none() && (record.has(names::UUID) || record.has(names::MESSAGE));
    let held = Some(record).filter(|_| is_held).and_then(held_message);
    let message = held.filter(|held| held.size() > 0).unwrap_or(record);
    let mut message_parts = MessageParts::default();
    read_message(message, message.get(names::ROLE), &mut message_parts).map_err(|NeedsImport| Unread)?;
    let count = |text: &Piece<'_>| encoding.count_tokens(text.text());
    let results = message_parts.results.iter().map(|result| {
        let text = result_text(result.content).whole();
        let what = PartKind::Result {
            call_id: OwnedText::from(result.call_id),
            name: OwnedText::from(result.name),
            is_error: result.is_error,
            suspect: has_cut_word(text.text()).then(|| OwnedText::from(text.text())),
        };
        Part { what, role: "tool", tokens: count(&text) }
    });
    let spoken = read_spoken(message);
    let is_result = message_parts.results.iter().any(|result| result.wire.identity() == message.identity());
    let content = if is_result { Content::Piece(Piece::default()) } else { spoken_text(spoken.content) };
    let text = content.whole();
    if !message_parts.calls.is_empty() {
        let known = message_parts.calls.iter().map(|call| [OwnedText::from(call.call_id), OwnedText::from(call.name)]);
        let what = PartKind::Calls(known.collect(), write_calls(&message_parts.calls)?);
        let called = Part { what, role: "assistant", tokens: count(&text) };
        return Ok(Some(std::iter::once(called).chain(results).collect()));
    }
    let mut parts: Vec<Part> = results.collect();
    let role = if SYSTEM_ROLES.iter().any(|name| spoken.speaker.is(name)) {
        Some("system")
    } else {
        speaker_of(spoken.speaker).map(|speaker| if speaker == "USER" { "user" } else { "assistant" })
    };
    if let Some(role) = role.filter(|_| !text.text().is_empty()) {
        parts.push(Part { what: PartKind::Message, role, tokens: count(&text) });
    }
    Ok(Some(parts))
}

/// Write calls as they are in canonical metadata.
fn write_calls(calls: &[ToolCall<'_, Scanned<'_>>]) -> Result<Vec<u8>, Unread> {
    let mut written = Vec::new();
    for call in calls {
        written.extend_from_slice(if written.is_empty() { b"[" } else { b"," });
        written.extend_from_slice(br#"{"arguments":"#);
        match call.arguments {
            Some(arguments) => write(arguments.arguments(), &mut written)?,
            None => written.extend_from_slice(b"{}"),
        }
        written.extend_from_slice(br#","id":"#);
        write_text(call.call_id, &mut written);
        written.extend_from_slice(br#","name":"#);
        write_text(call.name, &mut written);
        written.push(b'}');
    }
    written.push(b']');
    Ok(written)
}

/// Write a value as canonical JSON: keys in order, no white space.
fn write(value: Scanned<'_>, to: &mut Vec<u8>) -> Result<(), Unread> {
    match value.written() {
        Written::Null => to.extend_from_slice(b"null"),
        Written::Bool(truth) => to.extend_from_slice(if truth { b"true" } else { b"false" }),
        Written::Number(digits) => {
            // Only Python's decoder knows how it writes floats and long integers.
            let number = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse::<i64>().ok());
            if number.is_none() || digits == b"-0" {
                return Err(Unread);
            }
            to.extend_from_slice(digits);
        }
        Written::Text => write_text(text_or_empty(Some(value)), to),
        Written::List => {
            to.push(b'[');
            for (place, item) in (0..value.count()).filter_map(|index| value.item(index)).enumerate() {
                to.extend((place > 0).then_some(b','));
                write(item, to)?;
            }
            to.push(b']');
        }
        Written::Object => {
            let mut members = Vec::new();
            value.members(&mut |name, value| {
                members.push((name, value));
                true
            });
            members.sort_by(|(one, _), (other, _)| units(*one).cmp(units(*other)));
            to.push(b'{');
            for (place, (name, value)) in members.into_iter().enumerate() {
                to.extend((place > 0).then_some(b','));
                write_text(name, to);
                to.push(b':');
                write(value, to)?;
            }
            to.push(b'}');
        }
    }
    Ok(())
}

/// The code points of a string.
fn units(text: Text<'_>) -> impl Iterator<Item = u32> {
    (0..text.len()).filter_map(move |index| text.get(index))
}

/// Write a string as a quoted JSON string in ASCII.
fn write_text(text: Text<'_>, to: &mut Vec<u8>) {
    to.push(b'"');
    match text {
        Text::Latin1(units) if units.is_ascii() => {
            let mut rest = units;
            while !rest.is_empty() {
                let (plain, special) = rest.split_at(plain_length(rest));
                to.extend_from_slice(plain);
                let Some((byte, after)) = special.split_first() else { break };
                escape(u32::from(*byte), to);
                rest = after;
            }
        }
        _ => on_units!(text, units => units.iter().for_each(|unit| escape(unit.code_point(), to))),
    }
    to.push(b'"');
}

/// Return the number of leading bytes that need no escape. Blocks of 16 bytes are tested at once.
fn plain_length(bytes: &[u8]) -> usize {
    let is_plain = |byte: &u8| is_plain(u32::from(*byte));
    let blocks = bytes.chunks_exact(16).take_while(|block| block.iter().fold(true, |all, byte| all & is_plain(byte)));
    let whole = 16 * blocks.count();
    whole + bytes.iter().skip(whole).take_while(|byte| is_plain(byte)).count()
}

/// Return true if a character needs no escape.
#[inline(always)]
fn is_plain(code_point: u32) -> bool {
    matches!(code_point, 0x20..0x7F) & (code_point != 0x22) & (code_point != 0x5C)
}

/// Write a character, escaped if necessary.
fn escape(code_point: u32, to: &mut Vec<u8>) {
    match u8::try_from(code_point) {
        Ok(byte) if is_plain(code_point) => to.push(byte),
        Ok(byte @ (b'"' | b'\\')) => to.extend([b'\\', byte]),
        Ok(0x08) => to.extend(b"\\b"),
        Ok(0x0C) => to.extend(b"\\f"),
        Ok(b'\n') => to.extend(b"\\n"),
        Ok(b'\r') => to.extend(b"\\r"),
        Ok(b'\t') => to.extend(b"\\t"),
        _ => match code_point.checked_sub(0x1_0000) {
            Some(above) => {
                write_unit(0xD800 | above >> 10, to);
                write_unit(0xDC00 | above & 0x3FF, to);
            }
            None => write_unit(code_point, to),
        },
    }
}

/// Write a UTF-16 unit as `\uXXXX`.
fn write_unit(unit: u32, to: &mut Vec<u8>) {
    to.extend(b"\\u");
    for shift in [12, 8, 4, 0] {
        let digit = u8::try_from(unit >> shift & 0xF).unwrap_or(0);
        to.push(if digit < 10 { b'0' + digit } else { b'a' - 10 + digit });
    }
}
