//! The decision which blocks newer ones supersede, taken from the newest block to the oldest.
//!
//! A failure supersedes only failures, so that the last success is kept as well; a failed edit supersedes nothing.
//! A result that may be a failure by its words supersedes no success ([`failure`]), and one that is short and unlike an
//! older one does not supersede that one ([`likeness`]).
//! A read of a range is superseded if one later read covers it. Blocks never supersede across scopes, branches or
//! places: servers, hosts, working directories.

use std::num::NonZero;

use ahash::AHashMap;

use self::failure::{Outcome, outcome, settle};
use self::likeness::{Doubt, MOST_IN_DOUBT};
use self::line_ranges::{DEFAULT_READ, LineRange, Read, UNREADABLE, find_covering, line_range, remember_range};
use self::paths::resolve;
use self::place::CallPlace;
use self::rules::{Found, KeepBlock, OTHER, Rule, RuleSet, key_value};
use self::shell::has_side_effects;
use crate::json::value::{Value, items};
use crate::json::write::push_quoted;
use crate::pairing::argument_names::{NEW_KEYS, WHOLE_FILE_KEYS};
use crate::pairing::block::{Entry, Kind};
use crate::text::piece::Piece;
use crate::text::{OwnedText, Text};

pub mod failure;
pub(crate) mod likeness;
pub mod line_ranges;
mod paths;
pub(crate) mod place;
pub mod rules;
pub mod shell;

/// The reason why a block is superseded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// A later read contains its lines.
    LaterRead,
    /// A later operation changed the same file.
    LaterEdit,
    /// The same command was run again later.
    LaterRun,
    /// The same call was made again later.
    LaterCall,
    /// The same call was made earlier, and the rule keeps the first one.
    EarlierCall,
    /// The rule keeps none of the tool's blocks.
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

/// The decision about an entry. Other entries are given by their `order`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// The reason why it is superseded; `None` if it is kept.
    pub reason: Option<Reason>,
    /// The entry that supersedes it. Meaningless if the entry is kept.
    pub by: Option<usize>,
    /// The entry whose heading counts it.
    pub counted_by: Option<usize>,
}

pub(crate) const STAYS: Judgement = Judgement { reason: None, by: None, counted_by: None };
const BY_RULE: Judgement = Judgement { reason: Some(Reason::Rule), ..STAYS };

/// The identity of a key under a rule that keeps the first block of each key.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Name<'a> {
    scope: Text<'a>,
    is_active: bool,
    kind: Kind,
    key: Piece<'a>,
}

/// The oldest successful block of a key, and the doubt in it.
#[derive(Debug)]
struct First<'a> {
    order: usize,
    doubt: Option<Doubt<'a>>,
}

impl<'a> First<'a> {
    fn of<V: Value<'a>>(entry: &Entry<'a, V>) -> Self {
        Self { order: entry.order, doubt: Doubt::of(entry, None) }
    }

    /// Return true if this block may supersede a later one.
    fn may_hide<V: Value<'a>>(&self, entry: &Entry<'a, V>) -> bool {
        self.doubt.as_ref().is_none_or(|doubt| doubt.is_like(entry))
    }
}

/// The newer blocks of one scope and branch, by path, command, or another key.
#[derive(Debug, Default)]
struct NewerBlocks<'a> {
    files: AHashMap<Piece<'a>, File<'a>>,
    commands: AHashMap<Piece<'a>, Run<'a>>,
    others: AHashMap<Piece<'a>, Run<'a>>,
}

/// The state of the decision: all newer blocks of a conversation.
#[derive(Debug)]
pub struct Judging<'a, 'r> {
    rules: &'r RuleSet,
    main: NewerBlocks<'a>,
    newer_by_scope: AHashMap<(Text<'a>, bool), NewerBlocks<'a>>,
    /// The oldest successful block of each key under a rule that keeps the first.
    firsts: AHashMap<Name<'a>, First<'a>>,
}

impl<'a, 'r> Judging<'a, 'r> {
    /// Create the state for the newest block of a conversation, under these rules.
    #[must_use]
    pub fn new(rules: &'r RuleSet) -> Self {
        Self { rules, main: NewerBlocks::default(), newer_by_scope: AHashMap::new(), firsts: AHashMap::new() }
    }

