//! A text as a terminal shows it in the end, which loses nothing that a reader could see.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use crate::content::Content;
use crate::json::value::{Spelling, Value};
use crate::text::graphemes::CodePoint;
use crate::text::piece::Piece;
use crate::text::sanitize::without_controls;
use crate::text::{OwnedText, Text, on_units};

const BLANKS: [char; 2] = [' ', '\t'];
/// The share of states that may differ is one in this number. In a text whose lines end with returns alone, most differ.
const FEW: usize = 4;

static CONTROL: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\\u00"));
static RETURN: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\\r"));

/// Return true if a text has colours, or lines that were written over. Any other text may be that of a file.
pub(super) fn is_drawn<'a, V: Value<'a>>(text: &Content<'a, V>) -> bool {
    match text.spelling() {
        Spelling::Text(text) => has_drawn(text),
        // In JSON both characters are escapes.
        Spelling::Json(bytes) => {
            (CONTROL.find(bytes).is_some() || RETURN.find(bytes).is_some()) && has_drawn(text.brief().text())
        }
    }
}

/// Return true if a text has an escape, or a return of the carriage that does not end a line.
fn has_drawn(text: Text<'_>) -> bool {
    let is_sign = |at: usize| text.get(at) != Some(0x0D) || text.get(at + 1) != Some(0x0A);
    if let Text::Latin1(units) = text {
        return memchr::memchr2_iter(0x1B, b'\r', units).any(is_sign);
    }
    on_units!(text, units => {
        units.iter().enumerate().any(|(at, unit)| matches!(unit.code_point(), 0x1B | 0x0D) && is_sign(at))
    })
}

/// Return a text without colours and blanks at line ends; a line that was written over has its last state.
pub(crate) fn settled(text: &Piece<'_>) -> String {
    let clean = if text.text().find(b'\r').is_some() {
        let last = text.text().to_utf8().split('\n').map(last_state).collect::<Vec<_>>().join("\n");
        without_controls(&Piece::own(OwnedText::from_utf8(&last)))
    } else {
        without_controls(text)
    };
    let clean = clean.text().as_utf8();
    if !has_blanks(&clean) {
        return clean.into_owned();
    }
    clean.split('\n').map(|line| line.trim_end_matches(BLANKS)).collect::<Vec<_>>().join("\n")
}

/// Return true if a line ends with a blank.
fn has_blanks(text: &str) -> bool {
    let is_before =
        |at: usize| at.checked_sub(1).and_then(|before| text.as_bytes().get(before)).copied().is_some_and(is_blank);
    memchr::memchr_iter(b'\n', text.as_bytes()).any(is_before) || is_before(text.len())
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// Return what is seen of a line after its last return of the carriage; the whole line if it shows no progress.
fn last_state(line: &str) -> &str {
    let states = || line.trim_end_matches('\r').rsplit('\r');
    let last = states().find(|state| !state.trim_matches(BLANKS).is_empty()).unwrap_or_default();
    let word = first_word(last);
    let others = states().filter(|state| !is_progress(state, word)).count();
    if others * FEW <= states().count() { last } else { line }
}

/// Return true if a state of a line tells of progress: by a number, or by the first word of the last state.
fn is_progress(state: &str, word: Option<&str>) -> bool {
    let own = first_word(state);
    own.is_none() || own == word || state.contains(|character: char| character.is_ascii_digit())
}

/// Return the first run of ASCII letters.
fn first_word(text: &str) -> Option<&str> {
    text.split(|character: char| !character.is_ascii_alphabetic()).find(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::{OwnedText, Piece, settled};

    #[test]
    fn a_line_has_its_last_state() {
        let settled = |text: &str| settled(&Piece::own(OwnedText::from_utf8(text)));
        let text = "\u{1b}[32mok\u{1b}[0m  \n 10 %\r 55 %\r100 %\nend\r\n";
        assert_eq!(settled(text), "ok\n100 %\nend\n");
        assert_eq!(settled("one\rtwo\rthree"), "one\ntwo\nthree");
    }
}
