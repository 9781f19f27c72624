//! The text of a result, or of a message, whatever kind of thing it is.
//!
//! Text need not be made whole: where it is looked at, or copied, a part of it will do ([`Content`]).

use self::media::{found_line, holds_media, is_opaque, is_text, is_untyped_data, media_line};
use crate::json::base64::{ADDRESS, FILES, MEDIA_PARTS, UNTYPED_MEDIA, address_line, blob_line};
use crate::json::value::{Key, Spelling, Value, items, names, text_or_empty};
use crate::text::constants::STAND_INS;
use crate::text::piece::Piece;
use crate::text::segment::Plain;
use crate::text::{OwnedText, Text};

mod media;

include!(concat!(env!("OUT_DIR"), "/parts.rs"));

/// How deep parts may stand in parts: deeper ones are shown as JSON.
pub(crate) const MAX_PARTS: usize = 8;

/// What came back, as text; one text alone stays where it is.
pub fn result_content<'a, V: Value<'a>>(content: Option<V>) -> Content<'a, V> {
    let Some(content) = content else { return Content::Piece(Piece::ascii("")) };
    let only = content.list().filter(|parts| parts.count() == 1).and_then(|parts| parts.item(0)).unwrap_or(content);
    let text = only.object().filter(|part| text_or_empty(part.get(names::TYPE)).is("text"));
    let text = text.and_then(|part| part.get(names::TEXT)).unwrap_or(only);
    let is_plain = text.text_len().is_some() && !Content::Value(text).starts_with_any(&[ADDRESS]);
    if is_plain { Content::Value(text) } else { Content::Piece(content_text(content, 0)) }
}

/// Parts on lines of their own; what is no text becomes a line that names it.
fn content_text<'a, V: Value<'a>>(content: V, depth: usize) -> Piece<'a> {
    let Some(parts) = content.list() else { return part_text(content, depth) };
    let mut texts = items(parts).map(|part| part_text(part, depth));
    if parts.count() == 1 { texts.next().unwrap_or_default() } else { joined(texts) }
}

/// The text of one part of a result; parts may hold parts. What no reader knows is JSON.
pub(crate) fn part_text<'a, V: Value<'a>>(item: V, depth: usize) -> Piece<'a> {
    if let Some(text) = item.text() {
        return address_line(text);
    }
    let Some(part) = item.object() else { return Piece::own(item.answer_json()) };
    let kind = part.get(names::TYPE).and_then(Value::text);
    if let Some(text) = part.get(names::TEXT).and_then(Value::text)
        && (kind.is_some_and(|kind| TEXT_PARTS.iter().any(|name| kind.is(name))) || is_bare(part, names::TEXT))
    {
        return Piece::Borrowed(text);
    }
    let found = match kind {
        Some(kind) => typed_text(part, kind, depth),
        None => untyped_text(part, depth),
    };
    found.unwrap_or_else(|| Piece::own(part.answer_json()))
}

/// Return whether a part says nothing but what stands under a key, so that nothing is lost with the rest of it.
pub(crate) fn is_bare<'a, V: Value<'a>>(part: V, key: Key<'_>) -> bool {
    part.has(key) && part.size() == 1 + ASIDE_KEYS.iter().filter(|name| part.has(**name)).count()
}

