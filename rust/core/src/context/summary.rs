//! The summary: markdown from an untrusted source, made safe so that it can neither swallow nor forge a section.
//!
//! A fence or comment may open only at the beginning of a line, and one that is still open at the end is closed. Fences
//! and comments inside lists and quotes become plain text, and so do raw HTML, underlined headings, and definitions of
//! links, by which a word of a heading would become one. Headings of level one and two become level three.

use super::limits::{Cut, Limits, Measure, room_of, signed};
use crate::text::OwnedText;
use crate::text::constants::{SUMMARY_HEADING, TRUNCATED};
use crate::text::piece::Piece;
use crate::text::sanitize::clean;
use crate::text::truncate::Keep;

const CONTAINER: &[u8] = b" \t>*+-0123456789.)";
const COMMENT_END: &str = "-->";

/// Return `summary` made safe to be placed under its heading, without blank lines around it.
#[must_use]
pub fn clean_summary(summary: &Piece<'_>) -> OwnedText {
    let text = clean(summary).text().to_utf8();
    let text = text.trim_matches('\n');
    if text.trim_matches([' ', '\t', '\n']).is_empty() {
        return OwnedText::default();
    }
    let mut lines: Vec<String> = Vec::new();
    let mut closing = String::new();
    let mut before = "";
    for line in text.split('\n') {
        if closing.is_empty() {
            let safe = safe_line(line, before);
            closing = opens(&safe);
            lines.push(safe);
        } else {
            if closes(line, &closing) {
                closing.clear();
            }
            lines.push(line.to_owned());
        }
        before = line;
    }
    if !closing.is_empty() {
        lines.push(closing);
    }
    OwnedText::from_utf8(&lines.join("\n"))
}

/// Return the text that closes the fence or comment that this line opens; empty if it opens none.
fn opens(line: &str) -> String {
    if let Some(fence) = fence(line) {
        return fence.to_owned();
    }
    let is_open = line.starts_with("<!--") && !line.get(2..).unwrap_or_default().contains(COMMENT_END);
    if is_open { COMMENT_END.to_owned() } else { String::new() }
}

/// Return the characters of a fence that opens at the beginning of `line`.
fn fence(line: &str) -> Option<&str> {
    let backticks = run(line, '`');
    if backticks >= 3 {
        return (!line.get(backticks..).unwrap_or_default().contains('`')).then(|| line.get(..backticks))?;
    }
    let tildes = run(line, '~');
    if tildes >= 3 { line.get(..tildes) } else { None }
}

fn run(line: &str, character: char) -> usize {
    line.chars().take_while(|own| *own == character).count()
}

fn closes(line: &str, closing: &str) -> bool {
    if closing == COMMENT_END {
        return line.contains(closing);
    }
    let indent = run(line, ' ');
    let mark = line.get(indent..).unwrap_or_default().trim_end_matches([' ', '\t']);
    indent < 4 && mark.len() >= closing.len() && mark.bytes().all(|own| closing.as_bytes().first() == Some(&own))
}

/// Make a line outside of fences and comments safe.
fn safe_line(line: &str, before: &str) -> String {
    if line.starts_with("<!--") || fence(line).is_some() {
        return line.to_owned();
    }
    if !before.trim_matches([' ', '\t']).is_empty() && is_underline(line) {
        let mark = line.trim_start_matches([' ', '\t', '>']);
        return with_backslash(line, line.len() - mark.len());
    }
    let start = line.bytes().take_while(|byte| CONTAINER.contains(byte)).count();
    let rest = line.get(start..).unwrap_or_default();
    let level = run(rest, '#');
    if (level == 1 || level == 2) && matches!(rest.as_bytes().get(level), None | Some(b' ' | b'\t')) {
        return format!("{}###{}", line.get(..start).unwrap_or_default(), rest.get(level..).unwrap_or_default());
    }
    if run(rest, '`') >= 3 || run(rest, '~') >= 3 || is_raw_html(rest) || is_definition(rest) {
        return with_backslash(line, start);
    }
    line.to_owned()
}

fn with_backslash(line: &str, place: usize) -> String {
    format!("{}\\{}", line.get(..place).unwrap_or_default(), line.get(place..).unwrap_or_default())
}

/// Return true for `===` or `---`, which turns the line before it into a heading.
fn is_underline(line: &str) -> bool {
    let mark = line.trim_start_matches([' ', '\t', '>']).trim_end_matches([' ', '\t']);
    !mark.is_empty() && (mark.bytes().all(|byte| byte == b'=') || mark.bytes().all(|byte| byte == b'-'))
}

/// Return true if raw HTML may begin here, which would run on to its own end condition.
fn is_raw_html(rest: &str) -> bool {
    let second = rest.strip_prefix('<').and_then(|tag| tag.bytes().next());
    second.is_some_and(|byte| byte.is_ascii_alphabetic() || b"!?/".contains(&byte))
}

/// Return true for `[label]:`, or the first line of a label that goes on in the next.
fn is_definition(rest: &str) -> bool {
    let Some(label) = rest.strip_prefix('[') else { return false };
    let mut bytes = label.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => _ = bytes.next(),
            b']' => return bytes.next() == Some(b':'),
            _ => {}
        }
    }
    true
}

/// The section of a summary; empty if there is no summary or no room for it.
#[derive(Debug, Default)]
pub(crate) struct FittedSummary {
    pub(crate) section: OwnedText,
    pub(crate) is_cut: bool,
    pub(crate) has_no_room: bool,
}

/// Build the section of a summary, cut to the room.
pub(crate) fn fit_summary(summary: &Piece<'_>, (room, measure): (isize, Measure)) -> FittedSummary {
    let text = clean_summary(summary);
    if text.as_text().is_empty() {
        return FittedSummary::default();
    }
    let fits = |section: &OwnedText| signed(measure.size(section.as_text())) <= room;
    let section = section_of(&text);
    if fits(&section) {
        return FittedSummary { section, ..FittedSummary::default() };
    }
    let rest = room - signed(measure.size(section_of(&OwnedText::default()).as_text()));
    let limit = room_of(if rest < 80 { rest.div_euclid(2) } else { rest - 40 });
    let section = section_of(&clean_summary(&shortened(Piece::own(text), Limits::NONE.within(limit, measure))));
    let has_no_room = !fits(&section);
    FittedSummary { section: if has_no_room { OwnedText::default() } else { section }, is_cut: true, has_no_room }
}

fn section_of(text: &OwnedText) -> OwnedText {
    let mut section = OwnedText::default();
    section.push_ascii(SUMMARY_HEADING);
    section.push(text.as_text());
    section.push_ascii("\n\n");
    section
}

/// Cut a text to its limits and add a marker if it was cut.
fn shortened(text: Piece<'_>, limits: Limits) -> Piece<'_> {
    let Err(cut) = Cut::of(&text, limits, Keep::Head) else { return text };
    let mut short = OwnedText::default();
    short.push(cut.head.text());
    short.push_ascii(TRUNCATED);
    Piece::own(short)
}
