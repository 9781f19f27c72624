//! Images, documents and sounds that a destination can read: of a type that it takes, stated as the bytes say, and in
//! base64.
//!
//! One that it cannot read ends a session, since each later request holds it, too.

use super::rules::Rules;
use crate::json::base64::{ADDRESS, SIGNATURES};
use crate::json::value::{Key, Value, names, text_or_empty};
use crate::projection::edits::{Changed, Edit, Json, Members, TextPart};
use crate::text::Text;
use crate::text::piece::Piece;

/// The number of base64 digits that tell the type of a medium, a multiple of four.
const HEAD: usize = 32;
/// The end of the header of a data URL.
const IN_BASE64: &str = ";base64,";
/// The types of parts that are images.
pub(crate) const IMAGE_PARTS: [&str; 3] = ["image", "image_url", "input_image"];
/// The type of a part that is a sound whose bytes are in the request.
const INPUT_AUDIO: &str = "input_audio";
/// The types of parts that are sounds.
const SOUND_PARTS: [&str; 3] = ["audio", INPUT_AUDIO, "audio_url"];
/// The types of parts that are films.
const FILM_PARTS: [&str; 2] = ["video", "video_url"];
/// The members of parts without a type that hold a file.
const FILES: [Key<'static>; 4] =
    [names::INLINE_DATA_CAMEL, names::INLINE_DATA, names::FILE_DATA_CAMEL, names::FILE_DATA];
/// The beginnings of media types by which a file is a medium.
const FAMILIES: [(&str, &str); 3] = [(IMAGES, "image"), ("audio/", "audio"), ("video/", "video")];
const FILE: Key<'static> = Key::new("file");
/// The types of parts that are files.
const FILE_PARTS: [&str; 2] = ["file", "input_file"];
/// The members of parts without a type that hold a medium.
const HOLDERS: [Key<'static>; 6] =
    [names::INLINE_DATA_CAMEL, names::INLINE_DATA, names::IMAGE, names::DOCUMENT, names::VIDEO, names::AUDIO];
/// The members that state a type.
const STATED: [Key<'static>; 3] = [names::MIME_TYPE, names::MIME_TYPE_SNAKE, names::FORMAT];
/// The segments of a JPEG that may stand before the size of its picture.
const MOST_SEGMENTS: usize = 64;
const IMAGES: &str = "image/";
/// What a part of the Model Context Protocol holds.
pub(super) const RESOURCE: Key<'static> = Key::new("resource");

/// What a destination does not take of a medium.
pub(super) enum Refused<'a, V> {
    /// The type that is stated. The members state the one of the bytes.
    Type(Members<'a, V>, &'static str),
    /// All of it.
    Whole,
}

/// The kind of a medium whose bytes are judged.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Family {
    Image,
    Document,
    Sound,
    /// Anything else, of which no more is judged than that its bytes are base64.
    File,
}

/// An image, a document or a sound whose bytes are in the request.
struct Medium<'a, V> {
    family: Family,
    stated: Text<'a>,
    data: Text<'a>,
    place: StatedAt<V>,
}

/// The place where a medium states its type.
enum StatedAt<V> {
    /// A member of the object in a member.
    Member(Key<'static>, V, Key<'static>),
    /// A data URL: in a member, or in the member `url` of the object in it.
    Address(Key<'static>, Option<V>),
}

/// Return what a destination does not take of the medium in a part; `None` if there is none, or if it takes all of it.
pub(super) fn refused<'a, V: Value<'a>>(part: V, rules: &Rules) -> Option<Refused<'a, V>> {
    let medium = medium_of(part)?;
    let taken = match medium.family {
        Family::Image => rules.image_types,
        Family::Document => rules.document_types,
        Family::Sound => rules.audio_types,
        Family::File => &[],
    };
    if taken.is_empty() {
        let is_broken = rules.refuses_broken && medium.family != Family::Image && !is_base64(medium.data);
        return is_broken.then_some(Refused::Whole);
    }
    if !is_base64(medium.data) {
        return Some(Refused::Whole);
    }
    let found = type_of(medium.data);
    let is_taken = found.map(|found| taken.contains(&found));
    // The first bytes of a sound may tell nothing.
    if (medium.family == Family::Image && is_taken != Some(true))
        || (medium.family == Family::Sound && is_taken == Some(false))
    {
        return Some(Refused::Whole);
    }
    let is_stated = |name: &str| match medium.place {
        StatedAt::Member(.., names::FORMAT) => medium.stated.is(format_of(name)),
        _ => medium.stated.is(name),
    };
    let is_exact = match medium.family {
        Family::Image => !rules.exact_types || found.is_some_and(is_stated),
        Family::Document | Family::File => true,
        Family::Sound => found.is_none_or(is_stated),
    };
    if is_exact && taken.iter().any(|name| is_stated(name)) {
        return None;
    }
    match found.filter(|found| taken.contains(found)) {
        Some(found) => Some(Refused::Type(medium.place.stating(found, medium.data), found)),
        None => Some(Refused::Whole),
    }
}

