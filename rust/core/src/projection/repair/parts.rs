//! The parts of messages and of results: members that their types do not have, media that the destination cannot read,
//! and parts in the form of the Model Context Protocol.
//!
//! Each correction is an edit in its place. What cannot be kept becomes a line of text.

use super::destinations::{Destination, Form};
use super::found::{PLAIN, kind_in, members_of_part};
use super::media::{RESOURCE, Refused, family_of, is_base64, is_medium, refused, type_of};
use super::message_parts::{is_models, parts_of};
use super::pairs::Pairs;
use super::prompt::is_systems;
use super::report::Mends;
use super::text_types::{GIVEN, SAID};
use crate::content::{is_bare, part_text, text_document};
use crate::json::base64::{first_text_of, line};
use crate::json::value::{Key, Value, items, names, text_or_empty};
use crate::projection::edits::{Changed, Draft, DraftList, Edit, Json, Members, Parts, PartsKey, Path};
use crate::projection::request::EditedMessages;
use crate::projection::result_slot::ResultSlot;
use crate::text::Text;
use crate::text::piece::Piece;

/// The members in which streams leave the JSON text of a call's input.
const PARTIAL: [Key<'static>; 2] = [Key::new("partial_json"), Key::new("_partial_json")];
/// The member of the answer of a Gemini function response with the texts that were next to it.
const BESIDE: Key<'static> = Key::new("parts");
const THINKING: Key<'static> = Key::new("thinking");

/// The correction of a part.
enum Fix<'a, V> {
    /// Some of its members change.
    Members(Members<'a, V>),
    /// Another part takes its place.
    Replaced(Json<'a>),
}

/// The kinds of corrections of a part, with their details.
type Kinds<'a> = Vec<(&'static str, Piece<'a>)>;

/// Return the kind of the correction of a part of another provider's type.
fn foreign(kind: Text<'_>) -> Kinds<'_> {
    vec![("foreign_part", Piece::Borrowed(kind))]
}

/// Correct the parts of messages, and those in results. Return true if there are images or documents among them.
pub(crate) fn mend_parts<'a, V: Value<'a>>(
    edited: &mut EditedMessages<'a, '_, V>,
    (destination, pairs): (&'static Destination, &Pairs<'a>),
    mends: &mut Mends<'a>,
) -> bool {
    let mut has_images = false;
    for block in edited.blocks {
        let Some(slot) = block.slot.filter(|slot| !is_kept(edited, slot.path)) else { continue };
        if *slot.key == names::RESPONSE {
            mend_beside(edited, destination, &slot, (&mut has_images, mends));
        } else if let Some(list) = slot.content.and_then(Value::list) {
            mend_inner(edited, destination, (&slot, list), (&mut has_images, mends));
        }
    }
    let key = if destination.key == PartsKey::Parts { PartsKey::Parts } else { PartsKey::Content };
    for (position, message) in edited.messages.iter().enumerate() {
        let parts = message.get(key.key()).and_then(Value::list);
        let is_result = || destination.is_result(*message);
        let Some(parts) = parts.filter(|_| !edited.guard.contains(&position) && !is_result()) else { continue };
        for (index, part) in items(parts).enumerate() {
            let path = Path::Part(position, key, index);
            let kind = |part| kind_in(part, destination, is_models(*message));
            let found = part.object().and_then(|part| fix_of(part, kind(part), destination, &mut has_images));
            let Some((fix, kinds)) = found else { continue };
            if edited.is_gone(path) || edited.is_gone(Path::Message(position)) || edited.is_text_now(path) {
                continue;
            }
            // Something unread stays beside a lost result.
            let is_lost =
                |part| pairs.owner(path).is_none() && destination.is_result(part) && holds_unread(part, destination);
            if !destination.has_types() && part.object().is_some_and(is_lost) {
                continue;
            }
            match fix {
                Fix::Members(members) => edited.edit(path, members),
                Fix::Replaced(_) if is_systems(*message) => continue, // what it says decides where it goes
                Fix::Replaced(new) => edited.replace(path, by_role(new, *message, destination)),
            }
            mends.must_read_again = mends.must_read_again || kinds.iter().any(|(kind, _)| *kind == "mended_arguments");
            for (kind, detail) in kinds {
                mends.add_with(kind, Some(position), Text::ascii(""), detail);
            }
        }
    }
    has_images
}

/// Return true if nothing in the message at a path may change.
fn is_kept<'a, V: Value<'a>>(edited: &EditedMessages<'a, '_, V>, path: Path) -> bool {
    edited.guard.contains(&path.position()) || edited.is_gone(path)
}

/// Correct the parts in the content of a result.
fn mend_inner<'a, V: Value<'a>>(
    edited: &mut EditedMessages<'a, '_, V>,
    destination: &'static Destination,
    (slot, list): (&ResultSlot<V>, V),
    (has_images, mends): (&mut bool, &mut Mends<'a>),
) {
    let mut is_wrong = false;
    for item in items(list).filter_map(Value::object) {
        is_wrong |= fix_of(item, kind_in(item, destination, false), destination, has_images).is_some();
    }
    if !is_wrong {
        return;
    }
    let Some(mut given) = parts_of(edited, slot.path, (*slot.key, Some(list))) else { return };
    for item in &mut given {
        let (own, part) = match item {
            Draft::Original(own, part) => (Some(*own), *part),
            Draft::Changed(Changed { path, of: Some(part), .. }) => (*path, *part),
            _ => continue,
        };
        let kind = |part| kind_in(part, destination, false);
        let found = part.object().and_then(|part| fix_of(part, kind(part), destination, has_images));
        let Some((fix, kinds)) = found else { continue };
        *item = match fix {
            Fix::Replaced(new) => Draft::NewValue(new),
            Fix::Members(mut members) => {
                if let Draft::Changed(changed) = item {
                    members.append(&mut changed.members);
                }
                Draft::Changed(Changed { path: own, of: Some(part), members })
            }
        };
        for (kind, detail) in kinds {
            mends.add_with(kind, Some(slot.path.position()), Text::ascii(""), detail);
        }
    }
    let parts = Edit::Parts(Parts { of: Some((DraftList::Inner, list)), items: given });
    edited.edit(slot.path, slot.holding(parts));
}

/// Correct the parts next to the answer of a Gemini function response. They hold bytes or files; a text goes to the answer.
///
/// <https://ai.google.dev/gemini-api/docs/function-calling#multimodal>
fn mend_beside<'a, V: Value<'a>>(
    edited: &mut EditedMessages<'a, '_, V>,
    destination: &'static Destination,
    slot: &ResultSlot<V>,
    (has_images, mends): (&mut bool, &mut Mends<'a>),
) {
    let Some(list) = slot.response_parts() else { return };
    let (mut rest, mut lines, mut found) = (Vec::new(), Vec::new(), Vec::new());
    for (index, item) in items(list).enumerate() {
        let own = Path::Inner(index);
        let fix = item.object().and_then(|part| {
            let kind = kind_in(part, destination, false);
            let is_text = if kind.is_empty() { is_bare(part, names::TEXT) } else { kind.is("text") };
            if is_text || kind.is("audio") {
                return Some((Fix::Replaced(text_part(destination, part_text(part, 0))), foreign(kind)));
            }
            fix_of(part, kind, destination, has_images)
        });
        let Some((fix, kinds)) = fix else {
            rest.push(Draft::Original(own, item));
            continue;
        };
        found.extend(kinds);
        match fix {
            Fix::Members(members) => rest.push(Draft::Changed(Changed { path: Some(own), of: Some(item), members })),
            Fix::Replaced(Json::Object(new)) => match new.as_slice() {
                [(_, Json::Text(words))] => lines.push(words.text().to_utf8()),
                _ => rest.push(Draft::NewValue(Json::Object(new))),
            },
            Fix::Replaced(new) => rest.push(Draft::NewValue(new)),
        }
    }
    if found.is_empty() {
        return;
    }
    let has_room = edited.new_content(slot.path, names::RESPONSE).is_none();
    let told = (has_room && !lines.is_empty()).then(|| (BESIDE, Piece::own(lines.join("\n").into())));
    edited.edit(slot.path, slot.with_parts(rest, told));
    for (kind, detail) in found {
        mends.add_with(kind, Some(slot.path.position()), Text::ascii(""), detail);
    }
}

/// Return the correction of a part of this type; `None` if the destination takes it.
///
/// `has_images` becomes true for a part that may be an image or a document.
fn fix_of<'a, V: Value<'a>>(
    part: V,
    kind: Text<'a>,
    destination: &'static Destination,
    has_images: &mut bool,
) -> Option<(Fix<'a, V>, Kinds<'a>)> {
    let is_said = destination.form == Form::Items && (kind.is(SAID) || kind.is(GIVEN));
    if is_said || destination.has_types() && PLAIN.iter().any(|name| kind.is(name)) {
        return without_others(part, kind, destination);
    }
    *has_images = *has_images || is_medium(part, kind) || kind.is("resource");
    if let Some(new) = of_protocol(part, kind, destination) {
        return Some((Fix::Replaced(marked_at(destination, part, new)), foreign(kind)));
    }
    let is_refused = || family_of(part).is_some_and(|family| destination.rules.refused_media.contains(&family));
    match if is_refused() { Some(Refused::Whole) } else { refused(part, &destination.rules) } {
        Some(Refused::Whole) => {
            let words = part_text(part, 0);
            Some((
                Fix::Replaced(marked_at(destination, part, text_part(destination, words.clone()))),
                vec![("unreadable_media", words)],
            ))
        }
        Some(Refused::Type(mut members, found)) => {
            let mut kinds = vec![("media_type", Piece::ascii(found))];
            if let Some((Fix::Members(others), more)) = without_others(part, kind, destination) {
                add_members(&mut members, others);
                kinds.extend(more);
            }
            Some((Fix::Members(members), kinds))
        }
        None => without_others(part, kind, destination),
    }
}

/// Add edits of members to others. Two of one object become one.
fn add_members<'a, V>(members: &mut Members<'a, V>, others: Members<'a, V>) {
    let count = members.len(); // a name is given once
    for (key, edit) in others {
        let known = members.iter_mut().take(count).find(|(own, _)| own.name == key.name);
        match (known, edit) {
            (Some((_, Some(Edit::Changed(own)))), Some(Edit::Changed(other))) => own.members.extend(other.members),
            (None, edit) => members.push((key, edit)),
            (Some(_), _) => {} // another mend replaces this member already
        }
    }
}

/// Leave out the members that a part of its type, and what it holds, does not have.
fn without_others<'a, V: Value<'a>>(
    part: V,
    kind: Text<'a>,
    destination: &'static Destination,
) -> Option<(Fix<'a, V>, Kinds<'a>)> {
    let known = members_of_part(part, kind, destination)?;
    if kind.is("thinking") && part.get(THINKING).is_some_and(|thinking| thinking.text_len().is_none()) {
        return None; // a chunk of Mistral, which has members of its own
    }
    let (mut members, mut kinds) = (Vec::new(), Vec::new());
    for name in others_of(part, known) {
        members.push((Key::named(name), None));
        kinds.push(("refused_member", Piece::Borrowed(name)));
    }
    for (holder, known) in destination.rules.held_members {
        let key = Key::named(Text::ascii(holder));
        let Some(held) = part.get(key).and_then(Value::object) else { continue };
        let others = others_of(held, known);
        if !others.is_empty() {
            kinds.extend(others.iter().map(|name| ("refused_member", Piece::Borrowed(*name))));
            let members_in = others.into_iter().map(|name| (Key::named(name), None)).collect();
            members.push((key, Some(Edit::Changed(Changed { path: None, of: Some(held), members: members_in }))));
        }
    }
    if members.is_empty() {
        return None;
    }
    let is_empty = |input: V| input.object().is_some_and(|input| input.size() == 0);
    if kind.is("tool_use") && part.get(names::INPUT).is_none_or(is_empty) {
        let left = PARTIAL.iter().find_map(|key| part.get(*key).filter(|left| left.text_len().is_some()));
        let input = left.map(Value::arguments).filter(|input| input.size() > 0 && !input.has_name(names::ARGUMENTS));
        if let Some(input) = input {
            members.push((names::INPUT, Some(Edit::NewValue(Json::Source(Piece::own(input.json()))))));
            kinds.push(("mended_arguments", Piece::default()));
        }
    }
    Some((Fix::Members(members), kinds))
}

/// Return true if a part has a member that is not known, and no known one besides what makes it a result.
fn holds_unread<'a, V: Value<'a>>(part: V, destination: &Destination) -> bool {
    let known = members_of_part(part, Text::ascii(""), destination).unwrap_or_default();
    !part.has_only(known) && known.iter().filter(|key| part.has(**key)).count() == 1
}

/// Return the names of an object's members that are not known. One that is null counts as absent: SDKs write all members of
/// their types.
pub(super) fn others_of<'a, V: Value<'a>>(object: V, known: &[Key<'static>]) -> Vec<Text<'a>> {
    let mut others = Vec::new();
    if !object.has_only(known) {
        object.members(&mut |name, member| {
            if !known.iter().any(|key| key.name == name) && !member.is_null() {
                others.push(name);
            }
            true
        });
    }
    others
}

/// Return a part of the Model Context Protocol, or a document of Cohere, as the destination's; `None` for any other part.
///
/// <https://modelcontextprotocol.io/specification/2025-06-18/schema#contentblock>
fn of_protocol<'a, V: Value<'a>>(part: V, kind: Text<'a>, destination: &'static Destination) -> Option<Json<'a>> {
    if destination.rules.refuses_text_documents && text_document(part, kind).is_some() {
        return Some(text_part(destination, part_text(part, 0)));
    }
    let is_medium = kind.is("image") || kind.is("audio");
    let resource = || part.get(RESOURCE).and_then(Value::object).filter(|_| kind.is("resource"));
    let held = if is_medium { Some(part).filter(|part| !part.has(names::SOURCE)) } else { resource() };
    if kind.is("resource_link") {
        let named = first_text_of(part, &[names::URI, names::NAME])?;
        return Some(text_part(destination, line(kind, &[Text::ascii(": "), named])));
    }
    let held = held?;
    let media_type = text_or_empty(held.get(names::MIME_TYPE));
    let Some(data) = first_text_of(held, if is_medium { &[names::DATA] } else { &[names::BLOB] }) else {
        let text = held.get(names::TEXT).filter(|_| !is_medium)?.text()?;
        return Some(text_part(destination, Piece::Borrowed(text)));
    };
    let taken = [destination.rules.image_types, destination.rules.inline_types].concat();
    let found = type_of(data).filter(|found| is_base64(data) && taken.contains(found));
    match found.and_then(|found| destination.image(found, data)) {
        Some(image) => Some(image),
        None if media_type.is_empty() && is_medium => None,
        None => Some(text_part(destination, part_text(part, 0))),
    }
}

/// Return a text as a part.
pub(super) fn text_part<'a>(destination: &'static Destination, words: Piece<'a>) -> Json<'a> {
    let Json::Object(mut members) = destination.text(Text::ascii("")) else { return Json::Text(words) };
    if let Some((_, text)) = members.iter_mut().find(|(name, _)| name.text().is("text")) {
        *text = Json::Text(words);
    }
    Json::Object(members)
}

/// Give a new text the type that texts of its message have.
pub(super) fn by_role<'a, V: Value<'a>>(new: Json<'a>, message: V, destination: &Destination) -> Json<'a> {
    let is_models = || text_or_empty(message.get(names::ROLE)).is(destination.model);
    let mut new = new;
    if let Json::Object(members) = &mut new
        && destination.rules.texts_by_role
        && is_models()
        && members.iter().any(|(name, _)| name.text() == names::TEXT.name)
        && let Some((_, kind)) = members.iter_mut().find(|(name, _)| name.text() == names::TYPE.name)
    {
        *kind = Json::ascii(SAID);
    }
    new
}

/// Return a new part with the cache mark of the one that it takes the place of, if texts of the destination may have one.
pub(super) fn marked_at<'a, V: Value<'a>>(destination: &Destination, part: V, new: Json<'a>) -> Json<'a> {
    let kind = if destination.has_types() { if destination.form == Form::Items { GIVEN } else { "text" } } else { "" };
    let known = destination.known_members(Text::ascii(kind));
    if known.is_some_and(|known| !known.contains(&names::CACHE_CONTROL)) { new } else { marked(part, new) }
}

/// Return a new part with the cache mark of the one that it takes the place of.
pub(crate) fn marked<'a, V: Value<'a>>(part: V, new: Json<'a>) -> Json<'a> {
    match (new, part.get(names::CACHE_CONTROL)) {
        (Json::Object(mut members), Some(mark)) => {
            let mark = Json::Source(Piece::own(mark.json()));
            members.push((Piece::Borrowed(names::CACHE_CONTROL.name), mark));
            Json::Object(members)
        }
        (new, _) => new,
    }
}
