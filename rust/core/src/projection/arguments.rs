//! An argument of a call that a marker may replace, and the place of a call's arguments.

use bumpalo::Bump;

use super::edits::{Changed, Edit, Json, Members, Path};
use super::marker::{ARGUMENT, marker_of, widest};
use super::policy::{Counter, Decision};
use super::splice::Writer;
use crate::content::Content;
use crate::context::limits::signed;
use crate::json::scanned::Scanned;
use crate::json::value::{Key, Value};
use crate::text::piece::Piece;
use crate::text::{OwnedText, Text};
use crate::tokens::Encoding;

/// The tokens that a replacement saves at least. For fewer, a model would have to ask for what it could have read.
pub(crate) const LEAST_SAVED: usize = 20;
/// The characters of a text that are counted first.
const FIRST: usize = 400;

/// An argument of a call.
#[derive(Clone, Debug)]
pub(crate) struct Input<'a, V> {
    key: Key<'static>,
    pub(crate) text: Content<'a, V>,
    /// The reason why it may be replaced; `None` if it may not.
    pub(crate) reason: Option<&'static str>,
    pub(crate) reference: String,
    pub(crate) marker: OwnedText,
    /// The marker with the longest reference that the call may get.
    longest: OwnedText,
    pub(crate) is_cleared: bool,
    /// True if this is the argument that the previous projection decided about.
    pub(crate) is_known: bool,
}

impl<'a, V: Value<'a>> Input<'a, V> {
    /// Note an argument of a call with this reference, and the one that markers name.
    pub(crate) fn new(key: Key<'static>, text: V, reason: Option<&'static str>, (call, named): (&str, &str)) -> Self {
        let text = Content::Value(text);
        let name = key.name.to_utf8();
        let reference = format!("{call}{ARGUMENT}{name}");
        let [marker, longest] = [named, &widest(named)].map(|call| {
            let shown = if call.is_empty() { String::new() } else { format!("{call}{ARGUMENT}{name}") };
            marker_of(&Decision::CLEARED, text.len(), &shown)
        });
        Self { key, text, reason, reference, marker, longest, is_cleared: false, is_known: false }
    }

    /// Return the number of bytes that the marker saves.
    pub(crate) fn saved(&self) -> isize {
        signed(self.text.utf8_len()) - signed(self.marker.as_text().len())
    }

    /// Put the marker in its place, if there is a reason, and it saves enough tokens.
    pub(crate) fn clear(&mut self, encoding: &Encoding) -> bool {
        if self.is_cleared || !self.is_worth(encoding) {
            return false;
        }
        self.is_cleared = true;
        true
    }

    /// Return true if there is a reason to replace the argument, and that saves enough tokens.
    pub(crate) fn is_worth(&self, encoding: &Encoding) -> bool {
        let longest = self.longest.as_text();
        self.reason.is_some()
            && longest.len() < self.text.len()
            && has_tokens(&self.text, encoding.count_tokens(longest) + LEAST_SAVED, encoding)
    }
}

/// The place of a call's arguments: a member of an object in the call, or of the call itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arguments<V> {
    pub(crate) path: Path,
    /// The member of the call that holds `key`, and its value; `None` if the call itself does.
    pub(crate) holder: Option<(Key<'static>, V)>,
    pub(crate) key: Key<'static>,
    pub(crate) value: V,
}

impl<'a, V: Value<'a>> Arguments<V> {
    /// Return the members of the call that change.
    pub(crate) fn members(&self, cleared: &[&Input<'a, V>]) -> Members<'a, V> {
        let edit = match self.value.text() {
            Some(text) => Edit::NewValue(Json::Text(with_markers(text, cleared))),
            None => Edit::Changed(Changed { path: None, of: Some(self.value), members: markers(cleared) }),
        };
        let members = vec![(self.key, Some(edit))];
        match self.holder {
            Some((holder, held)) => {
                vec![(holder, Some(Edit::Changed(Changed { path: None, of: Some(held), members })))]
            }
            None => members,
        }
    }

    /// Return how many more tokens the arguments have with the markers; mostly fewer.
    pub(crate) fn growth(&self, cleared: &[&Input<'a, V>], counter: Counter<'_>) -> isize {
        let old = match self.value.text() {
            Some(_) => Content::Value(self.value),
            None => Content::Piece(Piece::own(self.value.json())),
        };
        let new: Content<'a, V> = Content::Piece(with_markers(old.brief().text(), cleared));
        signed(counter.count(&new)) - signed(counter.count(&old))
    }
}

/// Return arguments in JSON with the markers in them; everything else is spelled as it was.
pub(crate) fn with_markers<'a, V: Value<'a>>(json: Text<'_>, cleared: &[&Input<'a, V>]) -> Piece<'static> {
    let (json, bump) = (json.to_utf8(), Bump::new());
    let mut written = Vec::new();
    if let Ok(document) = Scanned::parse(json.as_bytes(), &bump) {
        let changed = Changed { path: None, of: Some(document), members: markers(cleared) };
        let new = Writer::new(json.as_bytes()).request(document, changed);
        written.resize(new.len(), 0);
        new.write(&mut written);
    }
    Piece::own(OwnedText::from(String::from_utf8(written).unwrap_or_default()))
}

/// Return the markers as members of the arguments.
fn markers<'a, 'm, V: Value<'a>, W>(cleared: &[&Input<'a, V>]) -> Members<'m, W> {
    let marker = |each: &&Input<'a, V>| Edit::NewValue(Json::Text(Piece::own(each.marker.clone())));
    cleared.iter().map(|each| (each.key, Some(marker(each)))).collect()
}

/// Return true if a text has at least `least` tokens. Usually its beginning has.
pub(crate) fn has_tokens<'a, V: Value<'a>>(text: &Content<'a, V>, least: usize, encoding: &Encoding) -> bool {
    (text.len() > FIRST && encoding.count_start(text.first(FIRST).brief().text()) >= least)
        || encoding.count_tokens(text.brief().text()) >= least
}
