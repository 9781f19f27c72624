//! A call as a heading says it: `Grep(pattern="fn main", path="src")`. The twin is `_pure/call_title.py`.

use super::output::Output;
use crate::json::value::Value;
use crate::pairing::block::Entry;
use crate::text::graphemes::CodePoint as _;
use crate::text::piece::Piece;
use crate::text::sanitize::clean_line;
use crate::text::{OwnedText, on_units};

const LONGEST_ARGUMENT: usize = 120;

/// What a call is said to, piece by piece.
pub(crate) trait Line<'a> {
    fn add(&mut self, piece: Piece<'a>);
    fn add_ascii(&mut self, text: &str);
}

impl<'a> Line<'a> for OwnedText {
    fn add(&mut self, piece: Piece<'a>) {
        self.push(piece.text());
    }

    fn add_ascii(&mut self, text: &str) {
        self.push_ascii(text);
    }
}

impl<'a> Line<'a> for Output<'a> {
    fn add(&mut self, piece: Piece<'a>) {
        self.keep(piece.into());
    }

    #[inline(always)]
    fn add_ascii(&mut self, text: &str) {
        self.keep_ascii(text);
    }
}

/// Say a call in at most so many characters, with `...` for the arguments that have no room.
pub(crate) fn push_call_title<'a, V: Value<'a>>(line: &mut impl Line<'a>, entry: &Entry<'a, V>, longest: usize) {
    let name = clean_line(&Piece::Borrowed(entry.name()), LONGEST_ARGUMENT);
    let mut room = longest.saturating_sub(name.len() + 2);
    line.add(name);
    let Some(given) = entry.given else { return };
    line.add_ascii("(");
    let mut is_first = true;
    given.members(&mut |key, value| {
        if !is_first {
            line.add_ascii(", ");
        }
        is_first = false;
        let key = clean_line(&Piece::Borrowed(key), LONGEST_ARGUMENT);
        let argument = Argument::of(value);
        let size = key.len() + argument.len() + 3;
        if size > room {
            line.add_ascii("...");
            return false;
        }
        room -= size;
        line.add(key);
        line.add_ascii("=");
        argument.say(line);
        true
    });
    line.add_ascii(")");
}

/// An argument as it stands in a heading.
enum Argument<'a> {
    /// A text, in quotes.
    Text(Piece<'a>),
    /// Everything else, as JSON.
    Json(Piece<'a>),
}

impl<'a> Argument<'a> {
    fn of<V: Value<'a>>(value: V) -> Self {
        match value.text() {
            Some(text) => Self::Text(clean_line(&Piece::Borrowed(text), LONGEST_ARGUMENT)),
            None => Self::Json(clean_line(&Piece::own(value.json()), LONGEST_ARGUMENT)),
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Text(text) => {
                let quotes =
                    on_units!(text.text(), units => units.iter().filter(|unit| unit.code_point() == 0x22).count());
                text.len() + quotes + 2
            }
            Self::Json(json) => json.len(),
        }
    }

    fn say(self, line: &mut impl Line<'a>) {
        let mut rest = match self {
            Self::Text(text) => text,
            Self::Json(json) => return line.add(json),
        };
        line.add_ascii("\"");
        while let Some(quote) = rest.text().find(b'"') {
            line.add(rest.slice(0, quote));
            line.add_ascii("\\\"");
            rest = rest.slice(quote + 1, rest.len());
        }
        line.add(rest);
        line.add_ascii("\"");
    }
}
