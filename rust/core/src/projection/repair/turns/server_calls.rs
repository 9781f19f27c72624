//! Calls of server tools without a result, and results without a call: only the provider knows what came of them.
//!
//! A provider that requires pairs gets the messages without them; for any other one they are only reported. A turn that
//! waits for results of the client is not over, and neither is the last one, so a call in them may still be answered.

use ahash::AHashSet;

use super::runs::Run;
use crate::json::value::Value;
use crate::projection::blocks::Block;
use crate::projection::edits::Path;
use crate::projection::repair::ends::is_last_turn_over;
use crate::projection::repair::message_parts::{MessageDraft, Side};
use crate::projection::repair::pairs::Pairs;
use crate::projection::repair::report::Mends;
use crate::projection::repair::state::Repair;

/// Remove calls of server tools that were not answered before their turn was over, and answers to no call. The last turn
/// is over if a user message will be put after it.
pub(super) fn leave_out_unpaired<'a, V: Value<'a>>(repair: &mut Repair<'_, 'a, '_, V>, runs: &[Run]) {
    let (pairs, blocks) = (repair.pairs, repair.edited.blocks);
    if pairs.alone.is_empty() {
        return;
    }
    let callers = callers_in(pairs);
    let is_over = |run: &&Run| run.side == Side::Model && !run.positions.clone().any(|at| callers.contains(&at));
    let is_last_over = is_last_turn_over(repair.edited, (repair.destination, pairs));
    let past = runs.split_last().map_or(&[][..], |(_, past)| if is_last_over { runs } else { past });
    let end = past.iter().rfind(is_over).map_or(0, |run| run.positions.end);
    for (number, path) in &pairs.alone {
        let Some((block, path)) = blocks.get(*number).zip(*path) else { continue };
        let entry = &block.entry;
        let is_gone = |path| repair.edited.is_gone(path);
        let is_waiting = entry.call.is_some() && entry.position >= end;
        if is_waiting || is_gone(path) || is_gone(Path::Message(path.position())) {
            continue;
        }
        repair.edited.take_out(path);
        if entry.call.is_none() {
            repair.report_stray(path, entry.call_id);
        } else {
            repair.mends.add("server_call", Some(entry.position), entry.call_id);
            repair.mends.gone_calls.insert(entry.order);
        }
    }
}

/// Report calls of server tools that have no result although their turn is over, and results without a call.
pub(super) fn report_unpaired<'a, V>(
    message_drafts: &[MessageDraft<'a, V>],
    (blocks, pairs): (&[Block<'a, V>], &Pairs<'a>),
    mends: &mut Mends<'a>,
) {
    if pairs.alone.is_empty() {
        return;
    }
    let end = end_of(message_drafts, pairs);
    let alone = pairs.alone.iter().filter_map(|(number, _)| blocks.get(*number));
    for block in alone.filter(|block| !block.is_dropped) {
        let (position, result_position) = (block.entry.position, block.entry.result_position);
        if block.entry.call.is_none() && !mends.is_left_out(block.result_path) {
            mends.open_kinds.insert(format!("server_tool_result in message {result_position}").into());
        } else if block.entry.call.is_some() && end.is_some_and(|end| position <= end) {
            mends.open_kinds.insert(format!("server_tool_use in message {position}").into());
        }
    }
}

/// Return the position at which the last finished turn of the model ends.
fn end_of<V>(message_drafts: &[MessageDraft<'_, V>], pairs: &Pairs<'_>) -> Option<usize> {
    let callers = callers_in(pairs);
    let mut turns = message_drafts.chunk_by(|one, other| one.side == other.side);
    turns.next_back(); // the last turn is not over
    let has_calls = |draft: &MessageDraft<'_, V>| draft.position.is_some_and(|position| callers.contains(&position));
    let is_over = |turn: &[MessageDraft<'_, V>]| {
        turn.first().is_some_and(|draft| draft.side == Side::Model) && !turn.iter().any(has_calls)
    };
    turns.rfind(|turn| is_over(turn))?.iter().rev().find_map(|draft| draft.position)
}

/// Return the positions of the messages with calls that the client answers.
fn callers_in(pairs: &Pairs<'_>) -> AHashSet<usize> {
    pairs.calls().map(|(path, _)| path.position()).collect()
}
