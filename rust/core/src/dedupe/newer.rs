//! What is known of the newer blocks of one key, and what becomes of an older one by that. The twin is in `_pure/dedupe.py`.

use std::num::NonZero;

use super::line_ranges::{DEFAULT_READ, Read, UNREADABLE, find_covering, line_range, remember_range};
use super::shell::has_side_effects;
use super::{Judgement, Reason, STAYS};
use crate::json::value::Value;
use crate::pairing::argument_names::WHOLE_FILE_KEYS;
use crate::pairing::block::{Entry, Kind};

/// A block by one more than its order, so that it takes no room of its own to say that there is none: keys are many.
type Noted = Option<NonZero<usize>>;

/// What is known of the newer blocks of one file.
#[derive(Debug, Default)]
pub(crate) struct File {
    /// The newest read, failed or not.
    read: Noted,
    /// The newest read of the whole file.
    whole: Noted,
    ranges: Vec<Read>,
    /// The newest edit that succeeded.
    edited: Noted,
    /// The newest block that wrote the file, or read it, whole; asked for by careful rules.
    rewritten: Noted,
}

/// What is known of the newer runs of one command, or calls of another tool.
#[derive(Debug, Default)]
pub(crate) struct Run {
    newest: Noted,
    newest_success: Noted,
    writes: Option<bool>,
}

impl File {
    /// The newer read that supersedes this one.
    pub(crate) fn judge_read<'a, V: Value<'a>>(&mut self, entry: &mut Entry<'a, V>, is_careful: bool) -> Option<usize> {
        let newest = order(self.read);
        note(&mut self.read, entry);
        if entry.is_failure() {
            return newest;
        }
        entry.is_stale = self.edited.is_some();
        let lines = entry.given.and_then(line_range);
        let wanted = lines.unwrap_or(DEFAULT_READ);
        if wanted == UNREADABLE {
            return None;
        }
        if is_careful && lines.is_none() {
            note(&mut self.rewritten, entry);
        }
        let whole = order(self.whole).filter(|_| wanted.last <= DEFAULT_READ.last);
        let by = whole.or_else(|| find_covering(wanted, &self.ranges));
        if lines.is_none() {
            note(&mut self.whole, entry);
        } else {
            remember_range(Read { lines: wanted, order: entry.order }, &mut self.ranges);
        }
        by
    }

    pub(crate) fn judge_edit<'a, V: Value<'a>>(
        &mut self,
        entry: &Entry<'a, V>,
        keeps_all: bool,
        is_careful: bool,
    ) -> Judgement {
        let newest = order(self.edited);
        let by = if is_careful { order(self.rewritten) } else { newest };
        let reason = by.filter(|_| !keeps_all).map(|_| Reason::LaterEdit);
        if entry.is_failure() {
            return Judgement { reason, by, counted_by: None };
        }
        note(&mut self.edited, entry);
        if is_careful && entry.given.is_some_and(writes_whole_file) {
            note(&mut self.rewritten, entry);
        }
        Judgement { reason, by, counted_by: newest.filter(|_| reason.is_some() && !is_careful) }
    }
}

impl Run {
    /// Judge a command, or another tool under a rule that keeps the last of a key.
    pub(crate) fn judge<'a, V: Value<'a>>(&mut self, entry: &Entry<'a, V>) -> Judgement {
        let is_failure = entry.is_failure();
        let Some(newest) = order(self.newest) else {
            note(&mut self.newest, entry);
            if !is_failure {
                note(&mut self.newest_success, entry);
            }
            return STAYS;
        };
        // Asked only where a command was run twice.
        let is_command = entry.kind == Kind::Command;
        let value = entry.value.as_ref();
        let is_writing = || is_command && value.is_some_and(|value| has_side_effects(&value.text().to_utf8()));
        if *self.writes.get_or_insert_with(is_writing) {
            return STAYS;
        }
        let is_superseded = is_failure || self.newest_success.is_some();
        if !is_superseded {
            note(&mut self.newest_success, entry);
        }
        let reason = is_superseded.then_some(if is_command { Reason::LaterRun } else { Reason::LaterCall });
        Judgement { reason, by: Some(newest), counted_by: is_command.then_some(newest) }
    }
}

/// Note an entry, unless there is a newer one.
fn note<V>(newest: &mut Noted, entry: &Entry<'_, V>) {
    *newest = newest.or(NonZero::new(entry.order + 1));
}

/// The order of the entry that was noted.
fn order(noted: Noted) -> Option<usize> {
    noted.map(|behind| behind.get() - 1)
}

/// Whether a call writes the whole of a file.
fn writes_whole_file<'a, V: Value<'a>>(input: V) -> bool {
    WHOLE_FILE_KEYS.iter().any(|key| input.get(*key).and_then(Value::text).is_some())
}
