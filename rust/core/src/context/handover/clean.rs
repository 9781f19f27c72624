//! Clean the text of a result before a part of it is chosen: what it repeats, and what is not its own, goes or is counted.
//!
//! Each step takes time linear in the text, and says what it leaves out unless a reader loses nothing by it: blocks of the
//! client, colours, progress, states of a line that was written over, the line with an exit code (which the heading of the step
//! names), and blank lines in a row. Of a long listing of files it names the columns that go.

use std::borrow::Cow;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use memchr::memmem;

use super::chars::{breaks, is_blank, is_letter, is_longer, is_space, lines, piece_of, words};
use super::kinds::{CLIENT_LINES, FOOTERS, HEADERS, LISTERS, NOISE, PROGRESS, WRAPPERS};
use super::listings::{LEFT_OUT, without_columns};
use crate::content::client_blocks::without_blocks;
use crate::content::terminal::settled;
use crate::dedupe::failure::{ASIDES, MOST_LINES, SILENCES, exit_code_in};

const OUTPUT: &str = "Output:";
const FEWEST_ALIKE: usize = 8;
/// One line in this number may be blank.
const MOST_BLANK: usize = 3;
const SHORTEST_ECHO: usize = 12;
const LONGEST_COMPARED: usize = 400;
const LONGEST_PERIOD: usize = 3;
const FEWEST_LETTERS: usize = 2;
const KEY_BEGINS: &str = "-----BEGIN ";
const KEY_NAME: &str = "PRIVATE KEY-----";
const KEY_ENDS: &str = "-----END ";
const KEY: &str = "(private key left out)";
/// The characters of the shortest line by which the body of a key is known.
const LEAST_KEY_LINE: usize = 40;
/// The characters before the name of a key in which its line begins.
const LONGEST_KIND: usize = 40;

static FIND_KEY: LazyLock<memmem::Finder<'static>> = LazyLock::new(|| memmem::Finder::new(KEY_NAME));
/// The parts of lines that are dropped, which few texts have.
static FIND_PARTS: LazyLock<Option<AhoCorasick>> =
    LazyLock::new(|| AhoCorasick::new(PROGRESS.iter().chain(NOISE)).ok());

/// A cleaned result: its text, the exit code that it says (empty if none), and what was left out, in words.
///
/// `frame` counts the lines around it: those of a harness or a client, and empty ones at both ends.
#[derive(Clone, Debug)]
pub(super) struct Output<'a> {
    pub(super) text: Cow<'a, str>,
    pub(super) code: String,
    pub(super) left_out: String,
    pub(super) frame: usize,
}

/// Apply a function to a text, whose result is borrowed if the text was.
pub(super) fn then<'t, F>(text: Cow<'t, str>, change: F) -> Cow<'t, str>
where
    F: for<'o> Fn(&'o str) -> Cow<'o, str>,
{
    match text {
        Cow::Borrowed(text) => change(text),
        Cow::Owned(text) => {
            let changed = match change(&text) {
                Cow::Owned(changed) => Some(changed),
                Cow::Borrowed(part) if part.len() == text.len() => None,
                Cow::Borrowed(part) => Some(part.to_owned()),
            };
            Cow::Owned(changed.unwrap_or(text))
        }
    }
}

