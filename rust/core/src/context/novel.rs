//! The selection of `fill="novel"`: the lines of results that say most that is new, within the total.
//!
//! Every line that is shown is a line of a result (or a part of a very long one), in its place under the heading of its
//! block. A line `...` stands for lines that are left out, and the report has the numbers of those that are shown.
//!
//! If all blocks fit as `fill="newest"` shows them, they are shown so. Else the rules are, in this order:
//!
//! 1. NUMBERS: the numbers that a tool puts before the lines of a file are left out.
//! 2. NEWEST: the newest blocks are shown whole, up to a quarter of the total (half of what is beyond 4,000 tokens); if
//!    the newest alone is larger, the head of a file or both ends of any other text.
//! 3. FILES: of the last 24 blocks, those that show a file, and take no more than that share each, are shown whole,
//!    newest first, up to half of the total.
//! 4. FAILURES: of what commands printed, lines that say that something failed are shown, up to an eighth of the total.
//! 5. NOVEL: of all other texts, those lines are shown first that bring the most new words per token.
//! 6. GAPS: a gap of up to 12 tokens in a file, and of up to 3 in any other text, is filled after each round, so that
//!    lines stand in passages.
//! 7. REST: the rest of the total goes to the missing lines of the newest blocks, up to the first that does not fit.
//! 8. ONCE: a line of 40 characters or more that another block shows is not shown again.
//!
//! The fallback says what a word is, and what a round does.

use ahash::AHashMap;

use super::block::Section;
use super::budget::{Candidate, Fill, Filling};
use super::fence::Fitted;
use super::limits::signed;
use super::lines::{Block, CHARS, HEADING, Prices, TextLines, texts};
use super::output::{Output, OutputPosition};
use super::policy::{Partial, Settings};
use crate::json::value::Value;
use crate::pairing::block::Entry;
use crate::shorten::both_ends;
use crate::text::constants::FRAMING;
use crate::text::piece::Piece;
use crate::text::words::{Words, hash_of};
use crate::text::{OwnedText, on_units};

const OLDEST_FILE: usize = 24;
/// The extra worth of a line of a file. A new word is worth two, and one of an argument is worth one.
const FILE_LINE: usize = 6;
const FAILURES_SHARE: usize = 8;
const ROUNDS: usize = 16;
/// The rate of one new word per token, which the first round asks for.
const FIRST_RATE: usize = 1_024;
/// The walk stops at this many times the total, and `LEAST_WINDOW` tokens more.
const WINDOW: usize = 2;
const LEAST_WINDOW: usize = 16_000;
/// Results of more characters than this for each token of the total don't fit as they are.
const LONGEST_TOKEN: usize = 5;
/// The tokens of a gap that is filled, in a text that is not a file, and in a file.
const SMALL_GAP: usize = 3;
const SMALL_FILE_GAP: usize = 12;
const LEAST_REST: usize = 10;
const REPEATED: usize = 40;

/// A context that shows the lines with the most new words.
#[derive(Debug)]
pub struct NovelFill<'a, 's, V> {
    fill: Fill<'a, 's, V>,
    settings: &'s Settings,
    prices: Prices,
    entries: Vec<Entry<'a, V>>,
    /// The blocks whose headings count one more, each after this many of `entries`.
    counts: Vec<(usize, usize)>,
    blocks: Vec<Block<'a, V>>,
    texts: Vec<TextLines<'a>>,
    words: Words,
    /// The characters of the results that were looked at.
    looked: usize,
    window: usize,
    left: isize,
    /// The block that shows each long line first, by the hash of the line.
    seen: AHashMap<u64, usize>,
    opened: Vec<Section>,
}

