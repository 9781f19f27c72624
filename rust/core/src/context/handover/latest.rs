//! The latest steps, in time order: each call with its result, and the requests of the user at their places.
//!
//! Steps are taken from the newest backwards. Each may take a share of what is left, so that the newest ones have the most
//! room; where the share is too small for a step's text, its heading and one line about the result are shown.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::marker::PhantomData;

use ahash::{AHashMap, AHashSet};

use super::Turn;
use super::chars::{inert_line, is_longer, piece_of};
use super::clean::without_keys;
use super::files::Files;
use super::kinds::{ACKNOWLEDGED, StepKind};
use super::outcomes::{Lines, diff_of, lines_of_change, lower_name, number_of_lines, questions_of};
use super::passages::Shown;
use super::patches::Action;
use super::pieces::{LONGEST_INLINE, Paper, Piece, source_of};
use super::steps::{State, Step};
use crate::context::block::language_of;
use crate::context::fence::{Printer, Source};
use crate::context::limits::signed;
use crate::json::value::Value;
use crate::text::Text;
use crate::text::truncate::Keep;

const SECTION_OF_READS: &str = "Files Read";
const SECTION_OF_CHANGES: &str = "Files Changed";
/// The newest steps, of which each may take half of what is left; an older one may take a third.
const NEWEST: usize = 3;
const MOST: usize = 60;
/// The tokens of a shortened text below which a line about it says more.
const LEAST_TEXT: isize = 90;
/// The tokens below which no older step is tried.
const LEAST: isize = 24;
const LONGEST_TITLE: usize = 160;
/// The lines of a difference that is shown even if the new text stands in the section of its file.
const LONGEST_DIFF: usize = 16;

/// A part of a step: a finished line, or a text to be fenced.
enum Part<'a, V> {
    Line(String),
    Text(Source<'a, V>),
}

impl<'a, V: Value<'a>> Part<'a, V> {
    fn len(&self) -> usize {
        match self {
            Self::Line(line) => line.chars().count(),
            Self::Text(source) => source.text.len(),
        }
    }
}

/// Writes steps. `shown` are the passages of files that the context has, by the keys of the files.
pub(super) struct StepWriter<'s, 'a, V> {
    pub(super) paper: Paper,
    pub(super) keep: Option<Keep>,
    pub(super) references: bool,
    pub(super) lines: &'s Lines,
    pub(super) files: &'s Files<'s, 'a, V>,
    pub(super) resolved: &'s AHashMap<usize, usize>,
    pub(super) shown: AHashMap<&'s str, &'s Shown<'s, 's, 'a, V>>,
}