/// Return what a command or another tool printed, cleaned. The text of a file is cleaned by [`clean_file`].
///
/// Lines that are alike become one only if it `folds`.
pub(super) fn clean_output(text: Cow<'_, str>, folds: bool) -> Output<'_> {
    let count = breaks(&text);
    let text = then(text, without_blocks);
    let text = if is_drawn(&text) {
        Cow::Owned(settled(&piece_of(Cow::Borrowed(&*text))))
    } else {
        then(text, without_returns)
    };
    let text = then(text, without_keys);
    let text = then(text, |text| Cow::Borrowed(text.trim_matches('\n')));
    let (range, code) = without_exit(&text);
    let code = code.to_owned();
    let text =
        then(text, |text| Cow::Borrowed(without_footers(unwrapped(text.get(range.clone()).unwrap_or_default()))));
    let frame = count.saturating_sub(breaks(&text));
    if SILENCES.contains(&&*text) {
        return Output { text: Cow::Borrowed(""), code, left_out: String::new(), frame };
    }
    if text.is_empty() || text.starts_with(['[', '{']) {
        return Output { text, code, left_out: String::new(), frame };
    }
    let mut lines: Vec<&str> = lines(&text).collect();
    let all = lines.len();
    lines.retain(|line| !CLIENT_LINES.iter().any(|start| line.starts_with(start)));
    let has_parts = FIND_PARTS.as_ref().is_some_and(|parts| parts.is_match(&*text));
    if has_parts {
        lines.retain(|line| !PROGRESS.iter().any(|part| line.contains(part)));
    }
    let blank = lines.iter().filter(|line| is_blank(line)).count();
    if MOST_BLANK * blank > lines.len() {
        // They hold lines apart that are alike.
        lines.retain(|line| !is_blank(line));
    }
    let count = lines.len();
    if has_parts {
        lines.retain(|line| !NOISE.iter().any(|part| line.contains(part)));
    }
    let dropped = count - lines.len();
    let mut left_out = if dropped > 0 { format!("{dropped} lines of the shell about fork") } else { String::new() };
    let lines = single_blanks(lines);
    let entries = without_columns(&lines);
    if entries.is_some() {
        left_out.push_str(if left_out.is_empty() { "" } else { "; " });
        left_out.push_str(LEFT_OUT);
    }
    let cleaned = match entries.or_else(|| folds.then(|| fold_alike(&lines)).flatten()) {
        Some(changed) => Some(changed.join("\n")),
        None => (lines.len() < all).then(|| lines.join("\n")),
    };
    let text = cleaned.map_or(text, Cow::Owned);
    Output { text: then(text, |text| Cow::Borrowed(text.trim_matches('\n'))), code, left_out, frame }
}

/// Return the program that a command line runs last, by its words; empty if it is no command.
pub(super) fn last_program(command: &str) -> &str {
    words(command.rsplit("&&").next().unwrap_or_default()).next().unwrap_or_default()
}

/// Return what a command printed without lines of progress, and with a count in place of lines that are alike; `None` if it
/// has no such lines, or if they are hits or names of files.
pub(crate) fn folded_output(text: &str, command: &str) -> Option<String> {
    if LISTERS.contains(&last_program(command)) {
        return None;
    }
    let all: Vec<&str> = lines(text.trim_end_matches('\n')).collect();
    let is_progress = |line: &&str| PROGRESS.iter().any(|part| line.contains(part));
    let kept: Vec<&str> = all.iter().copied().filter(|line| !is_progress(line)).collect();
    match fold_alike(&kept) {
        Some(folded) => Some(folded.join("\n")),
        None => (kept.len() < all.len()).then(|| kept.join("\n")),
    }
}

/// Return what a command printed, without the command before it, which a terminal repeats and may break into lines.
pub(super) fn without_echo<'t>(text: Cow<'t, str>, command: &str) -> Cow<'t, str> {
    if command.chars().filter(|sign| !is_space(*sign)).take(SHORTEST_ECHO).count() < SHORTEST_ECHO {
        return text;
    }
    then(text, |text| Cow::Borrowed(after_echo(text, command).unwrap_or(text)))
}

/// Return what follows a command at the beginning of a text; `None` if it does not begin so.
fn after_echo<'t>(text: &'t str, command: &str) -> Option<&'t str> {
    let mut rest = text;
    for sign in command.chars().filter(|sign| !is_space(*sign)) {
        rest = rest.trim_start_matches(is_space).strip_prefix(sign)?;
    }
    let rest = rest.trim_start_matches([' ', '\t', '\r']);
    (rest.is_empty() || rest.starts_with('\n')).then(|| rest.trim_start_matches('\n'))
}

/// Return true if a text has colours, or lines that were written over.
fn is_drawn(text: &str) -> bool {
    let bytes = text.as_bytes();
    memchr::memchr2_iter(0x1B, b'\r', bytes).any(|at| bytes.get(at) == Some(&0x1B) || bytes.get(at + 1) != Some(&b'\n'))
}

/// Return a text whose lines end with a line feed alone.
fn without_returns(text: &str) -> Cow<'_, str> {
    if memchr::memchr(b'\r', text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.replace("\r\n", "\n"))
}

