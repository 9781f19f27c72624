//! Calls of server tools without a result, and results without a call: only the provider knows what came of them.
//!
//! A provider that requires pairs gets the messages without them; for any other one they are only reported. A turn that
//! waits for results of the client is not over, and neither is the last one, so a call in them may still be answered.
//! Words of the user next to the results end it: "If the assistant turn also called a server tool that has no result block
//! yet, the user message must contain only `tool_result` blocks",
//! <https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls>. What the user said is kept, and the
//! server's call is given up.

use ahash::{AHashMap, AHashSet};

use super::runs::{Run, paths_of};
use super::strays::is_result;
use crate::content::has_no_word;
use crate::json::value::{Key, Value, names, text_or_empty};
use crate::projection::blocks::Block;
use crate::projection::edits::{Draft, Path};
use crate::projection::repair::ends::is_last_turn_over;
use crate::projection::repair::message_parts::{MessageDraft, Side, is_blank, part_at};
use crate::projection::repair::pairs::Pairs;
use crate::projection::repair::report::Mends;
use crate::projection::repair::state::Repair;
use crate::text::Text;
use crate::text::piece::Piece;

/// The member of a call that names the server's call whose code made it.
const CALLER: Key<'static> = Key::new("caller");
const TOOL_ID: Key<'static> = Key::new("tool_id");

/// Remove calls of server tools that were not answered before their turn was over, and answers to no call. The last turn
/// is over if a user message will be put after it. `outside` has the parts that move out of a result.
///
/// Return the positions at which the user's turns begin that ended such a turn: their results are sent alone.
pub(super) fn leave_out_unpaired<'a, V: Value<'a>>(
    repair: &mut Repair<'_, 'a, '_, V>,
    runs: &[Run],
    outside: &AHashMap<Path, Vec<Draft<'a, V>>>,
) -> AHashSet<usize> {
    let (pairs, blocks) = (repair.pairs, repair.edited.blocks);
    if pairs.alone.is_empty() {
        return AHashSet::new();
    }
    let callers = callers_in(pairs);
    let waits = |run: &Run| run.positions.clone().any(|at| callers.contains(&at));
    let is_interrupted = |index: usize| {
        let next = runs.get(index + 1).filter(|run| run.side == Side::User);
        next.is_some_and(|run| {
            run.positions.clone().any(|at| has_words(repair, at))
                || outside.keys().any(|path| run.positions.contains(&path.position()))
        })
    };
    let is_last_over = is_last_turn_over(repair.edited, (repair.destination, pairs));
    let past = runs.split_last().map_or(&[][..], |(_, past)| if is_last_over { runs } else { past });
    let is_over = |(index, run): &(usize, &Run)| run.side == Side::Model && (!waits(run) || is_interrupted(*index));
    let over: Vec<(usize, &Run)> = past.iter().enumerate().filter(is_over).collect();
    let end = over.last().map_or(0, |(_, run)| run.positions.end);
    let mut gone: AHashSet<Text<'a>> = AHashSet::new();
    let mut apart: AHashSet<usize> = AHashSet::new();
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
            gone.insert(entry.call_id);
            let own = over.iter().find(|(_, run)| entry.position < run.positions.end);
            apart.extend(own.and_then(|(index, _)| runs.get(index + 1)).map(|run| run.positions.start));
        }
    }
    if !gone.is_empty() {
        leave_out_callers(repair, &gone);
    }
    apart
}

/// Remove from the client's calls the names of server's calls that are gone: they are calls of the model now.
fn leave_out_callers<'a, V: Value<'a>>(repair: &mut Repair<'_, 'a, '_, V>, gone: &AHashSet<Text<'a>>) {
    for (path, number) in repair.pairs.calls() {
        let caller = part_at(repair.edited, path).and_then(|call| call.get(CALLER)?.object());
        if caller.is_some_and(|caller| gone.contains(&text_or_empty(caller.get(TOOL_ID)))) {
            repair.edited.edit(path, vec![(CALLER, None)]);
            let (position, call_id) = (Some(path.position()), repair.call_id(Some(number)));
            repair.mends.add_with("refused_member", position, call_id, Piece::Borrowed(CALLER.name));
        }
    }
}

/// Return true if a message of the user holds more than results.
fn has_words<'a, V: Value<'a>>(repair: &Repair<'_, 'a, '_, V>, position: usize) -> bool {
    let Repair { edited, destination, .. } = repair;
    if edited.is_gone(Path::Message(position)) {
        return false;
    }
    if edited.list(position, destination.key).is_none() {
        let content = edited.message_at(position).and_then(|message| message.get(names::CONTENT));
        return content.is_some_and(|content| content.text_len().is_some() && !has_no_word(content));
    }
    let is_word = |path: Path| {
        let part = part_at(edited, path).filter(|part| !is_blank(destination, *part));
        part.is_some() && !edited.is_gone(path) && !is_result(repair, path)
    };
    paths_of(edited, position, destination.key).any(is_word)
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
