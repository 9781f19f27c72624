//! From a JSON string as it is written to its text, whole or as much of an end of it as is needed.

use std::borrow::Cow;

use bumpalo::Bump;

use super::strings::{Raw, find_escaped, hex4, is_high_surrogate, low_surrogate_at};
use crate::graphemes::CodePoint;
use crate::lanes::{BLOCK, Lanes, Work, dispatch};
use crate::text::{OwnedText, Text, on_units, utf8_size};

impl<'a> Raw<'a> {
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
        self.chars as usize == text.len() && decode(self.bytes, usize::MAX).as_text() == text
    }

    /// The whole text.
    pub(crate) fn text(self, bump: &'a Bump) -> Text<'a> {
        self.start(self.chars as usize, bump)
    }

    /// The first code points of the text, so many or all.
    pub(crate) fn start(self, count: usize, bump: &'a Bump) -> Text<'a> {
        if !self.is_ascii {
            return keep(decode(self.bytes, count), bump);
        }
        if !self.has_escapes {
            return Text::Latin1(self.bytes.get(..count).unwrap_or(self.bytes));
        }
        ascii_start(self.bytes, count.min(self.chars as usize), bump)
    }

    /// The last code points of the text, so many or more.
    pub(crate) fn end(self, count: usize, bump: &'a Bump) -> Text<'a> {
        let size = self.bytes.len();
        let mut taken = count.saturating_add(count / 8).saturating_add(64);
        loop {
            let start = boundary(self.bytes, size.saturating_sub(taken));
            let rest = self.bytes.get(start..).unwrap_or_default();
            let part = Raw { bytes: rest, chars: u32::MAX, ..self };
            let text = if start == 0 { self.text(bump) } else { part.start(usize::MAX, bump) };
            if start == 0 || text.len() >= count {
                return text;
            }
            taken = taken.saturating_mul(2);
        }
    }
}

impl<'a> Raw<'a> {
    /// How many bytes the text takes in UTF-8; a lone surrogate takes three.
    pub(crate) fn utf8_len(self) -> usize {
        let (mut size, mut at) = (self.bytes.len(), 0);
        while self.has_escapes
            && let Some(found) = memchr::memchr(b'\\', self.bytes.get(at..).unwrap_or_default())
        {
            let (code_point, written) = escape_at(self.bytes, at + found);
            size = size - written + utf8_size(code_point);
            at += found + written;
        }
        size
    }

    /// The text in UTF-8; lone surrogates are written as if they were characters.
    pub(crate) fn utf8(self) -> Cow<'a, [u8]> {
        if !self.has_escapes {
            return Cow::Borrowed(self.bytes);
        }
        let mut out = Vec::with_capacity(self.bytes.len());
        let text = decode(self.bytes, usize::MAX);
        on_units!(text.as_text(), units => units.iter().for_each(|unit| push_utf8(&mut out, unit.code_point())));
        Cow::Owned(out)
    }
}

/// Add a code point in UTF-8, whatever it is.
fn push_utf8(out: &mut Vec<u8>, code_point: u32) {
    let mut buffer = [0; 4];
    if let Some(character) = char::from_u32(code_point) {
        out.extend_from_slice(character.encode_utf8(&mut buffer).as_bytes());
    } else {
        let bits = |shift: u32| u8::try_from(code_point >> shift & 0x3F).unwrap_or_default();
        out.extend_from_slice(&[0xE0 | bits(12), 0x80 | bits(6), 0x80 | bits(0)]);
    }
}

/// The text of ASCII with escapes, up to `count` code points.
fn ascii_start<'a>(bytes: &'a [u8], count: usize, bump: &'a Bump) -> Text<'a> {
    let room = bump.alloc_slice_fill_copy(bytes.len().min(count) + 2 * BLOCK, 0);
    match dispatch(Unescaping { bytes, count, room }) {
        Some(text) => Text::Latin1(text),
        None => keep(decode(bytes, count), bump),
    }
}

/// The work of copying ASCII without its escapes into room for as much and two blocks more. There is nothing to be had
/// where an escape stands for something else than ASCII.
struct Unescaping<'b, 'o> {
    bytes: &'b [u8],
    count: usize,
    room: &'o mut [u8],
}

impl<'o> Work for Unescaping<'_, 'o> {
    type Done = Option<&'o [u8]>;

    /// What stands between escapes is copied by whole blocks, of which the next one overwrites what is too much.
    #[inline(always)]
    fn run<L: Lanes>(self) -> Self::Done {
        let Self { bytes, count, room } = self;
        let (mut at, mut done, mut carry) = (0, 0, 0);
        let mut taken = 0; // bytes of the block that the last escape took
        while done < count
            && let Some(block) = bytes.get(at..).and_then(|rest| rest.first_chunk::<BLOCK>())
            && at + 2 * BLOCK <= bytes.len()
        {
            let backslashes = L::backslashes(block);
            let mut escapes = backslashes & !find_escaped(backslashes, &mut carry);
            while escapes != 0 {
                let escape = escapes.trailing_zeros() as usize;
                if escape >= taken {
                    copy_block(bytes, at + taken, room, done)?;
                    done += escape - taken;
                    let (byte, size) = ascii_at(bytes, at + escape)?;
                    *room.get_mut(done)? = byte;
                    done += 1;
                    taken = escape + size;
                }
                escapes &= escapes - 1;
            }
            if taken < BLOCK {
                copy_block(bytes, at + taken, room, done)?;
                done += BLOCK - taken;
                taken = BLOCK;
            }
            taken -= BLOCK;
            at += BLOCK;
        }
        at += taken;
        while done < count
            && let Some(byte) = bytes.get(at)
        {
            let (byte, size) = if *byte == b'\\' { ascii_at(bytes, at)? } else { (*byte, 1) };
            *room.get_mut(done)? = byte;
            done += 1;
            at += size;
        }
        room.get(..done.min(count))
    }
}

