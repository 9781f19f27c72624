//! Which blocks newer ones supersede, judged from the newest to the oldest.
//!
//! A failure supersedes only failures, so that the last success stays beside it; a failed edit supersedes nothing.
//! A read of a range is superseded by one later read that covers it. Scopes, and branches that were left, never
//! supersede one another. The twin is `_pure/dedupe.py`.

use std::num::NonZero;

use ahash::AHashMap;

use crate::entry::Entry;
use crate::lines::{DEFAULT_READ, Read, UNREADABLE, find_covering, line_range, remember_range};
use crate::pieces::Piece;
use crate::rules::{KeepBlock, Kind, OTHER, Rule, RuleSet, key_value};
use crate::scan::push_quoted;
use crate::shell::has_side_effects;
use crate::text::{OwnedText, Text};
use crate::value::{Key, Value, names};

/// The arguments by which a whole file is written.
pub const WHOLE_FILE_KEYS: [Key<'static>; 3] = [names::CONTENT, names::FILE_TEXT, names::CONTENTS];

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

const STAYS: Judgement = Judgement { reason: None, by: None, counted_by: None };
const BY_RULE: Judgement = Judgement { reason: Some(Reason::Rule), ..STAYS };

/// What blocks of one key share.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Name<'a> {
    scope: Text<'a>,
    is_active: bool,
    kind: Kind,
    value: Piece<'a>,
}

/// What is known of the newer blocks of one key. There are many: blocks are named by one more than their order, so that
/// it takes no room of its own to say that there is none.
#[derive(Debug, Default)]
struct Newer {
    newest: Option<NonZero<usize>>,
    newest_success: Option<NonZero<usize>>,
    /// The newest read of the whole file.
    newest_whole: Option<NonZero<usize>>,
    ranges: Vec<Read>,
    /// The newest block that wrote the file, or read it, whole.
    rewritten: Option<NonZero<usize>>,
    writes: Option<bool>,
}

/// The judge of all blocks of a conversation.
#[derive(Debug)]
pub struct Judging<'a, 'r> {
    rules: &'r RuleSet,
    newer: AHashMap<Name<'a>, Newer>,
    /// The oldest successful block of each key of which the first is kept.
    firsts: AHashMap<Name<'a>, usize>,
}

impl<'a, 'r> Judging<'a, 'r> {
    /// A judge by these rules, who has seen nothing yet.
    #[must_use]
    pub fn new(rules: &'r RuleSet) -> Self {
        Self::with_room(rules, 0)
    }

    /// The same, with room for so many keys.
    #[must_use]
    pub fn with_room(rules: &'r RuleSet, keys: usize) -> Self {
        Self { rules, newer: AHashMap::with_capacity(keys), firsts: AHashMap::new() }
    }

