//! Which blocks newer ones supersede, judged from the newest to the oldest.
//!
//! A failure supersedes only failures, so that the last success stays beside it; a failed edit supersedes nothing.
//! A read of a range is superseded by one later read that covers it. Scopes, and branches that were left, never
//! supersede one another. The twin is `_pure/dedupe.py`.

pub mod default_rules;
pub mod line_ranges;
mod newer;
pub mod rules;
pub mod shell;

use ahash::AHashMap;

use self::newer::{File, Run};
use self::rules::{KeepBlock, OTHER, Rule, RuleSet, key_value};
use crate::json::value::Value;
use crate::json::write::push_quoted;
use crate::pairing::block::Entry;
use crate::pairing::block::Kind;
use crate::text::piece::Piece;
use crate::text::{OwnedText, Text};

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
