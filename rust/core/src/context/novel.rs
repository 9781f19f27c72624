//! The selection of `fill="novel"`: the lines of results that say most that is new, within the total.
//!
//! Every line that is shown is a line of a result (or a part of a very long one), in its place under the heading of its
//! block. A line `...` stands for lines that are left out, and the report has the numbers of those that are shown.
//!
//! The rules, in this order:
//!
//! 1. NUMBERS: the numbers that a tool puts before the lines of a file are left out.
//! 2. NEWEST: the newest blocks are shown whole, up to a quarter of the total (half of what is beyond 4,000 tokens); if
//!    the newest alone is larger, the head of a file or both ends of any other text.
//! 3. FILES: of the last 24 blocks, those that show a file, and take no more than that share each, are shown whole,
//!    newest first, up to half of the total.
//! 4. NOVEL: of all other texts, those lines are shown first that bring the most new words per token.
//! 5. GAPS: the lines of a gap are shown if they take hardly more room than its `...`.
//! 6. REST: the rest of the total goes to the missing lines of the newest blocks.
//! 7. ONCE: a line of 40 characters or more that another block shows is not shown again.
//!
//! The reference says what a word is, and what a round does. Here words are numbers, given by a hash that does not
//! depend on how a text is stored.

use std::ops::Range;

use ahash::AHashMap;

use super::block::{Section, language_of, sources};
use super::budget::{Candidate, Fill, Filling};
use super::fence::{Fitted, Source, limited, longest_run_in, mark_of};
use super::limits::{Limits, Measure, signed};
use super::output::{Output, Place};
use super::policy::{Partial, Settings};
use crate::content::Content;
use crate::content::media::is_media_line;
use crate::json::value::{Key, Value, items, names, text_or_empty};
use crate::pairing::argument_names::{DIFF_KEYS, NEW_KEYS, SOURCE_KEY, WHOLE_FILE_KEYS};
use crate::pairing::block::Entry;
use crate::text::constants::{FRAMING, NO_OUTPUT};
use crate::text::graphemes::CodePoint as _;
use crate::text::piece::Piece;
use crate::text::sanitize::cut_text;
use crate::text::truncate::Keep;
use crate::text::{OwnedText, Text, Unit, on_units};

const GAP: &str = "...\n";
const LONGEST_NOVEL_TITLE: usize = 100;

/// The characters that stand for one token where the total counts characters.
const CHARS: usize = 4;
/// The tokens of a total of which a quarter is a share; of what is beyond, half is.
const SHARED: usize = 4_000;
const OLDEST_FILE: usize = 24;
/// What a line of a file counts more, where a new word counts two and a word of an argument one.
const FILE_LINE: usize = 6;
const ROUNDS: usize = 16;
/// What a new word per token is worth. The first round asks for it.
const FIRST_RATE: usize = 1_024;
/// The walk stops at this many times the total, and `LEAST_WINDOW` tokens more.
const WINDOW: usize = 2;
const LEAST_WINDOW: usize = 16_000;
/// The tokens of a heading and its fences, as far as the choice is concerned.
const HEADING: usize = 16;
const SMALL_GAP: usize = 3;
const LEAST_REST: usize = 10;
const REPEATED: usize = 40;
const LONGEST_PIECE: usize = 400;
const SHORTEST_WORD: usize = 6;

/// The unit of a total: the sizes of short texts, exact and estimated.
#[derive(Clone, Copy, Debug)]
struct Prices {
    measure: Measure,
    /// The size that stands for one token.
    token: usize,
    gap: usize,
}

impl Prices {
    fn new(measure: Measure) -> Self {
        Self { measure, token: if measure.is_characters() { CHARS } else { 1 }, gap: measure.size_ascii(GAP) }
    }

    /// Return the part of a total that the newest blocks, and one file, may take.
    fn share(self, total: usize) -> usize {
        let first = total.min(SHARED * self.token);
        first / 4 + (total - first) / 2
    }
}

const ALPHA: u8 = 1;
const DIGIT: u8 = 2;
const BLANK: u8 = 3;
const SIGN: u8 = 4;
const OTHER: u8 = 5;
/// The bits of a class that hold one of the kinds above.
const KIND: u8 = 7;
/// The bit of a character that may begin a word.
const LETTER: u8 = 8;
/// The bit of a character that may be in a word.
const WORD: u8 = 16;

