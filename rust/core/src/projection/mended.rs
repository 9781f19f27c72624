//! Judge the results of a request as they are after its repair: mend first, then count.
//!
//! A repair makes up results, leaves others out, and moves some to their calls. All of that changes how many results
//! there are, what they measure, what supersedes what, and where a turn ends. So if a request is corrected at all, and a
//! policy asks for such things, its decisions are about the repaired request.

use std::convert::Infallible;

use super::blocks::{Block, CallFacts, place_of, read_blocks, turns_of};
use super::inputs::{are_wanted, read_inputs};
use super::policy::{ClearInputs, Settings};
use super::repair::report::Mends;
use crate::context::policy::NO_LIMIT;
use crate::input::messages::Halt;
use crate::json::value::Value;

/// Return true if the settings count results, or turns.
pub(crate) fn counts(settings: &Settings<'_>) -> bool {
    let totals = [settings.total, settings.max_request_tokens];
    let is_limited = totals.into_iter().flatten().any(|total| total != NO_LIMIT);
    let is_kept = settings.keep_last_results > 0 || settings.keep_last_turns > 0;
    is_limited || is_kept || settings.clear_inputs == ClearInputs::Always
}

/// Count the results as the repair leaves them. Return true if any of them changes by that.
pub(crate) fn count_mends<'a, V: Value<'a>>(blocks: &mut [Block<'a, V>], mends: &Mends<'a>) -> bool {
    if mends.texts.is_empty() && mends.left_out.is_empty() {
        return false;
    }
    let mut is_changed = false;
    for block in blocks {
        let left_out = mends.is_left_out(block.result_path).then_some("");
        let text = mends.texts.get(&block.entry.order).copied().or(left_out);
        if let Some(text) = text.filter(|text| block.made_up != Some(text)) {
            block.stand_in(text);
            is_changed = true;
        }
    }
    is_changed
}

/// Give blocks the properties that they have in the `mended` messages. Return their numbers by turn.
pub(crate) fn adopt<'a, V: Value<'a>>(
    blocks: &mut [Block<'a, V>],
    mended: &[V],
    mends: &Mends<'a>,
    (settings, known): (&Settings<'_>, Option<&[CallFacts]>),
) -> Result<Vec<Vec<usize>>, Halt<Infallible>> {
    count_mends(blocks, mends);
    let mut others = read_blocks(mended, settings, None, None)?.all;
    let Some(partners) = partners_of(blocks, &others, mends) else { return Ok(turns_of(blocks)) };
    if let Some(known) = known {
        let facts: Vec<CallFacts> = partners.iter().filter_map(|number| known.get(*number)).cloned().collect();
        others = read_blocks(mended, settings, Some(&facts), None)?.all;
    }
    if are_wanted(settings, None) {
        read_inputs(&mut others, mended, settings);
    }
    for (number, other) in partners.iter().zip(&others) {
        let by = other.by.and_then(|order| place_of(&others, order)).and_then(|place| partners.get(place));
        let by = by.and_then(|by| blocks.get(*by)).map(|by| by.entry.order);
        if let Some(block) = blocks.get_mut(*number) {
            (block.reason, block.by) = (other.reason, by);
            block.inputs.iter_mut().zip(&other.inputs).for_each(|(own, other)| own.reason = other.reason);
            if block.has_many_marks() && !other.is_fixed() {
                block.free();
            }
        }
    }
    let own = |turn: Vec<usize>| turn.iter().filter_map(|other| partners.get(*other).copied()).collect();
    Ok(turns_of(&others).into_iter().map(own).collect())
}

/// Return the number of the block of each one in the mended messages; `None` if they can't be matched.
///
/// The repair keeps the order of the calls, and that of the results without call which it leaves in. It may have given
/// tools other names.
fn partners_of<'a, V: Value<'a>>(
    blocks: &[Block<'a, V>],
    others: &[Block<'a, V>],
    mends: &Mends<'a>,
) -> Option<Vec<usize>> {
    let is_call = |block: &Block<'a, V>| block.entry.call.is_some() && !mends.gone_calls.contains(&block.entry.order);
    let mut calls = blocks.iter().enumerate().filter(|(_, block)| is_call(block));
    let is_orphan = |block: &Block<'a, V>| block.entry.call.is_none() && !mends.is_left_out(block.result_path);
    let mut orphans = blocks.iter().enumerate().filter(|(_, block)| is_orphan(block));
    let mut found = Vec::with_capacity(others.len());
    for other in others {
        let number = if other.entry.call.is_none() {
            orphans.next()?.0
        } else {
            let (number, block) = calls.next()?;
            let new = other.entry.tool_name;
            let renamed = mends.names.iter().find(|(name, _)| name.text() == new);
            if block.entry.tool_name != renamed.map_or(new, |(_, old)| *old) {
                return None;
            }
            number
        };
        found.push(number);
    }
    (calls.next().is_none() && orphans.next().is_none()).then_some(found)
}