/// Return a media type without its family, as some providers state it: `png`.
fn format_of(media_type: &str) -> &str {
    media_type.split_once('/').map_or(media_type, |(_, format)| format)
}

/// Return the kind of the medium that a part is, wherever its bytes are: `image`, `audio` or `video`; `None` for any other
/// part.
pub(super) fn family_of<'a, V: Value<'a>>(part: V) -> Option<&'static str> {
    let kind = text_or_empty(part.get(names::TYPE));
    if !kind.is_empty() {
        let known = |parts: &[&str]| parts.iter().any(|name| kind.is(name));
        return match () {
            () if known(&IMAGE_PARTS) => Some("image"),
            () if known(&SOUND_PARTS) => Some("audio"),
            () if known(&FILM_PARTS) => Some("video"),
            () => None,
        };
    }
    let held = FILES.iter().find_map(|key| part.get(*key)?.object())?;
    let stated = STATED.iter().find_map(|key| held.get(*key)?.text())?;
    FAMILIES.iter().find(|(begin, _)| stated.starts_with(begin)).map(|(_, family)| *family)
}

/// The size of an image.
#[derive(Clone, Copy, Default)]
pub(crate) struct Measured {
    /// The digits of its base64.
    pub(crate) chars: usize,
    /// The pixels of its longer side; 0 if its bytes do not tell.
    pub(crate) side: usize,
}

/// Return the size of the image in a part, also in one of the Model Context Protocol, and nothing if it is elsewhere; `None`
/// for any other part.
pub(crate) fn measured<'a, V: Value<'a>>(part: V) -> Option<Measured> {
    let size = |data: Text<'a>| Measured { chars: data.len(), side: side_of(data).unwrap_or(0) };
    if let Some(medium) = medium_of(part) {
        return (medium.family == Family::Image).then(|| size(medium.data));
    }
    let kind = text_or_empty(part.get(names::TYPE));
    if kind.is("resource") {
        let data = part.get(RESOURCE)?.get(names::BLOB)?.text()?;
        return type_of(data).is_some_and(|found| found.starts_with(IMAGES)).then(|| size(data));
    }
    let data = || part.get(names::DATA).and_then(Value::text);
    IMAGE_PARTS.iter().any(|name| kind.is(name)).then(|| data().map_or_else(Measured::default, size))
}

/// Return the bytes of the image in a part, in base64; `None` if they are not there.
pub(super) fn image_data<'a, V: Value<'a>>(part: V) -> Option<Text<'a>> {
    let is_image = |data: &Text<'a>| is_base64(*data) && type_of(*data).is_some_and(|found| found.starts_with(IMAGES));
    let of_protocol = || part.get(names::DATA).filter(|_| text_or_empty(part.get(names::TYPE)).is("image"))?.text();
    let data = match medium_of(part) {
        Some(medium) => (medium.family == Family::Image).then_some(medium.data),
        None => of_protocol(),
    };
    data.filter(is_image)
}

/// Return true if a part of this type may be an image, a document, a sound or a file.
pub(super) fn is_medium<'a, V: Value<'a>>(part: V, kind: Text<'_>) -> bool {
    kind.is("document")
        || FILE_PARTS.iter().any(|name| kind.is(name))
        || kind.is(INPUT_AUDIO)
        || IMAGE_PARTS.iter().any(|name| kind.is(name))
        || (kind.is_empty() && holds_media(part))
}

/// Return true if a part without a type has a member that holds a medium.
pub(super) fn holds_media<'a, V: Value<'a>>(part: V) -> bool {
    part.has_any_name(&HOLDERS)
}

