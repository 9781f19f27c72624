//! The hand-over: what is shown of a conversation for a model that goes on with it, and in which order the room is spent.
//!
//! State comes first: the last request, the plan, the failures that are open. A part of the rest is for the current text of
//! files, more of it the larger the total is, and a part for the ledger; all else is for the latest steps, which also get
//! what the others leave.
//!
//! ```text
//! frame, summary, working directory           first
//! ## Plan, ## Open Failures, last request     up to a share each
//! ## Files Read, ## Files Changed             a fifth to nearly a half of what is left: the file in work first
//! ## Earlier                                  up to a sixth
//! ## Latest Steps                             everything else
//! ```

use std::borrow::Cow;
use std::fmt::Write as _;
use std::marker::PhantomData;

use ahash::{AHashMap, AHashSet};

use super::chars::{inert_line, is_longer};
use super::clean::without_keys;
use super::failures::{failed_tests, find_resolved, open_failures};
use super::files::{File, Files, find_files};
use super::kinds::{HEADINGS, StepKind};
use super::latest::{Latest, take_latest};
use super::ledger::{Ledger, LedgerWriter};
use super::outcomes::Lines;
use super::passages::{Shown, files_in_work, show_file};
use super::pieces::{LONGEST_INLINE, Paper, Piece, source_of};
use super::plan::{Mark, Plan, find_plan};
use super::spoken::NumberedTurn;
use super::step_text::StepWriter;
use super::steps::Step;
use crate::context::limits::signed;
use crate::context::policy::Settings;
use crate::context::summary::fit_summary;
use crate::json::value::Value;
use crate::text::constants::{CHANGES_HEADING, CLOSE_MARKER, FILES_HEADING, FRAMING, OPEN_MARKER};
use crate::text::truncate::Keep;
use crate::text::{Text, grouped, piece};

const QUOTED: &str = "(as quoted in the summary)";
const ABSOLUTE: [char; 2] = ['/', '~'];
const MOST_FAILURES: usize = 4;
/// The files of which nothing is shown after which no other one is tried: to know the text of a file takes time.
const MOST_MISSES: usize = 3;
/// The calls after a plan from which on their number is told.
const OLD_PLAN: usize = 10;
const SMALL: isize = 3_000;
const MIDDLE: isize = 8_000;

/// Where a hand-over shows a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepPlace {
    /// As a step, with its result.
    Step,
    /// In a line of the ledger.
    Ledger,
    /// By the current text of a file.
    File,
    /// In the line or the plan of a later call.
    Merged,
    /// Nowhere.
    LeftOut,
}

impl StepPlace {
    /// Return the name of the place in a report.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Step => "step",
            Self::Ledger => "ledger",
            Self::File => "file",
            Self::Merged => "merged",
            Self::LeftOut => "left_out",
        }
    }
}

/// The directory to which paths and commands are relative, and what is said of it.
struct Directory<'s> {
    path: &'s str,
    label: &'static str,
}

/// Return the working directory that the session gives for its newest call; else the one in which all commands ran.
///
/// Its path is empty if none is certain.
fn find_directory<'s, V>(steps: &'s [Step<'_, V>]) -> Directory<'s> {
    let mut given = steps.iter().rev().map(|step| &*step.session_directory);
    if let Some(path) = given.find(|directory| !directory.is_empty()) {
        return Directory { path, label: "Working directory" };
    }
    let mut commands = steps.iter().filter(|step| step.kind == StepKind::Command).map(|step| &*step.directory);
    let only = commands.next().filter(|only| only.starts_with(ABSOLUTE) && commands.all(|other| other == *only));
    Directory { path: only.unwrap_or_default(), label: "All commands ran in" }
}

/// A hand-over that is being written.
pub(super) struct HandOver<'s> {
    settings: &'s Settings,
    paper: Paper,
    total: isize,
    left: isize,
    summary: String,
    /// True if the summary was cut.
    pub(super) summary_cut: bool,
    /// True if there was no room for the summary.
    pub(super) has_no_room: bool,
    /// The place of each step, by its number less one; empty if nothing of the steps fits.
    pub(super) places: Vec<StepPlace>,
    /// The numbers of the steps of which a part is shown.
    pub(super) cut: AHashSet<usize>,
    /// The sizes of the steps that are shown with their results, by their numbers.
    pub(super) sizes: AHashMap<usize, isize>,
    /// The size of the context.
    pub(super) size: isize,
}

