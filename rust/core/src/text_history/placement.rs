//! The placement of call lines below messages.
//!
//! A call found in the messages is placed below the assistant message that made it. A call from a host's records is
//! placed below the first assistant message of its turn; a turn without one gets a message of its own. A record that
//! belongs to no turn is placed below the nearest earlier assistant message.

use ahash::AHashMap;

use super::call_line::ToolLine;
use super::message::{HistoryMessage, TurnId};
use crate::json::value::{Key, Value, names};
use crate::pairing::block::Entry;

/// A position after all messages.
const END: usize = usize::MAX;

/// Add the lines of a conversation's calls, oldest first, to its messages. Both are in order of position.
///
/// A result without a call was not made by the message that holds it, so its line goes below the nearest earlier
/// assistant message. `turns` holds the turn of each message by position, in order.
pub(super) fn place_entries<'a, V: Value<'a>>(
    history_messages: &mut Vec<HistoryMessage<'a>>,
    entries: &[Entry<'a, V>],
    turns: &[(usize, TurnId<'a>)],
    limit: usize,
) {
    let turn_of = |entry: &Entry<'a, V>| {
        let found = turns.binary_search_by_key(&entry.position, |(position, _)| *position).ok()?;
        turns.get(found).map(|(_, turn)| *turn)
    };
    let mut seated: Vec<HistoryMessage<'a>> = Vec::with_capacity(history_messages.len());
    let mut early = Vec::new();
    let mut nearest: Option<usize> = None;
    let mut waiting = std::mem::take(history_messages).into_iter().peekable();
    let mut calls = (0, 0); // those so far of the message at a position
    for entry in entries {
        if calls.0 != entry.position {
            calls = (entry.position, 0);
        }
        while let Some(message) = waiting.next_if(|message| (message.position, message.calls_before) <= calls) {
            if message.is_assistants() {
                nearest = Some(seated.len());
            }
            seated.push(message);
        }
        let is_below = nearest.and_then(|nearest| seated.get(nearest)).is_some_and(|it| it.position >= entry.position);
        if entry.call.is_some() && !is_below {
            nearest = Some(seated.len());
            seated.push(HistoryMessage::made(entry.position, turn_of(entry)));
        }
        calls.1 += usize::from(entry.call.is_some());
        let line = ToolLine::new(entry, limit);
        match nearest.and_then(|nearest| seated.get_mut(nearest)) {
            Some(message) => message.lines.push(line),
            None => early.push(line),
        }
    }
    seated.extend(waiting);
    *history_messages = seated;
    if !early.is_empty() {
        let first = first_assistant(history_messages);
        if let Some(message) = history_messages.get_mut(first) {
            message.lines.splice(0..0, early);
        }
    }
}

/// Add the lines of a host's records. Return the numbers of the records whose turn no message has.
pub(super) fn place_records<'a, V: Value<'a>>(
    history_messages: &mut Vec<HistoryMessage<'a>>,
    records: &[(V, Entry<'a, V>)],
    turns: &[(usize, TurnId<'a>)],
    turn_id: Key<'_>,
    limit: usize,
) -> Vec<usize> {
    let mut of_turn: AHashMap<TurnId<'a>, usize> = AHashMap::new();
    let last_of_turn: AHashMap<TurnId<'a>, usize> = turns.iter().map(|(position, turn)| (*turn, *position)).collect();
    let mut assistants: Vec<(usize, usize)> = Vec::new();
    for (number, message) in history_messages.iter().enumerate() {
        if message.is_assistants() {
            if let Some(turn) = message.turn {
                of_turn.entry(turn).or_insert(number);
            }
            assistants.push((message.position, number));
        }
    }
    let mut without_turn = Vec::new();
    let mut seat: Option<usize> = None;
    for (number, (record, entry)) in records.iter().enumerate() {
        let turn = TurnId::of(*record, turn_id);
        if let Some((turn, last)) = turn.and_then(|turn| Some((turn, *last_of_turn.get(&turn)?))) {
            seat = Some(*of_turn.entry(turn).or_insert_with(|| {
                history_messages.push(HistoryMessage::made(last, Some(turn)));
                history_messages.len() - 1
            }));
        } else {
            without_turn.push(number);
            if let Some(position) = record.get(names::POSITION).and_then(Value::integer) {
                let after = assistants.partition_point(|(own, _)| i64::try_from(*own).is_ok_and(|own| own <= position));
                seat = assistants.get(after.saturating_sub(1)).map(|(_, number)| *number).or(seat);
            }
        }
        let place = *seat.get_or_insert_with(|| first_assistant(history_messages));
        if let Some(message) = history_messages.get_mut(place) {
            message.lines.push(ToolLine::new(entry, limit));
        }
    }
    history_messages.sort_by_key(|message| message.position);
    without_turn
}

/// Return the index of the first assistant message; add one at the end if it is missing.
fn first_assistant(history_messages: &mut Vec<HistoryMessage<'_>>) -> usize {
    history_messages.iter().position(HistoryMessage::is_assistants).unwrap_or_else(|| {
        history_messages.push(HistoryMessage::made(END, None));
        history_messages.len() - 1
    })
}

/// Drop messages without text and lines. A message that has only lines is joined to the assistant message right before
/// it, if that is in the same turn or the message has no turn.
pub(super) fn joined(history_messages: Vec<HistoryMessage<'_>>) -> Vec<HistoryMessage<'_>> {
    let mut kept: Vec<HistoryMessage<'_>> = Vec::with_capacity(history_messages.len());
    for mut message in history_messages {
        if message.text.is_empty() {
            if message.lines.is_empty() {
                continue;
            }
            if let Some(last) = kept.last_mut()
                && last.is_assistants()
                && (message.turn.is_none() || message.turn == last.turn)
            {
                last.lines.append(&mut message.lines);
                continue;
            }
        }
        kept.push(message);
    }
    kept
}
