//! The outcome of results without an error flag: certainly failed, doubtful, or a success.
//!
//! Many formats have no flag, and tools say in words that they failed. The known forms are in `_data/failures.json`. A
//! form counts by its place and by the length of the whole: a message of a few words is the failure, while a log or a
//! file that holds the same words is an answer. A certain failure is treated like one with a flag. A doubtful result
//! supersedes no success, so that the older success stays next to it.

use std::borrow::Cow;
use std::sync::LazyLock;

use crate::content::Content;
use crate::content::answer::{has_at_most, held_object};
use crate::content::terminal::{is_drawn, last_state};
use crate::json::value::{Key, Value, names, text_or_empty};
use crate::pairing::block::{Entry, Kind};
use crate::text::constants::FAILED as MADE_UP;

include!(concat!(env!("OUT_DIR"), "/failures.rs"));

/// The text before and after an exit code or a message.
pub(crate) struct Frame {
    pub(crate) start: &'static str,
    pub(crate) end: &'static str,
}

/// The beginning of a message.
pub(crate) struct Start {
    start: &'static str,
}

/// The outcome that a result has. A newer block supersedes an older one only if its own is at least as good.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// It failed.
    #[default]
    Failed,
    /// It may have failed.
    Doubtful,
    /// Nothing says that it failed, and nothing that it succeeded.
    Unproven,
    /// It says that it did not fail.
    Success,
}

/// The number of code points that are read at the beginning.
const HEAD: usize = 500;
/// The number of code points that are read at the end.
const TAIL: usize = 200;
/// The maximum number of code points of a message of a few words.
pub(super) const SHORT: usize = 500;
/// The maximum number of code points of a message with details.
const LONG: usize = 4_000;
/// The maximum number of line breaks in a message of a few words.
const MOST_BREAKS: usize = 2;
/// The maximum number of lines with an exit code and other facts, above or below an output.
pub(crate) const MOST_LINES: usize = 8;
/// Words within the form of a line, which follow the number of a shell.
const BEFORE_CODE: &str = " exit code ";
const MOST_DIGITS: usize = 10;
/// The largest exit code; a larger number is something else.
const MOST_CODE: u64 = 1 << 32;
const METADATA: Key<'static> = Key::of("metadata");

/// True for the ASCII characters that begin a form; few texts begin with one.
static INITIALS: LazyLock<[bool; 128]> = LazyLock::new(|| {
    let frames = EXITS.iter().chain(WRAPPERS).map(|frame| frame.start);
    let starts = STARTS.iter().chain(LABELS).map(|form| form.start);
    let mut found = [false; 128];
    for text in frames.chain(starts).chain(ASIDES.iter().copied()).chain([MARK, MADE_UP, TRACEBACK]) {
        if let Some(place) = text.bytes().next().and_then(|first| found.get_mut(usize::from(first))) {
            *place = true;
        }
    }
    found
});

/// Return the outcome of an entry that was settled.
pub(crate) fn outcome<'a, V: Value<'a>>(entry: &Entry<'a, V>) -> Outcome {
    match () {
        () if entry.is_failure() => Outcome::Failed,
        () if entry.is_doubtful() => Outcome::Doubtful,
        () if entry.is_unproven() => Outcome::Unproven,
        () => Outcome::Success,
    }
}

/// Mark an entry whose kind is known as failed or doubtful, if the words of its result say so and it has no flag.
pub(crate) fn settle<'a, V: Value<'a>>(entry: &mut Entry<'a, V>) {
    if entry.is_failure() {
        return;
    }
    let found = outcome_of(entry);
    if found == Outcome::Unproven {
        entry.set_unproven();
    }
    if found >= Outcome::Unproven || entry.result.is_some_and(|wire| has_flag(wire, entry.content)) {
        return;
    }
    if found == Outcome::Failed {
        entry.set_error();
    } else {
        entry.set_doubtful();
    }
}

