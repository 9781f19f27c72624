//! The dialogue of a conversation: the texts of the user and of the model, without tools and without thinking.

use crate::content::shown_text;
use crate::context::output::Output;
use crate::formats::{needs_import, read_spoken, speaker_of};
use crate::input::messages::{Halt, Messages};
use crate::session::{Placed, Places};
use crate::text::Text;
use crate::text::piece::Piece;
use crate::text::sanitize::{clean, escape_marks};

const MARKS: [&str; 4] = ["[USER]", "[/USER]", "[ASSISTANT]", "[/ASSISTANT]"];

/// Write the turns of the active branch, each between a line that opens it and a line that closes it.
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

/// Return true if the text has a character other than white space.
pub(crate) fn has_words(text: Text<'_>) -> bool {
    (0..text.len()).any(|index| !matches!(text.get(index), Some(0x20 | 0x09 | 0x0A | 0x0D)))
}

/// Clean a turn's text, trim its newlines, and escape lines that could open or close a turn.
fn safe_turn<'a>(said: &Piece<'a>) -> Piece<'a> {
    escape_marks(&clean(said).trim_newlines(), &MARKS)
}
