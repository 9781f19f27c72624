//! The text of results and messages, of whatever kind their content is.
//!
//! A string is decoded only as far as it is looked at or copied ([`Content`]).

use self::media::{found_line, holds_media, is_opaque, is_text, is_untyped_data, media_line};
use crate::json::base64::{
    ADDRESS, FILE_KEYS, FILE_PARTS, FILES, MEDIA_PARTS, UNTYPED_MEDIA, address_line, blob_line, first_text_of,
    is_base64,
};
use crate::json::value::{Key, Spelling, Value, items, names, text_or_empty};
use crate::text::constants::STAND_INS;
use crate::text::piece::Piece;
use crate::text::segment::Plain;
use crate::text::{OwnedText, Text};

pub(crate) mod answer;
pub(crate) mod client_blocks;
pub(crate) mod media;
pub(crate) mod terminal;

include!(concat!(env!("OUT_DIR"), "/parts.rs"));

/// The maximum depth of parts in parts; deeper ones are shown as JSON.
pub(crate) const MAX_PARTS: usize = 8;

const SEARCH_RESULT: Key<'static> = Key::new("searchResult");
const CITATIONS_CONTENT: Key<'static> = Key::new("citationsContent");

/// Return the content of a result as text. A single text is not copied.
pub fn result_text<'a, V: Value<'a>>(content: Option<V>) -> Content<'a, V> {
    let Some(content) = content else { return Content::Piece(Piece::ascii("")) };
    let only = content.list().filter(|parts| parts.count() == 1).and_then(|parts| parts.item(0)).unwrap_or(content);
    let text = only.object().filter(|part| text_or_empty(part.get(names::TYPE)).is("text"));
    let text = text.and_then(|part| part.get(names::TEXT)).unwrap_or(only);
    let is_plain = text.text_len().is_some() && !Content::Value(text).starts_with_any(&[ADDRESS]);
    if is_plain { Content::Value(text) } else { Content::Piece(content_text(content, 0)) }
}

/// Return the texts of parts, separated by newlines; a part that is not text becomes a line that names it.
fn content_text<'a, V: Value<'a>>(content: V, depth: usize) -> Piece<'a> {
    let Some(parts) = content.list() else { return part_text(content, depth) };
    let mut texts = items(parts).map(|part| part_text(part, depth));
    if parts.count() == 1 { texts.next().unwrap_or_default() } else { joined(texts) }
}

/// Return the text of one part of a result; parts may hold parts. A part of unknown kind becomes JSON.
pub(crate) fn part_text<'a, V: Value<'a>>(item: V, depth: usize) -> Piece<'a> {
    if let Some(text) = item.text() {
        return address_line(text);
    }
    let Some(part) = item.object() else { return Piece::own(item.answer_json()) };
    let kind = part.get(names::TYPE).and_then(Value::text);
    if let Some(text) = part.get(names::TEXT).and_then(Value::text)
        && (kind.is_some_and(|kind| TEXT_PARTS.iter().any(|name| kind.is(name))) || is_bare(part, names::TEXT))
    {
        return address_line(text);
    }
    let found = match kind {
        Some(kind) => typed_text(part, kind, depth),
        None => untyped_text(part, depth),
    };
    found.unwrap_or_else(|| Piece::own(part.answer_json()))
}

/// Return true if a part has the member `key`, and no other member whose loss would matter.
pub(crate) fn is_bare<'a, V: Value<'a>>(part: V, key: Key<'_>) -> bool {
    part.has(key) && part.size_without_nulls() == 1 + ASIDE_KEYS.iter().filter(|name| part.has(**name)).count()
}

