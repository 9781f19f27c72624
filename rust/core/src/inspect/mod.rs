//! A survey of a conversation: its blocks, the sizes of its results, and its defects.

use std::cell::{Cell, RefCell};
use std::cmp::Reverse;

use ahash::AHashMap;

use self::asides::Asides;
use crate::dedupe::Judging;
use crate::dedupe::rules::RuleSet;
use crate::formats::message::MessageParts;
use crate::formats::read_message;
use crate::input::messages::{Halt, Messages, Record};
use crate::json::value::{Value, names};
use crate::pairing::block::Entry;
use crate::pairing::{Unread, Walk};
use crate::text::{OwnedText, Text};

mod asides;

/// The calls of one tool, and the size of their results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ToolSize {
    /// The number of calls.
    pub calls: usize,
    /// The number of results.
    pub results: usize,
    /// The number of results that report a failure.
    pub errors: usize,
    /// The UTF-8 bytes of the results' texts.
    pub bytes: usize,
    /// The characters of the results' texts.
    pub chars: usize,
}

/// The survey of a conversation, with side chains and other branches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inspection {
    /// The shape of the messages; `mixed` if there are several, `unknown` if no message has a known shape.
    pub shape: &'static str,
    /// The number of messages.
    pub messages: usize,
    /// Calls without a result.
    pub orphan_calls: usize,
    /// Results without a call.
    pub orphan_results: usize,
    /// Results for calls that already have one.
    pub duplicate_results: usize,
    /// Records that were written twice.
    pub repeated_records: usize,
    /// Blocks that another block supersedes.
    pub duplicates: usize,
    /// Reads that are not superseded, although their file was edited afterwards.
    pub stale_reads: usize,
    /// Blocks of side chains, unless the file is a side chain as a whole.
    pub side_chain_blocks: usize,
    /// Blocks of other branches.
    pub other_branch_blocks: usize,
    /// The unknown structures.
    pub unread: Unread,
    /// The size of each tool's results, the largest first.
    pub tools: Vec<(OwnedText, ToolSize)>,
    /// What is no part of the conversation, by its kind or its name, in alphabetical order.
    pub asides: Vec<(OwnedText, usize)>,
}

/// Read a whole conversation and count its blocks, sizes and defects.
pub fn inspect<'a, M: Messages<'a>>(messages: M) -> Result<Inspection, Halt<M::Error>> {
    let mut walk = Walk::new(Watched {
        messages,
        first: Cell::new(usize::MAX),
        count: Cell::new(0),
        shapes: RefCell::default(),
        asides: RefCell::default(),
    });
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
    found.unread = walk.unread_report();
    found.messages = walk.messages().count.get();
    found.shape = match walk.messages().shapes.borrow().as_slice() {
        [] => "unknown",
        [shape] => shape,
        _ => "mixed",
    };
    found.asides = walk.messages().asides.take().in_order();
    let mut tools: Vec<(Text<'a>, ToolSize)> = tools.into_iter().collect();
    tools.sort_by_cached_key(|(name, size)| (Reverse(size.bytes), code_points(*name)));
    found.tools = tools.into_iter().map(|(name, size)| (OwnedText::from(name), size)).collect();
    Ok(found)
}

impl Inspection {
    /// Return the size of all tools' results.
    #[must_use]
    pub fn total(&self) -> ToolSize {
        self.tools.iter().fold(ToolSize::default(), |all, (_, size)| ToolSize {
            calls: all.calls + size.calls,
            results: all.results + size.results,
            errors: all.errors + size.errors,
            bytes: all.bytes + size.bytes,
            chars: all.chars + size.chars,
        })
    }

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

/// The code points of a name, by which names are sorted.
fn code_points(name: Text<'_>) -> Vec<u32> {
    (0..name.len()).filter_map(|index| name.get(index)).collect()
}

/// Messages, with a count, the shapes and the records without a message of those read so far.
struct Watched<'a, M> {
    messages: M,
    /// The position of the first message read so far.
    first: Cell<usize>,
    count: Cell<usize>,
    shapes: RefCell<Vec<&'static str>>,
    asides: RefCell<Asides<'a>>,
}

impl<'a, M: Messages<'a>> Messages<'a> for Watched<'a, M> {
    type Item = M::Item;
    type Error = M::Error;

    fn before(&self, position: Option<usize>) -> Result<Option<(usize, M::Item)>, M::Error> {
        let found = self.messages.before(position)?;
        if let Some((at, item)) = found
            && at < self.first.replace(self.first.get().min(at))
        {
            let object = item.object();
            let is_message = object.is_none_or(|message| message.size() > 0); // a skipped line is an empty object
            self.count.set(self.count.get() + usize::from(is_message));
            if let Some(shape) = object.and_then(format_of) {
                let mut shapes = self.shapes.borrow_mut();
                if !shapes.contains(&shape) {
                    shapes.push(shape);
                }
            }
            if let Some(record) = object {
                self.asides.borrow_mut().add(record);
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

/// The shape that a message's structure shows; `None` if it fits every shape.
fn format_of<'a, V: Value<'a>>(message: V) -> Option<&'static str> {
    if message.has(names::UUID) && (message.has(names::MESSAGE) || message.has_name(names::PARENT_UUID)) {
        return Some("claude-code");
    }
    // `ok`: for a message that needs an importer, the walk returns the error.
    read_message(message, message.get(names::ROLE), &mut MessageParts::default()).ok().flatten()
}