    /// Create the state with room for `files` files.
    #[must_use]
    pub fn with_room(rules: &'r RuleSet, files: usize) -> Self {
        let main = NewerBlocks { files: AHashMap::with_capacity(files), ..NewerBlocks::default() };
        Self { main, ..Self::new(rules) }
    }

    /// Decide about the next entry, newest first. Sets the fields that [`Judging::prepare`] sets, and `is_stale`.
    pub fn judge<V: Value<'a>>(&mut self, entry: &mut Entry<'a, V>) -> Judgement {
        let rule = self.prepare(entry);
        if rule.keep == KeepBlock::None {
            return BY_RULE;
        }
        let Some(key) = entry.key.clone() else { return STAYS };
        if rule.keep == KeepBlock::First {
            let name = Name { scope: entry.scope, is_active: entry.is_active, kind: entry.kind, key };
            let first = self.firsts.get(&name).filter(|first| entry.order < first.order && first.may_hide(entry));
            let by = first.map(|first| first.order);
            return Judgement { reason: by.map(|_| Reason::EarlierCall), by, counted_by: None };
        }
        let (keeps_all, is_careful) = (rule.keep == KeepBlock::All, self.rules.is_careful);
        let newer_blocks = if entry.is_active && entry.scope.is_empty() {
            &mut self.main
        } else {
            self.newer_by_scope.entry((entry.scope, entry.is_active)).or_default()
        };
        match entry.kind {
            Kind::Read => {
                let by =
                    newer_blocks.files.entry(key).or_default().judge_read(entry, is_careful).filter(|_| !keeps_all);
                Judgement { reason: by.map(|_| Reason::LaterRead), by, counted_by: None }
            }
            Kind::Edit => newer_blocks.files.entry(key).or_default().judge_edit(entry, keeps_all, is_careful),
            _ if keeps_all => STAYS,
            Kind::Command => newer_blocks.commands.entry(key).or_default().judge(entry),
            Kind::Other => newer_blocks.others.entry(key).or_default().judge(entry),
        }
    }

    /// Note the oldest successful block of each key, for rules that keep the first; not one in doubt, if a later success
    /// is unlike it. The entries are newest first.
    pub fn find_firsts<V: Value<'a>>(&mut self, entries: &mut [Entry<'a, V>]) {
        for entry in entries.iter_mut().rev() {
            let rule = self.prepare(entry);
            let Some(key) = entry.key.clone() else { continue };
            if rule.keep == KeepBlock::First && outcome(entry) >= Outcome::Unproven {
                let name = Name { scope: entry.scope, is_active: entry.is_active, kind: entry.kind, key };
                let first = self.firsts.entry(name).or_insert_with(|| First::of(entry));
                if !first.may_hide(entry) && Doubt::of(entry, None).is_none() {
                    *first = First::of(entry);
                }
            }
        }
    }

    /// Find the entry's rule, and set by it the kind, the value that the entry is about, its key, and the limit on the
    /// result. Mark the entry as failed if the words of its result say so.
    pub fn prepare<V: Value<'a>>(&self, entry: &mut Entry<'a, V>) -> &'r Rule {
        let rule = self.find_rule(entry);
        settle(entry);
        rule
    }

    fn find_rule<V: Value<'a>>(&self, entry: &mut Entry<'a, V>) -> &'r Rule {
        entry.max_chars = None;
        let Some(given) = entry.read_arguments() else {
            let rule = self.rules.find(entry.name(), Text::ascii(""), None::<V>);
            return if rule.keep == KeepBlock::None { rule } else { &OTHER };
        };
        let name = entry.tool_name;
        let rule = self.rules.find(name, entry.server, Some(given));
        entry.kind = rule.kind;
        entry.max_chars = rule.max_result_chars;
        (entry.value, entry.key) = (None, None);
        let found = match rule.kind {
            Kind::Other => other_value(rule, name, given).map(Found::One),
            _ => key_value(rule, given),
        };
        if let Some(found) = found {
            let place = CallPlace::of(rule, entry, given);
            (entry.value, entry.key) = (Some(found.shown()), Some(key_in(place, rule.kind, found)));
        }
        rule
    }
}

