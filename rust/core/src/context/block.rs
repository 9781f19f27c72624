//! A block as markdown: its heading and the texts below it.
//!
//! A heading names the call (`Grep(pattern="fn main", path="src")`). An edit is shown as its changed lines. The
//! language of a code block follows from the extension of the file (`_data/languages.json`).

use std::cell::OnceCell;

use super::fence::{Printer, Source};
use super::inline::{inert, make_inert};
use super::output::Output;
use crate::content::Content;
use crate::dedupe::line_ranges::{LineRange, TO_THE_END, UNREADABLE, line_range};
use crate::json::value::{Key, Value, items, names, text_or_empty};
use crate::pairing::argument_names::{DIFF_KEYS, NEW_KEYS, OLD_KEYS, SOURCE_KEY, WHOLE_FILE_KEYS};
use crate::pairing::block::{Entry, Kind};
use crate::text::graphemes::CodePoint as _;
use crate::text::piece::Piece;
use crate::text::sanitize::clean_line;
use crate::text::truncate::Keep;
use crate::text::{OwnedText, Text, constants, on_units};

const LONGEST_TITLE: usize = 100;

/// A section of a context.
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
    /// All sections, in the order of the context.
    pub const ALL: [Self; 4] = [Self::Files, Self::Changes, Self::Commands, Self::Others];

    /// The line that opens the section.
    #[must_use]
    pub const fn heading(self) -> &'static str {
        match self {
            Self::Files => constants::FILES_HEADING,
            Self::Changes => constants::CHANGES_HEADING,
            Self::Commands => constants::COMMANDS_HEADING,
            Self::Others => constants::OTHERS_HEADING,
        }
    }

    /// Return the section for a block. A block without its key argument (path or command) belongs to the other tools.
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

/// Return the title of a block's heading: a path, the first line of a command, or the call.
pub fn title<'a, V: Value<'a>>(entry: &Entry<'a, V>) -> Piece<'a> {
    line_title(entry).unwrap_or_else(|| {
        let mut text = OwnedText::with_room(LONGEST_TITLE);
        call_title(&mut text, entry, LONGEST_TITLE);
        Piece::own(text)
    })
}

/// Keep the [`title`] in an output, as markdown that shows it.
pub(crate) fn keep_title<'a, V: Value<'a>>(output: &mut Output<'a>, entry: &Entry<'a, V>) {
    if let Some(line) = line_title(entry) {
        return output.keep(inert(&line).into());
    }
    let start = output.end();
    call_title(output, entry, LONGEST_TITLE);
    make_inert(output, start);
}

/// Return the path or the first line of the command; `None` if the title is the call.
fn line_title<'a, V: Value<'a>>(entry: &Entry<'a, V>) -> Option<Piece<'a>> {
    let value = entry.value.as_ref()?;
    match Section::of(entry) {
        Section::Others => None,
        Section::Commands => {
            let value = value.trim_newlines();
            let end = value.text().find(b'\n').unwrap_or(value.len());
            Some(clean_line(&value.slice(0, end), LONGEST_TITLE))
        }
        Section::Files | Section::Changes => Some(clean_line(value, LONGEST_TITLE)),
    }
}

/// Return the notes in the heading, in parentheses after a space; empty without notes.
pub fn notes<'a, V: Value<'a>>(entry: &Entry<'a, V>) -> String {
    let mut notes = String::new();
    let mut add = |note: &str| {
        notes.push_str(if notes.is_empty() { " (" } else { "; " });
        notes.push_str(note);
    };
    if let Some(given) = entry.given
        && entry.kind == Kind::Read
        && entry.value.is_some()
        && let Some(lines) = line_range(given)
        && lines != UNREADABLE
    {
        add(&lines_note(lines));
    }
    if entry.is_stale {
        add("edited after this read");
    }
    match entry.result {
        None => add("interrupted: no result"),
        Some(_) if entry.is_error() => add("failed"),
        Some(_) => {}
    }
    if entry.call.is_none() {
        add("call missing");
    }
    if !notes.is_empty() {
        notes.push(')');
    }
    notes
}

/// Insert a count before the other notes, inside the parentheses.
#[must_use]
pub fn with_count(notes: &str, count: &str) -> String {
    match notes.strip_prefix(" (") {
        _ if count.is_empty() => notes.to_owned(),
        Some(others) => format!(" ({count}; {others}"),
        None => format!(" ({count})"),
    }
}

pub(crate) fn lines_note(lines: LineRange) -> String {
    let LineRange { first, last } = lines;
    if last >= TO_THE_END { format!("lines {first}-end") } else { format!("lines {first}-{last}") }
}

/// Return the count for a heading, such as `latest of 4 runs` or `3 edits, last shown`. If `is_open`, the number gets a
/// `+`, because there may be older ones.
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

/// Return the id that the markers of a block name; empty if they name none.
pub(super) fn reference_of<'a, V>(entry: &Entry<'a, V>, references: bool) -> Text<'a> {
    if references { entry.call_id } else { Text::ascii("") }
}

