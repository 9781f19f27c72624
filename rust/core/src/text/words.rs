//! Estimated tokens and words of a line, by which the lines with the most new words are chosen.
//!
//! A word is a number here, given by a hash that does not depend on how a text is stored.

use std::ops::Range;

use ahash::AHashMap;

use super::{Text, Unit};
use crate::simd::{BLOCK, Lanes, Others, Work, block_at, dispatch};

const SHORTEST_WORD: usize = 6;
/// About how many letters a token has.
const LETTERS: usize = 7;
/// About how many digits, or signs, a token has.
const SIGNS: usize = 3;

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

/// The classes of the first characters. The ranges of letters are those of the fallback.
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
        ALPHA => 1 + (size - 1) / LETTERS,
        BLANK => usize::from(size > 1),
        DIGIT | SIGN => size.div_ceil(SIGNS),
        OTHER => size,
        _ => 0,
    }
}

const SEED: u64 = 0x51_7C_C1_B7_27_22_0A_95;

fn hash_with(hash: u64, packed: u64) -> u64 {
    (hash.rotate_left(5) ^ packed).wrapping_mul(SEED)
}

/// Return a hash of the characters, eight at a time.
pub(crate) fn hash_of<C: Unit>(units: &[C]) -> u64 {
    let hashed = |hash: u64, chunk: &[C]| {
        let pack = |packed: u64, unit: &C| packed.rotate_left(8) ^ u64::from(unit.code_point());
        hash_with(hash, chunk.iter().rev().fold(0, pack))
    };
    let chunks = units.chunks_exact(8);
    let rest = chunks.remainder();
    let hash = chunks.fold(SEED ^ units.len() as u64, hashed);
    if rest.is_empty() { hash } else { hashed(hash, rest) }
}

/// Return the hash of a word of characters up to U+00FF. It is that of the same word in wider units.
fn hash_of_word(units: &[u8]) -> u64 {
    let (chunks, rest) = units.as_chunks::<8>();
    let hash = chunks.iter().fold(SEED ^ units.len() as u64, |hash, chunk| hash_with(hash, u64::from_le_bytes(*chunk)));
    match (rest.len(), units.last_chunk::<8>()) {
        (0, _) => hash,
        (size, Some(last)) => hash_with(hash, u64::from_le_bytes(*last) >> (u64::BITS as usize - 8 * size)),
        _ => hash_of(units),
    }
}

/// Return the tokens of a stretch without a break.
fn tokens_of(units: &[u8]) -> usize {
    let (mut tokens, mut rest) = (0, units);
    while let Some(first) = rest.first() {
        let kind = kind_of(*first);
        let size = rest.iter().position(|unit| kind_of(*unit) != kind).unwrap_or(rest.len());
        tokens += run_tokens(kind, size);
        rest = rest.get(size..).unwrap_or_default();
    }
    tokens
}

fn kind_of(unit: u8) -> u8 {
    class_of(u32::from(unit)) & KIND
}

/// Return true if neither a run of characters of one kind nor a word goes on from one character to the next.
fn is_break(before: u8, after: u8) -> bool {
    let (before, after) = (class_of(u32::from(before)), class_of(u32::from(after)));
    before & KIND != after & KIND && before & after & WORD == 0
}

/// The signs that may be in a word, each at the index of its low four bits; an underline is missing.
const WORD_SIGNS: [u8; 16] = [b'@', 0, 0, b'#', 0, 0, 0, 0, 0, 0, b':', 0, 0, b'-', b'.', b'/'];

/// The kinds of the characters of a block, one bit for each character.
#[derive(Clone, Copy)]
struct Kinds {
    alpha: u64,
    digit: u64,
    blank: u64,
    sign: u64,
    other: u64,
    letter: u64,
    word: u64,
}

