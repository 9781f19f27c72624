//! The files of a conversation: the steps that read each, changed it, or may have changed it.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::sync::LazyLock;

use ahash::AHashMap;
use aho_corasick::AhoCorasick;

use super::chars::{breaks, is_space, lines};
use super::kinds::{
    CHANGING, CHECKOUTS, FORMATTERS, GIT_VALUES, MOVING, NEW_BRANCH, RECORDS, REMOTE, RESETS, REWRITTEN, StepKind,
    UNCHANGED, VIEWS,
};
use super::patches::{Action, FileChange, Replacement};
use super::reads::{may_be_message, read_lines};
use super::shell_reads::Read;
use super::steps::{State, Step};
use crate::dedupe::shell::has_side_effects;
use crate::json::value::Value;

const BETWEEN: &str = "\t\n;&|()<>'\"`";
const DIVIDERS: [char; 4] = [';', '&', '|', '\n'];
/// The edits after a read, and the lines of each, of which it is asked if they touched what was read.
const MOST_COMPARED: usize = 200;

/// The words without which a command changes no file.
static FIND_CHANGE: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    let words = [CHANGING, FORMATTERS, &["git", ">"]].concat();
    AhoCorasick::new(words).ok()
});

/// A step that read a file, or changed it.
pub(super) type Event<'s, 'a, V> = (&'s Step<'a, V>, Option<&'s FileChange<'a>>);

/// A file that calls named, with its events. `unknown` are the changes that no event of its own tells of, and `unseen` the
/// changes whose result was not seen.
#[derive(Debug)]
pub(super) struct File<'s, 'a, V> {
    pub(super) key: &'s str,
    pub(super) path: Cow<'a, str>,
    pub(super) events: Vec<Event<'s, 'a, V>>,
    pub(super) unseen: Vec<usize>,
    /// The numbers of the steps after which its text is unknown, oldest first, once they were looked up.
    unknown: OnceCell<Vec<usize>>,
}

impl<'s, 'a, V> File<'s, 'a, V> {
    /// The steps that changed it.
    pub(super) fn edits(&self) -> impl DoubleEndedIterator<Item = &'s Step<'a, V>> {
        self.events.iter().filter(|(_, change)| change.is_some()).map(|(step, _)| *step)
    }

    /// Return true if a step changed it.
    pub(super) fn is_changed(&self) -> bool {
        self.edits().next().is_some()
    }

    /// Return true if its last event is that a step wrote it as a whole.
    pub(super) fn was_written(&self) -> bool {
        let change = self.events.last().and_then(|(_, change)| *change);
        change.is_some_and(|change| change.action == Action::Write)
    }

    /// The number of the last step that read or changed it.
    pub(super) fn last(&self) -> usize {
        self.events.last().map_or(0, |(step, _)| step.number)
    }
}

/// The files that calls read or changed, in the order in which they were named first.
#[derive(Debug)]
pub(super) struct Files<'s, 'a, V> {
    pub(super) all: Vec<File<'s, 'a, V>>,
    places: AHashMap<&'s str, usize>,
    others: OtherChanges<'s>,
}

