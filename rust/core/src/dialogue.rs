//! What was said in a conversation, without tools and without thinking. The twin is `_pure/dialogue.py`.

use crate::clean::{clean, escape_marks};
use crate::messages::{Halt, Messages};
use crate::pieces::{Output, Piece};
use crate::read::items;
use crate::session::{Placed, Places};
use crate::text::{OwnedText, Text};
use crate::value::{Value, names, text_or_empty};

const MARKS: [&str; 4] = ["[USER]", "[/USER]", "[ASSISTANT]", "[/ASSISTANT]"];

/// The turns of the active branch, each between lines that open and close it.
pub fn dialogue<'a, M: Messages<'a>>(messages: &M) -> Result<Output<'a>, Halt<M::Error>> {
    let mut places = Places::default();
    let mut turns = Vec::new();
    let mut position = None;
    while let Some((found, item)) = messages.before(position).map_err(Halt::Source)? {
        position = Some(found);
        let Some(Placed { message, role, is_active, .. }) = places.place(messages, found, item)? else { continue };
        if is_active && let Some(speaker) = speaker_of(text_or_empty(role)) {
            let said = spoken_text(message.get(names::CONTENT));
            if has_words(said.text()) {
                turns.push((speaker, safe_turn(&said)));
            }
        }
    }
    let mut output = Output::with_room(7 * turns.len());
    for (speaker, said) in turns.into_iter().rev() {
        let is_first = output.is_empty();
        for piece in [if is_first { "[" } else { "\n\n[" }, speaker, "]\n"] {
            output.push(Piece::ascii(piece));
        }
        output.push(said);
        for piece in ["\n[/", speaker, "]"] {
            output.push(Piece::ascii(piece));
        }
    }
    Ok(output)
}

/// Who speaks in a message of this role.
fn speaker_of(role: Text<'_>) -> Option<&'static str> {
    match () {
        () if role.is("user") || role.is("human") => Some("USER"),
        () if role.is("assistant") || role.is("ai") => Some("ASSISTANT"),
        () => None,
    }
}

/// The text of a message: a string, or the text parts of a list.
fn spoken_text<'a, V: Value<'a>>(content: Option<V>) -> Piece<'a> {
    let Some(content) = content else { return Piece::default() };
    if let Some(text) = content.text() {
        return Piece::Borrowed(text);
    }
    let mut said = OwnedText::default();
    let mut is_first = true;
    for part in content.list().into_iter().flat_map(items) {
        let Some(text) = part_text(part) else { continue };
        if !is_first {
            said.push_ascii("\n");
        }
        is_first = false;
        said.push(text);
    }
    Piece::own(said)
}

fn part_text<'a, V: Value<'a>>(part: V) -> Option<Text<'a>> {
    if let Some(text) = part.text() {
        return Some(text);
    }
    let part = part.object()?;
    let is_text = text_or_empty(part.get(names::TYPE)).is("text");
    part.get(names::TEXT).filter(|_| is_text).and_then(Value::text)
}

/// Whether there is anything but white space.
fn has_words(text: Text<'_>) -> bool {
    (0..text.len()).any(|index| !matches!(text.get(index), Some(0x20 | 0x09 | 0x0A | 0x0D)))
}

/// `said` cleaned, without newlines around it, and without a line that could end or open a turn.
fn safe_turn<'a>(said: &Piece<'a>) -> Piece<'a> {
    escape_marks(&clean(said).trim_newlines(), &MARKS)
}
