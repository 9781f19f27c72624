//! The messages that a repair leaves alone: those of an exchange in which something could not be read.
//!
//! A message of unknown structure may hold the call of a result after it, or the result of a call before it. Both are in
//! its exchange, which lasts from one message that only the user speaks in to the next. So nothing in the exchange is
//! removed, made up, moved, merged or renamed.

use std::collections::BTreeSet;

use ahash::AHashSet;

use crate::content::{is_white, spoken_text};
use crate::formats::read_spoken;
use crate::json::value::Value;
use crate::pairing::is_users;
use crate::projection::blocks::Block;

/// The most messages that are named one by one.
const MOST_NAMED: usize = 5;

/// Return the positions of the messages that a repair leaves alone; none if everything was read. `unread` are the
/// positions of the messages that were not, and `seconds` those of second results.
pub(crate) fn guarded<'a, V: Value<'a>>(
    messages: &[V],
    blocks: &[Block<'a, V>],
    unread: &BTreeSet<usize>,
    seconds: &[usize],
) -> AHashSet<usize> {
    let mut found = AHashSet::new();
    if unread.is_empty() {
        return found;
    }
    let mut busy: AHashSet<usize> = unread.iter().chain(seconds).copied().collect();
    busy.extend(blocks.iter().flat_map(|block| [block.entry.position, block.entry.result_position]));
    let is_spoken = |(position, message): (usize, &V)| {
        (!busy.contains(&position) && is_users(*message) && says_a_word(*message)).then_some(position)
    };
    let mut ends = messages.iter().enumerate().filter_map(is_spoken).chain([messages.len()]);
    let (mut start, mut end) = (0, ends.next().unwrap_or(0));
    for position in unread {
        while end < *position {
            start = end + 1;
            end = ends.next().unwrap_or(messages.len());
        }
        if !found.contains(position) {
            found.extend(start..end);
        }
    }
    found
}

/// Return true if a message has a text that is not blank: a blank one may be removed, and ends no exchange.
fn says_a_word<'a, V: Value<'a>>(message: V) -> bool {
    let content = spoken_text(read_spoken(message).content);
    let whole = content.whole();
    let text = whole.text();
    (0..text.len()).any(|index| !text.get(index).is_some_and(is_white))
}

/// Name the places of what was not read; nothing if everything was read. The first messages are named, and the others
/// counted.
pub(crate) fn unread_place(unread: &BTreeSet<usize>) -> Option<String> {
    let named: Vec<String> = unread.iter().take(MOST_NAMED).map(usize::to_string).collect();
    let plural = if unread.len() > 1 { "s" } else { "" };
    let more = unread.len().checked_sub(MOST_NAMED).filter(|more| *more > 0);
    let others = more.map_or(String::new(), |more| format!(" and {more} more"));
    (!named.is_empty()).then(|| format!("unread in message{plural} {}{others}", named.join(", ")))
}
