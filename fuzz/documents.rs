//! The messages of a document, found by the plainest code: what `Conversation::open` has to agree with.

use toolcarry::json::scanned::Scanned;
use toolcarry::json::value::{Value, names};

/// The messages of a document: `Some(Some(list))`, `Some(None)` if the document itself is a message, or `None`.
pub fn messages_of(document: Scanned<'_>) -> Option<Option<Scanned<'_>>> {
    let Some(request) = document.object() else {
        return document.list().filter(|_| !holds_conversations(document)).map(Some);
    };
    let found = request_list(request);
    let is_prompt = !is_message(request) && request.get(names::INPUT).and_then(Value::text).is_some();
    match found {
        None if request.has(names::MESSAGES) || is_prompt => None,
        Some(_) if request.has(names::MESSAGES) && request.get(names::MESSAGES).and_then(Value::list).is_none() => None,
        found => Some(found),
    }
}

fn is_message(request: Scanned<'_>) -> bool {
    [names::ROLE, names::TYPE, names::KIND, names::UUID].iter().any(|key| request.has(*key))
}

/// The list of messages in a document.
pub fn request_list(request: Scanned<'_>) -> Option<Scanned<'_>> {
    let list = |key| request.get(key).and_then(Value::list);
    if let Some(messages) = list(names::MESSAGES) {
        return Some(messages);
    }
    if is_message(request) {
        return None;
    }
    if let Some(found) = list(names::CONTENTS).or_else(|| list(names::INPUT)).or_else(|| list(names::OTEL_MESSAGES)) {
        return Some(found);
    }
    let (history, trajectory) = (list(names::HISTORY), list(names::TRAJECTORY));
    let has_calls = |list: &Scanned<'_>| {
        let mut items = (0..list.count()).filter_map(|index| list.item(index));
        items.any(|item| item.has(names::TOOL_CALLS))
    };
    match (history, trajectory) {
        (Some(history), Some(trajectory)) => Some(if has_calls(&history) { history } else { trajectory }),
        (history, trajectory) => history.or(trajectory).or_else(|| list(names::STEPS)),
    }
}

/// Return true if a list holds whole conversations and not messages: its first item is a list of objects, or a request.
fn holds_conversations(list: Scanned<'_>) -> bool {
    let Some(first) = list.item(0) else { return false };
    if let Some(request) = first.object() {
        return request_list(request).is_some() && !request.has(names::ROLE);
    }
    first.list().is_some() && (first.count() == 0 || first.item(0).and_then(Value::object).is_some())
}