/// The classes of the first characters. The ranges of letters are those of the reference.
#[allow(clippy::indexing_slicing, clippy::cast_possible_truncation)] // evaluated by the compiler
static CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut code = 0;
    while code < 256 {
        let unit = code as u8;
        classes[code] = match unit {
            b'A'..=b'Z' | b'a'..=b'z' => ALPHA | LETTER | WORD,
            b'0'..=b'9' => DIGIT | WORD,
            b' ' | b'\t' => BLANK,
            b'_' => SIGN | LETTER | WORD,
            b'.' | b'/' | b':' | b'@' | b'#' | b'-' => SIGN | WORD,
            b'!'..=b'~' => SIGN,
            0xC0.. => OTHER | LETTER | WORD,
            0x80.. => OTHER,
            _ => 0,
        };
        code += 1;
    }
    classes
};

fn class_of(code_point: u32) -> u8 {
    match CLASSES.get(code_point as usize) {
        Some(class) => *class,
        None => match code_point {
            0x2000..=0x2BFF | 0x3000..=0x303F | 0xFF00..=0xFF0F => OTHER,
            _ => OTHER | LETTER | WORD,
        },
    }
}

/// Return the tokens of a run of characters of one kind.
fn run_tokens(kind: u8, size: usize) -> usize {
    match kind {
        _ if size == 0 => 0,
        ALPHA => 1 + (size - 1) / 7,
        BLANK => usize::from(size > 1),
        DIGIT | SIGN => size.div_ceil(3),
        OTHER => size,
        _ => 0,
    }
}

const SEED: u64 = 0x51_7C_C1_B7_27_22_0A_95;

fn hashed(hash: u64, code_point: u32) -> u64 {
    (hash.rotate_left(5) ^ u64::from(code_point)).wrapping_mul(SEED)
}

fn hash_of<C: Unit>(units: &[C]) -> u64 {
    units.iter().fold(SEED, |hash, unit| hashed(hash, unit.code_point()))
}

/// The words of all lines, as numbers.
#[derive(Debug, Default)]
struct Words {
    numbers: AHashMap<u64, u32>,
    /// The words of the lines, line by line.
    of_lines: Vec<u32>,
    /// The last line that has each word, to list it once.
    last_line: Vec<u32>,
    /// True for a word that a line that is taken has.
    is_known: Vec<bool>,
    /// The last pick that found each word.
    found: Vec<u32>,
    line: u32,
    pick: u32,
}

impl Words {
    fn add(&mut self, hash: u64) {
        let next = u32::try_from(self.last_line.len()).unwrap_or(u32::MAX);
        let number = *self.numbers.entry(hash).or_insert(next);
        if number == next {
            self.last_line.push(0);
            self.is_known.push(false);
            self.found.push(0);
        }
        if let Some(last) = self.last_line.get_mut(number as usize)
            && *last != self.line
        {
            *last = self.line;
            self.of_lines.push(number);
        }
    }

    /// List the words of a line. With `ESTIMATES`, return about how many tokens it has, its line feed included.
    fn read<C: Unit, const ESTIMATES: bool>(&mut self, units: &[C]) -> usize {
        self.line += 1;
        let (mut tokens, mut last, mut run) = (1, 0, 0);
        let (mut hash, mut size) = (0, 0);
        for unit in units {
            let code_point = unit.code_point();
            let class = class_of(code_point);
            if ESTIMATES {
                let kind = class & KIND;
                if kind != last {
                    tokens += run_tokens(last, run);
                    (last, run) = (kind, 0);
                }
                run += 1;
            }
            if class & WORD == 0 {
                if size >= SHORTEST_WORD {
                    self.add(hash);
                }
                size = 0;
            } else if size > 0 {
                hash = hashed(hash, code_point);
                size += 1;
            } else if class & LETTER != 0 {
                hash = hashed(SEED, code_point);
                size = 1;
            }
        }
        if size >= SHORTEST_WORD {
            self.add(hash);
        }
        tokens += run_tokens(last, run);
        (tokens - usize::from(last == SIGN || last == OTHER)).max(1)
    }

    fn of(&self, words: &Range<usize>) -> &[u32] {
        self.of_lines.get(words.clone()).unwrap_or_default()
    }

    fn is_new(&self, word: u32) -> bool {
        self.is_known.get(word as usize).is_some_and(|is_known| !is_known)
    }

    fn learn(&mut self, words: &Range<usize>) {
        for word in self.of_lines.get(words.clone()).unwrap_or_default() {
            if let Some(is_known) = self.is_known.get_mut(*word as usize) {
                *is_known = true;
            }
        }
    }

    /// Return how many words of a line no line that is taken has, and how many of these this pick has not found.
    fn count_new(&self, words: &Range<usize>) -> (usize, usize) {
        let (mut new, mut fresh) = (0, 0);
        for word in self.of(words) {
            if self.is_new(*word) {
                new += 1;
                fresh += usize::from(self.found.get(*word as usize) != Some(&self.pick));
            }
        }
        (new, fresh)
    }