/// Return the text of a file, without blocks of the client and private keys. No line is added or removed within.
pub(super) fn clean_file(text: Cow<'_, str>) -> Cow<'_, str> {
    then(then(then(text, without_returns), without_blocks), without_keys)
}

/// Return the text of a file that a command printed, without what the harness adds.
pub(super) fn printed_file(text: Cow<'_, str>) -> Cow<'_, str> {
    let text = then(clean_file(text), |text| Cow::Borrowed(text.trim_end_matches('\n')));
    let (range, _) = without_exit(&text);
    then(text, |text| Cow::Borrowed(text.get(range.clone()).unwrap_or_default()))
}

/// Return a text without the bodies of private keys. The number of its lines stays.
pub(super) fn without_keys(text: &str) -> Cow<'_, str> {
    let find = |from: usize| {
        let rest = text.as_bytes().get(from..)?;
        FIND_KEY.find(rest).map(|at| from + at)
    };
    let part = |start: usize, end: usize| text.get(start..end).unwrap_or_default();
    let Some(mut at) = find(0) else { return Cow::Borrowed(text) };
    let mut kept = String::with_capacity(text.len());
    let mut done = 0;
    loop {
        let mut body = at + KEY_NAME.len();
        let before = part(done.min(at), at);
        let window = before.char_indices().rev().nth(LONGEST_KIND - 1).map_or(0, |(place, _)| place);
        let window = before.get(window..).unwrap_or_default();
        let begins = window.rfind(KEY_BEGINS).and_then(|start| window.get(start..));
        if begins.is_some_and(|kind| !kind.contains('\n')) {
            let end = key_end(text, body);
            if end == body {
                match find(body) {
                    Some(found) => at = found,
                    None => break,
                }
                continue;
            }
            let breaks = breaks(part(body, end));
            kept.push_str(part(done, body));
            kept.push_str(if breaks > 0 { "\n" } else { "" });
            kept.push_str(KEY);
            kept.extend(std::iter::repeat_n('\n', breaks.saturating_sub(1)));
            (done, body) = (end, end);
            if part(end, text.len()).starts_with(KEY_ENDS) {
                let after = end + KEY_ENDS.len();
                body = part(after, text.len()).find("-----").map_or(text.len(), |close| after + close);
            }
        }
        let next = body + part(body, text.len()).chars().next().map_or(1, char::len_utf8);
        match find(next) {
            Some(found) => at = found,
            None => break,
        }
    }
    kept.push_str(part(done, text.len()));
    Cow::Owned(kept)
}

/// Return the end of the body of a private key that begins at a place; this place if no key is there.
///
/// A body has letters and digits, some signs of headers and of strings in code, and a long line of base64: words are shorter,
/// and so are placeholders. Without an end, as in a text that was cut, it ends with the last of its long lines.
fn key_end(text: &str, body: usize) -> usize {
    let rest = text.get(body..).unwrap_or_default();
    let (mut last, mut run, mut end) = (0, 0, rest.len());
    for (at, sign) in rest.char_indices() {
        let is_line = matches!(sign, 'A'..='Z' | 'a'..='z' | '0'..='9' | '+' | '/' | '=');
        run = if is_line { run + 1 } else { 0 };
        if run >= LEAST_KEY_LINE {
            last = at + 1;
        }
        let is_within = matches!(sign, '\\' | ':' | ',' | '"' | '\'' | '|' | '→' | ' ' | '\t' | '\r' | '\n')
            || (sign == '-' && !rest.get(at..).is_some_and(|rest| rest.starts_with("-----")));
        if !is_line && !is_within {
            end = at;
            break;
        }
    }
    let rest = rest.get(end..).unwrap_or_default();
    let is_closed = rest.trim_start_matches('-').starts_with("END "); // a diff may put one more before the line
    body + if last > 0 && is_closed { end } else { last }
}

/// Return the part of a text without the lines of a harness about an exit code, and the code; empty if it says none.
fn without_exit(text: &str) -> (std::ops::Range<usize>, &str) {
    let (mut at, mut code, mut is_headed) = (0, "", false);
    for _ in 0..MOST_LINES {
        let rest = text.get(at..).unwrap_or_default();
        let end = rest.find('\n').map_or(text.len(), |end| at + end);
        let line = text.get(at..end).unwrap_or_default();
        let found = exit_code_in(line);
        if found.is_empty() && !ASIDES.iter().chain(HEADERS).any(|header| line.starts_with(header)) {
            break;
        }
        if code.is_empty() {
            code = found;
        }
        at = end + 1;
        if line == OUTPUT {
            is_headed = true;
            break;
        }
        if at > text.len() {
            break;
        }
    }
    if !code.is_empty() || is_headed {
        let rest = text.get(at..).unwrap_or_default();
        let start = text.len() - rest.trim_start_matches('\n').len();
        return (start..start + rest.trim_matches('\n').len(), code);
    }
    let mut end = text.len();
    for _ in 0..MOST_LINES {
        let before = text.get(..end).unwrap_or_default();
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = before.get(start..).unwrap_or_default();
        let code = exit_code_in(line);
        if !code.is_empty() {
            let rest = before.get(..start.saturating_sub(1)).unwrap_or_default();
            return (0..rest.trim_end_matches('\n').len(), code);
        }
        // The beginning may be longer than the line; then it includes what follows the line.
        let rest = text.get(start..).unwrap_or_default();
        if start == 0 || !ASIDES.iter().any(|aside| rest.starts_with(aside)) {
            break;
        }
        end = start - 1;
    }
    (0..text.len(), "")
}

/// Return a text without the last lines in which a harness says where its shell is.
fn without_footers(text: &str) -> &str {
    let mut text = text;
    while !text.is_empty() {
        let start = text.rfind('\n').map_or(0, |newline| newline + 1);
        let last = text.get(start..).unwrap_or_default();
        if !FOOTERS.iter().any(|footer| last.starts_with(footer)) {
            break;
        }
        text = text.get(..start.saturating_sub(1)).unwrap_or_default().trim_end_matches('\n');
    }
    text
}

/// Return the text inside of a tag around the whole.
fn unwrapped(text: &str) -> &str {
    for wrapper in WRAPPERS {
        let [start, end] = wrapper else { continue };
        if text.starts_with(start) && text.ends_with(end) {
            let inner = text.get(start.len()..text.len() - end.len()).unwrap_or_default();
            return inner.trim_matches('\n');
        }
    }
    text
}

/// Return lines in which no two blank ones follow each other.
fn single_blanks(mut lines: Vec<&str>) -> Vec<&str> {
    let mut was_blank = false;
    lines.retain(|line| {
        let is_blank = is_blank(line);
        let is_kept = !(is_blank && was_blank);
        was_blank = is_blank;
        is_kept
    });
    lines
}

/// Return lines with a count in place of those that repeat the ones before, except for numbers and ids; `None` if none do.
///
/// One, two or three lines may repeat. The first and the last of them stay; the count is a part of an example, so that no
/// other shortening parts them.
fn fold_alike<'t>(lines: &[&'t str]) -> Option<Vec<Cow<'t, str>>> {
    let mut found: Vec<Cow<'t, str>> = Vec::new();
    let (mut at, mut done) = (0, 0);
    let borrowed = |line: &&'t str| Cow::Borrowed(*line);
    while at + FEWEST_ALIKE <= lines.len() {
        let Some((period, count)) = repeated(lines, at) else {
            at += 1;
            continue;
        };
        let repeated = lines.get(at..at + count).unwrap_or_default();
        found.extend(lines.get(done..at).unwrap_or_default().iter().map(borrowed));
        found.extend(repeated.iter().take(period - 1).map(borrowed));
        let example = repeated.get(period - 1).copied().unwrap_or_default();
        if period == 1 && repeated.iter().all(|line| *line == example) {
            found.push(Cow::Owned(format!("{example} [and {} times the same line]", count - 1)));
        } else {
            let these = if period == 1 { "this" } else { "these" };
            let left_out = count - 2 * period;
            found.push(Cow::Owned(format!("{example} [and {left_out} lines like {these}, but for numbers]")));
            found.extend(repeated.iter().skip(count - period).map(borrowed));
        }
        at += count;
        done = at;
    }
    if done == 0 {
        return None;
    }
    found.extend(lines.get(done..).unwrap_or_default().iter().map(borrowed));
    Some(found)
}

