//! Lines of a plain text, each with a sign before it, as a change shows them.

use super::plain::Plain;
use super::unescape::write_unescaped;
use crate::text::{OwnedText, Width};

/// Lines of a text that stays as it is written, each behind a sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signed<'a> {
    /// The lines, without the end of the last one.
    lines: Plain<'a>,
    sign: u8,
    count: usize,
}

impl<'a> Signed<'a> {
    /// The lines of a text, if its last line feed can be left out.
    pub(crate) fn of(text: Plain<'a>, sign: u8) -> Option<Self> {
        let lines = if text.ends_with_newline() { text.without_last()? } else { text };
        Some(Self { lines, sign, count: Lines(Some(lines.written())).count() })
    }

    /// How many code points: each line has a sign and an end.
    #[must_use]
    pub fn len(self) -> usize {
        self.lines.len() + self.count + 1
    }

    /// Whether there is no code point, which is never so.
    #[must_use]
    pub fn is_empty(self) -> bool {
        false
    }

    /// How many bytes they take in UTF-8.
    #[must_use]
    pub fn utf8_len(self) -> usize {
        self.lines.utf8_len() + self.count + 1
    }

    /// What the signs stand before, as it is written.
    #[must_use]
    pub fn lines(self) -> Plain<'a> {
        self.lines
    }

    /// The sign, in ASCII.
    #[must_use]
    pub fn sign(self) -> u8 {
        self.sign
    }

    /// What the widest code point needs.
    #[must_use]
    pub fn width(self) -> Width {
        self.lines.width()
    }

    /// Write the lines in UTF-8 into room for [`Signed::utf8_len`] bytes; how many it took. What stands in the room behind
    /// them may be overwritten.
    pub fn write_utf8(self, room: &mut [u8]) -> usize {
        write_signed(self.lines.written(), self.sign, room)
    }

    /// The lines, made.
    #[must_use]
    pub fn made(self) -> OwnedText {
        let mut bytes = vec![0; self.utf8_len()];
        self.write_utf8(&mut bytes);
        OwnedText::from_bytes(&bytes)
    }
}

/// Write lines as [`Signed`] has them; how many bytes there are, of which there may be too many for the room.
pub(super) fn write_signed(lines: &[u8], sign: u8, room: &mut [u8]) -> usize {
    let mut at = 0;
    for line in Lines(Some(lines)) {
        at += put(sign, room, at);
        at += write_unescaped(line, room.get_mut(at..).unwrap_or_default());
        at += put(b'\n', room, at);
    }
    at
}

fn put(byte: u8, room: &mut [u8], at: usize) -> usize {
    if let Some(own) = room.get_mut(at) {
        *own = byte;
    }
    1
}

/// The lines of a string, as it is written, without their ends.
struct Lines<'a>(Option<&'a [u8]>);

impl<'a> Iterator for Lines<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let lines = self.0.take()?;
        let mut from = 0;
        while let Some(found) = memchr::memchr(b'\\', lines.get(from..).unwrap_or_default()) {
            let at = from + found;
            if lines.get(at + 1) == Some(&b'n') {
                self.0 = lines.get(at + 2..);
                return lines.get(..at);
            }
            from = at + 2;
        }
        Some(lines)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test fails by panicking
mod tests {
    use bumpalo::Bump;

    use super::super::Scanned;
    use super::*;
    use crate::value::Value;

    #[test]
    fn each_line_has_a_sign_and_an_end() {
        let cases = [
            ("one", "+one\n"),
            ("one\\n", "+one\n"),
            ("one\\n\\n", "+one\n+\n"),
            ("\\n", "+\n"),
            ("\\n\\n", "+\n+\n"),
            ("one\\ntwo", "+one\n+two\n"),
            ("a \\\\n b\\\\\\n c", "+a \\n b\\\n+ c\n"),
            ("\\\"\\t\\/\\n\u{4e2d}\u{1f600}", "+\"\t/\n+\u{4e2d}\u{1f600}\n"),
        ];
        for (written, expected) in cases {
            let (document, bump) = (format!("\"{written}\""), Bump::new());
            let text = Scanned::parse(document.as_bytes(), &bump).unwrap().plain_start(usize::MAX).unwrap();
            let lines = Signed::of(text, b'+').unwrap();
            assert_eq!(lines.made().as_text().to_utf8(), expected);
            assert_eq!((lines.len(), lines.utf8_len()), (expected.chars().count(), expected.len()), "{expected:?}");
            let mut room = [b'?'; 8];
            assert_eq!(lines.write_utf8(&mut room), expected.len(), "too little room stops nothing");
        }
    }
}