#[inline(always)]
fn copy_block(from: &[u8], at: usize, to: &mut [u8], done: usize) -> Option<()> {
    let block: &[u8; BLOCK] = from.get(at..)?.first_chunk()?;
    *to.get_mut(done..)?.first_chunk_mut()? = *block;
    Some(())
}

/// The ASCII character that is written as an escape at `at`, if it is one, and how many bytes it takes.
#[inline(always)]
fn ascii_at(bytes: &[u8], at: usize) -> Option<(u8, usize)> {
    let letter = bytes.get(at + 1).copied().unwrap_or_default();
    if letter == b'u' {
        let (unit, size) = unit_at(bytes, at);
        return Some((u8::try_from(unit).ok().filter(u8::is_ascii)?, size));
    }
    Some((ESCAPES.get(usize::from(letter)).copied().unwrap_or_default(), 2))
}

/// What a backslash and each byte stand for; nothing for `u` and for what may not stand there.
#[allow(clippy::indexing_slicing, clippy::cast_possible_truncation)] // in a constant, a wrong index doesn't compile
static ESCAPES: [u8; 256] = {
    let mut table = [0; 256];
    let mut index = 0;
    while index < table.len() {
        table[index] = match index as u8 {
            b'n' => b'\n',
            b't' => b'\t',
            b'r' => b'\r',
            b'b' => 0x08,
            b'f' => 0x0C,
            letter @ (b'"' | b'\\' | b'/') => letter,
            _ => 0,
        };
        index += 1;
    }
    table
};

/// The code point that is written as an escape at `at`, and how many bytes it takes.
#[inline]
fn escape_at(bytes: &[u8], at: usize) -> (u32, usize) {
    match bytes.get(at + 1).copied().unwrap_or_default() {
        b'u' => unit_at(bytes, at),
        letter => (u32::from(ESCAPES.get(usize::from(letter)).copied().unwrap_or_default()), 2),
    }
}

/// The code point that is written by its number at `at`, and how many bytes it takes.
#[inline(never)]
fn unit_at(bytes: &[u8], at: usize) -> (u32, usize) {
    let unit = hex4(bytes, at + 2).unwrap_or_default();
    match low_surrogate_at(bytes, at + 6).filter(|_| is_high_surrogate(unit)) {
        Some(low) => (0x1_0000 + ((unit - 0xD800) << 10) + (low - 0xDC00), 12),
        None => (unit, 6),
    }
}

/// Up to `count` code points of any string, in the narrowest units that hold them.
fn decode(bytes: &[u8], count: usize) -> OwnedText {
    let mut out = Vec::with_capacity(bytes.len().min(count));
    let mut widest = 0;
    let mut at = 0;
    while out.len() < count
        && let Some(byte) = bytes.get(at)
    {
        let (code_point, size) = match byte {
            b'\\' => escape_at(bytes, at),
            0..0x80 => (u32::from(*byte), 1),
            _ => character_at(bytes.get(at..).unwrap_or_default()),
        };
        widest |= code_point;
        out.push(code_point);
        at += size;
    }
    OwnedText::from_code_points(&out, widest)
}

/// The code point of several bytes with which these begin, and how many they are.
#[inline]
fn character_at(bytes: &[u8]) -> (u32, usize) {
    let tail = |byte: u8| u32::from(byte & 0x3F);
    match *bytes {
        [one @ 0xF0..=0xFF, two, three, four, ..] => {
            (u32::from(one & 0x07) << 18 | tail(two) << 12 | tail(three) << 6 | tail(four), 4)
        }
        [one @ 0xE0..=0xEF, two, three, ..] => (u32::from(one & 0x0F) << 12 | tail(two) << 6 | tail(three), 3),
        [one, two, ..] => (u32::from(one & 0x1F) << 6 | tail(two), 2),
        _ => (0xFFFD, 1),
    }
}

/// The nearest place at or before `at` where a character begins.
fn boundary(bytes: &[u8], at: usize) -> usize {
    let is_continuation = |at: &usize| bytes.get(*at).is_some_and(|byte| byte & 0xC0 == 0x80);
    let mut at = (0..=at).rev().find(|at| !is_continuation(at)).unwrap_or(0);
    // An escape takes six bytes at most: one that holds this place begins at the last backslash before it.
    for start in (at.saturating_sub(5)..at).rev() {
        if bytes.get(start) == Some(&b'\\') {
            if is_escape(bytes, start) && start + escape_at(bytes, start).1.min(6) > at {
                at = start;
            }
            break;
        }
    }
    // The second escape of a pair belongs to the first.
    let pair = at.checked_sub(6).filter(|_| low_surrogate_at(bytes, at).is_some());
    let is_pair = |start: &usize| {
        bytes.get(*start) == Some(&b'\\') && is_escape(bytes, *start) && escape_at(bytes, *start).1 == 12
    };
    pair.filter(is_pair).unwrap_or(at)
}

/// Whether the backslash at `at` begins an escape: those before it pair up.
fn is_escape(bytes: &[u8], at: usize) -> bool {
    let before = bytes.get(..at).unwrap_or_default();
    before.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 0
}

/// Text of our own, kept as long as the scan.
pub(crate) fn keep(text: OwnedText, bump: &Bump) -> Text<'_> {
    match text {
        OwnedText::Latin1(units) => Text::Latin1(bump.alloc_slice_copy(&units)),
        OwnedText::Ucs2(units) => Text::Ucs2(bump.alloc_slice_copy(&units)),
        OwnedText::Ucs4(units) => Text::Ucs4(bump.alloc_slice_copy(&units)),
    }
}