/// Return the longer side of an image, from the first bytes of its format.
fn side_of(data: Text<'_>) -> Option<usize> {
    let big = |at: usize, count: usize| (at..at + count).try_fold(0, |sum, at| Some(sum << 8 | byte_at(data, at)?));
    let little =
        |at: usize, count: usize| (at..at + count).rev().try_fold(0, |sum, at| Some(sum << 8 | byte_at(data, at)?));
    let (width, height) = match type_of(data)? {
        "image/png" => (big(16, 4)?, big(20, 4)?),
        "image/gif" => (little(6, 2)?, little(8, 2)?),
        "image/webp" => match big(12, 4)?.to_be_bytes().last_chunk::<4>()? {
            b"VP8X" => (little(24, 3)? + 1, little(27, 3)? + 1),
            b"VP8L" => (little(21, 2)? % 0x4000 + 1, little(22, 3)? / 0x40 % 0x4000 + 1),
            _ => (little(26, 2)? % 0x4000, little(28, 2)? % 0x4000),
        },
        "image/jpeg" => {
            // Segments, each with its length, up to the one with the size of the picture.
            let mut at = 2;
            for _ in 0..MOST_SEGMENTS {
                let marker = byte_at(data, at + 1).filter(|_| byte_at(data, at) == Some(0xFF))?;
                if matches!(marker, 0xC0..=0xCF) && !matches!(marker, 0xC4 | 0xC8 | 0xCC) {
                    break;
                }
                at += 2 + big(at + 2, 2)?;
            }
            (big(at + 7, 2)?, big(at + 5, 2)?)
        }
        _ => return None,
    };
    Some(width.max(height))
}

/// Return a byte of base64.
fn byte_at(data: Text<'_>, index: usize) -> Option<usize> {
    let first = index / 3 * 4;
    let digits = (first..first + 4).map(|at| data.get(at).and_then(value_of_digit).unwrap_or(0));
    let bits = digits.fold(0, |bits, digit| bits << 6 | digit);
    data.get(first + 1 + index % 3).map(|_| (bits >> (16 - 8 * (index % 3)) & 0xFF) as usize)
}

/// Return the medium in a part; `None` if its bytes are not there, or if it is none.
fn medium_of<'a, V: Value<'a>>(part: V) -> Option<Medium<'a, V>> {
    let kind = text_or_empty(part.get(names::TYPE));
    if kind.is_empty() {
        let (key, held) = HOLDERS.iter().find_map(|key| Some((*key, part.get(*key)?.object()?)))?;
        let stated = STATED.iter().find(|name| held.has(**name)).copied().unwrap_or(names::MIME_TYPE);
        let source = held.get(names::SOURCE).and_then(Value::object);
        let data = source.map_or_else(|| held.get(names::DATA), |source| source.get(names::BYTES))?.text()?;
        let place = StatedAt::Member(key, held, stated);
        let stated = text_or_empty(held.get(stated));
        let is_image = key == names::IMAGE || stated.starts_with(IMAGES);
        let family = if is_image { Family::Image } else { Family::File };
        return Some(Medium { family, stated, data, place });
    }
    if kind.is("image") || kind.is("document") {
        let source = part.get(names::SOURCE)?.object()?;
        let is_here = text_or_empty(source.get(names::TYPE)).is("base64");
        let data = source.get(names::DATA).map_or(Some(Text::ascii("")), Value::text).filter(|_| is_here)?;
        let stated = text_or_empty(source.get(names::MEDIA_TYPE));
        let place = StatedAt::Member(names::SOURCE, source, names::MEDIA_TYPE);
        let family = if kind.is("image") { Family::Image } else { Family::Document };
        return Some(Medium { family, stated, data, place });
    }
    if kind.is(INPUT_AUDIO) {
        let key = Key::new(INPUT_AUDIO);
        let held = part.get(key)?.object()?;
        let data = held.get(names::DATA).map_or(Some(Text::ascii("")), Value::text)?;
        let place = StatedAt::Member(key, held, names::FORMAT);
        return Some(Medium { family: Family::Sound, stated: text_or_empty(held.get(names::FORMAT)), data, place });
    }
    if FILE_PARTS.iter().any(|name| kind.is(name)) {
        let held = part.get(FILE).and_then(Value::object).unwrap_or(part);
        let data = without_header(held.get(names::FILE_DATA)?.text()?);
        let place = StatedAt::Member(FILE, held, names::FILE_DATA);
        return Some(Medium { family: Family::File, stated: Text::ascii(""), data, place });
    }
    if !kind.is("image_url") && !kind.is("input_image") {
        return None;
    }
    let shown = part.get(names::IMAGE_URL)?;
    let held = shown.object();
    let url = held.map_or(Some(shown), |held| held.get(names::URL))?.text().filter(|url| url.starts_with(ADDRESS))?;
    let comma = url.find(b',')?;
    let stated = url.slice(ADDRESS.len(), comma + 1);
    if !stated.ends_with(IN_BASE64) {
        return None;
    }
    let (stated, data) = (stated.without_suffix(IN_BASE64), url.slice(comma + 1, url.len()));
    Some(Medium { family: Family::Image, stated, data, place: StatedAt::Address(names::IMAGE_URL, held) })
}

