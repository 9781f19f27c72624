//! Texts and numbers that readers of JSON refuse, with the whole request: lone surrogates, half of a character that was cut
//! in two, which no JSON in UTF-8 can hold, and NaN and the infinities, which Python's objects may hold.
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
const SURROGATE: &str = "lone_surrogate";
const NOT_FINITE: &str = "not_finite";

/// Replace what is refused in the messages and the members around them.
pub(crate) fn mend_texts<'a, V: Value<'a>>(
    drafts: &mut [Draft<'a, V>],
    edited: &EditedMessages<'a, '_, V>,
    (frame, build): (Option<&mut Frame<'a, V>>, Build<'_, 'a, V>),
    mends: &mut Mends<'a>,
) {
    let mut kinds = Vec::new();
    for draft in drafts {
        let position = draft.path().map(Path::position);
        if position.is_some_and(|position| edited.guard.contains(&position)) {
            continue;
        }
        let Some(value) = build(draft) else { continue };
        note_refused(value, &mut kinds);
        if !kinds.is_empty() {
            *draft = Draft::NewValue(accepted(value));
            mends.must_read_again = mends.must_read_again || kinds.contains(&NOT_FINITE);
        }
        kinds.drain(..).for_each(|kind| mends.add(kind, position, Text::ascii("")));
    }
    let Some(frame) = frame else { return };
    for key in TEXTS {
        let Some(value) = frame.members.get(key) else { continue };
        note_refused(value, &mut kinds);
        if kinds.is_empty() {
            continue;
        }
        if frame.is_changed(key) {
            let words = |kind: &str| format!("{} in {}", kind.replace('_', " "), key.name.to_utf8()).into();
            mends.open_kinds.extend(kinds.drain(..).map(words));
        } else {
            frame.change(vec![Step::Member(key)], Some(accepted(value)));
            kinds.drain(..).for_each(|kind| mends.add_with(kind, None, Text::ascii(""), Piece::Borrowed(key.name)));
        }
    }
}

/// Note the kinds of what is refused in a value and in the names of its members, each once.
fn note_refused<'a, V: Value<'a>>(value: V, kinds: &mut Vec<&'static str>) {
    let mut is_broken_text = false;
    if let Some(text) = value.text() {
        is_broken_text = is_broken(text);
    } else if let Some(list) = value.list() {
        items(list).for_each(|item| note_refused(item, kinds));
    } else if let Some(object) = value.object() {
        object.members(&mut |name, member| {
            is_broken_text = is_broken_text || is_broken(name);
            note_refused(member, kinds);
            true
        });
    } else if value.is_not_finite() && !kinds.contains(&NOT_FINITE) {
        kinds.push(NOT_FINITE);
    }
    if is_broken_text && !kinds.contains(&SURROGATE) {
        kinds.push(SURROGATE);
    }
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

/// Return a value with another character in place of each lone surrogate, and null in place of what is no number.
fn accepted<'a, V: Value<'a>>(value: V) -> Json<'a> {
    if let Some(text) = value.text() {
        return Json::Text(Piece::own(replaced(text)));
    }
    if let Some(list) = value.list() {
        return Json::List(items(list).map(accepted).collect());
    }
    let Some(object) = value.object() else {
        let json = if value.is_not_finite() { Piece::ascii("null") } else { Piece::own(value.json()) };
        return Json::Source(json);
    };
    let (mut members, mut others) = (Vec::new(), Vec::new());
    object.members(&mut |name, member| {
        others.push(name);
        members.push((name, accepted(member)));
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
