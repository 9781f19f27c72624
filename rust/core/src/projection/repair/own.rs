//! The destinations of users: one of the records, except for some rules.

use std::sync::{LazyLock, Mutex, PoisonError};

use ahash::AHashMap;
use bumpalo::Bump;

use super::destinations::{Destination, IdRule, ItemIds};
use crate::json::scanned::Scanned;
use crate::json::value::{Key, Value, items};
use crate::text::Text;

/// The destinations of users by the JSON that describes them. They are few, and stay as long as the process.
static OWN: LazyLock<Mutex<AHashMap<String, &'static Destination>>> = LazyLock::new(Mutex::default);

impl Destination {
    /// Return the destination that JSON describes: its `name`, its `base` and its `rules`; `None` if the base is not
    /// known.
    #[must_use]
    pub fn own(written: &str) -> Option<&'static Self> {
        let mut all = OWN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = all.get(written).copied() {
            return Some(known);
        }
        let bump = Bump::new();
        let document = Scanned::document(written.as_bytes(), &bump).ok()?;
        let text = |key: &'static str| Some(document.get(Key::new(key))?.text()?.to_utf8());
        let base = Self::named(&text("base")?)?;
        let made = with_rules(base, kept(text("name")?), document.get(Key::new("rules"))?);
        let made: &'static Self = Box::leak(Box::new(made));
        all.insert(written.to_owned(), made);
        Some(made)
    }
}

/// Return a destination with some rules replaced.
fn with_rules<'a, V: Value<'a>>(base: &Destination, name: &'static str, rules: V) -> Destination {
    let mut new = *base;
    new.name = name;
    let flags: [(&'static str, &mut bool); 21] = [
        ("answers_at_once", &mut new.answers_at_once),
        ("ends_in_calls", &mut new.ends_in_calls),
        ("fails_in_words", &mut new.fails_in_words),
        ("is_unique", &mut new.is_unique),
        ("merges", &mut new.merges),
        ("model_follows_results", &mut new.model_follows_results),
        ("needs_summary", &mut new.needs_summary),
        ("refuses_blank", &mut new.refuses_blank),
        ("refuses_developer", &mut new.refuses_developer),
        ("refuses_empty", &mut new.refuses_empty),
        ("refuses_media", &mut new.refuses_media),
        ("refuses_system", &mut new.refuses_system),
        ("server_pairs", &mut new.server_pairs),
        ("signed_calls", &mut new.signed_calls),
        ("signed_thoughts", &mut new.signed_thoughts),
        ("system_begins", &mut new.system_begins),
        ("texts_by_role", &mut new.texts_by_role),
        ("typed_calls", &mut new.typed_calls),
        ("user_begins", &mut new.user_begins),
        ("user_ends", &mut new.user_ends),
        ("user_speaks", &mut new.user_speaks),
    ];
    for (flag, field) in flags {
        if let Some(given) = rules.get(Key::new(flag)) {
            *field = given.is_true();
        }
    }
    if let Some(marks) = rules.get(Key::new("cache_marks")) {
        new.cache_marks = number(Some(marks));
    }
    if let Some(id) = rules.get(Key::new("id")) {
        new.id = id_rule(id);
    }
    if let Some(tool_name) = rules.get(Key::new("tool_name")) {
        new.tool_name = id_rule(tool_name);
    }
    if let Some(members) = rules.get(Key::new("refused_members")).and_then(Value::list) {
        let keys: Vec<Key<'static>> = items(members).filter_map(Value::text).map(key).collect();
        new.refused_members = Box::leak(keys.into_boxed_slice());
    }
    if let Some(ids) = rules.get(Key::new("item_ids")) {
        let mut starts = Vec::new();
        if let Some(given) = ids.get(Key::new("starts")) {
            given.members(&mut |kind, start| {
                starts.extend(start.text().map(|start| (kept(kind.to_utf8()), kept(start.to_utf8()))));
                true
            });
        }
        let at_most = number(ids.get(Key::new("at_most")));
        new.item_ids = ItemIds { at_most, starts: Box::leak(starts.into_boxed_slice()) };
    }
    new
}

/// Return the rule for ids, or for names, that an object describes.
fn id_rule<'a, V: Value<'a>>(given: V) -> IdRule {
    let is = |flag: &'static str| given.get(Key::new(flag)).is_some_and(Value::is_true);
    IdRule {
        at_least: number(given.get(Key::new("at_least"))),
        at_most: number(given.get(Key::new("at_most"))),
        is_word: is("is_word"),
        marks: given.get(Key::new("marks")).and_then(Value::text).map_or("", |marks| kept(marks.to_utf8())),
        begins_as_word: is("begins_as_word"),
    }
}

fn number<'a, V: Value<'a>>(value: Option<V>) -> usize {
    value.and_then(Value::integer).and_then(|number| usize::try_from(number).ok()).unwrap_or(0)
}

fn key(name: Text<'_>) -> Key<'static> {
    Key::of(kept(name.to_utf8()))
}

/// Keep a text as long as the process.
fn kept(text: impl Into<String>) -> &'static str {
    Box::leak(text.into().into_boxed_str())
}
