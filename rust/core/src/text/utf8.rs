//! Conversion between UTF-8 and units of one code point each. UTF-8 that is read may contain lone surrogates, encoded
//! in three bytes as if they were characters. Nothing is checked.

use super::graphemes::CodePoint;
use super::{Unit, Width, convert};
use crate::simd::{BLOCK, Lanes, Work, dispatch};

/// The number of characters that are read or written together if all are ASCII.
const CHARACTERS: usize = 16;

/// Return true if a byte continues a character.
pub(crate) fn is_continuation(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

/// Return the start of the character that contains the byte at `at`.
pub(crate) fn floor(bytes: &[u8], mut at: usize) -> usize {
    while at > 0 && bytes.get(at).is_some_and(|byte| is_continuation(*byte)) {
        at -= 1;
    }
    at
}

/// Return the start of the first character at or after `at`.
pub(crate) fn ceil(bytes: &[u8], mut at: usize) -> usize {
    while bytes.get(at).is_some_and(|byte| is_continuation(*byte)) {
        at += 1;
    }
    at
}

/// Return the number of code points.
pub(crate) fn count(bytes: &[u8]) -> usize {
    // The count of a stretch fits into a byte, so that many bytes can be counted together.
    let begun = |stretch: &[u8]| stretch.iter().fold(0_u8, |count, byte| count + u8::from(!is_continuation(*byte)));
    bytes.chunks(192).map(|stretch| usize::from(begun(stretch))).sum()
}

/// Return the bytes of the first `wanted` code points, or all.
pub(crate) fn prefix(bytes: &[u8], wanted: usize) -> &[u8] {
    if bytes.len() <= wanted {
        return bytes;
    }
    let (mut at, mut left) = (0, wanted);
    for stretch in bytes.chunks(BLOCK) {
        let size = count(stretch);
        if size > left {
            break;
        }
        left -= size;
        at += stretch.len();
    }
    let rest = bytes.get(at..).unwrap_or_default();
    let begins = rest.iter().enumerate().filter(|(_, byte)| !is_continuation(**byte));
    let end = begins.map(|(index, _)| index).nth(left).unwrap_or(rest.len());
    bytes.get(..at + end).unwrap_or(bytes)
}

/// Return the width of the widest code point.
pub(crate) fn width(bytes: &[u8]) -> Width {
    match bytes.iter().fold(0, |widest, byte| widest.max(*byte)) {
        0..0x80 => Width::Ascii,
        0x80..0xC4 => Width::Latin1,
        0xC4..0xF0 => Width::Ucs2,
        0xF0.. => Width::Ucs4,
    }
}

/// Decode UTF-8 into `room`, which has one wide enough unit for each code point.
pub(crate) fn decode<C: Unit>(bytes: &[u8], room: &mut [C]) {
    dispatch(Decoding { bytes, room });
}

struct Decoding<'b, 'o, C> {
    bytes: &'b [u8],
    room: &'o mut [C],
}

impl<C: Unit> Work for Decoding<'_, '_, C> {
    type Done = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Self { bytes, room } = self;
        let (mut at, mut done) = (0, 0);
        while let Some(block) = bytes.get(at..).and_then(|rest| rest.first_chunk()) {
            let rest = room.get_mut(done..).unwrap_or_default();
            if L::others(block).high == 0 {
                convert(block, rest);
                (at, done) = (at + BLOCK, done + BLOCK);
                continue;
            }
            let mut found = [0; CHARACTERS];
            let (count, size) = decode_some(block, &mut found);
            match rest.first_chunk_mut::<CHARACTERS>() {
                Some(own) => convert(&found, own), // surplus units are overwritten by the next ones
                None => convert(found.get(..count).unwrap_or_default(), rest),
            }
            (at, done) = (at + size, done + count);
        }
        while at < bytes.len() {
            let (code_point, size) = character_at(bytes, at);
            if let Some(unit) = room.get_mut(done) {
                *unit = C::from_code_point(code_point);
            }
            (at, done) = (at + size, done + 1);
        }
    }
}

/// Decode characters of a block, which begins with one, until `room` is full. Return the number of characters, and that
/// of their bytes. The last character of the block may be left out.
#[inline(always)]
fn decode_some(block: &[u8; BLOCK], room: &mut [u32; CHARACTERS]) -> (usize, usize) {
    if let Some(stretch) = block.first_chunk::<CHARACTERS>().filter(|stretch| stretch.is_ascii()) {
        *room = stretch.map(u32::from);
        return (CHARACTERS, CHARACTERS);
    }
    let (mut at, mut done) = (0, 0);
    for own in room {
        if at > BLOCK - 4 {
            break;
        }
        let (code_point, size) = character_at(block, at);
        *own = code_point;
        (at, done) = (at + size, done + 1);
    }
    (done, at)
}

