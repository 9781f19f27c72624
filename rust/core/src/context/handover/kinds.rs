//! The kinds of steps, and the arguments of calls by what they hold; names and words are those of `_data/hand_over.json`.
//!
//! A rule of the policy says first what a tool does, then its name, then the structure of its arguments. So a tool that
//! nobody has heard of is recognised if it takes a path with an old and a new text, or a list of items with states.

use std::borrow::Cow;
use std::sync::LazyLock;

use ahash::AHashMap;
use aho_corasick::AhoCorasick;

use crate::dedupe::rules::{bare_name, command_line};
use crate::json::value::{Key, Value, items, names};
use crate::pairing::block::{Entry, Kind};
use crate::text::piece::Piece;
use crate::text::{OwnedText, Text};

include!(concat!(env!("OUT_DIR"), "/hand_over.rs"));

/// The headings of a hand-over's sections.
pub(super) struct Headings {
    pub(super) plan: &'static str,
    pub(super) failures: &'static str,
    pub(super) ledger: &'static str,
    pub(super) steps: &'static str,
    pub(super) unanswered: &'static str,
}

/// The kind of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum StepKind {
    Read,
    Edit,
    Write,
    Patch,
    Command,
    Search,
    Listing,
    Plan,
    Question,
    Agent,
    Web,
    Other,
}

impl StepKind {
    /// The name of the kind.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Edit => "edit",
            Self::Write => "write",
            Self::Patch => "patch",
            Self::Command => "command",
            Self::Search => "search",
            Self::Listing => "listing",
            Self::Plan => "plan",
            Self::Question => "question",
            Self::Agent => "agent",
            Self::Web => "web",
            Self::Other => "other",
        }
    }

    /// Return the kind with a name of the table.
    fn named(name: &str) -> Option<Self> {
        let all = [Self::Plan, Self::Question, Self::Agent, Self::Web, Self::Search, Self::Listing, Self::Patch];
        let others = [Self::Read, Self::Edit, Self::Write, Self::Command, Self::Other];
        all.into_iter().chain(others).find(|kind| kind.name() == name)
    }

    /// Return true for a step about files.
    pub(super) const fn is_of_file(self) -> bool {
        matches!(self, Self::Read | Self::Edit | Self::Write | Self::Patch)
    }

    /// Return true for a step that changes files.
    pub(super) const fn is_change(self) -> bool {
        matches!(self, Self::Edit | Self::Write | Self::Patch)
    }
}

/// The kinds of tools by their names.
static KINDS: LazyLock<AHashMap<&'static str, StepKind>> = LazyLock::new(|| {
    let named = TOOLS.iter().filter_map(|(kind, names)| Some((StepKind::named(kind)?, *names)));
    named.flat_map(|(kind, names)| names.iter().map(move |name| (*name, kind))).collect()
});

/// The line that begins a patch of `apply_patch`.
pub(super) const PATCH_START: &str = "*** Begin Patch";
/// The argument that lists commands.
const COMMANDS: &str = "commands";
const COMMAND: Key<'static> = Key::new("command");
const QUESTION: Key<'static> = Key::new("question");
const QUESTIONS: Key<'static> = Key::new("questions");
const PROMPT: Key<'static> = Key::new("prompt");

/// Return a member of the arguments.
pub(super) fn member<'a, V: Value<'a>>(given: Option<V>, key: Key<'_>) -> Option<V> {
    given.and_then(|given| given.get(key))
}