/// The text of a part that says its type; nothing where it is JSON.
fn typed_text<'a, V: Value<'a>>(part: V, kind: Text<'a>, depth: usize) -> Option<Piece<'a>> {
    if kind.is("blob")
        && let Some(data) = part.get(names::CONTENT).and_then(Value::text)
    {
        return Some(blob_line(part, data)); // OpenTelemetry
    }
    let is_result = kind.ends_with("result");
    let printed = part.get(names::STDOUT).filter(|printed| is_result && printed.text_len().is_some());
    if let Some(printed) = printed.filter(|_| depth < MAX_PARTS) {
        let errors = part.get(names::STDERR).filter(|errors| errors.text_len().is_some_and(|size| size > 0));
        let files = part.get(names::CONTENT).and_then(Value::list);
        let texts = std::iter::once(printed).chain(errors).chain(files.into_iter().flat_map(items));
        return Some(joined(texts.map(|text| part_text(text, depth + 1))));
    }
    let inner_key = if kind.is("document") { names::SOURCE } else { Key::named(kind) };
    let inner = part.get(inner_key).and_then(Value::object).unwrap_or(part);
    let is_media = MEDIA_PARTS.iter().any(|name| kind.is(name));
    let is_known = is_media || HELD_PARTS.iter().any(|name| kind.is(name));
    let is_text = || is_known || (is_bare(part, Key::named(kind)) && is_bare(inner, names::TEXT));
    if let Some(text) = inner.get(names::TEXT).and_then(Value::text).filter(|_| is_text()) {
        return Some(Piece::Borrowed(text));
    }
    if is_known || is_result || is_bare(part, names::CONTENT) {
        let filled = |content: &V| !is_empty(*content);
        let content = inner.get(names::CONTENT).filter(filled).or_else(|| part.get(names::CONTENT));
        if let Some(content) = content.filter(|content| depth < MAX_PARTS && is_followed(*content)) {
            let text = content_text(content, depth + 1);
            let is_found = kind.is("search_result");
            return Some(if is_found { joined([found_line(part), text].into_iter()) } else { text });
        }
    }
    if is_media || is_opaque(part) || is_opaque(inner) {
        return Some(media_line(Key::named(kind), part));
    }
    let is_named = NAMED_PARTS.iter().any(|name| kind.is(name));
    part.get(Key::named(kind)).filter(|_| is_named).and_then(Value::text).map(Piece::Borrowed)
}

/// Return whether content is text or parts: a list, or an object with a type, as what was fetched.
fn is_followed<'a, V: Value<'a>>(content: V) -> bool {
    let is_typed = || content.object().is_some_and(|part| part.has(names::TYPE));
    content.text_len().is_some() || content.list().is_some() || is_typed()
}

/// The text of a part that doesn't say its type; nothing where it is JSON. Of Gemini's and Bedrock's parts the only key
/// tells it.
fn untyped_text<'a, V: Value<'a>>(part: V, depth: usize) -> Option<Piece<'a>> {
    if let Some((kind, holder)) = untyped_medium(part) {
        return Some(untyped_media(kind, part, holder, depth));
    }
    if part.size() == 1 && part.has(names::JSON) {
        let json = part.get(names::JSON).map(Value::answer_json);
        return Some(json.map_or(Piece::ascii("null"), Piece::own));
    }
    let answer = part.get(names::FUNCTION_RESPONSE_CAMEL).filter(|_| part.size() == 1).and_then(Value::object);
    if let Some(answer) = answer.filter(|_| depth < MAX_PARTS) {
        // Gemini: media, and an answer beside them.
        let parts = answer.get(names::PARTS).and_then(Value::list).into_iter().flat_map(items);
        let texts = answer.get(names::RESPONSE).into_iter().chain(parts);
        return Some(joined(texts.map(|part| part_text(part, depth + 1))));
    }
    let content = part.get(names::CONTENT).and_then(Value::list).filter(|content| content.count() > 0);
    let is_answer = || depth < MAX_PARTS && part.size() == ANSWER_KEYS.iter().filter(|name| part.has(**name)).count();
    if let Some(content) = content.filter(|_| is_answer()) {
        let first = content.item(0).and_then(Value::object);
        if first.and_then(|first| first.get(names::TYPE)).and_then(Value::text).is_some() {
            return Some(content_text(content, depth + 1));
        }
    }
    is_untyped_data(part).then(|| media_line(names::INLINE_DATA_CAMEL, part))
}

/// The kind of media that a part without a type holds, and what holds them.
fn untyped_medium<'a, V: Value<'a>>(part: V) -> Option<(Key<'static>, V)> {
    UNTYPED_MEDIA.iter().copied().find_map(|kind| {
        let holder = part.get(kind).and_then(Value::object)?;
        let is_part = FILES.contains(&kind) || is_bare(part, kind);
        (is_part && holds_media(holder)).then_some((kind, holder))
    })
}

/// Return whether a part is of a kind that holds media, a document's text among them.
pub(crate) fn is_of_media<'a, V: Value<'a>>(part: V) -> bool {
    match part.get(names::TYPE).and_then(Value::text) {
        Some(kind) => MEDIA_PARTS.iter().any(|name| kind.is(name)),
        None => untyped_medium(part).is_some() || is_untyped_data(part),
    }
}

