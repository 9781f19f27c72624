//! How much of a request stands as it did, which is what a prompt cache keeps, by bytes.
//! The twin is `_pure/project/sizes.py`; how much messages weigh, the doors say.

use ahash::AHashSet;

use super::blocks::Block;
use super::decide::BYTES_PER_TOKEN;
use super::policy::{Mend, OwnMend, Previous};
use super::repair::report::Mends;
use crate::context::limits::{room_of, signed};
use crate::json::value::Value;

/// What was decided for this request.
pub(crate) struct Now<'n, 'a, V> {
    pub(crate) blocks: &'n [Block<'a, V>],
    /// How many messages there are.
    pub(crate) messages: usize,
    pub(crate) mends: &'n Mends<'a>,
    /// How many messages stand as they were sent, with a projection before.
    pub(crate) standing: usize,
}

impl<'n, 'a, V> Now<'n, 'a, V> {
    /// The blocks whose results were not left out: what is decided of a result that is in no request changes none.
    fn sent(&self) -> impl Iterator<Item = &'n Block<'a, V>> {
        self.blocks.iter().filter(|block| !self.mends.is_left_out(block.result_path))
    }
}

/// The first message that is not as the previous projection had it; without one, as it came.
fn first_changed<V>(now: &Now<'_, '_, V>, previous: Option<&Previous>) -> usize {
    let known = previous.map_or(now.messages, |_| now.standing);
    let decided = now.sent().filter(|block| {
        let before = previous.filter(|_| block.is_known).and_then(|previous| previous.made.get(&*block.reference));
        block.decision.as_ref() != before
    });
    let decided = decided.map(|block| block.entry.result_position);
    let was_dropped = |block: &Block<'_, V>| {
        block.is_known && previous.is_some_and(|previous| previous.dropped.contains(&*block.reference))
    };
    let dropped = now.sent().filter(|block| block.is_dropped != was_dropped(block));
    let dropped = dropped.map(|block| block.entry.position);
    let changed = decided.chain(dropped).chain(other_mends(&now.mends.made, previous)).min();
    changed.unwrap_or(known).min(known).min(now.messages)
}

/// The messages of the mends that were made now or then, and not both.
fn other_mends(now: &[Mend<'_>], previous: Option<&Previous>) -> Option<usize> {
    let then = previous.map_or(&[][..], |previous| &previous.mends);
    let then: AHashSet<Mend<'_>> = then.iter().map(OwnMend::mend).collect();
    let own: AHashSet<Mend<'_>> = now.iter().cloned().collect();
    own.symmetric_difference(&then).filter_map(|mend| mend.position).min()
}

/// How many tokens stand as they did, and how many that were sent before have to be read anew; estimates.
pub(crate) fn prefix_tokens<'a, V: Value<'a>>(
    now: &Now<'_, 'a, V>,
    previous: Option<&Previous>,
    weigh: impl Fn(usize, usize) -> usize,
) -> (usize, usize) {
    let changed = first_changed(now, previous);
    let sent = previous.map_or(changed, |_| now.standing.min(now.messages));
    let (mut stable, mut broken) = (signed(weigh(0, changed)), signed(weigh(changed, sent)));
    for block in now.sent().filter(|block| block.decision.is_some()) {
        if block.entry.result_position < changed {
            stable -= block.saved();
        } else if block.entry.result_position < sent {
            broken -= block.saved();
        }
    }
    (room_of(stable) / BYTES_PER_TOKEN, room_of(broken) / BYTES_PER_TOKEN)
}
