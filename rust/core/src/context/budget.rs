//! The budget: choose the blocks that a context shows, newest first, and put the context together.
//!
//! Each block is shown in full, up to the limit on one result. The first block that does not fit into the rest of the
//! total is cut or left out. The older blocks are left out, the newest of them are listed, and the walk stops. A
//! context is never longer than the total.

use ahash::AHashMap;

use super::block::{Section, count_note, keep_title, notes, sources, title, with_count};
use super::fence::{Fitted, Sources, fit_part, fit_whole};
use super::inline::inert_item;
use super::limits::{Measure, room_of, signed};
use super::output::{Output, OutputPosition};
use super::policy::{Fate, Reasons, Settings, Trace, count_reason};
use super::summary::fit_summary;
use crate::dedupe::Reason;
use crate::json::value::Value;
use crate::pairing::block::{Entry, Kind};
use crate::text::OwnedText;
use crate::text::constants::{EARLIER_RESULTS, FRAMING, LEFT_OUT_HEADING};
use crate::text::piece::Piece;
use crate::text::sanitize::{CLOSE_MARKER, OPEN_MARKER, clean_line, shorten};

/// The number of blocks to reserve room for, so that a short conversation needs no reallocation.
pub(crate) const ROOM: usize = 12;

/// A context under construction. Offer it blocks, newest first, until `is_done`.
#[derive(Debug)]
pub struct Fill<'a, 's, V> {
    /// True if no further block can change the context.
    pub is_done: bool,
    /// The number of blocks shown.
    pub shown: usize,
    /// The number of shown blocks that are cut.
    pub cut: usize,
    /// The number of blocks left out for lack of room.
    pub left_out: usize,
    /// The number of excluded blocks, by reason.
    pub excluded: Reasons,
    /// The number of superseded blocks, by reason.
    pub superseded: Reasons,
    /// True if the summary was cut.
    pub summary_cut: bool,
    /// True if the total was too small: nothing was shown, or the summary had no room.
    pub budget_too_small: bool,
    /// The tokens of the context, if the total counts tokens.
    pub tokens: Option<usize>,
    /// The position of each shown block's message and the block's tokens, in the order of the context.
    pub block_tokens: Vec<(usize, usize)>,
    settings: &'s Settings,
    trace: Option<Trace>,
    pub(super) left: isize,
    /// The blocks shown, newest first.
    blocks: Vec<Candidate>,
    pub(super) output: Output<'a>,
    opened: Vec<Section>,
    /// The index of each shown block in `blocks`, by its order. A caller may pass blocks in any order.
    counted: AHashMap<usize, usize>,
    pub(super) is_spent: bool,
    stopped_at: Option<Entry<'a, V>>,
    listed: Vec<Entry<'a, V>>,
    summary: OwnedText,
    /// The section of the plan.
    plan: OwnedText,
}

