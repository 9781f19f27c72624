//! The names of documents, which Bedrock asks for in a certain form, and each once in a request.

use ahash::AHashSet;

use super::destinations::Destination;
use super::message_parts::parts_of;
use super::report::Mends;
use super::rules::IdRule;
use crate::json::value::{Value, items, names, text_or_empty};
use crate::projection::edits::{Changed, Draft, DraftList, Edit, Json, Members, Parts, PartsKey, Path};
use crate::projection::request::EditedMessages;
use crate::text::Text;
use crate::text::piece::Piece;

/// The name of a document whose own one has no character that is allowed.
const UNNAMED: &str = "document";

/// The names of a request's documents.
struct Names {
    rule: IdRule,
    taken: AHashSet<String>,
}

/// Give each document a name that the destination accepts: in the order of the messages, so that later ones change no
/// earlier name.
pub(crate) fn name_documents<'a, V: Value<'a>>(
    edited: &mut EditedMessages<'a, '_, V>,
    destination: &Destination,
    mends: &mut Mends<'a>,
) {
    let rule = destination.rules.document_name;
    if rule.at_most == 0 {
        return;
    }
    let mut known = Names { rule, taken: AHashSet::new() };
    for (position, message) in edited.messages.iter().enumerate() {
        let parts = message.get(names::CONTENT).and_then(Value::list);
        let Some(parts) = parts.filter(|_| !edited.guard.contains(&position)) else { continue };
        for (index, part) in items(parts).enumerate() {
            let path = Path::Part(position, PartsKey::Content, index);
            let Some(part) = part.object().filter(|_| !edited.is_gone(path)) else { continue };
            let new = match destination.result_id.id_holder(part) {
                None => known.new_name(part).map(|new| renaming(part, &new)),
                Some(result) => {
                    let content = result.get(names::CONTENT).and_then(Value::list);
                    content.and_then(|content| renamed_in(edited, (path, destination, content, result), &mut known))
                }
            };
            let Some(members) = new else { continue };
            edited.edit(path, members);
            mends.add("document_name", Some(position), Text::ascii(""));
        }
    }
}

/// Return the members of a result in which documents are renamed; `None` if none is.
fn renamed_in<'a, V: Value<'a>>(
    edited: &EditedMessages<'a, '_, V>,
    (path, destination, content, result): (Path, &Destination, V, V),
    known: &mut Names,
) -> Option<Members<'a, V>> {
    if !items(content).filter_map(Value::object).any(|part| part.has(names::DOCUMENT)) {
        return None;
    }
    let mut drafts = parts_of(edited, path, (names::CONTENT, Some(content)))?;
    let mut is_changed = false;
    for draft in &mut drafts {
        let Draft::Original(own, part) = draft else { continue };
        let Some(new) = part.object().and_then(|part| known.new_name(part)) else { continue };
        *draft = Draft::Changed(Changed { path: Some(*own), of: Some(*part), members: renaming(*part, &new) });
        is_changed = true;
    }
    let parts = Edit::Parts(Parts { of: Some((DraftList::Inner, content)), items: drafts });
    let members = vec![(names::CONTENT, Some(parts))];
    let holder = *destination.result_id.holders.first()?;
    let inside = Edit::Changed(Changed { path: None, of: Some(result), members });
    is_changed.then(|| vec![(holder, Some(inside))])
}

/// Return the members of a part whose document gets a name.
fn renaming<'a, V: Value<'a>>(part: V, new: &str) -> Members<'a, V> {
    let members = vec![(names::NAME, Some(Edit::NewValue(Json::Text(Piece::own_ascii(new.to_owned())))))];
    let of = part.get(names::DOCUMENT).and_then(Value::object);
    vec![(names::DOCUMENT, Some(Edit::Changed(Changed { path: None, of, members })))]
}

impl Names {
    /// Return a new name for the document in a part; `None` if there is none, or if its name is accepted.
    fn new_name<'a, V: Value<'a>>(&mut self, part: V) -> Option<String> {
        let document = part.get(names::DOCUMENT)?.object()?;
        let name = text_or_empty(document.get(names::NAME));
        let own = name.to_utf8();
        let is_right = self.rule.takes_id(name) && !own.contains("  ");
        if is_right && self.taken.insert(own.to_ascii_lowercase()) {
            return None;
        }
        let is_allowed = |letter: &char| letter.is_ascii_alphanumeric() || self.rule.marks.contains(*letter);
        let plain: String = own.chars().map(|letter| if is_allowed(&letter) { letter } else { '-' }).collect();
        let words: Vec<&str> = plain.split(' ').filter(|word| !word.is_empty()).collect();
        let stem = if words.is_empty() { UNNAMED.to_owned() } else { words.join(" ") };
        let (mut new, mut number) = (stem.chars().take(self.rule.at_most).collect::<String>(), 2);
        while !self.taken.insert(new.to_ascii_lowercase()) {
            let end = format!(" {number}");
            new = stem.chars().take(self.rule.at_most.saturating_sub(end.len())).chain(end.chars()).collect();
            number += 1;
        }
        Some(new)
    }
}
