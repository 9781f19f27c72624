//! One line about a step: what it was about, and what its result says. A line never says more than the result does.

use std::borrow::Cow;
use std::sync::LazyLock;

use ahash::AHashSet;
use aho_corasick::AhoCorasick;

use super::chars::{breaks, is_blank, is_longer, is_space, piece_of, short_line, size, strip};
use super::clean::{clean_file, without_keys};
use super::diff::{counts, diff_lines, without_long_removals};
use super::kinds::{
    ASIDES, ERROR_STARTS, ERRORS, FILTER_KEYS, ITEM_STATES, ITEM_TEXTS, OUTLINE, OWN_FOLDERS, PASSES, QUERY_KEYS,
    RULES, StepKind, first_text, has_failure, is_part_of_plan, path_of, questions_in,
};
use super::other_changes::name_of;
use super::patches::{Action, FILE_LINES, FileChange, MOVE};
use super::plan::item_name;
use super::reads::{lines_shown, may_be_message, read_lines};
use super::steps::{State, Step};
use crate::content::media::is_media_line;
use crate::context::block::{call_title, lines_note, replaced_text};
use crate::dedupe::rules::bare_name;
use crate::json::value::Value;
use crate::text::{OwnedText, Text, grouped};

const MOST_OUTLINED: usize = 1_000;
/// The files of a step of which a line says what became of them.
const MOST_CHANGES: usize = 4;
const TOTAL: &str = "total ";
const PENDING: &str = "issued just before the hand-over, result not seen: check before repeating";
const MISSING: &str = "no result recorded";
const UNRECORDED: &str = "its lines are not recorded";
const ASSERTED: &str = "E   ";
const TRACEBACK: &str = "Traceback (most recent call last)";
/// The lines of a result that may stand in one line.
const MOST_JOINED: usize = 12;
/// The media of a result that are named.
const MOST_MEDIA: usize = 3;
/// The characters that stay for the other lines of a result with media.
const LEAST_BESIDE_MEDIA: usize = 40;

static FIND_ERROR: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| AhoCorasick::new(ERRORS).ok());

/// Writes lines about steps, in which paths in a directory are relative.
#[derive(Debug)]
pub(super) struct Lines {
    /// The directory, without a slash at its end.
    pub(super) directory: String,
    /// The directory, with a slash at its end.
    start: String,
}

impl Lines {
    pub(super) fn new(directory: &str) -> Self {
        let directory = directory.trim_end_matches('/').to_owned();
        Self { start: format!("{directory}/"), directory }
    }

