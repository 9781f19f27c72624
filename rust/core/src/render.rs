//! How a block reads: its heading and the texts below it. The twin is `_pure/render.py`.

use crate::clean::clean_line;
use crate::content::Content;
use crate::dedupe::WHOLE_FILE_KEYS;
use crate::entry::Entry;
use crate::fences::Source;
use crate::languages::language_of;
use crate::lines::{Lines, TO_THE_END, UNREADABLE, line_range};
use crate::pieces::Piece;
use crate::read::items;
use crate::rules::Kind;
use crate::text::{OwnedText, Text};
use crate::truncate::Keep;
use crate::value::{Key, Value, names, text_or_empty};

const LONGEST_TITLE: usize = 200;
const LONGEST_ARGUMENT: usize = 120;
/// Room for the signs of lines of so many characters is made at once.
const SHORT_LINE: usize = 16;

const OLD_KEYS: [Key<'static>; 2] = [names::OLD_STRING, names::OLD_STR];
const NEW_KEYS: [Key<'static>; 3] = [names::NEW_STRING, names::NEW_STR, names::INSERT_TEXT];
const DIFF_KEYS: [Key<'static>; 2] = [names::DIFF, names::PATCH];

/// A part of a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// Reads.
    Files,
    /// Edits.
    Changes,
    /// Commands.
    Commands,
    /// Everything else.
    Others,
}

impl Section {
    /// All sections, in the order in which they stand.
    pub const ALL: [Self; 4] = [Self::Files, Self::Changes, Self::Commands, Self::Others];

    /// The line that opens the section.
    #[must_use]
    pub const fn heading(self) -> &'static str {
        match self {
            Self::Files => "## Files Read\n",
            Self::Changes => "## Files Changed\n",
            Self::Commands => "## Commands Executed\n",
            Self::Others => "## Other Tools\n",
        }
    }

    /// The section that a block stands in; without its key argument, it is one of the other tools.
    #[must_use]
    pub fn of<V>(entry: &Entry<'_, V>) -> Self {
        match entry.kind {
            _ if entry.value.is_none() => Self::Others,
            Kind::Read => Self::Files,
            Kind::Edit => Self::Changes,
            Kind::Command => Self::Commands,
            Kind::Other => Self::Others,
        }
    }
}

/// What a heading says before its notes: a path, the first line of a command, or the call.
pub fn title<'a, V: Value<'a>>(entry: &Entry<'a, V>) -> Piece<'a> {
    match (Section::of(entry), &entry.value) {
        (Section::Others, _) | (_, None) => call_title(entry),
        (Section::Commands, Some(value)) => {
            let value = value.trim_newlines();
            let end = value.text().find(b'\n').unwrap_or(value.len());
            clean_line(&value.slice(0, end), LONGEST_TITLE)
        }
        (_, Some(value)) => clean_line(value, LONGEST_TITLE),
    }
}

/// `Grep(pattern="fn main", path="src")`
fn call_title<'a, V: Value<'a>>(entry: &Entry<'a, V>) -> Piece<'a> {
    let mut text = OwnedText::with_room(LONGEST_TITLE);
    push_call_title(&mut text, entry, LONGEST_TITLE);
    Piece::own(text)
}

/// Add a call of at most so many characters, with `...` for the arguments that have no room.
pub(crate) fn push_call_title<'a, V: Value<'a>>(text: &mut OwnedText, entry: &Entry<'a, V>, longest: usize) {
    let name = clean_line(&Piece::Borrowed(entry.name()), LONGEST_ARGUMENT);
    text.push(name.text());
    let Some(given) = entry.given else { return };
    text.push_ascii("(");
    let mut room = longest.saturating_sub(name.len() + 2);
    let mut is_first = true;
    given.members(&mut |key, value| {
        if !is_first {
            text.push_ascii(", ");
        }
        is_first = false;
        let key = clean_line(&Piece::Borrowed(key), LONGEST_ARGUMENT);
        let value = argument(value);
        let size = key.len() + value.as_text().len() + 3;
        if size > room {
            text.push_ascii("...");
            return false;
        }
        room -= size;
        text.push(key.text());
        text.push_ascii("=");
        text.push(value.as_text());
        true
    });
    text.push_ascii(")");
}

/// An argument as it stands in a heading: text in quotes, everything else as JSON.
fn argument<'a, V: Value<'a>>(value: V) -> OwnedText {
    let Some(given) = value.text() else {
        return OwnedText::from(clean_line(&Piece::own(value.json()), LONGEST_ARGUMENT).text());
    };
    let line = clean_line(&Piece::Borrowed(given), LONGEST_ARGUMENT);
    let mut rest = line.text();
    let mut text = OwnedText::with_room(rest.len() + 2);
    text.push_ascii("\"");
    while let Some(quote) = rest.find(b'"') {
        text.push(rest.slice(0, quote));
        text.push_ascii("\\\"");
        rest = rest.slice(quote + 1, rest.len());
    }
    text.push(rest);
    text.push_ascii("\"");
    text
}

/// The heading's brackets, with a space before; empty where there is nothing to say.
pub fn notes<'a, V: Value<'a>>(entry: &Entry<'a, V>) -> String {
    let mut said = String::new();
    let mut say = |note: &str| {
        said.push_str(if said.is_empty() { " (" } else { "; " });
        said.push_str(note);
    };
    if let Some(given) = entry.given
        && entry.kind == Kind::Read
        && entry.value.is_some()
        && let Some(lines) = line_range(given)
        && lines != UNREADABLE
    {
        say(&lines_note(lines));
    }
    if entry.is_stale {
        say("edited after this read");
    }
    match entry.result {
        None => say("interrupted: no result"),
        Some(_) if entry.is_error() => say("failed"),
        Some(_) => {}
    }
    if entry.call.is_none() {
        say("call missing");
    }
    if !said.is_empty() {
        said.push(')');
    }
    said
}

/// The brackets with a count before all else in them.
#[must_use]
pub fn with_count(notes: &str, count: &str) -> String {
    match notes.strip_prefix(" (") {
        _ if count.is_empty() => notes.to_owned(),
        Some(others) => format!(" ({count}; {others}"),
        None => format!(" ({count})"),
    }
}

fn lines_note(lines: Lines) -> String {
    let Lines { first, last } = lines;
    if last >= TO_THE_END { format!("lines {first}-end") } else { format!("lines {first}-{last}") }
}

/// `latest of 4 runs`, `3 edits, last shown`; with a `+` where older ones were not looked at.
#[must_use]
pub fn count_note(kind: Kind, earlier: usize, is_open: bool) -> String {
    if earlier == 0 {
        return String::new();
    }
    let (number, plus) = (earlier + 1, if is_open { "+" } else { "" });
    if kind == Kind::Edit {
        format!("{number}{plus} edits, last shown")
    } else {
        format!("latest of {number}{plus} runs")
    }
}

/// The texts of a block, two at most: the command where its heading can't hold it, or the change; and the output.
/// `keep` is `None` for what suits the kind of tool.
pub fn sources<'a, V: Value<'a>>(entry: &Entry<'a, V>, keep: Option<Keep>) -> [Option<Source<'a, V>>; 2] {
    let section = Section::of(entry);
    let side = keep.unwrap_or(Keep::Head);
    let path = entry.value.as_ref().map_or(Text::ascii(""), Piece::text);
    let source = |text, language, side| Source { text, language, side, reference: entry.call_id, is_exempt: false };
    let mut first = None;
    if let (Section::Commands, Some(value)) = (section, &entry.value) {
        let command = value.trim_newlines();
        if value.len() > LONGEST_TITLE || command.text().find(b'\n').is_some() {
            first = Some(Source { is_exempt: true, ..source(Content::Piece(command), "sh", side) });
        }
    } else if let (Section::Changes, Some(given)) = (section, entry.given)
        && let Some((text, is_diff)) = change_of(given)
    {
        first = Some(source(text, if is_diff { "diff" } else { language_of(path) }, side));
        if entry.result.is_some() && !entry.is_error() {
            return [first, None];
        }
    }
    let side = if section == Section::Commands { keep.unwrap_or(Keep::Ends) } else { side };
    let language = if section == Section::Files { language_of(path) } else { "" };
    [first, entry.result.map(|_| source(entry.text.clone(), language, side))]
}

/// What an edit changed, as lines with `-` and `+` (true), or the whole that a write wrote (false).
fn change_of<'a, V: Value<'a>>(input: V) -> Option<(Content<'a, V>, bool)> {
    if let Some(edits) = input.get(names::EDITS).and_then(Value::list) {
        let mut text = OwnedText::default();
        for edit in items(edits).filter_map(Value::object) {
            push_replaced(&mut text, edit);
        }
        if !text.as_text().is_empty() {
            return Some((Content::Piece(Piece::own(text)), true));
        }
    }
    if first_text(input, &OLD_KEYS).is_some() || first_text(input, &NEW_KEYS).is_some() {
        let mut text = OwnedText::default();
        push_replaced(&mut text, input);
        return (!text.as_text().is_empty()).then(|| (Content::Piece(Piece::own(text)), true));
    }
    if let Some(diff) = first_text(input, &DIFF_KEYS) {
        return Some((Content::Value(diff), true));
    }
    let whole = first_text(input, &WHOLE_FILE_KEYS).or_else(|| first_text(input, &[names::NEW_SOURCE]))?;
    Some((Content::Value(whole), false))
}

/// The old lines with `-`, the new with `+`.
fn push_replaced<'a, V: Value<'a>>(text: &mut OwnedText, edit: V) {
    for (keys, sign) in [(&OLD_KEYS[..], "-"), (&NEW_KEYS[..], "+")] {
        push_prefixed(text, text_or_empty(first_text(edit, keys)), sign);
    }
}

fn push_prefixed(text: &mut OwnedText, lines: Text<'_>, sign: &str) {
    if lines.is_empty() {
        return;
    }
    let unix = without_returns(lines);
    let mut rest = unix.text().without_suffix("\n");
    text.reserve(rest.len() + rest.len() / SHORT_LINE + 2);
    text.push_ascii(sign);
    while let Some(newline) = rest.find(b'\n') {
        text.push(rest.slice(0, newline + 1));
        text.push_ascii(sign);
        rest = rest.slice(newline + 1, rest.len());
    }
    text.push(rest);
    text.push_ascii("\n");
}

/// `text` with LF in place of CRLF and CR.
fn without_returns(text: Text<'_>) -> Piece<'_> {
    let mut rest = text;
    let mut unix = OwnedText::default();
    while let Some(found) = rest.find(b'\r') {
        unix.push(rest.slice(0, found));
        unix.push_ascii("\n");
        let is_pair = rest.get(found + 1) == Some(0x0A);
        rest = rest.slice(found + 1 + usize::from(is_pair), rest.len());
    }
    if rest.len() == text.len() {
        return Piece::Borrowed(text);
    }
    unix.push(rest);
    Piece::own(unix)
}

/// The first of these members that is a text.
fn first_text<'a, V: Value<'a>>(input: V, keys: &[Key<'_>]) -> Option<V> {
    keys.iter().find_map(|key| input.get(*key).filter(|value| value.text_len().is_some()))
}
