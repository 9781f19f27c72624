//! The language of a code block, by the extension of the file. The table is `_data/languages.json`, the twin
//! `_pure/languages.py`.

use crate::text::Text;

include!(concat!(env!("OUT_DIR"), "/languages.rs"));

const LONGEST_EXTENSION: usize = 8;

/// The language for `path`; empty where its extension says nothing.
#[must_use]
pub fn language_of(path: Text<'_>) -> &'static str {
    let size = path.len();
    let end = path.slice(size.saturating_sub(LONGEST_EXTENSION + 1), size);
    let mut room = [0; LONGEST_EXTENSION + 1];
    let units = narrow(end, &mut room);
    let Some(dot) = memchr::memrchr(b'.', units) else { return "" };
    let extension = units.get(dot + 1..).unwrap_or_default();
    let place = EXTENSIONS.binary_search_by(|(own, _)| own.as_bytes().cmp(extension));
    place.ok().and_then(|place| EXTENSIONS.get(place)).map_or("", |(_, language)| language)
}

/// The text in single bytes; a wider code point becomes one that no extension has.
fn narrow<'a>(text: Text<'_>, room: &'a mut [u8; LONGEST_EXTENSION + 1]) -> &'a [u8] {
    for (index, slot) in room.iter_mut().enumerate() {
        *slot = text.get(index).and_then(|code_point| u8::try_from(code_point).ok()).unwrap_or(0);
    }
    room.get(..text.len()).unwrap_or_default()
}
