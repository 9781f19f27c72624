//! Text in few bytes: what contexts say often is one byte, a number a few, a part of the input where it stands there; all
//! else stands as it is.
//!
//! It is what an output keeps between parts of the input, and all that there is beside a context while it is written.

use std::ops::Range;

use crate::grouped::with_grouped;
use crate::phrases::{MOST, Phrase};

/// A byte from here on says how many behind it are spelled out; none, that nothing is said.
const SPELLED: u8 = 0x80;
const LONGEST_SPELLED: usize = 0x7F;
/// What other things begin with: a longer text, a number, parts of the input. Below are the phrases.
const TEXT: u8 = 0x7F;
const NUMBER: u8 = 0x7E;
const AS_IT_STANDS: u8 = 0x7D;
const ESCAPED: u8 = 0x7C;
const SIGNED: u8 = 0x7B;
const _: () = assert!(MOST <= SIGNED as usize);

/// What all that is said but a text takes at most.
pub(crate) const LONGEST_WORD: usize = 16;

/// What is said in few bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shorthand(Vec<u8>);

impl Shorthand {
    /// Nothing, with room for so many bytes.
    pub(crate) fn with_room(size: usize) -> Self {
        Self(Vec::with_capacity(size))
    }

    /// How many bytes it takes.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Forget all but the first bytes.
    pub(crate) fn truncate(&mut self, size: usize) {
        self.0.truncate(size);
    }

    /// Say a text. Of one that is known when this is compiled, it is known what phrase it is.
    #[inline(always)]
    pub(crate) fn say(&mut self, text: &[u8]) {
        if text.is_empty() {
            return;
        }
        match Phrase::of(text) {
            Some(phrase) => self.0.push(phrase.number()),
            None => self.spell(text),
        }
    }

    /// Say a text that is no phrase.
    #[inline(never)]
    pub(crate) fn spell(&mut self, text: &[u8]) {
        self.push_size(text.len());
        self.0.extend_from_slice(text);
    }

    /// Say a text of so many bytes, all of which are written by `write`.
    pub(crate) fn write(&mut self, size: usize, write: impl FnOnce(&mut [u8])) {
        self.push_size(size);
        let start = self.0.len();
        self.0.resize(start + size, 0);
        write(self.0.get_mut(start..).unwrap_or_default());
    }

    fn push_size(&mut self, size: usize) {
        if size <= LONGEST_SPELLED {
            self.0.push(SPELLED | size.to_le_bytes()[0]);
        } else {
            self.0.push(TEXT);
            self.push_digits(size);
        }
    }

    /// Take no more room than there is need for.
    pub(crate) fn shrink(&mut self) {
        self.0.shrink_to_fit();
    }

    /// Say a number with commas.
    pub(crate) fn say_number(&mut self, number: usize) {
        self.0.push(NUMBER);
        self.push_digits(number);
    }

    /// Say what stands in the input.
    pub(crate) fn say_part(&mut self, start: u32, size: usize, reading: Reading) {
        let [one, two, three, four] = start.to_le_bytes();
        let first = match reading {
            Reading::AsItStands => AS_IT_STANDS,
            Reading::Escaped => ESCAPED,
            Reading::Signed(sign) => {
                self.0.push(SIGNED);
                sign
            }
        };
        self.0.extend_from_slice(&[first, one, two, three, four]);
        self.push_digits(size);
    }

    /// Add bytes as they are: what other shorthand says, or, where nothing is to be in shorthand, a text.
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// Seven bits a byte, the lowest first, the highest bit where there are more.
    fn push_digits(&mut self, mut number: usize) {
        while number >= 0x80 {
            self.0.push(number.to_le_bytes()[0] | 0x80);
            number >>= 7;
        }
        self.0.push(number.to_le_bytes()[0]);
    }

    /// What is said in some of the bytes.
    pub(crate) fn get(&self, bytes: Range<usize>) -> &[u8] {
        self.0.get(bytes).unwrap_or_default()
    }
}

/// How a part of the input is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    AsItStands,
    /// As a part of a JSON string.
    Escaped,
    /// The same, with a sign before each line.
    Signed(u8),
}

/// What is done with what is said.
pub(crate) trait Listener {
    fn text(&mut self, text: &[u8]);

    #[inline(always)]
    fn phrase(&mut self, phrase: Phrase) {
        self.text(phrase.text());
    }

    /// A number with commas.
    fn number(&mut self, number: usize) {
        with_grouped(number, |digits| self.text(digits));
    }

    fn part(&mut self, range: Range<usize>, reading: Reading);
}

