//! System messages at the beginning, which belong into the system prompt of a request.
//!
//! Only a whole request has that place: in a list of messages they stay, or become the user's. Those in the middle stay
//! where they are, since what they say holds from there on.

use ahash::AHashSet;

use super::destinations::Destination;
use super::frame::{Frame, Step};
use super::message_parts::{is_text, without_surrogates};
use super::pairs::Pairs;
use super::report::Mends;
use super::settings::Build;
use crate::content::has_no_word;
use crate::formats::SYSTEM_ROLES;
use crate::json::value::{Key, Value, items, names, text_or_empty};
use crate::projection::edits::{Draft, Edit, Json, PartsKey, Path};
use crate::projection::request::EditedMessages;
use crate::text::Text;
use crate::text::piece::Piece;

/// Return true if a message is the system's.
pub(crate) fn is_systems<'a, V: Value<'a>>(message: V) -> bool {
    let own = text_or_empty(message.get(names::ROLE));
    SYSTEM_ROLES.iter().any(|role| own.is(role))
}

/// Remove the system messages at the beginning that [`write_prompt`] adds to the system prompt.
pub(super) fn take_out_prompt<'a, V: Value<'a>>(
    (edited, frame): (&mut EditedMessages<'a, '_, V>, &Frame<'a, V>),
    (destination, pairs): (&Destination, &Pairs<'a>),
    mends: &mut Mends<'a>,
) {
    if destination.system_paths.is_empty() || !edited.messages.first().is_some_and(|message| is_systems(*message)) {
        return;
    }
    let Some((place, _)) = place_of(frame, (destination, pairs)) else { return };
    let callers: AHashSet<usize> = pairs.calls().map(|(path, _)| path.position()).collect();
    let is_free = |(position, message): &(usize, &V)| {
        let count = edited.list(*position, destination.key).map_or(0, Value::count);
        let mut paths = (0..count).map(|index| Path::Part(*position, destination.key, index));
        is_systems(**message)
            && !callers.contains(position)
            && !edited.guard.contains(position)
            && !paths.any(|path| pairs.owner(path).is_some())
            && !edited.is_gone(Path::Message(*position))
            && says_text(**message, destination.key)
    };
    let count = edited.messages.iter().enumerate().take_while(is_free).count();
    if edited.messages.iter().skip(count).all(|message| is_systems(*message)) {
        return; // a request without messages is refused
    }
    for position in 0..count {
        edited.take_out(Path::Message(position));
        mends.moved.push(position);
        mends.add_with("system_message", Some(position), Text::ascii(""), named(place));
    }
}

/// Return a place in words, for the report.
fn named<'a>(place: &[Key<'static>]) -> Piece<'a> {
    Piece::own_ascii(place.iter().map(|key| key.name.to_utf8()).collect::<Vec<_>>().join("."))
}

/// Return the place of the system prompt, with its value; `None` if there is none, or it holds something that is no
/// prompt.
fn place_of<'a, V: Value<'a>>(
    frame: &Frame<'a, V>,
    (destination, pairs): (&Destination, &Pairs<'a>),
) -> Option<(&'static [Key<'static>], Option<V>)> {
    let paths = destination.system_paths;
    let value = |path: &[Key<'static>]| {
        let mut found = None;
        frame.visit(path, &mut |_, value| found = Some(value));
        found
    };
    if let Some((path, own)) = paths.iter().find_map(|path| Some((*path, value(path)?))) {
        let is_known = own.text_len().is_some() || list_in(own).is_some();
        return is_known.then_some((path, Some(own)));
    }
    // Words of the assistant in parts may be Chat's as well, which takes a system message and has no other place for it.
    let is_sure = !destination.has_types() || frame.is_named || pairs.calls().next().is_some();
    let is_held = |path: &&&'static [Key<'static>]| match path.split_last() {
        Some((_, holder @ [_, ..])) => value(holder).is_some_and(|held| held.object().is_some()),
        _ => true,
    };
    paths.iter().find(is_held).filter(|_| is_sure).map(|path| (*path, None))
}

/// Return the parts of a system prompt. Gemini's is an object that holds them.
fn list_in<'a, V: Value<'a>>(value: V) -> Option<V> {
    value.object().map_or(Some(value), |held| held.get(names::PARTS))?.list()
}

