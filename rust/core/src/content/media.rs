//! The lines that replace images, documents and sounds. They never hold base64.

use crate::json::base64::{
    ADDRESS, DATA_KEYS, LABELS, MEDIA_TYPE_KEYS, OPAQUE_KEYS, SHORTEST_DATA, URL_KEYS, first_text_of, is_base64,
    label_of, line, named_type, sized_line, url_line,
};
use crate::json::value::{Key, Value, names, text_or_empty};
use crate::text::Text;
use crate::text::piece::Piece;

/// Return the kind of the medium that a line stands for, such as `image`; `None` for any other line.
pub(crate) fn media_label(line: Text<'_>) -> Option<Text<'_>> {
    if !line.starts_with("[") || !line.ends_with("]") {
        return None;
    }
    let inner = line.slice(1, line.len() - 1);
    let label = inner.slice(0, inner.find(b':').unwrap_or(inner.len()));
    LABELS.iter().any(|name| label.is(name)).then_some(label)
}

/// Return true if a line stands for a medium.
pub(crate) fn is_media_line(line: Text<'_>) -> bool {
    media_label(line).is_some()
}

/// Return true if a holder of media holds text or parts instead.
pub(crate) fn is_text<'a, V: Value<'a>>(source: V) -> bool {
    let has_text = source.get(names::TEXT).and_then(Value::text).is_some();
    let kind = text_or_empty(source.get(names::TYPE));
    has_text
        || kind.is("text")
        || kind.is("content")
        || source.get(names::CONTENT).and_then(Value::list).is_some_and(|content| content.count() > 0)
}

/// Return true if a part of unknown kind holds data that is not text.
pub(crate) fn is_opaque<'a, V: Value<'a>>(part: V) -> bool {
    // A number is a count of bytes, which is an answer.
    let is_counted = |held: V| matches!(held.type_name().as_str(), "int" | "float");
    let is_data = |held: V| held.get(names::DATA).is_some_and(is_base64_value);
    let source = part.get(names::SOURCE).and_then(Value::object);
    OPAQUE_KEYS.iter().any(|key| part.get(*key).is_some_and(|held| !is_counted(held)))
        || is_data(part)
        || source.is_some_and(is_data)
}

/// Return true if a part without a kind has the type of its media, and holds them.
pub(crate) fn is_untyped_data<'a, V: Value<'a>>(part: V) -> bool {
    let is_data = |data: Text<'a>| is_base64(data) || data.starts_with(ADDRESS);
    first_text_of(part, DATA_KEYS).is_some_and(is_data) && first_text_of(part, MEDIA_TYPE_KEYS).is_some()
}

/// Return true if an object holds media, or their location.
pub(crate) fn holds_media<'a, V: Value<'a>>(holder: V) -> bool {
    holder.has(names::SOURCE) || first_text_of(holder, DATA_KEYS).is_some() || first_text_of(holder, URL_KEYS).is_some()
}

fn is_base64_value<'a, V: Value<'a>>(value: V) -> bool {
    value.text_start(SHORTEST_DATA).is_some_and(is_base64)
}

/// Return the line of an image, a document or a sound, such as `[image: image/png, 34,211 bytes]`, and the text of a
/// text document.
pub(crate) fn media_line<'a, V: Value<'a>>(kind: Key<'a>, part: V) -> Piece<'a> {
    let inner = part.get(names::SOURCE).or_else(|| part.get(kind));
    let holder = inner.and_then(Value::object).unwrap_or(part);
    let source = holder.get(names::SOURCE).and_then(Value::object).unwrap_or(holder);
    let named = named_type(source).or_else(|| named_type(holder));
    let label = label_of(kind, named);
    if let Some(url) = inner.and_then(Value::text).or_else(|| first_text_of(source, URL_KEYS)) {
        return url_line(label, url);
    }
    let Some(data) = first_text_of(source, DATA_KEYS) else {
        return match named {
            Some(name) => line(label, &[Text::ascii(": "), name]),
            None => line(label, &[]),
        };
    };
    if data.starts_with("data:") {
        return url_line(label, data);
    }
    if text_or_empty(source.get(names::TYPE)).is("text") {
        return Piece::Borrowed(data);
    }
    sized_line(label, named, data)
}

/// Return the line of a medium as a limit counts it: without its address.
///
/// A provider fetches the medium and charges for its pixels or pages, however long the address is
/// (<https://platform.claude.com/docs/en/build-with-claude/vision>,
/// <https://platform.openai.com/docs/guides/images-vision#calculating-costs>).
pub(crate) fn counted_line(own: Piece<'_>) -> Piece<'_> {
    let label = media_label(own.text()).map(Text::to_utf8);
    // Only an address has a colon after its scheme; a type and a size have none.
    match label.filter(|label| own.text().slice(label.len() + 2, own.len()).find(b':').is_some()) {
        Some(label) => line(Text::ascii(&label), &[]),
        None => own,
    }
}

/// Return the line of a search result: `[search_result: the title, https://...]`.
pub(crate) fn found_line<'a, V: Value<'a>>(part: V) -> Piece<'a> {
    let said = [names::TITLE, names::SOURCE].map(|key| text_or_empty(part.get(key)));
    let label = Text::ascii("search_result");
    let [title, source] = said;
    match (title.is_empty(), source.is_empty()) {
        (false, false) => line(label, &[Text::ascii(": "), title, Text::ascii(", "), source]),
        (true, true) => line(label, &[]),
        (is_untitled, _) => line(label, &[Text::ascii(": "), if is_untitled { source } else { title }]),
    }
}