/// Return the texts of a block, two at most. The first is the command, if the heading can't hold it, or the change; the
/// second is the output. If `keep` is `None`, the kind of tool decides which part of a long text stays. Their markers name
/// the call if `references` is true.
pub fn sources<'a, V: Value<'a>>(
    entry: &Entry<'a, V>,
    keep: Option<Keep>,
    references: bool,
) -> [Option<Source<'a, V>>; 2] {
    let section = Section::of(entry);
    let side = keep.unwrap_or(Keep::Head);
    let path = entry.value.as_ref().map_or(Text::ascii(""), Piece::text);
    let source = |text: Content<'a, V>, language, side| Source {
        text,
        language,
        side,
        reference: reference_of(entry, references),
        is_exempt: false,
        content: None,
        printed_by: None,
        has_marker_below: false,
    };
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
    let output = entry.result.map(|_| Source {
        content: entry.content,
        printed_by: printed_by(entry),
        ..source(entry.text.clone(), language, side)
    });
    [first, output]
}

/// Return the command that printed a result, or its tool; `None` for a file, whose lines matter alike.
pub(crate) fn printed_by<'a, V>(entry: &Entry<'a, V>) -> Option<Printer<'a>> {
    let is_command = match entry.kind {
        Kind::Read | Kind::Edit => return None,
        Kind::Command => true,
        Kind::Other => false,
    };
    let command = || entry.value.clone().unwrap_or_default();
    let name = if is_command { command() } else { Piece::Borrowed(entry.tool_name) };
    Some(Printer { name, is_command, draft: OnceCell::new() })
}

const LONGEST_ARGUMENT: usize = 120;
const LEAST_ARGUMENT: usize = 3;
const MORE_ARGUMENTS: &str = ", ...";

/// A destination that a call is written to, piece by piece.
pub(crate) trait Sink<'a> {
    fn add(&mut self, piece: Piece<'a>);
    fn add_ascii(&mut self, text: &str);
}

impl<'a> Sink<'a> for OwnedText {
    fn add(&mut self, piece: Piece<'a>) {
        self.push(piece.text());
    }

    fn add_ascii(&mut self, text: &str) {
        self.push_ascii(text);
    }
}

impl<'a> Sink<'a> for Output<'a> {
    fn add(&mut self, piece: Piece<'a>) {
        self.keep(piece.into());
    }

    #[inline(always)]
    fn add_ascii(&mut self, text: &str) {
        self.keep_ascii(text);
    }
}

/// Write a call in at most `longest` characters, with `...` for what does not fit. The first argument loses its middle if
/// it is too long; others are left out.
pub(crate) fn call_title<'a, V: Value<'a>>(line: &mut impl Sink<'a>, entry: &Entry<'a, V>, longest: usize) {
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
        let key = clean_line(&Piece::Borrowed(key), LONGEST_ARGUMENT);
        let mut argument = Argument::of(value, LONGEST_ARGUMENT);
        let most = room.saturating_sub(key.len() + 3);
        if is_first && argument.len() > most {
            let fitting = most.saturating_sub(MORE_ARGUMENTS.len());
            argument = Argument::of(value, fitting.saturating_sub(2));
            // A quote is written as two characters.
            let excess = argument.len().saturating_sub(fitting);
            argument = Argument::of(value, fitting.saturating_sub(2 + excess));
        }
        is_first = false;
        let size = key.len() + argument.len() + 3;
        if size > room {
            line.add_ascii("...");
            return false;
        }
        room -= size;
        line.add(key);
        line.add_ascii("=");
        argument.write(line);
        true
    });
    line.add_ascii(")");
}