/// Return the code point of the character that begins at `at`, and its length in bytes.
#[inline]
pub(crate) fn character_at(bytes: &[u8], at: usize) -> (u32, usize) {
    let rest = bytes.get(at..).unwrap_or_default();
    let four = rest.first_chunk().copied().unwrap_or_else(|| {
        let at = |index: usize| rest.get(index).copied().unwrap_or_default();
        [at(0), at(1), at(2), at(3)]
    });
    let [one, two, three, four] = four.map(|byte| u32::from(byte & 0x3F));
    match rest.first() {
        Some(byte @ 0..0x80) => (u32::from(*byte), 1),
        Some(0xE0..0xF0) => ((one & 0x0F) << 12 | two << 6 | three, 3),
        Some(0xF0..) => ((one & 0x07) << 18 | two << 12 | three << 6 | four, 4),
        _ => ((one & 0x1F) << 6 | two, 2),
    }
}

/// Return the number of bytes of a code point; a lone surrogate takes three.
pub(crate) fn size(code_point: u32) -> usize {
    1 + usize::from(code_point >= 0x80) + usize::from(code_point >= 0x800) + usize::from(code_point >= 0x1_0000)
}

/// Return the number of bytes of code points; a lone surrogate takes three.
pub(crate) fn len<C: Unit>(units: &[C]) -> usize {
    // The size of a stretch fits into 16 bits, so that many sizes can be added together.
    let more = |unit: &C, least: u32| u16::from(unit.code_point() >= least);
    let size = |unit: &C| 1 + more(unit, 0x80) + more(unit, 0x800) + more(unit, 0x1_0000);
    units.chunks(4096).map(|stretch| usize::from(stretch.iter().map(size).sum::<u16>())).sum()
}

/// Encode code points in `room`, which is large enough, and return the number of bytes. A lone surrogate becomes
/// U+FFFD.
pub(crate) fn encode<C: Unit>(units: &[C], room: &mut [u8]) -> usize {
    dispatch(Encoding { units, room })
}

struct Encoding<'u, 'o, C> {
    units: &'u [C],
    room: &'o mut [u8],
}

impl<C: Unit> Work for Encoding<'_, '_, C> {
    type Done = usize;

    #[inline(always)]
    fn run<L: Lanes>(self) -> usize {
        let Self { units, room } = self;
        let mut done = 0;
        let (stretches, last) = units.as_chunks::<CHARACTERS>();
        for stretch in stretches {
            let code_points = stretch.map(CodePoint::code_point);
            let rest = room.get_mut(done..).unwrap_or_default();
            done += match rest.first_chunk_mut() {
                Some(own) => encode_some(&code_points, own),
                None => encode_into(&code_points, rest),
            };
        }
        for unit in last {
            let rest = room.get_mut(done..).unwrap_or_default();
            done += encode_into(&[unit.code_point()], rest);
        }
        done
    }
}

/// Encode code points one by one, and return the number of bytes.
fn encode_into(code_points: &[u32], room: &mut [u8]) -> usize {
    let mut done = 0;
    for code_point in code_points {
        let is_surrogate = (0xD800..0xE000).contains(code_point);
        let (four, size) = bytes_of(if is_surrogate { 0xFFFD } else { *code_point });
        let rest = room.get_mut(done..).unwrap_or_default();
        rest.iter_mut().zip(four).take(size).for_each(|(own, byte)| *own = byte);
        done += size;
    }
    done
}

/// Encode code points together if all are ASCII, otherwise one by one, and return the number of bytes.
#[inline(always)]
fn encode_some(code_points: &[u32; CHARACTERS], room: &mut [u8; BLOCK]) -> usize {
    let is_ascii = code_points.iter().fold(0, |bits, code_point| bits | code_point) < 0x80;
    match room.first_chunk_mut::<CHARACTERS>().filter(|_| is_ascii) {
        Some(own) => {
            convert(code_points, own);
            CHARACTERS
        }
        None => encode_into(code_points, room),
    }
}

/// Return the bytes of a code point, whatever it is, and how many of them count.
#[inline]
pub(crate) fn bytes_of(code_point: u32) -> ([u8; 4], usize) {
    let tail = |shift: u32| 0x80 | code_point >> shift & 0x3F;
    let bytes = match code_point {
        0..0x80 => code_point,
        0x80..0x800 => 0xC0 | code_point >> 6 | tail(0) << 8,
        0x800..0x1_0000 => 0xE0 | code_point >> 12 | tail(6) << 8 | tail(0) << 16,
        _ => 0xF0 | code_point >> 18 | tail(12) << 8 | tail(6) << 16 | tail(0) << 24,
    };
    (bytes.to_le_bytes(), size(code_point))
}

