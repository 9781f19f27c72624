//! Shorten a text by what it is: the output of tests and builds, a log, a diff, a stack trace, hits, a listing, or JSON.
//!
//! The outcome has lines of the text, with `... 12 lines` for those that are left out. JSON stays JSON, with its keys and
//! its short values. Of a text of no known kind, or without an important line that fits, the lines that say most that is
//! new are shown (`lines`). Without these, it is not shortened here but cut; of what a terminal showed, the last state is
//! cut.

mod diff;
mod hits;
mod json_spans;
mod json_values;
mod kinds;
mod lines;
mod listing;
mod novelty;

pub(crate) use self::kinds::{runs_tests, words_of};

use self::hits::read_hits;
use self::json_values::shorten_json;
use self::kinds::{KINDS, LISTINGS, LOOK, READ_BY_CODE, SEARCHES, find_kind, rank_lines};
use self::lines::{Ranking, choose};
use self::listing::read_listing;
use self::novelty::Novelty;
use crate::content::Content;
use crate::content::client_blocks::{may_have_blocks, without_blocks};
use crate::content::terminal::{has_surrogates, is_drawn, settled};
use crate::json::value::Value;
use crate::text::piece::Piece;
use crate::text::sanitize::clean;
use crate::text::truncate::{Keep, cut};
use crate::text::{OwnedText, on_units};
use crate::tokens::Encoding;

/// The characters of a token at most, where their number is only a first try.
const CHARS_PER_TOKEN: usize = 5;
const MOST_TRIES: usize = 4;

/// The kinds of texts that may be shortened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kinds(u16);

impl Kinds {
    /// No kind.
    pub const NONE: Self = Self(0);
    /// All kinds.
    pub const ALL: Self = Self((1 << (KINDS.len() + READ_BY_CODE.len())) - 1);

    /// Return the kinds with these names.
    pub fn of<'n>(names: impl IntoIterator<Item = &'n str>) -> Self {
        Self(names.into_iter().map(Self::bit).fold(0, |all, bit| all | bit))
    }

    /// Return the kinds of a file: in it, all lines matter alike.
    #[must_use]
    pub(crate) fn of_file(self) -> Self {
        Self(self.0 & Self::bit("lines"))
    }

    /// Return the kinds of a context, which has lines of its own choice.
    #[must_use]
    pub fn of_context(self) -> Self {
        Self(self.0 & !Self::bit("lines"))
    }

    /// Return true if lines of a text of no known kind may be chosen.
    pub(crate) fn chooses_lines(self) -> bool {
        self.has("lines")
    }

    /// Return the kinds as a number.
    pub(crate) fn number(self) -> u64 {
        u64::from(self.0)
    }

    fn has(self, name: &str) -> bool {
        self.0 & Self::bit(name) > 0
    }

    fn bit(name: &str) -> u16 {
        let mut names = KINDS.iter().map(|kind| kind.name).chain(READ_BY_CODE.iter().copied());
        names.position(|known| known == name).map_or(0, |place| 1 << place)
    }
}

/// A shortened text in two parts, between which the marker stands: at its end, or inside of JSON.
#[derive(Clone, Debug)]
pub(crate) struct Shortened {
    before: String,
    after: String,
    /// What stands around the marker inside of JSON.
    opened: &'static str,
    closed: &'static str,
}

impl Shortened {
    fn plain(before: String, after: String) -> Self {
        Self { before, after, opened: "", closed: "" }
    }

    /// Return the texts before and behind the marker.
    pub(crate) fn around_marker(&self) -> [String; 2] {
        [[&self.before, self.opened].concat(), [self.closed, &self.after].concat()]
    }

    /// Return the whole text.
    pub(crate) fn with_marker(&self, marker: &str) -> String {
        [&self.before, self.opened, marker, self.closed, &self.after].concat()
    }

    /// Return the text with the marker after it, also after JSON.
    pub(crate) fn with_marker_below(&self, marker: &str) -> String {
        if self.opened.is_empty() {
            self.with_marker(marker)
        } else {
            [&self.before, &*self.after, "\n", marker].concat()
        }
    }

    /// Return the text with both parts clean, as a context shows them.
    fn cleaned(&self) -> Self {
        let clean = |part: &str| clean(&Piece::own(OwnedText::from_utf8(part))).text().to_utf8();
        Self { before: clean(&self.before), after: clean(&self.after), ..*self }
    }

    /// Return the number of characters without the marker.
    pub(crate) fn size(&self) -> usize {
        [&self.before, &*self.after, self.opened, self.closed].iter().map(|part| part.chars().count()).sum()
    }
}

/// A text that can be shortened to any room. It is read once, and then chosen from for each room.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    /// The text, if it may be JSON.
    json: Option<String>,
    /// The text as a terminal shows it in the end.
    settled: String,
    /// The ranks of its lines, if its kind is known.
    ranking: Option<Ranking>,
    /// The text that lines are chosen from by their words, if they may be.
    plain: Option<(String, Novelty)>,
    is_drawn: bool,
}