impl<'a, 's, V: Value<'a>> Filling<'a, 's, V> for NovelFill<'a, 's, V> {
    fn new(settings: &'s Settings, summary: &Piece<'_>, is_traced: bool) -> Self {
        let prices = Prices::new(settings.measure);
        let window = settings.total.saturating_mul(WINDOW).saturating_add(LEAST_WINDOW * prices.token);
        Self {
            fill: Fill::new(settings, summary, is_traced),
            settings,
            prices,
            entries: Vec::new(),
            counts: Vec::new(),
            blocks: Vec::new(),
            texts: Vec::new(),
            words: Words::default(),
            looked: 0,
            window: window.saturating_mul(CHARS / prices.token),
            left: 0,
            seen: AHashMap::new(),
            opened: Vec::new(),
        }
    }

    fn fill(&mut self) -> &mut Fill<'a, 's, V> {
        &mut self.fill
    }

    /// Note the count for the case that all is shown. Headings above chosen lines count no older blocks.
    fn count(&mut self, newest: usize) {
        self.counts.push((self.entries.len(), newest));
    }

    /// Look at a block, until the window is full.
    fn offer(&mut self, entry: Entry<'a, V>) {
        if let Some(reason) = self.fill.excluding_setting(&entry) {
            self.fill.exclude(entry.age, reason);
            return;
        }
        let size = if entry.result.is_some() { entry.text.len() } else { 0 };
        self.looked += size.min(self.settings.limits.by_rule(entry.max_chars).chars) + HEADING;
        self.entries.push(entry);
        self.fill.is_done = self.looked > self.window;
    }

    fn finish(&mut self) -> Output<'a> {
        if !self.shows_all() {
            self.settle();
        }
        self.fill.assemble(OwnedText::default())
    }
}

impl<'a, V: Value<'a>> NovelFill<'a, '_, V> {
    /// Show all blocks as `fill="newest"` does. Return false, and show none, if they don't fit.
    fn shows_all(&mut self) -> bool {
        let longest = if self.settings.measure.is_characters() { 1 } else { LONGEST_TOKEN };
        let looked = signed(self.looked - HEADING * self.entries.len());
        !self.fill.is_done
            && looked <= self.fill.left.saturating_mul(signed(longest))
            && self.fill.show_all(&self.entries, &self.counts)
    }

    /// Read the lines of a block.
    fn read(&mut self, entry: Entry<'a, V>) {
        let section = Section::of(&entry);
        let is_file = matches!(section, Section::Files | Section::Changes);
        let limits = self.settings.limits.by_rule(entry.max_chars);
        let (block, first) = (self.blocks.len(), self.texts.len());
        let mut cost = HEADING * self.prices.token;
        for read in texts(&entry, self.settings, limits) {
            let lines = TextLines::new(read, (block, is_file), self.prices, &mut self.words);
            cost += lines.cost();
            self.texts.push(lines);
        }
        let texts = first..self.texts.len();
        self.blocks.push(Block { entry, section, is_file, texts, cost, heading: None, rule: None });
    }

    /// Choose the lines, and show the blocks that have some.
    fn settle(&mut self) {
        for entry in std::mem::take(&mut self.entries) {
            self.read(entry);
        }
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
        let costs: Vec<isize> = self.blocks.iter().map(|block| signed(block.cost)).collect();
        if !self.fill.is_done && costs.iter().sum::<isize>() <= start {
            share = start;
        }
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
        self.take_failures();
        self.take_novel();
        for number in 0..costs.len() {
            if !self.take_all(number, "rest") {
                break;
            }
        }
    }