/// Return whether a part is an image, a document, a sound or a film, and not a document's text.
pub(crate) fn is_media<'a, V: Value<'a>>(part: V) -> bool {
    if let Some(kind) = part.get(names::TYPE).and_then(Value::text) {
        let key = if kind.is("document") { names::SOURCE } else { Key::named(kind) };
        let held = || part.get(key).and_then(Value::object).unwrap_or(part);
        return MEDIA_PARTS.iter().any(|name| kind.is(name)) && !is_text(held());
    }
    match untyped_medium(part) {
        Some((_, holder)) => !is_text(holder.get(names::SOURCE).and_then(Value::object).unwrap_or(holder)),
        None => is_untyped_data(part),
    }
}

/// A part that holds media under their kind: a document may be text all the same.
fn untyped_media<'a, V: Value<'a>>(kind: Key<'static>, part: V, holder: V, depth: usize) -> Piece<'a> {
    if kind == names::DOCUMENT {
        let source = holder.get(names::SOURCE).and_then(Value::object).unwrap_or(holder);
        if let Some(text) = source.get(names::TEXT).and_then(Value::text) {
            return Piece::Borrowed(text);
        }
        let content = source.get(names::CONTENT).and_then(Value::list);
        if let Some(content) = content.filter(|content| content.count() > 0 && depth < MAX_PARTS) {
            return content_text(content, depth + 1);
        }
    }
    media_line(kind, part)
}

/// Texts on lines of their own.
fn joined<'a>(texts: impl Iterator<Item = Piece<'a>>) -> Piece<'a> {
    let mut joined = OwnedText::default();
    for (index, text) in texts.enumerate() {
        if index > 0 {
            joined.push_ascii("\n");
        }
        joined.push(text.text());
    }
    Piece::own(joined)
}

/// Return whether a value holds nothing: an empty text or list.
fn is_empty<'a, V: Value<'a>>(value: V) -> bool {
    value.text_len() == Some(0) || value.list().is_some_and(|list| list.count() == 0)
}

/// Return whether a result only stands for one that is not here.
pub(crate) fn is_stand_in<'a, V: Value<'a>>(text: &Content<'a, V>) -> bool {
    text.starts_with_any(STAND_INS)
}

/// Return whether a value is a text of white space alone, if any.
pub(crate) fn has_no_word<'a, V: Value<'a>>(text: V) -> bool {
    /// Of most texts the beginning tells.
    const FIRST: usize = 16;
    let is_space = |text: Text<'_>| (0..text.len()).all(|index| text.get(index).is_some_and(is_white));
    let Some(start) = text.text_start(FIRST) else { return false };
    is_space(start) && (start.len() < FIRST || text.text().is_some_and(is_space))
}

/// Return whether a code point is white space, as Python strips it.
pub(crate) fn is_white(code_point: u32) -> bool {
    match code_point {
        0x1C..=0x1F => true,
        other => char::from_u32(other).is_some_and(char::is_whitespace),
    }
}

/// A text that need not be made whole: a value of the input that is one, or a piece.
#[derive(Clone, Debug)]
pub enum Content<'a, V> {
    /// A value that is a text.
    Value(V),
    /// A text that was put together.
    Piece(Piece<'a>),
}

