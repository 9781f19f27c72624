//! The text of a result, whole or in part, and what stands for what is no text. The twin is in `_pure/read.py`.

use crate::pieces::Piece;
use crate::text::{OwnedText, Text, grouped};
use crate::value::{Key, Value, names, text_or_empty};

/// How texts begin that stand for a result that never came.
const SYNTHETIC: [&str; 3] = ["[Request interrupted by user", "[Tool result missing", "[Tool use interrupted"];
/// Of so many characters, at most, is such a beginning.
const LONGEST_SYNTHETIC: usize = 32;
/// The kinds of parts that are no text.
const MEDIA: [&str; 7] = ["image", "image_url", "input_image", "document", "audio", "input_audio", "video"];
/// What tells, in a part of another kind, that it is no text either.
const OPAQUE: [Key<'static>; 5] = [names::DATA, names::BLOB, names::FILE_DATA, names::SOURCE, names::ENCRYPTED_CONTENT];
/// Where a part holds what is no text.
const DATA_KEYS: [Key<'static>; 3] = [names::DATA, names::BLOB, names::FILE_DATA];
/// How deep parts may stand in parts: deeper ones are shown as JSON.
const MAX_PARTS: usize = 8;

/// A text that need not be made whole: a value of the input that is one, or a piece.
#[derive(Clone, Debug)]
pub enum Content<'a, V> {
    /// A value that is a text.
    Value(V),
    /// A text that was put together.
    Piece(Piece<'a>),
}

impl<'a, V: Value<'a>> Content<'a, V> {
    /// How many code points.
    pub fn len(&self) -> usize {
        match self {
            Self::Value(value) => value.text_len().unwrap_or(0),
            Self::Piece(piece) => piece.len(),
        }
    }

    /// Whether there is no code point.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many bytes in UTF-8; a lone surrogate has three.
    pub fn utf8_len(&self) -> usize {
        match self {
            Self::Value(value) => value.utf8_len().unwrap_or(0),
            Self::Piece(piece) => piece.text().utf8_len(),
        }
    }

    /// All of it.
    pub fn whole(&self) -> Piece<'a> {
        match self {
            Self::Value(value) => Piece::Borrowed(text_or_empty(Some(*value))),
            Self::Piece(piece) => piece.clone(),
        }
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
}

/// What came back, as text; one text alone stays where it is.
pub fn result_content<'a, V: Value<'a>>(content: Option<V>) -> Content<'a, V> {
    let Some(content) = content else { return Content::Piece(Piece::ascii("")) };
    let only = content.list().filter(|parts| parts.count() == 1).and_then(|parts| parts.item(0)).unwrap_or(content);
    let text = only.object().and_then(|part| part.get(names::TEXT)).unwrap_or(only);
    if text.text_len().is_some() { Content::Value(text) } else { Content::Piece(content_text(content, 0)) }
}

/// The text of a result: parts on lines of their own; what is no text becomes a line that names it.
pub fn result_text<'a, V: Value<'a>>(content: Option<V>) -> Piece<'a> {
    content.map_or(Piece::ascii(""), |content| content_text(content, 0))
}

fn content_text<'a, V: Value<'a>>(content: V, depth: usize) -> Piece<'a> {
    if let Some(text) = content.text() {
        return Piece::Borrowed(text);
    }
    let Some(parts) = content.list() else { return part_text(content, depth) };
    let text_at = |index: usize| parts.item(index).map_or(Piece::ascii(""), |part| part_text(part, depth));
    if parts.count() == 1 {
        return text_at(0);
    }
    let mut joined = OwnedText::default();
    for index in 0..parts.count() {
        if index > 0 {
            joined.push_ascii("\n");
        }
        joined.push(text_at(index).text());
    }
    Piece::own(joined)
}

