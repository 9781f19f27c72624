//! Structures that are known and hold nothing to pair, apart from those that no format knows.
//!
//! The readers report a part, or a call, that they can't read; a message without calls and results is judged here. So a
//! message that was read costs nothing more. Empty objects replace lines that were skipped, and are reported as those.

use super::foreign::IMPORTED;
use crate::json::value::{Key, Value, items, names, text_or_empty};
use crate::text::Text;

include!(concat!(env!("OUT_DIR"), "/structures.rs"));

/// The mark of an imported message that no importer could read.
const UNREAD: Key<'static> = Key::new("unread");
const TOOL_RESPONSE: Key<'static> = Key::new("toolResponse");
const OBJECT: Key<'static> = Key::new("object");

/// Return true if a part that is neither a call nor a result has a known structure.
pub(super) fn is_known_part<'a, V: Value<'a>>(part: V) -> bool {
    let (kind, text) = (part.get(names::TYPE), part.get(names::TEXT));
    if text.is_some_and(|text| text.text_len().is_none()) {
        return false;
    }
    let Some(kind) = kind else { return text.is_some() || is_known_untyped(part) };
    let Some(kind) = kind.text() else { return false };
    // OpenTelemetry's text is a content.
    let has_text = || text.is_some() || part.has(names::CONTENT) || part.size_without_nulls() == 1;
    let is_text = || TEXT_KINDS.iter().any(|name| kind.is(name));
    PARTS.iter().any(|name| kind.is(name)) && (!is_text() || has_text())
}

/// Return true if a part without a type and a text is known by its members, and its call or result is an object.
fn is_known_untyped<'a, V: Value<'a>>(part: V) -> bool {
    if part.size_without_nulls() == 0 {
        return true;
    }
    let is_object = |key: &Key<'static>| part.get(*key).is_none_or(|held| held.object().is_some());
    PART_KEYS.iter().any(|key| part.has(*key)) && !is_genkit(part) && OBJECT_KEYS.iter().all(is_object)
}

/// Return true for an answer of Genkit, which has a name. One of Gemini, whose tool ran on the server, has a type.
fn is_genkit<'a, V: Value<'a>>(part: V) -> bool {
    part.get(TOOL_RESPONSE).and_then(Value::object).is_some_and(|answer| answer.has(names::NAME))
}

/// Return true if a message without calls and results has a known structure, apart from its parts.
pub(crate) fn is_known<'a, V: Value<'a>>(message: V, role: Option<V>) -> bool {
    let Some(role) = role else {
        return message.size_without_nulls() == 0 || says_nothing(message) || is_record(message);
    };
    let is_role = role.text().is_some_and(|role| ROLES.iter().any(|name| role.is(name)));
    if !is_role || has_foreign_calls(message) {
        return false;
    }
    match message.get(names::CONTENT) {
        None => {
            let is_empty = |parts: V| parts.list().is_some_and(|list| list.count() == 0);
            message.get(names::PARTS).is_none_or(is_empty) && has_only(message, EMPTY_KEYS)
        }
        Some(content) => content.text_len().is_some() || content.list().is_some(),
    }
}

/// Return true if a message with calls or results has a text that nobody is known to say: its role is unknown, or it has
/// no content, but a text of some words in a member that no provider has.
pub(super) fn has_unread_text<'a, V: Value<'a>>(message: V, role: Option<V>) -> bool {
    let is_said = role.and_then(Value::text).is_some_and(|role| ROLES.iter().any(|name| role.is(name)));
    if is_said && message.has_name(names::CONTENT) {
        return false;
    }
    let has_words = |text: Option<V>| text.and_then(Value::text).is_some_and(|text| text.find(b' ').is_some());
    let content = message.get(names::CONTENT);
    let is_in_part = |part: V| has_words(part.object().map_or(Some(part), |part| part.get(names::TEXT)));
    if has_words(content) || content.and_then(Value::list).into_iter().flat_map(items).any(is_in_part) {
        return true;
    }
    let mut is_found = false;
    message.members(&mut |name, value| {
        is_found = !EMPTY_KEYS.iter().any(|key| key.name == name) && has_words(Some(value));
        !is_found
    });
    is_found
}

/// Return true if an object is an imported message that says nothing: it has no role, and its content is null.
fn says_nothing<'a, V: Value<'a>>(message: V) -> bool {
    let is_silent = message.has(IMPORTED) && message.has_name(names::CONTENT);
    is_silent && ![names::CONTENT, names::TYPE, UNREAD].iter().any(|key| message.has(*key))
}

/// Return true if an object is a record, or an item, of a known type that holds no message.
fn is_record<'a, V: Value<'a>>(message: V) -> bool {
    let Some(kind) = message.get(names::TYPE) else {
        // An answer of the Responses API has instructions, as has the first record of an old session of Codex.
        return !message.has_name(OBJECT) && UNTYPED_RECORDS.iter().any(|key| message.has_name(*key));
    };
    let kind = text_or_empty(Some(kind));
    let keys = RECORDS.iter().find(|(name, _)| kind.is(name)).map(|(_, keys)| *keys);
    keys.is_some_and(|keys| keys.is_empty() || keys.iter().any(|key| message.has_name(*key)))
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

/// Return true if an object has no other members than these, apart from null.
fn has_only<'a, V: Value<'a>>(object: V, keys: &[Key<'static>]) -> bool {
    object.size_without_nulls() == keys.iter().filter(|key| object.has(**key)).count()
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