/// Return the key of what an entry is about: the value in its normal form, with the place.
fn key_in<'a, V: Value<'a>>(mut place: CallPlace<'a>, kind: Kind, found: Found<'a, V>) -> Piece<'a> {
    let value = match (kind, found) {
        (Kind::Other, Found::One(value)) => value,
        (Kind::Command, Found::One(command)) => place.follow(command),
        (_, Found::One(path)) => {
            let (path, kept) = resolve(path, &place.directory);
            place.directory.truncate(kept);
            path
        }
        (_, Found::Several(paths)) => {
            let mut text = OwnedText::default();
            let mut most = 0;
            for (index, path) in items(paths).filter_map(Value::text).enumerate() {
                let (path, kept) = resolve(Piece::Borrowed(path), &place.directory);
                most = most.max(kept);
                text.push_ascii(if index > 0 { "," } else { "[" });
                push_quoted(&mut text, path.text());
            }
            text.push_ascii("]");
            place.directory.truncate(most);
            Piece::own(paths::canonical(text))
        }
    };
    place.key_of(value)
}

/// Return what a tool of kind `other` is about: its name with all key arguments.
fn other_value<'a, V: Value<'a>>(rule: &Rule, name: Text<'a>, given: V) -> Option<Piece<'a>> {
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

/// A block's order plus one, so that `None` takes no extra memory: there is one for every key.
type Noted = Option<NonZero<usize>>;

/// The newer blocks of one file.
#[derive(Debug, Default)]
struct File<'a> {
    /// The newest read, successful or not.
    read: Noted,
    /// The newest read of the whole file.
    whole: Noted,
    ranges: Vec<Read>,
    /// The newer reads that may be messages, newest first.
    doubts: Vec<Doubt<'a>>,
    /// The newest successful edit.
    edited: Noted,
    /// The newest block that wrote or read the whole file; only careful rules use it.
    rewritten: Noted,
}

/// The newer runs of one command, or the newer calls of another tool with the same key.
#[derive(Debug, Default)]
struct Run<'a> {
    newest: Noted,
    /// The best certain outcome of these runs.
    best: Outcome,
    /// The newer runs that may be messages, newest first.
    doubts: Vec<Doubt<'a>>,
    writes: Option<bool>,
}

