//! Results that say that another one will follow for the same call. The forms are in `_data/provisional.json`.

use crate::content::answer::held_object;
use crate::content::is_stand_in;
use crate::json::value::{Key, Value, names, text_or_empty};
use crate::pairing::block::Entry;
use crate::text::Text;

include!(concat!(env!("OUT_DIR"), "/provisional.rs"));

/// Return true if the result of `later` counts instead of that of `earlier`, for the same call.
///
/// A real result replaces a stand-in, and any that says something replaces a provisional one.
pub(crate) fn replaces<'a, V: Value<'a>>(later: &Entry<'a, V>, earlier: &Entry<'a, V>) -> bool {
    if is_stand_in(&later.text) {
        return false;
    }
    let is_empty =
        || NO_ANSWERS.iter().any(|text| later.text.len() == text.len() && later.text.starts_with_any(&[text]));
    is_stand_in(&earlier.text) || (is_provisional(earlier) && !later.text.is_empty() && !is_empty())
}

/// Return true if a result is not the last one for its call.
fn is_provisional<'a, V: Value<'a>>(entry: &Entry<'a, V>) -> bool {
    let Some(wire) = entry.result else { return false };
    let response = wire.get(names::FUNCTION_RESPONSE_CAMEL).or_else(|| wire.get(names::FUNCTION_RESPONSE));
    let response = response.and_then(Value::object);
    if response.is_some_and(|response| CONTINUE_KEYS.iter().any(|key| response.get(*key).is_some_and(Value::is_true))) {
        return true;
    }
    let holders = [Some(wire), held_object(entry.content)];
    holders.into_iter().flatten().any(|holder| is_open(text_or_empty(holder.get(STATUS_KEY))))
}

/// Return true if a status, in lower case and without spaces, hyphens and underscores, is one of work in progress.
fn is_open(status: Text<'_>) -> bool {
    let text = status.to_utf8();
    let folded: String = text.chars().filter(|character| !" -_".contains(*character)).collect();
    text.is_ascii() && STATUSES.contains(&folded.to_ascii_lowercase().as_str())
}
