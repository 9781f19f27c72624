//! Lone surrogates, half of a character that was cut in two: no JSON in UTF-8 can hold them, and readers of it refuse the
//! whole request.
//!
//! They are rare, so a request is searched for them once, and the messages that hold one are written anew.

use ahash::AHashMap;

use super::frame::{Frame, Step};
use super::report::Mends;
use super::settings::Build;
use crate::json::value::{Key, Value, items};
use crate::projection::edits::{Draft, Json, Path};
use crate::projection::request::EditedMessages;
use crate::text::escaped::{hex4, is_high_surrogate, low_surrogate_at};
use crate::text::piece::Piece;
use crate::text::surrogates::{is_broken, is_surrogate};
use crate::text::{OwnedText, Text};

/// The members of a request, besides its messages, that hold texts.
const TEXTS: [Key<'static>; 6] = [
    Key::new("system"),
    Key::new("tools"),
    Key::new("instructions"),
    Key::new("systemInstruction"),
    Key::new("system_instruction"),
    Key::new("toolConfig"),
];
/// The character that takes the place of a lone surrogate.
const REPLACEMENT: char = '\u{FFFD}';

/// Replace the lone surrogates in the messages and the members around them.
pub(crate) fn mend_texts<'a, V: Value<'a>>(
    drafts: &mut [Draft<'a, V>],
    edited: &EditedMessages<'a, '_, V>,
    (frame, build): (Option<&mut Frame<'a, V>>, Build<'_, 'a, V>),
    mends: &mut Mends<'a>,
) {
    for draft in drafts {
        let position = draft.path().map(Path::position);
        if position.is_some_and(|position| edited.guard.contains(&position)) {
            continue;
        }
        if let Some(value) = build(draft).filter(|value| has_surrogate(*value)) {
            *draft = Draft::NewValue(without_surrogates(value));
            mends.add("lone_surrogate", position, Text::ascii(""));
        }
    }
    let Some(frame) = frame else { return };
    for key in TEXTS {
        let Some(value) = frame.members.get(key).filter(|value| has_surrogate(*value)) else { continue };
        if frame.is_changed(key) {
            mends.open_kinds.insert(format!("lone surrogate in {}", key.name.to_utf8()).into());
        } else {
            frame.change(vec![Step::Member(key)], Some(without_surrogates(value)));
            mends.add_with("lone_surrogate", None, Text::ascii(""), Piece::Borrowed(key.name));
        }
    }
}

/// Return true if a text in a value, or the name of a member, has a lone surrogate.
fn has_surrogate<'a, V: Value<'a>>(value: V) -> bool {
    if let Some(text) = value.text() {
        return is_broken(text);
    }
    if let Some(list) = value.list() {
        return items(list).any(has_surrogate);
    }
    let mut is_found = false;
    if let Some(object) = value.object() {
        object.members(&mut |name, member| {
            is_found = is_broken(name) || has_surrogate(member);
            !is_found
        });
    }
    is_found
}

/// Return true if the JSON of a request may have an escape of a lone surrogate.
pub(crate) fn has_lone_escape(data: &[u8]) -> bool {
    let mut start = 0;
    while let Some(at) = data.get(start..).and_then(|rest| memchr::memmem::find(rest, b"\\u")) {
        let at = start + at;
        start = at + 2;
        let Some(unit) = hex4(data, at + 2).filter(|unit| is_surrogate(*unit)) else { continue };
        if !is_high_surrogate(unit) || low_surrogate_at(data, at + 6).is_none() {
            return true;
        }
        start = at + 12;
    }
    false
}

/// Return a value with another character in place of each lone surrogate.
fn without_surrogates<'a, V: Value<'a>>(value: V) -> Json<'a> {
    if let Some(text) = value.text() {
        return Json::Text(Piece::own(replaced(text)));
    }
    if let Some(list) = value.list() {
        return Json::List(items(list).map(without_surrogates).collect());
    }
    let Some(object) = value.object() else {
        return Json::Source(Piece::own(value.json()));
    };
    let (mut members, mut others) = (Vec::new(), Vec::new());
    object.members(&mut |name, member| {
        others.push(name);
        members.push((name, without_surrogates(member)));
        true
    });
    let mut taken: AHashMap<String, usize> = AHashMap::new();
    if others.iter().any(|name| is_broken(*name)) {
        taken.extend(others.into_iter().filter(|name| !is_broken(*name)).map(|name| (name.to_utf8(), 1)));
    }
    let member = |(name, member)| (Piece::own(new_name(name, &mut taken)), member);
    Json::Object(members.into_iter().map(member).collect())
}

/// Return the name of a member without lone surrogates. Two that differ by one stay different. `taken` has the names so far,
/// each with the number of the last one that was made of it.
fn new_name(name: Text<'_>, taken: &mut AHashMap<String, usize>) -> OwnedText {
    if !is_broken(name) {
        return OwnedText::from(name);
    }
    let plain = replaced(name).as_text().to_utf8();
    let mut new = plain.clone();
    while taken.contains_key(&new) {
        let number = taken.entry(plain.clone()).or_insert(1);
        *number += 1;
        new = format!("{plain}_{number}");
    }
    taken.insert(new.clone(), 1);
    OwnedText::from(new)
}

fn replaced(text: Text<'_>) -> OwnedText {
    if !is_broken(text) {
        return OwnedText::from(text);
    }
    let letters = (0..text.len()).filter_map(|index| text.get(index));
    OwnedText::from(letters.map(|unit| char::from_u32(unit).unwrap_or(REPLACEMENT)).collect::<String>())
}