/// Return true if a result that is not marked as failed could have been, and so is certainly a success.
pub(super) fn has_flag<'a, V: Value<'a>>(wire: V, content: Option<V>) -> bool {
    let kind = text_or_empty(wire.get(names::TYPE));
    // A server's tool of Responses or Anthropic has a flag of its own.
    let is_flagged = kind.is("shell_call_output") || kind.ends_with("_call") || kind.ends_with("_tool_result");
    if is_flagged || is_false(wire.get(names::IS_ERROR)) {
        return true;
    }
    if wire.get(names::CODE_EXECUTION_RESULT_CAMEL).or_else(|| wire.get(names::CODE_EXECUTION_RESULT)).is_some() {
        return true;
    }
    let result = wire.get(names::TOOL_RESULT_CAMEL).and_then(Value::object);
    if result.is_some_and(|result| text_or_empty(result.get(names::STATUS)).is("success")) {
        return true;
    }
    // Codex's JSON with an exit code was unpacked.
    let output = wire.get(names::OUTPUT).and_then(Value::text_len);
    output.zip(content.and_then(Value::text_len)).is_some_and(|(output, content)| output != content)
}

/// Return true if a value is `false`.
fn is_false<'a, V: Value<'a>>(value: Option<V>) -> bool {
    let is_scalar = |value: &V| value.spelling().is_none() && value.list().is_none() && value.object().is_none();
    value.filter(is_scalar).is_some_and(|value| value.json().as_text().is("false"))
}

/// Return the outcome that the content of a result says.
fn outcome_of<'a, V: Value<'a>>(entry: &Entry<'a, V>) -> Outcome {
    let (is_read, is_command) = (entry.kind == Kind::Read, entry.kind == Kind::Command);
    let value = || entry.value.as_ref().map(|value| value.text().to_utf8()).unwrap_or_default();
    if let Some(held) = held_object(entry.content) {
        if let Some(found) = object_outcome(held) {
            let is_data = is_read
                && entry
                    .value
                    .as_ref()
                    .is_some_and(|value| value.text().ends_with(".json") || value.text().ends_with(".jsonl"));
            return match found {
                Outcome::Failed if is_data => Outcome::Doubtful,
                Outcome::Doubtful if is_data => Outcome::Unproven,
                found => found,
            };
        }
        if !held.has(names::CONTENT) {
            return Outcome::Unproven;
        }
    }
    let text = &*answer(entry);
    let initial = text.initial().and_then(|initial| usize::try_from(initial).ok());
    if initial.and_then(|initial| INITIALS.get(initial)).is_some_and(|is_one| *is_one)
        && let Some(found) = head_outcome(text, is_read)
    {
        return found;
    }
    if is_command
        && ends_with_a_fact(text)
        && let Some(has_failed) = exit_code_failed(last(text).rsplit('\n'))
    {
        return if has_failed { Outcome::Failed } else { Outcome::Success };
    }
    if (is_read || is_command) && initial.is_some() && has_at_most(text, SHORT) {
        return shell_outcome(text.brief().text().to_utf8().trim_end_matches('\n'), is_read, value);
    }
    Outcome::Unproven
}

/// Return the text by which a result is judged: what a terminal shows of it in the end, or a file as it is.
///
/// A long text that a terminal showed has signs of it at an end; no more of it is looked at.
pub(super) fn answer<'e, 'a, V: Value<'a>>(entry: &'e Entry<'a, V>) -> Cow<'e, Content<'a, V>> {
    let text = &entry.text;
    let is_seen = !matches!(entry.kind, Kind::Read | Kind::Edit)
        && (has_at_most(text, LONG) || is_drawn(&text.first(HEAD)) || is_drawn(&text.last(TAIL)));
    let last = if is_seen { last_state(text) } else { None };
    last.map_or(Cow::Borrowed(&entry.text), |last| Cow::Owned(Content::Piece(last)))
}

/// Return true if the last character may end an exit code, or a fact next to it.
fn ends_with_a_fact<'a, V: Value<'a>>(text: &Content<'a, V>) -> bool {
    let end = text.end(1);
    let last = end.len().checked_sub(1).and_then(|last| end.text().get(last)).and_then(char::from_u32);
    last.is_some_and(|last| last == ']' || last == '>' || last.is_ascii_digit())
}