impl<'s, 'a, V: Value<'a>> Files<'s, 'a, V> {
    /// Return the file with a key.
    pub(super) fn get(&self, key: &str) -> Option<&File<'s, 'a, V>> {
        self.all.get(*self.places.get(key)?)
    }

    /// Return the numbers of the steps after which the text of a file is unknown, oldest first.
    pub(super) fn unknown<'f>(&self, file: &'f File<'_, 'a, V>) -> &'f [usize] {
        file.unknown.get_or_init(|| {
            let mut found = self.others.of(file);
            found.sort_unstable();
            found
        })
    }

    /// Return a note about the step that changed, or may have changed, what a step read of a file; empty if none did.
    pub(super) fn changed_since<'t>(&self, step: &'t Step<'a, V>) -> &'t str {
        step.since.get_or_init(|| {
            let file = step.keys.first().filter(|_| step.is_read()).and_then(|key| self.get(key));
            file.map_or_else(String::new, |file| self.since(step, file))
        })
    }

    /// Return true if nothing may have changed what a step read. The numbers of its lines may be other ones now.
    pub(super) fn is_current(&self, step: &Step<'a, V>) -> bool {
        !self.changed_since(step).contains("changed")
    }

    fn since(&self, step: &Step<'a, V>, file: &File<'s, 'a, V>) -> String {
        let mut renumbered = String::new();
        let later = self.later(file, step.number);
        for (number, change) in later.iter().take(MOST_COMPARED) {
            let Some(change) = change else { return format!("maybe changed since, by #{number}") };
            let read = read_lines(step);
            if read.is_whole || touches(change, read) {
                return format!("changed since, by #{number}");
            }
            let is_longer = |each: &Replacement<'a>| breaks(&each.old) != breaks(&each.new);
            if renumbered.is_empty() && change.replacements.iter().any(is_longer) {
                renumbered = format!("numbered as before #{number}");
            }
        }
        match later.last().filter(|_| later.len() > MOST_COMPARED) {
            Some((number, _)) => format!("changed since, by #{number}"),
            None => renumbered,
        }
    }

    /// Return what changed a file after a step, or may have: oldest first, without a change if it may only have.
    fn later<'f>(&self, file: &'f File<'s, 'a, V>, step: usize) -> Vec<(usize, Option<&'f FileChange<'a>>)> {
        let unknown = self.unknown(file);
        let unknown = unknown.iter().skip(unknown.partition_point(|number| *number <= step));
        let mut found: Vec<(usize, Option<&'f FileChange<'a>>)> = unknown.map(|number| (*number, None)).collect();
        let first = file.events.partition_point(|(other, _)| other.number <= step);
        let events = file.events.iter().skip(first);
        found.extend(events.filter_map(|(other, change)| Some((other.number, Some((*change)?)))));
        found.sort_by_key(|(number, _)| *number);
        found
    }
}

/// Return true unless a change left the lines that were read as they are: an edit of other lines.
fn touches(change: &FileChange<'_>, read: &Read<'_>) -> bool {
    let is_plain = change.action == Action::Edit && change.moved_to.is_empty() && !change.replacements.is_empty();
    !is_plain || change.replacements.iter().any(|each| overlaps(&each.old, &read.text))
}

/// Return true if an old text is among lines, or its lines begin or end among them; also if that is not known.
fn overlaps(old: &str, text: &str) -> bool {
    if old.is_empty() || breaks(old) > MOST_COMPARED || format!("\n{text}\n").contains(old) {
        return true;
    }
    memchr::memchr_iter(b'\n', old.as_bytes()).any(|at| {
        let (before, after) = old.split_at(at);
        let after = after.strip_prefix('\n').unwrap_or_default();
        (!before.is_empty() && text.ends_with(before)) || (!after.is_empty() && text.starts_with(after))
    })
}

/// The path and the key of a file, and the number of a step that changed it.
type Changed<'s> = (Cow<'s, str>, &'s str, usize);

/// The numbers of steps that may have changed files in a way that can't be replayed: by commands, or under another path.
///
/// They are kept by the name of a file, and looked up for the few files that may be shown, so that many commands and many
/// files take time for each command and each file, and not for each pair.
#[derive(Debug, Default)]
struct OtherChanges<'s> {
    everywhere: Vec<usize>,
    by_name: AHashMap<Cow<'s, str>, Vec<usize>>,
    by_folder: Vec<(String, usize)>,
    /// The files that were changed, by their names.
    edits: AHashMap<Cow<'s, str>, Vec<Changed<'s>>>,
}

impl<'s> OtherChanges<'s> {
    /// Return the numbers of the steps that may have changed a file.
    fn of<V>(&self, file: &File<'_, '_, V>) -> Vec<usize> {
        let (path, name) = (&*file.path, name_of(&file.path));
        let named = |name: &str| self.by_name.get(name).into_iter().flatten().copied();
        let mut found = self.everywhere.clone();
        found.extend(named(name));
        if let Some((_, end)) = name.rsplit_once(' ') {
            found.extend(named(end)); // words of a command end at a blank, also in quotes
        }
        let is_in = |folder: &str| {
            folder.strip_prefix('/').is_some_and(|start| path.starts_with(start)) || path.contains(folder)
        };
        found.extend(self.by_folder.iter().filter(|(folder, _)| is_in(folder)).map(|(_, number)| *number));
        let edits = self.edits.get(name).into_iter().flatten();
        let same = edits.filter(|(other, key, _)| *key != file.key && may_be_same(other, path));
        found.extend(same.map(|(_, _, number)| *number));
        found
    }

    /// Note a step that may have changed files with this name.
    fn note(&mut self, name: Cow<'s, str>, number: usize) {
        let numbers = self.by_name.entry(name).or_default();
        if numbers.last() != Some(&number) {
            numbers.push(number);
        }
    }
}

