//! The types of texts: that of a destination's texts, and in Responses that of the message's role.

use super::destinations::{Destination, Form};
use super::pairs::Pairs;
use super::report::Mends;
use crate::json::value::{Value, items, names, text_or_empty};
use crate::projection::edits::{Edit, Json, PartsKey, Path};
use crate::projection::request::EditedMessages;
use crate::text::Text;
use crate::text::piece::Piece;

/// The type of texts in Responses that the model is given.
pub(super) const GIVEN: &str = "input_text";
/// The type of texts in Responses that the model said.
pub(super) const SAID: &str = "output_text";

/// Give texts the type of the destination's, if its parts have types: to those without one, and to those of Responses.
pub(crate) fn mend_text_types<'a, V: Value<'a>>(
    edited: &mut EditedMessages<'a, '_, V>,
    (destination, pairs): (&Destination, &Pairs<'a>),
    mends: &mut Mends<'a>,
) {
    // "every content block must declare `type`": HKUDS/nanobot#4060
    // "Input should be 'text'" of a server of Chat for `input_text`: sgl-project/sglang#17853
    if destination.form == Form::Items || !destination.has_types() {
        return;
    }
    for (position, message) in edited.messages.iter().enumerate() {
        let Some(parts) = message.get(names::CONTENT).and_then(Value::list) else { continue };
        if !items(parts).any(|part| part.object().is_some_and(has_other_type))
            || edited.guard.contains(&position)
            || pairs.owner(Path::Message(position)).is_some()
        {
            continue;
        }
        for (index, part) in items(parts).enumerate() {
            if part.object().is_some_and(has_other_type) {
                let kind = Some(Edit::NewValue(Json::ascii("text")));
                edited.edit(Path::Part(position, PartsKey::Content, index), vec![(names::TYPE, kind)]);
            }
        }
        mends.add_with("text_type", Some(position), Text::ascii(""), Piece::ascii("text"));
    }
}

/// Return true if a part is a text without a type, or with one of Responses.
pub(crate) fn has_other_type<'a, V: Value<'a>>(part: V) -> bool {
    is_bare_text(part) || is_text_of_responses(part)
}

/// Return true if a part is a text with a type that only Responses has.
pub(crate) fn is_text_of_responses<'a, V: Value<'a>>(part: V) -> bool {
    let kind = text_or_empty(part.get(names::TYPE));
    (kind.is(GIVEN) || kind.is(SAID)) && part.has(names::TEXT)
}

/// Return true if a part is a text that does not say so.
pub(crate) fn is_bare_text<'a, V: Value<'a>>(part: V) -> bool {
    !part.has(names::TYPE) && part.has(names::TEXT)
}

/// Give the texts of a message the type that they have by its role.
pub(crate) fn mend_types_by_role<'a, V: Value<'a>>(
    (edited, position): (&mut EditedMessages<'a, '_, V>, usize),
    destination: &Destination,
    message: V,
    mends: &mut Mends<'a>,
) {
    let is_models = text_or_empty(message.get(names::ROLE)).is(destination.model);
    let (wanted, other) = if is_models { (SAID, GIVEN) } else { (GIVEN, SAID) };
    let is_wrong = |part: V| {
        let kind = text_or_empty(part.get(names::TYPE));
        kind.is("text") || kind.is(other) || is_bare_text(part)
    };
    let mut is_mended = false;
    let parts = message.get(names::CONTENT).and_then(Value::list);
    for (index, part) in parts.into_iter().flat_map(items).enumerate() {
        if part.object().is_some_and(is_wrong) {
            let kind = Some(Edit::NewValue(Json::ascii(wanted)));
            edited.edit(Path::Part(position, PartsKey::Content, index), vec![(names::TYPE, kind)]);
            is_mended = true;
        }
    }
    if is_mended {
        mends.add_with("text_type", Some(position), Text::ascii(""), Piece::ascii(wanted));
    }
}
