//! A message of a text history: its text, and the lines of the calls below it.

use std::ops::Range;

use ahash::AHashSet;

use super::call_line::{SEPARATOR, ToolLine};
use super::thinking::without_thinking;
use crate::content::{SILENT_PARTS, THINKING_PARTS, attached_text, part_text, spoken_part};
use crate::context::dialogue::has_words;
use crate::context::output::Output;
use crate::formats::message::MessageParts;
use crate::formats::{USER, speaker_of};
use crate::json::base64::FILE_PARTS;
use crate::json::value::{Key, Value, names, text_or_empty};
use crate::text::piece::Piece;
use crate::text::sanitize::without_controls;
use crate::text::segment::Segment;
use crate::text::{OwnedText, Text};

pub(super) const ASSISTANT: &str = "assistant";

/// The id of a turn, given by the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum TurnId<'a> {
    Name(Text<'a>),
    Number(i64),
}

impl<'a> TurnId<'a> {
    /// Read the turn id of a message or a call: a string or a whole number.
    pub(super) fn of<V: Value<'a>>(wire: V, key: Key<'_>) -> Option<Self> {
        let value = wire.get(key)?;
        match value.text() {
            Some(name) => Some(Self::Name(name)).filter(|_| !name.is_empty()),
            None => value.integer().map(Self::Number),
        }
    }
}

/// A message under construction. If `is_made`, it was added for calls that belong to no assistant message; its position
/// is that of the call, that of the last message of the turn, or after all messages.
#[derive(Debug)]
pub(super) struct HistoryMessage<'a> {
    pub(super) role: Text<'a>,
    pub(super) text: Piece<'a>,
    pub(super) position: usize,
    pub(super) turn: Option<TurnId<'a>>,
    pub(super) is_made: bool,
    /// The number of calls of the same message that an earlier step of it made.
    pub(super) calls_before: usize,
    pub(super) lines: Vec<ToolLine<'a>>,
}

impl<'a> HistoryMessage<'a> {
    pub(super) fn new(role: Text<'a>, text: Piece<'a>, position: usize, turn: Option<TurnId<'a>>) -> Self {
        Self { role, text, position, turn, is_made: false, calls_before: 0, lines: Vec::new() }
    }

    pub(super) fn made(position: usize, turn: Option<TurnId<'a>>) -> Self {
        Self { is_made: true, ..Self::new(Text::ascii(ASSISTANT), Piece::default(), position, turn) }
    }

    pub(super) fn is_assistants(&self) -> bool {
        self.role.is(ASSISTANT)
    }

    /// Return the text, with the separator that precedes the first line if there are lines.
    pub(super) fn text_before_lines(&self) -> [Segment<'a>; 2] {
        if self.lines.is_empty() || self.text.is_empty() {
            return [self.text.clone().into(), Segment::default()];
        }
        let mut end = self.text.len();
        while end > 0 && self.text.text().get(end - 1) == Some(0x0A) {
            end -= 1;
        }
        [self.text.slice(0, end).into(), Piece::ascii(SEPARATOR).into()]
    }

    /// Return the text followed by the lines.
    pub(super) fn content(&self) -> Output<'a> {
        let mut content = Output::default();
        for part in self.text_before_lines() {
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

/// Return the role for a speaker. An unknown speaker keeps its name.
pub(super) fn role_of(speaker: Text<'_>) -> Text<'_> {
    match speaker_of(speaker) {
        Some(USER) => Text::ascii("user"),
        Some(_) => Text::ascii(ASSISTANT),
        None => speaker,
    }
}

/// Return the parts of a content in steps, each with the number of calls before it. A step ends before the text that
/// follows the result of one of its calls.
pub(super) fn steps<'a, V: Value<'a>>(parts: &[V], found: &MessageParts<'a, V>) -> Vec<(usize, Range<usize>)> {
    let of_calls: AHashSet<_> = found.calls.iter().map(|call| call.wire.identity()).collect();
    let of_results: AHashSet<_> = found.results.iter().map(|result| result.wire.identity()).collect();
    let mut steps = vec![(0, 0..parts.len())];
    let (mut calls, mut is_answered) = (0, false);
    for (index, part) in parts.iter().enumerate() {
        if of_calls.contains(&part.identity()) {
            calls += 1;
        } else if of_results.contains(&part.identity()) {
            is_answered = calls > 0;
        } else if is_answered && spoken_part(*part).is_some_and(|text| has_words(text.text())) {
            if let Some((_, last)) = steps.last_mut() {
                last.end = index;
            }
            steps.push((calls, index..parts.len()));
            is_answered = false;
        }
    }
    steps
}

/// Return the text of parts of a message, or of a string, and true if thinking was left out. Images and other media
/// become one line each. The text is empty if it has nothing but white space.
pub(super) fn history_text<'a, V: Value<'a>>(parts: impl Iterator<Item = V>, role: Text<'_>) -> (Piece<'a>, bool) {
    let (text, mut is_thinking) = read_parts(parts);
    let mut text = without_controls(&text);
    if role.is(ASSISTANT)
        && let Some(spoken) = without_thinking(&text)
    {
        (text, is_thinking) = (spoken, true);
    }
    (if has_words(text.text()) { text } else { Piece::default() }, is_thinking)
}

/// Return the text of parts, each on its own line, and true if one of them is thinking.
fn read_parts<'a, V: Value<'a>>(parts: impl Iterator<Item = V>) -> (Piece<'a>, bool) {
    let mut is_thinking = false;
    let mut texts = parts.filter_map(|item| {
        let kind = item.object().and_then(|part| part.get(names::TYPE)).and_then(Value::text);
        if kind.is_some_and(|kind| SILENT_PARTS.iter().any(|name| kind.is(name))) {
            return None;
        }
        if let Some(text) = spoken_part(item) {
            return Some(text);
        }
        let part = item.object()?;
        if is_thought(part) {
            is_thinking = true;
            return None;
        }
        // A host may name a file by other members than those of the providers.
        let is_file = kind.is_some_and(|kind| FILE_PARTS.iter().any(|name| kind.is(name)));
        if is_file { Some(part_text(part, 0)) } else { attached_text(part) }
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

/// Return true if a part is thinking.
fn is_thought<'a, V: Value<'a>>(part: V) -> bool {
    is_named_thought(part)
        || part.get(names::THOUGHT).is_some_and(Value::is_true)
        || part.has(names::REASONING_CONTENT_CAMEL)
}

/// Return true if the type of a part or an item says that it is thinking.
pub(super) fn is_named_thought<'a, V: Value<'a>>(part: V) -> bool {
    let kind = text_or_empty(part.get(names::TYPE));
    kind.is("reasoning") || THINKING_PARTS.iter().any(|name| kind.is(name))
}
