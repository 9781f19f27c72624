//! Results whose content is neither text nor a list of parts, as their provider asks.
//!
//! Tools return objects, numbers and lists of them, and frameworks put them into requests as they are. Each provider
//! has one form for such a value: JSON as text, a text block, or an object.

use super::message_parts::without_surrogates;
use super::pairs::Pairs;
use super::report::Mends;
use crate::json::value::{Value, items, names};
use crate::projection::edits::{Changed, Draft, DraftList, Edit, Json, Parts, Path};
use crate::projection::request::EditedMessages;
use crate::projection::result_slot::{ResultSlot, has_type, is_blank_text, is_block};
use crate::text::piece::Piece;

/// Write the contents of results in a form that the provider accepts.
pub(crate) fn mend_contents<'a, V: Value<'a>>(
    edited: &mut EditedMessages<'a, '_, V>,
    pairs: &Pairs<'a>,
    mends: &mut Mends<'a>,
) {
    for (number, block) in edited.blocks.iter().enumerate() {
        let Some(slot) = block.slot else { continue };
        if pairs.owner(slot.path) != Some(number) || edited.is_gone(slot.path) {
            continue;
        }
        let new = match &block.new {
            Some(text) if block.decision.is_some() => shortened_content(&slot, &text.text()),
            _ => new_content(&slot),
        };
        let Some(new) = new else { continue };
        let members = vec![(*slot.key, Some(new))];
        let members = match slot.holder {
            Some(holder) => {
                let of = edited.at(slot.path).and_then(|wire| wire.get(*holder)?.object());
                vec![(*holder, Some(Edit::Changed(Changed { path: None, of, members })))]
            }
            None => members,
        };
        edited.edit(slot.path, members);
        mends.add("mended_content", Some(slot.path.position()), block.entry.call_id);
    }
}

/// Return the shortened text of a result that was a list of texts without types; `None` if it was none.
fn shortened_content<'a, V: Value<'a>>(slot: &ResultSlot<V>, text: &Piece<'a>) -> Option<Edit<'a, V>> {
    let list = slot.content.and_then(Value::list)?;
    let is_texts = list.count() > 0 && items(list).all(|item| item.text_len().is_some());
    if !is_texts || *slot.key == names::RESPONSE {
        return None;
    }
    let text = Json::Text(text.clone());
    let is_blocks = slot.holder == Some(&names::TOOL_RESULT_CAMEL);
    Some(Edit::NewValue(if is_blocks { Json::List(vec![Json::object([("text", text)])]) } else { text }))
}

/// Return the content of a result in its provider's form; `None` if it has it.
fn new_content<'a, V: Value<'a>>(slot: &ResultSlot<V>) -> Option<Edit<'a, V>> {
    let content = slot.content?;
    if *slot.key == names::RESPONSE {
        // "Invalid value at 'contents[2].parts[0].function_response.response' (type.googleapis.com/google.protobuf.Struct)":
        // google-gemini/deprecated-generative-ai-js#301
        let answer = || vec![(Piece::ascii("result"), source(content))];
        return content.object().is_none().then(|| Edit::NewValue(Json::Object(answer())));
    }
    if slot.holder == Some(&names::TOOL_RESULT_CAMEL) {
        return new_blocks(content);
    }
    if slot.is_json() {
        return Some(Edit::NewValue(json_text(content)));
    }
    let Some(list) = content.list() else {
        // "messages.N.content: Invalid input" of servers that speak Chat: NousResearch/hermes-agent#81546
        return content.text_len().is_none().then(|| Edit::NewValue(Json::List(vec![source(content)])));
    };
    // "Missing required parameter: 'messages[3].content[0].type'": langchain-ai/langgraphjs#506
    if list.count() == 0 || items(list).any(has_type) {
        return None;
    }
    Some(Edit::NewValue(Json::Text(slot.text().whole())))
}

/// Return the content of a result as blocks of Bedrock; `None` if it is a list of them.
fn new_blocks<'a, V: Value<'a>>(content: V) -> Option<Edit<'a, V>> {
    let Some(list) = content.list() else {
        return (!is_blank_text(content)).then(|| Edit::NewValue(Json::List(vec![block_of(content)])));
    };
    if items(list).all(is_block) {
        return None;
    }
    let draft = |(index, item): (usize, V)| {
        if is_block(item) { Draft::Original(Path::Inner(index), item) } else { Draft::NewValue(unwrapped_block(item)) }
    };
    let blocks = items(list).enumerate().filter(|(_, item)| !is_blank_text(*item)).map(draft).collect();
    Some(Edit::Parts(Parts { of: Some((DraftList::Inner, list)), items: blocks }))
}

/// Return the block for the JSON of a block, or for an item that is none.
fn unwrapped_block<'a, V: Value<'a>>(item: V) -> Json<'a> {
    match item.object() {
        None => block_of(item),
        Some(block) => block.get(names::JSON).map_or_else(|| Json::object([("text", Json::ascii("null"))]), block_of),
    }
}

/// Return a value as a block of Bedrock.
fn block_of<'a, V: Value<'a>>(value: V) -> Json<'a> {
    if value.object().is_some() {
        return Json::object([("json", source(value))]);
    }
    let text = value.text().map_or_else(|| json_text(value), |text| Json::Text(Piece::Borrowed(text)));
    Json::object([("text", text)])
}

/// Return a value as the text of its JSON.
fn json_text<'a, V: Value<'a>>(value: V) -> Json<'a> {
    Json::Text(Piece::own(value.json()))
}

/// Return a value as it is.
fn source<'a, V: Value<'a>>(value: V) -> Json<'a> {
    Json::Source(Piece::own(without_surrogates(value.json())))
}