/// An argument as a heading shows it.
enum Argument<'a> {
    /// A text, in quotes.
    Text(Piece<'a>),
    /// Any other value, as JSON.
    Json(Piece<'a>),
}

impl<'a> Argument<'a> {
    fn of<V: Value<'a>>(value: V, longest: usize) -> Self {
        let longest = longest.max(LEAST_ARGUMENT);
        match value.text() {
            Some(text) => Self::Text(clean_line(&Piece::Borrowed(text), longest)),
            None => Self::Json(clean_line(&Piece::own(value.json()), longest)),
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

    fn write(self, line: &mut impl Sink<'a>) {
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

/// The assumed length of a line when room for the line prefixes is reserved.
const SHORT_LINE: usize = 16;

/// Return the text of a change, and true if it is a diff with `-` and `+` lines, or false if it is the whole content of
/// a written file.
pub(crate) fn change_of<'a, V: Value<'a>>(input: V) -> Option<(Content<'a, V>, bool)> {
    if let Some(edits) = input.get(names::EDITS).and_then(Value::list) {
        let mut text = OwnedText::default();
        for edit in items(edits).filter_map(Value::object) {
            push_replaced(&mut text, replaced(edit));
        }
        if !text.as_text().is_empty() {
            return Some((Content::Piece(Piece::own(text)), true));
        }
    }
    let texts = replaced(input);
    if texts.iter().any(Option::is_some) {
        let mut text = OwnedText::default();
        push_replaced(&mut text, texts);
        return (!text.as_text().is_empty()).then(|| (Content::Piece(Piece::own(text)), true));
    }
    if let Some(diff) = first_text(input, DIFF_KEYS) {
        return Some((Content::Value(diff), true));
    }
    let whole = first_text(input, WHOLE_FILE_KEYS).or_else(|| first_text(input, &[SOURCE_KEY]))?;
    Some((Content::Value(whole), false))
}

/// Return the old lines of an edit with `-`, then the new ones with `+`.
pub(crate) fn replaced_text<'a, V: Value<'a>>(edit: V) -> OwnedText {
    let mut text = OwnedText::default();
    push_replaced(&mut text, replaced(edit));
    text
}

/// Return the old and the new text of an edit.
fn replaced<'a, V: Value<'a>>(edit: V) -> [Option<V>; 2] {
    [first_text(edit, OLD_KEYS), first_text(edit, NEW_KEYS)]
}

/// Add the old lines prefixed with `-` and the new lines prefixed with `+`.
fn push_replaced<'a, V: Value<'a>>(text: &mut OwnedText, [old, new]: [Option<V>; 2]) {
    push_prefixed(text, text_or_empty(old), "-");
    push_prefixed(text, text_or_empty(new), "+");
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

/// Replace CRLF and CR with LF.
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

/// Return the first of these members that is a text.
fn first_text<'a, V: Value<'a>>(input: V, keys: &[Key<'_>]) -> Option<V> {
    keys.iter().find_map(|key| input.get(*key).filter(|value| value.text_len().is_some()))
}

include!(concat!(env!("OUT_DIR"), "/languages.rs"));

const LONGEST_EXTENSION: usize = 8;

/// Return the language for `path`; empty if its extension is unknown.
#[must_use]
pub fn language_of(path: Text<'_>) -> &'static str {
    let size = path.len();
    let end = path.slice(size.saturating_sub(LONGEST_EXTENSION + 1), size);
    let mut room = [0; LONGEST_EXTENSION + 1];
    let units = narrow(end, &mut room);
    let Some(dot) = memchr::memrchr(b'.', units) else { return "" };
    let extension = units.get(dot + 1..).unwrap_or_default();
    let place = EXTENSIONS.binary_search_by(|(own, _)| own.as_bytes().cmp(extension));
    place.ok().and_then(|place| EXTENSIONS.get(place)).map_or("", |(_, language)| language)
}

/// Copy the text into single bytes. A wider code point becomes 0, which no extension contains.
fn narrow<'a>(text: Text<'_>, room: &'a mut [u8; LONGEST_EXTENSION + 1]) -> &'a [u8] {
    for (index, slot) in room.iter_mut().enumerate() {
        *slot = text.get(index).and_then(|code_point| u8::try_from(code_point).ok()).unwrap_or(0);
    }
    room.get(..text.len()).unwrap_or_default()
}
