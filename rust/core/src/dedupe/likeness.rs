//! The judgement if a later result answers as an older one did, or may be a message that nothing was done.
//!
//! No list holds every text with which tools say that a call failed, was refused or was interrupted, in every language.
//! But such a text has a few lines, and is unlike the answer that the same call got before. A later result is in doubt
//! if nothing says that the tool succeeded, and it is short. It then supersedes failures, and only those results that
//! it is like.
//!
//! Two results are alike if more than a quarter of the newer one's pairs of neighbouring words are in the older one,
//! near one of its ends. All numbers are one word, and so is the end of a line. Words of the path or the command don't
//! count, because a message repeats them.

use ahash::AHashSet;

use super::failure::{MOST_LINES, SHORT, SILENCES, answer, has_flag};
use super::line_ranges::{DEFAULT_READ, LineRange};
use crate::content::Content;
use crate::content::answer::has_at_most;
use crate::json::value::Value;
use crate::pairing::block::{Entry, Kind};
use crate::text::constants::MARKER_START;
use crate::text::piece::Piece;

/// The number of code points at each end of an older result that a newer one is compared with.
const WINDOW: usize = 500;
/// The maximum number of results in doubt for one key. Answers that differ this often are of a call whose answers
/// differ.
pub(super) const MOST_IN_DOUBT: usize = 8;
/// More than one pair in this many must be in the older result.
const SHARE: usize = 4;
const NUMBER: &str = "0";
const BREAK: &str = "\n";
const BLANK: [char; 4] = [' ', '\t', '\r', '\n'];

/// A newer result that may be a message.
#[derive(Debug)]
pub(super) struct Doubt<'a> {
    pub(super) order: usize,
    /// The lines that a read requested.
    pub(super) lines: Option<LineRange>,
    text: Piece<'a>,
}

impl<'a> Doubt<'a> {
    /// Return the doubt in a result that has a few lines, if nothing says that the tool succeeded; else `None`.
    pub(super) fn of<V: Value<'a>>(entry: &Entry<'a, V>, lines: Option<LineRange>) -> Option<Self> {
        if !entry.is_unproven() {
            return None;
        }
        let answer = answer(entry);
        if !has_at_most(&*answer, SHORT) {
            return None;
        }
        let text = answer.brief();
        let utf8 = text.text().as_utf8();
        let is_message = utf8.bytes().filter(|byte| *byte == b'\n').count() <= MOST_LINES
            && (entry.kind == Kind::Read || !is_silent(&utf8))
            && !is_value(&utf8)
            && !entry.result.is_some_and(|wire| has_flag(wire, entry.content));
        drop(utf8);
        is_message.then_some(Self { order: entry.order, lines, text })
    }

    /// Return true if a read returned these lines.
    pub(super) fn covers(&self, wanted: LineRange) -> bool {
        let lines = self.lines.unwrap_or(DEFAULT_READ);
        lines.first <= wanted.first && wanted.last <= lines.last
    }

    /// Return true if the result is like an older one with the same key.
    pub(super) fn is_like<V: Value<'a>>(&self, older: &Entry<'a, V>) -> bool {
        let value = older.value.as_ref().map_or_else(String::new, |value| value.text().to_utf8());
        is_like(&self.text.text().as_utf8(), &ends(&answer(older)), &value)
    }

    /// Return true if the result is like the text that a call wrote to the file `path`.
    pub(super) fn shows<V: Value<'a>>(&self, written: V, path: &str) -> bool {
        is_like(&self.text.text().as_utf8(), &ends(&Content::Value(written)), path)
    }
}

/// Return true if the result of an entry that was judged may be a message.
pub(crate) fn may_be_message<'a, V: Value<'a>>(entry: &Entry<'a, V>) -> bool {
    Doubt::of(entry, None).is_some()
}

/// Return true if a command printed nothing, or its harness says so.
fn is_silent(text: &str) -> bool {
    let bare = text.trim_matches(BLANK);
    bare.is_empty() || SILENCES.contains(&bare)
}