    /// Take lines that say that something failed, newest block first, and from both ends of each.
    fn take_failures(&mut self) {
        let (start, most) = (self.left, signed(self.settings.total / FAILURES_SHARE));
        for index in 0..self.texts.len() {
            let Some(text) = self.texts.get(index).filter(|text| !text.is_said) else { continue };
            if !self.blocks.get(text.block).is_some_and(|block| block.section == Section::Commands) {
                continue;
            }
            let found = text.failures();
            for place in both_ends(&found) {
                let line = self.texts.get(index).and_then(|text| text.lines.get(place));
                if start - self.left + signed(line.map_or(0, |line| line.cost)) > most {
                    return;
                }
                self.take(index, place, "failure");
            }
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
                    let picked = self.pick(index, rate);
                    for place in &picked {
                        self.take(index, *place, "novel");
                    }
                    if !picked.is_empty() {
                        self.fill_gaps(index);
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

    /// Take the lines of short gaps, so that lines stand in passages.
    fn fill_gaps(&mut self, index: usize) {
        let Some(text) = self.texts.get(index).filter(|text| text.taken_count > 0 && !text.is_whole()) else { return };
        let most = if text.is_file { SMALL_FILE_GAP } else { SMALL_GAP } * self.prices.token;
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

    /// Take all lines. Return false at the first that does not fit.
    fn take_all(&mut self, number: usize, rule: &'static str) -> bool {
        let Some(block) = self.blocks.get(number) else { return false };
        let (texts, is_closed) = (block.texts.clone(), block.rule.is_none());
        if texts.is_empty() && is_closed {
            let size = self.opening(number);
            if size > self.left {
                return false;
            }
            self.open(number, size, rule);
        }
        for index in texts {
            let count = self.texts.get(index).filter(|text| !text.is_whole()).map_or(0, |text| text.lines.len());
            for place in 0..count {
                if !self.take(index, place, rule) {
                    return false;
                }
            }
        }
        true
    }

    /// Take a line, unless another block shows it. Return false if it does not fit.
    fn take(&mut self, index: usize, place: usize, rule: &'static str) -> bool {
        let (gap, measure) = (self.prices.gap, self.settings.measure);
        let Some(text) = self.texts.get(index) else { return true };
        let Some(line) = text.lines.get(place).filter(|line| !line.is_taken) else { return true };
        if signed(line.cost) > self.left {
            return false;
        }
        let number = text.block;
        let is_long = line.len() >= REPEATED;
        let hash =
            if is_long { on_units!(text.text.text().slice(line.start, line.end), units => hash_of(units)) } else { 0 };
        if is_long && self.seen.get(&hash).is_some_and(|shown| *shown != number) {
            return true;
        }
        let own = text.size(place, measure);
        let size = signed(own + gap) - signed(gap * text.beside(place)) + self.frame_size(text);
        let is_closed = self.blocks.get(number).is_some_and(|block| block.rule.is_none());
        let opening = if is_closed { self.opening(number) } else { 0 };
        if size + opening > self.left {
            return false;
        }
        if is_closed {
            self.open(number, opening, rule);
        }
        self.left -= size;
        let Some(text) = self.texts.get_mut(index) else { return true };
        text.taken_count += 1;
        if let Some(line) = text.lines.get_mut(place) {
            line.is_taken = true;
            line.size = own;
            self.words.learn(&line.words);
        }
        if is_long {
            self.seen.entry(hash).or_insert(number);
        }
        true
    }

    /// Return what the first line that is taken of a text costs more.
    fn frame_size(&self, text: &TextLines<'a>) -> isize {
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
            let candidate = Candidate::new(&block.entry, has_texts, measure, &mut self.fill.output);
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
        let candidate = Candidate::new(&block.entry, !block.texts.is_empty(), measure, out);
        let texts = self.texts.get(block.texts.clone())?;
        let last = texts.iter().rposition(|text| text.taken_count > 0);
        let mut fitted = Fitted { size: 0, is_cut: false };
        for (at, text) in texts.iter().enumerate() {
            fitted.is_cut |= text.is_cut || !text.is_whole();
            if text.taken_count > 0 {
                fitted.size += text.fence(if Some(at) == last { "\n" } else { "" }, self.prices, out);
            }
        }
        Some(Rendered { number, candidate, fitted, end: out.end() })
    }

    /// Give up lines of the oldest blocks until the others fit: lines may cost more together than one by one.
    fn fit(&mut self, rendered: &mut Vec<Rendered>) -> Vec<(Candidate, Fitted, OutputPosition)> {
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
    end: OutputPosition,
}

impl Rendered {
    fn size(&self) -> usize {
        self.candidate.line_size + self.fitted.size
    }
}