impl Kinds {
    #[inline(always)]
    fn of<L: Lanes>(block: &[u8; BLOCK], size: usize) -> Self {
        let among = if size < BLOCK { (1 << size) - 1 } else { u64::MAX };
        let alpha = L::between(block, b'A', b'Z') | L::between(block, b'a', b'z');
        let digit = L::between(block, b'0', b'9');
        let blank = L::equal(block, b' ') | L::equal(block, b'\t');
        let Others { high, continuations } = L::others(block);
        let letter = alpha | L::equal(block, b'_') | (high & !continuations);
        let word = letter | digit | L::among(block, &WORD_SIGNS);
        let sign = L::between(block, b'!', b'~') & !alpha & !digit;
        Self { alpha, digit, blank, sign, other: high, letter, word }.within(among)
    }

    #[inline(always)]
    fn within(self, among: u64) -> Self {
        Self {
            alpha: self.alpha & among,
            digit: self.digit & among,
            blank: self.blank & among,
            sign: self.sign & among,
            other: self.other & among,
            letter: self.letter & among,
            word: self.word & among,
        }
    }

    /// Return the size of the block up to its last break; 0 without one.
    #[inline(always)]
    fn whole_size(&self) -> usize {
        let goes_on = |kind: u64| kind & kind << 1;
        let none = !(self.alpha | self.digit | self.blank | self.sign | self.other);
        let runs = [self.alpha, self.digit, self.blank, self.sign, self.other, none, self.word];
        let breaks = !runs.into_iter().map(goes_on).fold(1, |goes_on, run| goes_on | run);
        (u64::BITS - 1).saturating_sub(breaks.leading_zeros()) as usize
    }

    #[inline(always)]
    fn tokens(&self) -> usize {
        let starts = |kind: u64| kind & !(kind << 1);
        let pairs = |kind: u64| kind & kind << 1;
        let fours = |kind: u64| pairs(kind) & pairs(kind) << 2;
        let mut tokens = (self.blank & starts(self.blank) << 1).count_ones() + self.other.count_ones();
        // A token has seven letters, or three digits or signs: mark the first character of each.
        let (mut firsts, full) = (starts(self.alpha), fours(self.alpha) & fours(self.alpha) << 4);
        while firsts != 0 {
            tokens += firsts.count_ones();
            firsts = firsts << 7 & full;
        }
        let mut firsts = starts(self.digit) | starts(self.sign);
        let full = fours(self.digit) | fours(self.sign);
        while firsts != 0 {
            tokens += firsts.count_ones();
            firsts = firsts << 3 & full;
        }
        tokens as usize
    }

    /// Visit the places of all words.
    #[inline(always)]
    fn visit_words(&self, mut visit: impl FnMut(usize, usize)) {
        let pairs = self.word & self.word << 1;
        let mut ends = pairs & pairs << 2 & pairs << 4; // six characters of words end here
        while ends != 0 {
            let start = ends.trailing_zeros() as usize + 1 - SHORTEST_WORD;
            let end = start + (self.word >> start).trailing_ones() as usize;
            let first = start + (self.letter >> start).trailing_zeros() as usize;
            if first + SHORTEST_WORD <= end {
                visit(first, end);
            }
            ends &= if end < BLOCK { u64::MAX << end } else { 0 };
        }
    }
}

/// A line to read: its places in a text of characters, or of stand-ins for them.
struct Reading<'b, F> {
    units: &'b [u8],
    places: Range<usize>,
    visit: F,
}

impl<F: FnMut(usize, usize)> Work for Reading<'_, F> {
    type Done = usize;

    /// Visit the places of the words, and return about how many tokens the line has, its line feed included.
    #[inline(always)]
    fn run<L: Lanes>(self) -> usize {
        let Self { units, places: Range { start, end }, mut visit } = self;
        let units = units.get(..end).unwrap_or_default();
        let (mut at, mut tokens, mut padded) = (start, 1, [0; BLOCK]);
        while at < end {
            let size = (end - at).min(BLOCK);
            let mut kinds = Kinds::of::<L>(block_at(units, at, &mut padded), size);
            let whole = if end - at > BLOCK { kinds.whole_size() } else { size };
            if whole == 0 {
                let rest = units.get(at..).unwrap_or_default();
                let later = rest.iter().zip(rest.get(1..).unwrap_or_default());
                let size = later.take_while(|(before, after)| !is_break(**before, **after)).count() + 1;
                tokens += tokens_of(rest.get(..size).unwrap_or_default());
                visit_long(rest.get(..size).unwrap_or_default(), |first, last| visit(at + first, at + last));
                at += size;
                continue;
            }
            if whole < BLOCK {
                kinds = kinds.within((1 << whole) - 1);
            }
            tokens += kinds.tokens();
            kinds.visit_words(|first, last| visit(at + first, at + last));
            at += whole;
        }
        let last = if start < end { units.last().map_or(0, |unit| kind_of(*unit)) } else { 0 };
        (tokens - usize::from(last == SIGN || last == OTHER)).max(1)
    }
}