#[cfg(test)]
mod tests {
    use super::{CHARACTERS, Decoding, Encoding, count, decode, decode_some, encode, encode_some, prefix, size, width};
    use crate::simd::{BLOCK, Scalar, Work};
    use crate::text::Width;

    const SAMPLES: [&str; 7] =
        ["", "a", "abcdefghijklmnopqrstuvwxyz 0123456789 abcdefghijklmnopqrstuvwxyz", "é", "€uro", "😀", "\u{10ffff}"];

    fn texts() -> impl Iterator<Item = String> {
        let pairs = SAMPLES.iter().flat_map(|first| SAMPLES.map(|second| format!("{first}{second}{first}{first}")));
        pairs.flat_map(|text| [text.repeat(9), text])
    }

    /// The scalar lanes are tested, too.
    #[test]
    fn encoding_reverses_decoding() {
        for text in texts() {
            let mut units = vec![0_u32; count(text.as_bytes())];
            let mut twins = units.clone();
            decode(text.as_bytes(), &mut units);
            Decoding { bytes: text.as_bytes(), room: &mut twins }.run::<Scalar>();
            assert!(units.iter().copied().eq(text.chars().map(u32::from)), "{text}");
            assert_eq!(units, twins);
            assert_eq!(units.iter().map(|unit| size(*unit)).sum::<usize>(), text.len());
            let (mut bytes, mut others) = (vec![0; text.len()], vec![0; text.len()]);
            assert_eq!(encode(&units, &mut bytes), text.len());
            assert_eq!(Encoding { units: &units, room: &mut others }.run::<Scalar>(), text.len());
            assert_eq!(bytes, text.as_bytes());
            assert_eq!(bytes, others);
        }
    }

    #[test]
    fn a_prefix_ends_between_characters() {
        for text in texts() {
            for wanted in 0..text.chars().count() + 2 {
                let expected: String = text.chars().take(wanted).collect();
                assert_eq!(prefix(text.as_bytes(), wanted), expected.as_bytes());
            }
        }
    }

    #[test]
    fn the_widest_character_decides_the_width() {
        for (text, expected) in
            [("a\u{7f}", Width::Ascii), ("a\u{80}", Width::Latin1), ("\u{ff}", Width::Latin1), ("\u{100}", Width::Ucs2)]
        {
            assert_eq!(width(text.as_bytes()), expected);
        }
        assert_eq!((width("\u{ffff}".as_bytes()), width("\u{10000}".as_bytes())), (Width::Ucs2, Width::Ucs4));
    }

    /// Blocks that mix characters of every length, including the first and the last of each length.
    fn characters() -> impl Iterator<Item = String> {
        let all = ["a", "\u{7f}", "\u{80}", "é", "\u{7ff}", "\u{800}", "€", "\u{ffff}", "\u{10000}", "\u{10ffff}"];
        all.into_iter().flat_map(move |first| {
            all.into_iter().flat_map(move |second| {
                (0..=CHARACTERS + 1).map(move |size| [first.repeat(size), second.repeat(BLOCK)].concat())
            })
        })
    }

    #[test]
    fn characters_of_a_block_are_decoded_and_encoded() {
        for text in characters() {
            let (mut room, mut bytes) = ([0; CHARACTERS], [0; BLOCK]);
            let Some(block) = text.as_bytes().first_chunk() else { unreachable!("a block of characters") };
            let (count, size) = decode_some(block, &mut room);
            assert!(count == CHARACTERS || size > BLOCK - 4, "{count} of {text}");
            assert!(
                room.iter().copied().eq(text.chars().take(CHARACTERS).map(u32::from)) || count < CHARACTERS,
                "{text}"
            );
            let expected: String = text.chars().take(count).collect();
            assert_eq!(size, expected.len());
            let written = encode_some(&room, &mut bytes);
            assert_eq!(bytes.get(..size), Some(expected.as_bytes()));
            assert!(count < CHARACTERS || written == size);
        }
        let surrogates = [0xD7FF, 0xD800, 0xDBFF, 0xDC00, 0xDFFF, 0xE000, 0, 0x7F].repeat(2);
        let mut bytes = [0; BLOCK];
        let size = encode_some(surrogates.first_chunk().unwrap_or(&[0; CHARACTERS]), &mut bytes);
        let expected = "\u{d7ff}\u{fffd}\u{fffd}\u{fffd}\u{fffd}\u{e000}\0\u{7f}".repeat(2);
        assert_eq!(bytes.get(..size), Some(expected.as_bytes()));
    }
}
