//! Messages that only an importer can read. The backend looks for certain signs, and stops if it finds one.
//!
//! The importers run before the backends, in Python (`toolcarry.importers.producers`), and each says by which signs it may
//! know a message.

use std::sync::OnceLock;

use crate::json::value::{Key, Value, names, objects, text_or_empty};
use crate::text::Text;

/// The member of a message that was imported.
pub(super) const IMPORTED: Key<'static> = Key::new("imported");
/// A member that only Cline adds to Anthropic's calls. Cline's results may be text blocks, so an importer reads them.
const CALL_ID: Key<'static> = Key::new("call_id");
/// The role of the last message of mini-swe-agent, by which its conversations are recognised.
pub(crate) const END_ROLE: &str = "exit";
const SESSION_ID: Key<'static> = Key::new("sessionId");

/// The keys and types that make a backend ask the importers about an object that no reader knows.
#[derive(Debug, Default)]
pub struct Signs {
    keys: Vec<Key<'static>>,
    types: Vec<String>,
}

impl Signs {
    /// Create signs from the names of members, and from the beginnings of types. They live as long as the process.
    #[must_use]
    pub fn new(keys: Vec<String>, types: Vec<String>) -> Self {
        let keys = keys.into_iter().map(|name| Key::of(Box::leak(name.into_boxed_str()))).collect();
        Self { keys, types }
    }
}

static SIGNS: OnceLock<Signs> = OnceLock::new();
static SOURCE: OnceLock<fn() -> Signs> = OnceLock::new();

/// Set the function that returns the signs of all importers. Without one, there are none.
///
/// It is called when an object is met that no reader knows: by each thread that meets one at the same time, since a thread
/// that waits for another one could hold what that one needs.
pub fn ask_for_signs(source: fn() -> Signs) {
    let _ = SOURCE.set(source);
}

fn signs() -> &'static Signs {
    SIGNS.get().unwrap_or_else(|| {
        let found = SOURCE.get().map_or_else(Signs::default, |source| source());
        SIGNS.get_or_init(|| found)
    })
}

/// Return true if a message is from SWE-agent, whose messages differ from `OpenAI` Chat only by a member.
pub(crate) fn is_dialect<'a, V: Value<'a>>(message: V, role: Option<V>) -> bool {
    let role = text_or_empty(role);
    (role.is("tool") && message.has(names::TOOL_CALL_IDS)) || (role.is("assistant") && message.has(names::MESSAGE_TYPE))
}

/// Return true if a message has parts with types, which no request format has outside of a content.
pub(crate) fn has_typed_parts<'a, V: Value<'a>>(message: V, role: Option<V>) -> bool {
    let has_content = role.is_some() && message.get(names::CONTENT).is_some();
    !has_content && objects(message.get(names::PARTS)).any(|part| part.has(names::TYPE))
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
    let signs = signs();
    if unread.has_any_name(&signs.keys) {
        return true; // null or not: some producers are known by a name alone
    }
    let kind = text_or_empty(unread.get(names::TYPE));
    signs.types.iter().any(|start| kind.starts_with(start)) && !unread.has_name(SESSION_ID)
}

/// Return true if an importer may know a call or a result that is not in a message.
///
/// A call of Chat has a function, which is an object; only as a name is it a member of another producer.
pub(crate) fn is_foreign_part<'a, V: Value<'a>>(wire: V) -> bool {
    is_candidate(wire) && wire.get(names::FUNCTION).and_then(Value::object).is_none()
}