/// Return the last code points of a string.
fn last<'a, V: Value<'a>>(text: &Content<'a, V>) -> String {
    let end = text.end(TAIL);
    end.slice(end.len().saturating_sub(TAIL), end.len()).text().to_utf8()
}

/// Return the outcome that the beginning of a result says; `None` if it says nothing.
fn head_outcome<'a, V: Value<'a>>(text: &Content<'a, V>, is_read: bool) -> Option<Outcome> {
    let head = text.start(HEAD).text().to_utf8();
    if head.starts_with(MARK) || head.starts_with(MADE_UP) {
        return Some(Outcome::Failed);
    }
    if let Some(has_failed) = exit_code_failed(head.split('\n')) {
        return Some(match has_failed {
            true if is_read && !has_at_most(text, SHORT) => Outcome::Unproven,
            true => Outcome::Failed,
            false => Outcome::Success,
        });
    }
    let tail = || last(text).trim_end_matches('\n').to_owned();
    if let Some(wrapper) = WRAPPERS.iter().find(|wrapper| head.starts_with(wrapper.start)) {
        let is_whole = tail().ends_with(wrapper.end);
        return Some(if is_whole { message_outcome(text, is_read) } else { Outcome::Doubtful });
    }
    if STARTS.iter().any(|form| head.starts_with(form.start)) {
        return Some(message_outcome(text, is_read));
    }
    if LABELS.iter().any(|form| head.starts_with(form.start)) {
        return Some(labelled_outcome(&head, text, is_read));
    }
    head.starts_with(TRACEBACK).then(|| match (is_read, has_at_most(text, LONG) && is_exception(&tail())) {
        (false, true) => Outcome::Failed,
        (true, false) => Outcome::Unproven,
        _ => Outcome::Doubtful,
    })
}

/// Return true if the first of these lines, after asides, says an exit code that is not zero; `None` without one.
fn exit_code_failed<'l>(lines: impl Iterator<Item = &'l str>) -> Option<bool> {
    for line in lines.take(MOST_LINES) {
        let code = exit_code_in(line);
        if !code.is_empty() {
            return Some(!code.trim_matches(['-', '0']).is_empty());
        }
        if !ASIDES.iter().any(|aside| line.starts_with(aside)) {
            return None;
        }
    }
    None
}

/// Return the exit code that a line of a harness says; empty if it says none.
pub(crate) fn exit_code_in(line: &str) -> &str {
    for exit in EXITS {
        let code = line.strip_prefix(exit.start).and_then(|rest| rest.strip_suffix(exit.end));
        let Some(code) = code else { continue };
        let code = code.rsplit_once(BEFORE_CODE).map_or(code, |(_, code)| code);
        let digits = code.strip_prefix('-').unwrap_or(code);
        if (1..=MOST_DIGITS).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return code;
        }
    }
    ""
}

/// Return the outcome of text that begins as only a failure does.
fn message_outcome<'a, V: Value<'a>>(text: &Content<'a, V>, is_read: bool) -> Outcome {
    match (is_read, has_at_most(text, if is_read { SHORT } else { LONG })) {
        (_, true) => Outcome::Failed,
        (true, false) => Outcome::Unproven,
        (false, false) => Outcome::Doubtful,
    }
}

/// Return the outcome of text that begins with a label such as `Error:`.
fn labelled_outcome<'a, V: Value<'a>>(head: &str, text: &Content<'a, V>, is_read: bool) -> Outcome {
    let is_short = has_at_most(text, SHORT) && head.trim_end_matches('\n').matches('\n').count() <= MOST_BREAKS;
    if !is_read {
        let is_doubtful = || has_at_most(text, LONG);
        return if is_short {
            Outcome::Failed
        } else if is_doubtful() {
            Outcome::Doubtful
        } else {
            Outcome::Unproven
        };
    }
    if !is_short {
        return Outcome::Unproven;
    }
    // A file may begin with a member of this name.
    let is_sure = head.starts_with(|first: char| first.is_ascii_uppercase())
        && REASONS.iter().any(|reason| head.contains(reason));
    if is_sure { Outcome::Failed } else { Outcome::Doubtful }
}