impl<'a, 's, V: Value<'a>> Fill<'a, 's, V> {
    /// Count one more older block in the heading of the block with this order, if that block is shown.
    pub(super) fn count(&mut self, newest: usize) {
        let shown = self.counted.get(&newest).and_then(|place| self.blocks.get_mut(*place));
        let Some(shown) = shown else { return };
        if self.is_spent {
            shown.late += 1;
            return;
        }
        let growth = shown.growth(self.settings.measure, &self.output);
        if growth > self.left {
            self.is_spent = true;
            shown.late += 1;
            return;
        }
        shown.earlier += 1;
        shown.line_size = shown.line_size.saturating_add_signed(growth);
        self.left -= growth;
    }

    /// Offer the next block: show it, stop at it, or leave it out.
    pub(super) fn offer(&mut self, entry: Entry<'a, V>) {
        let reason = self.excluding_setting(&entry);
        if let Some(reason) = reason {
            self.exclude(entry.age, reason);
        } else if !self.is_spent {
            if !self.try_whole(&entry) {
                self.is_spent = true;
                self.stopped_at = Some(entry);
            }
        } else if self.listed.len() < MOST_LISTED {
            self.leave_out(entry.age);
            self.listed.push(entry);
        } else {
            self.leave_out(entry.age);
            self.is_done = true;
        }
    }

    /// Return the finished context.
    pub(super) fn finish(&mut self) -> Output<'a> {
        let left_out = self.settle_stop();
        self.assemble(left_out)
    }

    /// Start a context with the summary.
    #[must_use]
    pub fn new(settings: &'s Settings, summary: &Piece<'_>, is_traced: bool) -> Self {
        let mut fill = Self {
            is_done: false,
            shown: 0,
            cut: 0,
            left_out: 0,
            excluded: Vec::new(),
            superseded: Vec::new(),
            summary_cut: false,
            budget_too_small: false,
            tokens: None,
            block_tokens: Vec::new(),
            settings,
            trace: is_traced.then(Vec::new),
            left: signed(settings.total) - signed(frame_size(settings.measure)),
            blocks: Vec::with_capacity(ROOM),
            output: Output::with_room(ROOM),
            opened: Vec::new(),
            counted: AHashMap::new(),
            is_spent: false,
            stopped_at: None,
            listed: Vec::new(),
            summary: OwnedText::default(),
            plan: OwnedText::default(),
        };
        if settings.include_summary && !summary.is_empty() {
            let measure = settings.measure;
            let fitted = fit_summary(summary, (signed(settings.total / 2).min(fill.left), measure));
            (fill.summary_cut, fill.budget_too_small) = (fitted.is_cut, fitted.has_no_room);
            fill.left -= signed(measure.size(fitted.section.as_text()));
            fill.summary = fitted.section;
        }
        fill
    }

    /// Show the section of the plan; without room for it, not everything fits.
    pub(super) fn add_plan(&mut self, section: String) {
        let section = OwnedText::from(section);
        let size = signed(self.settings.measure.size(section.as_text()));
        if size > self.left {
            self.is_spent = true;
        } else {
            self.left -= size;
            self.plan = section;
        }
    }

    /// Record a block that a setting, its branch or its scope excludes.
    pub fn exclude(&mut self, age: usize, reason: &'static str) {
        count_reason(&mut self.excluded, reason);
        self.note(age, Fate::Excluded, reason);
    }

    /// Record a block that another block or a rule supersedes.
    pub fn supersede(&mut self, age: usize, reason: Reason) {
        if reason == Reason::Rule {
            self.exclude(age, reason.name());
            return;
        }
        count_reason(&mut self.superseded, reason.name());
        self.note(age, Fate::Superseded, reason.name());
    }

    fn note(&mut self, age: usize, fate: Fate, reason: &'static str) {
        if let Some(trace) = &mut self.trace {
            trace.push((age, fate, reason));
        }
    }

    /// Show a block whole. Return false if it does not fit.
    fn try_whole(&mut self, entry: &Entry<'a, V>) -> bool {
        let sources = sources(entry, self.settings.keep, self.settings.references);
        let measure = self.settings.measure;
        let candidate = Candidate::new(entry, has_any(&sources), measure, &mut self.output);
        let room = self.left - signed(self.heading_size(&candidate));
        let limits = self.settings.limits.by_rule(entry.max_chars);
        let fitted = fit_whole(&sources, limits, (room, measure), &mut self.output);
        if let Some(fitted) = fitted {
            let end = self.output.end();
            self.show(entry, candidate, (fitted, end), "limit");
            return true;
        }
        self.output.go_back(candidate.start);
        false
    }

    pub(super) fn excluding_setting(&self, entry: &Entry<'a, V>) -> Option<&'static str> {
        let settings = self.settings;
        let (is_included, name) = match Section::of(entry) {
            _ if entry.result.is_none() && !settings.include_interrupted => (false, "include_interrupted"),
            _ if entry.is_error() && !settings.include_failed => (false, "include_failed"),
            Section::Files => (settings.include_files, "include_files"),
            Section::Changes => (settings.include_changes, "include_changes"),
            Section::Commands => (settings.include_commands, "include_commands"),
            Section::Others => (settings.include_others, "include_others"),
        };
        (!is_included).then_some(name)
    }

    /// Return the size of a block without its texts: its heading, plus the section heading and the framing if it is the
    /// first block that needs them.
    fn heading_size(&self, candidate: &Candidate) -> usize {
        let measure = self.settings.measure;
        let mut size = candidate.line_size;
        if !self.opened.contains(&candidate.section) {
            size += measure.size_ascii(candidate.section.heading());
        }
        if self.shown == 0 && self.settings.framing {
            size += measure.size_ascii(FRAMING);
        }
        size
    }

    /// Show a block whose heading and texts the output keeps up to a place.
    pub(super) fn show(
        &mut self,
        entry: &Entry<'a, V>,
        candidate: Candidate,
        (fitted, end): (Fitted, OutputPosition),
        by: &'static str,
    ) {
        self.left -= signed(self.heading_size(&candidate) + fitted.size);
        self.shown += 1;
        self.cut += usize::from(fitted.is_cut);
        let (fate, by) = if fitted.is_cut { (Fate::Cut, by) } else { (Fate::Shown, "") };
        self.note(entry.age, fate, by);
        self.counted.insert(entry.order, self.blocks.len());
        if !self.opened.contains(&candidate.section) {
            self.opened.push(candidate.section);
        }
        self.blocks.push(Candidate { texts_size: fitted.size, end, ..candidate });
    }

    pub(super) fn leave_out(&mut self, age: usize) {
        self.left_out += 1;
        self.note(age, Fate::LeftOut, "budget");
    }

    /// Return the finished context; empty if there is nothing to carry, or no room for it.
    pub(super) fn assemble(&mut self, left_out: OwnedText) -> Output<'a> {
        let measure = self.settings.measure;
        let counts_tokens = !measure.is_characters();
        let mut output = std::mem::take(&mut self.output);
        if self.shown == 0 && self.summary.as_text().is_empty() {
            self.budget_too_small |= self.is_spent;
            self.tokens = counts_tokens.then_some(0);
            return output;
        }
        let texts = [&self.summary, &self.plan, &left_out];
        let mut size = frame_size(measure) + texts.map(|text| measure.size(text.as_text())).iter().sum::<usize>();
        output.push_ascii(OPEN_MARKER);
        output.push_ascii("\n\n");
        output.push(Piece::own(std::mem::take(&mut self.summary)));
        output.push(Piece::own(std::mem::take(&mut self.plan)));
        for section in Section::ALL {
            let mut is_first = true;
            for shown in self.blocks.iter_mut().rev().filter(|shown| shown.section == section) {
                if is_first {
                    output.push_ascii(section.heading());
                    size += measure.size_ascii(section.heading());
                    is_first = false;
                }
                shown.place(!self.is_done, measure, &mut output);
                size += shown.line_size + shown.texts_size;
                if counts_tokens {
                    self.block_tokens.push((shown.position, shown.line_size + shown.texts_size));
                }
            }
        }
        output.push(Piece::own(left_out));
        if self.shown > 0 && self.settings.framing {
            output.push_ascii(FRAMING);
            size += measure.size_ascii(FRAMING);
        }
        output.push_ascii(CLOSE_MARKER);
        self.tokens = counts_tokens.then_some(size);
        output
    }

    /// Return the fates of all blocks.
    pub fn take_trace(&mut self) -> Trace {
        self.trace.take().unwrap_or_default()
    }

    /// Show the part that fits of the block at which the total was spent. Return the list of the older blocks.
    fn settle_stop(&mut self) -> OwnedText {
        let room = (self.settings.total / 16).min(room_of(self.left.div_euclid(2)));
        let listed = std::mem::take(&mut self.listed);
        let mut listed: Vec<&Entry<'a, V>> = listed.iter().collect();
        let listing = list_left_out(&listed, (room, self.settings.measure), self.is_done);
        let Some(entry) = self.stopped_at.take() else { return listing };
        let (measure, sources) = (self.settings.measure, sources(&entry, self.settings.keep, self.settings.references));
        let candidate = Candidate::new(&entry, has_any(&sources), measure, &mut self.output);
        let left = self.left - signed(measure.size(listing.as_text())) - signed(self.heading_size(&candidate));
        let limits = self.settings.limits.by_rule(entry.max_chars);
        if let Some(fitted) = fit_part(&sources, limits, (left, measure), &mut self.output) {
            let end = self.output.end();
            self.show(&entry, candidate, (fitted, end), "total");
            return listing;
        }
        self.output.go_back(candidate.start);
        self.leave_out(entry.age);
        listed.insert(0, &entry);
        list_left_out(&listed, (room, self.settings.measure), self.is_done)
    }
}

