//! The lines of a file that a read returned, with the number of the first one.

use std::borrow::Cow;

use super::chars::{breaks, is_blank, is_longer, lines, string_of};
use super::clean::{clean_file, printed_file, then};
use super::kinds::{CLOSINGS, MORE_NOTES};
use super::shell_reads::{Read, ShellRead};
use super::steps::Step;
use crate::dedupe::line_ranges::{DEFAULT_READ, LineRange, UNREADABLE, line_range};
use crate::json::value::{Value, names};
use crate::text::Text;
use crate::text::cut_words::has_cut_word;

const SIGNS: [&str; 5] = ["→", "\t", "|", ": ", ":"];
/// The characters at the beginning of a line in which a number and its sign stand.
const LONGEST_NUMBER: usize = 16;
const MOST_HEADERS: usize = 5;
const MOST_FOOTERS: usize = 6;
/// A text with fewer numbered lines is numbered only by a sign that no text has by chance.
const FEWEST: usize = 3;
/// The lines after the last number before a gap, in which the next number stands.
const WITHIN_GAP: usize = 3;
/// The words before the line numbers in the note that Gemini CLI puts above a part of a file.
const SHOWS: &str = "Showing lines ";
const CONTENT: &str = "--- FILE CONTENT (truncated) ---\n";
const LONGEST_NOTE: usize = 800;
const OPENING: &str = "<content>";
const LONGEST_MESSAGE: usize = 300;
/// The beginning of a result in which a tool wraps a text.
const ENVELOPE: &str = "{\"";

/// Return true if what a read returned may be a message of the tool, and no text of the file: it is short, and not numbered.
pub(super) fn may_be_message<'a, V: Value<'a>>(step: &Step<'a, V>) -> bool {
    if step.keys.is_empty() {
        return true; // it holds several files, or none that is known
    }
    let content = &step.entry.text;
    let is_short = |text: &str| !is_longer(text, LONGEST_MESSAGE) && breaks(text) < FEWEST && numbered(text).is_none();
    let is_named = || step.paths().first().is_some_and(|path| path.contains("json"));
    // A tool may wrap the text of the file in an envelope.
    let is_envelope = |text: &str| text.starts_with(ENVELOPE) && !text.contains('\n') && !is_named();
    if step.shell_read().is_some() {
        let text = printed_file(string_of(&content.whole()));
        return is_short(&text) || is_envelope(&text);
    }
    let starts = || content.start(ENVELOPE.len()).text().as_utf8() == ENVELOPE;
    (content.len() <= LONGEST_MESSAGE && is_short(step.text())) || (starts() && is_envelope(step.text()))
}

/// Return the lines that a read returned. Numbers that the tool put before lines are taken off, and believed.
pub(super) fn read_lines<'s, 'a, V: Value<'a>>(step: &'s Step<'a, V>) -> &'s Read<'a> {
    step.read.get_or_init(|| lines_of(step))
}

/// Return the first and the last line that the result of a read shows, or those that it asked for if they are not known;
/// `None` if it asked for all.
pub(super) fn lines_shown<'a, V: Value<'a>>(step: &Step<'a, V>) -> Option<LineRange> {
    let asked = step.entry.given.and_then(line_range).filter(|asked| *asked != UNREADABLE);
    if !step.has_succeeded() || step.has_media || may_be_message(step) {
        return asked;
    }
    let read = read_lines(step);
    let first = if read.first > 0 { count_in(read.first) } else { asked.map_or(0, |asked| asked.first) };
    if (asked.is_none() && read.is_whole) || first == 0 || read.count == 0 {
        return asked;
    }
    Some(LineRange { first, last: first + count_in(read.count) - 1 })
}

fn count_in(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX / 2)
}

