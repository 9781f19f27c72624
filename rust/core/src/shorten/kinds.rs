//! The kinds of texts, and the ranks of their lines; the words are those of `_data/shorten.json`.
//!
//! A text is searched once for all words together, and only lines with one of them are looked at.

use std::sync::LazyLock;

use ahash::AHashMap;
use aho_corasick::{AhoCorasick, AhoCorasickKind};

use super::lines::Rank;
use crate::content::Content;
use crate::json::value::Value;

include!(concat!(env!("OUT_DIR"), "/shorten.rs"));

/// Words by which a line is recognised: at its start, at its end, or anywhere.
pub(super) struct Words {
    starts: &'static [&'static str],
    ends: &'static [&'static str],
    parts: &'static [&'static str],
}

impl Words {
    fn matches(&self, line: &str) -> bool {
        self.starts.iter().any(|start| line.starts_with(start))
            || self.ends.iter().any(|end| line.ends_with(end))
            || self.parts.iter().any(|part| line.contains(part))
    }
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
const LOOK: usize = 2_000;

/// A search for many words at once.
pub(super) fn search<'w>(words: impl IntoIterator<Item = &'w [u8]>) -> Option<AhoCorasick> {
    AhoCorasick::builder().kind(Some(AhoCorasickKind::DFA)).build(words).ok()
}

/// A kind of text with the searches for its words.
pub(super) struct Kind {
    pub(super) table: &'static TextKind,
    /// For its signs and weak signs, in the output of one of its commands.
    named: Option<AhoCorasick>,
    /// For the words of its lines. Those for the start of a line begin with a line feed, those for its end end with one.
    lines: Option<AhoCorasick>,
    /// The rank that each of these words means, and true if it is for the start of a line.
    meant: Vec<(Marks, bool)>,
}

/// The ranks that words mean: the bits of [`FOLDED`], [`IMPORTANT`] and [`NEXT`].
type Marks = u8;
const FOLDED: Marks = 1;
const IMPORTANT: Marks = 2;
const NEXT: Marks = 4;

impl Kind {
    fn of(kind: &'static TextKind) -> Self {
        let named = kind.signs.iter().chain(kind.weak_signs).map(|sign| sign.as_bytes());
        let mut words = Vec::new();
        let mut meant = Vec::new();
        for (own, mark) in [(&kind.folded, FOLDED), (&kind.important, IMPORTANT), (&kind.next, NEXT)] {
            words.extend(own.starts.iter().map(|word| format!("\n{word}").into_bytes()));
            meant.extend(own.starts.iter().map(|_| (mark, true)));
            words.extend(own.ends.iter().map(|word| format!("{word}\n").into_bytes()));
            words.extend(own.parts.iter().map(|word| word.as_bytes().to_vec()));
            meant.extend(own.ends.iter().chain(own.parts).map(|_| (mark, false)));
        }
        let lines = search(words.iter().map(Vec::as_slice));
        Self { table: kind, named: search(named), lines, meant }
    }
}

static ALL: LazyLock<Vec<Kind>> = LazyLock::new(|| KINDS.iter().map(Kind::of).collect());

/// The search for the signs of all kinds, and the number of the kind of each.
static SIGNS: LazyLock<(Option<AhoCorasick>, Vec<usize>)> = LazyLock::new(|| {
    let signs =
        || KINDS.iter().enumerate().flat_map(|(number, kind)| kind.signs.iter().map(move |sign| (number, sign)));
    (search(signs().map(|(_, sign)| sign.as_bytes())), signs().map(|(number, _)| number).collect())
});

