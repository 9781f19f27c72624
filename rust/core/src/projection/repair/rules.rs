//! The rules of destinations: the forms of their values, and how the values that users set are read.

use crate::json::value::{Key, Value, items, text_or_empty};
use crate::text::Text;

include!(concat!(env!("OUT_DIR"), "/rules.rs"));

/// The place of an id: its key, and the object that holds it. That is the first of `holders` that exists or, without
/// holders, the part itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IdAt {
    pub(crate) holders: &'static [Key<'static>],
    pub(crate) key: Key<'static>,
}

impl IdAt {
    /// Return the object that holds the id.
    pub(crate) fn id_holder<'a, V: Value<'a>>(self, part: V) -> Option<V> {
        match self.holders {
            [] => Some(part),
            holders => holders.iter().find_map(|holder| part.get(*holder)?.object()),
        }
    }

    /// Return the id; empty if it is missing.
    pub(crate) fn text<'a, V: Value<'a>>(self, part: V) -> Text<'a> {
        text_or_empty(self.id_holder(part).and_then(|id_holder| id_holder.get(self.key)))
    }
}

/// The form of a call's arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArgumentsForm {
    /// An object.
    Object,
    /// The JSON text of an object.
    Text,
}

/// The place of a call's arguments, and their form.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ArgumentsAt {
    /// The names of the member that may hold them; empty for the call itself.
    pub(crate) holders: &'static [Key<'static>],
    pub(crate) key: Key<'static>,
    pub(crate) form: ArgumentsForm,
    /// The types of the calls that have arguments of this form; empty for all.
    pub(crate) types: &'static [&'static str],
    /// True if a call may be without arguments.
    pub(crate) is_optional: bool,
}

/// The ids of items, which the provider's server gave them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ItemIds {
    /// The minimum length.
    pub(super) at_least: usize,
    /// The maximum length; 0 means no limit.
    pub(super) at_most: usize,
    /// The letters with which an id begins, by the type of its item.
    pub(super) starts: &'static [(&'static str, &'static str)],
    /// True if an id consists of ASCII letters, digits, `_` and `-`.
    pub(super) is_word: bool,
    /// True if no id occurs twice.
    pub(super) is_unique: bool,
}

impl ItemIds {
    /// Return true if an item of this type may have an id.
    pub(crate) fn takes_id(&self, item_id: Text<'_>, kind: Text<'_>) -> bool {
        let start = self.starts.iter().find(|(own, _)| kind.is(own)).map_or("", |(_, start)| *start);
        let Self { at_least, at_most, is_word, .. } = *self;
        let form = IdRule { at_least, at_most, is_word, marks: "_-", begins_as_word: false };
        form.takes_id(item_id) && item_id.starts_with(start)
    }
}

/// The rule for ids, or for names.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IdRule {
    pub(super) at_least: usize,
    /// The maximum length; 0 means no limit.
    pub(crate) at_most: usize,
    /// True if an id consists of ASCII letters, digits and `marks`.
    pub(super) is_word: bool,
    pub(super) marks: &'static str,
    /// True if the first character is a letter or `_`.
    pub(crate) begins_as_word: bool,
}

/// The member by which a result says that it failed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Failure {
    pub(super) key: Key<'static>,
    /// The value that means failure; empty for `true`.
    pub(super) value: &'static str,
}

/// The most characters that a new id takes from an old one.
pub(crate) const LONGEST_STEM: usize = 32;

impl Rules {
    /// Return the length of the ids that a repair makes for calls of a tool with a name of so many characters, if it does
    /// not follow from the old ids; otherwise 0.
    pub(crate) const fn made_len(&self, name: usize) -> usize {
        if self.id_template.is_empty() { self.id.short_len() } else { self.id_template.len() + name }
    }

    /// Return true if single parts may be refused for their members or their media.
    pub(super) const fn judges_parts(&self) -> bool {
        !self.part_members.is_empty() || !self.image_types.is_empty()
    }
}

impl IdRule {
    /// Return the length of the ids that a repair makes, if it is too short to show the old ones; otherwise 0.
    pub(crate) const fn short_len(&self) -> usize {
        if self.at_most < LONGEST_STEM { self.at_most } else { 0 }
    }

