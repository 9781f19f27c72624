//! Messages under construction, and the corrections at the end of the conversation and between messages.

use super::destinations::Destination;
use super::report::Mends;
use super::text_types::has_other_type;
use crate::content::{Content, THINKING_PARTS, has_no_word, is_bare, is_white};
use crate::formats::REQUEST_MODEL_ROLES;
use crate::json::value::{Key, Value, items, names, text_or_empty};
use crate::projection::edits::TextPart;
use crate::projection::edits::{Changed, Draft, DraftList, Edit, Json, Members, Parts, PartsKey, Path, set_member};
use crate::projection::request::EditedMessages;
use crate::text::piece::Piece;
use crate::text::{OwnedText, Text};

const REASONING: Key<'static> = Key::new("reasoningContent");

/// The speaker of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Model,
    /// The side that answers the model's calls.
    User,
    /// Any other, such as the system, which answers no calls.
    Other,
}

/// Return true if the role of a message is that of the model.
pub(crate) fn is_models<'a, V: Value<'a>>(message: V) -> bool {
    let role = text_or_empty(message.get(names::ROLE));
    REQUEST_MODEL_ROLES.iter().any(|name| role.is(name))
}

/// A message under construction: the original, if any, and the parts.
pub(crate) struct MessageDraft<'a, V> {
    pub(crate) position: Option<usize>,
    pub(crate) side: Side,
    /// The parts; `None` if the content is not a list and stays.
    pub(crate) items: Option<Vec<Draft<'a, V>>>,
    /// The new text for a content that is not a list.
    words: Option<Json<'a>>,
}

impl<'a, V: Value<'a>> MessageDraft<'a, V> {
    pub(crate) fn new(position: Option<usize>, side: Side, items: Option<Vec<Draft<'a, V>>>) -> Self {
        Self { position, side, items, words: None }
    }

    /// Make the draft of the message.
    pub(crate) fn draft(
        self,
        edited: &mut EditedMessages<'a, '_, V>,
        destination: &Destination,
    ) -> Option<Draft<'a, V>> {
        let key = destination.key;
        let Some(position) = self.position else {
            let parts = Parts { of: None, items: self.items.unwrap_or_default() };
            let role = if self.side == Side::Model { destination.model } else { "user" };
            let role = (names::ROLE, Some(Edit::NewValue(Json::ascii(role))));
            let members = vec![role, (key.key(), Some(Edit::Parts(parts)))];
            return Some(Draft::Changed(Changed { path: None, of: None, members }));
        };
        let (path, message) = (Path::Message(position), edited.message_at(position)?);
        let list = edited.list(position, key);
        let parts =
            |items| Edit::Parts(Parts { of: list.map(|list| (DraftList::Message(position, key), list)), items });
        let items = self.items.filter(|items| !is_original(items, position, key, list));
        let content = self.words.map(Edit::NewValue).or_else(|| items.map(parts));
        let mut members = edited.members(path);
        if content.is_some() {
            set_member(&mut members, key.key(), content);
        }
        Some(if members.is_empty() {
            Draft::Original(path, message)
        } else {
            Draft::Changed(Changed { path: Some(path), of: Some(message), members })
        })
    }
}

/// Return true if the items are exactly the original parts of a message.
fn is_original<'a, V: Value<'a>>(items: &[Draft<'a, V>], position: usize, key: PartsKey, list: Option<V>) -> bool {
    let mut numbered = items.iter().enumerate();
    items.len() == list.map_or(0, Value::count)
        && numbered.all(|(index, item)| item.is_kept_at(Path::Part(position, key, index)))
}

/// Return the index of the last message if it comes from the model. Empty messages of the model at the end are skipped.
fn end_of<'a, V: Value<'a>>(
    message_drafts: &[MessageDraft<'a, V>],
    edited: &EditedMessages<'a, '_, V>,
    key: PartsKey,
) -> Option<usize> {
    let message = |message_draft: &MessageDraft<'a, V>| edited.message_at(message_draft.position?);
    let speaks = |message_draft: &MessageDraft<'a, V>| {
        message(message_draft).is_some_and(|message| has_words_or_media(message, key))
    };
    let is_end = |message_draft: &MessageDraft<'a, V>| {
        message_draft.side != Side::Model || message_draft.items.is_some() || speaks(message_draft)
    };
    let end = message_drafts.iter().rposition(is_end)?;
    message_drafts.get(end).is_some_and(|message_draft| message_draft.side == Side::Model).then_some(end)
}

