//! The kinds of texts, and the ranks of their lines; the words are those of `_data/shorten.json`.
//!
//! A text is searched once for all words that may be anywhere in a line. Those for its start and its end are found by one
//! byte.

use std::sync::LazyLock;

use ahash::{AHashMap, AHashSet};
use aho_corasick::{AhoCorasick, AhoCorasickKind, Input, MatchKind};

use super::diff::rank_diff;
use super::lines::{FOLDED, IMPORTANT, NEAR, PLAIN, Rank, Ranking};
use crate::content::Content;
use crate::json::value::Value;

include!(concat!(env!("OUT_DIR"), "/shorten.rs"));

/// Words by which a line is recognised: at its start, at its end, or anywhere.
pub(super) struct Words {
    starts: &'static [&'static str],
    ends: &'static [&'static str],
    parts: &'static [&'static str],
}

/// A kind of text: how it is recognised, and which of its lines matter.
pub(super) struct TextKind {
    pub(super) name: &'static str,
    signs: &'static [&'static str],
    commands: &'static [&'static str],
    weak_signs: &'static [&'static str],
    folded: Words,
    important: Words,
    next: Words,
    before: usize,
    after: usize,
    /// True if lines that differ only in their numbers are folded.
    is_similar: bool,
    pub(super) label: &'static str,
}

/// The characters at each end of a text in which its kind is looked for.
pub(super) const LOOK: usize = 2_000;

/// A search for the first of many words; of two that begin at one place, the one that is listed first.
pub(super) fn search<'w>(words: impl IntoIterator<Item = &'w [u8]>) -> Option<AhoCorasick> {
    let mut words = words.into_iter().peekable();
    words.peek()?;
    let builder = || AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).clone();
    builder().kind(Some(AhoCorasickKind::DFA)).build(words).ok()
}

/// The search for the words that speak of errors.
pub(super) static FIND_ERROR: LazyLock<Option<AhoCorasick>> =
    LazyLock::new(|| search(ERRORS.iter().map(|word| word.as_bytes())));

/// A kind of text with the searches for its words.
pub(super) struct Kind {
    pub(super) table: &'static TextKind,
    /// For its signs and weak signs, in the output of one of its commands.
    named: Option<AhoCorasick>,
    /// For the words anywhere in its lines, and the rank that each of them means.
    parts: Option<AhoCorasick>,
    meant: Vec<Marks>,
    /// The words at the start of its lines, by their first byte, and at the end, by their last.
    starts: ByByte,
    ends: ByByte,
}

/// The ranks that words mean: the bits of [`IS_FOLDED`], [`IS_IMPORTANT`] and [`IS_NEXT`].
type Marks = u8;
const IS_FOLDED: Marks = 1;
const IS_IMPORTANT: Marks = 2;
const IS_NEXT: Marks = 4;

