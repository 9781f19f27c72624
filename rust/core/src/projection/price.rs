//! Decide if a change of what was sent before pays, at every price that a provider may charge.
//!
//! A provider's cache holds the beginning of a request as it was sent the last time. A change takes what is behind it out
//! of the cache: it has to be written again. From then on, the removed part is read no more.
//!
//! ```text
//! sent      A B C D      now unchanged   A B C D E    read A B C D, write E
//!                        B is removed    A C D E      read A, write C D E          removed: B, behind: C D
//! ```
//!
//! Two numbers say what a conversation has saved so far, at any price: the bytes that were written less than without a
//! projection, and those that were read less. Either may be negative. Since cost is linear in both, what holds at the
//! lowest and at the highest ratio of the two prices holds at every price between them.
//!
//! A change is made only if it pays and is covered:
//!
//! - It pays if the part that is read no more, in this request and in as many more as the conversation has had, costs more
//!   than writing what is behind it.
//! - It is covered if all that was saved before is worth as much as writing the whole request again. That is the worst
//!   case: a cache may be searched only near its marks. So a conversation that ends with this request costs no more than
//!   without a projection.
//!
//! Bytes are compared with bytes, as everywhere where savings are estimated.

use super::policy::{Price, Savings};

/// A replacement in a message that was sent before: the position of the call, and the bytes that it saves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Change {
    pub(crate) position: usize,
    pub(crate) saved: isize,
}

/// What was sent before, and what this request adds.
pub(crate) struct Sent<'w> {
    /// The number of messages at the beginning that are as they were sent.
    pub(crate) messages: usize,
    /// What the conversation has saved before this request.
    pub(crate) savings: Savings,
    /// The bytes behind the messages, if they are known; those before belong to the first one.
    pub(crate) frame: usize,
    /// The bytes of the messages between two positions, before any replacement.
    pub(crate) weigh: &'w dyn Fn(usize, usize) -> usize,
}

/// Return the position from which changes are made together, so that they save the most; `None` if none may be made.
///
/// `made` are the replacements that stand already, those in new messages included. `changes` are the wanted ones. As many
/// requests are expected as there were.
pub(crate) fn start_of_changes(
    sent: &Sent<'_>,
    (prices, requests): (&[Price], usize),
    made: &mut [Change],
    changes: &mut [Change],
) -> Option<usize> {
    let requests = requests.cast_signed();
    let newest_first = |change: &Change| std::cmp::Reverse(change.position);
    made.sort_unstable_by_key(newest_first);
    changes.sort_unstable_by_key(newest_first);
    let new: isize = made.iter().filter(|each| each.position >= sent.messages).map(|each| each.saved).sum();
    let mut standing = made.iter().filter(|each| each.position < sent.messages).peekable();
    let before: isize = standing.clone().map(|each| each.saved).sum();
    let whole = ((sent.weigh)(0, sent.messages) + sent.frame).cast_signed() - before;
    let (mut end, mut behind, mut removed) = (sent.messages, 0, 0);
    let mut best: Option<(isize, usize)> = None;
    let mut changes = changes.iter().peekable();
    while let Some(change) = changes.next() {
        let position = change.position;
        behind += (sent.weigh)(position, end).cast_signed() - change.saved;
        end = position;
        removed += change.saved;
        while let Some(known) = standing.next_if(|known| known.position >= position) {
            behind -= known.saved;
        }
        if changes.peek().is_some_and(|next| next.position == position) {
            continue; // all changes of one message are made together
        }
        let gain = |price: &Price| {
            let less = Savings { written: -behind, read: behind + removed.saturating_mul(requests.saturating_add(1)) };
            less.at(*price)
        };
        let rest = whole - removed;
        let worst = sent.savings.and(Savings { written: new - rest, read: before + removed + rest });
        if prices.iter().all(|price| worst.at(*price) >= 0)
            && let Some(gain) = prices.iter().map(gain).min().filter(|gain| *gain > 0)
            && best.is_none_or(|(most, _)| gain > most)
        {
            best = Some((gain, position));
        }
    }
    best.map(|(_, position)| position)
}

#[cfg(test)]
mod tests {
    use super::{Change, Price, Savings, Sent, start_of_changes};

    const CLAUDE: Price = Price { write: 12_500, read: 1_000 };
    const NO_CACHE: Price = Price { write: 10_000, read: 10_000 };

    /// Ask for changes of 5,000 bytes in messages of 10,000 each, ten of which were sent.
    fn start(prices: &[Price], savings: Savings, requests: usize, positions: &[usize]) -> Option<usize> {
        let weigh = |start: usize, end: usize| 10_000 * end.saturating_sub(start);
        let sent = Sent { messages: 10, savings, frame: 0, weigh: &weigh };
        let mut changes: Vec<Change> = positions.iter().map(|at| Change { position: *at, saved: 5_000 }).collect();
        start_of_changes(&sent, (prices, requests), &mut [], &mut changes)
    }

    #[test]
    fn without_a_cache_every_change_is_made() {
        assert_eq!(start(&[NO_CACHE], Savings::default(), 1, &[2, 7]), Some(2));
        assert_eq!(start(&[NO_CACHE], Savings::default(), 1, &[]), None);
    }

    #[test]
    fn a_change_has_to_be_covered() {
        let rich = Savings { written: 0, read: 2_000_000 };
        assert_eq!(start(&[CLAUDE], Savings::default(), 1_000, &[9]), None);
        assert_eq!(start(&[CLAUDE], rich, 1_000, &[9]), Some(9));
        assert_eq!(start(&[CLAUDE, NO_CACHE], rich, 1_000, &[9]), Some(9));
    }

    #[test]
    fn a_change_has_to_pay() {
        let rich = Savings { written: 10_000_000, read: 10_000_000 };
        assert_eq!(start(&[CLAUDE], rich, 1, &[9]), None);
        assert_eq!(start(&[CLAUDE], rich, 100, &[9]), Some(9));
    }

    #[test]
    fn changes_are_made_from_the_best_place_on() {
        let rich = Savings { written: 10_000_000, read: 10_000_000 };
        assert_eq!(start(&[CLAUDE], rich, 20, &[0, 9]), Some(9));
        assert_eq!(start(&[CLAUDE], rich, 500, &[0, 9]), Some(0));
    }
}
