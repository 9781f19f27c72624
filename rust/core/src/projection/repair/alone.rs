//! What stands alone of a provider's own calls and answers: it is told, since what came of it only the provider knows.
//! The twin is `_pure/project/mend/alone.py`.

use ahash::AHashSet;

use super::message_parts::{Sheet, Side};
use super::pairs::Pairs;
use super::report::Mends;
use crate::projection::blocks::Block;

/// Tell of calls that were not answered before their turn was over, and of answers to no call.
pub(crate) fn tell_alone<'a, V>(
    sheets: &[Sheet<'a, V>],
    (blocks, pairs): (&[Block<'a, V>], &Pairs<'a>),
    mends: &mut Mends<'a>,
) {
    if pairs.alone.is_empty() {
        return;
    }
    let end = end_of(sheets, pairs);
    for block in pairs.alone.iter().filter_map(|number| blocks.get(*number)) {
        let (position, result_position) = (block.entry.position, block.entry.result_position);
        if block.entry.call.is_none() && !mends.is_left_out(block.result_path) {
            mends.open_kinds.insert(format!("server_tool_result in message {result_position}").into());
        } else if block.entry.call.is_some() && end.is_some_and(|end| position <= end) {
            mends.open_kinds.insert(format!("server_tool_use in message {position}").into());
        }
    }
}

/// Where the last turn of the model's ends that is over. One goes on that waits for the client's results, and so does the
/// last.
fn end_of<V>(sheets: &[Sheet<'_, V>], pairs: &Pairs<'_>) -> Option<usize> {
    let callers: AHashSet<usize> = pairs.calls().map(|(path, _)| path.position()).collect();
    let mut turns = sheets.chunk_by(|one, other| one.side == other.side);
    turns.next_back();
    let is_over = |turn: &[Sheet<'_, V>]| {
        turn.first().is_some_and(|sheet| sheet.side == Side::Model)
            && !turn.iter().filter_map(|sheet| sheet.position).any(|position| callers.contains(&position))
    };
    turns.rfind(|turn| is_over(turn))?.iter().rev().find_map(|sheet| sheet.position)
}
