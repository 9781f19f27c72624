//! Results that stand before their calls, as a client leaves them that sorts its messages or compacts them.
//!
//! No reader pairs them, because a result answers a call before it. But if only one call has the id, the result can belong
//! to no other, and the repair moves it after the call.

use ahash::{AHashMap, AHashSet};

use super::repair::destinations::Destination;
use crate::json::value::Value;
use crate::pairing::block::Entry;

/// Give each call without a result the first one before it with its id, if no other call has the id.
///
/// The entries are in the order of the walk, newest first.
pub(crate) fn join_early<'a, V: Value<'a>>(entries: &mut Vec<Entry<'a, V>>, destination: &Destination) {
    let mut counts = AHashMap::new();
    let mut lost = AHashMap::new();
    for (number, entry) in entries.iter().enumerate() {
        if entry.call.is_some() {
            *counts.entry(entry.call_id).or_insert(0_usize) += 1;
        } else if entry.result.is_some_and(|result| is_only_result(result, destination)) {
            lost.insert(entry.call_id, number);
        }
    }
    let mut joined = AHashSet::new();
    for number in 0..entries.len() {
        let Some(entry) = entries.get(number).filter(|entry| entry.result.is_none()) else { continue };
        let is_alone = !entry.call_id.is_empty() && counts.get(&entry.call_id) == Some(&1);
        let Some(call) = entry.call.filter(|_| is_alone) else { continue };
        let found = lost.get(&entry.call_id).and_then(|place| entries.get(*place));
        let is_before = |early: &&Entry<'a, V>| early.position < entry.position && early.scope == entry.scope;
        let Some(early) = found.filter(is_before).filter(|_| destination.is_call(call)).cloned() else { continue };
        joined.insert(early.order);
        if let Some(entry) = entries.get_mut(number) {
            entry.take_over(&early);
        }
    }
    entries.retain(|entry| !joined.contains(&entry.order));
}

/// Return true if a result without call has the id of a call without result.
pub(crate) fn has_early<'b, 'a: 'b, V: 'b>(entries: impl Iterator<Item = &'b Entry<'a, V>> + Clone) -> bool {
    let lost = entries.clone().filter(|entry| entry.call.is_none()).map(|entry| entry.call_id);
    let lost: AHashSet<_> = lost.collect();
    let mut waiting = entries.filter(|entry| entry.result.is_none());
    !lost.is_empty() && waiting.any(|entry| !entry.call_id.is_empty() && lost.contains(&entry.call_id))
}

/// Return true if a result has the form of the destination's results, and is no call as well.
fn is_only_result<'a, V: Value<'a>>(result: V, destination: &Destination) -> bool {
    let is_both = destination.can_be_call_and_result() && destination.is_call(result);
    destination.is_result(result) && !is_both
}