    /// Return a text in which paths in the working directory are relative.
    pub(super) fn short<'t>(&self, text: Cow<'t, str>) -> Cow<'t, str> {
        if self.directory.is_empty() || !text.contains(&self.start) {
            return text;
        }
        Cow::Owned(text.replace(&self.start, ""))
    }

    /// Return what a command printed, in which lines that begin with a path in the working directory are relative.
    pub(super) fn without_folder<'t>(&self, text: Cow<'t, str>) -> Cow<'t, str> {
        if self.directory.is_empty() || !text.contains(&self.start) {
            return text;
        }
        let shown = text.replace(&format!("\n{}", self.start), "\n");
        Cow::Owned(shown.strip_prefix(&*self.start).map_or_else(|| shown.clone(), str::to_owned))
    }

    /// Return a path for a reader: relative in the working directory.
    pub(super) fn path<'p>(&self, path: &'p str) -> &'p str {
        if self.directory.is_empty() {
            return path;
        }
        if path.trim_end_matches('/') == self.directory {
            return ".";
        }
        path.strip_prefix(&*self.start).unwrap_or(path)
    }

    /// Return a command, without the change to the working directory before it.
    pub(super) fn command<'a, V: Value<'a>>(&self, step: &Step<'a, V>) -> String {
        let is_in = |directory: &str| directory.trim_end_matches('/') == self.directory;
        let whole = step.whole_command();
        let command = if is_in(&step.directory) { &*step.command } else { whole.trim_matches('\n') };
        let mut command = without_keys(command);
        if step.has_succeeded() {
            command = super::clean::then(command, without_message);
        }
        let is_here = is_in(&step.start_directory) || step.start_directory.trim_end_matches('/').is_empty();
        if is_here { self.short(command).into_owned() } else { command.into_owned() }
    }

    /// Return the directory in which a command ran, if it is known, is another one, and the command does not say it.
    fn note_of_directory<'a, V: Value<'a>>(&self, step: &Step<'a, V>) -> Option<String> {
        let at = step.directory.trim_end_matches('/');
        let is_told = at.is_empty() || at == self.directory || step.directory != step.start_directory;
        (!is_told).then(|| format!("in {}", short_line(at, 100)))
    }

    /// Return what a call is about: its command, the path of its file, or the call with its arguments.
    pub(super) fn title<'a, V: Value<'a>>(&self, step: &Step<'a, V>, longest: usize) -> String {
        let entry = &step.entry;
        if entry.call.is_none() {
            let name = entry.tool_name.as_utf8();
            return strip(&format!("{} (call not recorded)", short_line(&name, 40))).to_owned();
        }
        if step.kind == StepKind::Command {
            let command = self.command(step);
            let lines: Vec<&str> = command.split('\n').map(strip).filter(|line| !line.is_empty()).collect();
            return format!("$ {}", short_line(&lines.join(" "), longest));
        }
        let paths = step.paths();
        if paths.iter().any(|path| !path.is_empty()) {
            let mut known = AHashSet::new();
            let paths = paths.iter().filter(|path| known.insert(&**path));
            let paths: Vec<&str> = paths.map(|path| self.path(path)).collect();
            return format!("{} {}", step.kind.name(), short_line(&paths.join(", "), longest));
        }
        if step.kind == StepKind::Plan && step.has_succeeded() {
            return short_line(&entry.name().as_utf8(), 40).into_owned();
        }
        if step.kind == StepKind::Question {
            return format!("question {}", short_line(&questions_of(step).join(" / "), longest));
        }
        if step.kind == StepKind::Search {
            let query = first_text(entry.given, QUERY_KEYS);
            if !query.is_empty() {
                let (path, name) = (path_of(entry.given), entry.name().as_utf8());
                let at = if path.is_empty() { String::new() } else { format!(" in {}", self.path(&path)) };
                return format!(
                    "{} {}",
                    short_line(&name, 40),
                    short_line(&format!("{query}{at}{}", filters_of(step, &query)), longest)
                );
            }
        }
        let mut title = OwnedText::default();
        call_title(&mut title, entry, longest);
        self.short(Cow::Owned(title.as_text().to_utf8())).into_owned()
    }

    /// Return what the result says about the call besides its text: its lines, its exit code, that it failed.
    pub(super) fn notes<'a, V: Value<'a>>(&self, step: &Step<'a, V>) -> Vec<String> {
        let mut found = Vec::new();
        if step.kind == StepKind::Read && step.entry.call.is_some() {
            found.extend(lines_shown(step).map(lines_note));
        }
        found.extend(self.note_of_directory(step));
        let mut replacements = step.changes.iter().flat_map(|change| &change.replacements);
        if step.kind == StepKind::Edit && replacements.any(|each| each.is_everywhere) {
            found.push("each occurrence".to_owned());
        }
        let has_code = matches!(step.state, State::Failed | State::Said) && !step.is_read();
        let code = if has_code { &*step.ends().code } else { "" };
        match step.state {
            _ if !code.trim_matches('0').is_empty() => found.push(format!("exit code {code}")),
            State::Failed => found.push("failed".to_owned()),
            State::Rejected => found.push("rejected by the user".to_owned()),
            State::Interrupted => found.push("interrupted".to_owned()),
            _ => {}
        }
        found
    }

    /// Return what a result says in one line: the whole if it is short, else how long it is and its telling lines.
    pub(super) fn outcome<'a, V: Value<'a>>(&self, step: &Step<'a, V>, longest: usize) -> String {
        match step.state {
            State::Pending => PENDING.to_owned(),
            State::Missing => MISSING.to_owned(),
            State::Rejected => {
                let said = step.words_of_user();
                if said.is_empty() { String::new() } else { format!("the user said: {}", short_line(said, longest)) }
            }
            State::Interrupted => String::new(),
            State::Said if step.is_read() && !step.has_media && !may_be_message(step) => about_read(step, longest),
            State::Said if step.is_change() && !step.says_failure() => about_change(step, longest),
            State::Said if is_item(step) => short_line(&about_item(step), longest).into_owned(),
            State::Said if step.kind == StepKind::Plan && step.acknowledges() => String::new(),
            State::Said if step.kind == StepKind::Question => {
                let text = self.short(Cow::Borrowed(&*step.output().text));
                short_line(&text, 3 * longest).into_owned()
            }
            State::Said | State::Failed => self.said(step, longest),
        }
    }

    fn said<'a, V: Value<'a>>(&self, step: &Step<'a, V>, longest: usize) -> String {
        let output = step.ends();
        let lines: Vec<&str> = super::chars::lines(&output.text).map(strip).filter(|line| !line.is_empty()).collect();
        let short = |line: &str| self.short(Cow::Borrowed(line)).into_owned();
        let (Some(first), Some(last)) = (lines.first(), lines.last()) else {
            if !output.left_out.is_empty() {
                return format!("{} and nothing else", output.left_out);
            }
            if step.kind != StepKind::Command && step.entry.text.is_empty() {
                return if step.kind == StepKind::Read { MISSING } else { "an empty result" }.to_owned();
            }
            if output.code.is_empty() || !output.code.trim_matches('0').is_empty() {
                return "no output".to_owned();
            }
            let is_printed = step.command.contains("echo"); // the line with the code is its output
            return format!("exit code {}{}", output.code, if is_printed { "" } else { ", no output" });
        };
        if step.has_media {
            return with_media(&lines, longest);
        }
        if lines.len() <= MOST_JOINED {
            let whole = short(&lines.join(" / "));
            if !is_longer(&whole, longest) {
                return short_line(&whole, longest).into_owned();
            }
        }
        if step.state == State::Failed || step.is_change() {
            return short_line(&short(&telling_line(&output.text)), longest).into_owned();
        }
        let (first, last) = (short(first), short(last));
        let text = &step.entry.text;
        if lines.len() == 1 {
            return format!("{} ({} characters)", short_line(&first, longest), grouped(text.len()));
        }
        let count = step.lines_printed();
        let (count, half) = (grouped(count), longest / 2);
        if step.lists_files() {
            let names = first_names(lines.iter().map(|line| short(line)), longest);
            return format!("{names} … ({count} lines)");
        }
        if step.kind == StepKind::Search {
            return format!("{count} lines, first: {}", short_line(&first, half));
        }
        format!("{} … {} ({count} lines)", short_line(&first, half), short_line(&last, half))
    }
}