/// Return how many lines repeat from a place on, but for numbers and ids, and how many lines that are; `None` if too few.
fn repeated(lines: &[&str], start: usize) -> Option<(usize, usize)> {
    for period in 1..=LONGEST_PERIOD {
        let mut end = start + period;
        let (Some(line), Some(before)) = (lines.get(end), lines.get(start)) else { break };
        if !are_alike(line, before) {
            continue;
        }
        if !lines.get(start..end).unwrap_or_default().iter().all(|line| has_form(line)) {
            break;
        }
        while let (Some(line), Some(before)) = (lines.get(end), lines.get(end - period))
            && are_alike(line, before)
        {
            end += 1;
        }
        let count = (end - start) / period * period;
        if count >= FEWEST_ALIKE.max(3 * period) {
            return Some((period, count));
        }
    }
    None
}

/// Return true for a byte of a word.
fn is_in_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Return the end of the word at the beginning of a text, and true if it has a digit: it is a number, a time, or an id.
fn word_of(text: &[u8]) -> (usize, bool) {
    let end = text.iter().position(|byte| !is_in_word(*byte)).unwrap_or(text.len());
    (end, text.get(..end).unwrap_or_default().iter().any(u8::is_ascii_digit))
}

/// Return true if two lines are equal but for words with digits. A long line has to be equal as a whole.
fn are_alike(one: &str, other: &str) -> bool {
    let (mut first, mut second) = (one.as_bytes(), other.as_bytes());
    // Up to the word in which they differ first, they are equal.
    let blocks = first.chunks_exact(8).zip(second.chunks_exact(8));
    let skipped = 8 * blocks.take_while(|(one, other)| one == other).count();
    let rest = first.iter().zip(second).skip(skipped);
    let equal = skipped + rest.take_while(|(one, other)| one == other).count();
    let before = first.get(..equal).unwrap_or_default();
    let start = before.iter().rposition(|byte| !is_in_word(*byte)).map_or(0, |sign| sign + 1);
    let is_long = |line| is_longer(line, LONGEST_COMPARED);
    if first.len().max(second.len()) > LONGEST_COMPARED && (is_long(one) || is_long(other)) {
        return one == other;
    }
    (first, second) = (first.get(start..).unwrap_or_default(), second.get(start..).unwrap_or_default());
    // A word after a hash may be a colour, which is data.
    let mut is_data = start.checked_sub(1).and_then(|sign| before.get(sign)) == Some(&b'#');
    loop {
        let ((size, has_digit), (other_size, other_has_digit)) = (word_of(first), word_of(second));
        let words = [first.get(..size), second.get(..other_size)];
        let is_id = has_digit && other_has_digit && !is_data;
        let is_same = is_id || words[0] == words[1];
        let rest = first.get(size..).unwrap_or_default().split_first();
        match (rest, second.get(other_size..).unwrap_or_default().split_first()) {
            _ if !is_same => return false,
            (None, None) => return true,
            (Some((sign, rest)), Some((other_sign, other_rest))) if sign == other_sign => {
                (first, second) = (rest, other_rest);
                is_data = *sign == b'#';
            }
            _ => return false,
        }
    }
}

