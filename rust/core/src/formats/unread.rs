//! Structures that are known and hold nothing to pair, apart from those that no format knows.
//!
//! The readers report a part, or a call, that they can't read; a message without calls and results is judged here. So a
//! message that was read costs nothing more. Empty objects replace lines that were skipped, and are reported as those.

use crate::json::value::{Key, Value, names, text_or_empty};
use crate::text::Text;

include!(concat!(env!("OUT_DIR"), "/structures.rs"));

const OBJECT: Key<'static> = Key::new("object");

/// Return true if a part that is neither a call nor a result has a known structure.
pub(super) fn is_known_part<'a, V: Value<'a>>(part: V) -> bool {
    let Some(kind) = part.get(names::TYPE) else {
        return part.size() == 0 || PART_KEYS.iter().any(|key| part.has(*key));
    };
    kind.text().is_some_and(|kind| PARTS.iter().any(|name| kind.is(name)))
}

/// Return true if a message without calls and results has a known structure, apart from its parts.
pub(super) fn is_known<'a, V: Value<'a>>(message: V, role: Option<V>) -> bool {
    let Some(role) = role else {
        return message.size() == 0 || says_nothing(message) || is_record(message);
    };
    let is_role = role.text().is_some_and(|role| ROLES.iter().any(|name| role.is(name)));
    if !is_role || has_foreign_calls(message) {
        return false;
    }
    match message.get(names::CONTENT) {
        None => has_only(message, EMPTY_KEYS),
        Some(content) => content.text_len().is_some() || content.list().is_some(),
    }
}

/// Return true if an object is an imported message that says nothing: it has no role, and its content is null.
fn says_nothing<'a, V: Value<'a>>(message: V) -> bool {
    message.has(names::CONTENT) && message.get(names::CONTENT).is_none() && !message.has(names::TYPE)
}

/// Return true if an object is a record, or an item, of a known type that holds no message.
fn is_record<'a, V: Value<'a>>(message: V) -> bool {
    let Some(kind) = message.get(names::TYPE) else {
        // An answer of the Responses API has instructions, as has the first record of an old session of Codex.
        return !message.has(OBJECT) && UNTYPED_RECORDS.iter().any(|key| message.has(*key));
    };
    let kind = text_or_empty(Some(kind));
    let keys = RECORDS.iter().find(|(name, _)| kind.is(name)).map(|(_, keys)| *keys);
    keys.is_some_and(|keys| keys.is_empty() || keys.iter().any(|key| message.has(*key)))
}

/// Return true if a message keeps calls, or the id of a call, in members that no provider uses.
pub(super) fn has_foreign_calls<'a, V: Value<'a>>(message: V) -> bool {
    // With two members, it has a role and a content, or its members are compared anyway.
    message.size() > 2
        && !visit(message, &mut |name| !FOREIGN_CALLS.iter().any(|key| key.name == name))
        && FOREIGN_CALLS
            .iter()
            .filter_map(|key| message.get(*key))
            .any(|value| value.list().is_none_or(|list| list.count() > 0))
}

/// Return true if an object has no other members than these.
fn has_only<'a, V: Value<'a>>(object: V, keys: &[Key<'static>]) -> bool {
    visit(object, &mut |name| keys.iter().any(|key| key.name == name))
}

/// Return true if all names of an object's members satisfy a condition.
fn visit<'a, V: Value<'a>>(object: V, is_right: &mut dyn FnMut(Text<'a>) -> bool) -> bool {
    let mut is_all = true;
    object.members(&mut |name, _| {
        is_all = is_right(name);
        is_all
    });
    is_all
}

/// Return true if an entry of `tool_calls` is a call of Chat: a function, or, in a message with a role, its members.
pub(super) fn is_call_entry<'a, V: Value<'a>>(entry: V, role: Option<V>) -> bool {
    let holds = |key| entry.get(key).and_then(Value::object).is_some_and(|held| held.size() > 0);
    let is_flat = || entry.get(names::NAME).is_some_and(|name| name.text_len().is_some()) && !entry.has(names::ARGS);
    holds(names::CUSTOM) || holds(names::FUNCTION) || (role.is_some() && is_flat())
}