fn has_any<V>(sources: &Sources<'_, V>) -> bool {
    sources.iter().any(Option::is_some)
}

/// Return the size of the lines that open and close a context.
fn frame_size(measure: Measure) -> usize {
    measure.size_ascii(&format!("{OPEN_MARKER}\n\n")) + measure.size_ascii(CLOSE_MARKER)
}

const OPENING: &str = "### ";

/// A block that may be shown: the size and the count of its heading, and its place in the output.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    pub(crate) section: Section,
    pub(crate) position: usize,
    /// The size of the heading.
    pub(crate) line_size: usize,
    /// The size of the texts.
    pub(crate) texts_size: usize,
    /// The number of older blocks that the heading counts.
    pub(crate) earlier: usize,
    /// The number of older blocks found after the total was spent.
    pub(crate) late: usize,
    kind: Kind,
    pub(crate) start: OutputPosition,
    title_end: OutputPosition,
    notes_end: OutputPosition,
    end: OutputPosition,
    has_texts: bool,
}

impl Candidate {
    /// Keep the heading of a block in the output. If the block is shown, its texts are kept after it.
    pub(crate) fn new<'a, V: Value<'a>>(
        entry: &Entry<'a, V>,
        has_texts: bool,
        measure: Measure,
        output: &mut Output<'a>,
    ) -> Self {
        let start = output.end();
        output.keep_ascii(OPENING);
        keep_title(output, entry);
        let title_end = output.end();
        output.keep_ascii(&notes(entry));
        let notes_end = output.end();
        output.keep_ascii(end(has_texts));
        let line = start..output.end();
        Self {
            section: Section::of(entry),
            position: entry.position,
            line_size: measure.size_kept(output, [(line.clone(), None)]),
            texts_size: 0,
            earlier: 0,
            late: 0,
            kind: entry.kind,
            start,
            title_end,
            notes_end,
            end: line.end,
            has_texts,
        }
    }