    /// Return true if an id, or a name, is allowed.
    pub(crate) fn takes_id(&self, call_id: Text<'_>) -> bool {
        let Self { at_least, at_most, is_word, marks, begins_as_word } = *self;
        let is_of_word = |unit: &u8| unit.is_ascii_alphanumeric() || marks.as_bytes().contains(unit);
        let size = call_id.len();
        size >= at_least
            && (at_most == 0 || size <= at_most)
            && (!begins_as_word || call_id.get(0).is_some_and(begins_word))
            && (!is_word || matches!(call_id, Text::Latin1(units) if units.iter().all(is_of_word)))
    }
}

/// Return true if a character is a letter or `_`.
pub(crate) fn begins_word(unit: u32) -> bool {
    u8::try_from(unit).is_ok_and(|unit| unit.is_ascii_alphabetic() || unit == b'_')
}

/// Return the rule for ids, or for names, that an object describes.
pub(super) fn id_rule<'a, V: Value<'a>>(given: V) -> IdRule {
    let is = |flag: &'static str| given.get(Key::new(flag)).is_some_and(Value::is_true);
    IdRule {
        at_least: given.get(Key::new("at_least")).map_or(0, number),
        at_most: given.get(Key::new("at_most")).map_or(0, number),
        is_word: is("is_word"),
        marks: given.get(Key::new("marks")).and_then(Value::text).map_or("", |marks| kept(marks.to_utf8())),
        begins_as_word: is("begins_as_word"),
    }
}

/// Return the ids of items that an object describes.
pub(super) fn item_ids<'a, V: Value<'a>>(given: V) -> ItemIds {
    let mut starts = Vec::new();
    if let Some(given) = given.get(Key::new("starts")) {
        given.members(&mut |kind, start| {
            starts.extend(start.text().map(|start| (kept(kind.to_utf8()), kept(start.to_utf8()))));
            true
        });
    }
    ItemIds {
        at_least: given.get(Key::new("at_least")).map_or(0, number),
        at_most: given.get(Key::new("at_most")).map_or(0, number),
        starts: Box::leak(starts.into_boxed_slice()),
        is_word: given.get(Key::new("is_word")).is_some_and(Value::is_true),
        is_unique: given.get(Key::new("is_unique")).is_some_and(Value::is_true),
    }
}

/// Return the names of members in a list.
pub(super) fn members<'a, V: Value<'a>>(given: V) -> &'static [Key<'static>] {
    let names = given.list().into_iter().flat_map(items).filter_map(Value::text);
    let keys: Vec<Key<'static>> = names.map(|name| Key::of(kept(name.to_utf8()))).collect();
    Box::leak(keys.into_boxed_slice())
}

/// Return lists of names of members by the types of their parts.
pub(super) fn members_by_type<'a, V: Value<'a>>(given: V) -> &'static [(&'static str, &'static [Key<'static>])] {
    let mut found = Vec::new();
    given.members(&mut |kind, own| {
        found.push((kept(kind.to_utf8()), members(own)));
        true
    });
    Box::leak(found.into_boxed_slice())
}

/// Return the texts in a list.
pub(super) fn texts<'a, V: Value<'a>>(given: V) -> &'static [&'static str] {
    let texts = given.list().into_iter().flat_map(items).filter_map(Value::text);
    Box::leak(texts.map(|text| kept(text.to_utf8())).collect::<Vec<_>>().into_boxed_slice())
}

/// Return the places in a list: lists of names of members.
pub(super) fn places<'a, V: Value<'a>>(given: V) -> &'static [&'static [Key<'static>]] {
    let found: Vec<&'static [Key<'static>]> = given.list().into_iter().flat_map(items).map(members).collect();
    Box::leak(found.into_boxed_slice())
}

/// Return a text; empty for anything else.
pub(super) fn text<'a, V: Value<'a>>(given: V) -> &'static str {
    given.text().map_or("", |text| kept(text.to_utf8()))
}

/// Return a number; 0 for anything else.
pub(super) fn number<'a, V: Value<'a>>(given: V) -> usize {
    given.integer().and_then(|number| usize::try_from(number).ok()).unwrap_or(0)
}

/// Keep a text as long as the process.
pub(super) fn kept(text: impl Into<String>) -> &'static str {
    Box::leak(text.into().into_boxed_str())
}
