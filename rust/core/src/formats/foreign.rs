//! Messages that only an importer can read. The backend looks for certain keys, and stops if it finds one.
//!
//! The importers run before the backends, in Python (`toolcarry.importers.producers`). The keys are in
//! `_data/importers.json`, which the reference reads, too.

use crate::json::value::{Key, Value, names, objects, text_or_empty};

include!(concat!(env!("OUT_DIR"), "/importers.rs"));

/// Return true if a message is from SWE-agent, whose messages differ from `OpenAI` Chat only by a member.
pub(crate) fn is_dialect<'a, V: Value<'a>>(message: V, role: Option<V>) -> bool {
    let role = text_or_empty(role);
    (role.is("tool") && message.has(names::TOOL_CALL_IDS)) || (role.is("assistant") && message.has(names::MESSAGE_TYPE))
}

/// Return true if an importer may know a message that no request format has.
pub(crate) fn is_foreign<'a, V: Value<'a>>(message: V, role: Option<V>) -> bool {
    if role.is_some() && message.get(names::CONTENT).is_some() {
        return false;
    }
    let is_record = || message.has(names::UUID) || message.get(names::MESSAGE).and_then(Value::object).is_some();
    if role.is_none() && has_key(message) && !is_record() {
        return true;
    }
    objects(message.get(names::PARTS)).any(|part| part.has(names::TYPE))
}

/// Return true if an importer may know a call or a result that is not in a message.
pub(crate) fn is_foreign_part<'a, V: Value<'a>>(wire: V) -> bool {
    let kind = text_or_empty(wire.get(names::TYPE));
    has_key(wire) || FOREIGN_TYPES.iter().any(|start| kind.starts_with(start))
}

fn has_key<'a, V: Value<'a>>(object: V) -> bool {
    FOREIGN_KEYS.iter().any(|key| object.has(*key))
}
