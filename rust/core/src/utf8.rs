//! Between UTF-8 and units of one code point each. Lone surrogates are written as if they were characters, in three
//! bytes, where they are read from; nothing here checks.

use crate::text::{Unit, Width};

/// Most text is ASCII for long stretches: so many at once.
const STRETCH: usize = 16;

/// Whether a byte goes on with a character.
pub(crate) fn is_continuation(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

/// The start of the character at `at` or around it.
pub(crate) fn floor(bytes: &[u8], mut at: usize) -> usize {
    while at > 0 && bytes.get(at).is_some_and(|byte| is_continuation(*byte)) {
        at -= 1;
    }
    at
}

/// The start of the first character at `at` or after it.
pub(crate) fn ceil(bytes: &[u8], mut at: usize) -> usize {
    while bytes.get(at).is_some_and(|byte| is_continuation(*byte)) {
        at += 1;
    }
    at
}

/// How many code points.
pub(crate) fn count(bytes: &[u8]) -> usize {
    // The numbers of a stretch fit into a byte each, which lets many be counted at once.
    let begun = |stretch: &[u8]| stretch.iter().fold(0_u8, |count, byte| count + u8::from(!is_continuation(*byte)));
    bytes.chunks(192).map(|stretch| usize::from(begun(stretch))).sum()
}

/// The bytes of the first code points, so many or all.
pub(crate) fn prefix(bytes: &[u8], wanted: usize) -> &[u8] {
    if bytes.len() <= wanted {
        return bytes;
    }
    let (mut at, mut left) = (0, wanted);
    for stretch in bytes.chunks(4 * STRETCH) {
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

/// What the widest code point needs.
pub(crate) fn width(bytes: &[u8]) -> Width {
    match bytes.iter().fold(0, |widest, byte| widest.max(*byte)) {
        0..0x80 => Width::Ascii,
        0x80..0xC4 => Width::Latin1,
        0xC4..0xF0 => Width::Ucs2,
        0xF0.. => Width::Ucs4,
    }
}

/// Write the code points into room for as many, of a width that holds them.
pub(crate) fn decode<C: Unit>(bytes: &[u8], room: &mut [C]) {
    let (mut at, mut done) = (0, 0);
    while at < bytes.len() {
        let stretch = bytes.get(at..).and_then(|rest| rest.first_chunk::<STRETCH>());
        if let Some(stretch) = stretch.filter(|stretch| stretch.is_ascii())
            && let Some(own) = room.get_mut(done..).and_then(|rest| rest.first_chunk_mut::<STRETCH>())
        {
            for (unit, byte) in own.iter_mut().zip(stretch) {
                *unit = C::from_code_point(u32::from(*byte));
            }
            at += STRETCH;
            done += STRETCH;
            continue;
        }
        let end = bytes.len().min(at + STRETCH);
        while at < end {
            let (code_point, size) = character_at(bytes, at);
            if let Some(unit) = room.get_mut(done) {
                *unit = C::from_code_point(code_point);
            }
            at += size;
            done += 1;
        }
    }
}

/// The code point of the character that begins at `at`, and how many bytes it takes.
#[inline]
fn character_at(bytes: &[u8], at: usize) -> (u32, usize) {
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

/// How many bytes a code point takes; a lone surrogate takes three.
pub(crate) fn size(code_point: u32) -> usize {
    1 + usize::from(code_point >= 0x80) + usize::from(code_point >= 0x800) + usize::from(code_point >= 0x1_0000)
}

/// How many bytes code points take; a lone surrogate takes three.
pub(crate) fn len<C: Unit>(units: &[C]) -> usize {
    // The numbers of a stretch fit into 16 bits each, which lets many be added at once.
    let more = |unit: &C, least: u32| u16::from(unit.code_point() >= least);
    let size = |unit: &C| 1 + more(unit, 0x80) + more(unit, 0x800) + more(unit, 0x1_0000);
    units.chunks(4096).map(|stretch| usize::from(stretch.iter().map(size).sum::<u16>())).sum()
}

/// Write code points into room for their bytes; how many those are. A lone surrogate becomes U+FFFD.
pub(crate) fn encode<C: Unit>(units: &[C], room: &mut [u8]) -> usize {
    let mut done = 0;
    let (stretches, rest) = units.as_chunks::<STRETCH>();
    for stretch in stretches {
        let bits = stretch.iter().fold(0, |bits, unit| bits | unit.code_point());
        if bits < 0x80
            && let Some(own) = room.get_mut(done..).and_then(|rest| rest.first_chunk_mut::<STRETCH>())
        {
            for (byte, unit) in own.iter_mut().zip(stretch) {
                *byte = u8::from_code_point(unit.code_point());
            }
            done += STRETCH;
        } else {
            done += encode_each(stretch, room.get_mut(done..).unwrap_or_default());
        }
    }
    done + encode_each(rest, room.get_mut(done..).unwrap_or_default())
}

/// The same of a stretch at most, one after the other.
fn encode_each<C: Unit>(units: &[C], room: &mut [u8]) -> usize {
    let (mut bytes, mut size) = ([0; 5 * STRETCH], 0);
    for unit in units {
        let code_point = unit.code_point();
        let is_surrogate = (0xD800..0xE000).contains(&code_point);
        let (four, own) = bytes_of(if is_surrogate { 0xFFFD } else { code_point });
        if let Some(place) = bytes.get_mut(size..).and_then(|rest| rest.first_chunk_mut()) {
            *place = four;
        }
        size += own;
    }
    for (to, from) in room.iter_mut().zip(bytes.get(..size).unwrap_or_default()) {
        *to = *from;
    }
    size
}

/// The bytes of one code point, whatever it is, and how many of them count.
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
    use super::{count, decode, encode, prefix, size, width};
    use crate::text::Width;

    const SAMPLES: [&str; 7] =
        ["", "a", "abcdefghijklmnopqrstuvwxyz 0123456789 abcdefghijklmnopqrstuvwxyz", "é", "€uro", "😀", "\u{10ffff}"];

    fn texts() -> impl Iterator<Item = String> {
        let pairs = SAMPLES.iter().flat_map(|first| SAMPLES.map(|second| format!("{first}{second}{first}{first}")));
        pairs.flat_map(|text| [text.repeat(9), text])
    }

    #[test]
    fn what_is_decoded_and_encoded_is_the_same() {
        for text in texts() {
            let mut units = vec![0_u32; count(text.as_bytes())];
            decode(text.as_bytes(), &mut units);
            assert!(units.iter().copied().eq(text.chars().map(u32::from)), "{text}");
            assert_eq!(units.iter().map(|unit| size(*unit)).sum::<usize>(), text.len());
            let mut bytes = vec![0; text.len()];
            assert_eq!(encode(&units, &mut bytes), text.len());
            assert_eq!(bytes, text.as_bytes());
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
    fn the_widest_character_decides() {
        for (text, expected) in
            [("a\u{7f}", Width::Ascii), ("a\u{80}", Width::Latin1), ("\u{ff}", Width::Latin1), ("\u{100}", Width::Ucs2)]
        {
            assert_eq!(width(text.as_bytes()), expected);
        }
        assert_eq!((width("\u{ffff}".as_bytes()), width("\u{10000}".as_bytes())), (Width::Ucs2, Width::Ucs4));
    }
}
