//! The destinations of users: one of the records, except for some rules.

use std::sync::{LazyLock, Mutex, PoisonError};

use ahash::AHashMap;
use bumpalo::Bump;

use super::destinations::Destination;
use super::rules::kept;
use crate::json::scanned::Scanned;
use crate::json::value::{Key, Value};

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
        let rules = base.rules.with(document.get(Key::new("rules"))?);
        let made: &'static Self = Box::leak(Box::new(Self { name: kept(text("name")?), rules, ..*base }));
        all.insert(written.to_owned(), made);
        Some(made)
    }
}