    /// Judge an entry; they come newest first. Sets what [`Judging::prepare`] sets, and whether it is stale.
    pub fn judge<V: Value<'a>>(&mut self, entry: &mut Entry<'a, V>) -> Judgement {
        let rule = self.prepare(entry);
        if rule.keep == KeepBlock::None {
            return BY_RULE;
        }
        let Some(value) = entry.value.clone() else { return STAYS };
        let name = Name { scope: entry.scope, is_active: entry.is_active, kind: entry.kind, value };
        if rule.keep == KeepBlock::First {
            let by = self.firsts.get(&name).copied().filter(|first| entry.order < *first);
            return Judgement { reason: by.map(|_| Reason::EarlierCall), by, counted_by: None };
        }
        match entry.kind {
            Kind::Read => self.judge_read(entry, name, rule),
            Kind::Edit => self.judge_edit(entry, name, rule),
            Kind::Command | Kind::Other => self.judge_run(entry, name, rule),
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

    fn judge_read<V: Value<'a>>(&mut self, entry: &mut Entry<'a, V>, name: Name<'a>, rule: &Rule) -> Judgement {
        let lines = entry.given.and_then(line_range);
        let wanted = lines.unwrap_or(DEFAULT_READ);
        let mut name = name;
        if !entry.is_failure() {
            name.kind = Kind::Edit;
            entry.is_stale = self.newer.get(&name).is_some_and(|edits| edits.newest_success.is_some());
            if self.rules.is_careful && lines.is_none() {
                let edits = Name { value: name.value.clone(), ..name };
                note(&mut self.newer.entry(edits).or_default().rewritten, entry);
            }
            name.kind = Kind::Read;
        }
        let newer = self.newer.entry(name).or_default();
        let by = if entry.is_failure() {
            order(newer.newest)
        } else if wanted == UNREADABLE {
            None
        } else {
            let whole = newer.newest_whole.filter(|_| wanted.last <= DEFAULT_READ.last);
            let by = order(whole).or_else(|| find_covering(wanted, &newer.ranges));
            if lines.is_none() {
                note(&mut newer.newest_whole, entry);
            } else {
                remember_range(Read { lines: wanted, order: entry.order }, &mut newer.ranges);
            }
            by
        };
        note(&mut newer.newest, entry);
        let by = by.filter(|_| rule.keep != KeepBlock::All);
        Judgement { reason: by.map(|_| Reason::LaterRead), by, counted_by: None }
    }

    fn judge_edit<V: Value<'a>>(&mut self, entry: &Entry<'a, V>, name: Name<'a>, rule: &Rule) -> Judgement {
        let is_careful = self.rules.is_careful;
        let newer = self.newer.entry(name).or_default();
        let by = order(if is_careful { newer.rewritten } else { newer.newest_success });
        let reason = by.filter(|_| rule.keep != KeepBlock::All).map(|_| Reason::LaterEdit);
        if entry.is_failure() {
            return Judgement { reason, by, counted_by: None };
        }
        let counted_by = order(newer.newest_success).filter(|_| reason.is_some() && !is_careful);
        note(&mut newer.newest_success, entry);
        if is_careful && entry.given.is_some_and(writes_whole_file) {
            note(&mut newer.rewritten, entry);
        }
        Judgement { reason, by, counted_by }
    }

    /// A command, or another tool under a rule that keeps the last of a key.
    fn judge_run<V: Value<'a>>(&mut self, entry: &Entry<'a, V>, name: Name<'a>, rule: &Rule) -> Judgement {
        if rule.keep == KeepBlock::All {
            return STAYS;
        }
        let is_command = entry.kind == Kind::Command;
        let newer = self.newer.entry(name).or_default();
        let is_failure = entry.is_failure();
        let Some(newest) = order(newer.newest) else {
            note(&mut newer.newest, entry);
            if !is_failure {
                note(&mut newer.newest_success, entry);
            }
            return STAYS;
        };
        // Asked only where a command was run twice.
        let value = entry.value.as_ref();
        let is_writing = || is_command && value.is_some_and(|value| has_side_effects(&value.text().to_utf8()));
        if *newer.writes.get_or_insert_with(is_writing) {
            return STAYS;
        }
        let is_superseded = is_failure || newer.newest_success.is_some();
        if !is_superseded {
            note(&mut newer.newest_success, entry);
        }
        let reason = is_superseded.then_some(if is_command { Reason::LaterRun } else { Reason::LaterCall });
        Judgement { reason, by: Some(newest), counted_by: is_command.then_some(newest) }
    }
}

/// Note an entry, unless there is a newer one.
fn note<V>(newest: &mut Option<NonZero<usize>>, entry: &Entry<'_, V>) {
    *newest = newest.or(NonZero::new(entry.order + 1));
}

/// The order of the entry that was noted.
fn order(noted: Option<NonZero<usize>>) -> Option<usize> {
    noted.map(|behind| behind.get() - 1)
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

/// Whether a call writes the whole of a file.
fn writes_whole_file<'a, V: Value<'a>>(input: V) -> bool {
    WHOLE_FILE_KEYS.iter().any(|key| input.get(*key).and_then(Value::text).is_some())
}