/// Return the text of a part with a type; `None` if it becomes JSON.
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
    if let Some(told) = text_document(part, kind) {
        return Some(told.text().map_or_else(|| Piece::own(told.answer_json()), Piece::Borrowed));
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

/// Return what a document of Cohere says, a text or an object; `None` for any other part.
///
/// <https://docs.cohere.com/reference/chat>
pub(crate) fn text_document<'a, V: Value<'a>>(part: V, kind: Text<'_>) -> Option<V> {
    let held = Some(part).filter(|_| kind.is("document"))?.get(names::DOCUMENT)?.object()?;
    let data = held.get(names::DATA)?;
    match data.text() {
        Some(text) => Some(data).filter(|_| !is_base64(text)),
        None => data.object(),
    }
}

/// Return true if content is text or parts: a list, or an object with a type, such as a fetched document.
fn is_followed<'a, V: Value<'a>>(content: V) -> bool {
    let is_typed = || content.object().is_some_and(|part| part.has(names::TYPE));
    content.text_len().is_some() || content.list().is_some() || is_typed()
}

/// Return the text of a part without a type; `None` if it becomes JSON. Parts of Gemini and Bedrock are recognised by
/// their only key.
fn untyped_text<'a, V: Value<'a>>(part: V, depth: usize) -> Option<Piece<'a>> {
    let part = guarded(part);
    if let Some((kind, holder)) = untyped_medium(part) {
        return Some(untyped_media(kind, part, holder, depth));
    }
    if is_null_json(part) {
        return Some(Piece::ascii("null"));
    }
    let is_only = part.size_without_nulls() == 1;
    if let Some(json) = part.get(names::JSON).filter(|_| is_only) {
        return Some(Piece::own(json.answer_json()));
    }
    let answer = part.get(names::FUNCTION_RESPONSE_CAMEL).filter(|_| is_only).and_then(Value::object);
    if let Some(answer) = answer.filter(|_| depth < MAX_PARTS) {
        // Gemini: an answer with media.
        let parts = answer.get(names::PARTS).and_then(Value::list).into_iter().flat_map(items);
        let texts = answer.get(names::RESPONSE).into_iter().chain(parts);
        return Some(joined(texts.map(|part| part_text(part, depth + 1))));
    }
    let found = part.get(SEARCH_RESULT).filter(|_| is_only).and_then(Value::object);
    if let Some(found) = found.filter(|_| depth < MAX_PARTS) {
        // Bedrock.
        let text = found.get(names::CONTENT).map_or_else(Piece::default, |content| content_text(content, depth + 1));
        return Some(joined([found_line(found), text].into_iter()));
    }
    if let Some(content) = answer_content(part).filter(|_| depth < MAX_PARTS) {
        let text = content_text(content, depth + 1);
        return Some(match structured_json(part, content) {
            Some(structured) => joined([text, structured].into_iter()),
            None => text,
        });
    }
    is_untyped_data(part).then(|| media_line(names::INLINE_DATA_CAMEL, part))
}

/// Return true if a part is Bedrock's JSON, and the value is null.
pub(crate) fn is_null_json<'a, V: Value<'a>>(part: V) -> bool {
    part.has_name(names::JSON) && part.size_without_nulls() == 0
}

/// Return the parts in an answer of the Model Context Protocol (`CallToolResult`); `None` for other objects.
fn answer_content<'a, V: Value<'a>>(part: V) -> Option<V> {
    let content = part.get(names::CONTENT)?.list()?;
    let is_answer = || part.size_without_nulls() == ANSWER_KEYS.iter().filter(|name| part.has(**name)).count();
    let first = content.item(0).filter(|_| is_answer())?.object()?;
    first.get(names::TYPE)?.text().map(|_| content)
}

/// Return the `structuredContent` of an answer as JSON; `None` if one of its texts says the same.
///
/// <https://modelcontextprotocol.io/specification/2025-06-18/server/tools#structured-content>: a server should also
/// return it as JSON in a text part. Others return a summary as text, which must not hide the data.
fn structured_json<'a, V: Value<'a>>(answer: V, content: V) -> Option<Piece<'a>> {
    let held = answer.get(names::STRUCTURED_CONTENT)?;
    let is_empty = held.object().is_some_and(|members| members.size() == 0);
    let is_repeated = || items(content).any(|item| repeats(item, held));
    (!is_empty && !is_repeated()).then(|| Piece::own(held.answer_json()))
}

/// Return true if a part is text that says the same as a structured content. A server of the Python SDK wraps a value
/// that is not an object: `{"result": value}`.
fn repeats<'a, V: Value<'a>>(item: V, held: V) -> bool {
    let held_text = || item.object().and_then(|part| part.get(names::TEXT));
    let value = if item.text_len().is_some() { Some(item) } else { held_text() };
    let Some((value, text)) = value.and_then(|value| Some((value, value.text()?))) else { return false };
    let written = value.arguments().json();
    let says = |json: &OwnedText| json.as_text() == written.as_text();
    let members = held.object().filter(|members| members.size() == 1);
    let wrapped = members.and_then(|members| members.get(names::RESULT));
    wrapped.is_some_and(|wrapped| {
        wrapped.text().is_some_and(|inner| inner == text) || says(&wrapped.under(names::ARGUMENTS).json())
    }) || says(&held.json())
}