    fn find(&mut self, words: &Range<usize>) {
        for word in self.of_lines.get(words.clone()).unwrap_or_default() {
            if let Some(found) = self.found.get_mut(*word as usize) {
                *found = self.pick;
            }
        }
    }
}

/// A line, or a part of one.
#[derive(Debug)]
struct Line {
    start: usize,
    end: usize,
    number: usize,
    /// True for a part that continues the line before.
    is_joined: bool,
    is_taken: bool,
    cost: usize,
    words: Range<usize>,
}

impl Line {
    fn len(&self) -> usize {
        self.end - self.start
    }
}

/// A text of a block in lines.
#[derive(Debug)]
#[allow(clippy::struct_field_names)] // it has lines
struct Lines<'a> {
    /// The number of the block.
    block: usize,
    is_file: bool,
    text: Piece<'a>,
    language: &'static str,
    is_cut: bool,
    /// True if the text is an argument of the call, and no result.
    is_said: bool,
    lines: Vec<Line>,
    taken_count: usize,
    /// The lines that may have new words, each with the highest rate that it can have (0: not known).
    open: Vec<(usize, usize)>,
    best: usize,
}

/// The texts of a block with the places of their lines, and true if the limit on one result has cut it.
struct Read<'a, V> {
    source: Source<'a, V>,
    text: Piece<'a>,
    lines: Vec<(usize, usize)>,
    is_cut: bool,
}

impl<'a, V: Value<'a>> Read<'a, V> {
    fn new(source: Source<'a, V>, limits: Limits) -> Self {
        let (text, is_cut) = limited(&source, limits);
        let text = if text.text().is("") || text.text().is("\n") { Piece::ascii(NO_OUTPUT) } else { text };
        let whole = text.text();
        let size = whole.without_suffix("\n").len();
        let mut lines = Vec::new();
        let mut start = 0;
        while let Some(end) = whole.slice(start, size).find(b'\n') {
            lines.push((start, start + end));
            start += end + 1;
        }
        lines.push((start, size));
        Self { source, text, lines, is_cut }
    }

    /// Leave out the numbers that a tool put before the lines. Return false if most have none.
    fn leave_out_numbers(&mut self) -> bool {
        let text = self.text.text();
        let (mut before, mut ascending, mut filled) = (0, 0, 0);
        let mut starts = Vec::new();
        for (start, end) in &self.lines {
            let line = text.slice(*start, *end);
            let is_filled =
                on_units!(line, units => units.iter().any(|unit| !matches!(unit.code_point(), 0x20 | 0x09)));
            filled += usize::from(is_filled);
            let number = number_of(line);
            if let Some((number, _)) = number {
                ascending += usize::from(before != 0 && number == before + 1);
                before = number;
            }
            starts.push(number);
        }
        if filled < 3 || 5 * ascending < 3 * (filled - 1) {
            return false;
        }
        for ((start, _), number) in self.lines.iter_mut().zip(starts) {
            *start += number.map_or(0, |(_, size)| size);
        }
        true
    }
}

/// Return the number before a line, and the length of it with what parts it from the line.
fn number_of(line: Text<'_>) -> Option<(usize, usize)> {
    let mut at = 0;
    while line.get(at) == Some(0x20) {
        at += 1;
    }
    let (mut number, first) = (0, at);
    while let Some(digit) = line.get(at).and_then(char::from_u32).and_then(|digit| digit.to_digit(10)) {
        if at - first == 9 {
            return None;
        }
        number = number * 10 + digit as usize;
        at += 1;
    }
    if at == first {
        return None;
    }
    let size = match line.get(at)? {
        0x2192 | 0x09 | 0x7C | 0x20 => 1,
        0x3A => 1 + usize::from(line.get(at + 1) == Some(0x20)),
        _ => return None,
    };
    Some((number, at + size))
}

/// Return the end of the first part of an over-long line.
fn piece_end(line: Text<'_>) -> usize {
    let window = line.slice(0, LONGEST_PIECE + 1);
    let is_break = |place: &usize| matches!(window.get(*place), Some(0x20 | 0x2C));
    if let Some(place) = (LONGEST_PIECE / 2..LONGEST_PIECE).rev().find(is_break) {
        return place + 1;
    }
    match cut_text(window, LONGEST_PIECE, Keep::Head).0 {
        0 => LONGEST_PIECE,
        end => end,
    }
}

