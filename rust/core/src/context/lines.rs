//! Blocks in lines: the cost of each, its words, and those that are taken; see `novel` for how they are chosen.

use std::ops::Range;

use super::block::{Section, language_of, reference_of, sources};
use super::fence::{Source, limited, longest_run_in, mark_of};
use super::limits::{Limits, Measure};
use super::output::Output;
use super::policy::Settings;
use crate::content::Content;
use crate::content::client_blocks::{may_have_blocks, without_blocks};
use crate::content::media::is_media_line;
use crate::json::value::{Key, Spelling, Value, items, names, text_or_empty};
use crate::pairing::argument_names::{DIFF_KEYS, NEW_KEYS, SOURCE_KEY, WHOLE_FILE_KEYS};
use crate::pairing::block::Entry;
use crate::shorten::failures;
use crate::text::constants::NO_OUTPUT;
use crate::text::graphemes::CodePoint as _;
use crate::text::piece::Piece;
use crate::text::sanitize::cut_text;
use crate::text::truncate::Keep;
use crate::text::words::{Words, narrow};
use crate::text::{OwnedText, Text, on_units};

const GAP: &str = "...\n";

/// The characters that stand for one token where the total counts characters.
pub(super) const CHARS: usize = 4;
/// The tokens of a total of which a quarter is a share; of what is beyond, half is.
const SHARED: usize = 4_000;
/// The tokens of a heading and its fences, as far as the choice is concerned.
pub(super) const HEADING: usize = 16;
const LONGEST_PIECE: usize = 400;

/// The unit of a total: the sizes of short texts, exact and estimated.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prices {
    pub(super) measure: Measure,
    /// The size that stands for one token.
    pub(super) token: usize,
    pub(super) gap: usize,
}

impl Prices {
    pub(super) fn new(measure: Measure) -> Self {
        Self { measure, token: if measure.is_characters() { CHARS } else { 1 }, gap: measure.size_ascii(GAP) }
    }

    /// Return the part of a total that the newest blocks, and one file, may take.
    pub(super) fn share(self, total: usize) -> usize {
        let first = total.min(SHARED * self.token);
        first / 4 + (total - first) / 2
    }
}

/// A line, or a part of one.
#[derive(Debug)]
pub(super) struct PricedLine {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) number: usize,
    /// True for a part that continues the line before.
    pub(super) is_joined: bool,
    pub(super) is_taken: bool,
    pub(super) cost: usize,
    /// The exact size with its line feed, once the line was taken.
    pub(super) size: usize,
    pub(super) words: Range<usize>,
}

impl PricedLine {
    pub(super) fn len(&self) -> usize {
        self.end - self.start
    }
}

/// A text of a block in lines.
#[derive(Debug)]
#[allow(clippy::struct_field_names)] // it has lines
pub(super) struct TextLines<'a> {
    /// The number of the block.
    pub(super) block: usize,
    pub(super) is_file: bool,
    pub(super) text: Piece<'a>,
    pub(super) language: &'static str,
    pub(super) is_cut: bool,
    /// True if the text is an argument of the call, and no result.
    pub(super) is_said: bool,
    pub(super) lines: Vec<PricedLine>,
    pub(super) taken_count: usize,
    /// The lines that may have new words, each with the highest rate that it can have (0: not known).
    pub(super) open: Vec<(usize, usize)>,
    pub(super) best: usize,
}

/// The texts of a block with the places of their lines, and true if the limit on one result has cut it.
pub(super) struct Read<'a, V> {
    pub(super) source: Source<'a, V>,
    pub(super) text: Piece<'a>,
    pub(super) lines: Vec<(usize, usize)>,
    pub(super) is_cut: bool,
}

