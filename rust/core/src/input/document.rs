//! The messages of a document: a request, a trajectory or an export.

use bumpalo::Bump;

use crate::json::error::Scan;
use crate::json::scanned::Scanned;
use crate::json::value::{Key, Value, items, names};
use crate::text::Text;
use crate::text::escaped::EscapedText;

include!(concat!(env!("OUT_DIR"), "/documents.rs"));

/// A member of a document, and the value by which it says what the document is.
pub(super) struct DocumentSign {
    key: Key<'static>,
    value: &'static str,
}

/// The role of a member of a document in finding the messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum MemberRole {
    /// The messages, whatever other members there are.
    Messages,
    /// The messages, if it is a list and no list of a lower rank is present.
    List(usize),
    /// A sign that the document is a message.
    OfMessage,
    /// A member that may show that an importer reads the document as a whole.
    OfImporter,
    /// A member that may hold the answer.
    OfAnswer,
    #[default]
    Other,
}

impl MemberRole {
    #[inline(always)]
    pub(crate) fn of(name: EscapedText<'_>) -> Self {
        let name = &*name.utf8();
        let is_name = |key: &Key<'static>| matches!(key.name, Text::Latin1(own) if own == name);
        match LISTS.iter().position(is_name) {
            _ if name == b"messages" => Self::Messages,
            Some(rank) => Self::List(rank),
            None if MESSAGE_KEYS.iter().any(is_name) => Self::OfMessage,
            None if IMPORTED_WHOLE.iter().any(|sign| is_name(&sign.key)) => Self::OfImporter,
            None if ANSWER_KEYS.iter().any(is_name) => Self::OfAnswer,
            None => Self::Other,
        }
    }
}

/// Return true if a record is a whole request.
pub(crate) fn is_request(record: Scanned<'_>) -> bool {
    let is_list = |key: &Key<'_>| record.get(*key).and_then(Value::list).is_some();
    let is_message = || MESSAGE_KEYS.iter().any(|key| record.has_name(*key));
    is_list(&names::MESSAGES) || (LISTS.iter().any(is_list) && !is_message())
}

/// Return the messages of a document that is a request or a list of messages, with the name of the member that holds
/// them.
pub(crate) fn messages_of(document: Scanned<'_>) -> Option<(Scanned<'_>, Option<Text<'static>>)> {
    if document.list().is_some() {
        return Some((document, None));
    }
    let list = |key: Key<'static>| Some((document.get(key)?.list()?, Some(key.name)));
    if let Some(found) = list(names::MESSAGES) {
        return Some(found);
    }
    if MESSAGE_KEYS.iter().any(|key| document.has_name(*key)) {
        return None;
    }
    let mut lists = LISTS.iter().copied().filter_map(list);
    let first = lists.next()?;
    let is_history = first.1 == Some(names::HISTORY.name);
    let has_calls = || items(first.0).any(|item| item.has_name(names::TOOL_CALLS));
    match list(names::TRAJECTORY).filter(|_| is_history && !has_calls()) {
        Some(trajectory) => Some(trajectory),
        None => Some(first),
    }
}

/// Return true if an importer reads a document as a whole, since its messages alone don't say what they are.
pub(crate) fn is_imported_whole(document: Scanned<'_>) -> bool {
    IMPORTED_WHOLE
        .iter()
        .any(|sign| document.get(sign.key).and_then(Value::text).is_some_and(|text| text.is(sign.value)))
}

/// Return true if a document may have the model's answer next to its request.
fn has_answer(document: Scanned<'_>) -> bool {
    ANSWER_KEYS.iter().any(|key| document.get(*key).is_some())
}

/// Return true if a list holds whole conversations: lists of messages, or requests.
pub(crate) fn holds_conversations(list: Scanned<'_>) -> bool {
    let Some(first) = list.item(0) else { return false };
    if first.object().is_some() {
        let is_own = first.has_name(names::ROLE) || is_imported_whole(first);
        return !is_own && first.list().is_none() && messages_of(first).is_some();
    }
    first.list().is_some_and(|inner| inner.item(0).is_none_or(|item| item.object().is_some()))
}

/// Return the messages of a document as a list; `None` if it is not a request, a list of messages or a message.
pub(crate) fn open_document<'a>(data: &'a [u8], bump: &'a Bump) -> Scan<Option<Scanned<'a>>> {
    let document = Scanned::document_of(data, |name| MemberRole::of(name) != MemberRole::Other, bump)?;
    if is_imported_whole(document) {
        return Scanned::document(data, bump).map(|whole| Some(whole.listed()));
    }
    if has_answer(document) && messages_of(document).is_some() {
        return Ok(None); // Python reads the answer, too
    }
    if document.has_name(names::MESSAGES) {
        // If it is not a list, Python reports what is wrong with it.
        return Ok(document.get(names::MESSAGES).and_then(Value::list));
    }
    if let Some((list, key)) = messages_of(document) {
        // If an array holds conversations, Python reports that.
        return Ok(Some(list).filter(|list| key.is_some() || !holds_conversations(*list)));
    }
    let is_message = || MESSAGE_KEYS.iter().any(|key| document.has_name(*key));
    let has_prompt = || document.get(names::INPUT).is_some_and(|input| input.text_len().is_some());
    if document.object().is_none() || (has_prompt() && !is_message()) {
        return Ok(None);
    }
    Scanned::document(data, bump).map(|message| Some(message.listed()))
}
