//! From a JSON string as it is written to its text, whole or as much of an end of it as is needed.

use std::borrow::Cow;

use bumpalo::Bump;

use super::{EscapedText, escape_at};
use crate::simd::BLOCK;
use crate::text::unescape::unescape;
use crate::text::utf8;
use crate::text::{OwnedText, Text, Unit, Width};

/// In fewer bytes than these, each is looked at.
const FEW: usize = 16;

impl<'a> EscapedText<'a> {
    /// Whether the text is this one.
    #[inline(always)]
    pub(crate) fn is(self, text: Text<'_>) -> bool {
        match text {
            Text::Latin1(units) if self.is_ascii && !self.has_escapes => self.bytes == units,
            _ => self.decodes_to(text),
        }
    }

    #[inline(never)]
    fn decodes_to(self, text: Text<'_>) -> bool {
        OwnedText::from_bytes(&self.utf8()).as_text() == text
    }

    /// The whole text.
    pub(crate) fn text(self, bump: &'a Bump) -> Text<'a> {
        self.start(self.chars as usize, bump)
    }

    /// The first code points of the text, so many or all.
    pub(crate) fn start(self, count: usize, bump: &'a Bump) -> Text<'a> {
        let first = self.bytes.get(..count).unwrap_or(self.bytes);
        let is_plain = !self.has_escapes || !holds_backslash(first);
        if is_plain && (self.is_ascii || first.is_ascii()) {
            return Text::Latin1(first);
        }
        match (self.is_ascii, self.has_escapes) {
            (_, false) => keep(utf8::prefix(self.bytes, count), bump),
            (true, true) => {
                let room = bump.alloc_slice_fill_copy(self.bytes.len().min(count) + 2 * BLOCK, 0);
                match unescape(self, count, room).filter(|bytes| bytes.is_ascii()) {
                    Some(bytes) => Text::Latin1(bytes.get(..count).unwrap_or(bytes)),
                    None => keep(&self.utf8_start(count), bump),
                }
            }
            (false, true) => keep(&self.utf8_start(count), bump),
        }
    }

    /// The last code points of the text, so many or more.
    pub(crate) fn end(self, count: usize, bump: &'a Bump) -> Text<'a> {
        let parts = self.longer_ends(count).filter(|rest| rest.len() < self.bytes.len());
        let mut texts = parts.map(|bytes| EscapedText { bytes, chars: u32::MAX, ..self }.start(usize::MAX, bump));
        texts.find(|text| text.len() >= count).unwrap_or_else(|| self.text(bump))
    }

    /// How many bytes the text takes in UTF-8; a lone surrogate takes three.
    pub(crate) fn utf8_len(self) -> usize {
        let (mut size, mut at) = (self.bytes.len(), 0);
        if self.has_escapes && memchr::memmem::find(self.bytes, b"\\u").is_none() {
            // Each escape is two bytes for one: how many there are, the number of code points tells.
            let written = if self.is_ascii { size } else { utf8::count(self.bytes) };
            return size - written.saturating_sub(self.chars as usize);
        }
        while self.has_escapes
            && let Some(found) = memchr::memchr(b'\\', self.bytes.get(at..).unwrap_or_default())
        {
            let (code_point, written) = escape_at(self.bytes, at + found);
            size = size - written + utf8::size(code_point);
            at += found + written;
        }
        size
    }

    /// The text in UTF-8; lone surrogates are written as if they were characters.
    pub(crate) fn utf8(self) -> Cow<'a, [u8]> {
        if self.has_escapes { Cow::Owned(self.utf8_start(usize::MAX)) } else { Cow::Borrowed(self.bytes) }
    }

    /// The first code points of the text in UTF-8, so many or all.
    fn utf8_start(self, count: usize) -> Vec<u8> {
        let mut room = vec![0; self.bytes.len().min(count.saturating_mul(4)) + 2 * BLOCK];
        let size = unescape(self, count, &mut room).map_or(0, |bytes| utf8::prefix(bytes, count).len());
        room.truncate(size);
        room
    }
}

/// Whether there is a backslash; in a few bytes, as are looked at most often, sooner than one could be sought.
fn holds_backslash(bytes: &[u8]) -> bool {
    if bytes.len() < FEW { bytes.contains(&b'\\') } else { memchr::memchr(b'\\', bytes).is_some() }
}

/// Text in the narrowest units that hold it, kept as long as the scan.
fn keep<'a>(bytes: &[u8], bump: &'a Bump) -> Text<'a> {
    fn decoded<'a, C: Unit>(bytes: &[u8], bump: &'a Bump) -> &'a [C] {
        let room = bump.alloc_slice_fill_copy(utf8::count(bytes), C::from_code_point(0));
        utf8::decode(bytes, room);
        room
    }
    match utf8::width(bytes) {
        Width::Ascii | Width::Latin1 => Text::Latin1(decoded(bytes, bump)),
        Width::Ucs2 => Text::Ucs2(decoded(bytes, bump)),
        Width::Ucs4 => Text::Ucs4(decoded(bytes, bump)),
    }
}
