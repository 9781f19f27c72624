//! Decoding of JSON strings: whole, or as much of one end as is needed.

use std::borrow::Cow;

use bumpalo::Bump;

use super::escaped::{EscapedText, escape_at};
use super::{OwnedText, Text, Unit, Width, utf8};
use crate::simd::{BLOCK, Lanes, Work, block_at, copy_block, dispatch, find_escaped};

/// With fewer bytes than this, a plain loop is faster than a search.
const FEW: usize = 16;

impl<'a> EscapedText<'a> {
    /// Return true if the string decodes to this text.
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

    /// Return the whole text.
    pub(crate) fn text(self, bump: &'a Bump) -> Text<'a> {
        self.start(self.chars as usize, bump)
    }

    /// Return the first `count` code points of the text, or all.
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

    /// Return the end of the text, with at least `count` code points or all.
    pub(crate) fn end(self, count: usize, bump: &'a Bump) -> Text<'a> {
        let parts = self.longer_ends(count).filter(|rest| rest.len() < self.bytes.len());
        let mut texts = parts.map(|bytes| EscapedText { bytes, chars: u32::MAX, ..self }.start(usize::MAX, bump));
        texts.find(|text| text.len() >= count).unwrap_or_else(|| self.text(bump))
    }

    /// Return the number of bytes in UTF-8; a lone surrogate takes three.
    pub(crate) fn utf8_len(self) -> usize {
        let (mut size, mut at) = (self.bytes.len(), 0);
        if self.has_escapes && memchr::memmem::find(self.bytes, b"\\u").is_none() {
            // Each escape has two bytes for one, and the difference to the number of code points is the number of
            // escapes.
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

    /// Return the text in UTF-8, with lone surrogates encoded as if they were characters.
    pub(crate) fn utf8(self) -> Cow<'a, [u8]> {
        if self.has_escapes { Cow::Owned(self.utf8_start(usize::MAX)) } else { Cow::Borrowed(self.bytes) }
    }

    /// Return the first `count` code points of the text in UTF-8, or all.
    fn utf8_start(self, count: usize) -> Vec<u8> {
        let mut room = vec![0; self.bytes.len().min(count.saturating_mul(4)) + 2 * BLOCK];
        let size = unescape(self, count, &mut room).map_or(0, |bytes| utf8::prefix(bytes, count).len());
        room.truncate(size);
        room
    }
}

/// Return true if there is a backslash. Most calls are about a few bytes.
fn holds_backslash(bytes: &[u8]) -> bool {
    if bytes.len() < FEW { bytes.contains(&b'\\') } else { memchr::memchr(b'\\', bytes).is_some() }
}

/// Decode UTF-8 into the narrowest units that hold it; the text lives as long as the scan.
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

/// Decode a string without `\u` escapes to UTF-8 in `room`, which is large enough, and return the number of bytes
/// written. Up to a block after them may be overwritten.
pub(crate) fn write_unescaped(bytes: &[u8], room: &mut [u8]) -> usize {
    dispatch(Writing { bytes, room })
}

/// The work of [`write_unescaped`].
struct Writing<'b, 'o> {
    bytes: &'b [u8],
    room: &'o mut [u8],
}

impl Work for Writing<'_, '_> {
    type Done = usize;

    #[inline(always)]
    fn run<L: Lanes>(self) -> usize {
        let Self { bytes, room } = self;
        let (mut at, mut done, mut carry) = (0, 0, 0);
        let mut padded = [0; BLOCK];
        while at < bytes.len() && room.len() >= done + BLOCK {
            let block = block_at(bytes, at, &mut padded);
            let backslashes = L::equal(block, b'\\');
            let letters = find_escaped(backslashes, &mut carry);
            let from = if bytes.len() - at < BLOCK { (&block[..], 0) } else { (bytes, at) };
            done += write_block::<L>(from, (backslashes, letters), (room, done));
            at += BLOCK;
        }
        if let Some(surplus) = at.checked_sub(bytes.len()) {
            return done - surplus;
        }
        let mut writer = Writer { bytes, room, at: at - usize::from(carry == 1), done, unseen: 0 };
        writer.by_characters(bytes.len(), usize::MAX);
        writer.done
    }
}

/// Decode a block without `\u` escapes, whose backslashes and letters are known, and return the number of bytes
/// written. `from` includes the data after the block, so that the text between escapes can be copied as whole blocks.
#[inline(always)]
fn write_block<L: Lanes>(
    from: (&[u8], usize),
    (backslashes, letters): (u64, u64),
    (room, place): (&mut [u8], usize),
) -> usize {
    if backslashes | letters == 0 {
        copy_block(from.0, from.1, room, place);
        return BLOCK;
    }
    L::unescape(from, (backslashes & !letters, letters), (room, place))
}

/// Decode at least the first `count` code points of a string, or all, to UTF-8 in `room`, which has two blocks to
/// spare. Return `None` if the room is too small.
pub(crate) fn unescape<'o>(raw: EscapedText<'_>, count: usize, room: &'o mut [u8]) -> Option<&'o [u8]> {
    let done = dispatch(Unescaping { bytes: raw.bytes, is_ascii: raw.is_ascii, count, room: &mut *room });
    room.get(..done)
}

/// The work of [`unescape`], which returns the number of bytes written.
struct Unescaping<'b, 'o> {
    bytes: &'b [u8],
    is_ascii: bool,
    count: usize,
    room: &'o mut [u8],
}

impl Work for Unescaping<'_, '_> {
    type Done = usize;

    #[inline(always)]
    fn run<L: Lanes>(self) -> usize {
        let Self { bytes, is_ascii, count, room } = self;
        let mut writer = Writer { bytes, room, at: 0, done: 0, unseen: 0 };
        let mut carry = 0;
        let mut padded = [0; BLOCK];
        while writer.chars() < count && writer.at < bytes.len() && writer.room.len() >= writer.done + BLOCK {
            let size = BLOCK.min(bytes.len() - writer.at);
            let block = block_at(bytes, writer.at, &mut padded);
            let (backslashes, pending) = (L::equal(block, b'\\'), carry == 1);
            let letters = find_escaped(backslashes, &mut carry);
            if letters != 0 && letters & L::equal(block, b'u') != 0 {
                let end = writer.at + size;
                writer.at -= usize::from(pending);
                writer.by_characters(end, usize::MAX);
                carry = 0;
                continue;
            }
            let from = if size < BLOCK { (&block[..], 0) } else { (bytes, writer.at) };
            let written = write_block::<L>(from, (backslashes, letters), (writer.room, writer.done));
            writer.done += written + size - BLOCK;
            if !is_ascii {
                writer.unseen += L::others(block).continuations.count_ones() as usize;
            }
            writer.at += size;
        }
        writer.at -= usize::from(carry == 1);
        writer.by_characters(bytes.len(), count);
        writer.done
    }
}

/// The state of decoding: the offsets that were read and written up to.
struct Writer<'b, 'o> {
    bytes: &'b [u8],
    room: &'o mut [u8],
    at: usize,
    done: usize,
    /// The number of continuation bytes that were written.
    unseen: usize,
}

impl Writer<'_, '_> {
    #[inline(always)]
    fn chars(&self) -> usize {
        self.done - self.unseen
    }

    /// Decode one character or escape at a time, up to an offset or until `count` code points are written.
    fn by_characters(&mut self, end: usize, count: usize) {
        while self.at < end
            && let Some(byte) = self.bytes.get(self.at)
            && (self.chars() < count || utf8::is_continuation(*byte))
        {
            let rest = self.room.get_mut(self.done..).unwrap_or_default();
            if *byte == b'\\' {
                let (code_point, size) = escape_at(self.bytes, self.at);
                let (four, written) = utf8::bytes_of(code_point);
                rest.iter_mut().zip(four).take(written).for_each(|(own, byte)| *own = byte);
                self.unseen += written.saturating_sub(1);
                self.done += written;
                self.at += size;
            } else {
                if let Some(own) = rest.first_mut() {
                    *own = *byte;
                }
                self.unseen += usize::from(utf8::is_continuation(*byte));
                self.done += 1;
                self.at += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{BLOCK, Unescaping, Work, Writer, Writing};
    use crate::simd::{Scalar, dispatch};

    /// Decode one character at a time.
    fn by_characters(bytes: &[u8]) -> Vec<u8> {
        let mut room = vec![0; bytes.len()];
        let mut writer = Writer { bytes, room: &mut room, at: 0, done: 0, unseen: 0 };
        writer.by_characters(bytes.len(), usize::MAX);
        let size = writer.done;
        room.truncate(size);
        room
    }

    #[test]
    fn blocks_decode_as_single_characters_do() {
        for unit in ["", "\\n", "\\\\", "\\\"\\t", "\\\\\\/", "\u{e9}", "\u{20ac}\\r\u{1f600}"] {
            for (before, count) in (0..2 * BLOCK).flat_map(|before| [1, 2, 31, 32, 70].map(|count| (before, count))) {
                let written = ["x".repeat(before), unit.repeat(count), "end".to_owned()].concat();
                let (bytes, expected) = (written.as_bytes(), by_characters(written.as_bytes()));
                for spare in [0, 1, 2 * BLOCK] {
                    let mut rooms = [(); 4].map(|()| vec![b'?'; expected.len() + spare]);
                    let [first, second, third, fourth] = &mut rooms;
                    let unescaping = |room| Unescaping { bytes, is_ascii: bytes.is_ascii(), count: usize::MAX, room };
                    let sizes = [
                        dispatch(Writing { bytes, room: first }),
                        Writing { bytes, room: second }.run::<Scalar>(),
                        dispatch(unescaping(third)),
                        unescaping(fourth).run::<Scalar>(),
                    ];
                    assert_eq!(sizes, [expected.len(); 4], "{written}");
                    assert!(rooms.iter().all(|room| room.starts_with(&expected)), "{written}");
                }
            }
        }
    }
}