/// Return the content in Bedrock's `guardContent`, which a guardrail assesses; any other part unchanged.
fn guarded<'a, V: Value<'a>>(part: V) -> V {
    part.get(names::GUARD_CONTENT).and_then(Value::object).unwrap_or(part)
}

/// Return the kind of media that a part without a type holds, and the object that holds them.
fn untyped_medium<'a, V: Value<'a>>(part: V) -> Option<(Key<'static>, V)> {
    let part = guarded(part);
    UNTYPED_MEDIA.iter().copied().find_map(|kind| {
        let holder = part.get(kind).and_then(Value::object)?;
        let is_part = FILES.contains(&kind) || is_bare(part, kind);
        (is_part && holds_media(holder)).then_some((kind, holder))
    })
}

/// Return true if a part is of a kind that holds media, including documents with text.
pub(crate) fn is_of_media<'a, V: Value<'a>>(part: V) -> bool {
    match part.get(names::TYPE).and_then(Value::text) {
        Some(kind) => {
            MEDIA_PARTS.iter().any(|name| kind.is(name))
                || (FILE_PARTS.iter().any(|name| kind.is(name)) && is_media(part))
        }
        None => untyped_medium(part).is_some() || is_untyped_data(part),
    }
}

/// Return true if a part is an image, a document, a sound or a film, but not the text of a document.
pub(crate) fn is_media<'a, V: Value<'a>>(part: V) -> bool {
    if let Some(kind) = part.get(names::TYPE).and_then(Value::text) {
        let key = if kind.is("document") { names::SOURCE } else { Key::named(kind) };
        let held = || part.get(key).and_then(Value::object).unwrap_or(part);
        if FILE_PARTS.iter().any(|name| kind.is(name)) {
            return first_text_of(held(), FILE_KEYS).is_some() || is_untyped_data(held());
        }
        let is_medium = MEDIA_PARTS.iter().any(|name| kind.is(name));
        return is_medium && !is_text(held()) && text_document(part, kind).is_none();
    }
    match untyped_medium(part) {
        Some((_, holder)) => !is_text(holder.get(names::SOURCE).and_then(Value::object).unwrap_or(holder)),
        None => is_untyped_data(part),
    }
}

/// Return the text of a part that holds media under the name of their kind. For a document with text, that is its text.
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

/// Join texts with newlines.
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

/// Return true if a value is an empty text or list.
fn is_empty<'a, V: Value<'a>>(value: V) -> bool {
    value.text_len() == Some(0) || value.list().is_some_and(|list| list.count() == 0)
}

/// Return true if a result is only a placeholder for one that is elsewhere.
pub(crate) fn is_stand_in<'a, V: Value<'a>>(text: &Content<'a, V>) -> bool {
    text.starts_with_any(STAND_INS)
}

/// Return true if a value is a string that is empty or only white space.
pub(crate) fn has_no_word<'a, V: Value<'a>>(text: V) -> bool {
    /// The number of code points that decide for most texts.
    const FIRST: usize = 16;
    let is_space = |text: Text<'_>| (0..text.len()).all(|index| text.get(index).is_some_and(is_white));
    let Some(start) = text.text_start(FIRST) else { return false };
    is_space(start) && (start.len() < FIRST || text.text().is_some_and(is_space))
}

/// Return true if a code point is white space to Python's `str.strip`.
pub(crate) fn is_white(code_point: u32) -> bool {
    match code_point {
        0x1C..=0x1F => true,
        other => char::from_u32(other).is_some_and(char::is_whitespace),
    }
}

/// Text that is decoded only as far as necessary: a string of the input, or a piece.
#[derive(Clone, Debug)]
pub enum Content<'a, V> {
    /// A value that is a string.
    Value(V),
    /// Text that was joined from other text.
    Piece(Piece<'a>),
}