/// Return a text without a last line in which the tool says that the file goes on; `None` if it has none.
fn without_note(text: &str) -> Option<&str> {
    let mut body = text.trim_end_matches(['\n', ' ']);
    for closing in CLOSINGS {
        body = body.strip_suffix(closing).unwrap_or(body).trim_end_matches(['\n', ' ']);
    }
    let start = body.rfind('\n').map_or(0, |newline| newline + 1);
    let line = body.get(start..)?;
    let is_note = line.starts_with(['[', '(']) && MORE_NOTES.iter().any(|note| line.contains(note));
    let above = body.get(..start.saturating_sub(1)).unwrap_or_default();
    is_note.then(|| above.strip_suffix('\n').unwrap_or(above))
}

/// Return the number of the first line and the lines below a note of the tool that it shows a part of a file.
fn below_note(text: &str) -> Option<(usize, &str)> {
    let (note, shown) = text.split_once(CONTENT)?;
    if is_longer(note, LONGEST_NOTE - CONTENT.len()) {
        return None;
    }
    let rest = note.split_once(SHOWS).map_or("", |(_, rest)| rest);
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    Some((rest.get(..digits)?.parse().unwrap_or(0), shown))
}

/// Return the lines that a read returns at most: if it returns fewer, the file ends there. 0 if that is not known.
fn most_of(asked: Option<LineRange>) -> usize {
    let most = asked.map_or(DEFAULT_READ.last, |asked| if asked.first == 1 { asked.last } else { 0 });
    usize::try_from(most).unwrap_or(usize::MAX)
}

