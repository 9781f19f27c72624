//! The files of a conversation: the steps that read each, changed it, or may have changed it.

use std::borrow::Cow;
use std::cell::OnceCell;

use ahash::AHashMap;

use super::chars::breaks;
use super::kinds::StepKind;
use super::other_changes::{OtherChanges, note_command};
use super::patches::{Action, FileChange, Replacement};
use super::reads::{may_be_message, read_lines};
use super::shell_reads::Read;
use super::steps::{State, Step};
use crate::json::value::Value;

/// The edits after a read, and the lines of each, of which it is asked if they touched what was read.
const MOST_COMPARED: usize = 200;

/// A step that read a file, or changed it.
pub(super) type Event<'s, 'a, V> = (&'s Step<'a, V>, Option<&'s FileChange<'a>>);

/// A file that calls named, with its events. `unknown` are the changes that no event of its own tells of, and `unseen` the
/// changes whose result was not seen. `written` is the number of the last step that wrote it as a whole.
#[derive(Debug)]
pub(super) struct File<'s, 'a, V> {
    pub(super) key: &'s str,
    pub(super) path: Cow<'a, str>,
    pub(super) events: Vec<Event<'s, 'a, V>>,
    pub(super) unseen: Vec<usize>,
    pub(super) written: usize,
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
            let mut found = self.others.of(file.key, &file.path);
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
                self.all.push(File { key, path, events, unseen, written: 0, unknown });
            }
            if let Some(file) = self.all.get_mut(place) {
                file.events.push((step, change));
                if change.is_some_and(|change| change.action == Action::Write) {
                    file.written = step.number;
                }
            }
            if let Some(change) = change {
                self.others.note_edit(key, Cow::Borrowed(&*change.path), step.number);
                if is_doubtful {
                    let path = if key.starts_with('/') { key } else { &*change.path };
                    self.others.note(Cow::Borrowed(path), step.number);
                }
            }
        }
    }
}