impl Draft {
    /// Read a text; `None` if it can only be cut.
    ///
    /// `command` printed the text, or is empty, and `kinds` are those that may be shortened.
    /// `is_drawn` is true if a terminal showed it.
    pub(crate) fn of<'a, V: Value<'a>>(
        text: &Content<'a, V>,
        command: &str,
        kinds: Kinds,
        is_drawn: bool,
    ) -> Option<Self> {
        if kinds == Kinds::NONE {
            return None;
        }
        let stripped = may_have_blocks(text.spelling()).then(|| {
            let whole = text.brief();
            Content::Piece(Piece::own(OwnedText::from_utf8(&without_blocks(&whole.text().as_utf8()))))
        });
        let text = stripped.as_ref().filter(|_| !has_surrogates(text.brief().text())).unwrap_or(text);
        let words = words_of(command);
        let has = |names: &[&str], kind| kinds.has(kind) && words.iter().any(|word| names.contains(word));
        let has_hits = has(SEARCHES, "hits");
        let has_list = has(SEARCHES, "listing") || has(LISTINGS, "listing");
        let has_words = kinds.chooses_lines();
        // The first character and the ends rule out most texts, so that they are not read.
        let may_be_json = kinds.has("json") && may_be_json(text);
        let kind = find_kind(text, &words).filter(|kind| kinds.has(kind.table.name));
        if !may_be_json && !is_drawn && !has_hits && !has_list && !has_words && kind.is_none() {
            return None;
        }
        let whole = text.brief();
        if has_surrogates(whole.text()) {
            return None;
        }
        let has_lines = is_drawn || has_hits || has_list || kind.is_some();
        let settled = if has_lines { settled(&whole) } else { String::new() };
        let lines = lines_of(&settled);
        let ranking = (has_hits.then(|| read_hits(&lines)).flatten())
            .or_else(|| has_list.then(|| read_listing(&lines)).flatten())
            .or_else(|| kind.map(|kind| rank_lines(text_of(&settled), &lines, kind)));
        let plain = has_words.then(|| {
            let text = if is_drawn { settled.clone() } else { whole.text().to_utf8() };
            let novelty = Novelty::read(&lines_of(&text));
            (text, novelty)
        });
        Some(Self { json: may_be_json.then(|| whole.text().to_utf8()), settled, ranking, plain, is_drawn })
    }

    /// Return true if it is known what the text is.
    pub(crate) fn is_of_a_kind(&self) -> bool {
        self.json.is_some() || self.ranking.is_some()
    }

    /// Return a room in characters with the text shortened to it; `None` if it can only be cut.
    ///
    /// The room is lowered until the shortened text with its marker is within the limit in tokens. A text for a context
    /// is cleaned.
    pub(crate) fn fit(
        &self,
        mut room: usize,
        tokens: Option<(usize, &Encoding)>,
        (marker, keep, is_cleaned): (&str, Keep, bool),
    ) -> Option<(usize, Shortened)> {
        if let Some((most, _)) = tokens {
            room = room.min(most.saturating_mul(CHARS_PER_TOKEN));
        }
        for _ in 0..MOST_TRIES {
            let mut found = self.within(room, keep).filter(|_| room > 0)?;
            if is_cleaned {
                found = found.cleaned();
            }
            let counted = |encoding: &Encoding| encoding.count(found.with_marker(marker).as_bytes());
            let over = tokens.map(|(most, encoding)| (most, counted(encoding)));
            match over.filter(|(most, counted)| counted > most) {
                None => return Some((room, found)),
                Some((most, counted)) => {
                    room = (room.min(found.size()) * most / counted).checked_sub(marker.len() / 2)?;
                }
            }
        }
        None
    }

    /// Shorten the text to `room` characters, its marker not counted; `None` if it can only be cut.
    ///
    /// `keep` is the part that stays of a text of no known kind.
    pub(crate) fn within(&self, room: usize, keep: Keep) -> Option<Shortened> {
        let json = self.json.as_ref().and_then(|json| shorten_json(json, room, keep));
        if let Some((before, after, opened)) = json {
            return Some(Shortened { before, after: after.to_owned(), opened, closed: json_values::CLOSED });
        }
        let choose = |ranking| choose(&lines_of(&self.settled), ranking, room.checked_sub(1)?);
        let choose_new =
            |(text, novelty): &(String, Novelty)| novelty.choose(&lines_of(text), room.checked_sub(1)?, keep);
        let chosen = self.ranking.as_ref().and_then(choose).or_else(|| self.plain.as_ref().and_then(choose_new));
        if let Some(mut before) = chosen {
            before.push('\n');
            return Some(Shortened::plain(before, String::new()));
        }
        if self.is_drawn { ends_of(&self.settled, room.saturating_sub(2), keep) } else { None }
    }
}

fn text_of(settled: &str) -> &str {
    settled.strip_suffix('\n').unwrap_or(settled)
}

fn lines_of(settled: &str) -> Vec<&str> {
    text_of(settled).split('\n').collect()
}

/// Return true if the first character that is no blank is that of an object or an array, as far as the beginning shows.
fn may_be_json<'a, V: Value<'a>>(text: &Content<'a, V>) -> bool {
    let is_blank = |unit: u32| matches!(unit, 0x09 | 0x0A | 0x0D | 0x20);
    let is_open = |unit: u32| matches!(unit, 0x5B | 0x7B);
    if !text.initial().is_some_and(|first| is_open(first) || is_blank(first)) {
        return false;
    }
    let start = text.first(LOOK).brief();
    let start = start.text();
    let first = (0..start.len()).filter_map(|place| start.get(place)).find(|unit| !is_blank(*unit));
    first.is_none_or(is_open)
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
    Some(Shortened::plain(before, after))
}

/// Return true if a text was made for a terminal, and may be shortened to what that shows in the end.
pub(crate) fn was_drawn<'a, V: Value<'a>>(text: &Content<'a, V>, kinds: Kinds) -> bool {
    kinds.has("terminal") && is_drawn(text)
}