impl<V> StatedAt<V> {
    /// Return the members that state a type.
    fn stating<'a>(self, found: &'static str, data: Text<'a>) -> Members<'a, V> {
        let inside = |key, held, name, new| {
            let members = vec![(name, Some(Edit::NewValue(new)))];
            vec![(key, Some(Edit::Changed(Changed { path: None, of: Some(held), members })))]
        };
        match self {
            Self::Member(key, held, name) => {
                let is_format = name == names::FORMAT;
                let found = if is_format { format_of(found) } else { found };
                inside(key, held, name, Json::ascii(found))
            }
            Self::Address(key, Some(held)) => {
                inside(key, held, names::URL, data_url(Piece::ascii(found), Piece::Borrowed(data)))
            }
            Self::Address(key, None) => {
                vec![(key, Some(Edit::NewValue(data_url(Piece::ascii(found), Piece::Borrowed(data)))))]
            }
        }
    }
}

/// Return the data URL of a medium.
pub(super) fn data_url<'a>(media_type: Piece<'a>, data: Piece<'a>) -> Json<'a> {
    let texts = [Piece::ascii(ADDRESS), media_type, Piece::ascii(IN_BASE64), data];
    Json::Joined(texts.into_iter().map(TextPart::Text).collect())
}

/// Return the data of a data URL; any other text as it is.
pub(super) fn without_header(text: Text<'_>) -> Text<'_> {
    let header = if text.starts_with(ADDRESS) { text.find(b',').map_or(0, |comma| comma + 1) } else { 0 };
    text.slice(header, text.len())
}

/// Return true if a text is base64, of the ordinary or the URL-safe alphabet, and stands for at least one byte. Line
/// breaks are left to the provider.
pub(super) fn is_base64(data: Text<'_>) -> bool {
    let Text::Latin1(data) = data else { return false };
    let padding = data.iter().rev().take_while(|digit| **digit == b'=').count();
    let digits = data.get(..data.len() - padding).unwrap_or_default();
    let is_digit = |digit: &u8| matches!(digit, b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'+' | b'/' | b'-' | b'_' | b'\r' | b'\n');
    padding <= 2 && digits.len() >= 2 && digits.iter().all(is_digit)
}

/// Return the media type that the first bytes of base64 tell of; `None` if they tell of none.
pub(crate) fn type_of(data: Text<'_>) -> Option<&'static str> {
    let digits = (0..data.len().min(HEAD)).map_while(|index| value_of_digit(data.get(index)?));
    let digits: Vec<u32> = digits.collect();
    let mut head = Vec::with_capacity(HEAD / 2 * 3);
    for pair in digits.chunks(2) {
        // Two digits are twelve bits, three hexadecimal digits; the last one alone has four bits of a byte.
        let bits = pair.iter().fold(0, |bits, value| bits << 6 | value) << (6 * (2 - pair.len()));
        let all = [bits >> 8, bits >> 4, bits].map(|bits| bits & 15);
        head.extend_from_slice(all.get(..pair.len() * 2 - 1).unwrap_or_default());
    }
    let begins = |pattern: &str| {
        let mut digits = pattern.bytes().zip(head.iter().map(Some).chain(std::iter::repeat(None)));
        digits
            .all(|(wanted, own)| own.is_some_and(|own| wanted == b'.' || char::from(wanted).to_digit(16) == Some(*own)))
    };
    SIGNATURES.iter().find(|(pattern, _)| begins(pattern)).map(|(_, found)| *found)
}

/// Return the value of a digit of base64.
fn value_of_digit(digit: u32) -> Option<u32> {
    let digit = u8::try_from(digit).ok()?;
    let value = match digit {
        b'A'..=b'Z' => digit - b'A',
        b'a'..=b'z' => digit - b'a' + 26,
        b'0'..=b'9' => digit - b'0' + 52,
        b'+' | b'-' => 62,
        b'/' | b'_' => 63,
        _ => return None,
    };
    Some(u32::from(value))
}