/// Return true if the content of a message is text, and no part of it is blank.
fn says_text<'a, V: Value<'a>>(message: V, key: PartsKey) -> bool {
    let Some(content) = message.get(key.key()) else { return false };
    if content.text_len().is_some() {
        return !has_no_word(content);
    }
    let says_word = |part: V| {
        let Some(part) = part.object() else { return false };
        let text = part.get(names::TEXT).filter(|text| text.text_len().is_some());
        is_text(part) && text.is_some_and(|text| !has_no_word(text))
    };
    content.list().is_some_and(|list| list.count() > 0 && items(list).all(says_word))
}

/// Add the messages that were removed to the system prompt, after what is there.
///
/// System messages that begin the request since others before them were removed are added as well.
pub(super) fn write_prompt<'a, V: Value<'a>>(
    (edited, frame): (&mut EditedMessages<'a, '_, V>, &mut Frame<'a, V>),
    (destination, pairs): (&Destination, &Pairs<'a>),
    (drafts, build): (&mut Vec<Draft<'a, V>>, Build<'_, 'a, V>),
    mends: &mut Mends<'a>,
) {
    let key = destination.key;
    let says = |draft: &Draft<'a, V>| build(draft).filter(|message| is_systems(*message) && says_text(*message, key));
    if destination.system_paths.is_empty() || (mends.moved.is_empty() && drafts.first().and_then(says).is_none()) {
        return;
    }
    let Some((place, own)) = place_of(frame, (destination, pairs)) else { return };
    let new = mends.moved.iter().flat_map(|position| parts_at(edited, *position, destination));
    let mut new: Vec<Json<'a>> = new.collect();
    while let Some((message, path)) = drafts.first().and_then(|draft| Some((says(draft)?, draft.path()?))) {
        let mut rest = drafts.iter().skip(1).filter_map(build);
        if edited.guard.contains(&path.position()) || rest.all(is_systems) {
            break;
        }
        new.extend(message.get(key.key()).into_iter().flat_map(|content| parts_in(content, destination)));
        mends.moved.push(path.position());
        mends.add_with("system_message", Some(path.position()), Text::ascii(""), named(place));
        drafts.remove(0);
    }
    if new.is_empty() {
        return;
    }
    let mut path: Vec<Step> = place.iter().map(|key| Step::Member(*key)).collect();
    if let Some((own, known)) = own.and_then(|own| Some((own, list_in(own)?))) {
        if own.object().is_some() {
            path.push(Step::Member(names::PARTS));
        }
        for (number, part) in new.into_iter().enumerate() {
            frame.change([&*path, &[Step::Item(known.count() + number)]].concat(), Some(part));
        }
        return;
    }
    if let Some(text) = own.filter(|own| !has_no_word(*own)).and_then(Value::text) {
        new.insert(0, destination.text(text));
    }
    let new = Json::List(new);
    let is_held = destination.key == PartsKey::Parts;
    frame.change(path, Some(if is_held { Json::object([("parts", new)]) } else { new }));
}

/// Return the parts of a message with their corrections.
fn parts_at<'a, V: Value<'a>>(
    edited: &mut EditedMessages<'a, '_, V>,
    position: usize,
    destination: &Destination,
) -> Vec<Json<'a>> {
    let key = destination.key;
    let content = edited.message_at(position).and_then(|message| message.get(key.key()));
    if let Some(text) = content.and_then(Value::text) {
        return vec![destination.text(text)];
    }
    let parts = content.and_then(Value::list).into_iter().flat_map(items).enumerate();
    let part = |(index, part): (usize, V)| {
        let mut edits = edited.members(Path::Part(position, key, index));
        if edits.is_empty() {
            return source(part);
        }
        let mut members = Vec::new();
        part.members(&mut |name, value| {
            match edits.iter().position(|(key, _)| key.name == name).map(|place| edits.remove(place)) {
                None => members.push((Piece::Borrowed(name), source(value))),
                Some((_, Some(Edit::NewValue(new)))) => members.push((Piece::Borrowed(name), new)),
                Some(_) => {}
            }
            true
        });
        for (key, edit) in edits {
            if let Some(Edit::NewValue(new)) = edit {
                members.push((Piece::Borrowed(key.name), new));
            }
        }
        Json::Object(members)
    };
    parts.map(part).collect()
}

/// Return a content as a list of parts.
pub(super) fn parts_in<'a, V: Value<'a>>(content: V, destination: &Destination) -> Vec<Json<'a>> {
    match content.text() {
        Some(text) => vec![destination.text(text)],
        None => content.list().into_iter().flat_map(items).map(source).collect(),
    }
}

/// Return a value as it is.
fn source<'a, V: Value<'a>>(value: V) -> Json<'a> {
    Json::Source(Piece::own(without_surrogates(value.json())))
}
