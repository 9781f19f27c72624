//! Signatures: thoughts that lack one go, and calls that need one get the one for calls of other models.

use ahash::{AHashMap, AHashSet};

use super::destinations::Destination;
use super::pairs::Pairs;
use super::report::Mends;
use crate::json::value::{Key, Value, items, names, text_or_empty};
use crate::projection::edits::{Edit, Json, PartsKey, Path};
use crate::projection::request::EditedMessages;
use crate::text::Text;
use crate::text::constants::UNSIGNED_CALL;

const SIGNATURE: Key<'static> = Key::new("signature");
/// The members that hold the signature of a call.
const THOUGHT_SIGNATURES: [Key<'static>; 2] = [Key::new("thoughtSignature"), Key::new("thought_signature")];

/// Remove thoughts without a signature, which another model had, or which a gateway passed on without it.
pub(crate) fn leave_out_thoughts<'a, V: Value<'a>>(
    edited: &mut EditedMessages<'a, '_, V>,
    (destination, pairs): (&Destination, &Pairs<'a>),
    mends: &mut Mends<'a>,
) {
    if !destination.rules.signed_thoughts || edited.keeps_thoughts {
        return;
    }
    // They get the model's role.
    let callers: AHashSet<usize> = pairs.calls().map(|(path, _)| path.position()).collect();
    let is_unsigned =
        |part: V| text_or_empty(part.get(names::TYPE)).is("thinking") && text_or_empty(part.get(SIGNATURE)).is_empty();
    for (position, message) in edited.messages.iter().enumerate() {
        let is_models = text_or_empty(message.get(names::ROLE)).is(destination.model);
        if !(is_models || callers.contains(&position)) || edited.guard.contains(&position) {
            continue;
        }
        let parts = message.get(names::CONTENT).and_then(Value::list);
        for (index, part) in parts.into_iter().flat_map(items).enumerate() {
            if part.object().is_some_and(is_unsigned) {
                edited.take_out(Path::Part(position, PartsKey::Content, index));
                mends.add("unsigned_thought", Some(position), Text::ascii(""));
            }
        }
    }
}

/// Sign the first call of each message of the open turn, if the destination refuses one without a signature.
///
/// The signature is the one for calls of other models. The turn is open from the last message in which the user speaks.
pub(crate) fn sign_calls<'a, V: Value<'a>>(
    edited: &mut EditedMessages<'a, '_, V>,
    (destination, pairs): (&Destination, &Pairs<'a>),
    mends: &mut Mends<'a>,
) {
    if !destination.rules.signed_calls {
        return;
    }
    let mut firsts: AHashMap<usize, (Path, usize)> = AHashMap::new();
    for (path, number) in pairs.calls() {
        let first = firsts.entry(path.position()).or_insert((path, number));
        *first = (*first).min((path, number));
    }
    let mut unsigned = Vec::new();
    for (position, message) in edited.messages.iter().enumerate().rev() {
        if edited.guard.contains(&position) || edited.is_gone(Path::Message(position)) {
            continue;
        }
        let Some((path, number)) = firsts.get(&position) else {
            if is_users_word(*message, destination) {
                break;
            }
            continue;
        };
        if !edited.at(*path).and_then(Value::object).is_some_and(is_signed) {
            unsigned.push((*path, *number));
        }
    }
    for (path, number) in unsigned.into_iter().rev() {
        let Some(block) = edited.blocks.get(number) else { continue };
        let signature = Some(Edit::NewValue(Json::ascii(UNSIGNED_CALL)));
        edited.edit(path, vec![(THOUGHT_SIGNATURES[0], signature)]);
        mends.add("unsigned_call", Some(block.entry.position), block.entry.call_id);
    }
}

/// Return true if a part has a signature, by any of both names.
fn is_signed<'a, V: Value<'a>>(part: V) -> bool {
    THOUGHT_SIGNATURES.iter().any(|key| !text_or_empty(part.get(*key)).is_empty())
}

/// Return true if a message without calls is the user's, and no result is in it.
fn is_users_word<'a, V: Value<'a>>(message: V, destination: &Destination) -> bool {
    if text_or_empty(message.get(names::ROLE)).is(destination.model) {
        return false;
    }
    let parts = message.get(destination.key.key()).and_then(Value::list).filter(|parts| parts.count() > 0);
    let is_result = |part: V| part.object().is_some_and(|part| destination.is_result(part));
    parts.is_some_and(|parts| !items(parts).any(is_result))
}
