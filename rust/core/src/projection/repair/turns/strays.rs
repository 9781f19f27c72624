//! Results that answer no call of the turn before them.
//!
//! Most are left out together with their parts, while a turn is written. This file finds them, and removes those that
//! stand where a part would take more with it: messages of their own, parts that are also a call, and parts with other
//! members.

use ahash::AHashSet;

use super::runs::paths_of;
use crate::json::value::{Key, Value, names};
use crate::projection::edits::Path;
use crate::projection::repair::message_parts::part_at;
use crate::projection::repair::state::Repair;
use crate::text::Text;

/// The members of a part of Gemini that say nothing without its content.
const ASIDE_KEYS: [Key<'static>; 5] = [
    names::THOUGHT,
    names::THOUGHT_SIGNATURE,
    Key::new("thought_signature"),
    Key::new("partMetadata"),
    Key::new("part_metadata"),
];

/// Return true if there is a result at a path.
pub(super) fn is_result<'a, V: Value<'a>>(repair: &Repair<'_, 'a, '_, V>, path: Path) -> bool {
    let Repair { edited, destination, pairs, .. } = repair;
    if pairs.is_stray(path) {
        return true;
    }
    let Some(part) = part_at(edited, path) else { return false };
    if destination.is_result(part) {
        return !pairs.is_other(path) && pairs.call_at(path).is_none();
    }
    // If one server tool result names a call of the client, others would answer it in the next repair.
    pairs.has_strays() && pairs.is_misplaced(path, part)
}

/// Report a result that is removed. A result of a known call is moved, and reported at its new place.
pub(super) fn report_foreign<'a, V: Value<'a>>(repair: &mut Repair<'_, 'a, '_, V>, path: Path) {
    if repair.pairs.owner(path).is_some() {
        return;
    }
    let part = part_at(repair.edited, path);
    let call_id = part.map_or(Text::ascii(""), |part| repair.destination.result_id.text(part));
    repair.report_stray(path, call_id);
}

/// Leave out results without a call that are messages of their own. This happens if Chat results without calls are
/// mixed with messages of another provider, recognised by their thinking.
pub(super) fn leave_out_messages<'a, V: Value<'a>>(repair: &mut Repair<'_, 'a, '_, V>) {
    if repair.pairs.orphan_ids.is_empty() {
        return;
    }
    let blocks = repair.edited.blocks;
    for block in blocks.iter().filter(|block| block.entry.call.is_none()) {
        if let Some(path @ Path::Message(_)) = block.result_path.filter(|path| !repair.pairs.is_other(*path)) {
            repair.edited.take_out(path);
            repair.report_stray(path, block.entry.call_id);
        }
    }
}

/// Remove the result from each part that is also a call.
pub(super) fn part_from_calls<'a, V: Value<'a>>(repair: &mut Repair<'_, 'a, '_, V>) {
    let (pairs, destination) = (repair.pairs, repair.destination);
    if !destination.can_be_call_and_result() {
        return;
    }
    for (path, number) in pairs.calls() {
        if part_at(repair.edited, path).is_some_and(|part| destination.is_result(part)) {
            take_result_out_of(repair, path);
            let call_id = repair.call_id(Some(number));
            repair.mends.add("orphan_result", Some(path.position()), call_id);
        }
    }
}

/// Remove results without a call from parts that hold more, so that nothing else is lost with them. Return the paths of
/// these parts.
pub(super) fn free_parts<'a, V: Value<'a>>(repair: &mut Repair<'_, 'a, '_, V>) -> AHashSet<Path> {
    let Repair { destination, edited, pairs, .. } = &*repair;
    if !destination.can_be_call_and_result() {
        return AHashSet::new();
    }
    let positions = (0..edited.messages.len()).filter(|position| !edited.guard.contains(position));
    let paths = positions.flat_map(|position| paths_of(edited, position, destination.key));
    let is_stray = |path: &Path| is_result(repair, *path) && pairs.owner(*path).is_none();
    let holders = destination.result_id.holders;
    let holds_more = |path: &Path| part_at(edited, *path).is_some_and(|part| holds_more(part, holders));
    let found: Vec<Path> = paths.filter(|path| is_stray(path) && holds_more(path)).collect();
    for path in &found {
        report_foreign(repair, *path);
        take_result_out_of(repair, *path);
    }
    found.into_iter().collect()
}

/// Remove the members of a part that hold its result.
fn take_result_out_of<'a, V: Value<'a>>(repair: &mut Repair<'_, 'a, '_, V>, path: Path) {
    let holders = repair.destination.result_id.holders;
    repair.edited.edit(path, holders.iter().map(|holder| (*holder, None)).collect());
}

/// Return true if a part has a member that neither holds its result nor describes the part.
pub(crate) fn holds_more<'a, V: Value<'a>>(part: V, holders: &[Key<'static>]) -> bool {
    part.size_without_nulls() > holders.iter().chain(&ASIDE_KEYS).filter(|key| part.has(**key)).count()
}
