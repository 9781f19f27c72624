//! Messages that only an importer can read. The backend looks for certain keys, and stops if it finds one.
//!
//! The importers run before the backends, in Python (`toolcarry.importers.producers`). The keys are in
//! `_data/importers.json`, which Python reads, too.

use crate::json::value::{Key, Value, names, objects, text_or_empty};
use crate::text::Text;

include!(concat!(env!("OUT_DIR"), "/importers.rs"));

/// A member that only Cline adds to Anthropic's calls. Cline's results may be text blocks, so an importer reads them.
const CALL_ID: Key<'static> = Key::new("call_id");
/// The role of the last message of mini-swe-agent, by which its conversations are recognised.
pub(crate) const END_ROLE: &str = "exit";
const SESSION_ID: Key<'static> = Key::new("sessionId");

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

/// Return true if a part of a content is a call that only Cline writes.
pub(crate) fn has_foreign_call<'a, V: Value<'a>>(content: Option<V>) -> bool {
    objects(content).any(|part| is_foreign_call(part, text_or_empty(part.get(names::TYPE))))
}

/// Return true if a part of this type is a call that only Cline writes.
pub(crate) fn is_foreign_call<'a, V: Value<'a>>(part: V, kind: Text<'a>) -> bool {
    kind.is("tool_use") && part.has(CALL_ID)
}

/// Return true if an importer may know a message, or a part, that no reader knows.
///
/// Lines of Claude Code, whose types are many and new, have a `sessionId`.
pub(crate) fn is_candidate<'a, V: Value<'a>>(unread: V) -> bool {
    if unread.has_any(UNREAD_KEYS) {
        return true;
    }
    let kind = text_or_empty(unread.get(names::TYPE));
    UNREAD_TYPES.iter().any(|start| kind.starts_with(start)) && !unread.has(SESSION_ID)
}

/// Return true if an importer may know a call or a result that is not in a message.
///
/// A call of Chat has a function, which is an object; only as a name is it a member of another producer.
pub(crate) fn is_foreign_part<'a, V: Value<'a>>(wire: V) -> bool {
    let kind = text_or_empty(wire.get(names::TYPE));
    has_key(wire)
        || FOREIGN_TYPES.iter().any(|start| kind.starts_with(start))
        || is_candidate(wire) && wire.get(names::FUNCTION).and_then(Value::object).is_none()
}

fn has_key<'a, V: Value<'a>>(object: V) -> bool {
    object.has_any(FOREIGN_KEYS)
}
