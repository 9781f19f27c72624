//! The beginning of a request that is as it was sent, and what the request saves in a provider's prompt cache.
//!
//! Sizes are bytes of the messages, which their source reports.

use ahash::AHashSet;

use super::blocks::Block;
use super::policy::{Mend, OwnMend, Previous, Savings};
use super::repair::report::Mends;
use crate::context::limits::signed;
use crate::json::value::Value;
use crate::text::constants::FRAME_MENDS;

/// The decisions about this request.
pub(super) struct CurrentDecisions<'n, 'a, V> {
    pub(super) blocks: &'n [Block<'a, V>],
    /// The number of messages.
    pub(super) messages: usize,
    pub(super) mends: &'n Mends<'a>,
    /// The number of messages at the beginning that are as they were sent, if there was a previous projection.
    pub(super) standing: usize,
    /// The first message from which an image went that it had before.
    pub(super) without_image: Option<usize>,
}

impl<'n, 'a, V> CurrentDecisions<'n, 'a, V> {
    /// Return the blocks whose results are in the request. A decision about a result that the repair left out changes
    /// nothing.
    fn sent(&self) -> impl Iterator<Item = &'n Block<'a, V>> {
        self.blocks.iter().filter(|block| !self.mends.is_left_out(block.result_path))
    }
}

/// Return the first message that differs from the previous projection or, without one, from the request.
fn first_changed<'a, V: Value<'a>>(now: &CurrentDecisions<'_, 'a, V>, previous: Option<&Previous>) -> usize {
    let known = previous.map_or(now.messages, |_| now.standing);
    let decided = now.sent().filter(|block| {
        let before = previous.filter(|_| block.is_known).and_then(|previous| previous.made.get(&*block.reference));
        block.decision.as_ref() != before
    });
    let decided = decided.map(|block| block.entry.result_position);
    let was_dropped = |block: &Block<'_, V>| {
        block.is_known && previous.is_some_and(|previous| previous.dropped.contains(&*block.reference))
    };
    let is_other = |block: &&Block<'a, V>| {
        block.inputs.iter().any(|each| {
            let was_cleared =
                each.is_known && previous.is_some_and(|previous| previous.made.contains_key(&each.reference));
            (each.is_cleared && !block.is_dropped) != was_cleared
        })
    };
    let other_inputs = now.sent().filter(is_other).map(|block| block.entry.position);
    let dropped = now.sent().filter(|block| block.is_dropped != was_dropped(block));
    let dropped = dropped.map(|block| block.entry.position);
    let others = other_mends(&now.mends.made, previous).into_iter().chain(now.without_image);
    let changed = decided.chain(dropped).chain(other_inputs).chain(others).min();
    changed.unwrap_or(known).min(known).min(now.messages)
}

/// Return the first message with a correction that only one of the two projections made.
fn other_mends(now: &[Mend<'_>], previous: Option<&Previous>) -> Option<usize> {
    let then = previous.map_or(&[][..], |previous| &previous.mends);
    let then: AHashSet<Mend<'_>> = then.iter().map(OwnMend::mend).collect();
    let own: AHashSet<Mend<'_>> = now.iter().cloned().collect();
    let place = |mend: &Mend<'_>| mend.position.or_else(|| FRAME_MENDS.contains(&&*mend.kind).then_some(0));
    own.symmetric_difference(&then).filter_map(place).min()
}

/// The bytes of a request that a provider's cache may hold.
pub(super) struct Prefix {
    /// The bytes of the unchanged prefix.
    pub(super) stable: isize,
    /// The bytes that were sent before and have to be read again.
    pub(super) broken: isize,
    /// What this request saves; nothing is known of the first one.
    pub(super) saved: Savings,
    /// The bytes that are written into the cache, those that are read from it, and those of the unchanged request.
    pub(super) paid: [isize; 3],
}

/// Estimate the sizes of the unchanged prefix and of what has to be read again, and what the request saves.
///
/// Without a projection, all that was sent before would be read from the cache, and all that is new written into it.
///
/// `frame` are the bytes behind the messages. A provider reads the members there first, so that they are cached with any
/// beginning.
pub(super) fn prefix_of<'a, V: Value<'a>>(
    now: &CurrentDecisions<'_, 'a, V>,
    previous: Option<&Previous>,
    weigh: impl Fn(usize, usize) -> usize,
    frame: usize,
) -> Prefix {
    let changed = first_changed(now, previous);
    let sent = previous.map_or(changed, |_| now.standing.min(now.messages));
    let (mut stable, mut broken) = (signed(weigh(0, changed)), signed(weigh(changed, sent)));
    let (mut in_sent, mut in_new) = (0, 0);
    let mut count = |position: usize, saved: isize| {
        if position < changed {
            stable -= saved;
        } else if position < sent {
            broken -= saved;
        }
        *if position < sent { &mut in_sent } else { &mut in_new } += saved;
    };
    for block in now.sent() {
        for each in block.cleared() {
            count(block.entry.position, each.saved());
        }
        if block.decision.is_some() {
            count(block.entry.result_position, block.saved());
        }
    }
    let broken = broken.max(0);
    let saved =
        previous.map_or_else(Savings::default, |_| Savings { written: in_new - broken, read: in_sent + broken });
    let unchanged = signed(weigh(0, now.messages) + frame);
    let whole = unchanged - in_sent - in_new;
    let read = if previous.is_some() && stable > 0 { (stable + signed(frame)).min(whole) } else { 0 };
    Prefix { stable, broken, saved, paid: [whole - read, read, unchanged] }
}