/// The text of one part of a result; parts may hold parts.
fn part_text<'a, V: Value<'a>>(item: V, depth: usize) -> Piece<'a> {
    if let Some(text) = item.text() {
        return Piece::Borrowed(text);
    }
    let Some(part) = item.object() else { return Piece::own(item.json()) };
    if let Some(text) = part.get(names::TEXT).and_then(Value::text) {
        return Piece::Borrowed(text);
    }
    let Some(kind) = part.get(names::TYPE).and_then(Value::text) else { return Piece::own(part.json()) };
    let inner_key = if kind.is("document") { names::SOURCE } else { Key::named(kind) };
    let inner = part.get(inner_key).and_then(Value::object).unwrap_or(part);
    if let Some(text) = inner.get(names::TEXT).and_then(Value::text) {
        return Piece::Borrowed(text);
    }
    let content = inner.get(names::CONTENT).filter(|content| !is_empty(*content)).or_else(|| part.get(names::CONTENT));
    if let Some(content) = content
        && (content.text().is_some() || content.list().is_some())
        && depth < MAX_PARTS
    {
        return content_text(content, depth + 1);
    }
    let is_opaque = |key: &Key<'_>| part.has(*key) || inner.has(*key);
    if MEDIA.iter().any(|name| kind.is(name)) || OPAQUE.iter().any(is_opaque) {
        return media_line(kind, part);
    }
    Piece::own(part.json())
}

/// Whether a value holds nothing: an empty text or list.
fn is_empty<'a, V: Value<'a>>(value: V) -> bool {
    value.text_len() == Some(0) || value.list().is_some_and(|list| list.count() == 0)
}

/// Whether the content of a result only stands for one that never came.
pub(crate) fn is_synthetic<'a, V: Value<'a>>(content: Option<V>) -> bool {
    let Some(content) = content.filter(|content| !is_empty(*content)) else { return false };
    let text = result_content(Some(content)).start(LONGEST_SYNTHETIC);
    text.text().get(0) == Some(u32::from(b'[')) && SYNTHETIC.iter().any(|start| text.text().starts_with(start))
}

/// `[image: image/png, 34,211 bytes]` for an image, a document or a sound; never its base64.
fn media_line<'a, V: Value<'a>>(kind: Text<'a>, part: V) -> Piece<'a> {
    let label = kind.without_suffix("_url").without_prefix("input_");
    let inner = part.get(names::SOURCE).or_else(|| part.get(Key::named(kind)));
    let holder = inner.and_then(Value::object).unwrap_or(part);
    let url = inner.and_then(Value::text).or_else(|| holder.get(names::URL).and_then(Value::text));
    if let Some(url) = url {
        return url_line(label, url);
    }
    let data = DATA_KEYS.iter().find_map(|key| holder.get(*key).and_then(Value::text));
    let Some(data) = data else { return line(label, &[]) };
    if data.starts_with("data:") {
        return url_line(label, data);
    }
    if text_or_empty(holder.get(names::TYPE)).is("text") {
        return Piece::Borrowed(data);
    }
    let size = size_note(data);
    let media_type = [names::MEDIA_TYPE, names::MIME_TYPE, names::FORMAT]
        .iter()
        .find_map(|key| holder.get(*key).and_then(Value::text));
    match media_type {
        Some(name) => line(label, &[Text::ascii(": "), name, Text::ascii(", "), Text::ascii(&size)]),
        None => line(label, &[Text::ascii(": "), Text::ascii(&size)]),
    }
}

fn url_line<'a>(label: Text<'_>, url: Text<'_>) -> Piece<'a> {
    if !url.starts_with("data:") {
        return line(label, &[Text::ascii(": "), url]);
    }
    let url = url.slice(5, url.len());
    let comma = url.find(b',').unwrap_or(url.len());
    let size = size_note(url.slice(comma + 1, url.len()));
    let media_type = url.slice(0, comma).without_suffix(";base64");
    line(label, &[Text::ascii(": "), media_type, Text::ascii(", "), Text::ascii(&size)])
}

fn line<'a>(label: Text<'_>, rest: &[Text<'_>]) -> Piece<'a> {
    let mut text = OwnedText::default();
    text.push_ascii("[");
    text.push(label);
    for part in rest {
        text.push(*part);
    }
    text.push_ascii("]");
    Piece::own(text)
}

/// How many bytes base64 text stands for, by its length.
fn size_note(data: Text<'_>) -> String {
    let padding = if data.ends_with("==") { 2 } else { usize::from(data.ends_with("=")) };
    format!("{} bytes", grouped((data.len() * 3 / 4).saturating_sub(padding)))
}
