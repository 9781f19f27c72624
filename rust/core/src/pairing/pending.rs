//! Results and calls of one scope that are not paired yet: results with an id, and the turn of those without one.

use std::collections::VecDeque;
use std::collections::hash_map::Entry::Occupied;

use ahash::AHashMap;

use super::block::Entry;
use crate::json::value::Value;
use crate::text::Text;

/// The maximum number of results that a turn leaves to the calls before a user message.
const MAX_LEFT: usize = 256;

/// The calls and results of one turn that can't be paired by id, newest first, as indices of held entries.
#[derive(Debug, Default)]
pub(crate) struct OpenTurn {
    pub(crate) calls: Vec<usize>,
    pub(crate) results: Vec<usize>,
    pub(crate) has_calls: bool,
}

impl OpenTurn {
    /// Pair each result, in order, with the first call of its tool that has no result; a result without a name, with
    /// the first such call of any tool.
    pub(crate) fn pair<'a, V: Value<'a>>(&self, held: &mut [Entry<'a, V>]) {
        for with_id in [false, true] {
            let has_id = |place: &usize| held.get(*place).is_some_and(|entry| !entry.call_id.is_empty());
            let calls: Vec<usize> = self.calls.iter().rev().copied().filter(|call| has_id(call) == with_id).collect();
            self.pair_with(&calls, held);
        }
    }

    /// Return the results that found no call, for the calls before the user message. If there are more than `MAX_LEFT`,
    /// return none, so that the work for each user message is bounded.
    pub(crate) fn rest<V>(mut self, held: &[Entry<'_, V>]) -> Option<Self> {
        self.results.retain(|result| held.get(*result).is_some_and(|entry| entry.result.is_some()));
        // Marked as a turn with calls, so that no results of an earlier turn join them.
        let is_bounded = (1..=MAX_LEFT).contains(&self.results.len());
        is_bounded.then_some(Self { calls: Vec::new(), results: self.results, has_calls: true })
    }

    fn pair_with<'a, V: Value<'a>>(&self, calls: &[usize], held: &mut [Entry<'a, V>]) {
        let mut by_name: AHashMap<Text<'a>, VecDeque<usize>> = AHashMap::new();
        let mut in_order: VecDeque<usize> = calls.iter().copied().collect();
        for call in calls {
            if let Some(entry) = held.get(*call) {
                by_name.entry(entry.name()).or_default().push_back(*call);
            }
        }
        for result in self.results.iter().rev() {
            let Some(waiting) = held.get(*result).filter(|waiting| waiting.result.is_some()) else { continue };
            let name = waiting.tool_name;
            let open = if name.is_empty() { Some(&mut in_order) } else { by_name.get_mut(&name) };
            let Some(open) = open else { continue };
            while open.front().is_some_and(|call| held.get(*call).is_some_and(|entry| entry.result.is_some())) {
                open.pop_front();
            }
            let Some(call) = open.pop_front() else { continue };
            if let Ok([entry, waiting]) = held.get_disjoint_mut([call, *result]) {
                entry.take_over(waiting);
                waiting.result = None;
            }
        }
    }
}

/// The results of one scope that wait for their calls, by id and by turn.
#[derive(Debug, Default)]
pub(crate) struct PendingResults<'a> {
    /// The index of the nearest held result for each id; its `next_waiting` leads to the newer ones.
    pub(crate) pending: AHashMap<Text<'a>, usize>,
    pub(crate) turn: Option<OpenTurn>,
}

impl<'a> PendingResults<'a> {
    /// Remove and return the index of the nearest result that waits for a call with this id.
    pub(crate) fn nearest_result<V>(&mut self, call_id: Text<'a>, held: &[Entry<'a, V>]) -> Option<usize> {
        let Occupied(mut waiting) = self.pending.entry(call_id) else { return None };
        let nearest = *waiting.get();
        match held.get(nearest).and_then(|entry| entry.next_waiting) {
            Some(next) => waiting.insert(next),
            None => waiting.remove(),
        };
        Some(nearest)
    }
}
