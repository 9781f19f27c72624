//! The blocks that newer ones supersede, judged from the newest to the oldest.
//!
//! A failure supersedes only failures, so that the last success stays beside it; a failed edit supersedes nothing.
//! A read of a range is superseded by one later read that covers it. Scopes, and branches that were left, never
//! supersede one another.

use std::num::NonZero;

use ahash::AHashMap;

use self::line_ranges::{DEFAULT_READ, Read, UNREADABLE, find_covering, line_range, remember_range};
use self::rules::{KeepBlock, OTHER, Rule, RuleSet, key_value};
use self::shell::has_side_effects;
use crate::json::value::Value;
use crate::json::write::push_quoted;
use crate::pairing::argument_names::WHOLE_FILE_KEYS;
use crate::pairing::block::{Entry, Kind};
use crate::text::piece::Piece;
use crate::text::{OwnedText, Text};

pub mod line_ranges;
pub mod rules;
pub mod shell;

/// Why a block is superseded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// A later read holds its lines.
    LaterRead,
    /// A later operation changed the same file.
    LaterEdit,
    /// The same command ran again later.
    LaterRun,
    /// The same call was made again later.
    LaterCall,
    /// The same call was made before, and the rule keeps the first.
    EarlierCall,
    /// A rule keeps none of the tool's results.
    Rule,
}

impl Reason {
    /// The reason's name in a report.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::LaterRead => "later_read",
            Self::LaterEdit => "later_edit",
            Self::LaterRun => "later_run",
            Self::LaterCall => "later_call",
            Self::EarlierCall => "earlier_call",
            Self::Rule => "rule",
        }
    }
}

/// Why an entry is superseded (`None`: it stays), and by which. Entries are named by their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// Why it is superseded.
    pub reason: Option<Reason>,
    /// Which entry supersedes it. Of an entry that stays it says nothing.
    pub by: Option<usize>,
    /// Whose heading counts it.
    pub counted_by: Option<usize>,
}

pub(crate) const STAYS: Judgement = Judgement { reason: None, by: None, counted_by: None };
const BY_RULE: Judgement = Judgement { reason: Some(Reason::Rule), ..STAYS };

/// What blocks of one key share, where a rule keeps the first of them.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Name<'a> {
    scope: Text<'a>,
    is_active: bool,
    kind: Kind,
    value: Piece<'a>,
}

/// What is known of the newer blocks of one scope and branch, by the path, the command, or another key.
#[derive(Debug, Default)]
struct Lane<'a> {
    files: AHashMap<Piece<'a>, File>,
    commands: AHashMap<Piece<'a>, Run>,
    others: AHashMap<Piece<'a>, Run>,
}

/// The judge of all blocks of a conversation.
#[derive(Debug)]
pub struct Judging<'a, 'r> {
    rules: &'r RuleSet,
    main: Lane<'a>,
    other_lanes: AHashMap<(Text<'a>, bool), Lane<'a>>,
    /// The oldest successful block of each key of which the first is kept.
    firsts: AHashMap<Name<'a>, usize>,
}

impl<'a, 'r> Judging<'a, 'r> {
    /// A judge by these rules, who has seen nothing yet.
    #[must_use]
    pub fn new(rules: &'r RuleSet) -> Self {
        Self { rules, main: Lane::default(), other_lanes: AHashMap::new(), firsts: AHashMap::new() }
    }

    /// The same, with room for so many files.
    #[must_use]
    pub fn with_room(rules: &'r RuleSet, files: usize) -> Self {
        let main = Lane { files: AHashMap::with_capacity(files), ..Lane::default() };
        Self { main, ..Self::new(rules) }
    }

    /// Judge an entry; they come newest first. Sets what [`Judging::prepare`] sets, and whether it is stale.
    pub fn judge<V: Value<'a>>(&mut self, entry: &mut Entry<'a, V>) -> Judgement {
        let rule = self.prepare(entry);
        if rule.keep == KeepBlock::None {
            return BY_RULE;
        }
        let Some(value) = entry.value.clone() else { return STAYS };
        if rule.keep == KeepBlock::First {
            let name = Name { scope: entry.scope, is_active: entry.is_active, kind: entry.kind, value };
            let by = self.firsts.get(&name).copied().filter(|first| entry.order < *first);
            return Judgement { reason: by.map(|_| Reason::EarlierCall), by, counted_by: None };
        }
        let (keeps_all, is_careful) = (rule.keep == KeepBlock::All, self.rules.is_careful);
        let lane = if entry.is_active && entry.scope.is_empty() {
            &mut self.main
        } else {
            self.other_lanes.entry((entry.scope, entry.is_active)).or_default()
        };
        match entry.kind {
            Kind::Read => {
                let by = lane.files.entry(value).or_default().judge_read(entry, is_careful).filter(|_| !keeps_all);
                Judgement { reason: by.map(|_| Reason::LaterRead), by, counted_by: None }
            }
            Kind::Edit => lane.files.entry(value).or_default().judge_edit(entry, keeps_all, is_careful),
            _ if keeps_all => STAYS,
            Kind::Command => lane.commands.entry(value).or_default().judge(entry),
            Kind::Other => lane.others.entry(value).or_default().judge(entry),
        }
    }

    /// Note the oldest successful block of each key. The entries come newest first.
    pub fn find_firsts<V: Value<'a>>(&mut self, entries: &mut [Entry<'a, V>]) {
        for entry in entries.iter_mut().rev() {
            let rule = self.prepare(entry);
            let Some(value) = entry.value.clone() else { continue };
            if rule.keep == KeepBlock::First && !entry.is_failure() {
                let name = Name { scope: entry.scope, is_active: entry.is_active, kind: entry.kind, value };
                self.firsts.entry(name).or_insert(entry.order);
            }
        }
    }

    /// Find the entry's rule, and by it the kind, the key's value, and the limit on its result.
    pub fn prepare<V: Value<'a>>(&self, entry: &mut Entry<'a, V>) -> &'r Rule {
        entry.max_chars = None;
        let Some(given) = entry.read_arguments() else {
            let rule = self.rules.find(entry.name(), None::<V>);
            return if rule.keep == KeepBlock::None { rule } else { &OTHER };
        };
        let name = entry.tool_name;
        let rule = self.rules.find(name, Some(given));
        entry.kind = rule.kind;
        entry.max_chars = rule.max_result_chars;
        entry.value = if rule.kind == Kind::Other { other_key(rule, name, given) } else { key_value(rule, given) };
        rule
    }
}

/// The key of a tool of the kind other: its name and all key arguments together.
fn other_key<'a, V: Value<'a>>(rule: &Rule, name: Text<'a>, given: V) -> Option<Piece<'a>> {
    if rule.keep == KeepBlock::All {
        return None;
    }
    let mut text = OwnedText::default();
    text.push(name);
    text.push_ascii(" {");
    for (index, key) in rule.key.iter().enumerate() {
        if index > 0 {
            text.push_ascii(",");
        }
        push_quoted(&mut text, key.key().name);
        text.push_ascii(":");
        match given.get(key.key()) {
            Some(value) => text.push(value.json().as_text()),
            None => text.push_ascii("null"),
        }
    }
    text.push_ascii("}");
    Some(Piece::own(text))
}

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

/// Return whether a call writes the whole of a file.
fn writes_whole_file<'a, V: Value<'a>>(input: V) -> bool {
    WHOLE_FILE_KEYS.iter().any(|key| input.get(*key).and_then(Value::text).is_some())
}
