//! The line that stands for what is no text: an image, a document, a sound; never its base64.
//! The twin is `_pure/media.py`.

use crate::grouped::grouped;
use crate::pieces::Piece;
use crate::text::{OwnedText, Text};
use crate::value::{Key, Value, names, text_or_empty};

include!(concat!(env!("OUT_DIR"), "/media.rs"));

/// From so many characters on, data in a part of another kind is taken for base64.
const SHORTEST_DATA: usize = 64;
/// Within so many characters, the address of data says that it is base64.
const LONGEST_HEADER: usize = 100;
/// How the address of data begins.
pub(crate) const ADDRESS: &str = "data:";

/// Whether what holds media holds text instead, or parts.
pub(crate) fn is_text<'a, V: Value<'a>>(source: V) -> bool {
    let has_text = source.get(names::TEXT).and_then(Value::text).is_some();
    has_text
        || text_or_empty(source.get(names::TYPE)).is("text")
        || source.get(names::CONTENT).and_then(Value::list).is_some_and(|content| content.count() > 0)
}

/// Whether a part of a kind that nobody here knows holds what is no text.
pub(crate) fn is_opaque<'a, V: Value<'a>>(part: V) -> bool {
    // How many bytes there are is an answer.
    let is_counted = |held: V| matches!(held.type_name().as_str(), "int" | "float");
    let is_data = |held: V| held.get(names::DATA).is_some_and(is_base64_value);
    let source = part.get(names::SOURCE).and_then(Value::object);
    OPAQUE_KEYS.iter().any(|key| part.get(*key).is_some_and(|held| !is_counted(held)))
        || is_data(part)
        || source.is_some_and(is_data)
}

/// Whether a part says nothing of its kind, but the type of its media, and holds them.
pub(crate) fn is_untyped_data<'a, V: Value<'a>>(part: V) -> bool {
    let is_data = |data: Text<'a>| is_base64(data) || data.starts_with(ADDRESS);
    first_text(part, DATA_KEYS).is_some_and(is_data) && first_text(part, MEDIA_TYPE_KEYS).is_some()
}

/// Whether an object says where its media are.
pub(crate) fn holds_media<'a, V: Value<'a>>(holder: V) -> bool {
    holder.has(names::SOURCE) || first_text(holder, DATA_KEYS).is_some() || first_text(holder, URL_KEYS).is_some()
}

/// Whether a text is long enough to be data, and begins like it: no more than its beginning is looked at.
pub(crate) fn is_base64(text: Text<'_>) -> bool {
    let is_digit =
        |unit: u32| u8::try_from(unit).is_ok_and(|byte| byte.is_ascii_alphanumeric() || b"+/=_-".contains(&byte));
    (0..SHORTEST_DATA).all(|index| text.get(index).is_some_and(is_digit))
}

fn is_base64_value<'a, V: Value<'a>>(value: V) -> bool {
    value.text_start(SHORTEST_DATA).is_some_and(is_base64)
}

/// A text as it is, unless the whole of it is the address of data.
pub(crate) fn address_line(text: Text<'_>) -> Piece<'_> {
    let is_data = || text.slice(0, LONGEST_HEADER).to_utf8().contains(";base64,");
    if !text.starts_with(ADDRESS) || !is_data() {
        return Piece::Borrowed(text);
    }
    let rest = text.slice(ADDRESS.len(), text.len());
    url_line(type_label(rest.slice(0, rest.find(b';').unwrap_or(rest.len()))), text)
}

/// The line of a member that is base64; nothing where it is none. The holder stands under a name.
///
/// What is called `data` may be anything, unless its holder says that it is media.
pub(crate) fn base64_line<'a, V: Value<'a>>(
    holder: V,
    key: Text<'_>,
    data: Text<'a>,
    name: Text<'a>,
) -> Option<Piece<'a>> {
    if !is_base64(data) {
        return None;
    }
    let kind = text_or_empty(holder.get(names::TYPE));
    if key.is("content") && kind.is("blob") {
        return Some(blob_line(holder, data)); // OpenTelemetry
    }
    let named = named_type(holder);
    let is_medium = |each: Text<'a>| {
        MEDIA_PARTS.iter().any(|name| each.is(name)) || UNTYPED_MEDIA.iter().any(|untyped| untyped.name == each)
    };
    let medium = [kind, name].into_iter().find(|each| is_medium(*each));
    let is_opaque = OPAQUE_KEYS.iter().any(|opaque| opaque.name == key);
    let is_data = key == names::DATA.name && (medium.is_some() || named.is_some());
    let empty = Text::ascii("");
    let label = medium.map_or_else(|| type_label(named.unwrap_or(empty)), |medium| label_of(Key::named(medium), named));
    (is_opaque || is_data).then(|| sized_line(label, named, data))
}

