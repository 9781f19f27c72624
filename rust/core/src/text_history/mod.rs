//! A text history: the text of each message, and below it one line per tool call with the beginning of its result.

mod budget;
mod call_line;
mod host_calls;
mod message;
mod placement;
mod read;
mod thinking;

use ahash::AHashSet;

use self::budget::{Shrunk, shrink};
use self::call_line::{ResultOutcome, ToolLine};
use self::host_calls::record_entry;
use self::message::HistoryMessage;
use self::placement::{joined, place_entries, place_records};
use self::read::Spoken;
use crate::context::inactive_reason;
use crate::context::limits::Measure;
use crate::context::output::Output;
use crate::context::policy::{Reasons, count_reason};
use crate::dedupe::Judging;
use crate::dedupe::rules::RuleSet;
use crate::input::messages::{Halt, Messages};
use crate::json::value::{Key, Value, items};
use crate::pairing::block::Entry;
use crate::pairing::{Unread, Walk};
use crate::text::Text;

/// The options of a text history.
#[derive(Clone, Copy, Debug)]
pub struct RecountOptions<'s> {
    /// The member of messages and calls that holds the id of their turn.
    pub turn_id: Text<'s>,
    /// The maximum number of characters of each result.
    pub max_result_length: usize,
    /// The limit on the contents of all messages together, and its unit.
    pub total: Option<(usize, Measure)>,
}

/// The number of messages and calls by outcome. The lists hold message numbers, except for `without_turn`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecountCounts {
    /// The number of messages of the history.
    pub messages: usize,
    /// The number of calls.
    pub calls: usize,
    /// The number of results cut to the limit on one result.
    pub cut: usize,
    /// The number of results cut further to fit the total.
    pub cut_further: usize,
    /// The number of calls whose results were left out.
    pub shortened: usize,
    /// The number of calls left out with their messages.
    pub calls_left_out: usize,
    /// The number of calls without a result.
    pub orphan_calls: usize,
    /// The number of results without a call.
    pub orphan_results: usize,
    /// The number of results for calls that already have one.
    pub duplicate_results: usize,
    /// The number of records that the session file repeats.
    pub repeated_records: usize,
    /// The number of calls that failed.
    pub errors: usize,
    /// The number of calls on other branches and in side chains, by reason.
    pub excluded: Reasons,
    /// The number of messages on other branches and in side chains.
    pub inactive: usize,
    /// The number of messages from which thinking was left out.
    pub thinking: usize,
    /// The number of texts that the client wrote, which were left out.
    pub client: usize,
    /// Messages that became lines below other messages.
    pub folded: Vec<usize>,
    /// Messages that are empty or hold nothing but thinking.
    pub silent: Vec<usize>,
    /// Messages without a role.
    pub without_role: Vec<usize>,
    /// The numbers of the host's calls whose turn no message has.
    pub without_turn: Vec<usize>,
    /// Messages left out for lack of room.
    pub left_out: Vec<usize>,
    /// The characters of all results before they were cut.
    pub chars_before: usize,
    /// The characters of the history.
    pub chars_after: usize,
    /// The tokens of the history, if the total counts tokens.
    pub tokens_after: Option<usize>,
    /// True if the total was too small for any message.
    pub budget_too_small: bool,
    /// The unknown structures.
    pub unread: Unread,
}

/// A text history: the role and the content of each message, and the counts.
#[derive(Debug)]
pub struct Recounted<'a> {
    /// The role and the content of each message.
    pub messages: Vec<(Text<'a>, Output<'a>)>,
    /// The counts.
    pub counts: RecountCounts,
}