/// Return true if two paths may be of one file: one is the end of the other, as where no directory is known.
fn may_be_same(one: &str, other: &str) -> bool {
    let (longer, shorter) = if one.len() < other.len() { (other, one) } else { (one, other) };
    let rest = longer.strip_suffix(shorter);
    rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
}

/// Return the files that calls read or changed, with the events of each.
pub(super) fn find_files<'s, 'a, V: Value<'a>>(steps: &'s [Step<'a, V>]) -> Files<'s, 'a, V> {
    let (places, others) = (AHashMap::new(), OtherChanges::default());
    let mut files = Files { all: Vec::new(), places, others };
    for step in steps {
        if step.kind == StepKind::Command && !step.is_read() {
            if !matches!(step.state, State::Rejected | State::Interrupted) {
                note_command(step, &mut files.others);
            }
            continue;
        }
        if step.is_change() && matches!(step.state, State::Pending | State::Missing | State::Interrupted) {
            for place in step.keys.iter().filter_map(|key| files.places.get(&**key)) {
                files.all.get_mut(*place).into_iter().for_each(|file| file.unseen.push(step.number));
            }
        }
        let is_known = step.has_succeeded() && !step.has_media && !step.keys.is_empty();
        if is_known && !(step.is_read() && may_be_message(step)) {
            files.add(step);
        }
    }
    files
}

impl<'s, 'a, V: Value<'a>> Files<'s, 'a, V> {
    /// Add the events of a step that read or changed files.
    fn add(&mut self, step: &'s Step<'a, V>) {
        let is_doubtful = step.is_change() && step.says_failure();
        let read = [None];
        let changes = step.changes.iter().map(Some).chain(read.into_iter().filter(|_| step.changes.is_empty()));
        for ((key, path), change) in step.keys.iter().zip(step.paths()).zip(changes) {
            let next = self.all.len();
            let place = *self.places.entry(&**key).or_insert(next);
            if place == next {
                let (events, unseen, unknown) = (Vec::new(), Vec::new(), OnceCell::new());
                self.all.push(File { key, path, events, unseen, unknown });
            }
            if let Some(file) = self.all.get_mut(place) {
                file.events.push((step, change));
            }
            if let Some(change) = change {
                let name = name_of(&change.path);
                let edits = self.others.edits.entry(Cow::Borrowed(name)).or_default();
                edits.push((Cow::Borrowed(&*change.path), key, step.number));
                if is_doubtful {
                    self.others.note(Cow::Borrowed(name), step.number);
                }
            }
        }
    }
}

/// Return the last name of a path.
pub(super) fn name_of(path: &str) -> &str {
    let slashes = ['/', '\\'];
    path.trim_end_matches(slashes).rsplit(slashes).next().unwrap_or_default()
}

/// Note a command that may have changed files: those that it names, or all if it changes the work tree.
fn note_command<'s, 'a, V: Value<'a>>(step: &'s Step<'a, V>, others: &mut OtherChanges<'s>) {
    let command = without_bodies(&step.command);
    if FIND_CHANGE.as_ref().is_some_and(|find| !find.is_match(command)) {
        return; // most commands only read
    }
    let found = words_of(command);
    let has_any = |names: &[&str]| found.iter().any(|word| names.contains(&&**word));
    if has_any(FORMATTERS) && lines(&step.ends().text).any(says_rewritten) {
        others.everywhere.push(step.number);
        return;
    }
    let is_possible = has_any(CHANGING) || has_any(&["git"]) || command.contains('>');
    if !is_possible || !has_side_effects(command) {
        return;
    }
    let parts: Vec<Vec<Cow<'s, str>>> = command.split(DIVIDERS).map(words_of).collect();
    let in_tree = parts.iter().filter(|own| changes_tree(own)).count();
    let says_unchanged = |line: &&str| UNCHANGED.iter().any(|part| line.contains(part));
    if in_tree > 0 && lines(&step.ends().text).filter(says_unchanged).count() < in_tree {
        let named: Vec<_> = parts.iter().filter(|own| changes_tree(own)).map(|own| checked_out(own)).collect();
        if named.iter().any(Vec::is_empty) {
            others.everywhere.push(step.number);
            return;
        }
        for path in named.into_iter().flatten() {
            others.note(own_name(path), step.number);
            others.by_folder.push((format!("/{}/", path.trim_matches(['.', '/'])), step.number));
        }
    }
    if has_any(MOVING) {
        let folders = found.iter().map(|word| word.strip_prefix("~/").unwrap_or(word).trim_matches(['.', '/']));
        let folders = folders.filter(|folder| !folder.is_empty());
        others.by_folder.extend(folders.map(|folder| (format!("/{folder}/"), step.number)));
    }
    for own in &parts {
        let is_copy = own.len() > 2 && own.first().is_some_and(|word| word == "cp");
        let words = own.iter().skip(1).filter(|word| is_copy && !word.starts_with('-'));
        let words: Vec<&Cow<'s, str>> = words.collect();
        if let Some((target, sources)) = words.split_last() {
            others.note(own_name(target), step.number);
            for name in sources.iter().map(|source| own_name(source)) {
                // The target may be a folder.
                let path = format!("{}/{name}", target.trim_end_matches('/'));
                let path = path.strip_prefix("./").map(str::to_owned).unwrap_or(path);
                others.edits.entry(name).or_default().push((Cow::Owned(path), "", step.number));
            }
        } else if !is_copy && !changes_tree(own) && git_command(own).is_none_or(|name| !RECORDS.contains(&name)) {
            for word in own {
                others.note(own_name(word), step.number);
            }
        }
    }
}