impl<'a> Lines<'a> {
    fn new<V: Value<'a>>(
        read: Read<'a, V>,
        (block, is_file): (usize, bool),
        prices: Prices,
        words: &mut Words,
    ) -> Self {
        let Read { source, text, lines: places, is_cut } = read;
        let mut lines = Vec::with_capacity(places.len());
        let mut open = Vec::with_capacity(places.len());
        let whole = text.text();
        for (number, (mut start, end)) in places.into_iter().enumerate() {
            let mut is_joined = false;
            let is_split = end - start > LONGEST_PIECE && !is_media_line(whole.slice(start, end));
            loop {
                let rest = whole.slice(start, end);
                let size = if is_split && rest.len() > LONGEST_PIECE { piece_end(rest) } else { rest.len() };
                let line = rest.slice(0, size);
                let first = words.of_lines.len();
                let cost = if prices.measure.is_characters() {
                    on_units!(line, units => words.read::<_, false>(units));
                    size + 1
                } else {
                    on_units!(line, units => words.read::<_, true>(units))
                };
                let words = first..words.of_lines.len();
                if !words.is_empty() {
                    open.push((lines.len(), 0));
                }
                let number = number + 1;
                lines.push(Line { start, end: start + size, number, is_joined, is_taken: false, cost, words });
                start += size;
                if start >= end {
                    break;
                }
                is_joined = true;
            }
        }
        let (language, is_said) = (source.language, source.content.is_none());
        Self { block, is_file, text, language, is_cut, is_said, lines, taken_count: 0, open, best: 0 }
    }

    fn cost(&self) -> usize {
        self.lines.iter().map(|line| line.cost).sum()
    }

    fn is_taken(&self, place: usize) -> bool {
        self.lines.get(place).is_some_and(|line| line.is_taken)
    }

    fn is_whole(&self) -> bool {
        self.taken_count == self.lines.len()
    }

    /// Return how many sides of a line need no gap.
    fn beside(&self, place: usize) -> usize {
        let is_after = place == 0 || self.is_taken(place - 1);
        usize::from(is_after) + usize::from(place + 1 == self.lines.len() || self.is_taken(place + 1))
    }

    /// Return the size of a line with its line feed.
    fn size(&self, place: usize, measure: Measure) -> usize {
        let Some(line) = self.lines.get(place) else { return 0 };
        if measure.is_characters() {
            return line.len() + 1;
        }
        let text = self.text.text();
        if text.get(line.end) == Some(0x0A) {
            return measure.size(text.slice(line.start, line.end + 1));
        }
        let mut own = OwnedText::with_room(line.len() + 1);
        own.push(text.slice(line.start, line.end));
        own.push_ascii("\n");
        measure.size(own.as_text())
    }

    /// Return the stretches of the text that are shown, each with true if it follows a gap. Lines that follow each other
    /// are one stretch.
    fn stretches(&self) -> Vec<(Range<usize>, bool)> {
        let mut found: Vec<(Range<usize>, bool)> = Vec::new();
        let mut before = 0;
        for (place, line) in self.lines.iter().enumerate().filter(|(_, line)| line.is_taken) {
            let is_next = before == place;
            before = place + 1;
            match found.last_mut() {
                Some((last, _)) if is_next && last.end + usize::from(!line.is_joined) == line.start => {
                    last.end = line.end;
                }
                _ => found.push((line.start..line.end, !is_next)),
            }
        }
        found
    }

    /// Keep the lines that are taken in a fence, with gaps marked.
    fn fence(&self, end: &str, out: &mut Output<'a>) {
        let stretches = self.stretches();
        let slice = |stretch: &Range<usize>| self.text.slice(stretch.start, stretch.end);
        let longest = |character| {
            stretches.iter().map(|(stretch, _)| longest_run_in(slice(stretch).text(), character)).max().unwrap_or(0)
        };
        let mark = mark_of(longest);
        let mark = mark.as_deref().unwrap_or("```");
        out.keep_ascii(mark);
        out.keep_ascii(self.language);
        out.keep_ascii("\n");
        for (stretch, is_after_gap) in &stretches {
            if *is_after_gap {
                out.keep_ascii(GAP);
            }
            out.keep(slice(stretch).into());
            out.keep_ascii("\n");
        }
        if !self.lines.last().is_some_and(|line| line.is_taken) {
            out.keep_ascii(GAP);
        }
        out.keep_ascii(mark);
        out.keep_ascii("\n");
        out.keep_ascii(end);
    }

    /// Return the numbers of the lines that are taken, from 1, as ranges.
    fn ranges(&self) -> Vec<(usize, usize)> {
        let mut ranges: Vec<(usize, usize)> = Vec::new();
        for line in self.lines.iter().filter(|line| line.is_taken) {
            match ranges.last_mut() {
                Some((_, last)) if line.number <= *last + 1 => *last = line.number,
                _ => ranges.push((line.number, line.number)),
            }
        }
        ranges
    }

    /// Give up the first lines that are taken, and return how many are still to be given up.
    fn give_up(&mut self, mut count: usize) -> usize {
        for line in self.lines.iter_mut().filter(|line| line.is_taken) {
            if count == 0 {
                break;
            }
            line.is_taken = false;
            self.taken_count -= 1;
            count -= 1;
        }
        count
    }
}

