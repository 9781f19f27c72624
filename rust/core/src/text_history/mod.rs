//! A text history: what was said, turn by turn, and a line for each tool call with the beginning of its result.

mod budget;
mod call_line;
mod host_calls;
mod message;
mod placement;
mod read;
mod thinking;

use ahash::AHashSet;

use self::budget::{Shrunk, shrink};
use self::call_line::{Fate, ToolLine};
use self::host_calls::record_entry;
use self::message::Told;
use self::placement::{joined, place_entries, place_records};
use self::read::Spoken;
use crate::context::inactive_reason;
use crate::context::limits::Measure;
use crate::context::output::Output;
use crate::context::policy::{Reasons, count_reason};
use crate::input::messages::{Halt, Messages};
use crate::json::value::{Key, Value, items};
use crate::pairing::Walk;
use crate::pairing::block::Entry;
use crate::text::Text;

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'s> {
    /// The member by which messages and calls know their turn.
    pub turn_id: Text<'s>,
    /// The number of characters of each result that are shown.
    pub max_result_length: usize,
    /// How much all contents together may take, by a measure.
    pub total: Option<(usize, Measure)>,
}

/// What became of each message and each call. Positions are numbers of messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Messages of the history.
    pub messages: usize,
    /// Calls in all.
    pub calls: usize,
    /// Results that were cut to their own limit.
    pub cut: usize,
    /// Results that were cut for the total.
    pub cut_further: usize,
    /// Calls that stand there alone.
    pub shortened: usize,
    /// Calls that went with their messages.
    pub calls_left_out: usize,
    /// Calls without result.
    pub orphan_calls: usize,
    /// Results without call.
    pub orphan_results: usize,
    /// Results for calls that were answered.
    pub duplicate_results: usize,
    /// Records that were written twice.
    pub repeated_records: usize,
    /// Calls that failed.
    pub errors: usize,
    /// Calls of other branches and of side chains.
    pub excluded: Reasons,
    /// Their messages.
    pub inactive: usize,
    /// Messages from which thoughts were left out.
    pub thinking: usize,
    /// Messages that stand as lines below others.
    pub folded: Vec<usize>,
    /// Messages that held nothing, or thoughts alone.
    pub silent: Vec<usize>,
    /// Messages that nobody says.
    pub without_role: Vec<usize>,
    /// The host's own calls whose turn no message has, by their number.
    pub without_turn: Vec<usize>,
    /// Messages that had no room.
    pub left_out: Vec<usize>,
    /// The characters of all results.
    pub chars_before: usize,
    /// The characters of the history.
    pub chars_after: usize,
    /// The tokens of the history, where the total counts them.
    pub tokens_after: Option<usize>,
    /// True if the total was too small for anything.
    pub budget_too_small: bool,
}

/// A text history: the role and the content of each message, and what became of what it is made of.
#[derive(Debug)]
pub struct Recounted<'a> {
    /// The messages.
    pub messages: Vec<(Text<'a>, Output<'a>)>,
    /// The counts.
    pub counts: Counts,
}

/// A conversation as a text history, with the calls that its host keeps apart, if it does.
pub fn recount<'a, M: Messages<'a>>(
    messages: &M,
    records: Option<M::Item>,
    asked: Asked<'_>,
) -> Result<Recounted<'a>, Halt<M::Error>> {
    let turn_id = Key::named(asked.turn_id);
    let Spoken { mut told, silent, without_role, turns, thinking, inactive } = Spoken::read(messages, turn_id)?;
    let mut counts = Counts { inactive, thinking, ..Counts::default() };
    let mut walk = Walk::new(messages);
    let mut entries = Vec::new();
    while let Some(mut entry) = walk.next_entry()? {
        if entry.is_active {
            entry.read_arguments();
            counts.add(&entry);
            entries.push(entry);
        } else {
            count_reason(&mut counts.excluded, inactive_reason(&entry));
        }
    }
    entries.reverse();
    (counts.duplicate_results, counts.repeated_records) = (walk.duplicate_results, walk.repeated_records());
    place_entries(&mut told, &entries, &turns, asked.max_result_length);
    let records: Vec<_> = records.into_iter().flat_map(items).map(|record| (record, record_entry(record))).collect();
    for (_, entry) in &records {
        counts.add(entry);
    }
    counts.without_turn = place_records(&mut told, &records, &turns, turn_id, asked.max_result_length);

    let told = joined(told);
    let mut standing: AHashSet<usize> = AHashSet::with_capacity(told.len());
    standing.extend(told.iter().filter(|message| !message.is_made).map(|message| message.position));
    let mut holders: AHashSet<usize> = walk.second_positions.iter().copied().collect();
    holders.extend(entries.iter().flat_map(|entry| [entry.position, entry.result_position]));
    let numbers = |positions: Vec<usize>| positions.into_iter().map(|position| messages.number(position)).collect();
    let mut silent: Vec<usize> = silent.into_iter().filter(|position| !standing.contains(position)).collect();
    silent.sort_unstable();
    let (folded, silent) = silent.into_iter().partition(|position| holders.contains(position));
    (counts.folded, counts.silent) = (numbers(folded), numbers(silent));
    counts.without_role = numbers(without_role);
    let is_something = !told.is_empty();
    let Shrunk { kept, gone, size } = match asked.total {
        Some((total, measure)) => shrink(told, total, measure),
        None => Shrunk { kept: told, gone: Vec::new(), size: 0 },
    };
    counts.left_out = numbers(gone.iter().filter(|message| !message.is_made).map(|message| message.position).collect());
    counts.tokens_after = asked.total.filter(|(_, measure)| !measure.is_characters()).map(|_| size);
    counts.budget_too_small = is_something && kept.is_empty();
    counts.calls_left_out = gone.iter().map(|message| message.lines.len()).sum();
    counts.chars_before = gone.iter().chain(&kept).flat_map(|message| &message.lines).map(chars_before).sum();
    kept.iter().flat_map(|message| &message.lines).for_each(|line| counts.note(line.fate));
    let messages: Vec<_> = kept.iter().map(|message| (message.role, Told::content(message))).collect();
    counts.messages = messages.len();
    counts.chars_after = messages.iter().map(|(_, content)| content.len()).sum();
    Ok(Recounted { messages, counts })
}

fn chars_before(line: &ToolLine<'_>) -> usize {
    line.chars_before
}

impl Counts {
    fn add<'a, V: Value<'a>>(&mut self, entry: &Entry<'a, V>) {
        self.calls += 1;
        self.orphan_calls += usize::from(entry.result.is_none());
        self.orphan_results += usize::from(entry.call.is_none());
        self.errors += usize::from(entry.is_error());
    }

    fn note(&mut self, fate: Fate) {
        match fate {
            Fate::Whole => {}
            Fate::Cut => self.cut += 1,
            Fate::CutFurther => self.cut_further += 1,
            Fate::Shortened => self.shortened += 1,
        }
    }
}