/// Visit the words of a stretch without a break.
fn visit_long(units: &[u8], mut visit: impl FnMut(usize, usize)) {
    let mut at = 0;
    let has = |unit: &u8, bit: u8| class_of(u32::from(*unit)) & bit != 0;
    while let Some(start) = units.get(at..).and_then(|rest| rest.iter().position(|unit| has(unit, LETTER))) {
        at += start;
        let rest = units.get(at..).unwrap_or_default();
        let size = rest.iter().position(|unit| !has(unit, WORD)).unwrap_or(rest.len());
        if size >= SHORTEST_WORD {
            visit(at, at + size);
        }
        at += size;
    }
}

/// Return a unit of the same class, in one byte.
pub(crate) fn narrow(code_point: u32) -> u8 {
    match u8::try_from(code_point) {
        Ok(unit) => unit,
        Err(_) if class_of(code_point) & LETTER != 0 => 0xC0,
        Err(_) => 0x80,
    }
}

/// A word: the last line that has it, to list it once, and the last pick that found it.
#[derive(Clone, Copy, Debug, Default)]
struct Word {
    line: u32,
    found: u32,
    /// True if a line that is taken has it.
    is_known: bool,
}

/// The words of all lines, as numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Words {
    numbers: AHashMap<u64, u32>,
    /// The words of the lines, line by line.
    pub(crate) of_lines: Vec<u32>,
    known: Vec<Word>,
    line: u32,
    pub(crate) pick: u32,
    /// Stand-ins for the characters of a line of wider ones.
    narrow: Vec<u8>,
}

impl Words {
    /// Return the number of words.
    pub(crate) fn len(&self) -> usize {
        self.known.len()
    }

    fn add(&mut self, hash: u64) {
        let next = u32::try_from(self.known.len()).unwrap_or(u32::MAX);
        let number = *self.numbers.entry(hash).or_insert(next);
        if number == next {
            self.known.push(Word::default());
        }
        if let Some(word) = self.known.get_mut(number as usize)
            && word.line != self.line
        {
            word.line = self.line;
            self.of_lines.push(number);
        }
    }

    /// List the words of a line, and return about how many tokens it has, its line feed included.
    pub(crate) fn read(&mut self, text: Text<'_>, places: Range<usize>) -> usize {
        self.line += 1;
        match text {
            Text::Latin1(units) => {
                let word = |start, end| units.get(start..end).unwrap_or_default();
                dispatch(Reading { units, places, visit: |start, end| self.add(hash_of_word(word(start, end))) })
            }
            Text::Ucs2(units) => self.read_wide(units.get(places).unwrap_or_default()),
            Text::Ucs4(units) => self.read_wide(units.get(places).unwrap_or_default()),
        }
    }

    fn read_wide<C: Unit>(&mut self, units: &[C]) -> usize {
        let mut narrowed = std::mem::take(&mut self.narrow);
        narrowed.clear();
        narrowed.extend(units.iter().map(|unit| narrow(unit.code_point())));
        let word = |start, end| units.get(start..end).unwrap_or_default();
        let visit = |start, end| self.add(hash_of(word(start, end)));
        let tokens = dispatch(Reading { units: &narrowed, places: 0..narrowed.len(), visit });
        self.narrow = narrowed;
        tokens
    }

    pub(crate) fn of(&self, words: &Range<usize>) -> &[u32] {
        self.of_lines.get(words.clone()).unwrap_or_default()
    }