/// What an object says of the type of its media, where it is not empty.
fn named_type<'a, V: Value<'a>>(holder: V) -> Option<Text<'a>> {
    first_text(holder, MEDIA_TYPE_KEYS).filter(|name| !name.is_empty())
}

/// `[image: image/png, 34,211 bytes]` for an image, a document or a sound; never its base64.
pub(crate) fn media_line<'a, V: Value<'a>>(kind: Key<'a>, part: V) -> Piece<'a> {
    let inner = part.get(names::SOURCE).or_else(|| part.get(kind));
    let holder = inner.and_then(Value::object).unwrap_or(part);
    let source = holder.get(names::SOURCE).and_then(Value::object).unwrap_or(holder);
    let named = named_type(source).or_else(|| named_type(holder));
    let label = label_of(kind, named);
    if let Some(url) = inner.and_then(Value::text).or_else(|| first_text(source, URL_KEYS)) {
        return url_line(label, url);
    }
    let Some(data) = first_text(source, DATA_KEYS) else {
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

/// The line of what `OpenTelemetry` calls a blob.
pub(crate) fn blob_line<'a, V: Value<'a>>(part: V, data: Text<'a>) -> Piece<'a> {
    let modality = text_or_empty(part.get(names::MODALITY));
    let label = if modality.is_empty() { Text::ascii("blob") } else { modality };
    sized_line(label, named_type(part), data)
}

fn sized_line<'a>(label: Text<'a>, named: Option<Text<'a>>, data: Text<'a>) -> Piece<'a> {
    let size = size_note(data);
    match named {
        Some(name) => line(label, &[Text::ascii(": "), name, Text::ascii(", "), Text::ascii(&size)]),
        None => line(label, &[Text::ascii(": "), Text::ascii(&size)]),
    }
}

/// What a line about media calls them.
fn label_of<'a>(kind: Key<'a>, media_type: Option<Text<'a>>) -> Text<'a> {
    if FILES.contains(&kind) {
        return type_label(media_type.unwrap_or(Text::ascii("document")));
    }
    if kind.name.is("computer_screenshot") {
        return Text::ascii("image");
    }
    kind.name.without_suffix("_url").without_prefix("input_")
}

/// `image` for `image/png`; what is no picture, sound or film is a document, without a type data.
fn type_label(media_type: Text<'_>) -> Text<'_> {
    let family = media_type.slice(0, media_type.find(b'/').unwrap_or(media_type.len()));
    match () {
        () if MEDIA_PARTS.iter().any(|name| family.is(name)) => family,
        () if media_type.is_empty() => Text::ascii("data"),
        () => Text::ascii("document"),
    }
}

/// The first member of these names that is a text.
pub(crate) fn first_text<'a, V: Value<'a>>(holder: V, keys: &[Key<'static>]) -> Option<Text<'a>> {
    keys.iter().find_map(|key| holder.get(*key).and_then(Value::text))
}

pub(crate) fn url_line<'a>(label: Text<'_>, url: Text<'_>) -> Piece<'a> {
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

/// `[search_result: the title, https://...]`
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