impl<'a, V: Value<'a>> Content<'a, V> {
    /// Return the number of code points.
    pub fn len(&self) -> usize {
        match self {
            Self::Value(value) => value.text_len().unwrap_or(0),
            Self::Piece(piece) => piece.len(),
        }
    }

    /// Return true if the text is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Return the number of bytes in UTF-8; a lone surrogate has three.
    pub fn utf8_len(&self) -> usize {
        match self {
            Self::Value(value) => value.utf8_len().unwrap_or(0),
            Self::Piece(piece) => piece.text().utf8_len(),
        }
    }

    /// Return the text as its source spells it.
    pub fn spelling(&self) -> Spelling<'_> {
        match self {
            Self::Value(value) => value.spelling().unwrap_or(Spelling::Text(Text::ascii(""))),
            Self::Piece(piece) => Spelling::Text(piece.text()),
        }
    }

    /// Return the whole text.
    pub fn whole(&self) -> Piece<'a> {
        match self {
            Self::Value(value) => Piece::Borrowed(text_or_empty(Some(*value))),
            Self::Piece(piece) => piece.clone(),
        }
    }

    /// Return the whole text for a short time: one that has to be decoded is not kept as long as the input.
    pub fn brief(&self) -> Piece<'a> {
        match self {
            Self::Value(value) => value.brief_text().unwrap_or_default(),
            Self::Piece(piece) => piece.clone(),
        }
    }

    /// Return the first code point, or one beyond ASCII in its place if it is beyond ASCII; `None` without text.
    pub fn initial(&self) -> Option<u32> {
        match self.spelling() {
            Spelling::Text(text) => text.get(0),
            // In JSON the first byte is that of the first character, unless it begins an escape.
            Spelling::Json([first, ..]) if *first != b'\\' => Some(u32::from(*first)),
            Spelling::Json(_) => self.start(1).text().get(0),
        }
    }

    /// Return true if the text begins with one of these ASCII literals. For most texts, the first code point decides.
    pub fn starts_with_any(&self, literals: &[&str]) -> bool {
        let first = self.initial();
        literals.iter().any(|literal| {
            literal.bytes().next().map(u32::from) == first && self.start(literal.len()).text().starts_with(literal)
        })
    }

    /// Return the first `count` code points, or all.
    pub fn start(&self, count: usize) -> Piece<'a> {
        match self {
            Self::Value(value) => Piece::Borrowed(value.text_start(count).unwrap_or(Text::ascii(""))),
            Self::Piece(piece) => piece.slice(0, count),
        }
    }

    /// Return the end of the text, with at least `count` code points or all.
    pub fn end(&self, count: usize) -> Piece<'a> {
        match self {
            Self::Value(value) => Piece::Borrowed(value.text_end(count).unwrap_or(Text::ascii(""))),
            Self::Piece(piece) => piece.slice(piece.len().saturating_sub(count), piece.len()),
        }
    }

    /// Return the first `count` code points, or all, with their escapes; `None` unless they and the next one are plain.
    #[must_use]
    pub fn plain_start(&self, count: usize) -> Option<Plain<'a>> {
        match self {
            Self::Value(value) => value.plain_start(count),
            Self::Piece(_) => None,
        }
    }

    /// Return the last `count` code points, or all, with their escapes; `None` unless they and the `before` ones before
    /// them are plain.
    #[must_use]
    pub fn plain_end(&self, count: usize, before: usize) -> Option<Plain<'a>> {
        match self {
            Self::Value(value) => value.plain_end(count, before),
            Self::Piece(_) => None,
        }
    }

    /// Return the first `count` code points, or all, without decoding them if possible.
    #[must_use]
    pub fn first(&self, count: usize) -> Self {
        match self {
            Self::Value(value) => value.first(count).map_or_else(|| Self::Piece(self.start(count)), Self::Value),
            Self::Piece(_) => Self::Piece(self.start(count)),
        }
    }

    /// Return the last `count` code points, or all, without decoding them if possible.
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

/// Return the text of a message: a string, or the text parts of a list, separated by newlines. A single text is not
/// copied.
pub(crate) fn spoken_text<'a, V: Value<'a>>(content: Option<V>) -> Content<'a, V> {
    let Some(content) = content else { return Content::Piece(Piece::default()) };
    if content.text_len().is_some() {
        return Content::Value(content);
    }
    let mut parts = content.list().into_iter().flat_map(items).flat_map(spoken_texts);
    let Some(first) = parts.next() else { return Content::Piece(Piece::default()) };
    let Some(second) = parts.next() else { return Content::Value(first) };
    let mut said = OwnedText::from(text_or_empty(Some(first)));
    for part in std::iter::once(second).chain(parts) {
        said.push_ascii("\n");
        said.push(text_or_empty(Some(part)));
    }
    Content::Piece(Piece::own(said))
}

