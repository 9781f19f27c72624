//! Results whose content is neither text nor a list of parts, as their provider asks.
//!
//! Tools return objects, numbers and lists of them, and frameworks put them into requests as they are, also next to
//! parts. Each provider has one form for such a value: JSON as text, a text part, or an object.

use super::destinations::Destination;
use super::message_parts::{parts_of, without_surrogates};
use super::pairs::Pairs;
use super::report::Mends;
use crate::content::has_no_word;
use crate::json::value::{Value, items, names, text_or_empty};
use crate::projection::edits::{Changed, Draft, DraftList, Edit, Json, Parts, set_member};
use crate::projection::request::EditedMessages;
use crate::projection::result_slot::{ResultSlot, Said, data_url_of, has_type, is_block, text_of};
use crate::text::Text;
use crate::text::piece::Piece;

/// Write the contents of results in a form that the provider accepts.
pub(crate) fn mend_contents<'a, V: Value<'a>>(
    edited: &mut EditedMessages<'a, '_, V>,
    (destination, pairs): (&'static Destination, &Pairs<'a>),
    mends: &mut Mends<'a>,
) {
    for (number, block) in edited.blocks.iter().enumerate() {
        let Some(slot) = block.slot else { continue };
        if pairs.owner(slot.path) != Some(number) || edited.is_gone(slot.path) {
            continue;
        }
        let new = match &block.new {
            Some(text) if block.decision.is_some() => is_plain(&slot).then(|| Edit::NewValue(Json::Text(text.text()))),
            _ => new_content(&slot),
        };
        let Some(new) = new.or_else(|| typed_parts(edited, &slot, destination)) else { continue };
        edited.edit(slot.path, slot.holding(new));
        mends.add("mended_content", Some(slot.path.position()), block.entry.call_id);
    }
}

/// Return the content of a result that is no list of parts in its provider's form; `None` if it has it.
fn new_content<'a, V: Value<'a>>(slot: &ResultSlot<V>) -> Option<Edit<'a, V>> {
    let content = slot.content?;
    if *slot.key == names::RESPONSE {
        // "Invalid value at 'contents[2].parts[0].function_response.response' (type.googleapis.com/google.protobuf.Struct)":
        // google-gemini/deprecated-generative-ai-js#301
        let answer = || vec![(Piece::ascii("result"), source(content))];
        return content.object().is_none().then(|| Edit::NewValue(Json::Object(answer())));
    }
    let is_text = content.text_len().is_some();
    let is_list = content.list().is_some();
    if slot.holder.is_some() {
        let is_blank = is_text && has_no_word(content);
        return (!is_list && !is_blank).then(|| Edit::NewValue(Json::List(vec![block_of(content)])));
    }
    if is_text {
        return None;
    }
    if slot.is_json() {
        return Some(Edit::NewValue(json_text(content)));
    }
    if !is_list {
        // "messages.N.content: Invalid input" of servers that speak Chat: NousResearch/hermes-agent#81546
        return Some(Edit::NewValue(Json::List(vec![source(content)])));
    }
    is_plain(slot).then(|| Edit::NewValue(Json::Text(slot.text().whole())))
}

/// Return true if the content is a list of texts without types, from which one text can be made.
fn is_plain<'a, V: Value<'a>>(slot: &ResultSlot<V>) -> bool {
    let list = slot.content.filter(|_| slot.holder.is_none()).and_then(Value::list);
    list.is_some_and(|list| list.count() > 0 && items(list).all(is_plain_text))
}

/// Return true if an item is a text without a type, and neither a data URL nor the end of a cached prefix.
fn is_plain_text<'a, V: Value<'a>>(item: V) -> bool {
    let is_marked = || item.object().is_some_and(|item| item.has(names::CACHE_CONTROL));
    !has_type(item) && text_of(item).is_some() && data_url_of(item).is_none() && !is_marked()
}

/// Return a list in which each item is a part; `None` if all of them are, or if there is no list.
fn typed_parts<'a, V: Value<'a>>(
    edited: &EditedMessages<'a, '_, V>,
    slot: &ResultSlot<V>,
    destination: &'static Destination,
) -> Option<Edit<'a, V>> {
    // "Missing required parameter: 'messages[3].content[0].type'": langchain-ai/langgraphjs#506
    let list = slot.content.filter(|_| *slot.key != names::RESPONSE)?.list()?;
    if items(list).all(|item| is_part(slot, item)) {
        return None;
    }
    let given = parts_of(edited, slot.path, (*slot.key, slot.content))?;
    let is_typed = |item: &Draft<'a, V>| match item {
        Draft::Original(_, value) => is_part(slot, *value),
        Draft::Changed(changed) => changed.of.is_some_and(|value| is_part(slot, value)),
        Draft::NewValue(_) => false,
    };
    if given.iter().all(is_typed) {
        return None;
    }
    let items = given.into_iter().filter_map(|item| part_of(slot, item, destination)).collect();
    Some(Edit::Parts(Parts { of: Some((DraftList::Inner, list)), items }))
}

/// Return true if an item is a part in the form of its provider.
fn is_part<'a, V: Value<'a>>(slot: &ResultSlot<V>, item: V) -> bool {
    if slot.holder.is_some() { is_block(item) } else { has_type(item) }
}

/// Return an item of a list as a part; `None` for a blank text that the provider refuses.
fn part_of<'a, V: Value<'a>>(
    slot: &ResultSlot<V>,
    item: Draft<'a, V>,
    destination: &'static Destination,
) -> Option<Draft<'a, V>> {
    let (path, value, members) = match item {
        Draft::NewValue(text) => return Some(Draft::NewValue(text_part(destination, text))),
        Draft::Original(path, value) => (Some(path), value, Vec::new()),
        Draft::Changed(Changed { path, of, members }) => (path, of?, members),
    };
    if is_part(slot, value) {
        let is_same = members.is_empty();
        let of = Some(value);
        return Some(match path {
            Some(path) if is_same => Draft::Original(path, value),
            _ => Draft::Changed(Changed { path, of, members }),
        });
    }
    let text = match slot.said(value) {
        Said::Json(value) => Json::Text(Said::json_text(value)),
        Said::Part(part) => match text_of(part) {
            None => return Some(Draft::NewValue(block_of(value))),
            Some(text) if destination.rules.refuses_blank && has_no_word(text) => return None,
            Some(text) => Json::Text(Piece::Borrowed(text_or_empty(Some(text)))),
        },
    };
    if value.object().is_none() || text_of(value).is_none() {
        return Some(Draft::NewValue(text_part(destination, text)));
    }
    let mut members = members;
    set_member(&mut members, names::TYPE, Some(Edit::NewValue(text_type(destination))));
    Some(Draft::Changed(Changed { path, of: Some(value), members }))
}

/// Return a text as a part.
fn text_part<'a>(destination: &'static Destination, text: Json<'a>) -> Json<'a> {
    let Json::Object(mut members) = destination.text(Text::ascii("")) else { return text };
    if let Some((_, words)) = members.iter_mut().find(|(name, _)| name.text().is("text")) {
        *words = text;
    }
    Json::Object(members)
}

/// Return the type of a text part.
fn text_type<'a>(destination: &'static Destination) -> Json<'a> {
    let Json::Object(members) = destination.text(Text::ascii("")) else { return Json::ascii("text") };
    let kind = members.into_iter().find(|(name, _)| name.text().is("type"));
    kind.map_or_else(|| Json::ascii("text"), |(_, kind)| kind)
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
