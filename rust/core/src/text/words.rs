//! Estimated tokens and words of a line, by which the lines with the most new words are chosen.
//!
//! A word is a number here, given by a hash that does not depend on how a text is stored.

use std::ops::Range;

use ahash::AHashMap;

use super::Unit;

const SHORTEST_WORD: usize = 6;

const ALPHA: u8 = 1;
const DIGIT: u8 = 2;
const BLANK: u8 = 3;
const SIGN: u8 = 4;
const OTHER: u8 = 5;
/// The bits of a class that hold one of the kinds above.
const KIND: u8 = 7;
/// The bit of a character that may begin a word.
const LETTER: u8 = 8;
/// The bit of a character that may be in a word.
const WORD: u8 = 16;

/// The classes of the first characters. The ranges of letters are those of the reference.
#[allow(clippy::indexing_slicing, clippy::cast_possible_truncation)] // evaluated by the compiler
static CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut code = 0;
    while code < 256 {
        let unit = code as u8;
        classes[code] = match unit {
            b'A'..=b'Z' | b'a'..=b'z' => ALPHA | LETTER | WORD,
            b'0'..=b'9' => DIGIT | WORD,
            b' ' | b'\t' => BLANK,
            b'_' => SIGN | LETTER | WORD,
            b'.' | b'/' | b':' | b'@' | b'#' | b'-' => SIGN | WORD,
            b'!'..=b'~' => SIGN,
            0xC0.. => OTHER | LETTER | WORD,
            0x80.. => OTHER,
            _ => 0,
        };
        code += 1;
    }
    classes
};

fn class_of(code_point: u32) -> u8 {
    match CLASSES.get(code_point as usize) {
        Some(class) => *class,
        None => match code_point {
            0x2000..=0x2BFF | 0x3000..=0x303F | 0xFF00..=0xFF0F => OTHER,
            _ => OTHER | LETTER | WORD,
        },
    }
}

/// Return the tokens of a run of characters of one kind.
fn run_tokens(kind: u8, size: usize) -> usize {
    match kind {
        _ if size == 0 => 0,
        ALPHA => 1 + (size - 1) / 7,
        BLANK => usize::from(size > 1),
        DIGIT | SIGN => size.div_ceil(3),
        OTHER => size,
        _ => 0,
    }
}

const SEED: u64 = 0x51_7C_C1_B7_27_22_0A_95;

/// Return a hash of the characters, eight at a time.
pub(crate) fn hash_of<C: Unit>(units: &[C]) -> u64 {
    let hashed = |hash: u64, chunk: &[C]| {
        let packed =
            chunk.iter().rev().fold(0, |packed: u64, unit| packed.rotate_left(8) ^ u64::from(unit.code_point()));
        (hash.rotate_left(5) ^ packed).wrapping_mul(SEED)
    };
    let chunks = units.chunks_exact(8);
    let rest = chunks.remainder();
    let hash = chunks.fold(SEED ^ units.len() as u64, hashed);
    if rest.is_empty() { hash } else { hashed(hash, rest) }
}

/// Return about how many tokens a line has, its line feed included.
pub(crate) fn estimate<C: Unit>(units: &[C]) -> usize {
    let (mut tokens, mut last, mut rest) = (1, 0, units);
    while let Some(first) = rest.first() {
        last = class_of(first.code_point()) & KIND;
        let size = rest.iter().position(|unit| class_of(unit.code_point()) & KIND != last).unwrap_or(rest.len());
        tokens += run_tokens(last, size);
        rest = rest.get(size..).unwrap_or_default();
    }
    (tokens - usize::from(last == SIGN || last == OTHER)).max(1)
}

/// The words of all lines, as numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Words {
    pub(crate) numbers: AHashMap<u64, u32>,
    /// The words of the lines, line by line.
    pub(crate) of_lines: Vec<u32>,
    /// The last line that has each word, to list it once.
    pub(crate) last_line: Vec<u32>,
    /// True for a word that a line that is taken has.
    pub(crate) is_known: Vec<bool>,
    /// The last pick that found each word.
    pub(crate) found: Vec<u32>,
    pub(crate) line: u32,
    pub(crate) pick: u32,
}

impl Words {
    fn add(&mut self, hash: u64) {
        let next = u32::try_from(self.last_line.len()).unwrap_or(u32::MAX);
        let number = *self.numbers.entry(hash).or_insert(next);
        if number == next {
            self.last_line.push(0);
            self.is_known.push(false);
            self.found.push(0);
        }
        if let Some(last) = self.last_line.get_mut(number as usize)
            && *last != self.line
        {
            *last = self.line;
            self.of_lines.push(number);
        }
    }

    /// List the words of a line.
    pub(crate) fn read<C: Unit>(&mut self, units: &[C]) {
        self.line += 1;
        let mut rest = units;
        while let Some(start) = rest.iter().position(|unit| class_of(unit.code_point()) & LETTER != 0) {
            rest = rest.get(start..).unwrap_or_default();
            let size = rest.iter().position(|unit| class_of(unit.code_point()) & WORD == 0).unwrap_or(rest.len());
            let (word, after) = rest.split_at(size);
            if size >= SHORTEST_WORD {
                self.add(hash_of(word));
            }
            rest = after;
        }
    }

    pub(crate) fn of(&self, words: &Range<usize>) -> &[u32] {
        self.of_lines.get(words.clone()).unwrap_or_default()
    }

    fn is_new(&self, word: u32) -> bool {
        self.is_known.get(word as usize).is_some_and(|is_known| !is_known)
    }

    pub(crate) fn learn(&mut self, words: &Range<usize>) {
        for word in self.of_lines.get(words.clone()).unwrap_or_default() {
            if let Some(is_known) = self.is_known.get_mut(*word as usize) {
                *is_known = true;
            }
        }
    }

    /// Return how many words of a line no line that is taken has, and how many of these this pick has not found.
    pub(crate) fn count_new(&self, words: &Range<usize>) -> (usize, usize) {
        let (mut new, mut fresh) = (0, 0);
        for word in self.of(words) {
            if self.is_new(*word) {
                new += 1;
                fresh += usize::from(self.found.get(*word as usize) != Some(&self.pick));
            }
        }
        (new, fresh)
    }

    pub(crate) fn find(&mut self, words: &Range<usize>) {
        for word in self.of_lines.get(words.clone()).unwrap_or_default() {
            if let Some(found) = self.found.get_mut(*word as usize) {
                *found = self.pick;
            }
        }
    }
}
