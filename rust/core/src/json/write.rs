//! Text as a JSON string, in the form that orjson writes: no escapes that are not required.

use crate::simd::{BLOCK, Lanes, Work, block_at, copy_block, dispatch};
use crate::text::graphemes::CodePoint;
use crate::text::{OwnedText, Text, on_units};

/// The maximum number of bytes of an escaped block.
const LONGEST: usize = 6 * BLOCK;

/// Append a string in quotes.
pub(crate) fn push_string(out: &mut Vec<u8>, text: Text<'_>) {
    out.push(b'"');
    push_escaped(out, text);
    out.push(b'"');
}

/// Append the text between the quotes of a string. Lone surrogates, which UTF-8 can't hold, are escaped.
pub(crate) fn push_escaped(out: &mut Vec<u8>, text: Text<'_>) {
    let mut rest = text;
    while let Some((at, unit)) = lone_surrogate(rest) {
        push_well_formed(out, rest.slice(0, at));
        out.extend_from_slice(format!("\\u{unit:04x}").as_bytes());
        rest = rest.slice(at + 1, rest.len());
    }
    push_well_formed(out, rest);
}

/// Return the index of the first lone surrogate, and the surrogate.
fn lone_surrogate(text: Text<'_>) -> Option<(usize, u32)> {
    if matches!(text, Text::Latin1(_)) {
        return None;
    }
    let is_lone = |(_, unit): &(usize, u32)| (0xD800..0xE000).contains(unit);
    on_units!(text, units => units.iter().map(|unit| unit.code_point()).enumerate().find(is_lone))
}

/// Append a string without lone surrogates.
fn push_well_formed(out: &mut Vec<u8>, text: Text<'_>) {
    if let Text::Latin1(bytes) = text
        && bytes.is_ascii()
    {
        return dispatch(Escaping { bytes, out });
    }
    let mut bytes = vec![0; text.utf8_len()];
    text.write_utf8(&mut bytes);
    dispatch(Escaping { bytes: &bytes, out });
}

struct Escaping<'e> {
    bytes: &'e [u8],
    out: &'e mut Vec<u8>,
}

impl Work for Escaping<'_> {
    type Done = ();

    /// Copy the text between two escapes as a whole block; the next copy overwrites the surplus.
    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Self { bytes, out } = self;
        let mut done = out.len();
        out.resize(done + bytes.len() + bytes.len() / 8 + 2 * LONGEST, 0);
        let mut padded = [0; BLOCK];
        for at in (0..bytes.len()).step_by(BLOCK) {
            if out.len() < done + LONGEST + BLOCK {
                out.resize(2 * out.len(), 0);
            }
            let size = BLOCK.min(bytes.len() - at);
            let block = block_at(bytes, at, &mut padded);
            let masks = L::masks(block);
            let controls = if masks.others == 0 { 0 } else { masks.others & !L::others(block).high };
            let mut special = (masks.quotes | masks.backslashes | controls) & (u64::MAX >> (BLOCK - size));
            let mut taken = 0;
            while special != 0 {
                let place = special.trailing_zeros() as usize;
                special &= special - 1;
                copy_block(bytes, at + taken, out, done);
                done += place - taken;
                done += write_escape(
                    block.get(place).copied().unwrap_or_default(),
                    out.get_mut(done..).unwrap_or_default(),
                );
                taken = place + 1;
            }
            copy_block(bytes, at + taken, out, done);
            done += size - taken;
        }
        out.truncate(done);
    }
}

/// Write the escape of a byte, and return its length.
#[inline(always)]
fn write_escape(byte: u8, room: &mut [u8]) -> usize {
    let letter = match byte {
        0x08 => b'b',
        0x09 => b't',
        0x0A => b'n',
        0x0C => b'f',
        0x0D => b'r',
        b'"' | b'\\' => byte,
        _ => {
            let hex = |digit: u8| if digit < 10 { b'0' + digit } else { b'a' + digit - 10 };
            let escape = [b'\\', b'u', b'0', b'0', hex(byte >> 4), hex(byte & 0x0F)];
            if let Some(own) = room.first_chunk_mut() {
                *own = escape;
            }
            return escape.len();
        }
    };
    if let Some(own) = room.first_chunk_mut() {
        *own = [b'\\', letter];
    }
    2
}

/// Append a string in quotes.
pub fn push_quoted(out: &mut OwnedText, text: Text<'_>) {
    out.push_ascii("\"");
    let mut start = 0;
    while let Some(at) = next_escaped(text, start) {
        out.push(text.slice(start, at));
        start = at + 1;
        match text.get(at).unwrap_or_default() {
            0x08 => out.push_ascii("\\b"),
            0x09 => out.push_ascii("\\t"),
            0x0A => out.push_ascii("\\n"),
            0x0C => out.push_ascii("\\f"),
            0x0D => out.push_ascii("\\r"),
            0x22 => out.push_ascii("\\\""),
            0x5C => out.push_ascii("\\\\"),
            other => out.push_ascii(&format!("\\u{other:04x}")),
        }
    }
    out.push(text.slice(start, text.len()));
    out.push_ascii("\"");
}

/// Return the index of the next code point that has to be escaped.
fn next_escaped(text: Text<'_>, from: usize) -> Option<usize> {
    let is_escaped = |code_point: u32| code_point < 0x20 || code_point == 0x22 || code_point == 0x5C;
    on_units!(text, units => {
        let rest = units.get(from..).unwrap_or_default();
        rest.iter().position(|unit| is_escaped(unit.code_point())).map(|at| from + at)
    })
}

#[cfg(test)]
mod tests {
    use super::push_string;
    use crate::text::{OwnedText, Text};

    #[track_caller]
    fn check(text: Text<'_>, expected: &str) {
        let mut out = b"x".to_vec();
        push_string(&mut out, text);
        assert_eq!(String::from_utf8_lossy(&out), format!("x{expected}"));
    }

    #[test]
    fn strings_are_written_as_by_serde() {
        let every: String = (0..0x2_0000).filter_map(char::from_u32).collect();
        for start in 0..130 {
            for unit in ["a", "\n", "\"", "\u{1}", "é", "€", "😀", "\u{7f}"] {
                let text = format!("{}{unit}{}", "a".repeat(start), &every[..300]);
                let own = OwnedText::from_utf8(&text);
                check(own.as_text(), &serde_json::to_string(&text).unwrap_or_default());
            }
        }
        let own = OwnedText::from_utf8(&every);
        check(own.as_text(), &serde_json::to_string(&every).unwrap_or_default());
        let controls = "\u{1}".repeat(1_000);
        check(Text::ascii(&controls), &serde_json::to_string(&controls).unwrap_or_default());
    }

    #[test]
    fn lone_surrogates_are_escaped() {
        let units = [0x61, 0xD83D, 0x20AC, 0xDE00];
        check(Text::Ucs2(&units), "\"a\\ud83d€\\ude00\"");
    }
}