/// Remove thinking at the end of the last model turn, and messages that hold nothing else.
pub(crate) fn drop_trailing_thoughts<'a, V: Value<'a>>(
    message_drafts: &mut Vec<MessageDraft<'a, V>>,
    (edited, destination): (&EditedMessages<'a, '_, V>, &Destination),
    mends: &mut Mends<'a>,
) {
    let is_thought = |item: &mut Draft<'a, V>| item.path().is_some_and(|path| is_thought(edited, path));
    while let Some(end) = end_of(message_drafts, edited, destination.key) {
        let Some(message_draft) = message_drafts.get_mut(end) else { return };
        let Some(items) = message_draft.items.as_mut() else { return };
        let count = items.len();
        while items.pop_if(is_thought).is_some() {}
        if items.len() == count {
            return;
        }
        mends.add("trailing_thought", message_draft.position, Text::ascii(""));
        if items.is_empty() {
            message_drafts.remove(end);
        }
    }
}

/// Remove white space at the end of the last model text, if the provider refuses it.
pub(crate) fn drop_trailing_space<'a, V: Value<'a>>(
    message_drafts: &mut [MessageDraft<'a, V>],
    (edited, destination): (&EditedMessages<'a, '_, V>, &Destination),
    mends: &mut Mends<'a>,
) {
    let end = end_of(message_drafts, edited, destination.key).filter(|_| destination.rules.refuses_blank);
    let Some(message_draft) = end.and_then(|end| message_drafts.get_mut(end)) else { return };
    if let Some(last) = message_draft.items.as_mut().and_then(|items| items.last_mut()) {
        let (Some(path), Some(part)) = (last.path(), source_of(last).filter(|part| is_text(*part))) else { return };
        let Some(words) = words_of(part.get(names::TEXT)) else { return };
        let mut members = match last {
            Draft::Changed(changed) => std::mem::take(&mut changed.members),
            _ => Members::default(),
        };
        members.push((names::TEXT, Some(Edit::NewValue(words))));
        *last = Draft::Changed(Changed { path: Some(path), of: Some(part), members });
    } else {
        let message = message_draft.position.and_then(|position| edited.message_at(position));
        message_draft.words = words_of(message.and_then(|message| message.get(destination.key.key())));
        if message_draft.words.is_none() {
            return;
        }
    }
    mends.add("trailing_space", message_draft.position, Text::ascii(""));
}

/// Return a text without the white space at its end; `None` if it has none there.
fn words_of<'a, V: Value<'a>>(text: Option<V>) -> Option<Json<'a>> {
    let content = Content::Value(text.filter(|text| text.text_len().is_some())?);
    let whole = content.whole();
    let text = whole.text();
    let last = (0..text.len()).rev().find(|index| !text.get(*index).is_some_and(is_white));
    let count = last.map_or(0, |last| last + 1);
    (count < text.len()).then(|| Json::Joined(vec![TextPart::of(&content.first(count))]))
}

/// Merge consecutive messages of the model, and consecutive messages of the user.
pub(crate) fn merge<'a, V: Value<'a>>(
    message_drafts: Vec<MessageDraft<'a, V>>,
    mends: &mut Mends<'a>,
) -> Vec<MessageDraft<'a, V>> {
    let mut merged: Vec<MessageDraft<'a, V>> = Vec::with_capacity(message_drafts.len());
    for message_draft in message_drafts {
        let last = merged.last_mut().filter(|last| last.side == message_draft.side && last.side != Side::Other);
        match (last, message_draft) {
            (
                Some(MessageDraft { position: own, items: Some(known), .. }),
                MessageDraft { position, items: Some(items), .. },
            ) => {
                mends.add("merged_message", position, Text::ascii(""));
                *own = own.or(position);
                known.extend(items);
            }
            (_, message_draft) => merged.push(message_draft),
        }
    }
    merged
}

fn is_thought<'a, V: Value<'a>>(edited: &EditedMessages<'a, '_, V>, path: Path) -> bool {
    let Some(part) = part_at(edited, path) else { return false };
    let kind = text_or_empty(part.get(names::TYPE));
    is_thinking(kind) || part.get(names::THOUGHT).is_some_and(Value::is_true) || part.has(REASONING)
}