/// Return true for one character, or for text without words other than numbers.
fn is_value(text: &str) -> bool {
    let bare = text.trim_matches(BLANK);
    bare.chars().count() == 1 || (!bare.is_empty() && words(bare).iter().all(|word| [NUMBER, BREAK].contains(word)))
}

/// Return the text, or both ends of a longer one.
fn ends<'a, V: Value<'a>>(text: &Content<'a, V>) -> String {
    if has_at_most(text, 2 * WINDOW) {
        return text.brief().text().to_utf8();
    }
    let end = text.end(WINDOW);
    let end = end.slice(end.len().saturating_sub(WINDOW), end.len());
    format!("{}\n{}", text.start(WINDOW).text().to_utf8(), end.text().to_utf8())
}

/// Return true if two results with the same key are alike. `ends` is of the older one, and `value` the path or command.
fn is_like(newer: &str, ends: &str, value: &str) -> bool {
    if newer == ends {
        return true;
    }
    if newer.contains(MARKER_START) || ends.contains(MARKER_START) {
        return false;
    }
    if is_numbered(newer) && is_numbered(ends) {
        return true;
    }
    let [newer, older, value] = [newer, ends, value].map(|text| format!("\n{text}\n").to_ascii_lowercase());
    let (new_words, old_words) = (words(&newer), words(&older));
    let known: AHashSet<&str> = words(&value).into_iter().filter(|word| ![NUMBER, BREAK].contains(word)).collect();
    let (said, older_said) = (said(&new_words), said(&old_words));
    if said.len() == 1 && older_said.len() == 1 {
        return true;
    }
    if !said.is_empty() && said.iter().all(|word| *word == NUMBER || known.contains(word)) {
        return true;
    }
    let (new, old) = (pairs(&new_words, &known), pairs(&old_words, &known));
    new.intersection(&old).count() * SHARE > new.len()
}

/// Return true if the first line of a text has a number, as reading tools number lines.
fn is_numbered(text: &str) -> bool {
    let rest = text.trim_start_matches([' ', '\n']);
    let after = rest.trim_start_matches(|digit: char| digit.is_ascii_digit());
    after.len() < rest.len() && after.starts_with(['\t', '\u{2192}', '|', ':'])
}

/// Return the words of a text and the ends of its lines. Each character of a script without spaces between words is one.
///
/// By ranges, so that both backends agree whatever version of Unicode they know.
fn words(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '\n' | '\u{3040}'..='\u{d7ff}' | '\u{20000}'..='\u{3ffff}' => first.len_utf8(),
            _ => rest.find(|part| !is_word(part)).unwrap_or(rest.len()),
        };
        let (word, after) = rest.split_at(length.max(first.len_utf8()));
        if length > 0 {
            found.push(if word.bytes().any(|byte| byte.is_ascii_digit()) { NUMBER } else { word });
        }
        rest = after;
    }
    found
}

fn is_word(part: char) -> bool {
    part.is_ascii_alphanumeric() || part == '_' || ('\u{c0}'..='\u{1fff}').contains(&part)
}

/// Return the words without the ends of lines.
fn said<'t>(found: &[&'t str]) -> Vec<&'t str> {
    found.iter().copied().filter(|word| *word != BREAK).collect()
}

/// Return the pairs of neighbours, without those that are in texts of all kinds, and without known words.
fn pairs<'t>(found: &[&'t str], known: &AHashSet<&str>) -> AHashSet<(&'t str, &'t str)> {
    let usual = [(NUMBER, NUMBER), (NUMBER, BREAK), (BREAK, BREAK)];
    let pairs = found.iter().zip(found.iter().skip(1)).map(|(first, second)| (*first, *second));
    pairs.filter(|pair| !usual.contains(pair) && !known.contains(pair.0) && !known.contains(pair.1)).collect()
}
