//! The full survey of a conversation: what is in it, what it weighs, what is wrong with it.

use std::cell::{Cell, RefCell};
use std::cmp::Reverse;

use ahash::AHashMap;

use crate::dedupe::Judging;
use crate::dedupe::rules::RuleSet;
use crate::formats::message::Said;
use crate::formats::read_message;
use crate::input::messages::{Halt, Messages, Record};
use crate::json::value::{Value, names};
use crate::pairing::Walk;
use crate::pairing::block::Entry;
use crate::text::{OwnedText, Text};

/// What one tool's results weigh.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ToolSize {
    /// The number of calls.
    pub calls: usize,
    /// The number of results.
    pub results: usize,
    /// How many of them failed.
    pub errors: usize,
    /// The UTF-8 bytes of their texts.
    pub bytes: usize,
    /// The characters of their texts.
    pub chars: usize,
}

/// A survey of every block, side chains and other branches included.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inspection {
    /// The shape of the messages; `mixed` or `unknown` where it is not one.
    pub shape: &'static str,
    /// The number of messages.
    pub messages: usize,
    /// Calls without result.
    pub orphan_calls: usize,
    /// Results without call.
    pub orphan_results: usize,
    /// Results for calls that were answered.
    pub duplicate_results: usize,
    /// Records that were written twice.
    pub repeated_records: usize,
    /// Blocks that a newer one of the same key supersedes.
    pub duplicates: usize,
    /// Reads that stay, of files that were edited afterwards.
    pub stale_reads: usize,
    /// Blocks of side chains that are not the conversation.
    pub side_chain_blocks: usize,
    /// Blocks of branches that were left.
    pub other_branch_blocks: usize,
    /// What the results of each tool weigh, the heaviest first.
    pub tools: Vec<(OwnedText, ToolSize)>,
}

/// Survey a whole conversation.
pub fn inspect<'a, M: Messages<'a>>(messages: M) -> Result<Inspection, Halt<M::Error>> {
    let mut walk = Walk::new(Watched { messages, count: Cell::new(0), shapes: RefCell::default() });
    let mut judging = Judging::new(RuleSet::built_in());
    let mut found = Inspection::default();
    let mut tools: AHashMap<Text<'a>, ToolSize> = AHashMap::new();
    while let Some(mut entry) = walk.next_entry()? {
        let is_superseded = judging.judge(&mut entry).reason.is_some();
        found.duplicates += usize::from(is_superseded);
        found.stale_reads += usize::from(!is_superseded && entry.is_stale);
        found.add(&entry);
        weigh(tools.entry(entry.name()).or_default(), &entry);
    }
    found.duplicate_results = walk.duplicate_results;
    found.repeated_records = walk.repeated_records();
    found.messages = walk.messages().count.get();
    found.shape = match walk.messages().shapes.borrow().as_slice() {
        [] => "unknown",
        [shape] => shape,
        _ => "mixed",
    };
    let mut tools: Vec<(Text<'a>, ToolSize)> = tools.into_iter().collect();
    tools.sort_by_cached_key(|(name, size)| (Reverse(size.bytes), code_points(*name)));
    found.tools = tools.into_iter().map(|(name, size)| (OwnedText::from(name), size)).collect();
    Ok(found)
}

impl Inspection {
    fn add<'a, V: Value<'a>>(&mut self, entry: &Entry<'a, V>) {
        self.orphan_calls += usize::from(entry.result.is_none());
        self.orphan_results += usize::from(entry.call.is_none());
        if !entry.is_active {
            let away = if entry.scope.is_empty() { &mut self.other_branch_blocks } else { &mut self.side_chain_blocks };
            *away += 1;
        }
    }
}

fn weigh<'a, V: Value<'a>>(size: &mut ToolSize, entry: &Entry<'a, V>) {
    size.calls += usize::from(entry.call.is_some());
    size.errors += usize::from(entry.is_error());
    if entry.result.is_some() {
        size.results += 1;
        size.bytes += entry.text.utf8_len();
        size.chars += entry.text.len();
    }
}

/// What names are sorted by.
fn code_points(name: Text<'_>) -> Vec<u32> {
    (0..name.len()).filter_map(|index| name.get(index)).collect()
}

/// Messages that are counted, and whose shapes are noted, as they come by.
struct Watched<M> {
    messages: M,
    count: Cell<usize>,
    shapes: RefCell<Vec<&'static str>>,
}

impl<'a, M: Messages<'a>> Messages<'a> for Watched<M> {
    type Item = M::Item;
    type Error = M::Error;

    fn before(&self, position: Option<usize>) -> Result<Option<(usize, M::Item)>, M::Error> {
        let found = self.messages.before(position)?;
        if let Some((_, item)) = found {
            let object = item.object();
            let is_message = object.is_none_or(|message| message.size() > 0); // a skipped line is an empty object
            self.count.set(self.count.get() + usize::from(is_message));
            if let Some(shape) = object.and_then(shape_of) {
                let mut shapes = self.shapes.borrow_mut();
                if !shapes.contains(&shape) {
                    shapes.push(shape);
                }
            }
        }
        Ok(found)
    }

    fn number(&self, position: usize) -> usize {
        self.messages.number(position)
    }

    fn records(&self, last: usize) -> Result<Vec<Option<Record<'a>>>, M::Error> {
        self.messages.records(last)
    }
}

/// What a message's structure says of its shape; nothing where it fits any.
fn shape_of<'a, V: Value<'a>>(message: V) -> Option<&'static str> {
    if message.has(names::UUID) && (message.has(names::MESSAGE) || message.has(names::PARENT_UUID)) {
        return Some("claude-code");
    }
    // The walk halts at what needs an importer.
    read_message(message, message.get(names::ROLE), &mut Said::default()).ok().flatten()
}