impl<'s> HandOver<'s> {
    pub(super) fn new(settings: &'s Settings, summary: &piece::Piece<'_>) -> Self {
        let paper = Paper::new(settings.measure, settings.limits);
        let total = signed(settings.total);
        let framing = if settings.framing { FRAMING } else { "" };
        let frame = [&*format!("{OPEN_MARKER}\n\n"), framing, CLOSE_MARKER].map(|text| paper.size(text));
        let mut own = Self {
            settings,
            paper,
            total,
            left: total - frame.iter().sum::<isize>(),
            summary: String::new(),
            summary_cut: false,
            has_no_room: false,
            places: Vec::new(),
            cut: AHashSet::new(),
            sizes: AHashMap::new(),
            size: 0,
        };
        if settings.include_summary {
            let room = total.div_euclid(2).min(own.left);
            let fitted = fit_summary(summary, (room, settings.measure));
            (own.summary_cut, own.has_no_room) = (fitted.is_cut, fitted.has_no_room);
            own.summary = fitted.section.as_text().to_utf8();
            own.left -= paper.size(&own.summary);
        }
        own
    }

    /// Return the context; empty if nothing of the steps fits. `answer` is what the assistant said in the end.
    pub(super) fn write<'a, V: Value<'a>>(
        &mut self,
        steps: &[Step<'a, V>],
        requests: &[NumberedTurn<'a>],
        answer: Option<&NumberedTurn<'a>>,
    ) -> String {
        let paper = self.paper;
        let named = requests.last().map_or(Cow::Borrowed(""), |request| request.text.clone());
        let requests = &self.quoted(requests);
        let directory = find_directory(steps);
        let lines = Lines::new(directory.path);
        let most = self.left.div_euclid(8);
        let at = self.pay(self.directory(&directory), most);
        let plan = find_plan(steps);
        let resolved = find_resolved(steps);
        let failures = open_failures(steps, &resolved);
        let asked = self.request(requests.last(), PhantomData::<V>);
        let mut answered = None;
        if !requests.is_empty() {
            let most = self.left.div_euclid(8);
            answered = self.pay(self.answer(answer, PhantomData::<V>), most);
        }
        let room = self.left.div_euclid(5);
        let plan_text = self.pay(plan.as_ref().and_then(|plan| self.plan(plan, steps, &failures, room)), self.left);
        let room = self.left.div_euclid(7);
        let failed = self.pay(self.failures(&failures, &lines, room), self.left);
        let files = find_files(steps);
        let open = plan.iter().flat_map(|plan| &plan.items).filter(|item| item.mark != Mark::Done);
        let mut words = String::new();
        for item in open {
            words.push_str(&item.text);
            words.push('\n');
        }
        words.push_str(&named);
        let mut writer = StepWriter {
            paper,
            keep: self.settings.keep,
            references: self.settings.references,
            lines: &lines,
            files: &files,
            resolved: &resolved,
            steps,
            runs: AHashMap::new(),
        };
        let rest = self.left;
        let ranked = files_in_work(&files, steps, &words, self.by_total([12, 20, 30]));
        let longest = self.by_total([100, 140, 180]);
        let mut ledger_writer = LedgerWriter::new(steps, requests, &resolved, &files, &lines, (paper, longest));
        let heading = paper.size(HEADINGS.steps);
        let reserve = (rest * self.by_total([16, 15, 15])).div_euclid(100).min(1_500 * paper.token);
        let for_files = if ranked.is_empty() { 0 } else { (rest * self.by_total([8, 12, 25])).div_euclid(100) };
        let room = self.left - reserve - for_files - heading;
        let mut latest = take_latest(steps, requests, asked.as_ref(), &mut writer, (room, for_files));
        let for_files = for_files.min(room + for_files - latest.size);
        let shown = self.show_files(&ranked, &latest, (&files, &lines), for_files);
        let plans = plan.as_ref().map_or(0, |plan| plan.numbers.len());
        let mut is_second = false;
        let (ledger, left) = loop {
            let is_shown = |number: usize| latest.numbers.contains(&number) || latest.merged.contains(&number);
            let left = self.left - heading - latest.size;
            let older = asked.as_ref().filter(|_| latest.begins_after(requests.len(), steps));
            let ledger = ledger_writer.write(is_shown, &latest.turns, left, older);
            let unspent = left - ledger.piece.size;
            // More room may show more steps.
            let is_short = latest.numbers.len() + latest.merged.len() + plans < steps.len();
            if is_second || unspent < self.total.div_euclid(16) || !is_short {
                break (ledger, left);
            }
            is_second = true;
            latest = take_latest(steps, requests, asked.as_ref(), &mut writer, (latest.size + unspent, 0));
        };
        if let Some(request) = requests.last().filter(|_| ledger.has_request) {
            latest.drop_request(request.position);
        }
        latest.grow(steps, &writer, left - ledger.piece.size, self.total.div_euclid(50));
        let has_plan = plan_text.is_some();
        self.place(steps, &latest, &ledger, plan.as_ref().filter(|_| has_plan), &shown);
        let is_empty =
            latest.numbers.is_empty() && ledger.listed.is_empty() && shown.is_empty() && !has_plan && failed.is_none();
        if is_empty && self.summary.is_empty() {
            return String::new();
        }
        let mut text = format!("{OPEN_MARKER}\n\n{}", self.summary);
        let mut add = |piece: &Option<Piece>| text.push_str(piece.as_ref().map_or("", |piece| &piece.text));
        add(&at);
        add(&plan_text);
        add(&failed);
        text.push_str(&ledger.piece.text);
        for (is_changed, heading) in [(false, FILES_HEADING), (true, CHANGES_HEADING)] {
            let mut own = shown.iter().filter(|each| each.is_changed == is_changed).peekable();
            text.push_str(if own.peek().is_some() { heading } else { "" });
            text.extend(own.map(|each| &*each.piece.text));
        }
        self.size = self.total - self.left + ledger.piece.size + latest.size;
        if !latest.pieces.is_empty() {
            self.size += heading;
            text.push_str(HEADINGS.steps);
            text.push_str(&latest.text());
        }
        text.push_str(answered.as_ref().map_or("", |piece| &piece.text));
        if self.settings.framing && is_empty {
            self.size -= paper.size(FRAMING);
        } else if self.settings.framing {
            text.push_str(FRAMING);
        }
        text.push_str(CLOSE_MARKER);
        text
    }

    /// Return a number for a total of less than 3,000 tokens, of less than 8,000, or of more.
    fn by_total<N>(&self, [small, middle, large]: [N; 3]) -> N {
        match self.total.div_euclid(self.paper.token) {
            total if total < SMALL => small,
            total if total < MIDDLE => middle,
            _ => large,
        }
    }

    /// Return a piece that takes at most `most` of the rest, and subtract it.
    fn pay(&mut self, piece: Option<Piece>, most: isize) -> Option<Piece> {
        let piece = piece.filter(|piece| piece.size <= most.min(self.left))?;
        self.left -= piece.size;
        Some(piece)
    }

    /// Return the line about the directory that the paths and commands below it leave out.
    fn directory(&self, found: &Directory<'_>) -> Option<Piece> {
        if found.path.is_empty() {
            return None;
        }
        Some(self.paper.piece(format!("{}: {}\n\n", found.label, inert_line(found.path, 300))))
    }

    /// Return the requests, those of which the summary has all without their texts.
    fn quoted<'a>(&self, requests: &[NumberedTurn<'a>]) -> Vec<NumberedTurn<'a>> {
        let mut requests = requests.to_vec();
        for request in &mut requests {
            let text = request.text.trim_matches(['\n', ' ', '\t']);
            let is_long = text.contains('\n') || is_longer(text, LONGEST_INLINE);
            if is_long && self.summary.contains(text) {
                request.text = Cow::Borrowed(QUOTED);
            }
        }
        requests
    }

    /// Return the last request of the user, in full up to a share of the total.
    fn request<'a, V: Value<'a>>(
        &mut self,
        request: Option<&NumberedTurn<'a>>,
        values: PhantomData<V>,
    ) -> Option<Piece> {
        let most = self.left.div_euclid(5).max(0).min(1_500 * self.paper.token);
        let piece = self.paper.spoken("User", &request?.text, most, values);
        self.pay(piece, most)
    }

    fn answer<'a, V: Value<'a>>(&self, answer: Option<&NumberedTurn<'a>>, values: PhantomData<V>) -> Option<Piece> {
        let Some(answer) = answer else {
            return Some(self.paper.piece(HEADINGS.unanswered.to_owned()));
        };
        let room = self.left.div_euclid(8).min(300 * self.paper.token);
        self.paper.spoken("Assistant, last", &answer.text, room, values)
    }

    /// Return the plan; what is done is counted if not all items fit. A failure since then is named.
    ///
    /// Nothing is said of one that is done, and was for an earlier request.
    fn plan<'a, V: Value<'a>>(
        &self,
        plan: &Plan<'a>,
        steps: &[Step<'a, V>],
        failures: &[&Step<'a, V>],
        room: isize,
    ) -> Option<Piece> {
        let after = steps.len() - plan.number;
        let turn = plan.number.checked_sub(1).and_then(|place| steps.get(place)).map(|step| step.turn);
        let is_earlier = turn < steps.last().map(|step| step.turn);
        let mut note = format!("(written by #{}", plan.number);
        if after >= OLD_PLAN {
            let _ = write!(note, ", {} calls before the end", grouped(after));
        }
        note.push_str(if is_earlier { ", for an earlier request" } else { "" });
        let later = failures.iter().filter(|step| step.number > plan.number);
        let later: Vec<String> = later.map(|step| format!("#{}", step.number)).collect();
        if !later.is_empty() {
            let _ = write!(note, "; failed since then, and open: {}", later.join(", "));
        }
        note.push_str(")\n\n");
        if plan.items.is_empty() {
            let head = self.paper.piece(format!("{}{note}", HEADINGS.plan));
            let source =
                source_of::<V>(Cow::Owned(without_keys(&plan.text).into_owned()), "text", Keep::Head, Text::ascii(""));
            let body = self.paper.fence(&source, self.paper.limits, room.div_euclid(2) - head.size, "\n")?;
            return Some(head.and(&body));
        }
        if is_earlier && plan.items.iter().all(|item| item.mark == Mark::Done) {
            return None;
        }
        let lines = plan.lines();
        let text = |lines: &mut dyn Iterator<Item = &str>| {
            let mut text = HEADINGS.plan.to_owned();
            text.extend(lines);
            self.paper.piece(text + &note)
        };
        let found = text(&mut lines.iter().map(|(_, line)| &**line));
        if found.size <= room {
            return Some(found);
        }
        let open = lines.iter().filter(|(mark, _)| *mark != Mark::Done);
        let mut open: Vec<&str> = open.map(|(_, line)| &**line).collect();
        let done = lines.len() - open.len();
        let first = if done > 0 { format!("- [x] {done} items that are done\n") } else { String::new() };
        loop {
            let rest = lines.len() - done - open.len();
            let more = if rest > 0 { format!("- … {rest} more open items\n") } else { String::new() };
            let mut shown = [&*first].into_iter().chain(open.iter().copied()).chain([&*more]);
            let mut found = text(&mut shown);
            if found.size <= room {
                found.is_cut = true;
                return Some(found);
            }
            if open.is_empty() {
                return None;
            }
            open.truncate(open.len() / 2);
        }
    }

    /// Return a line for each open failure, the newest ones if not all fit.
    fn failures<'a, V: Value<'a>>(&self, failures: &[&Step<'a, V>], lines: &Lines, room: isize) -> Option<Piece> {
        let line = |step: &&Step<'a, V>| {
            let outcome = failed_tests(step).unwrap_or_else(|| lines.outcome(step, 240));
            let said = [lines.notes(step).join("; "), outcome].into_iter().filter(|said| !said.is_empty());
            let said = said.collect::<Vec<_>>().join(": ");
            let title = lines.title(step, 100);
            format!("- #{} {} → {}\n", step.number, inert_line(&title, 160), inert_line(&said, 400))
        };
        let newest = failures.iter().skip(failures.len().saturating_sub(MOST_FAILURES));
        let listed: Vec<String> = newest.map(line).collect();
        (0..listed.len()).find_map(|first| {
            let mut text = HEADINGS.failures.to_owned();
            text.extend(listed.iter().skip(first).map(String::as_str));
            let found = self.paper.piece(text + "\n");
            (found.size <= room).then_some(found)
        })
    }

    /// Return the passages of the files in work that the latest steps do not show, and pay for them.
    fn show_files<'f, 'w, 'a, V: Value<'a>>(
        &mut self,
        ranked: &[&'f File<'w, 'a, V>],
        latest: &Latest,
        (files, lines): (&Files<'w, 'a, V>, &Lines),
        mut room: isize,
    ) -> Vec<Shown<'f, 'w, 'a, V>> {
        let tokens = self.paper.token;
        let (mut is_headed, mut misses) = ([false, false], 0);
        let mut found: Vec<Shown<'f, 'w, 'a, V>> = Vec::new();
        for (place, file) in ranked.iter().enumerate() {
            if self.is_at_step(file, latest) {
                continue;
            }
            let is_changed = file.is_changed();
            let Some(is_headed) = is_headed.get_mut(usize::from(is_changed)) else { continue };
            let heading = match (*is_headed, is_changed) {
                (true, _) => 0,
                (false, true) => self.paper.size(CHANGES_HEADING),
                (false, false) => self.paper.size(FILES_HEADING),
            };
            let most = if place == 0 { (room * 9).div_euclid(10) } else { room.div_euclid(2) };
            if most < 60 * tokens {
                break;
            }
            let Some(shown) = show_file((*file, files), most - heading, &self.paper, lines) else {
                misses += 1;
                if misses == MOST_MISSES {
                    break;
                }
                continue;
            };
            *is_headed = true;
            room -= shown.piece.size + heading;
            self.left -= shown.piece.size + heading;
            found.push(shown);
        }
        found.sort_by_key(|shown| shown.file.last());
        found
    }

    /// Return true if a step shows the text of a file, or in a small total its last change.
    fn is_at_step<'a, V: Value<'a>>(&self, file: &File<'_, 'a, V>, latest: &Latest) -> bool {
        let is_small = self.total < SMALL * self.paper.token;
        latest.numbers.contains(&file.last()) && (!file.is_changed() || file.was_written() || is_small)
    }

    /// Note where each step is shown.
    fn place<'a, V: Value<'a>>(
        &mut self,
        steps: &[Step<'a, V>],
        latest: &Latest,
        ledger: &Ledger,
        plan: Option<&Plan<'a>>,
        shown: &[Shown<'_, '_, 'a, V>],
    ) {
        for (_, number, piece) in latest.pieces.iter().filter(|(_, number, _)| *number > 0) {
            self.sizes.insert(*number, piece.size);
            if piece.is_cut {
                self.cut.insert(*number);
            }
        }
        let events = shown.iter().flat_map(|each| &each.file.events);
        let in_files: AHashSet<usize> = events.map(|(step, _)| step.number).collect();
        for step in steps {
            let number = step.number;
            let place = match () {
                () if latest.numbers.contains(&number) => StepPlace::Step,
                () if ledger.listed.contains(&number) => StepPlace::Ledger,
                () if latest.merged.contains(&number) || ledger.merged.contains(&number) => StepPlace::Merged,
                () if plan.is_some_and(|plan| plan.numbers.contains(&number)) => StepPlace::Merged,
                () if in_files.contains(&number) => StepPlace::File,
                () => StepPlace::LeftOut,
            };
            if matches!(place, StepPlace::Ledger | StepPlace::File) {
                self.cut.insert(number);
            }
            self.places.push(place);
        }
    }
}
