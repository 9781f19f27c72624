//! The dialogue of a conversation: the texts of the user and of the model, without tools and without thinking.

use crate::content::shown_text;
use crate::context::output::Output;
use crate::formats::message::Spoken;
use crate::formats::{self, begins_with_result, needs_import, read_spoken, speaker_of};
use crate::input::messages::{Halt, Messages, held_message};
use crate::json::value::{Key, Value, names, text_or_empty};
use crate::session::{Placed, Places, QUEUE, TypedAhead, is_client_text};
use crate::text::Text;
use crate::text::piece::Piece;
use crate::text::sanitize::{clean, escape_marks};

const MARKS: [&str; 8] =
    ["[USER]", "[/USER]", "[ASSISTANT]", "[/ASSISTANT]", "[SUMMARY]", "[/SUMMARY]", "[CLIENT]", "[/CLIENT]"];
/// The speaker of a summary that Claude Code wrote.
pub(crate) const SUMMARY: &str = "SUMMARY";
/// The speaker of any other text that the client wrote.
pub(crate) const CLIENT: &str = "CLIENT";
const USER: &str = "user";
const MODEL: Key<'static> = Key::new("model");
const ORIGIN: Key<'static> = Key::new("origin");
const SUBTYPE: Key<'static> = Key::new("subtype");
const IS_COMPACT_SUMMARY: Key<'static> = Key::new("isCompactSummary");
const IS_META: Key<'static> = Key::new("isMeta");
const IS_API_ERROR: Key<'static> = Key::new("isApiErrorMessage");

/// Write the turns of the active branch, each between a line that opens it and a line that closes it.
///
/// A text that Claude Code or Codex wrote as the user, or as the assistant, has a speaker of its own: a summary, or any
/// other text. So has a result that a client writes as the user.
pub fn dialogue<'a, M: Messages<'a>>(messages: &M) -> Result<Output<'a>, Halt<M::Error>> {
    let turns = turns_of(messages, true)?;
    let mut output = Output::default();
    for turn in turns.into_iter().rev() {
        let is_first = output.is_empty();
        for piece in [if is_first { "[" } else { "\n\n[" }, turn.speaker, "]\n"] {
            output.push(Piece::ascii(piece));
        }
        output.push(safe_turn(&turn.text));
        for piece in ["\n[/", turn.speaker, "]"] {
            output.push(Piece::ascii(piece));
        }
    }
    Ok(output)
}

/// A spoken text: the position of its message, who said it, and what.
#[derive(Clone, Debug)]
pub(crate) struct SpokenText<'a> {
    pub(crate) position: usize,
    pub(crate) speaker: &'static str,
    pub(crate) text: Piece<'a>,
}

/// Return the turns of the active branch, newest first. If not `all` are wanted, what the model said before the last words
/// of a person or of the model is left out.
pub(crate) fn turns_of<'a, M: Messages<'a>>(messages: &M, all: bool) -> Result<Vec<SpokenText<'a>>, Halt<M::Error>> {
    let mut places = Places::default();
    let mut ahead = TypedAhead::default();
    let mut turns: Vec<SpokenText<'a>> = Vec::new();
    let mut is_ended = false;
    let mut position = None;
    while let Some((found, item)) = messages.before(position).map_err(Halt::Source)? {
        position = Some(found);
        let Some(own @ Placed { message, role, is_active: true, .. }) = places.place(messages, found, item)? else {
            continue;
        };
        let (spoken, client) = told(&own, &mut ahead);
        if needs_import(message, role, spoken) {
            return Err(Halt::NeedsImport);
        }
        if let Some(speaker) = speaker_of(spoken.speaker)
            && (all || !is_ended || speaker == formats::USER)
        {
            let text = shown_text(spoken.content);
            if has_words(text.text()) {
                let is_result = speaker == formats::USER && begins_with_result(text.text());
                let speaker = client.unwrap_or(if is_result { CLIENT } else { speaker });
                is_ended |= speaker == formats::USER || speaker == formats::ASSISTANT;
                turns.push(SpokenText { position: found, speaker, text });
            }
        }
    }
    Ok(turns)
}

/// Return what a message says, and the name of the client if that wrote it; note what the user says. A compaction of Codex
/// says its summary, and a record of Claude Code's queue what the user typed.
pub(crate) fn told<'a, V: Value<'a>>(
    placed: &Placed<'a, V>,
    ahead: &mut TypedAhead<'a, V>,
) -> (Spoken<'a, V>, Option<&'static str>) {
    let (record, message) = (placed.record, placed.message);
    if record.get(names::ROLE).is_some() {
        return (read_spoken(message), None);
    }
    if record.get(names::UUID).and_then(Value::text).is_some() || held_message(record).is_some() {
        let spoken = read_spoken(message);
        if spoken.speaker.is(USER) {
            ahead.note(spoken.content);
        }
        return (spoken, client_of(record, message, spoken));
    }
    let kind = text_or_empty(record.get(names::TYPE));
    if kind.is("compacted")
        && let summary @ Some(_) = summary_in(record)
    {
        return (Spoken { speaker: Text::ascii(USER), content: summary }, Some(SUMMARY));
    }
    if kind.is(QUEUE) {
        let content = ahead.text_in(record);
        let speaker = Text::ascii(if content.is_some() { USER } else { "" });
        return (Spoken { speaker, content }, None);
    }
    let spoken = read_spoken(message);
    let is_client = kind.is("response_item") && spoken.speaker.is(USER) && is_client_text(spoken.content);
    (spoken, is_client.then_some(CLIENT))
}

/// Return the summary in a compaction of Codex of the items before it.
fn summary_in<'a, V: Value<'a>>(record: V) -> Option<V> {
    let payload = record.get(names::PAYLOAD)?.object()?;
    payload.get(names::MESSAGE).filter(|&text| !text_or_empty(Some(text)).is_empty())
}

/// Return the name for what Claude Code wrote in a record; `None` if the user or the assistant said it.
fn client_of<'a, V: Value<'a>>(record: V, message: V, spoken: Spoken<'a, V>) -> Option<&'static str> {
    let is = |key| record.get(key).is_some_and(Value::is_true);
    if spoken.speaker.is(USER) {
        if is(IS_COMPACT_SUMMARY) {
            return Some(SUMMARY);
        }
        let origin = || record.get(ORIGIN).and_then(Value::object).and_then(|origin| origin.get(names::KIND));
        let is_qwens = || text_or_empty(record.get(SUBTYPE)).is("notification");
        let is_told = || text_or_empty(origin()).is("task-notification") || is_qwens();
        return (is(IS_META) || is_told() || is_client_text(spoken.content)).then_some(CLIENT);
    }
    let is_made = || text_or_empty(message.get(MODEL)).is("<synthetic>");
    let is_models = spoken.speaker.is("assistant");
    (is_models && (is(IS_META) || is(IS_API_ERROR) || is_made())).then_some(CLIENT)
}

/// Return true if the text has a character other than white space.
pub(crate) fn has_words(text: Text<'_>) -> bool {
    (0..text.len()).any(|index| !matches!(text.get(index), Some(0x20 | 0x09 | 0x0A | 0x0D)))
}

/// Clean a turn's text, trim its newlines, and escape lines that could open or close a turn.
fn safe_turn<'a>(said: &Piece<'a>) -> Piece<'a> {
    escape_marks(&clean(said).trim_newlines(), &MARKS)
}