/// Return true if a part of this type is thinking.
pub(crate) fn is_thinking(kind: Text<'_>) -> bool {
    THINKING_PARTS.iter().any(|name| kind.is(name))
}

/// Return the part of a message at a path, if it is an object.
pub(crate) fn part_at<'a, V: Value<'a>>(edited: &EditedMessages<'a, '_, V>, path: Path) -> Option<V> {
    match path {
        Path::Part(..) => edited.at(path)?.object(),
        _ => None,
    }
}

/// Return true if a part is nothing but a text without a word, and the provider refuses that. It is a text if its type
/// says so, or if it gets that type. Members that are not known are left out.
pub(crate) fn is_blank<'a, V: Value<'a>>(destination: &Destination, part: V) -> bool {
    let known = || destination.known_members(Text::ascii("")).unwrap_or_default();
    let is_alone = || known().iter().filter(|key| part.has(**key)).count() == 1;
    let is_all = || part.has(names::TYPE) || destination.has_types() || is_bare(part, names::TEXT) || is_alone();
    destination.rules.refuses_blank && is_text(part) && part.get(names::TEXT).is_some_and(has_no_word) && is_all()
}

/// Return true if the content of a message is a text that is not empty.
pub(crate) fn has_words_or_media<'a, V: Value<'a>>(message: V, key: PartsKey) -> bool {
    message.get(key.key()).and_then(Value::text_len).is_some_and(|size| size > 0)
}

/// Return true if a part is a text, also one whose type is mended.
pub(crate) fn is_text<'a, V: Value<'a>>(part: V) -> bool {
    text_or_empty(part.get(names::TYPE)).is("text") || has_other_type(part)
}

/// Return the parts of a result that stay. The list is empty if the result has no content; `None` if the content is not
/// a list.
pub(crate) fn parts_of<'a, V: Value<'a>>(
    edited: &EditedMessages<'a, '_, V>,
    path: Path,
    (key, content): (Key<'_>, Option<V>),
) -> Option<Vec<Draft<'a, V>>> {
    match edited.new_content(path, key) {
        Some(Edit::Parts(parts)) => return Some(parts.items.clone()),
        Some(_) => return None,
        None => {}
    }
    let Some(content) = content.filter(|content| !has_no_word(*content)) else {
        return Some(Vec::new());
    };
    let parts = items(content.list()?).enumerate();
    Some(parts.map(|(index, part)| Draft::Original(Path::Inner(index), part)).collect())
}

/// Return a part that is an object and has no new member.
pub(crate) fn value_of<'a, V: Value<'a>>(item: &Draft<'a, V>) -> Option<V> {
    let is_new = matches!(item, Draft::Changed(changed) if changed.members.iter().any(|(_, new)| new.is_some()));
    if is_new { None } else { source_of(item) }
}

/// Return the type of a part, as it will be sent; empty if it has none.
pub(crate) fn kind_of<'a, V: Value<'a>>(item: &Draft<'a, V>) -> Piece<'a> {
    match item {
        Draft::NewValue(Json::Object(members)) => match members.iter().find(|(name, _)| name.text().is("type")) {
            Some((_, Json::Text(kind))) => kind.clone(),
            _ => Piece::default(),
        },
        item => Piece::Borrowed(text_or_empty(source_of(item).and_then(|part| part.get(names::TYPE)))),
    }
}

/// Return the object that a part is made from; `None` for a new part, or one that is no object.
pub(crate) fn source_of<'a, V: Value<'a>>(item: &Draft<'a, V>) -> Option<V> {
    match item {
        Draft::Original(_, part) => part.object(),
        Draft::Changed(changed) => changed.of?.object(),
        Draft::NewValue(_) => None,
    }
}

/// Return JSON with an escape in place of each lone surrogate, which can only be in a string.
pub(super) fn without_surrogates(json: OwnedText) -> OwnedText {
    let text = json.as_text();
    let units = || (0..text.len()).filter_map(|index| text.get(index));
    if units().all(|unit| char::from_u32(unit).is_some()) {
        return json;
    }
    let written = units().map(|unit| char::from_u32(unit).map_or_else(|| format!("\\u{unit:04x}"), String::from));
    OwnedText::from(written.collect::<String>())
}
