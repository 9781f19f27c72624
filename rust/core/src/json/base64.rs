//! The line that stands for base64: what it is of, its type, and how many bytes; never the data itself.

use super::value::{Key, Value, names, text_or_empty};
use crate::text::piece::Piece;
use crate::text::{OwnedText, Text, grouped};

include!(concat!(env!("OUT_DIR"), "/media.rs"));

/// From so many characters on, data in a part of another kind is taken for base64.
pub(crate) const SHORTEST_DATA: usize = 64;
/// Within so many characters, the address of data says that it is base64.
const LONGEST_HEADER: usize = 100;
/// How the address of data begins.
pub(crate) const ADDRESS: &str = "data:";
/// Return whether a text is long enough to be data, and begins like it: no more than its beginning is looked at.
pub(crate) fn is_base64(text: Text<'_>) -> bool {
    let is_digit =
        |unit: u32| u8::try_from(unit).is_ok_and(|byte| byte.is_ascii_alphanumeric() || b"+/=_-".contains(&byte));
    (0..SHORTEST_DATA).all(|index| text.get(index).is_some_and(is_digit))
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
pub(crate) fn named_type<'a, V: Value<'a>>(holder: V) -> Option<Text<'a>> {
    first_text_of(holder, MEDIA_TYPE_KEYS).filter(|name| !name.is_empty())
}

/// The line of what `OpenTelemetry` calls a blob.
pub(crate) fn blob_line<'a, V: Value<'a>>(part: V, data: Text<'a>) -> Piece<'a> {
    let modality = text_or_empty(part.get(names::MODALITY));
    let label = if modality.is_empty() { Text::ascii("blob") } else { modality };
    sized_line(label, named_type(part), data)
}

pub(crate) fn sized_line<'a>(label: Text<'a>, named: Option<Text<'a>>, data: Text<'a>) -> Piece<'a> {
    let size = size_note(data);
    match named {
        Some(name) => line(label, &[Text::ascii(": "), name, Text::ascii(", "), Text::ascii(&size)]),
        None => line(label, &[Text::ascii(": "), Text::ascii(&size)]),
    }
}

/// What a line about media calls them.
pub(crate) fn label_of<'a>(kind: Key<'a>, media_type: Option<Text<'a>>) -> Text<'a> {
    if FILES.contains(&kind) {
        return type_label(media_type.unwrap_or(Text::ascii("document")));
    }
    if kind.name.is("computer_screenshot") {
        return Text::ascii("image");
    }
    kind.name.without_suffix("_url").without_prefix("input_")
}

/// `image` for `image/png`; what is no picture, sound or film is a document, without a type data.
pub(crate) fn type_label(media_type: Text<'_>) -> Text<'_> {
    let family = media_type.slice(0, media_type.find(b'/').unwrap_or(media_type.len()));
    match () {
        () if MEDIA_PARTS.iter().any(|name| family.is(name)) => family,
        () if media_type.is_empty() => Text::ascii("data"),
        () => Text::ascii("document"),
    }
}

/// The first member of these names that is a text.
pub(crate) fn first_text_of<'a, V: Value<'a>>(holder: V, keys: &[Key<'static>]) -> Option<Text<'a>> {
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

pub(crate) fn line<'a>(label: Text<'_>, rest: &[Text<'_>]) -> Piece<'a> {
    let mut text = OwnedText::default();
    text.push_ascii("[");
    text.push(label);
    for part in rest {
        text.push(*part);
    }
    text.push_ascii("]");
    Piece::own(text)
}

/// The number of bytes base64 text stands for, by its length.
fn size_note(data: Text<'_>) -> String {
    let padding = if data.ends_with("==") { 2 } else { usize::from(data.ends_with("=")) };
    format!("{} bytes", grouped((data.len() * 3 / 4).saturating_sub(padding)))
}
