//! What was said in a conversation, without tools and without thinking. The twin is `_pure/dialogue.py`.

use crate::clean::{clean, escape_marks};
use crate::content::Content;
use crate::messages::{Halt, Messages};
use crate::output::Output;
use crate::pieces::Piece;
use crate::read::{items, needs_import, read_spoken, speaker_of};
use crate::session::{Placed, Places};
use crate::text::{OwnedText, Text};
use crate::value::{Value, names, text_or_empty};

/// The parts of a message that are said aloud; those without a type are, too.
const TEXT_KINDS: [&str; 3] = ["text", "input_text", "output_text"];
const MARKS: [&str; 4] = ["[USER]", "[/USER]", "[ASSISTANT]", "[/ASSISTANT]"];

/// The turns of the active branch, each between lines that open and close it.
pub fn dialogue<'a, M: Messages<'a>>(messages: &M) -> Result<Output<'a>, Halt<M::Error>> {
    let mut places = Places::default();
    let mut turns = Vec::new();
    let mut position = None;
    while let Some((found, item)) = messages.before(position).map_err(Halt::Source)? {
        position = Some(found);
        let Some(Placed { message, role, is_active: true, .. }) = places.place(messages, found, item)? else {
            continue;
        };
        let spoken = read_spoken(message);
        if spoken.speaker.is_empty() && needs_import(message, role) {
            return Err(Halt::NeedsImport);
        }
        if let Some(speaker) = speaker_of(spoken.speaker) {
            let said = spoken_content(spoken.content).whole();
            if has_words(said.text()) {
                turns.push((speaker, safe_turn(&said)));
            }
        }
    }
    let mut output = Output::default();
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

/// The text of a message: a string, or the text parts of a list on lines of their own; one alone stays where it is.
pub(crate) fn spoken_content<'a, V: Value<'a>>(content: Option<V>) -> Content<'a, V> {
    let Some(content) = content else { return Content::Piece(Piece::default()) };
    if content.text_len().is_some() {
        return Content::Value(content);
    }
    let mut parts = content.list().into_iter().flat_map(items).filter_map(part_text);
    let Some(first) = parts.next() else { return Content::Piece(Piece::default()) };
    let Some(second) = parts.next() else { return Content::Value(first) };
    let mut said = OwnedText::from(text_or_empty(Some(first)));
    for part in std::iter::once(second).chain(parts) {
        said.push_ascii("\n");
        said.push(text_or_empty(Some(part)));
    }
    Content::Piece(Piece::own(said))
}

/// The text of a part that is said aloud.
pub(crate) fn part_text<'a, V: Value<'a>>(part: V) -> Option<V> {
    if part.text_len().is_some() {
        return Some(part);
    }
    let part = part.object()?;
    let is_thought = part.get(names::THOUGHT).is_some_and(Value::is_true);
    let kind = part.get(names::TYPE);
    let name = text_or_empty(kind);
    let is_text = kind.is_none() || TEXT_KINDS.iter().any(|text| name.is(text));
    if is_thought || !is_text {
        return None;
    }
    let held_elsewhere = || part.get(names::CONTENT).filter(|_| name.is("text")); // OpenTelemetry
    part.get(names::TEXT).or_else(held_elsewhere).filter(|text| text.text_len().is_some())
}

/// Whether there is anything but white space.
pub(crate) fn has_words(text: Text<'_>) -> bool {
    (0..text.len()).any(|index| !matches!(text.get(index), Some(0x20 | 0x09 | 0x0A | 0x0D)))
}

/// `said` cleaned, without newlines around it, and without a line that could end or open a turn.
fn safe_turn<'a>(said: &Piece<'a>) -> Piece<'a> {
    escape_marks(&clean(said).trim_newlines(), &MARKS)
}