/// Return the first entries of a listing, as many as fit in one line.
fn first_names(lines: impl Iterator<Item = String>, longest: usize) -> String {
    let mut lines = lines.peekable();
    let first = lines.peek().cloned().unwrap_or_default();
    let mut names = lines.filter(|line| !OWN_FOLDERS.contains(&line.as_str()) && !line.starts_with(TOTAL));
    let mut said = short_line(&names.next().unwrap_or(first), longest).into_owned();
    for name in names {
        let longer = format!("{said} / {name}");
        if is_longer(&longer, longest) {
            break;
        }
        said = longer;
    }
    short_line(&said, longest).into_owned()
}

/// Return which files a search looked at, in brackets; empty if it looked at all.
fn filters_of<'a, V: Value<'a>>(step: &Step<'a, V>, query: &str) -> String {
    let found = FILTER_KEYS.iter().filter_map(|key| {
        let value = step.given()?.get(*key)?.text()?.as_utf8();
        (!value.is_empty() && value != query).then(|| format!("{} {value}", key.name.as_utf8()))
    });
    let said: Vec<String> = found.collect();
    if said.is_empty() { String::new() } else { format!(" ({})", said.join(", ")) }
}

/// Return true if a call wrote or changed one item of a plan.
pub(super) fn is_item<'a, V: Value<'a>>(step: &Step<'a, V>) -> bool {
    let is_part = || is_part_of_plan(&bare_name(step.entry.tool_name));
    step.kind == StepKind::Plan && step.has_succeeded() && step.entry.call.is_some() && is_part()
}

