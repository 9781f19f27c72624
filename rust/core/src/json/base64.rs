//! The line that replaces base64 data: its kind, its media type and its number of bytes.

use super::value::{Key, Value, names, text_or_empty};
use crate::text::piece::Piece;
use crate::text::{OwnedText, Text, grouped};

include!(concat!(env!("OUT_DIR"), "/media.rs"));

/// The minimum length of base64 in a part of another kind.
pub(crate) const SHORTEST_DATA: usize = 64;
/// The number of characters at the start of a data URL that must contain `;base64,`.
const LONGEST_HEADER: usize = 100;
/// The beginning of a data URL.
pub(crate) const ADDRESS: &str = "data:";
/// Return true if a string has at least [`SHORTEST_DATA`] characters and the first of them are base64 digits.
pub(crate) fn is_base64(text: Text<'_>) -> bool {
    let is_digit =
        |unit: u32| u8::try_from(unit).is_ok_and(|byte| byte.is_ascii_alphanumeric() || b"+/=_-".contains(&byte));
    (0..SHORTEST_DATA).all(|index| text.get(index).is_some_and(is_digit))
}

/// Return true if a string is a medium: a data URL of base64, which some tools return as their whole answer.
pub(crate) fn is_data_url(text: Text<'_>) -> bool {
    text.starts_with(ADDRESS) && text.slice(0, LONGEST_HEADER).to_utf8().contains(";base64,")
}

/// Return true if a value is a string that is a data URL. Only its start is decoded.
pub(crate) fn is_data_url_value<'a, V: Value<'a>>(value: V) -> bool {
    let start = |count| value.text_start(count);
    start(ADDRESS.len()).is_some_and(|text| text.is(ADDRESS)) && start(LONGEST_HEADER).is_some_and(is_data_url)
}

/// Return the line of a base64 data URL, and any other text unchanged.
pub(crate) fn address_line(text: Text<'_>) -> Piece<'_> {
    if !is_data_url(text) {
        return Piece::Borrowed(text);
    }
    let rest = text.slice(ADDRESS.len(), text.len());
    url_line(type_label(rest.slice(0, rest.find(b';').unwrap_or(rest.len()))), text)
}

/// Return the line of a member that is base64; `None` if it is not. `name` is the key under which the holder is stored.
///
/// A member called `data` may hold anything, unless its holder says that it is media.
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

/// Return the media type that an object names, unless it is empty.
pub(crate) fn named_type<'a, V: Value<'a>>(holder: V) -> Option<Text<'a>> {
    first_text_of(holder, MEDIA_TYPE_KEYS).filter(|name| !name.is_empty())
}

/// Return the line of a blob, as `OpenTelemetry` calls it.
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

/// Return the label of media in a line.
pub(crate) fn label_of<'a>(kind: Key<'a>, media_type: Option<Text<'a>>) -> Text<'a> {
    if FILES.contains(&kind) {
        return type_label(media_type.unwrap_or(Text::ascii("document")));
    }
    if kind.name.is("computer_screenshot") {
        return Text::ascii("image");
    }
    kind.name.without_suffix("_url").without_prefix("input_")
}

/// Return the label of a media type: `image` for `image/png`, `document` for anything but images, audio and video, and
/// `data` for an empty type.
pub(crate) fn type_label(media_type: Text<'_>) -> Text<'_> {
    let family = media_type.slice(0, media_type.find(b'/').unwrap_or(media_type.len()));
    match () {
        () if MEDIA_PARTS.iter().any(|name| family.is(name)) => family,
        () if media_type.is_empty() => Text::ascii("data"),
        () => Text::ascii("document"),
    }
}

/// Return the first of these members that is a string.
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

/// Format the number of bytes that base64 text decodes to, computed from its length.
fn size_note(data: Text<'_>) -> String {
    let padding = if data.ends_with("==") { 2 } else { usize::from(data.ends_with("=")) };
    format!("{} bytes", grouped((data.len() * 3 / 4).saturating_sub(padding)))
}
