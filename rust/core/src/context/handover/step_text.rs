//! A step as it is written: its heading, the texts of the call, and its result; or a heading and one line about it.

use std::borrow::Cow;
use std::cell::OnceCell;

use ahash::AHashMap;

use super::chars::{inert_line, is_longer, lines, piece_of, string_of};
use super::clean::{printed_file, without_keys};
use super::files::Files;
use super::kinds::StepKind;
use super::other_changes::name_of;
use super::outcomes::{Lines, diff_of, lower_name, number_of_lines, questions_of};
use super::patches::Action;
use super::pieces::{LONGEST_INLINE, Paper, Piece, source_of};
use super::reads::{may_be_message, read_lines};
use super::steps::{State, Step};
use crate::context::block::{change_of, language_of};
use crate::context::fence::{Printer, Source};
use crate::context::limits::signed;
use crate::json::value::Value;
use crate::text::Text;
use crate::text::grouped;
use crate::text::truncate::Keep;

/// The tokens of a shortened text below which a line about it says more; of a file, which begins with imports, twice.
const LEAST_TEXT: isize = 90;
const LONGEST_TITLE: usize = 160;
/// The steps after a search that may have followed its hits.
const NEXT: usize = 8;

/// A part of a step: a finished line, or a text to be fenced.
enum Part<'a, V> {
    Line(String),
    Text(Box<Source<'a, V>>),
}

impl<'a, V: Value<'a>> Part<'a, V> {
    fn len(&self) -> usize {
        match self {
            Self::Line(line) => line.chars().count(),
            Self::Text(source) => source.text.len(),
        }
    }
}

/// Writes steps.
pub(super) struct StepWriter<'s, 'a, V> {
    pub(super) paper: Paper,
    pub(super) keep: Option<Keep>,
    pub(super) references: bool,
    pub(super) lines: &'s Lines,
    pub(super) files: &'s Files<'s, 'a, V>,
    pub(super) resolved: &'s AHashMap<usize, usize>,
    pub(super) steps: &'s [Step<'a, V>],
    /// The first number of each run of equal steps, by the number of the last one.
    pub(super) runs: AHashMap<usize, usize>,
}

/// Return true if a read returned the text of a file.
fn is_file_text<'a, V: Value<'a>>(step: &Step<'a, V>) -> bool {
    step.is_read() && !step.has_media && !may_be_message(step)
}