/// Tell all that is said.
#[inline(always)]
pub(crate) fn tell(mut said: &[u8], listener: &mut impl Listener) {
    while let Some((first, rest)) = said.split_first() {
        said = rest;
        match *first {
            SPELLED.. => listener.text(take_text(&mut said, usize::from(first - SPELLED))),
            TEXT => {
                let size = take_digits(&mut said);
                listener.text(take_text(&mut said, size));
            }
            NUMBER => listener.number(take_digits(&mut said)),
            AS_IT_STANDS | ESCAPED | SIGNED => {
                let reading = match *first {
                    AS_IT_STANDS => Reading::AsItStands,
                    ESCAPED => Reading::Escaped,
                    _ => Reading::Signed(take_text(&mut said, 1).first().copied().unwrap_or_default()),
                };
                let (start, rest) = said.split_first_chunk().unwrap_or((&[0; 4], &[]));
                said = rest;
                let start = u32::from_le_bytes(*start) as usize;
                listener.part(start..start + take_digits(&mut said), reading);
            }
            number => listener.phrase(Phrase::numbered(number)),
        }
    }
}

#[inline(always)]
fn take_text<'s>(said: &mut &'s [u8], size: usize) -> &'s [u8] {
    let (text, rest) = said.split_at_checked(size).unwrap_or_default();
    *said = rest;
    text
}

#[inline(always)]
fn take_digits(said: &mut &[u8]) -> usize {
    let (mut number, mut shift) = (0, 0);
    while let Some((first, rest)) = said.split_first() {
        *said = rest;
        number |= usize::from(first & 0x7F) << shift;
        shift += 7;
        if *first < 0x80 || shift >= usize::BITS {
            break;
        }
    }
    number
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Heard {
        text: String,
        parts: Vec<(Range<usize>, Reading)>,
    }

    impl Listener for Heard {
        fn text(&mut self, text: &[u8]) {
            self.text += &String::from_utf8_lossy(text);
        }

        fn part(&mut self, range: Range<usize>, reading: Reading) {
            self.text += "<part>";
            self.parts.push((range, reading));
        }
    }

    fn heard(said: &Shorthand) -> Heard {
        let mut heard = Heard::default();
        tell(said.get(0..said.len()), &mut heard);
        heard
    }

    #[test]
    fn texts_of_every_length_are_told() {
        for size in (0..300).chain([70_000]) {
            let text = "x".repeat(size);
            let mut said = Shorthand::default();
            said.say(b"### ");
            said.say(text.as_bytes());
            said.write(size, |room| room.fill(b'y'));
            said.say(b"\n");
            assert_eq!(heard(&said).text, format!("### {text}{}\n", "y".repeat(size)));
        }
    }

    #[test]
    fn numbers_and_parts_are_told() {
        let numbers = [0, 1, 127, 128, 999, 1_000, 16_383, 16_384, u32::MAX as usize, usize::MAX];
        for number in numbers {
            let mut said = Shorthand::default();
            said.say_number(number);
            assert_eq!(heard(&said).text.replace(',', ""), number.to_string());
        }
        let readings = [Reading::AsItStands, Reading::Escaped, Reading::Signed(b'+')];
        for (start, size) in [(0, 0), (1, 127), (255, 128), (1 << 24, 70_000), (u32::MAX, 1 << 31)] {
            let mut said = Shorthand::default();
            for reading in readings {
                said.say_part(start, size, reading);
                said.say(b"\n");
            }
            assert!(said.len() <= readings.len() * (LONGEST_WORD + 1));
            let Heard { text, parts } = heard(&said);
            assert_eq!(text, "<part>\n".repeat(3));
            let range = start as usize..start as usize + size;
            assert_eq!(parts, readings.map(|reading| (range.clone(), reading)));
        }
    }

    #[test]
    fn a_block_takes_few_bytes() {
        let mut said = Shorthand::default();
        let marker = ["\n... [truncated: ", " of ", " characters shown; whole: ", "]", "\n```\n\n"];
        for text in ["### ", "\n", "```", "python", "\n"].iter().chain(&marker) {
            said.say(text.as_bytes());
        }
        assert_eq!(said.len(), 10);
    }

    #[test]
    fn shorthand_that_breaks_off_stops_nothing() {
        let mut said = Shorthand::default();
        said.spell(&[b'x'; 200]);
        said.say_number(1_000);
        said.say_part(1 << 20, 1_000, Reading::Signed(b'-'));
        for size in 0..said.len() {
            tell(said.get(0..size), &mut Heard::default());
        }
    }
}