/// Return the texts of a part, if it is spoken text: one, except for text with citations in Bedrock.
fn spoken_texts<'a, V: Value<'a>>(part: V) -> impl Iterator<Item = V> {
    let spoken = single_text(part);
    let cited = if spoken.is_none() { cited_parts(part) } else { None };
    let pieces = cited.into_iter().flat_map(items).filter_map(|piece| piece.object()?.get(names::TEXT));
    spoken.into_iter().chain(pieces.filter(|text| text.text_len().is_some()))
}

/// Return the text that Bedrock wraps with its citations.
fn cited_parts<'a, V: Value<'a>>(part: V) -> Option<V> {
    let part = part.object().filter(|part| part.get(names::TYPE).is_none())?;
    let is_thought = part.get(names::THOUGHT).is_some_and(Value::is_true);
    let cited = part.get(CITATIONS_CONTENT).filter(|_| !is_thought)?;
    cited.object()?.get(names::CONTENT)?.list()
}

/// Return the spoken text of a part of a message; `None` for a thought, or a part that is not text.
pub(crate) fn spoken_part<'a, V: Value<'a>>(part: V) -> Option<Piece<'a>> {
    let piece = |text: V| Piece::Borrowed(text_or_empty(Some(text)));
    let mut texts = spoken_texts(part);
    let first = texts.next()?;
    let Some(second) = texts.next() else { return Some(piece(first)) };
    Some(joined([first, second].into_iter().chain(texts).map(piece)))
}

/// Return the text of a message as a reader needs it: spoken text, and the text or the line of attachments.
pub(crate) fn shown_text<'a, V: Value<'a>>(content: Option<V>) -> Piece<'a> {
    let Some(content) = content else { return Piece::default() };
    if let Some(text) = content.text() {
        return Piece::Borrowed(text);
    }
    let shown = |part: V| spoken_part(part).or_else(|| attached_text(part.object()?));
    let mut texts = content.list().into_iter().flat_map(items).filter_map(shown);
    let Some(first) = texts.next() else { return Piece::default() };
    let Some(second) = texts.next() else { return first };
    joined([first, second].into_iter().chain(texts))
}

/// Return the text of a document, a search result or a refusal, and a line for media; `None` for other parts.
pub(crate) fn attached_text<'a, V: Value<'a>>(part: V) -> Option<Piece<'a>> {
    let is_named = match part.get(names::TYPE) {
        Some(kind) => kind.text().is_some_and(|kind| ATTACHED_PARTS.iter().any(|name| kind.is(name))),
        None => part.has(SEARCH_RESULT),
    };
    let is_thought = || part.get(names::THOUGHT).is_some_and(Value::is_true);
    ((is_named || is_of_media(part)) && !is_thought()).then(|| part_text(part, 0))
}

/// Return the text of a part that holds a single one, if it is spoken. A `compaction` block of Anthropic holds the only
/// text that is left of the messages before it.
fn single_text<'a, V: Value<'a>>(part: V) -> Option<V> {
    if part.text_len().is_some() {
        return Some(part);
    }
    let part = part.object()?;
    let is_thought = part.get(names::THOUGHT).is_some_and(Value::is_true);
    let kind = part.get(names::TYPE);
    let name = text_or_empty(kind);
    let is_text = kind.is_none() || TEXT_PARTS.iter().any(|text| name.is(text));
    let is_compaction = || name.is("compaction");
    if is_thought || !(is_text || is_compaction()) {
        return None;
    }
    // OpenTelemetry, compaction.
    let held_elsewhere = || part.get(names::CONTENT).filter(|_| name.is("text") || is_compaction());
    let is_a_text = |text: &V| text.text_len().is_some();
    let text = part.get(names::TEXT).or_else(held_elsewhere).filter(is_a_text);
    let guard = || part.get(names::GUARD_CONTENT)?.object()?.get(names::TEXT)?.object(); // Bedrock
    let held = || guard()?.get(names::TEXT).filter(is_a_text);
    text.or_else(|| if kind.is_none() { held() } else { None })
}
