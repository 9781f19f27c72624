//! The messages that a repair leaves alone: those of an exchange in which something could not be read.
//!
//! A message of unknown structure may hold the call of a result after it, or the result of a call before it. So may the
//! item that a reference names, which only the server has, and a message of the model with the id of a result that seems
//! to have no call. All of them are in one exchange, which lasts from one message that only the user speaks in to the next. So nothing in the exchange is
//! removed, made up, moved, merged or renamed.

use std::collections::BTreeSet;

use ahash::{AHashMap, AHashSet};

use crate::content::{is_white, spoken_text};
use crate::formats::read_spoken;
use crate::json::value::{Value, items, names, text_or_empty};
use crate::pairing::is_users;
use crate::projection::blocks::Block;
use crate::projection::edits::{PartsKey, Path};
use crate::projection::repair::message_parts::is_models;
use crate::text::Text;

/// The type of an item that stands for one that the server holds.
pub(crate) const REFERENCE: &str = "item_reference";
/// The beginnings of the ids of items that are neither a call nor a result: messages and reasoning.
const SAID_IDS: [&str; 2] = ["msg_", "rs_"];
/// The ends of the names of members with the id of a call: `id`, `call_id`, `toolCallId`.
const ID_ENDINGS: [&str; 3] = ["id", "Id", "ID"];
/// The most messages that are named one by one.
const MOST_NAMED: usize = 5;

/// Return the positions of the items that may be a call or a result that only the server has.
pub(crate) fn references<'a, V: Value<'a>>(messages: &[V]) -> BTreeSet<usize> {
    let is_hidden = |message: &V| {
        let id = text_or_empty(message.get(names::ID));
        text_or_empty(message.get(names::TYPE)).is(REFERENCE) && !SAID_IDS.iter().any(|start| id.starts_with(start))
    };
    messages.iter().enumerate().filter_map(|(position, message)| is_hidden(message).then_some(position)).collect()
}

/// Return the positions of the messages of the model that have the id of a later result without a call, in a place where
/// no reader looks for calls.
pub(crate) fn callers<'a, V: Value<'a>>(messages: &[V], blocks: &[Block<'a, V>]) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    let mut ids: AHashMap<Text<'a>, usize> = AHashMap::new();
    for entry in blocks.iter().map(|block| &block.entry).filter(|entry| entry.call.is_none()) {
        let last = ids.entry(entry.call_id).or_default();
        *last = entry.result_position.max(*last);
    }
    ids.remove(&Text::ascii(""));
    if ids.is_empty() {
        return found;
    }
    let results: AHashSet<Path> =
        blocks.iter().flat_map(|block| block.result_path.iter().chain(&block.second_paths)).copied().collect();
    for (position, message) in messages.iter().copied().enumerate() {
        let is_item = || !message.has(names::ROLE) && message.has(names::TYPE) && !message.has(names::UUID);
        if !(is_models(message) || is_item()) || results.contains(&Path::Message(position)) {
            continue;
        }
        let mut parts: Vec<V> = Vec::new();
        message.members(&mut |name, value| {
            let key = PartsKey::ALL.into_iter().find(|key| key.key().name == name);
            let is_result = |index| key.is_some_and(|key| results.contains(&Path::Part(position, key, index)));
            let items = value.list().into_iter().flat_map(items).enumerate();
            parts.extend(items.filter(|(index, _)| !is_result(*index)).map(|(_, part)| part));
            parts.extend(value.object());
            true
        });
        if parts.into_iter().any(|part| names_any(part, &|id| ids.get(&id).is_some_and(|last| position < *last))) {
            found.insert(position);
        }
    }
    found
}

/// Return true if a value has an id, at any depth, that satisfies a condition.
fn names_any<'a, V: Value<'a>>(value: V, is_wanted: &dyn Fn(Text<'a>) -> bool) -> bool {
    let (mut rest, mut is_found) = (vec![value], false);
    while let Some(value) = rest.pop() {
        rest.extend(value.list().into_iter().flat_map(items));
        let Some(object) = value.object() else { continue };
        object.members(&mut |name, member| {
            let is_id = ID_ENDINGS.iter().any(|end| name.ends_with(end));
            is_found = is_found || (is_id && member.text().is_some_and(is_wanted));
            rest.push(member);
            !is_found
        });
        if is_found {
            return true;
        }
    }
    false
}

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

/// Name the messages in which there is something; nothing if there is none. The first ones are named, and the others
/// counted.
pub(crate) fn place_of(what: &str, positions: &BTreeSet<usize>) -> Option<String> {
    let named: Vec<String> = positions.iter().take(MOST_NAMED).map(usize::to_string).collect();
    let plural = if positions.len() > 1 { "s" } else { "" };
    let more = positions.len().checked_sub(MOST_NAMED).filter(|more| *more > 0);
    let others = more.map_or(String::new(), |more| format!(" and {more} more"));
    (!named.is_empty()).then(|| format!("{what} in message{plural} {}{others}", named.join(", ")))
}