/// Words with the ranks that they mean, by one of their bytes. The first list is empty.
struct ByByte {
    numbers: [u8; 256],
    lists: Vec<Vec<(&'static str, Marks)>>,
}

impl ByByte {
    fn of(words: impl Iterator<Item = (&'static str, Marks)>, key: fn(&str) -> Option<u8>) -> Self {
        let mut all = Self { numbers: [0; 256], lists: vec![Vec::new()] };
        for (word, mark) in words {
            let Some(number) = key(word).and_then(|byte| all.numbers.get_mut(usize::from(byte))) else { continue };
            if *number == 0 {
                *number = u8::try_from(all.lists.len()).unwrap_or_default();
                all.lists.push(Vec::new());
            }
            if let Some(list) = all.lists.get_mut(usize::from(*number)) {
                list.push((word, mark));
            }
        }
        all
    }

    fn at(&self, byte: Option<u8>) -> &[(&'static str, Marks)] {
        let number = byte.and_then(|byte| self.numbers.get(usize::from(byte))).copied().unwrap_or_default();
        self.lists.get(usize::from(number)).map_or(&[], Vec::as_slice)
    }
}

impl Kind {
    fn of(kind: &'static TextKind) -> Self {
        let named = kind.signs.iter().chain(kind.weak_signs).map(|sign| sign.as_bytes());
        let ranks = [(&kind.folded, IS_FOLDED), (&kind.important, IS_IMPORTANT), (&kind.next, IS_NEXT)];
        let parts = || ranks.iter().flat_map(|(own, mark)| own.parts.iter().map(|word| (*word, *mark)));
        let starts = ranks.iter().flat_map(|(own, mark)| own.starts.iter().map(|word| (*word, *mark)));
        let ends = ranks.iter().flat_map(|(own, mark)| own.ends.iter().map(|word| (*word, *mark)));
        Self {
            table: kind,
            named: search(named),
            parts: search(parts().map(|(word, _)| word.as_bytes())),
            meant: parts().map(|(_, mark)| mark).collect(),
            starts: ByByte::of(starts, first_byte),
            ends: ByByte::of(ends, last_byte),
        }
    }

    /// Return the marks of a line by the words at its start and at its end.
    fn marks_at_ends(&self, line: &str) -> Marks {
        let starts = self.starts.at(first_byte(line)).iter().filter(|(word, _)| line.starts_with(word));
        let ends = self.ends.at(last_byte(line)).iter().filter(|(word, _)| line.ends_with(word));
        starts.chain(ends).fold(0, |all, (_, mark)| all | mark)
    }

    /// Return true if more words in a line with these marks can change its rank.
    fn is_open(&self, marks: Marks) -> bool {
        marks & IS_FOLDED == 0 && (marks & IS_IMPORTANT == 0 || !self.table.folded.parts.is_empty())
    }
}

fn first_byte(text: &str) -> Option<u8> {
    text.bytes().next()
}

fn last_byte(text: &str) -> Option<u8> {
    text.bytes().next_back()
}

static ALL: LazyLock<Vec<Kind>> = LazyLock::new(|| KINDS.iter().map(Kind::of).collect());

/// The search for the signs of all kinds, and the number of the kind of each.
static SIGNS: LazyLock<(Option<AhoCorasick>, Vec<usize>)> = LazyLock::new(|| {
    let signs =
        || KINDS.iter().enumerate().flat_map(|(number, kind)| kind.signs.iter().map(move |sign| (number, sign)));
    (search(signs().map(|(_, sign)| sign.as_bytes())), signs().map(|(number, _)| number).collect())
});

/// Return each place at which a word begins, with the number of the word.
pub(super) fn found_in(search: Option<&AhoCorasick>, text: &str) -> impl Iterator<Item = (usize, usize)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let found = search?.find(Input::new(text).range(at..))?;
        at = found.start() + 1;
        Some((found.start(), found.pattern().as_usize()))
    })
}

/// Return the words of a command, which is also the name of a tool that is no shell.
pub(crate) fn words_of(command: &str) -> Vec<&str> {
    words_in(command).collect()
}

fn words_in(command: &str) -> impl Iterator<Item = &str> {
    command.split(|character| " \t\n;&|()/'\"=".contains(character))
}

/// The name of the kind of what test runners print.
const TESTS: &str = "tests";

static RUNNERS: LazyLock<AHashSet<&'static str>> = LazyLock::new(|| {
    KINDS.iter().filter(|kind| kind.name == TESTS).flat_map(|kind| kind.commands.iter().copied()).collect()
});

/// Return true if a command runs tests.
pub(crate) fn runs_tests(command: &str) -> bool {
    words_in(command).any(|word| RUNNERS.contains(word))
}