/// Return the kind of a text; `None` if it is not known. The command suggests it, and the text has to agree.
///
/// The text of a command that suggests nothing is looked at only at its ends.
pub(super) fn find_kind<'a, V: Value<'a>>(text: &Content<'a, V>, command: &str) -> Option<&'static Kind> {
    let words: Vec<&str> = command.split(|character| " \t\n;&|()/'\"=".contains(character)).collect();
    let end = text.end(LOOK);
    let end = end.slice(end.len().saturating_sub(LOOK), end.len());
    let mut signed = vec![false; KINDS.len()];
    let (search, numbers) = &*SIGNS;
    for part in [text.start(LOOK), end] {
        let part = part.text().to_utf8();
        for found in search.iter().flat_map(|search| search.find_overlapping_iter(&part)) {
            if let Some(is_signed) = numbers.get(found.pattern().as_usize()).and_then(|number| signed.get_mut(*number))
            {
                *is_signed = true;
            }
        }
    }
    let is_agreed = |search: &AhoCorasick| search.is_match(&text.whole().text().to_utf8());
    let is_of = |(kind, is_signed): &(&Kind, bool)| {
        let is_named = || kind.table.commands.iter().any(|name| words.contains(name));
        *is_signed || (is_named() && kind.named.as_ref().is_some_and(is_agreed))
    };
    ALL.iter().zip(signed).find(is_of).map(|(kind, _)| kind)
}

/// Return the marks of each line of a text, by the words in it.
fn marks_of(text: &str, lines: &[&str], kind: &Kind) -> Vec<Marks> {
    let mut marks = vec![0; lines.len()];
    let mut ends = lines.iter().scan(0, |end, line| {
        *end += line.len() + 1;
        Some(*end)
    });
    let (mut number, mut end) = (0, ends.next().unwrap_or_default());
    for found in kind.lines.iter().flat_map(|search| search.find_overlapping_iter(text)) {
        let Some((mark, is_start)) = kind.meant.get(found.pattern().as_usize()) else { continue };
        // Words are found in the order of their ends, and so in that of their lines.
        while found.start() + usize::from(*is_start) >= end
            && let Some(next) = ends.next()
        {
            (number, end) = (number + 1, next);
        }
        if let Some(own) = marks.get_mut(number) {
            *own |= mark;
        }
    }
    let table = kind.table;
    // No line feed comes before the first line, and none after the last.
    for place in [0, lines.len() - 1] {
        if let Some((own, line)) = marks.get_mut(place).zip(lines.get(place)) {
            for (words, mark) in [(&table.folded, FOLDED), (&table.important, IMPORTANT), (&table.next, NEXT)] {
                *own |= if words.matches(line) { mark } else { 0 };
            }
        }
    }
    marks
}

/// Return the rank of each line of a text of a kind. The first and the last line are next to what is important.
pub(super) fn rank_lines(text: &str, lines: &[&str], kind: &Kind) -> Vec<Rank> {
    let marks = marks_of(text, lines, kind);
    let kind = kind.table;
    let mut ranks: Vec<Rank> = lines.iter().zip(marks).map(|(line, marks)| rank(line, marks)).collect();
    if kind.is_similar {
        fold_similar(lines, &mut ranks);
    }
    let places = |(place, rank): (usize, &Rank)| (*rank == Rank::Important).then_some(place);
    let important: Vec<usize> = ranks.iter().enumerate().filter_map(places).collect();
    for place in important {
        let end = (place + kind.after + 1).min(lines.len());
        let around = ranks.get_mut(place.saturating_sub(kind.before)..end).into_iter().flatten();
        around.filter(|rank| **rank == Rank::Plain).for_each(|rank| *rank = Rank::Near);
    }
    for place in [0, lines.len() - 1] {
        if let Some(rank) = ranks.get_mut(place) {
            *rank = Rank::Near.max(*rank);
        }
    }
    ranks
}

fn rank(line: &str, marks: Marks) -> Rank {
    match () {
        () if line.is_empty() || marks & FOLDED > 0 => Rank::Folded,
        () if marks & IMPORTANT > 0 => Rank::Important,
        () if marks & NEXT > 0 => Rank::Near,
        () => Rank::Plain,
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
        let is_important = ranks.get(place) == Some(&Rank::Important);
        if let Some(rank) = if is_important { last.and_then(|last| ranks.get_mut(last)) } else { ranks.get_mut(place) }
        {
            *rank = Rank::Folded;
        }
        *last = Some(place);
    }
}

/// Add a line with a zero for each number, and return the new length.
fn push_without_numbers(line: &str, forms: &mut String) -> usize {
    let mut rest = line;
    while let Some(at) = rest.find(|character: char| character.is_ascii_digit()) {
        let (before, number) = rest.split_at(at);
        forms.push_str(before);
        forms.push('0');
        rest = number.trim_start_matches(|character: char| character.is_ascii_digit());
    }
    forms.push_str(rest);
    forms.len()
}
