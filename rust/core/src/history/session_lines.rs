//! Split the lines of a session file into the parts that become commits.

use bumpalo::Bump;

use super::hashing::{has_cut_word, write_text};
use crate::content::spoken_text;
use crate::content::{Content, result_text};
use crate::formats::message::{MessageParts, ToolCall};
use crate::formats::{SYSTEM_ROLES, read_message, read_spoken, speaker_of};
use crate::input::messages::NeedsImport;
use crate::json::scanned::{Scanned, Written};
use crate::json::value::{Value, names, text_or_empty};
use crate::text::piece::Piece;
use crate::text::{OwnedText, Text};
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
    let held = record.get(names::MESSAGE).filter(|_| is_held).and_then(Value::object);
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