    pub(crate) fn learn(&mut self, words: &Range<usize>) {
        for number in self.of_lines.get(words.clone()).unwrap_or_default() {
            if let Some(word) = self.known.get_mut(*number as usize) {
                word.is_known = true;
            }
        }
    }

    /// Return how many words of a line no line that is taken has, and how many of these this pick has not found.
    pub(crate) fn count_new(&self, words: &Range<usize>) -> (usize, usize) {
        let new = self.of(words).iter().filter_map(|number| self.known.get(*number as usize));
        new.filter(|word| !word.is_known)
            .fold((0, 0), |(new, fresh), word| (new + 1, fresh + usize::from(word.found != self.pick)))
    }

    pub(crate) fn find(&mut self, words: &Range<usize>) {
        for number in self.of_lines.get(words.clone()).unwrap_or_default() {
            if let Some(word) = self.known.get_mut(*number as usize) {
                word.found = self.pick;
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::indexing_slicing, clippy::unwrap_used, clippy::maybe_infinite_iter)]
mod tests {
    use super::*;

    /// Return the tokens and the words of a line, a character at a time.
    fn simple(units: &[u32]) -> (usize, Vec<(usize, usize)>) {
        let kind = |at: usize| units.get(at).map(|unit| class_of(*unit) & KIND);
        let has = |at: usize, bit: u8| units.get(at).is_some_and(|unit| class_of(*unit) & bit != 0);
        let (mut tokens, mut words, mut start) = (1, Vec::new(), 0);
        for at in 0..units.len() {
            if kind(at) != kind(at + 1) {
                tokens += run_tokens(kind(at).unwrap_or(0), at + 1 - start);
                start = at + 1;
            }
        }
        let mut at = 0;
        while at < units.len() {
            let size = if has(at, LETTER) { (at..).take_while(|place| has(*place, WORD)).count() } else { 0 };
            if size >= SHORTEST_WORD {
                words.push((at, at + size));
            }
            at += size.max(1);
        }
        let last = units.len().checked_sub(1).and_then(kind);
        ((tokens - usize::from(matches!(last, Some(SIGN | OTHER)))).max(1), words)
    }

    #[test]
    fn blocks_and_single_characters_give_the_same() {
        let pieces = [
            "a", "word", "7", "1234", " ", "\t", "  ", "_", "-", "./", ":@#", "()", "=", "\r", "\u{7f}", "\u{85}", "é",
            "×", "中", "→", "😀",
        ];
        let mut state = 7_u64;
        let mut random = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        for round in 0..4_000 {
            let kinds = if round % 2 == 0 { 16 } else { pieces.len() };
            let (most, only) = (random(120), random(4) == 0);
            let few = random(kinds).max(1);
            let line: String = (0..most).map(|_| pieces[random(if only { few } else { kinds })]).collect();
            let units: Vec<u32> = line.chars().map(u32::from).collect();
            let (tokens, places) = simple(&units);
            let mut read = Words::default();
            assert_eq!(read.read(Text::Ucs4(&units), 0..units.len()), tokens, "{line:?}");
            let hashes: Vec<u64> = places.iter().map(|(start, end)| hash_of(&units[*start..*end])).collect();
            let own: Vec<u64> = read
                .of_lines
                .iter()
                .map(|number| *read.numbers.iter().find(|(_, own)| *own == number).unwrap().0)
                .collect();
            let mut once = hashes.clone();
            let mut seen = Vec::new();
            once.retain(|hash| {
                !seen.contains(hash) && {
                    seen.push(*hash);
                    true
                }
            });
            assert_eq!(own, once, "{line:?}");
            if let Ok(narrow) = units.iter().map(|unit| u8::try_from(*unit)).collect::<Result<Vec<u8>, _>>() {
                let padded = [b"x y", narrow.as_slice(), b"zz"].concat();
                let mut again = Words::default();
                assert_eq!(again.read(Text::Latin1(&padded), 3..3 + narrow.len()), tokens, "{line:?}");
                assert_eq!((&again.of_lines, &again.numbers), (&read.of_lines, &read.numbers), "{line:?}");
            }
        }
    }
}