/// A block that is looked at, and the rule that opened it.
#[derive(Debug)]
struct Block<'a, V> {
    entry: Entry<'a, V>,
    section: Section,
    is_file: bool,
    texts: Range<usize>,
    cost: usize,
    /// The size of the heading, once it was needed.
    heading: Option<usize>,
    rule: Option<&'static str>,
}

/// Return the texts of a block in lines.
fn texts<'a, V: Value<'a>>(entry: &Entry<'a, V>, keep: Option<Keep>, limits: Limits) -> Vec<Read<'a, V>> {
    let section = Section::of(entry);
    if section == Section::Changes && entry.call.is_some() {
        return vec![change(entry, keep, limits)];
    }
    let sources = sources(entry, keep).into_iter().flatten();
    let read = |source| {
        let mut read = Read::new(source, limits);
        if section == Section::Files {
            read.leave_out_numbers();
        }
        read
    };
    sources.map(read).collect()
}

/// Return the snippet that an edit returned, else its new lines, else its result.
fn change<'a, V: Value<'a>>(entry: &Entry<'a, V>, keep: Option<Keep>, limits: Limits) -> Read<'a, V> {
    let language = language_of(entry.value.as_ref().map_or(Text::ascii(""), Piece::text));
    let source = |text, language, content| Source {
        text,
        language,
        side: keep.unwrap_or(Keep::Head),
        reference: entry.call_id,
        is_exempt: false,
        content,
    };
    let new = entry.given.map_or_else(|| Content::Piece(Piece::default()), new_text);
    if entry.result.is_some() {
        let mut read = Read::new(source(entry.text.clone(), language, entry.content), limits);
        if read.leave_out_numbers() {
            return read;
        }
        if entry.is_error() || new.is_empty() {
            read.source.language = "";
            return read;
        }
    }
    Read::new(source(new, language, None), limits)
}

/// Return the new lines of an edit, or the text of a write.
fn new_text<'a, V: Value<'a>>(given: V) -> Content<'a, V> {
    let first = |object: V, keys: &[Key<'_>]| {
        keys.iter().find_map(|key| object.get(*key).filter(|value| value.text_len().is_some()))
    };
    let mut text = OwnedText::default();
    for edit in given.get(names::EDITS).and_then(Value::list).into_iter().flat_map(items).filter_map(Value::object) {
        let new = text_or_empty(first(edit, NEW_KEYS));
        if !new.is_empty() {
            if !text.as_text().is_empty() {
                text.push_ascii("\n");
            }
            text.push(new.without_suffix("\n"));
        }
    }
    if !text.as_text().is_empty() {
        return Content::Piece(Piece::own(text));
    }
    let found = first(given, NEW_KEYS).or_else(|| first(given, DIFF_KEYS));
    let found = found.or_else(|| first(given, WHOLE_FILE_KEYS)).or_else(|| first(given, &[SOURCE_KEY]));
    found.map_or_else(|| Content::Piece(Piece::default()), Content::Value)
}

/// A context that shows the lines with the most new words.
#[derive(Debug)]
pub struct NovelFill<'a, 's, V> {
    fill: Fill<'a, 's, V>,
    settings: &'s Settings,
    prices: Prices,
    blocks: Vec<Block<'a, V>>,
    texts: Vec<Lines<'a>>,
    words: Words,
    looked: usize,
    window: usize,
    left: isize,
    /// The block that shows each long line first, by the hash of the line.
    seen: AHashMap<u64, usize>,
    opened: Vec<Section>,
}

impl<'a, 's, V: Value<'a>> Filling<'a, 's, V> for NovelFill<'a, 's, V> {
    const SHOWS_ALL_EDITS: bool = true;

    fn new(settings: &'s Settings, summary: &Piece<'_>, is_traced: bool) -> Self {
        let prices = Prices::new(settings.measure);
        Self {
            fill: Fill::new(settings, summary, is_traced),
            settings,
            prices,
            blocks: Vec::new(),
            texts: Vec::new(),
            words: Words::default(),
            looked: 0,
            window: settings.total.saturating_mul(WINDOW).saturating_add(LEAST_WINDOW * prices.token),
            left: 0,
            seen: AHashMap::new(),
            opened: Vec::new(),
        }
    }

    fn fill(&mut self) -> &mut Fill<'a, 's, V> {
        &mut self.fill
    }

    /// Headings count no older blocks.
    fn count(&mut self, _newest: usize) {}

    /// Look at a block, until the window is full.
    fn offer(&mut self, entry: Entry<'a, V>) {
        if let Some(reason) = self.fill.excluding_setting(&entry) {
            self.fill.exclude(entry.age, reason);
            return;
        }
        let section = Section::of(&entry);
        let is_file = matches!(section, Section::Files | Section::Changes);
        let limits = self.settings.limits.by_rule(entry.max_chars);
        let (block, first) = (self.blocks.len(), self.texts.len());
        let mut cost = HEADING * self.prices.token;
        for read in texts(&entry, self.settings.keep, limits) {
            let lines = Lines::new(read, (block, is_file), self.prices, &mut self.words);
            cost += lines.cost();
            self.texts.push(lines);
        }
        let texts = first..self.texts.len();
        self.blocks.push(Block { entry, section, is_file, texts, cost, heading: None, rule: None });
        self.looked += cost;
        self.fill.is_done = self.looked > self.window;
    }

    fn finish(&mut self) -> Output<'a> {
        self.settle();
        self.fill.assemble(OwnedText::default())
    }
}