impl<'s, 'a, V: Value<'a>> StepWriter<'s, 'a, V> {
    /// Return a step in at most `room`; `None` if not even its heading with a line about the result fits.
    fn write(&self, step: &Step<'a, V>, room: isize) -> Option<Piece> {
        let (called, returned) = (self.text_of_call(step), self.text_of_result(step));
        let said = self.line_of(step);
        let is_long = step.kind == StepKind::Command && called.is_some();
        let mut head = format!("### {}\n", self.title(step, is_long));
        let mut line = match &*said {
            "" => String::new(),
            said => format!("→ {}\n", inert_line(said, 2 * LONGEST_INLINE)),
        };
        if called.is_none() {
            head.push_str(&line);
            line.clear();
        }
        if called.is_none() && line.is_empty() && returned.is_none() {
            head.push('\n');
        }
        let mut found = self.paper.piece(head);
        let mut left = room - found.size;
        let limits = self.paper.limits.by_rule(step.entry.max_chars);
        let line = (!line.is_empty()).then(|| Part::Line(line));
        let parts = [called.map(Part::Text), line, returned.map(Part::Text)];
        let parts: Vec<Part<'a, V>> = parts.into_iter().flatten().collect();
        let mut last = found.clone();
        for (place, part) in parts.iter().enumerate() {
            let rest = parts.get(place + 1..).unwrap_or_default();
            let end = if rest.is_empty() { "\n" } else { "" };
            let body = match part {
                Part::Line(line) => Some(self.paper.piece(format!("{line}{end}"))),
                Part::Text(source) => {
                    let most = left.div_euclid(2).max(left - self.rough(rest));
                    self.paper.fence(source, limits, most, end)
                }
            };
            let Some(body) = body.filter(|body| body.size <= left) else { return self.short(step, room) };
            left -= body.size;
            found = found.and(&body);
            last = body;
        }
        if left < 0 {
            return None;
        }
        if last.is_cut && last.size < LEAST_TEXT * self.paper.token {
            return self.short(step, room).or(Some(found));
        }
        Some(found)
    }

    /// Return about how much some texts take.
    fn rough(&self, parts: &[Part<'a, V>]) -> isize {
        if parts.is_empty() {
            return 0;
        }
        let chars = signed(parts.iter().map(Part::len).sum());
        let share = if self.paper.token > 1 { 1 } else { 3 };
        chars / share + 12 * self.paper.token
    }

    /// Return a step in two lines.
    fn short(&self, step: &Step<'a, V>, room: isize) -> Option<Piece> {
        let outcome = self.lines.outcome(step, LONGEST_INLINE);
        let said = match &*outcome {
            "" => String::new(),
            outcome => format!("→ {}\n", inert_line(outcome, LONGEST_INLINE)),
        };
        let mut found = self.paper.piece(format!("### {}\n{said}\n", self.title(step, false)));
        found.is_cut = true;
        (found.size <= room).then_some(found)
    }

    fn title(&self, step: &Step<'a, V>, is_long: bool) -> String {
        let mut notes = self.lines.notes(step);
        notes.extend(self.resolved.get(&step.number).map(|later| format!("see #{later}")));
        notes.extend(self.changed_after(step).map(|number| format!("changed since, by #{number}")));
        let said = if notes.is_empty() { String::new() } else { format!(" ({})", notes.join("; ")) };
        let title = if is_long { "$".to_owned() } else { self.lines.title(step, LONGEST_TITLE) };
        format!("#{} {}{}", step.number, inert_line(&title, 2 * LONGEST_TITLE), inert_line(&said, 200))
    }

    /// Return the number of the step that changed the file after it was read.
    fn changed_after(&self, step: &Step<'a, V>) -> Option<usize> {
        let key = step.keys.first().filter(|_| step.kind == StepKind::Read)?;
        self.files.changed_after(self.files.get(key)?, step)
    }

    fn line_of(&self, step: &Step<'a, V>) -> String {
        match step.state {
            State::Pending | State::Missing | State::Interrupted => return self.lines.outcome(step, LONGEST_INLINE),
            State::Rejected => {
                let said = step.words_of_user();
                let is_told = said.is_empty() || is_long(said);
                return if is_told { String::new() } else { format!("the user said: {said}") };
            }
            State::Said if step.kind == StepKind::Read && !step.has_media => {
                if self.changed_after(step).is_none() && !self.covers(step) {
                    return String::new();
                }
                return number_of_lines(step.read().count) + &self.pointer(step);
            }
            State::Said if step.is_change() => return self.line_of_change(step),
            State::Said | State::Failed => {}
        }
        let output = step.output();
        if output.text.is_empty() {
            return self.lines.outcome(step, LONGEST_INLINE);
        }
        let left_out = &output.left_out;
        match (is_long(&output.text), left_out.is_empty()) {
            (false, true) => output.text.to_string(),
            (false, false) => format!("{} (left out: {left_out})", output.text),
            (true, true) => String::new(),
            (true, false) => format!("left out: {left_out}"),
        }
    }

    fn line_of_change(&self, step: &Step<'a, V>) -> String {
        if self.covers(step) {
            return self.lines.outcome(step, 80) + &self.pointer(step);
        }
        let removed = step.changes.iter().filter(|change| change.action == Action::Remove);
        let removed: Vec<&str> = removed.map(|change| &*change.path).collect();
        let is_told = removed.is_empty() || step.kind == StepKind::Patch;
        if is_told { String::new() } else { format!("removed {}", removed.join(", ")) }
    }

    /// Return the passage of the file that a step read or changed.
    fn shown_of(&self, key: Option<&Cow<'a, str>>) -> Option<&'s Shown<'s, 's, 'a, V>> {
        self.shown.get(&**key?).copied()
    }

    /// Return true if the context has the current text of what a step read or changed, so that it needs no repeat.
    fn covers(&self, step: &Step<'a, V>) -> bool {
        let only = step.keys.first().filter(|_| step.keys.len() == 1);
        let Some(shown) = self.shown_of(only) else { return false };
        if step.kind == StepKind::Read {
            let read = step.read();
            let first = signed(read.first.max(1));
            return shown.first <= first && first + signed(read.count) - 1 <= shown.last;
        }
        if step.kind == StepKind::Edit {
            let (removed, added) = lines_of_change(step);
            if removed + added <= LONGEST_DIFF {
                return false;
            }
        }
        let has = |new: &str| shown.piece.text.contains(new.trim_matches('\n'));
        step.changes.iter().all(|change| match change.action {
            Action::Write => has(&change.text),
            _ => change.replacements.iter().all(|each| has(&each.new)),
        })
    }

    fn pointer(&self, step: &Step<'a, V>) -> String {
        let Some(shown) = self.shown_of(step.keys.first()) else { return String::new() };
        let section = if shown.is_changed { SECTION_OF_CHANGES } else { SECTION_OF_READS };
        format!("; lines {}-{} as they are now: {section}", shown.first, shown.last)
    }

    fn reference(&self, step: &Step<'a, V>) -> Text<'a> {
        if self.references { step.entry.call_id } else { Text::ascii("") }
    }

    /// Return the text of a call that needs a fence: a long command, a change, a question.
    fn text_of_call(&self, step: &Step<'a, V>) -> Option<Source<'a, V>> {
        let side = self.keep.unwrap_or(Keep::Head);
        let source = |text: String, language| source_of(Cow::Owned(text), language, side, self.reference(step));
        let is_long = |text: &str| text.contains('\n') || is_longer(text, LONGEST_TITLE);
        match step.kind {
            StepKind::Command => {
                let command = self.lines.command(step);
                let command = command.trim_matches('\n');
                is_long(command).then(|| source(command.to_owned(), "sh"))
            }
            StepKind::Edit | StepKind::Write | StepKind::Patch => {
                let is_made = !matches!(step.state, State::Missing | State::Interrupted);
                if !is_made || (step.state == State::Said && self.covers(step)) {
                    return None;
                }
                let (text, language) = match step.changes.first().filter(|_| step.kind == StepKind::Write) {
                    Some(change) => (without_keys(&change.text).into_owned(), language_in(&change.path)),
                    None => (diff_of(step), "diff"),
                };
                (!text.is_empty()).then(|| source(text, language))
            }
            StepKind::Question => {
                let asked = questions_of(step).join("\n");
                is_long(&asked).then(|| source(asked, "text"))
            }
            _ => None,
        }
    }

    /// Return the result, unless a line says it all.
    fn text_of_result(&self, step: &Step<'a, V>) -> Option<Source<'a, V>> {
        if !matches!(step.state, State::Said | State::Failed | State::Rejected) {
            return None;
        }
        let reference = self.reference(step);
        if step.state == State::Rejected {
            let said = step.words_of_user();
            return is_long(said).then(|| source_of(Cow::Owned(said.to_owned()), "text", Keep::Head, reference));
        }
        if step.kind == StepKind::Read && step.state == State::Said && !step.has_media {
            if self.changed_after(step).is_some() || self.covers(step) {
                return None;
            }
            let (side, path) = (self.keep.unwrap_or(Keep::Head), step.paths().into_iter().next().unwrap_or_default());
            return Some(source_of(step.read().text.clone(), language_in(&path), side, reference));
        }
        if step.is_change() && step.state == State::Said {
            let output = &step.ends().text;
            if !output.contains('\n') || ACKNOWLEDGED.iter().any(|start| output.starts_with(start)) {
                return None;
            }
        }
        let text = &step.output().text;
        if !is_long(text) {
            return None;
        }
        let is_command = step.kind == StepKind::Command;
        let has_ends = is_command || matches!(step.kind, StepKind::Other | StepKind::Agent);
        let side = self.keep.unwrap_or(if has_ends { Keep::Ends } else { Keep::Head });
        let printer = if is_command { step.command.clone() } else { Cow::Owned(lower_name(step.entry.tool_name)) };
        let printer = Printer { name: piece_of(printer), is_command: true, draft: OnceCell::new() };
        let content = step.entry.content.filter(|_| step.has_media);
        Some(Source { content, printed_by: Some(printer), ..source_of(text.clone(), "", side, reference) })
    }
}

/// Return true if a text is too long for a line.
fn is_long(text: &str) -> bool {
    text.contains('\n') || is_longer(text, LONGEST_INLINE)
}

/// Return the language of a file.
fn language_in(path: &str) -> &'static str {
    language_of(piece_of(Cow::Borrowed(path)).text())
}

/// The latest steps that fit, and the requests between them.
#[derive(Debug, Default)]
pub(super) struct Latest {
    /// The pieces with their places in time: the position of the message, and the number of the call.
    pub(super) pieces: Vec<(usize, usize, Piece)>,
    /// The numbers of the calls that are shown.
    pub(super) numbers: AHashSet<usize>,
    pub(super) turns: AHashSet<usize>,
    pub(super) size: isize,
}

impl Latest {
    fn add(&mut self, position: usize, number: usize, piece: Piece) {
        self.size += piece.size;
        self.pieces.push((position, number, piece));
    }

    /// Spend what is left on the steps that were shortened, the newest first.
    pub(super) fn grow<'a, V: Value<'a>>(
        &mut self,
        steps: &[Step<'a, V>],
        writer: &StepWriter<'_, 'a, V>,
        mut room: isize,
        least: isize,
    ) {
        for (_, number, piece) in &mut self.pieces {
            if room < least {
                return;
            }
            let step = number.checked_sub(1).filter(|_| piece.is_cut).and_then(|place| steps.get(place));
            let grown = step.and_then(|step| writer.write(step, piece.size + room));
            if let Some(grown) = grown.filter(|grown| grown.size > piece.size) {
                room -= grown.size - piece.size;
                self.size += grown.size - piece.size;
                *piece = grown;
            }
        }
    }

    /// Return the pieces in time order.
    pub(super) fn text(&mut self) -> String {
        self.pieces.sort_by_key(|(position, number, _)| (*position, *number));
        self.pieces.iter().map(|(_, _, piece)| &*piece.text).collect()
    }
}

/// Return the newest steps that fit into a room. `last_request` is paid for already.
pub(super) fn take_latest<'a, V: Value<'a>>(
    steps: &[Step<'a, V>],
    requests: &[Turn<'a>],
    last_request: Option<&Piece>,
    writer: &StepWriter<'_, 'a, V>,
    room: isize,
) -> Latest {
    let mut found = Latest::default();
    let paper = &writer.paper;
    let mut turn = requests.len();
    if let (Some(request), Some(piece)) = (requests.last(), last_request) {
        found.add(request.position, 0, Piece { size: 0, ..piece.clone() });
        found.turns.insert(request.position);
        turn -= 1;
    }
    let mut left = room;
    for step in steps.iter().rev().take(MOST) {
        if left < LEAST * paper.token {
            break;
        }
        if step.kind == StepKind::Plan && step.has_succeeded() {
            continue;
        }
        while turn > step.turn {
            turn -= 1;
            let Some(request) = requests.get(turn) else { continue };
            if let Some(asked) = paper.spoken("User", &request.text, left.div_euclid(3), PhantomData::<V>) {
                left -= asked.size;
                found.add(request.position, 0, asked);
                found.turns.insert(request.position);
            }
        }
        let share = left.div_euclid(if found.numbers.len() < NEWEST { 2 } else { 3 });
        let most = share.max(left.min(60 * paper.token));
        let Some(piece) = writer.write(step, most) else { break };
        left -= piece.size;
        found.numbers.insert(step.number);
        found.add(step.entry.position, step.number, piece);
    }
    found
}