/// Return the longest text among the arguments of a call, if its heading can't hold it; else nothing.
fn long_argument<'a, V: Value<'a>>(step: &Step<'a, V>) -> Option<Cow<'a, str>> {
    let mut longest: Option<(usize, V)> = None;
    step.given()?.members(&mut |_, value| {
        let size = value.text_len().unwrap_or(0);
        if size > longest.map_or(LONGEST_TITLE, |(most, _)| most) {
            longest = Some((size, value));
        }
        true
    });
    longest.and_then(|(_, value)| value.text()).map(Text::as_utf8)
}

impl<'a, V: Value<'a>> StepWriter<'_, 'a, V> {
    /// Return a step in at most `room`; `None` if not even its heading with a line about the result fits.
    pub(super) fn write(&self, step: &Step<'a, V>, room: isize) -> Option<Piece> {
        if self.written_anew(step).is_some() {
            return self.short(step, room).map(|short| Piece { is_outlined: false, ..short });
        }
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
        let line = (!line.is_empty()).then_some(Part::Line(line));
        let parts = [called.map(Box::new).map(Part::Text), line, returned.map(Box::new).map(Part::Text)];
        let parts: Vec<Part<'a, V>> = parts.into_iter().flatten().collect();
        let mut last = found.clone();
        for (place, part) in parts.iter().enumerate() {
            let rest = parts.get(place + 1..).unwrap_or_default();
            let end = if rest.is_empty() { "\n" } else { "" };
            let body = match part {
                Part::Line(line) => Some(self.paper.piece(format!("{line}{end}"))),
                Part::Text(source) => {
                    let most = left.div_euclid(2).max(left - self.rough(rest));
                    let body = self.paper.fence(source, limits, most, end);
                    let hits = body.as_ref().filter(|body| body.is_cut).and_then(|_| self.hits_first(step, source));
                    hits.map_or(body, |hits| self.paper.fence(&hits, limits, most, end))
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
        let fewest = LEAST_TEXT * self.paper.token * if is_file_text(step) { 2 } else { 1 };
        if last.is_cut && last.size < fewest {
            return self.short(step, room).or(Some(found));
        }
        Some(found)
    }

    /// Return the result of a search, first the hits in files that the next steps read or changed, and a line that says so;
    /// `None` if it has none, or is no result of a search.
    fn hits_first(&self, step: &Step<'a, V>, source: &Source<'a, V>) -> Option<Source<'a, V>> {
        if step.folds() || step.is_read() || step.has_media || !source.language.is_empty() {
            return None;
        }
        let later = self.steps.iter().skip(step.number).take(NEXT);
        let paths: Vec<Cow<'a, str>> = later.flat_map(Step::paths).collect();
        let names: Vec<&str> = paths.iter().map(|path| name_of(path)).filter(|name| !name.is_empty()).collect();
        let text = self.output_of(step);
        let is_hit = |line: &&str| names.iter().any(|name| line.contains(name));
        let (mut hits, others): (Vec<&str>, Vec<&str>) = lines(&text).partition(is_hit);
        if hits.is_empty() || others.is_empty() {
            return None;
        }
        let note = format!("... of the other {} lines:", grouped(others.len()));
        hits.push(&note);
        hits.extend(others);
        let side = self.keep.unwrap_or(Keep::Head);
        Some(source_of(Cow::Owned(hits.join("\n")), "", side, self.reference(step)))
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

    /// Return the number of the last step that wrote the file again which a step had written as a whole, or had failed to.
    fn written_anew(&self, step: &Step<'a, V>) -> Option<usize> {
        let is_write = step.kind == StepKind::Write && matches!(step.state, State::Said | State::Failed);
        let file = step.keys.first().filter(|_| is_write).and_then(|key| self.files.get(key))?;
        Some(file.written).filter(|written| *written > step.number)
    }

    /// Return a step in two lines.
    fn short(&self, step: &Step<'a, V>, room: isize) -> Option<Piece> {
        let outcome = self.lines.outcome(step, LONGEST_INLINE);
        let said = match &*outcome {
            "" => String::new(),
            outcome => format!("→ {}\n", inert_line(outcome, LONGEST_INLINE)),
        };
        let mut found = self.paper.piece(format!("### {}\n{said}\n", self.title(step, false)));
        (found.is_cut, found.is_outlined) = (true, true);
        (found.size <= room).then_some(found)
    }

    fn title(&self, step: &Step<'a, V>, is_long: bool) -> String {
        let mut notes = self.lines.notes(step);
        let resolved = self.resolved.get(&step.number).map(|later| format!("see #{later}"));
        let anew = || self.written_anew(step).map(|later| format!("written anew by #{later}"));
        notes.extend(resolved.or_else(anew));
        notes.extend(Some(self.files.changed_since(step).to_owned()).filter(|note| !note.is_empty()));
        let said = if notes.is_empty() { String::new() } else { format!(" ({})", notes.join("; ")) };
        let title = if is_long { "$".to_owned() } else { self.lines.title(step, LONGEST_TITLE) };
        let first = self.runs.get(&step.number).copied().unwrap_or(step.number);
        let mut number = format!("#{}", step.number);
        if first < step.number {
            number = format!("#{first} to #{}, {} times,", step.number, step.number - first + 1);
        }
        format!("{number} {}{}", inert_line(&title, 2 * LONGEST_TITLE), inert_line(&said, 200))
    }

    fn line_of(&self, step: &Step<'a, V>) -> String {
        match step.state {
            State::Pending | State::Missing | State::Interrupted => return self.lines.outcome(step, LONGEST_INLINE),
            State::Rejected => {
                let said = step.words_of_user();
                let is_told = said.is_empty() || is_long(said);
                return if is_told { String::new() } else { format!("the user said: {said}") };
            }
            State::Said if is_file_text(step) => {
                let is_current = self.files.is_current(step);
                return if is_current { String::new() } else { number_of_lines(read_lines(step).count) };
            }
            State::Said if step.is_change() => return line_of_change(step),
            State::Said | State::Failed => {}
        }
        let (text, left_out) = (self.output_of(step), &step.output().left_out);
        if text.is_empty() {
            return self.lines.outcome(step, LONGEST_INLINE);
        }
        match (is_long(&text), left_out.is_empty()) {
            (false, true) => text.into_owned(),
            (false, false) => format!("{text} (left out: {left_out})"),
            (true, true) => String::new(),
            (true, false) => format!("left out: {left_out}"),
        }
    }

    /// Return the cleaned result. What a command or a search printed has folders once.
    fn output_of<'t>(&self, step: &'t Step<'a, V>) -> Cow<'t, str> {
        let text = Cow::Borrowed(&*step.output().text);
        let is_listing = matches!(step.kind, StepKind::Search | StepKind::Listing | StepKind::Command);
        if is_listing { self.lines.without_folder(text) } else { text }
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
                if is_made { self.change(step, side) } else { None }
            }
            StepKind::Question => {
                let asked = questions_of(step).join("\n");
                is_long(&asked).then(|| source(asked, "text"))
            }
            StepKind::Agent | StepKind::Other if step.state == State::Pending => {
                let asked = without_keys(&long_argument(step)?).into_owned();
                (!asked.is_empty()).then(|| source(asked, "text"))
            }
            _ => None,
        }
    }

    /// Return what a call writes, or the difference that it makes.
    fn change(&self, step: &Step<'a, V>, side: Keep) -> Option<Source<'a, V>> {
        let reference = self.reference(step);
        let source =
            |text: &str, language| source_of(Cow::Owned(without_keys(text).into_owned()), language, side, reference);
        let written = step.changes.first().filter(|change| change.action == Action::Write);
        if let Some(change) = written.filter(|_| step.kind != StepKind::Patch) {
            return (!change.text.is_empty()).then(|| source(&change.text, language_in(&change.path)));
        }
        let diff = diff_of(step);
        if !diff.is_empty() {
            return Some(source(&diff, "diff"));
        }
        let (change, is_diff) = change_of(step.given()?)?;
        let path = step.paths().into_iter().next().unwrap_or_default();
        Some(source(&change.whole().text().as_utf8(), if is_diff { "diff" } else { language_in(&path) }))
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
        if step.state == State::Said && is_file_text(step) {
            if !self.files.is_current(step) {
                return None;
            }
            let (side, path) = (self.keep.unwrap_or(Keep::Head), step.paths().into_iter().next().unwrap_or_default());
            let is_numbered = step.shell_read().is_some_and(|read| read.is_numbered);
            let printed = || printed_file(string_of(&step.entry.text.whole()));
            let text = if is_numbered { printed() } else { read_lines(step).text.clone() };
            return Some(source_of(text, language_in(&path), side, reference));
        }
        let is_change = step.is_change() && step.state == State::Said;
        if is_change && (step.acknowledges() || !step.ends().text.contains('\n')) {
            return None;
        }
        let text = self.output_of(step);
        if !is_long(&text) {
            return None;
        }
        let text = match text {
            Cow::Borrowed(_) => step.output().text.clone(),
            Cow::Owned(text) => Cow::Owned(text),
        };
        let is_command = step.kind == StepKind::Command;
        let has_ends = is_command || matches!(step.kind, StepKind::Other | StepKind::Agent);
        let side = self.keep.unwrap_or(if has_ends { Keep::Ends } else { Keep::Head });
        let printer = if is_command { step.command.clone() } else { Cow::Owned(lower_name(step.entry.tool_name)) };
        let printer = Printer { name: piece_of(printer), is_command: true, draft: OnceCell::new() };
        let content = step.entry.content.filter(|_| step.has_media);
        let source = source_of(text, "", side, reference);
        Some(Source { content, printed_by: Some(printer), has_marker_below: true, ..source })
    }
}

/// Return what the result of a change says, if it is short, or which files are removed.
fn line_of_change<'a, V: Value<'a>>(step: &Step<'a, V>) -> String {
    if !step.acknowledges() {
        let output = &step.ends().text;
        if !output.is_empty() && !is_long(output) {
            return output.to_string();
        }
    }
    let removed = step.changes.iter().filter(|change| change.action == Action::Remove);
    let removed: Vec<&str> = removed.map(|change| &*change.path).collect();
    let is_told = removed.is_empty() || step.kind == StepKind::Patch;
    if is_told { String::new() } else { format!("removed {}", removed.join(", ")) }
}

/// Return true if a text is too long for a line.
fn is_long(text: &str) -> bool {
    text.contains('\n') || is_longer(text, LONGEST_INLINE)
}

/// Return the language of a file.
fn language_in(path: &str) -> &'static str {
    language_of(piece_of(Cow::Borrowed(path)).text())
}