impl<'a, V: Value<'a>> NovelFill<'a, '_, V> {
    /// Choose the lines, and show the blocks that have some.
    fn settle(&mut self) {
        self.left = self.fill.left;
        self.choose();
        let mut rendered = self.render();
        let mut shown = self.fit(&mut rendered).into_iter();
        for block in std::mem::take(&mut self.blocks) {
            let Some(rule) = block.rule else {
                self.fill.leave_out(block.entry.age);
                continue;
            };
            if let Some((candidate, fitted, end)) = shown.next() {
                self.fill.show(&block.entry, candidate, (fitted, end), rule);
            }
            for text in self.texts.get(block.texts).unwrap_or_default().iter().filter(|text| !text.is_whole()) {
                self.fill.partial.push(Partial {
                    position: block.entry.position,
                    call_id: OwnedText::from(block.entry.call_id),
                    is_result: !text.is_said,
                    lines: text.lines.last().map_or(0, |line| line.number),
                    shown: text.ranges(),
                });
            }
            self.fill.is_spent = true;
        }
        self.fill.is_spent |= self.fill.left_out > 0;
    }

    fn choose(&mut self) {
        let (start, total) = (self.left, self.settings.total);
        let mut share = signed(self.prices.share(total));
        if !self.fill.is_done && signed(self.looked) <= start {
            share = start;
        }
        let costs: Vec<isize> = self.blocks.iter().map(|block| signed(block.cost)).collect();
        let mut first = 0;
        for cost in &costs {
            if start - self.left + cost > share {
                break;
            }
            self.take_all(first, "newest");
            first += 1;
        }
        if first == 0 {
            self.take_ends(share);
        }
        let start = self.left;
        for (number, cost) in costs.iter().enumerate().take(OLDEST_FILE + 1).skip(first) {
            let is_closed_file = self.blocks.get(number).is_some_and(|block| block.is_file && block.rule.is_none());
            let taken = start - self.left + cost;
            if is_closed_file && *cost <= share && taken.saturating_mul(2) <= signed(total) {
                self.take_all(number, "file");
            }
        }
        self.take_novel();
        for text in 0..self.texts.len() {
            self.fill_gaps(text);
        }
        for number in 0..costs.len() {
            if self.left < signed(LEAST_REST * self.prices.token) {
                break;
            }
            self.take_all(number, "rest");
        }
    }

    /// Take lines in rounds, those first that bring most new words for what they cost.
    fn take_novel(&mut self) {
        let mut rate = FIRST_RATE;
        for number in 0..ROUNDS {
            if number == ROUNDS - 1 {
                rate = 0;
            }
            for index in 0..self.texts.len() {
                let is_open = self
                    .texts
                    .get(index)
                    .is_some_and(|text| !text.open.is_empty() && (text.best >= rate || number == 0));
                if is_open {
                    for place in self.pick(index, rate) {
                        self.take(index, place, "novel");
                    }
                }
            }
            if self.left < signed(LEAST_REST * self.prices.token) {
                break;
            }
            rate = rate * 4 / 5;
        }
    }