/// Write a conversation as a text history. `records` are the calls that the host stores apart from the messages.
pub fn recount<'a, M: Messages<'a>>(
    messages: &M,
    records: Option<M::Item>,
    asked: RecountOptions<'_>,
) -> Result<Recounted<'a>, Halt<M::Error>> {
    let turn_id = Key::named(asked.turn_id);
    let Spoken { mut history_messages, silent, without_role, turns, thinking, inactive, client } =
        Spoken::read(messages, turn_id)?;
    let mut counts = RecountCounts { inactive, thinking, client, ..RecountCounts::default() };
    let mut walk = Walk::new(messages);
    let judging = Judging::new(RuleSet::built_in());
    let mut entries = Vec::new();
    while let Some(mut entry) = walk.next_entry()? {
        if entry.is_active {
            judging.prepare(&mut entry);
            counts.add(&entry);
            entries.push(entry);
        } else {
            count_reason(&mut counts.excluded, inactive_reason(&entry));
        }
    }
    entries.reverse();
    counts.unread = walk.unread_report();
    (counts.duplicate_results, counts.repeated_records) = (walk.duplicate_results, walk.repeated_records());
    place_entries(&mut history_messages, &entries, &turns, asked.max_result_length);
    let records: Vec<_> = records.into_iter().flat_map(items).map(|record| (record, record_entry(record))).collect();
    for (_, entry) in &records {
        counts.add(entry);
    }
    counts.without_turn = place_records(&mut history_messages, &records, &turns, turn_id, asked.max_result_length);

    let history_messages = joined(history_messages);
    let mut standing: AHashSet<usize> = AHashSet::with_capacity(history_messages.len());
    standing.extend(history_messages.iter().filter(|message| !message.is_made).map(|message| message.position));
    let mut holders: AHashSet<usize> = walk.second_positions.iter().copied().collect();
    holders.extend(entries.iter().flat_map(|entry| [entry.position, entry.result_position]));
    let numbers = |positions: Vec<usize>| positions.into_iter().map(|position| messages.number(position)).collect();
    let mut silent: Vec<usize> = silent.into_iter().filter(|position| !standing.contains(position)).collect();
    silent.sort_unstable();
    let (folded, silent) = silent.into_iter().partition(|position| holders.contains(position));
    (counts.folded, counts.silent) = (numbers(folded), numbers(silent));
    counts.without_role = numbers(without_role);
    let is_something = !history_messages.is_empty();
    let Shrunk { kept, gone, size } = match asked.total {
        Some((total, measure)) => shrink(history_messages, total, measure),
        None => Shrunk { kept: history_messages, gone: Vec::new(), size: 0 },
    };
    let mut left_out: Vec<usize> =
        gone.iter().filter(|message| !message.is_made).map(|message| message.position).collect();
    left_out.dedup(); // the steps of a message
    counts.left_out = numbers(left_out);
    counts.tokens_after = asked.total.filter(|(_, measure)| !measure.is_characters()).map(|_| size);
    counts.budget_too_small = is_something && kept.is_empty();
    counts.calls_left_out = gone.iter().map(|message| message.lines.len()).sum();
    counts.chars_before = gone.iter().chain(&kept).flat_map(|message| &message.lines).map(chars_before).sum();
    kept.iter().flat_map(|message| &message.lines).for_each(|line| counts.note(line.fate));
    let messages: Vec<_> = kept.iter().map(|message| (message.role, HistoryMessage::content(message))).collect();
    counts.messages = messages.len();
    counts.chars_after = messages.iter().map(|(_, content)| content.len()).sum();
    Ok(Recounted { messages, counts })
}

fn chars_before(line: &ToolLine<'_>) -> usize {
    line.chars_before
}

impl RecountCounts {
    fn add<'a, V: Value<'a>>(&mut self, entry: &Entry<'a, V>) {
        self.calls += 1;
        self.orphan_calls += usize::from(entry.result.is_none());
        self.orphan_results += usize::from(entry.call.is_none());
        self.errors += usize::from(entry.is_error());
    }

    fn note(&mut self, fate: ResultOutcome) {
        match fate {
            ResultOutcome::Whole => {}
            ResultOutcome::Cut => self.cut += 1,
            ResultOutcome::CutFurther => self.cut_further += 1,
            ResultOutcome::Shortened => self.shortened += 1,
        }
    }
}