impl<'a, V: Value<'a>> Read<'a, V> {
    pub(super) fn new(source: Source<'a, V>, limits: Limits) -> Self {
        let (mut text, mut is_cut) = limited(&source, limits);
        if source.content.is_some() && may_have_blocks(Spelling::Text(text.text())) {
            let rest = OwnedText::from_utf8(&without_blocks(&text.text().as_utf8()));
            is_cut |= rest.as_text().len() < text.len();
            text = Piece::own(rest);
        }
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
    pub(super) fn leave_out_numbers(&mut self) -> bool {
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

/// Return true if no token goes on from a line feed to the line after it. Several line feeds may be one token, with blanks
/// between them, and so may a line feed and a slash.
fn is_apart(line: Text<'_>) -> bool {
    let mut at = 0;
    while matches!(line.get(at), Some(0x20 | 0x09)) {
        at += 1;
    }
    line.get(at).is_some_and(|first| (0x21..0x7F).contains(&first) && (at > 0 || first != u32::from(b'/')))
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

impl<'a> TextLines<'a> {
    pub(super) fn new<V: Value<'a>>(
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
                let first = words.of_lines.len();
                let tokens = words.read(whole, start..start + size);
                let cost = if prices.measure.is_characters() { size + 1 } else { tokens };
                let words = first..words.of_lines.len();
                if !words.is_empty() {
                    open.push((lines.len(), 0));
                }
                let number = number + 1;
                lines.push(PricedLine {
                    start,
                    end: start + size,
                    number,
                    is_joined,
                    is_taken: false,
                    cost,
                    size: 0,
                    words,
                });
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

    pub(super) fn cost(&self) -> usize {
        self.lines.iter().map(|line| line.cost).sum()
    }

    /// Return the places of the lines that say that something failed, and are not taken.
    pub(super) fn failures(&self) -> Vec<usize> {
        let mut places: Vec<usize> = Vec::new();
        let mut note = |(start, end): (usize, usize)| {
            let place = self.lines.partition_point(|line| line.end <= start);
            let line = self.lines.get(place).filter(|line| line.start <= start && end <= line.end && !line.is_taken);
            if line.is_some() && places.last() != Some(&place) {
                places.push(place);
            }
        };
        match self.text.text() {
            Text::Latin1(units) => failures(units).for_each(&mut note),
            text => {
                let units: Vec<u8> =
                    on_units!(text, units => units.iter().map(|unit| narrow(unit.code_point())).collect());
                failures(&units).for_each(&mut note);
            }
        }
        places
    }

    pub(super) fn is_taken(&self, place: usize) -> bool {
        self.lines.get(place).is_some_and(|line| line.is_taken)
    }

    pub(super) fn is_whole(&self) -> bool {
        self.taken_count == self.lines.len()
    }

    /// Return how many sides of a line need no gap.
    pub(super) fn beside(&self, place: usize) -> usize {
        let is_after = place == 0 || self.is_taken(place - 1);
        usize::from(is_after) + usize::from(place + 1 == self.lines.len() || self.is_taken(place + 1))
    }

    /// Return the size of a line with its line feed.
    pub(super) fn size(&self, place: usize, measure: Measure) -> usize {
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

    /// Keep the lines that are taken in a fence, with gaps marked. Return the exact size.
    pub(super) fn fence(&self, end: &str, prices: Prices, out: &mut Output<'a>) -> usize {
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
        let ends_in_gap = !self.lines.last().is_some_and(|line| line.is_taken);
        if ends_in_gap {
            out.keep_ascii(GAP);
        }
        out.keep_ascii(mark);
        out.keep_ascii("\n");
        out.keep_ascii(end);
        let gaps = stretches.iter().filter(|(_, is_after_gap)| *is_after_gap).count() + usize::from(ends_in_gap);
        let measure = prices.measure;
        let opening = format!("{mark}{}\n", self.language);
        let ends = measure.size_ascii(&opening) + measure.size_ascii(&format!("{mark}\n{end}"));
        ends + gaps * prices.gap + self.size_of_taken(&opening, measure)
    }

    /// Return the size of the lines that are taken, after the line that opens the fence. Only lines that can't be counted
    /// apart are counted again.
    fn size_of_taken(&self, opening: &str, measure: Measure) -> usize {
        let text = self.text.text();
        let slice = |line: &PricedLine| text.slice(line.start, line.end);
        let size_of = |group: &Range<usize>| {
            let lines = self.lines.get(group.clone()).unwrap_or_default();
            let Some(first) = lines.first() else { return 0 };
            let before = match group.start {
                _ if is_apart(slice(first)) => "",
                0 => opening,
                _ => GAP,
            };
            if lines.len() == 1 && before.is_empty() {
                return first.size;
            }
            let mut own = OwnedText::from_utf8(before);
            for (number, line) in lines.iter().enumerate() {
                if number > 0 && !line.is_joined {
                    own.push_ascii("\n");
                }
                own.push(slice(line));
            }
            own.push_ascii("\n");
            measure.size(own.as_text()) - measure.size_ascii(before)
        };
        let (mut size, mut group) = (0, 0..0);
        for (place, line) in self.lines.iter().enumerate().filter(|(_, line)| line.is_taken) {
            let is_next = group.end == place && !group.is_empty();
            if !is_next || (!line.is_joined && is_apart(slice(line))) {
                size += size_of(&group);
                group.start = place;
            }
            group.end = place + 1;
        }
        size + size_of(&group)
    }

    /// Return the numbers of the lines that are taken, from 1, as ranges.
    pub(super) fn ranges(&self) -> Vec<(usize, usize)> {
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
    pub(super) fn give_up(&mut self, mut count: usize) -> usize {
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
pub(super) struct Block<'a, V> {
    pub(super) entry: Entry<'a, V>,
    pub(super) section: Section,
    pub(super) is_file: bool,
    pub(super) texts: Range<usize>,
    pub(super) cost: usize,
    /// The size of the heading, once it was needed.
    pub(super) heading: Option<usize>,
    pub(super) rule: Option<&'static str>,
}

/// Return the texts of a block in lines.
pub(super) fn texts<'a, V: Value<'a>>(entry: &Entry<'a, V>, settings: &Settings, limits: Limits) -> Vec<Read<'a, V>> {
    let section = Section::of(entry);
    if section == Section::Changes && entry.call.is_some() {
        return vec![change(entry, settings, limits)];
    }
    let sources = sources(entry, settings.keep, settings.references).into_iter().flatten();
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
fn change<'a, V: Value<'a>>(entry: &Entry<'a, V>, settings: &Settings, limits: Limits) -> Read<'a, V> {
    let language = language_of(entry.value.as_ref().map_or(Text::ascii(""), Piece::text));
    let source = |text, language, content| Source {
        text,
        language,
        side: settings.keep.unwrap_or(Keep::Head),
        reference: reference_of(entry, settings.references),
        is_exempt: false,
        content,
        printed_by: None,
        has_marker_below: false,
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