fn lines_of<'a, V: Value<'a>>(step: &Step<'a, V>) -> Read<'a> {
    let entry = &step.entry;
    if let Some(asked) = step.shell_read() {
        return printed_lines(string_of(&entry.text.whole()), asked);
    }
    let text = clean_file(string_of(&entry.text.whole()));
    let asked = entry.given.and_then(line_range);
    let goes_on = without_note(&text).is_some();
    let text = then(text, |text| Cow::Borrowed(without_note(text).unwrap_or(text)));
    if let Some((first, shown)) = below_note(&text) {
        let own = shown.strip_suffix('\n').unwrap_or(shown).to_owned();
        return Read { first, count: breaks(&own) + 1, text: Cow::Owned(own), is_whole: false };
    }
    let most = most_of(asked);
    if let Some((first, count, own)) = numbered(&text) {
        let is_whole = first == 1 && count < most && !goes_on;
        return Read { first, text: Cow::Owned(own), count, is_whole };
    }
    let is_cut = has_cut_word(Text::Latin1(text.as_bytes())) || has_gap(&text) || asked == Some(UNREADABLE);
    let is_ended = text.is_empty() || text.ends_with('\n');
    let count = breaks(&text) + usize::from(goes_on || !is_ended);
    let text = then(text, |text| Cow::Borrowed(text.strip_suffix('\n').filter(|_| !goes_on).unwrap_or(text)));
    if is_cut {
        return Read { first: 0, text, count, is_whole: false };
    }
    let Some(asked) = asked else { return Read { first: 1, text, count, is_whole: count < most && !goes_on } };
    // Some tools count it from 0.
    let is_counted_from_one = entry.given.and_then(|given| given.get(names::OFFSET)).is_none();
    let first = if is_counted_from_one { usize::try_from(asked.first).unwrap_or(0) } else { 0 };
    Read { first, text, count, is_whole: first == 1 && count < most && !goes_on }
}

/// Return the lines that a command printed. If there may be fewer than it was asked for, the first ones are believed.
fn printed_lines<'a>(text: Cow<'a, str>, asked: ShellRead<'_>) -> Read<'a> {
    let text = printed_file(text);
    let count = breaks(&text) + 1;
    if asked.is_numbered {
        return match numbered(&text) {
            Some((first, count, own)) => {
                let is_whole = first == 1 && asked.ends_after(count) && !has_cut_word(Text::Latin1(text.as_bytes()));
                Read { first, text: Cow::Owned(own), count, is_whole }
            }
            None => Read { first: 0, text, count, is_whole: false },
        };
    }
    let is_cut = has_cut_word(Text::Latin1(text.as_bytes()));
    let first = if is_cut { 0 } else { asked.first };
    Read { first, text, count, is_whole: !is_cut && first == 1 && asked.ends_after(count) }
}

/// Return the first number, the count and the joined lines of a text whose lines a tool numbered; `None` if they are not.
fn numbered(text: &str) -> Option<(usize, usize, String)> {
    let mut rest = text;
    let is_tagged = lines(text).take(MOST_HEADERS).any(|line| line.starts_with(OPENING));
    for _ in 0..MOST_HEADERS {
        let (line, after) = rest.split_once('\n').map_or((rest, None), |(line, after)| (line, Some(after)));
        for sign in SIGNS {
            let Some((first, _)) = number_of(line, sign) else { continue };
            let fewest = if is_tagged || matches!(sign, "→" | "\t") { 1 } else { FEWEST };
            if let Some((count, own)) = numbered_by(rest, sign, first, fewest) {
                return Some((first, count, own));
            }
        }
        rest = after?;
    }
    None
}

/// Return the count and the joined lines of a text that begins with at least `fewest` lines that a tool numbered with a
/// sign.
fn numbered_by(text: &str, sign: &str, first: usize, fewest: usize) -> Option<(usize, String)> {
    let mut own = String::with_capacity(text.len());
    let mut count = 0;
    let mut lines = lines(text);
    let mut others = 0;
    for line in lines.by_ref() {
        match number_of(line, sign) {
            Some((number, rest)) if number == first + count => {
                if count > 0 {
                    own.push('\n');
                }
                own.push_str(rest);
                count += 1;
            }
            _ => {
                others += usize::from(!is_blank(line));
                break;
            }
        }
    }
    others += lines.filter(|line| !is_blank(line)).take(MOST_FOOTERS + 1).count();
    (count >= fewest && others <= MOST_FOOTERS).then_some((count, own))
}

/// Return true if a tool numbered lines and left some out within.
fn has_gap(text: &str) -> bool {
    let mut rest = text;
    for _ in 0..MOST_HEADERS {
        let (line, after) = rest.split_once('\n').map_or((rest, None), |(line, after)| (line, Some(after)));
        let leaves_out = |sign: &&str| {
            let Some((first, _)) = number_of(line, sign) else { return false };
            let numbers = || lines(rest).map(|line| number_of(line, sign).map(|(number, _)| number));
            let count = numbers().zip(first..).take_while(|(own, next)| *own == Some(*next)).count();
            let mut after = numbers().skip(count).take(WITHIN_GAP);
            count >= FEWEST && after.any(|number| number.is_some_and(|number| number > first + count))
        };
        if SIGNS.iter().any(leaves_out) {
            return true;
        }
        match after {
            Some(after) => rest = after,
            None => return false,
        }
    }
    false
}

/// Return the number that a tool put before a line with a sign, and the line after it.
fn number_of<'t>(line: &'t str, sign: &str) -> Option<(usize, &'t str)> {
    let line = line.strip_prefix(OPENING).unwrap_or(line);
    let digits = line.trim_start_matches(' ');
    let blanks = line.len() - digits.len();
    let count = digits.bytes().take_while(u8::is_ascii_digit).count();
    let (number, after) = digits.split_at_checked(count)?;
    let rest = after.trim_start_matches(' ').strip_prefix(sign)?;
    // All characters before the sign are of one byte.
    let before = line.len() - rest.len() - sign.len();
    let is_near = blanks < LONGEST_NUMBER && before + sign.chars().count() <= LONGEST_NUMBER;
    let number = if is_near { number.parse().ok()? } else { return None };
    Some((number, rest))
}

#[cfg(test)]
mod tests {
    use super::numbered;

    #[test]
    fn numbers_before_lines_are_taken_off() {
        let found = numbered("    7\tseven\n    8\t\n    9\tnine");
        assert_eq!(found, Some((7, 3, "seven\n\nnine".to_owned())));
        assert_eq!(numbered("one\ntwo\n"), None);
        assert_eq!(numbered("1: a\n2: b"), None);
        assert_eq!(numbered("1: a\n2: b\n3: c"), Some((1, 3, "a\nb\nc".to_owned())));
    }
}