/// Return the first of these arguments that is a text with characters.
pub(super) fn first_value<'a, V: Value<'a>>(given: Option<V>, keys: &[Key<'_>]) -> Option<V> {
    let given = given?;
    keys.iter().find_map(|key| given.get(*key).filter(|value| value.text_len().is_some_and(|size| size > 0)))
}

/// Return the first of these arguments that is a text; empty if none is.
pub(super) fn first_text<'a, V: Value<'a>>(given: Option<V>, keys: &[Key<'_>]) -> Cow<'a, str> {
    first_value(given, keys).and_then(Value::text).map_or(Cow::Borrowed(""), Text::as_utf8)
}

/// Return true if one of these arguments is a text, which may be empty.
pub(super) fn has_text<'a, V: Value<'a>>(given: Option<V>, keys: &[Key<'_>]) -> bool {
    given.is_some_and(|given| keys.iter().any(|key| given.get(*key).is_some_and(|value| value.text_len().is_some())))
}

/// Return true if an argument is a text.
fn is_text<'a, V: Value<'a>>(given: Option<V>, key: Key<'_>) -> bool {
    member(given, key).is_some_and(|value| value.text_len().is_some())
}

/// Return the path of the file that the arguments name; empty if they name none.
pub(super) fn path_of<'a, V: Value<'a>>(given: Option<V>) -> Cow<'a, str> {
    first_text(given, PATH_KEYS)
}

/// Return the command of a call: a text, or a list of words as one; empty if it has none.
pub(super) fn command_of<'a, V: Value<'a>>(given: Option<V>) -> Piece<'a> {
    let Some(given) = given else { return Piece::default() };
    for key in COMMAND_KEYS {
        let Some(value) = given.get(*key) else { continue };
        if let Some(text) = value.text().filter(|text| !text.is_empty()) {
            return Piece::Borrowed(text);
        }
        if let Some(list) = value.list().filter(|list| list.count() > 0) {
            if key.name.is(COMMANDS) {
                return joined(list); // each is a command, and not a word of one
            }
            return command_line(list).unwrap_or_default();
        }
    }
    Piece::default()
}

/// Return the texts of a list as lines.
fn joined<'a, V: Value<'a>>(list: V) -> Piece<'a> {
    let mut text = OwnedText::default();
    for (place, line) in items(list).filter_map(Value::text).enumerate() {
        text.push_ascii(if place > 0 { "\n" } else { "" });
        text.push(line);
    }
    Piece::own(text)
}

/// Return the patch that a call holds: in an argument of its own, or in a command; empty if it has none.
pub(super) fn patch_of<'a, V: Value<'a>>(given: Option<V>, command: &str) -> Cow<'a, str> {
    if let Some(start) = command.find(PATCH_START) {
        return Cow::Owned(command.get(start..).unwrap_or_default().to_owned());
    }
    patch_in(given).unwrap_or_default()
}

/// Return the argument that is a patch.
fn patch_in<'a, V: Value<'a>>(given: Option<V>) -> Option<Cow<'a, str>> {
    let mut found = None;
    given?.members(&mut |_, value| {
        let may_be = value.text_start(PATCH_START.len()).is_some_and(|start| {
            start.starts_with(PATCH_START) || start.starts_with("diff --git ") || start.starts_with("--- ")
        });
        if may_be && let Some(text) = value.text() {
            let text = text.as_utf8();
            found = (text.starts_with(PATCH_START) || is_diff(&text)).then_some(text);
        }
        found.is_none()
    });
    found
}

fn is_diff(text: &str) -> bool {
    let is_start = text.starts_with("diff --git ") || text.starts_with("--- ");
    is_start && text.contains("\n+++ ") && text.contains("\n@@")
}

/// Return the items of a plan in the arguments: objects with a state and a text.
pub(super) fn items_of<'a, V: Value<'a>>(given: Option<V>) -> Vec<V> {
    let mut found = Vec::new();
    let Some(given) = given else { return found };
    given.members(&mut |_, value| {
        let Some(list) = value.list() else { return true };
        let listed: Vec<V> = items(list).filter_map(Value::object).collect();
        let has_texts = listed.iter().all(|item| first_value(Some(*item), ITEM_TEXTS).is_some());
        if has_texts && listed.iter().any(|item| first_value(Some(*item), ITEM_STATES).is_some()) {
            found = listed;
        }
        found.is_empty()
    });
    found
}

/// Return true if a tool writes or changes one item of a plan.
pub(super) fn is_part_of_plan(name: &str) -> bool {
    PARTS_OF_PLAN.contains(&name)
}

/// Return true if the name of a tool is that of one that asks another agent.
pub(crate) fn asks_agent(name: Text<'_>) -> bool {
    KINDS.get(&*bare_name(name)) == Some(&StepKind::Agent)
}