/// Return true if a line has more than numbers and ids, which may be data.
fn has_form(line: &str) -> bool {
    if is_longer(line, LONGEST_COMPARED) {
        return true;
    }
    let mut letters = 0;
    // The letters of the words that are read so far, and of the last one, which may be an id.
    let (mut last, mut is_id, mut is_data) = (0, false, false);
    for character in line.chars() {
        if u8::try_from(character).is_ok_and(is_in_word) {
            is_id |= character.is_ascii_digit() && !is_data;
            last += usize::from(is_letter(character));
            continue;
        }
        letters += if is_id { 0 } else { last } + usize::from(is_letter(character));
        (last, is_id, is_data) = (0, false, character == '#');
        if letters > FEWEST_LETTERS {
            return true;
        }
    }
    letters += if is_id { 0 } else { last };
    letters > FEWEST_LETTERS
}

#[cfg(test)]
mod tests {
    use super::{clean_output, fold_alike, without_keys};
    use std::borrow::Cow;

    #[test]
    fn the_body_of_a_key_goes() {
        let key =
            "-----BEGIN PRIVATE KEY-----\nMIIEMIIEMIIEMIIEMIIEMIIEMIIEMIIEMIIEMIIEMIIE\nabc\n-----END PRIVATE KEY-----";
        let wanted = "-----BEGIN PRIVATE KEY-----\n(private key left out)\n\n-----END PRIVATE KEY-----";
        assert_eq!(without_keys(key), wanted);
        assert_eq!(without_keys("PRIVATE KEY-----"), "PRIVATE KEY-----");
    }

    #[test]
    fn lines_that_are_alike_are_counted() {
        let folded = |lines: &[&str]| fold_alike(lines).map(|lines| lines.join("|"));
        let lines: Vec<String> = (0..40).map(|number| format!("{number}: waiting")).collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        assert_eq!(folded(&lines).as_deref(), Some("0: waiting [and 38 lines like this, but for numbers]|39: waiting"));
        assert_eq!(folded(&["same text"; 9]).as_deref(), Some("same text [and 8 times the same line]"));
        assert_eq!(folded(&["1"; 9]), None);
        assert_eq!(folded(&["a run", "b run", "c run"].repeat(2)), None);
        let example = "in 2 ms [and 8 lines like these, but for numbers]";
        let pairs = ["ok run 1", "in 2 ms"].repeat(6);
        assert_eq!(folded(&pairs), Some(format!("ok run 1|{example}|ok run 1|in 2 ms")));
    }

    #[test]
    fn an_exit_code_is_read() {
        let output = clean_output(Cow::Borrowed("Exit code 2\nno such file\n"), true);
        assert_eq!((&*output.text, &*output.code), ("no such file", "2"));
    }
}