    /// Return the lines of a text that bring new words at this rate.
    fn pick(&mut self, index: usize, rate: usize) -> Vec<usize> {
        let (prices, words) = (self.prices, &mut self.words);
        let Some(text) = self.texts.get_mut(index) else { return Vec::new() };
        let (weight, bonus) = match (text.is_said, text.is_file) {
            (true, _) => (1, 0),
            (false, is_file) => (2, if is_file { FILE_LINE } else { 0 }),
        };
        let scale = FIRST_RATE / 2 * prices.token;
        words.pick += 1;
        let mut picked: Vec<usize> = Vec::new();
        let (mut gain, mut cost, mut best) = (0, 0, 0);
        let mut open = std::mem::take(&mut text.open);
        open.retain_mut(|(place, highest)| {
            let place = *place;
            let Some(line) = text.lines.get(place).filter(|line| !line.is_taken) else { return false };
            if *highest > 0 && *highest < rate {
                best = best.max(*highest);
                return true;
            }
            let (new, fresh) = words.count_new(&line.words);
            if new == 0 {
                return false;
            }
            *highest = (new * weight + bonus) * scale / line.cost.saturating_sub(prices.gap).max(1);
            best = best.max(*highest);
            if fresh == 0 {
                return true;
            }
            let is_picked = place > 0 && !text.is_taken(place - 1) && picked.last() == Some(&(place - 1));
            let beside = text.beside(place) + usize::from(is_picked);
            let price = (line.cost + prices.gap).saturating_sub(prices.gap * beside).max(1);
            let worth = fresh * weight + bonus;
            if worth * scale >= rate * price {
                picked.push(place);
                gain += worth;
                cost += price;
                words.find(&line.words);
            }
            true
        });
        (text.open, text.best) = (open, best);
        if self.blocks.get(text.block).is_some_and(|block| block.rule.is_none()) {
            cost += HEADING * prices.token;
        }
        if gain * scale >= rate * cost { picked } else { Vec::new() }
    }

    /// Take the lines of gaps that cost hardly more than the line that marks the gap.
    fn fill_gaps(&mut self, index: usize) {
        let Some(text) = self.texts.get(index).filter(|text| text.taken_count > 0 && !text.is_whole()) else { return };
        let most = SMALL_GAP * self.prices.token;
        let mut gaps = Vec::new();
        let (mut start, mut cost) = (0, 0);
        for (place, line) in text.lines.iter().enumerate() {
            if line.is_taken {
                if start < place && cost <= most {
                    gaps.push(start..place);
                }
                (start, cost) = (place + 1, 0);
            } else {
                cost += line.cost;
            }
        }
        if start < text.lines.len() && cost <= most {
            gaps.push(start..text.lines.len());
        }
        for place in gaps.into_iter().flatten() {
            self.take(index, place, "novel");
        }
    }

    /// Take the head of a file, or both ends of any other block, within a share.
    fn take_ends(&mut self, share: isize) {
        let Some(block) = self.blocks.first() else { return };
        let (start, is_file) = (self.left, block.is_file);
        for index in block.texts.clone() {
            let count = self.texts.get(index).map_or(0, |text| text.lines.len());
            for turn in 0..count {
                let place = match turn {
                    _ if is_file => turn,
                    _ if turn % 2 == 0 => turn / 2,
                    _ => count - 1 - turn / 2,
                };
                let line = self.texts.get(index).and_then(|text| text.lines.get(place));
                let cost = line.map_or(0, |line| line.cost);
                if start - self.left + signed(cost) > share {
                    return;
                }
                self.take(index, place, "newest");
            }
        }
    }

    fn take_all(&mut self, number: usize, rule: &'static str) {
        let Some(block) = self.blocks.get(number) else { return };
        let (texts, is_closed) = (block.texts.clone(), block.rule.is_none());
        if texts.is_empty() && is_closed {
            let size = self.opening(number);
            if size <= self.left {
                self.open(number, size, rule);
            }
        }
        for index in texts {
            let count = self.texts.get(index).filter(|text| !text.is_whole()).map_or(0, |text| text.lines.len());
            for place in 0..count {
                self.take(index, place, rule);
            }
        }
    }

    /// Take a line, unless another block shows it, or it does not fit.
    fn take(&mut self, index: usize, place: usize, rule: &'static str) {
        let (gap, measure) = (self.prices.gap, self.settings.measure);
        let Some(text) = self.texts.get(index) else { return };
        let Some(line) = text.lines.get(place).filter(|line| !line.is_taken) else { return };
        let number = text.block;
        let is_long = line.len() >= REPEATED;
        let hash =
            if is_long { on_units!(text.text.text().slice(line.start, line.end), units => hash_of(units)) } else { 0 };
        if is_long && self.seen.get(&hash).is_some_and(|shown| *shown != number) {
            return;
        }
        if signed(line.cost) > self.left.saturating_mul(2) {
            return;
        }
        let size = text.size(place, measure) + gap;
        let size = signed(size) - signed(gap * text.beside(place)) + self.frame_size(text);
        let is_closed = self.blocks.get(number).is_some_and(|block| block.rule.is_none());
        let opening = if is_closed { self.opening(number) } else { 0 };
        if size + opening > self.left {
            return;
        }
        if is_closed {
            self.open(number, opening, rule);
        }
        self.left -= size;
        let Some(text) = self.texts.get_mut(index) else { return };
        text.taken_count += 1;
        if let Some(line) = text.lines.get_mut(place) {
            line.is_taken = true;
            self.words.learn(&line.words);
        }
        if is_long {
            self.seen.entry(hash).or_insert(number);
        }
    }