/// Return the kind of a text; `None` if it is not known. The command suggests it, and the text has to agree.
///
/// The text of a command that suggests nothing is looked at only at its ends.
pub(super) fn find_kind<'a, V: Value<'a>>(text: &Content<'a, V>, words: &[&str]) -> Option<&'static Kind> {
    let mut signed = vec![false; KINDS.len()];
    let (search, numbers) = &*SIGNS;
    for part in [text.first(LOOK).brief(), text.last(LOOK).brief()] {
        let part = part.text().as_utf8();
        for (_, sign) in found_in(search.as_ref(), &part) {
            if let Some(is_signed) = numbers.get(sign).and_then(|number| signed.get_mut(*number)) {
                *is_signed = true;
            }
        }
    }
    let is_agreed = |search: &AhoCorasick| search.is_match(&*text.brief().text().as_utf8());
    let is_of = |(kind, is_signed): &(&Kind, bool)| {
        let is_named = || kind.table.commands.iter().any(|name| words.contains(name));
        *is_signed || (is_named() && kind.named.as_ref().is_some_and(is_agreed))
    };
    ALL.iter().zip(signed).find(is_of).map(|(kind, _)| kind)
}

/// Return the marks of each line of a text, by the words in it.
fn marks_of(text: &str, lines: &[&str], kind: &Kind) -> Vec<Marks> {
    let mut marks: Vec<Marks> = lines.iter().map(|line| kind.marks_at_ends(line)).collect();
    let Some(search) = &kind.parts else { return marks };
    let (mut at, mut end) = (0, 0);
    let mut own = lines.iter().zip(&mut marks);
    let mut current = None;
    while let Some(found) = search.find(Input::new(text).range(at..)) {
        while found.start() >= end
            && let Some((line, marks)) = own.next()
        {
            end += line.len() + 1;
            current = Some(marks);
        }
        at = found.start() + 1;
        let mark = kind.meant.get(found.pattern().as_usize());
        if let Some((marks, mark)) = current.as_mut().zip(mark) {
            **marks |= mark;
            if !kind.is_open(**marks) {
                at = end.min(text.len()); // the rest of the line says nothing more
            }
        }
    }
    marks
}

/// Return the rank of each line of a text of a kind. The first and the last line are next to what is important.
pub(super) fn rank_lines(text: &str, lines: &[&str], kind: &Kind) -> Ranking {
    if kind.table.name == "diff" {
        return rank_diff(lines, kind.table.label, DIFF_HEADERS);
    }
    let marks = marks_of(text, lines, kind);
    let kind = kind.table;
    let mut ranks: Vec<Rank> = lines.iter().zip(marks).map(|(line, marks)| rank(line, marks)).collect();
    if kind.is_similar {
        fold_similar(lines, &mut ranks);
    }
    let places = |(place, rank): (usize, &Rank)| (*rank == IMPORTANT).then_some(place);
    let important: Vec<usize> = ranks.iter().enumerate().filter_map(places).collect();
    for place in important {
        let end = (place + kind.after + 1).min(lines.len());
        let around = ranks.get_mut(place.saturating_sub(kind.before)..end).into_iter().flatten();
        around.filter(|rank| **rank == PLAIN).for_each(|rank| *rank = NEAR);
    }
    for place in [0, lines.len() - 1] {
        if let Some(rank) = ranks.get_mut(place) {
            *rank = NEAR.max(*rank);
        }
    }
    Ranking { ranks, label: kind.label, least: IMPORTANT, groups: Vec::new(), unit: "", above: Vec::new() }
}

fn rank(line: &str, marks: Marks) -> Rank {
    match () {
        () if line.is_empty() || marks & IS_FOLDED > 0 => FOLDED,
        () if marks & IS_IMPORTANT > 0 => IMPORTANT,
        () if marks & IS_NEXT > 0 => NEAR,
        () => PLAIN,
    }
}

/// Fold lines that are, except for their numbers, like an earlier one. Of important ones the last stays, too.
fn fold_similar(lines: &[&str], ranks: &mut [Rank]) {
    let mut forms = String::with_capacity(lines.iter().map(|line| line.len()).sum());
    let ends: Vec<usize> = lines.iter().map(|line| push_without_numbers(line, &mut forms)).collect();
    let starts = std::iter::once(0).chain(ends.iter().copied());
    let mut known: AHashMap<&str, Option<usize>> = AHashMap::with_capacity(lines.len() / 4);
    for (place, (start, end)) in starts.zip(&ends).enumerate() {
        let form = forms.get(start..*end).unwrap_or_default();
        let Some(last) = known.get_mut(form) else {
            known.insert(form, None);
            continue;
        };
        let is_important = ranks.get(place) == Some(&IMPORTANT);
        if let Some(rank) = if is_important { last.and_then(|last| ranks.get_mut(last)) } else { ranks.get_mut(place) }
        {
            *rank = FOLDED;
        }
        *last = Some(place);
    }
}

/// Add a line with a zero for each number, and return the new length.
pub(super) fn push_without_numbers(line: &str, forms: &mut String) -> usize {
    let is_digit = |byte: &u8| byte.is_ascii_digit();
    let mut rest = line;
    while let Some(at) = rest.bytes().position(|byte| byte.is_ascii_digit()) {
        forms.push_str(rest.get(..at).unwrap_or_default());
        forms.push('0');
        let size = rest.as_bytes().iter().skip(at).take_while(|byte| is_digit(byte)).count();
        rest = rest.get(at + size..).unwrap_or_default();
    }
    forms.push_str(rest);
    forms.len()
}
