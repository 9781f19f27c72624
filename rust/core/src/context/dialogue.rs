//! The dialogue of a conversation: the texts of the user and of the model, without tools and without thinking.

use crate::content::shown_text;
use crate::context::output::Output;
use crate::formats::{needs_import, read_spoken, speaker_of};
use crate::input::messages::{Halt, Messages};
use crate::json::value::{Key, Value, names};
use crate::session::{Placed, Places};
use crate::text::Text;
use crate::text::piece::Piece;
use crate::text::sanitize::{clean, escape_marks};

const MARKS: [&str; 8] =
    ["[USER]", "[/USER]", "[ASSISTANT]", "[/ASSISTANT]", "[SUMMARY]", "[/SUMMARY]", "[CLIENT]", "[/CLIENT]"];
/// The speaker of a summary that Claude Code wrote.
pub(crate) const SUMMARY: &str = "SUMMARY";
const IS_COMPACT_SUMMARY: Key<'static> = Key::new("isCompactSummary");
const IS_META: Key<'static> = Key::new("isMeta");
const IS_API_ERROR: Key<'static> = Key::new("isApiErrorMessage");

/// Write the turns of the active branch, each between a line that opens it and a line that closes it.
///
/// A text that Claude Code itself wrote as the user, or as the assistant, has a speaker of its own: a summary, or any other
/// text.
pub fn dialogue<'a, M: Messages<'a>>(messages: &M) -> Result<Output<'a>, Halt<M::Error>> {
    let mut places = Places::default();
    let mut turns = Vec::new();
    let mut position = None;
    while let Some((found, item)) = messages.before(position).map_err(Halt::Source)? {
        position = Some(found);
        let Some(Placed { record, message, role, is_active: true, .. }) = places.place(messages, found, item)? else {
            continue;
        };
        let spoken = read_spoken(message);
        if needs_import(message, role, spoken) {
            return Err(Halt::NeedsImport);
        }
        if let Some(speaker) = speaker_of(spoken.speaker) {
            let speaker = client_of(record, role).unwrap_or(speaker);
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

/// Return the name for what the client wrote in a record around a message with this role; `None` if the user or the
/// assistant said it.
pub(crate) fn client_of<'a, V: Value<'a>>(record: V, role: Option<V>) -> Option<&'static str> {
    let is = |key| record.get(key).is_some_and(Value::is_true);
    let is_record = || record.has(names::UUID) || record.get(names::MESSAGE).and_then(Value::object).is_some();
    match () {
        () if (role.is_some() && record.has(names::ROLE)) || !is_record() => None,
        () if is(IS_COMPACT_SUMMARY) => Some(SUMMARY),
        () if is(IS_META) || is(IS_API_ERROR) => Some("CLIENT"),
        () => None,
    }
}

/// Return true if the text has a character other than white space.
pub(crate) fn has_words(text: Text<'_>) -> bool {
    (0..text.len()).any(|index| !matches!(text.get(index), Some(0x20 | 0x09 | 0x0A | 0x0D)))
}

/// Clean a turn's text, trim its newlines, and escape lines that could open or close a turn.
fn safe_turn<'a>(said: &Piece<'a>) -> Piece<'a> {
    escape_marks(&clean(said).trim_newlines(), &MARKS)
}
