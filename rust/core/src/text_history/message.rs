//! A message of a text history: what is told of one that was said, and the lines of the calls below it.

use super::call_line::{SEPARATOR, ToolLine};
use super::thinking::without_thinking;
use crate::content::spoken_part;
use crate::content::{is_of_media, part_text as part_line};
use crate::context::output::Output;
use crate::dialogue::has_words;
use crate::formats::{USER, speaker_of};
use crate::json::value::{Key, Value, items, names, text_or_empty};
use crate::text::piece::Piece;
use crate::text::sanitize::without_controls;
use crate::text::segment::Segment;
use crate::text::{OwnedText, Text};

pub(super) const ASSISTANT: &str = "assistant";
/// The kinds of parts, and of items, that are thoughts.
const THOUGHTS: [&str; 3] = ["thinking", "redacted_thinking", "reasoning"];
/// The kinds of parts that most messages hold: they are calls and results, so that nothing else is asked of them.
const HOLD_NO_TEXT: [&str; 2] = ["tool_use", "tool_result"];
/// The kinds of parts without a text of their own that are told all the same, as a result's would be.
const TOLD: [&str; 4] = ["refusal", "file", "input_file", "search_result"];

/// What names a turn, where the host has a name for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Turn<'a> {
    Name(Text<'a>),
    Number(i64),
}

impl<'a> Turn<'a> {
    /// What names the turn of a message or of a call: a text or a whole number.
    pub(super) fn of<V: Value<'a>>(wire: V, key: Key<'_>) -> Option<Self> {
        let value = wire.get(key)?;
        match value.text() {
            Some(name) => Some(Self::Name(name)).filter(|_| !name.is_empty()),
            None => value.integer().map(Self::Number),
        }
    }
}

/// A message in the making. One that `is_made` stands for calls that no message of the assistant's made; its position is
/// that of the call, or of what stands before it.
#[derive(Debug)]
pub(super) struct Told<'a> {
    pub(super) role: Text<'a>,
    pub(super) text: Piece<'a>,
    pub(super) position: usize,
    pub(super) turn: Option<Turn<'a>>,
    pub(super) is_made: bool,
    pub(super) lines: Vec<ToolLine<'a>>,
}

impl<'a> Told<'a> {
    pub(super) fn new(role: Text<'a>, text: Piece<'a>, position: usize, turn: Option<Turn<'a>>) -> Self {
        Self { role, text, position, turn, is_made: false, lines: Vec::new() }
    }

    pub(super) fn made(position: usize, turn: Option<Turn<'a>>) -> Self {
        Self { is_made: true, ..Self::new(Text::ascii(ASSISTANT), Piece::default(), position, turn) }
    }

    pub(super) fn is_assistants(&self) -> bool {
        self.role.is(ASSISTANT)
    }

    /// The text, as it stands before the lines.
    pub(super) fn said(&self) -> [Segment<'a>; 2] {
        if self.lines.is_empty() || self.text.is_empty() {
            return [self.text.clone().into(), Segment::default()];
        }
        let mut end = self.text.len();
        while end > 0 && self.text.text().get(end - 1) == Some(0x0A) {
            end -= 1;
        }
        [self.text.slice(0, end).into(), Piece::ascii(SEPARATOR).into()]
    }

    /// The text, and the lines behind it.
    pub(super) fn content(&self) -> Output<'a> {
        let mut content = Output::default();
        for part in self.said() {
            content.push(part);
        }
        for (number, line) in self.lines.iter().enumerate() {
            if number > 0 {
                content.push(Piece::ascii(SEPARATOR));
            }
            for part in line.parts() {
                content.push(part);
            }
        }
        content
    }
}

/// The role of a speaker; whom nobody here knows is called as the wire calls him.
pub(super) fn role_of(speaker: Text<'_>) -> Text<'_> {
    match speaker_of(speaker) {
        Some(USER) => Text::ascii("user"),
        Some(_) => Text::ascii(ASSISTANT),
        None => speaker,
    }
}

/// What is told of a message's content, and whether a thought was left out. Images and the like become a line; without any
/// words the text is empty.
pub(super) fn told_text<'a, V: Value<'a>>(content: Option<V>, role: Text<'_>) -> (Piece<'a>, bool) {
    let (text, mut is_thinking) = content.map_or_else(Default::default, read_parts);
    let mut text = without_controls(&text);
    if role.is(ASSISTANT)
        && let Some(spoken) = without_thinking(&text)
    {
        (text, is_thinking) = (spoken, true);
    }
    (if has_words(text.text()) { text } else { Piece::default() }, is_thinking)
}

/// The text of a message's content, parts on lines of their own, and whether one of them is a thought.
fn read_parts<'a, V: Value<'a>>(content: V) -> (Piece<'a>, bool) {
    if let Some(text) = content.text() {
        return (Piece::Borrowed(text), false);
    }
    let mut is_thinking = false;
    let mut texts = content.list().into_iter().flat_map(items).filter_map(|item| {
        let kind = item.object().and_then(|part| part.get(names::TYPE)).and_then(Value::text);
        if kind.is_some_and(|kind| HOLD_NO_TEXT.iter().any(|name| kind.is(name))) {
            return None;
        }
        if let Some(text) = spoken_part(item) {
            return Some(Piece::Borrowed(text_or_empty(Some(text))));
        }
        let part = item.object()?;
        if is_thought(part) {
            is_thinking = true;
            return None;
        }
        let is_told = kind.is_some_and(|kind| TOLD.iter().any(|name| kind.is(name))) || is_of_media(part);
        is_told.then(|| part_line(item, 0))
    });
    let first = texts.next().unwrap_or_default();
    let Some(second) = texts.next() else {
        drop(texts);
        return (first, is_thinking);
    };
    let mut all = OwnedText::from(first.text());
    for text in std::iter::once(second).chain(texts) {
        all.push_ascii("\n");
        all.push(text.text());
    }
    (Piece::own(all), is_thinking)
}

/// Return whether a part is what a model thought.
fn is_thought<'a, V: Value<'a>>(part: V) -> bool {
    is_named_thought(part)
        || part.get(names::THOUGHT).is_some_and(Value::is_true)
        || part.has(names::REASONING_CONTENT_CAMEL)
}

/// Return whether a part, or an item, is a thought by its type.
pub(super) fn is_named_thought<'a, V: Value<'a>>(part: V) -> bool {
    let kind = text_or_empty(part.get(names::TYPE));
    THOUGHTS.iter().any(|name| kind.is(name))
}