/// Return a command without the lines behind `<<`, if they go to a program on another host, or to git as a message.
fn without_bodies(command: &str) -> &str {
    let Some((head, _)) = command.split_once("<<") else { return command };
    let line = head.trim_end_matches(is_space).rsplit('\n').next().unwrap_or_default();
    let mut words = super::chars::words(line);
    let (first, second) = (words.next().unwrap_or_default(), words.next());
    let is_message = REMOTE.contains(&first) || second.unwrap_or(first) == "commit";
    if is_message { head } else { command }
}

/// Return true if a line says that a formatter changed files, and does not speak of what would be.
fn says_rewritten(line: &str) -> bool {
    !line.contains("would") && REWRITTEN.iter().any(|part| line.contains(part))
}

/// Return the words that are paths which a command of git restores; none if it may change every file.
fn checked_out<'w, 's>(own: &'w [Cow<'s, str>]) -> Vec<&'w Cow<'s, str>> {
    let after = |name: &str| own.iter().position(|word| word == name).and_then(|place| own.get(place + 1..));
    let rest = after("--").or_else(|| after("restore")).unwrap_or_default();
    let paths: Vec<&Cow<'s, str>> = rest.iter().filter(|path| !path.starts_with('-')).collect();
    let is_all = |path: &&Cow<'s, str>| path.contains('*') || path.trim_matches(['.', '/', ':']).is_empty();
    if paths.iter().any(is_all) { Vec::new() } else { paths }
}

/// Return the last name of a word of a command.
fn own_name<'s>(word: &Cow<'s, str>) -> Cow<'s, str> {
    match word {
        Cow::Borrowed(word) => Cow::Borrowed(name_of(word)),
        Cow::Owned(word) => Cow::Owned(name_of(word).to_owned()),
    }
}

/// Return the words of a command. A blank after a backslash is a part of a word.
fn words_of(command: &str) -> Vec<Cow<'_, str>> {
    let is_sign = |character: char| BETWEEN.contains(character);
    let is_between = |character: char| is_space(character) || is_sign(character);
    if !command.contains('\\') {
        return command.split(is_between).filter(|word| !word.is_empty()).map(Cow::Borrowed).collect();
    }
    let plain = command.replace(is_sign, " ").replace("\\ ", "\0");
    let words = super::chars::words(&plain).map(|word| Cow::Owned(word.replace('\0', " ")));
    words.collect()
}

/// Return true if a command of git may change files of the work tree, and not only its index or its branches.
fn changes_tree(own: &[Cow<'_, str>]) -> bool {
    let has_any = |names: &[&str]| own.iter().any(|word| names.contains(&&**word));
    let Some(name) = git_command(own).filter(|name| CHECKOUTS.contains(name)) else { return false };
    match name {
        _ if has_any(VIEWS) => false,
        "reset" => has_any(RESETS),
        _ => !has_any(NEW_BRANCH) && !has_any(&["--staged"]),
    }
}

/// Return the command of git among words.
fn git_command<'w>(own: &'w [Cow<'_, str>]) -> Option<&'w str> {
    let mut words = own.iter().skip_while(|word| *word != "git").skip(1);
    while let Some(word) = words.next() {
        if GIT_VALUES.contains(&&**word) {
            words.next();
        } else if !word.starts_with('-') {
            return Some(word);
        }
    }
    None
}
