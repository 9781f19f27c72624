//! How a block reads: its heading and the texts below it. The twin is `_pure/render.py`.

use super::call_title::push_call_title;
use super::change::change_of;
use super::fence::Source;
use super::languages::language_of;
use super::output::Output;
use crate::content::Content;
use crate::dedupe::line_ranges::{Lines, TO_THE_END, UNREADABLE, line_range};
use crate::json::value::Value;
use crate::pairing::block::{Entry, Kind};
use crate::text::constants;
use crate::text::piece::Piece;
use crate::text::sanitize::clean_line;
use crate::text::truncate::Keep;
use crate::text::{OwnedText, Text};

const LONGEST_TITLE: usize = 200;

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
            Self::Files => constants::FILES_HEADING,
            Self::Changes => constants::CHANGES_HEADING,
            Self::Commands => constants::COMMANDS_HEADING,
            Self::Others => constants::OTHERS_HEADING,
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
    line_title(entry).unwrap_or_else(|| {
        let mut text = OwnedText::with_room(LONGEST_TITLE);
        push_call_title(&mut text, entry, LONGEST_TITLE);
        Piece::own(text)
    })
}

/// The same, kept by an output.
pub(crate) fn keep_title<'a, V: Value<'a>>(output: &mut Output<'a>, entry: &Entry<'a, V>) {
    match line_title(entry) {
        Some(line) => output.keep(line.into()),
        None => push_call_title(output, entry, LONGEST_TITLE),
    }
}

/// A path, or the first line of a command; nothing where the call is said.
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
    let source = |text: Content<'a, V>, language, side| Source {
        text,
        language,
        side,
        reference: entry.call_id,
        is_exempt: false,
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
    [first, entry.result.map(|_| source(entry.text.clone(), language, side))]
}