    /// Return the growth of the heading if it counts one more older block. In tokens it may be negative.
    pub(crate) fn growth(&self, measure: Measure, output: &Output<'_>) -> isize {
        let count = count_note(self.kind, self.earlier + 1, true);
        signed(self.line_size_with(&count, measure, output)) - signed(self.line_size)
    }

    /// Return the size of the heading with a count.
    fn line_size_with(&self, count: &str, measure: Measure, output: &Output<'_>) -> usize {
        match measure {
            Measure::Characters => {
                let notes = Output::size_of(&(self.title_end..self.notes_end));
                let brackets = match (notes, count.len()) {
                    (notes, 0) => notes,
                    (0, count) => count + 3,
                    (notes, count) => notes + count + 2,
                };
                Output::size_of(&(self.start..self.title_end)) + brackets + end(self.has_texts).len()
            }
            Measure::Tokens(_) => {
                let line = output.kept(self.start..self.title_end);
                measure_line(line, &with_count(&self.notes(output), count), self.has_texts, measure)
            }
        }
    }

    fn notes(&self, output: &Output<'_>) -> String {
        output.kept(self.title_end..self.notes_end).as_text().to_utf8()
    }

    /// Write the block next in the output, with the count in its heading.
    pub(crate) fn place(&mut self, walked_all: bool, measure: Measure, output: &mut Output<'_>) {
        if self.earlier + self.late == 0 {
            output.place(self.start..self.end);
            return;
        }
        let count = self.settle_count(walked_all, measure, output);
        let counted = with_count(&self.notes(output), &count);
        output.place(self.start..self.title_end);
        output.push_ascii(&counted);
        output.place(self.notes_end..self.end);
    }