    /// Return what the first line that is taken of a text costs more.
    fn frame_size(&self, text: &Lines<'a>) -> isize {
        if text.taken_count > 0 {
            return 0;
        }
        signed(self.prices.gap + self.settings.measure.size_ascii(&format!("```{}\n```\n\n", text.language)))
    }

    /// Return the size of a block without its texts.
    fn opening(&mut self, number: usize) -> isize {
        let measure = self.settings.measure;
        let Some(block) = self.blocks.get_mut(number) else { return 0 };
        let heading = block.heading.get_or_insert_with(|| {
            let start = self.fill.output.end();
            let has_texts = !block.texts.is_empty();
            let candidate =
                Candidate::new(&block.entry, has_texts, (measure, LONGEST_NOVEL_TITLE), &mut self.fill.output);
            self.fill.output.go_back(start);
            candidate.line_size
        });
        let mut size = *heading;
        if !self.opened.contains(&block.section) {
            size += measure.size_ascii(block.section.heading());
        }
        if self.opened.is_empty() && self.settings.framing {
            size += measure.size_ascii(FRAMING);
        }
        signed(size)
    }

    fn open(&mut self, number: usize, size: isize, rule: &'static str) {
        let Some(block) = self.blocks.get_mut(number) else { return };
        self.left -= size;
        block.rule = Some(rule);
        if !self.opened.contains(&block.section) {
            self.opened.push(block.section);
        }
    }

    /// Keep the blocks that are shown in the output, newest first.
    fn render(&mut self) -> Vec<Rendered> {
        let shown =
            (0..self.blocks.len()).filter(|number| self.blocks.get(*number).is_some_and(|block| block.rule.is_some()));
        let shown: Vec<usize> = shown.collect();
        shown.into_iter().filter_map(|number| self.render_one(number)).collect()
    }

    fn render_one(&mut self, number: usize) -> Option<Rendered> {
        let (measure, out) = (self.settings.measure, &mut self.fill.output);
        let block = self.blocks.get(number)?;
        let candidate = Candidate::new(&block.entry, !block.texts.is_empty(), (measure, LONGEST_NOVEL_TITLE), out);
        let texts = self.texts.get(block.texts.clone())?;
        let last = texts.iter().rposition(|text| text.taken_count > 0);
        let mut fitted = Fitted { size: 0, is_cut: false };
        for (at, text) in texts.iter().enumerate() {
            fitted.is_cut |= text.is_cut || !text.is_whole();
            if text.taken_count > 0 {
                let start = out.end();
                text.fence(if Some(at) == last { "\n" } else { "" }, out);
                fitted.size += measure.size_kept(out, [(start..out.end(), None)]);
            }
        }
        Some(Rendered { number, candidate, fitted, end: out.end() })
    }

    /// Give up lines of the oldest blocks until the others fit: lines may cost more together than one by one.
    fn fit(&mut self, rendered: &mut Vec<Rendered>) -> Vec<(Candidate, Fitted, Place)> {
        let measure = self.settings.measure;
        let mut excess = -self.fill.left;
        excess += rendered.iter().map(|shown| signed(shown.size())).sum::<isize>();
        excess += self.opened.iter().map(|section| signed(measure.size_ascii(section.heading()))).sum::<isize>();
        if !rendered.is_empty() && self.settings.framing {
            excess += signed(measure.size_ascii(FRAMING));
        }
        let mut step = 1;
        while excess > 0
            && let Some(oldest) = rendered.pop()
        {
            let (number, before) = (oldest.number, signed(oldest.size()));
            self.fill.output.go_back(oldest.candidate.start);
            excess -= before;
            let Some(block) = self.blocks.get_mut(number) else { break };
            let mut count = step;
            let texts = self.texts.get_mut(block.texts.clone()).unwrap_or_default();
            for text in texts.iter_mut() {
                count = text.give_up(count);
            }
            step *= 2;
            if texts.iter().all(|text| text.taken_count == 0) {
                block.rule = None;
            } else if let Some(again) = self.render_one(number) {
                excess += signed(again.size());
                rendered.push(again);
            }
        }
        std::mem::take(rendered).into_iter().map(|shown| (shown.candidate, shown.fitted, shown.end)).collect()
    }
}

/// A block that is kept in the output, after those that are newer.
#[derive(Debug)]
struct Rendered {
    number: usize,
    candidate: Candidate,
    fitted: Fitted,
    end: Place,
}

impl Rendered {
    fn size(&self) -> usize {
        self.candidate.line_size + self.fitted.size
    }
}
