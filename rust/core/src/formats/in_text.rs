//! Calls and results that stand in the text of messages, for models without calls of their own.
//!
//! Roo Code and older Cline write `<read_file><path>a.py</path></read_file>`, `OpenHands` `<function=read>`, Hermes
//! `<tool_call>`, smolagents `Calling tools:` and a list; the client answers in the name of the user. Such calls are not
//! read: a message with one is reported as unread.

use super::roles::{REQUEST_MODEL_ROLES, USER_ROLES};
use super::unread::{CALL_ELEMENTS, CALL_HEADINGS, RESULT_ELEMENTS, RESULT_STARTS};
use crate::json::value::{Value, names, objects};
use crate::text::Text;

/// The maximum number of characters of the name of an element.
const LONGEST_NAME: usize = 64;
/// The number of characters in which the head of a result ends, which holds the arguments of its call.
const LONGEST_HEAD: usize = 2_000;
const HEAD_END: &str = "] Result:";

/// Return true if a text of a message is a call of the model, or begins with the result of one.
pub(super) fn is_in_text<'a, V: Value<'a>>(message: V, role: Option<V>) -> bool {
    let Some(role) = role.and_then(Value::text) else { return false };
    let holds = match () {
        () if REQUEST_MODEL_ROLES.iter().any(|name| role.is(name)) => ends_with_call,
        () if USER_ROLES.iter().any(|name| role.is(name)) => begins_with_result,
        () => return false,
    };
    let content = message.get(names::CONTENT);
    if let Some(text) = content.and_then(Value::text) {
        return holds(text);
    }
    objects(content).filter_map(|part| part.get(names::TEXT).and_then(Value::text)).any(holds)
}

/// Return true if a text ends with the element of a call, which begins a line, or with a line that lists calls.
fn ends_with_call(text: Text<'_>) -> bool {
    let text = without_white(text);
    if text.ends_with("}]") {
        return ends_with_list(text);
    }
    let Some(end) = text.len().checked_sub(1).filter(|&last| is_at(text, last, b'>')) else { return false };
    let first = end.saturating_sub(LONGEST_NAME + 2);
    let Some(start) = (first..end).rev().find(|&index| is_at(text, index, b'<') && is_at(text, index + 1, b'/')) else {
        return false;
    };
    let name = text.slice(start + 2, end);
    if !CALL_ELEMENTS.iter().any(|known| name.is(known)) {
        return false;
    }
    let is_opened = |&index: &usize| {
        is_at(text, index, b'<')
            && (index == 0 || is_at(text, index - 1, b'\n'))
            && text.slice(index + 1, index + 1 + name.len()) == name
    };
    let Some(opened) = (0..start).rev().find(is_opened) else { return false };
    let rest = text.slice(opened + 1 + name.len(), start);
    [">", "=", " ", "\n"].iter().any(|next| rest.starts_with(next))
}

/// Return true if the last line of a text begins a list, and the line before it is the heading of a list of calls.
fn ends_with_list(text: Text<'_>) -> bool {
    let Some(end) = (0..text.len()).rev().find(|&index| is_at(text, index, b'\n')) else { return false };
    let before = text.slice(0, end);
    let begins_line = |heading: &str| {
        let start = end - heading.len();
        start == 0 || is_at(text, start - 1, b'\n')
    };
    let is_headed = |heading: &&str| before.ends_with(heading) && begins_line(heading);
    text.slice(end + 1, text.len()).starts_with("[{") && CALL_HEADINGS.iter().any(is_headed)
}

/// Return true if a text begins as clients begin the result of a call: `[read_file for 'a.py'] Result:`.
pub(crate) fn begins_with_result(text: Text<'_>) -> bool {
    if RESULT_STARTS.iter().any(|start| text.starts_with(start)) {
        return true;
    }
    if text.starts_with("<") {
        let is_element =
            |name: &&str| text.starts_with(&format!("<{name}>")) && text.as_utf8().contains(&format!("</{name}>"));
        return RESULT_ELEMENTS.iter().any(is_element);
    }
    if !text.starts_with("[") {
        return false;
    }
    let head = text.slice(1, LONGEST_HEAD);
    let size = (0..head.len()).find(|&index| !is_name(head.slice(index, index + 1))).unwrap_or(head.len());
    let after = head.slice(size, head.len());
    let is_named = size > 0 && !head.starts_with("_");
    is_named
        && [HEAD_END, " for '", " for \""].iter().any(|next| after.starts_with(next))
        && (0..after.len()).any(|index| after.slice(index, index + HEAD_END.len()).is(HEAD_END))
}

/// Return true if all characters are lower-case letters and underscores.
fn is_name(text: Text<'_>) -> bool {
    (0..text.len()).all(|index| {
        let unit = text.get(index).unwrap_or(0);
        (0x61..=0x7A).contains(&unit) || unit == u32::from(b'_')
    })
}

fn is_at(text: Text<'_>, index: usize, character: u8) -> bool {
    text.get(index) == Some(u32::from(character))
}

fn is_white(text: Text<'_>, index: usize) -> bool {
    matches!(text.get(index), Some(0x20 | 0x09 | 0x0D | 0x0A))
}

fn without_white(text: Text<'_>) -> Text<'_> {
    let size = (0..text.len()).rev().find(|&index| !is_white(text, index)).map_or(0, |last| last + 1);
    text.slice(0, size)
}