/// Return the name, the text and the state of an item of a plan, as far as the call has them.
fn about_item<'a, V: Value<'a>>(step: &Step<'a, V>) -> String {
    let given = step.entry.given;
    let name = Cow::Owned(item_name(given));
    let texts = [name, first_text(given, ITEM_TEXTS), first_text(given, ITEM_STATES)];
    texts.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Return the questions that a call asks the user.
pub(super) fn questions_of<'a, V: Value<'a>>(step: &Step<'a, V>) -> Vec<Cow<'a, str>> {
    questions_in(step.entry.given)
}

/// Return the lines about media, whole or as a sign, and of other lines as much as there is room for.
fn with_media(lines: &[&str], longest: usize) -> String {
    let is_medium = |line: &&&str| is_media_line(piece_of(Cow::Borrowed(**line)).text());
    let (media, others): (Vec<&str>, Vec<&str>) = lines.iter().partition(|line| is_medium(line));
    let mut shown = Vec::new();
    let mut room = longest.saturating_sub(LEAST_BESIDE_MEDIA);
    for line in media.iter().take(MOST_MEDIA) {
        let told = if is_longer(line, room) { "[medium]" } else { *line };
        room = room.saturating_sub(size(told) + 3);
        shown.push(Cow::Borrowed(told));
    }
    if media.len() > MOST_MEDIA {
        shown.push(Cow::Owned(format!("and {} more", media.len() - MOST_MEDIA)));
    }
    let others = others.join(" / ");
    let said = short_line(&others, room + LEAST_BESIDE_MEDIA);
    if !said.is_empty() {
        shown.insert(0, said);
    }
    shown.join(" / ")
}

/// Return the line of a failure that says most: what a test asserts, the exception of the last traceback, or the first line
/// that names an error; else the first one with a word of failure, or the last one.
///
/// A line that ends with a colon is one with the next.
pub(super) fn telling_line(text: &str) -> String {
    let mut lines: Vec<Cow<'_, str>> =
        super::chars::lines(text).filter(|line| !is_blank(line)).map(Cow::Borrowed).collect();
    let joined = match lines.as_slice() {
        [label, second, ..] if strip(label).ends_with(':') && !strip(label).contains(' ') => {
            Some(format!("{} {}", strip(label), strip(second)))
        }
        _ => None,
    };
    if let Some(joined) = joined {
        lines.splice(..2, [Cow::Owned(joined)]);
    }
    let place = telling_place(&lines);
    let line = lines.get(place).map_or("", |line| strip(line));
    match lines.get(place + 1).filter(|_| line.ends_with(':')) {
        Some(next) => format!("{line} {}", strip(next)),
        None => line.to_owned(),
    }
}

fn telling_place(lines: &[Cow<'_, str>]) -> usize {
    let asserted = lines.iter().position(|line| line.starts_with(ASSERTED));
    if let Some(place) = asserted.or_else(|| raised(lines)) {
        return place;
    }
    let (mut aside, mut worded) = (None, None);
    for (place, line) in lines.iter().map(|line| strip(line)).enumerate() {
        let is_start = ERROR_STARTS.iter().any(|start| line.starts_with(start));
        if is_start || FIND_ERROR.as_ref().is_some_and(|find| find.is_match(line)) {
            if !ASIDES.iter().any(|start| line.starts_with(start)) {
                return place;
            }
            aside = aside.or(Some(place));
        }
        let is_rule =
            || RULES.iter().any(|rule| line.starts_with(rule)) && RULES.iter().any(|rule| line.ends_with(rule));
        let is_passed = || PASSES.iter().any(|end| line.ends_with(end));
        if worded.is_none() && has_failure(line) && !is_rule() && !is_passed() {
            worded = Some(place);
        }
    }
    aside.or(worded).unwrap_or(lines.len().saturating_sub(1))
}

/// Return the place of the exception after the last traceback.
fn raised(lines: &[Cow<'_, str>]) -> Option<usize> {
    let (mut place, mut indent) = (None, None);
    for (at, line) in lines.iter().enumerate() {
        let own = size(line) - size(line.trim_start_matches(is_space));
        if strip(line).starts_with(TRACEBACK) {
            indent = Some(own);
        } else if indent.is_some_and(|indent| own <= indent) {
            (place, indent) = (Some(at), None);
        }
    }
    place
}

/// Return a number of lines in words.
pub(super) fn number_of_lines(count: usize) -> String {
    format!("{} line{}", grouped(count), if count == 1 { "" } else { "s" })
}

fn about_read<'a, V: Value<'a>>(step: &Step<'a, V>, longest: usize) -> String {
    let read = read_lines(step);
    let (outlined, number) = (outline(read.lines(), longest), number_of_lines(read.count));
    if outlined.is_empty() { number } else { format!("{number}: {outlined}") }
}

/// Return what a step did to its files: to each of the first ones, if there are several.
fn about_change<V>(step: &Step<'_, V>, longest: usize) -> String {
    let changes = step.changes.iter().take(MOST_CHANGES);
    let mut said: Vec<String> = changes.map(|change| about_file(change, longest)).collect();
    if step.changes.len() > 1 {
        for (change, about) in step.changes.iter().zip(&mut said) {
            *about = format!("{}: {about}", name_of(&change.path));
        }
    }
    if step.changes.len() > MOST_CHANGES {
        said.push(format!("and {} more", step.changes.len() - MOST_CHANGES));
    }
    short_line(&said.join("; "), 2 * longest).into_owned()
}

/// Return what a change did to its file.
fn about_file(change: &FileChange<'_>, longest: usize) -> String {
    match change.action {
        Action::Remove => "removed the file".to_owned(),
        Action::Write => {
            let text = clean_file(Cow::Borrowed(&*change.text));
            let text = text.strip_suffix('\n').unwrap_or(&text);
            let (outlined, lines) = (outline(text.split('\n'), longest), number_of_lines(breaks(text) + 1));
            let colon = if outlined.is_empty() { "" } else { ": " };
            format!("wrote {lines}{colon}{outlined}")
        }
        Action::Edit => {
            let ((removed, added), moved) = (lines_of_file(change), &change.moved_to);
            if (removed, added) == (0, 0) {
                return if moved.is_empty() { UNRECORDED.to_owned() } else { format!("moved to {moved}") };
            }
            let at = if moved.is_empty() { String::new() } else { format!("moved to {moved}, ") };
            let is_everywhere = change.replacements.iter().any(|each| each.is_everywhere);
            let places = if is_everywhere { " in each place" } else { "" };
            format!("{at}-{removed} +{added} lines{places}")
        }
    }
}

/// Return how many lines the edits of a step remove, and how many they add.
pub(super) fn lines_of_change<V>(step: &Step<'_, V>) -> (usize, usize) {
    let counted = step.changes.iter().map(lines_of_file);
    counted.fold((0, 0), |all, file| (all.0 + file.0, all.1 + file.1))
}

/// Return how many lines the edits of a file remove, and how many they add.
fn lines_of_file(change: &FileChange<'_>) -> (usize, usize) {
    change.replacements.iter().fold((0, 0), |(removed, added), each| {
        let (out, new) = counts(&diff_lines(&each.old, &each.new));
        (removed + out, added + new)
    })
}

/// Return the changes of an edit or a patch as a difference. In a patch, each file that is not only edited has a line that
/// says what becomes of it, and each of several files has one.
pub(super) fn diff_of<'a, V: Value<'a>>(step: &Step<'a, V>) -> String {
    if step.kind == StepKind::Write || step.changes.is_empty() {
        let change = step.entry.given.map(replaced_text).unwrap_or_default();
        return without_keys(&change.as_text().as_utf8()).into_owned();
    }
    let mut lines = Vec::new();
    for change in &step.changes {
        let is_plain = change.action == Action::Edit && change.moved_to.is_empty() && step.changes.len() == 1;
        let named = FILE_LINES.iter().find(|(_, action)| *action == change.action && !is_plain);
        if let Some((start, _)) = named.filter(|_| step.kind == StepKind::Patch) {
            lines.push(format!("{start}{}", change.path));
        }
        if !change.moved_to.is_empty() {
            lines.push(format!("{MOVE}{}", change.moved_to));
        }
        if change.action == Action::Write {
            let text = change.text.strip_suffix('\n').unwrap_or(&change.text);
            lines.extend(text.split('\n').map(|line| format!("+{line}")));
        }
        for (number, each) in change.replacements.iter().enumerate() {
            if number > 0 {
                lines.push("@@".to_owned());
            }
            lines.extend(without_long_removals(diff_lines(&each.old, &each.new)));
        }
    }
    let mut text = String::new();
    for line in lines {
        text.push_str(&line);
        text.push('\n');
    }
    without_keys(&text).into_owned()
}

/// True for the bytes that begin a line about what a file defines.
static OUTLINE_INITIALS: LazyLock<[bool; 256]> = LazyLock::new(|| {
    let mut found = [false; 256];
    for first in OUTLINE.iter().filter_map(|start| start.bytes().next()) {
        if let Some(place) = found.get_mut(usize::from(first)) {
            *place = true;
        }
    }
    found
});

/// Return what a file defines, in its first lines, as much as there is room for.
fn outline<'t>(lines: impl Iterator<Item = &'t str>, longest: usize) -> String {
    let mut names: Vec<Cow<'t, str>> = Vec::new();
    let mut total = 0;
    for line in lines.take(MOST_OUTLINED) {
        let initial = line.bytes().next().and_then(|first| OUTLINE_INITIALS.get(usize::from(first)));
        if initial == Some(&true) && OUTLINE.iter().any(|start| line.starts_with(start)) {
            let name = name_in(strip(line).trim_end_matches([' ', ':', '{', '(']));
            total += size(&name) + 2;
            if total > longest {
                break;
            }
            names.push(name);
        }
    }
    short_line(&names.join(", "), longest).into_owned()
}

/// Return a line of a definition up to its parameters, without the receiver of a method in Go.
fn name_in(line: &str) -> Cow<'_, str> {
    let (name, rest) = line.split_once('(').unwrap_or((line, ""));
    let method = rest.split_once(')').map_or("", |(_, rest)| rest);
    match strip(method.split('(').next().unwrap_or_default()) {
        method if name == "func " && !method.is_empty() => Cow::Owned(format!("func {method}")),
        _ => Cow::Borrowed(name),
    }
}

/// Return the command of a commit that was made, with the first line of its message alone.
fn without_message(command: &str) -> Cow<'_, str> {
    if !command.contains("git commit") {
        return Cow::Borrowed(command);
    }
    shortened_message(command).map_or(Cow::Borrowed(command), Cow::Owned)
}

fn shortened_message(command: &str) -> Option<String> {
    let (head, rest) = command.split_once("<<")?;
    let (mark, body) = rest.split_once('\n')?;
    let mark = mark.trim_start_matches('-').trim_matches(['\'', '"', ' ']);
    let (message, after) = body.split_once(&*format!("\n{mark}\n"))?;
    if mark.is_empty() || !message.contains('\n') {
        return None;
    }
    let first = message.trim_matches('\n').split('\n').next().unwrap_or_default();
    let head = head.trim_end_matches(super::chars::is_space);
    Some(match (head.strip_suffix("$(cat"), after.strip_prefix(")\"")) {
        (Some(own), Some(after)) if own.ends_with('"') => format!("{own}{first} …\"{after}"),
        _ => format!("{head} <<{mark}\n{first} …\n{mark}\n{after}"),
    })
}

/// Return the name of a tool in lower case.
pub(super) fn lower_name(name: Text<'_>) -> String {
    name.to_utf8().to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::without_message;

    #[test]
    fn a_commit_is_shown_by_the_first_line_of_its_message() {
        let command = "git commit -m \"$(cat <<'EOF'\nFix it\n\nLong.\nEOF\n)\"";
        assert_eq!(without_message(command), "git commit -m \"Fix it …\"");
        assert_eq!(without_message("git commit -m wip"), "git commit -m wip");
    }
}