/// Return the kind of a step. The entry is prepared by its rule.
pub(super) fn kind_of<'a, V: Value<'a>>(entry: &Entry<'a, V>) -> StepKind {
    let given = entry.given.filter(|_| entry.call.is_some());
    let name = bare_name(entry.tool_name);
    let named = KINDS.get(&*name).copied();
    if named == Some(StepKind::Plan) || is_part_of_plan(&name) {
        return StepKind::Plan;
    }
    match (entry.kind, &entry.value) {
        (Kind::Command, Some(command)) if applies_patch(command) => StepKind::Patch,
        (Kind::Command, Some(_)) => StepKind::Command,
        (Kind::Edit, Some(_)) => kind_of_change(given),
        (Kind::Read, Some(_)) => StepKind::Read,
        _ => named.unwrap_or_else(|| kind_by_structure(given)),
    }
}

fn kind_of_change<'a, V: Value<'a>>(given: Option<V>) -> StepKind {
    if has_text(given, OLD_KEYS) || member(given, names::EDITS).is_some_and(|edits| edits.list().is_some()) {
        return StepKind::Edit;
    }
    match () {
        () if patch_in(given).is_some() => StepKind::Patch,
        () if has_text(given, TEXT_KEYS) && !is_insert(given) => StepKind::Write,
        () => StepKind::Edit,
    }
}

/// Return true if the arguments insert a text into a file after a line.
pub(super) fn is_insert<'a, V: Value<'a>>(given: Option<V>) -> bool {
    let is_named = || member(given, COMMAND).and_then(Value::text).is_some_and(|command| command.as_utf8() == "insert");
    let has_line = |key: &Key<'_>| member(given, *key).and_then(Value::integer).is_some();
    LINE_KEYS.iter().any(has_line) || is_named()
}

fn applies_patch(command: &Piece<'_>) -> bool {
    if command.text().find(b'*').is_none() {
        return false;
    }
    let command = command.text().as_utf8();
    let head = command.split_once(PATCH_START).map_or("", |(head, _)| head);
    head.contains("apply_patch") || head.contains("applypatch")
}

fn kind_by_structure<'a, V: Value<'a>>(given: Option<V>) -> StepKind {
    let is_question = || {
        let is_asked = member(given, QUESTIONS).and_then(Value::list).is_some_and(|list| list.count() > 0);
        is_text(given, QUESTION) || is_asked
    };
    match () {
        () if patch_in(given).is_some() => StepKind::Patch,
        () if first_value(given, PATH_KEYS).is_some() && has_text(given, NEW_KEYS) => StepKind::Edit,
        () if first_value(given, PATH_KEYS).is_some() && has_text(given, FILE_TEXT_KEYS) => StepKind::Write,
        () if !items_of(given).is_empty() => StepKind::Plan,
        () if is_question() => StepKind::Question,
        () if !command_of(given).is_empty() => StepKind::Command,
        () if is_text(given, names::URL) => StepKind::Web,
        () if is_text(given, PROMPT) => StepKind::Agent,
        () if first_value(given, QUERY_KEYS).is_some() => StepKind::Search,
        () => StepKind::Other,
    }
}

/// Return the questions that a call asks the user.
pub(super) fn questions_in<'a, V: Value<'a>>(given: Option<V>) -> Vec<Cow<'a, str>> {
    const TEXTS: &[Key<'static>] = &[QUESTION, names::TEXT];
    let listed = member(given, QUESTIONS).and_then(Value::list).filter(|list| list.count() > 0);
    let asked: Vec<V> = match listed {
        Some(list) => items(list).collect(),
        None => member(given, QUESTION).into_iter().collect(),
    };
    let text = |item: V| item.text().map_or_else(|| first_text(item.object(), TEXTS), Text::as_utf8);
    asked.into_iter().map(text).filter(|text| !text.is_empty()).collect()
}

static FIND_FAILURE: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| AhoCorasick::new(FAILURES).ok());

/// Return true if a line has a word of failure.
pub(super) fn has_failure(line: &str) -> bool {
    FIND_FAILURE.as_ref().is_some_and(|find| find.is_match(line))
}
