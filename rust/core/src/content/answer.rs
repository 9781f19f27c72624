//! Results that are a JSON object, whether the format holds an object or its text.

use super::Content;
use crate::json::value::{Spelling, Value, names};

/// The maximum number of code points of a string that is parsed. A longer string is an answer with much data.
const MOST_CHARACTERS: usize = 4_000;
/// The maximum number of bytes of one code point in JSON: two escapes of a surrogate each.
const WIDEST: usize = 12;

/// Return the object that a result is: itself, its only part, or their text; `None` if it is something else.
pub(crate) fn held_object<'a, V: Value<'a>>(content: Option<V>) -> Option<V> {
    held_within(content, MOST_CHARACTERS)
}

/// Return the object that a result is, if its text has at most `most` characters.
pub(crate) fn held_within<'a, V: Value<'a>>(content: Option<V>, most: usize) -> Option<V> {
    let mut found = content?;
    if found.spelling().is_none() {
        let Some(parts) = found.list() else { return found.object() };
        found = parts.item(0).filter(|_| parts.count() == 1)?;
        if found.spelling().is_none() {
            let part = found.object()?;
            if let Some(held) = part.get(names::JSON).and_then(Value::object) {
                return Some(held); // Bedrock
            }
            found = part.get(names::TEXT)?;
        }
    }
    let text = Content::Value(found);
    let is_written = text.starts_with_any(&["{"]) && has_at_most(&text, most);
    is_written.then(|| found.arguments())
}

/// Return true if a string has at most `count` code points, without counting all of a much longer string.
pub(crate) fn has_at_most<'a, V: Value<'a>>(text: &Content<'a, V>, count: usize) -> bool {
    let is_longer = matches!(text.spelling(), Spelling::Json(bytes) if bytes.len() > WIDEST * count);
    !is_longer && text.len() <= count
}
