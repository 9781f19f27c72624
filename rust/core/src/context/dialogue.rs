//! The dialogue of a conversation: the texts of the user and of the model, without tools and without thinking.

use crate::content::shown_text;
use crate::context::output::Output;
use crate::formats::message::Spoken;
use crate::formats::{needs_import, read_spoken, speaker_of};
use crate::input::messages::{Halt, Messages};
use crate::json::value::{Key, Value, names, text_or_empty};
use crate::session::{Placed, Places, TypedAhead, is_client_text, is_queue};
use crate::text::Text;
use crate::text::piece::Piece;
use crate::text::sanitize::{clean, escape_marks};

const MARKS: [&str; 8] =
    ["[USER]", "[/USER]", "[ASSISTANT]", "[/ASSISTANT]", "[SUMMARY]", "[/SUMMARY]", "[CLIENT]", "[/CLIENT]"];
/// The speaker of a summary that Claude Code wrote.
pub(crate) const SUMMARY: &str = "SUMMARY";
/// The speaker of any other text that the client wrote.
pub(crate) const CLIENT: &str = "CLIENT";
const ORIGIN: Key<'static> = Key::new("origin");
const IS_COMPACT_SUMMARY: Key<'static> = Key::new("isCompactSummary");
const IS_META: Key<'static> = Key::new("isMeta");
const IS_API_ERROR: Key<'static> = Key::new("isApiErrorMessage");

/// Write the turns of the active branch, each between a line that opens it and a line that closes it.
///
/// A text that Claude Code or Codex wrote as the user, or as the assistant, has a speaker of its own: a summary, or any
/// other text.
pub fn dialogue<'a, M: Messages<'a>>(messages: &M) -> Result<Output<'a>, Halt<M::Error>> {
    let mut places = Places::default();
    let mut ahead = TypedAhead::default();
    let mut turns = Vec::new();
    let mut position = None;
    while let Some((found, item)) = messages.before(position).map_err(Halt::Source)? {
        position = Some(found);
        let Some(placed @ Placed { message, role, is_active: true, .. }) = places.place(messages, found, item)? else {
            continue;
        };
        let spoken = spoken_of(&placed, &mut ahead);
        if needs_import(message, role, spoken) {
            return Err(Halt::NeedsImport);
        }
        if let Some(speaker) = speaker_of(spoken.speaker) {
            let speaker = client_of(&placed, spoken).unwrap_or(speaker);
            let said = shown_text(spoken.content);
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

/// Return what a message says, and note it. A compaction of Codex says its summary, and a record of Claude Code's queue
/// what the user typed.
pub(crate) fn spoken_of<'a, V: Value<'a>>(placed: &Placed<'a, V>, ahead: &mut TypedAhead<'a, V>) -> Spoken<'a, V> {
    let record = placed.record;
    if is_wrapped(record) {
        let spoken = read_spoken(placed.message);
        if spoken.speaker.is("user") {
            ahead.note(spoken.content);
        }
        return spoken;
    }
    let user = Text::ascii("user");
    if let summary @ Some(_) = summary_in(record) {
        return Spoken { speaker: user, content: summary };
    }
    if is_queue(record) {
        let content = ahead.text_in(record);
        return Spoken { speaker: if content.is_some() { user } else { Text::ascii("") }, content };
    }
    read_spoken(placed.message)
}

/// Return true for a record with the message inside it.
fn is_wrapped<'a, V: Value<'a>>(record: V) -> bool {
    let has_message = || record.get(names::MESSAGE).and_then(Value::object).is_some();
    !record.has(names::ROLE) && (record.get(names::UUID).and_then(Value::text).is_some() || has_message())
}

/// Return the summary in a record of Codex of the items before it.
fn summary_in<'a, V: Value<'a>>(message: V) -> Option<V> {
    let is_compaction = text_or_empty(message.get(names::TYPE)).is("compacted") && !message.has(names::ROLE);
    let payload = message.get(names::PAYLOAD).filter(|_| is_compaction)?.object()?;
    payload.get(names::MESSAGE).filter(|&text| !text_or_empty(Some(text)).is_empty())
}

/// Return the name for what the client wrote in a record; `None` if the user or the assistant said it.
pub(crate) fn client_of<'a, V: Value<'a>>(placed: &Placed<'a, V>, spoken: Spoken<'a, V>) -> Option<&'static str> {
    let record = placed.record;
    if is_wrapped(record) {
        if record.get(IS_COMPACT_SUMMARY).is_some_and(Value::is_true) {
            return Some(SUMMARY);
        }
        if is_marked(record) {
            return Some(CLIENT);
        }
    } else if summary_in(record).is_some() {
        return Some(SUMMARY);
    } else if record.has(names::ROLE) || !text_or_empty(record.get(names::TYPE)).is("response_item") {
        return None;
    }
    (spoken.speaker.is("user") && is_client_text(spoken.content)).then_some(CLIENT)
}

/// Return true if Claude Code marks a record as its own.
fn is_marked<'a, V: Value<'a>>(record: V) -> bool {
    let is = |key| record.get(key).is_some_and(Value::is_true);
    let origin = || record.get(ORIGIN).and_then(Value::object).and_then(|origin| origin.get(names::KIND));
    is(IS_META) || is(IS_API_ERROR) || text_or_empty(origin()).is("task-notification")
}

/// Return true if the text has a character other than white space.
pub(crate) fn has_words(text: Text<'_>) -> bool {
    (0..text.len()).any(|index| !matches!(text.get(index), Some(0x20 | 0x09 | 0x0A | 0x0D)))
}

/// Clean a turn's text, trim its newlines, and escape lines that could open or close a turn.
fn safe_turn<'a>(said: &Piece<'a>) -> Piece<'a> {
    escape_marks(&clean(said).trim_newlines(), &MARKS)
}
