//! The budget: which blocks a context shows, newest first, and how it is put together.
//!
//! Each block is shown in full up to the limit on one result. The first that does not fit into what is left of the
//! total is cut, or left out; the blocks before it are left out, and the newest of them listed. The walk stops
//! there. No context is ever longer than the total. The twin is `_pure/fill.py`.

use ahash::AHashMap;

use super::block::{Section, sources};
use super::candidate::Candidate;
use super::fates::{Fate, Reasons, Trace, count_reason};
use super::fit::{Fitted, Sources, fit_part, fit_whole};
use super::fit_summary::fit_summary;
use super::left_out::{MOST_LISTED, list_left_out};
use super::limits::{Measure, room_of, signed};
use super::output::Output;
use super::policy::Settings;
use crate::dedupe::Reason;
use crate::json::value::Value;
use crate::pairing::block::Entry;
use crate::text::OwnedText;
use crate::text::constants::FRAMING;
use crate::text::piece::Piece;
use crate::text::sanitize::{CLOSE_MARKER, OPEN_MARKER};

/// Room for so many shown blocks is made at once, so that nothing has to grow for a short conversation.
pub(crate) const ROOM: usize = 12;

/// A context in the making. Blocks are offered newest first, until `is_done`.
#[derive(Debug)]
pub struct Fill<'a, 's, V> {
    /// Whether nothing that is offered any more can change the context.
    pub is_done: bool,
    /// How many blocks are shown.
    pub shown: usize,
    /// How many of them are cut.
    pub cut: usize,
    /// How many had no room.
    pub left_out: usize,
    /// How many were kept out, by reason.
    pub excluded: Reasons,
    /// How many are superseded, by reason.
    pub superseded: Reasons,
    /// Whether the summary was cut.
    pub summary_cut: bool,
    /// Whether the total was too small for anything.
    pub budget_too_small: bool,
    /// What the context takes, where the total counts tokens.
    pub tokens: Option<usize>,
    /// What each shown block takes of them, with the position of its message, as they stand in the context.
    pub block_tokens: Vec<(usize, usize)>,
    settings: &'s Settings,
    trace: Option<Trace>,
    left: isize,
    /// All blocks that are shown.
    blocks: Vec<Candidate>,
    output: Output<'a>,
    opened: Vec<Section>,
    /// Where a shown block stands among all, by its order. Blocks that are given by hand come in any.
    counted: AHashMap<usize, usize>,
    is_spent: bool,
    stopped_at: Option<Entry<'a, V>>,
    listed: Vec<Entry<'a, V>>,
    summary: OwnedText,
}

impl<'a, 's, V: Value<'a>> Fill<'a, 's, V> {
    /// A context that holds the summary so far.
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

    /// A block that a setting, its branch or its scope keeps out.
    pub fn exclude(&mut self, age: usize, reason: &'static str) {
        count_reason(&mut self.excluded, reason);
        self.note(age, Fate::Excluded, reason);
    }

    /// A block that another one says better.
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

    /// Let the heading of the block with this order, where it is shown, count one more older block.
    pub fn count(&mut self, newest: usize) {
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

    /// Show a block, or what fits of it, or leave it out.
    pub fn offer(&mut self, entry: Entry<'a, V>) {
        let reason = self.excluding_setting(&entry);
        if let Some(reason) = reason {
            self.exclude(entry.age, reason);
        } else if !self.is_spent {
            self.try_whole(entry);
        } else if self.listed.len() < MOST_LISTED {
            self.leave_out(entry.age);
            self.listed.push(entry);
        } else {
            self.leave_out(entry.age);
            self.is_done = true;
        }
    }

    /// Show a block whole, or stop at it.
    fn try_whole(&mut self, entry: Entry<'a, V>) {
        let sources = sources(&entry, self.settings.keep);
        let measure = self.settings.measure;
        let candidate = Candidate::new(&entry, has_any(&sources), measure, &mut self.output);
        let room = self.left - signed(self.heading_size(&candidate));
        let limits = self.settings.limits.by_rule(entry.max_chars);
        let fitted = fit_whole(&sources, limits, (room, measure), &mut self.output);
        if let Some(fitted) = fitted {
            self.show(&entry, candidate, fitted, "limit");
        } else {
            self.output.go_back(candidate.start);
            self.is_spent = true;
            self.stopped_at = Some(entry);
        }
    }

    fn excluding_setting(&self, entry: &Entry<'a, V>) -> Option<&'static str> {
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

    /// What a block takes beside its texts: its heading, and what it is the first to need.
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

    fn show(&mut self, entry: &Entry<'a, V>, candidate: Candidate, fitted: Fitted, by: &'static str) {
        self.left -= signed(self.heading_size(&candidate) + fitted.size);
        self.shown += 1;
        self.cut += usize::from(fitted.is_cut);
        let (fate, by) = if fitted.is_cut { (Fate::Cut, by) } else { (Fate::Shown, "") };
        self.note(entry.age, fate, by);
        self.counted.insert(entry.order, self.blocks.len());
        if !self.opened.contains(&candidate.section) {
            self.opened.push(candidate.section);
        }
        self.blocks.push(candidate.with_texts(fitted.size, &self.output));
    }

    fn leave_out(&mut self, age: usize) {
        self.left_out += 1;
        self.note(age, Fate::LeftOut, "budget");
    }

    /// The finished context; empty where there is nothing to carry or no room to carry it in.
    pub fn finish(&mut self) -> Output<'a> {
        let measure = self.settings.measure;
        let counts_tokens = !measure.is_characters();
        let left_out = self.settle_stop();
        let mut output = std::mem::take(&mut self.output);
        if self.shown == 0 && self.summary.as_text().is_empty() {
            self.budget_too_small |= self.is_spent;
            self.tokens = counts_tokens.then_some(0);
            return output;
        }
        let mut size = frame_size(measure) + measure.size(self.summary.as_text()) + measure.size(left_out.as_text());
        output.push_ascii(OPEN_MARKER);
        output.push_ascii("\n\n");
        output.push(Piece::own(std::mem::take(&mut self.summary)));
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

    /// The fates of all blocks that were offered.
    pub fn take_trace(&mut self) -> Trace {
        self.trace.take().unwrap_or_default()
    }

    /// Show what fits of the block at which the total was spent, beside the list of those before it.
    fn settle_stop(&mut self) -> OwnedText {
        let room = (self.settings.total / 16).min(room_of(self.left.div_euclid(2)));
        let listed = std::mem::take(&mut self.listed);
        let mut listed: Vec<&Entry<'a, V>> = listed.iter().collect();
        let listing = list_left_out(&listed, (room, self.settings.measure), self.is_done);
        let Some(entry) = self.stopped_at.take() else { return listing };
        let (measure, sources) = (self.settings.measure, sources(&entry, self.settings.keep));
        let candidate = Candidate::new(&entry, has_any(&sources), measure, &mut self.output);
        let left = self.left - signed(measure.size(listing.as_text())) - signed(self.heading_size(&candidate));
        let limits = self.settings.limits.by_rule(entry.max_chars);
        if let Some(fitted) = fit_part(&sources, limits, (left, measure), &mut self.output) {
            self.show(&entry, candidate, fitted, "total");
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

/// What the lines take that open and close a context.
fn frame_size(measure: Measure) -> usize {
    measure.size_ascii(&format!("{OPEN_MARKER}\n\n")) + measure.size_ascii(CLOSE_MARKER)
}