impl<'a, V: Value<'a>> Content<'a, V> {
    /// The number of code points.
    pub fn len(&self) -> usize {
        match self {
            Self::Value(value) => value.text_len().unwrap_or(0),
            Self::Piece(piece) => piece.len(),
        }
    }

    /// Return whether there is no code point.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of bytes in UTF-8; a lone surrogate has three.
    pub fn utf8_len(&self) -> usize {
        match self {
            Self::Value(value) => value.utf8_len().unwrap_or(0),
            Self::Piece(piece) => piece.text().utf8_len(),
        }
    }

    /// How it stands in its source.
    pub fn spelling(&self) -> Spelling<'_> {
        match self {
            Self::Value(value) => value.spelling().unwrap_or(Spelling::Text(Text::ascii(""))),
            Self::Piece(piece) => Spelling::Text(piece.text()),
        }
    }

    /// All of it.
    pub fn whole(&self) -> Piece<'a> {
        match self {
            Self::Value(value) => Piece::Borrowed(text_or_empty(Some(*value))),
            Self::Piece(piece) => piece.clone(),
        }
    }

    /// Return whether it begins with one of these ASCII literals. That it doesn't, its first code point mostly tells.
    pub fn starts_with_any(&self, literals: &[&str]) -> bool {
        let first = match self.spelling() {
            Spelling::Text(text) => text.get(0),
            // In JSON the first byte is that of the first character, unless it begins an escape.
            Spelling::Json([first, ..]) if *first != b'\\' => Some(u32::from(*first)),
            Spelling::Json(_) => self.start(1).text().get(0),
        };
        literals.iter().any(|literal| {
            literal.bytes().next().map(u32::from) == first && self.start(literal.len()).text().starts_with(literal)
        })
    }

    /// Its first code points: so many, or all.
    pub fn start(&self, count: usize) -> Piece<'a> {
        match self {
            Self::Value(value) => Piece::Borrowed(value.text_start(count).unwrap_or(Text::ascii(""))),
            Self::Piece(piece) => piece.slice(0, count),
        }
    }

    /// Its last code points: so many or more, or all.
    pub fn end(&self, count: usize) -> Piece<'a> {
        match self {
            Self::Value(value) => Piece::Borrowed(value.text_end(count).unwrap_or(Text::ascii(""))),
            Self::Piece(piece) => piece.slice(piece.len().saturating_sub(count), piece.len()),
        }
    }

    /// Its first code points, so many or all, where none has to be made, nor the next one.
    #[must_use]
    pub fn plain_start(&self, count: usize) -> Option<Plain<'a>> {
        match self {
            Self::Value(value) => value.plain_start(count),
            Self::Piece(_) => None,
        }
    }

    /// Its last code points, so many or all, where none has to be made, nor so many before them.
    #[must_use]
    pub fn plain_end(&self, count: usize, before: usize) -> Option<Plain<'a>> {
        match self {
            Self::Value(value) => value.plain_end(count, before),
            Self::Piece(_) => None,
        }
    }

    /// Its first code points, so many or all, without making them where that can be left.
    #[must_use]
    pub fn first(&self, count: usize) -> Self {
        match self {
            Self::Value(value) => value.first(count).map_or_else(|| Self::Piece(self.start(count)), Self::Value),
            Self::Piece(_) => Self::Piece(self.start(count)),
        }
    }

    /// Its last code points, so many or all, without making them where that can be left.
    #[must_use]
    pub fn last(&self, count: usize) -> Self {
        let made = || {
            let end = self.end(count);
            Self::Piece(end.slice(end.len().saturating_sub(count), end.len()))
        };
        match self {
            Self::Value(value) => value.last(count).map_or_else(made, Self::Value),
            Self::Piece(_) => made(),
        }
    }
}

/// The parts of a message that are said aloud; those without a type are, too.
const TEXT_KINDS: [&str; 3] = ["text", "input_text", "output_text"];

/// The text of a message: a string, or the text parts of a list on lines of their own; one alone stays where it is.
pub(crate) fn spoken_content<'a, V: Value<'a>>(content: Option<V>) -> Content<'a, V> {
    let Some(content) = content else { return Content::Piece(Piece::default()) };
    if content.text_len().is_some() {
        return Content::Value(content);
    }
    let mut parts = content.list().into_iter().flat_map(items).filter_map(spoken_part);
    let Some(first) = parts.next() else { return Content::Piece(Piece::default()) };
    let Some(second) = parts.next() else { return Content::Value(first) };
    let mut said = OwnedText::from(text_or_empty(Some(first)));
    for part in std::iter::once(second).chain(parts) {
        said.push_ascii("\n");
        said.push(text_or_empty(Some(part)));
    }
    Content::Piece(Piece::own(said))
}

/// The text of a part that is said aloud.
pub(crate) fn spoken_part<'a, V: Value<'a>>(part: V) -> Option<V> {
    if part.text_len().is_some() {
        return Some(part);
    }
    let part = part.object()?;
    let is_thought = part.get(names::THOUGHT).is_some_and(Value::is_true);
    let kind = part.get(names::TYPE);
    let name = text_or_empty(kind);
    let is_text = kind.is_none() || TEXT_KINDS.iter().any(|text| name.is(text));
    if is_thought || !is_text {
        return None;
    }
    let held_elsewhere = || part.get(names::CONTENT).filter(|_| name.is("text")); // OpenTelemetry
    part.get(names::TEXT).or_else(held_elsewhere).filter(|text| text.text_len().is_some())
}