    /// Return the count for the heading. Blocks found after the total was spent are included if the exact number fits.
    fn settle_count(&mut self, walked_all: bool, measure: Measure, output: &Output<'_>) -> String {
        if walked_all {
            let exact = count_note(self.kind, self.earlier + self.late, false);
            let size = self.line_size_with(&exact, measure, output);
            if size <= self.line_size {
                self.line_size = size;
                return exact;
            }
        }
        count_note(self.kind, self.earlier, true)
    }
}

/// Return the end of a heading. A block without texts ends in an empty line.
fn end(has_texts: bool) -> &'static str {
    if has_texts { "\n" } else { "\n\n" }
}

fn measure_line(mut line: OwnedText, notes: &str, has_texts: bool, measure: Measure) -> usize {
    line.push_ascii(notes);
    line.push_ascii(end(has_texts));
    measure.size(line.as_text())
}

pub(crate) const MOST_LISTED: usize = 20;
const LONGEST_LISTED: usize = 100;

/// Return the section that lists the newest blocks left out, as far as they fit.
pub(crate) fn list_left_out<'a, V: Value<'a>>(
    entries: &[&Entry<'a, V>],
    (room, measure): (usize, Measure),
    has_more: bool,
) -> OwnedText {
    let mut has_more = has_more || entries.len() > MOST_LISTED;
    let mut room = signed(room) - signed(measure.size_ascii(LEFT_OUT_HEADING));
    let end = signed(measure.size_ascii(EARLIER_RESULTS));
    let mut text = OwnedText::default();
    text.push_ascii(LEFT_OUT_HEADING);
    let count = entries.len().min(MOST_LISTED);
    let mut is_empty = true;
    for (number, entry) in entries.iter().take(MOST_LISTED).enumerate() {
        let mut line = OwnedText::default();
        line.push_ascii("- ");
        line.push(inert_item(&shorten(&listed_title(entry), LONGEST_LISTED)).text());
        line.push_ascii("\n");
        let line_size = signed(measure.size(line.as_text()));
        let is_last = number + 1 == count && !has_more;
        let size = if is_last { last_size(&line, measure) } else { line_size + end };
        if size > room {
            has_more = true;
            break;
        }
        room -= line_size;
        text.push(line.as_text());
        is_empty = false;
    }
    if is_empty && (count == 0 || end > room) {
        return OwnedText::default();
    }
    text.push_ascii(if has_more { EARLIER_RESULTS } else { "\n" });
    text
}

/// Return the size of the last line, with the empty line after it.
fn last_size(line: &OwnedText, measure: Measure) -> isize {
    let mut last = line.clone();
    last.push_ascii("\n");
    signed(measure.size(last.as_text()))
}

/// Return the title of a block in the list: the tool with its path or command, or the call.
fn listed_title<'a, V: Value<'a>>(entry: &Entry<'a, V>) -> Piece<'a> {
    let name = title(entry);
    if Section::of(entry) == Section::Others {
        return name;
    }
    let mut text = OwnedText::default();
    text.push(clean_line(&Piece::Borrowed(entry.name()), 40).text());
    text.push_ascii(": ");
    text.push(name.text());
    Piece::own(text)
}