impl<'a> File<'a> {
    /// Return the newer read that supersedes this one.
    fn judge_read<V: Value<'a>>(&mut self, entry: &mut Entry<'a, V>, is_careful: bool) -> Option<usize> {
        let newest = order(self.read);
        note(&mut self.read, entry.order);
        if entry.is_failure() {
            return newest;
        }
        entry.is_stale = self.edited.is_some();
        let lines = entry.given.and_then(line_range);
        let wanted = lines.unwrap_or(DEFAULT_READ);
        if wanted == UNREADABLE {
            return None;
        }
        let in_doubt = self.doubts.iter().find(|doubt| doubt.covers(wanted) && doubt.is_like(entry));
        let by = in_doubt.map(|doubt| doubt.order);
        let by = by.or_else(|| order(self.whole).filter(|_| wanted.last <= DEFAULT_READ.last));
        let by = by.or_else(|| find_covering(wanted, &self.ranges));
        if entry.is_doubtful() {
            return by;
        }
        let has_room = self.doubts.len() < MOST_IN_DOUBT;
        match Doubt::of(entry, lines).filter(|_| has_room) {
            Some(doubt) if by.is_none() => self.doubts.push(doubt),
            Some(_) => {}
            None => self.remember_read(lines, entry.order, is_careful),
        }
        by
    }

    fn remember_read(&mut self, lines: Option<LineRange>, order: usize, is_careful: bool) {
        if let Some(lines) = lines {
            remember_range(Read { lines, order }, &mut self.ranges);
            return;
        }
        note(&mut self.whole, order);
        if is_careful {
            note(&mut self.rewritten, order);
        }
    }

    /// Accept the reads in doubt that show what this edit wrote.
    fn settle_doubts<V: Value<'a>>(&mut self, edit: &Entry<'a, V>, is_careful: bool) {
        if self.doubts.is_empty() {
            return;
        }
        let Some(written) = edit.given.and_then(written_text) else { return };
        let path = edit.value.as_ref().map_or_else(String::new, |path| path.text().to_utf8());
        for doubt in std::mem::take(&mut self.doubts) {
            if doubt.shows(written, &path) {
                self.remember_read(doubt.lines, doubt.order, is_careful);
            } else {
                self.doubts.push(doubt);
            }
        }
    }

    fn judge_edit<V: Value<'a>>(&mut self, entry: &Entry<'a, V>, keeps_all: bool, is_careful: bool) -> Judgement {
        let is_success = outcome(entry) >= Outcome::Unproven;
        if is_success {
            self.settle_doubts(entry, is_careful);
        }
        let newest = order(self.edited);
        let by = if is_careful { order(self.rewritten) } else { newest };
        let reason = by.filter(|_| !keeps_all).map(|_| Reason::LaterEdit);
        if !is_success {
            return Judgement { reason, by, counted_by: None };
        }
        note(&mut self.edited, entry.order);
        if is_careful && entry.given.is_some_and(writes_whole_file) {
            note(&mut self.rewritten, entry.order);
        }
        Judgement { reason, by, counted_by: newest.filter(|_| reason.is_some() && !is_careful) }
    }
}

impl<'a> Run<'a> {
    /// Decide about a command, or about another tool under a rule that keeps the last block of a key.
    pub(crate) fn judge<V: Value<'a>>(&mut self, entry: &Entry<'a, V>) -> Judgement {
        let newest = order(self.newest);
        note(&mut self.newest, entry.order);
        let is_command = entry.kind == Kind::Command;
        if newest.is_some() {
            // Parsed only if a command was run twice.
            let value = entry.value.as_ref();
            let is_writing = || is_command && value.is_some_and(|value| has_side_effects(&value.text().to_utf8()));
            if *self.writes.get_or_insert_with(is_writing) {
                return STAYS;
            }
        }
        let own = outcome(entry);
        let is_superseded =
            newest.is_some() && (own <= self.best || self.doubts.iter().any(|doubt| doubt.is_like(entry)));
        let has_room = self.doubts.len() < MOST_IN_DOUBT;
        match Doubt::of(entry, None).filter(|_| has_room) {
            Some(doubt) if !is_superseded => self.doubts.push(doubt),
            Some(_) => {}
            None if own == Outcome::Unproven => self.best = Outcome::Success,
            None => self.best = self.best.max(own),
        }
        let reason = is_superseded.then_some(if is_command { Reason::LaterRun } else { Reason::LaterCall });
        Judgement { reason, by: newest, counted_by: newest.filter(|_| is_command) }
    }
}

/// Note the order of an entry, unless there is a newer one.
fn note(newest: &mut Noted, order: usize) {
    *newest = newest.or(NonZero::new(order + 1));
}

/// Return the order of the noted entry.
fn order(noted: Noted) -> Option<usize> {
    noted.map(|number| number.get() - 1)
}

/// Return true if a call writes a whole file.
pub(crate) fn writes_whole_file<'a, V: Value<'a>>(input: V) -> bool {
    WHOLE_FILE_KEYS.iter().any(|key| input.get(*key).and_then(Value::text).is_some())
}

/// Return what a call wrote to a file: the whole text, or the new one of an edit.
fn written_text<'a, V: Value<'a>>(input: V) -> Option<V> {
    let mut texts = WHOLE_FILE_KEYS.iter().chain(NEW_KEYS).filter_map(|key| input.get(*key));
    texts.find(|text| text.text_len().is_some())
}