/// Return true if the last line of a traceback names an exception.
fn is_exception(tail: &str) -> bool {
    let Some((_, line)) = tail.rsplit_once('\n') else { return false };
    let name = line.split_once(':').map_or(line, |(name, _)| name);
    let last = name.rsplit_once('.').map_or(name, |(_, last)| last);
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'.' || byte == b'_';
    name.bytes().any(|byte| byte.is_ascii_alphanumeric())
        && name.bytes().all(is_part)
        && last.starts_with(|first: char| first.is_ascii_uppercase())
}

/// Return the outcome of a short text that may be a shell's message, such as `bash: x: command not found`.
fn shell_outcome(message: &str, is_read: bool, value: impl FnOnce() -> String) -> Outcome {
    let is_message = SHELL_ENDINGS.iter().any(|end| message.ends_with(end))
        || SHELL_STARTS.iter().any(|start| message.starts_with(start));
    let program = message.split_once(':').map_or(message, |(program, _)| program);
    if !is_message || program.contains(' ') {
        return Outcome::Unproven;
    }
    if is_read || message.contains('\n') {
        return Outcome::Doubtful;
    }
    let name = program.rsplit_once('/').map_or(program, |(_, name)| name);
    let is_own = SHELLS.contains(&name) || (!name.contains('.') && value().split([' ', '\n']).any(|word| word == name));
    if is_own { Outcome::Failed } else { Outcome::Doubtful }
}

/// Return the outcome that a JSON result says; `None` if it says nothing.
fn object_outcome<'a, V: Value<'a>>(held: V) -> Option<Outcome> {
    let metadata = held.get(METADATA).and_then(Value::object);
    for holder in [Some(held), metadata].into_iter().flatten() {
        let mut codes = CODE_KEYS.iter().filter_map(|key| holder.get(*key).and_then(Value::integer));
        if let Some(code) = codes.find(|code| code.unsigned_abs() <= MOST_CODE) {
            return Some(if code == 0 { Outcome::Success } else { Outcome::Failed });
        }
    }
    let is_true = |key: &Key<'static>| held.get(*key).is_some_and(Value::is_true);
    let is_denied = |key: &Key<'static>| is_false(held.get(*key));
    if TRUE_KEYS.iter().any(is_true) {
        return Some(Outcome::Failed);
    }
    if TRUE_KEYS.iter().any(is_denied) || FALSE_KEYS.iter().any(is_true) {
        return Some(Outcome::Success);
    }
    let status = text_or_empty(held.get(STATUS_KEY));
    let has_claim = FALSE_KEYS.iter().any(is_denied)
        || ERROR_KEYS.iter().any(|key| held.get(*key).is_some_and(|error| !is_void(error)))
        || STATUSES.iter().any(|name| status.is(name));
    if !has_claim {
        return ERROR_KEYS.iter().any(|key| held.has_name(*key)).then_some(Outcome::Success); // null says that none happened
    }
    let flags = [TRUE_KEYS, FALSE_KEYS, ERROR_KEYS, &[STATUS_KEY]];
    let mut is_all = true;
    held.members(&mut |name, value| {
        let is_explaining = EXPLAINING_KEYS.iter().any(|key| name.is(key))
            || flags.iter().any(|keys| keys.iter().any(|key| key.name == name));
        is_all = is_explaining || is_void(value);
        is_all
    });
    Some(if is_all { Outcome::Failed } else { Outcome::Doubtful }) // other members may be an answer
}

/// Return true if a member is null, false, zero or empty.
pub(crate) fn is_void<'a, V: Value<'a>>(value: V) -> bool {
    if value.spelling().is_some() {
        return Content::Value(value).initial().is_none();
    }
    if let Some(list) = value.list() {
        return list.count() == 0;
    }
    if let Some(object) = value.object() {
        return object.size() == 0;
    }
    value.integer() == Some(0) || ["null", "false"].iter().any(|literal| value.json().as_text().is(literal))
}
