//! Shorten a text by what it is: the output of tests and builds, a log, a diff, a stack trace, or JSON.
//!
//! The outcome has lines of the text, with `... 12 lines` for those that are left out. JSON stays JSON, with its keys and
//! its short values. A text of no known kind is not shortened here but cut, as is one of which nothing important would
//! fit; of what a terminal showed, the last state is cut.

mod json_values;
mod kinds;
mod lines;
mod terminal;

use self::json_values::shorten_json;
use self::kinds::{find_kind, rank_lines};
use self::lines::choose;
use self::terminal::{is_drawn, settled};
use crate::content::Content;
use crate::json::value::Value;
use crate::text::graphemes::CodePoint;
use crate::text::piece::Piece;
use crate::text::truncate::{Keep, cut};
use crate::text::{OwnedText, Text, on_units};

/// The kinds of texts that may be shortened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kinds(u8);

impl Kinds {
    const NAMES: [&str; 8] = ["diff", "html", "json", "logs", "table", "terminal", "tests", "trace"];

    /// Return the kinds with these names.
    pub fn of<'n>(names: impl IntoIterator<Item = &'n str>) -> Self {
        Self(names.into_iter().map(Self::bit).fold(0, |all, bit| all | bit))
    }

    fn has(self, name: &str) -> bool {
        self.0 & Self::bit(name) > 0
    }

    fn bit(name: &str) -> u8 {
        Self::NAMES.iter().position(|known| *known == name).map_or(0, |place| 1 << place)
    }
}

/// A shortened text in two parts, between which the marker stands: at its end, or inside of JSON.
#[derive(Clone, Debug)]
pub(crate) struct Shortened {
    before: String,
    after: String,
}

impl Shortened {
    /// Return the whole text.
    pub(crate) fn with_marker(&self, marker: &str) -> String {
        [&self.before, marker, &self.after].concat()
    }

    /// Return the number of characters without the marker.
    pub(crate) fn size(&self) -> usize {
        self.before.chars().count() + self.after.chars().count()
    }
}

/// Shorten a text to `room` characters, its marker not counted; `None` if it can only be cut.
///
/// `command` printed the text, or is empty, `kinds` are those that may be shortened, and `keep` is the part that stays of a
/// text of no known kind.
pub(crate) fn shorten<'a, V: Value<'a>>(
    text: &Content<'a, V>,
    command: &str,
    kinds: Kinds,
    (room, keep): (usize, Keep),
) -> Option<Shortened> {
    if kinds == Kinds::default() {
        return None;
    }
    let find = || find_kind(text, command).filter(|kind| kinds.has(kind.table.name));
    let is_json_start = |first: u32| b"{[ \t\r\n".iter().any(|byte| u32::from(*byte) == first);
    // The first character, the ends and a search rule out most texts, so that they are not read.
    let may_be_json = kinds.has("json") && text.initial().is_some_and(is_json_start);
    let may_be_drawn = kinds.has("terminal") && is_drawn(text);
    let known = if may_be_json { None } else { find() };
    if !may_be_json && !may_be_drawn && known.is_none() {
        return None;
    }
    let whole = text.whole();
    if has_surrogates(whole.text()) {
        return None;
    }
    if may_be_json && let Some((before, after)) = shorten_json(&whole.text().to_utf8(), room) {
        return Some(Shortened { before, after });
    }
    let kind = if may_be_json { find() } else { known };
    if kind.is_none() && !may_be_drawn {
        return None;
    }
    let settled = settled(&whole);
    let chosen = kind.and_then(|kind| {
        let text = settled.strip_suffix('\n').unwrap_or(&settled);
        let lines: Vec<&str> = text.split('\n').collect();
        choose(&lines, &rank_lines(text, &lines, kind), room.checked_sub(1)?, kind.table.label)
    });
    if let Some(mut before) = chosen {
        before.push('\n');
        return Some(Shortened { before, after: String::new() });
    }
    if may_be_drawn { ends_of(&settled, room.saturating_sub(2), keep) } else { None }
}

/// Return the ends of a text within `room` characters; `None` if nothing fits.
fn ends_of(text: &str, room: usize, keep: Keep) -> Option<Shortened> {
    let own = OwnedText::from_utf8(text);
    let text = own.as_text();
    let (head, tail) = on_units!(text, units => cut(units, room, keep));
    if head == 0 && tail == text.len() {
        return None;
    }
    let (mut before, mut after) = (text.slice(0, head).to_utf8(), text.slice(tail, text.len()).to_utf8());
    if !before.is_empty() {
        before.push('\n');
    }
    if !after.is_empty() {
        after.insert(0, '\n');
    }
    Some(Shortened { before, after })
}

/// Return what a terminal shows of a text in the end; `None` if nothing about the text tells of a terminal.
pub(crate) fn last_state<'a, V: Value<'a>>(text: &Content<'a, V>, kinds: Kinds) -> Option<Piece<'a>> {
    if !kinds.has("terminal") || !is_drawn(text) {
        return None;
    }
    let whole = text.whole();
    let settled = if has_surrogates(whole.text()) { String::new() } else { settled(&whole) };
    (!settled.is_empty()).then(|| Piece::own(OwnedText::from_utf8(&settled)))
}

fn has_surrogates(text: Text<'_>) -> bool {
    on_units!(text, units => units.iter().any(|unit| matches!(unit.code_point(), 0xD800..=0xDFFF)))
}
