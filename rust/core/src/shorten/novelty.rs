//! Choose the lines of a text that say most that is new, where nothing else tells which of them matter.
//!
//! A quarter of the room is for lines that speak of errors, and half of it, with these, for the end of the text that a
//! cut would leave. The rest is for the lines that bring the most new words for their length, in rounds: each takes the
//! lines that bring the rate of new words that it asks for, which is four fifths of that of the round before. So the
//! time is linear, and the outcome depends on the text and the room alone.

use std::ops::Range;

use ahash::AHashMap;

use super::kinds::FIND_ERROR;
use super::lines::both_ends;
use crate::text::truncate::Keep;

const GAP: &str = "...";
const GAP_SIZE: usize = GAP.len() + 1;
/// The characters that a gap counts where lines are compared: more than it has, so that lines stand in passages.
const GAP_PRICE: usize = 10;
/// The characters of a gap that is filled. Its lines cost as much as the line for the gap, or little more.
const SMALL_GAP: usize = 12;
const PER_WORD: usize = 4_096;
/// The new words for each `PER_WORD` characters that the rounds ask for. A word has six characters or more.
const RATES: [usize; 14] = [600, 480, 384, 307, 245, 196, 156, 124, 99, 79, 63, 50, 40, 0];

/// The characters of the shortest word.
const SHORTEST_WORD: usize = 6;

/// The bytes of a word in ASCII: 2 for a letter or an underline, 1 for a digit or a sign as in names and paths.
#[allow(clippy::indexing_slicing, clippy::cast_possible_truncation)] // evaluated by the compiler
static IN_WORD: [u8; 128] = {
    let mut classes = [0; 128];
    let mut code = 0;
    while code < 128 {
        classes[code] = match code as u8 {
            b'A'..=b'Z' | b'a'..=b'z' | b'_' => 2,
            b'0'..=b'9' | b'.' | b'/' | b':' | b'@' | b'#' | b'-' => 1,
            _ => 0,
        };
        code += 1;
    }
    classes
};

/// Return the class of a character in a word: that of a letter for any outside of ASCII but symbols and punctuation.
fn class_of(sign: char) -> u8 {
    match IN_WORD.get(sign as usize) {
        Some(class) => *class,
        None => match sign {
            ..'\u{C0}' | '\u{2000}'..'\u{2C00}' | '\u{3000}'..'\u{3040}' | '\u{FF00}'..'\u{FF10}' => 0,
            _ => 2,
        },
    }
}

/// Return the long words of a line: runs of the characters of names and paths, each from its first letter on.
fn long_words(line: &str) -> impl Iterator<Item = &str> {
    let runs = line.split(|sign| class_of(sign) == 0).filter(|run| run.len() >= SHORTEST_WORD);
    let words = runs.map(|run| run.trim_start_matches(|sign| class_of(sign) == 1));
    words.filter(|word| word.len() >= SHORTEST_WORD && word.chars().nth(SHORTEST_WORD - 1).is_some())
}

/// The sizes and the words of the lines of a text.
#[derive(Clone, Debug)]
pub(super) struct Novelty {
    lines: Vec<SizedLine>,
    /// The words of the lines as numbers, line by line.
    words: Vec<usize>,
    /// The number of different words.
    word_count: usize,
    /// The places of the lines that speak of errors.
    errors: Vec<usize>,
}

#[derive(Clone, Debug)]
struct SizedLine {
    /// The characters, with a line feed.
    size: usize,
    /// The places of its words, each once.
    words: Range<usize>,
}

impl Novelty {
    pub(super) fn read(texts: &[&str]) -> Self {
        let mut numbers: AHashMap<&str, usize> = AHashMap::new();
        let mut last_lines = Vec::new();
        let mut words = Vec::new();
        let mut lines = Vec::with_capacity(texts.len());
        for (place, text) in texts.iter().enumerate() {
            let start = words.len();
            for word in long_words(text) {
                let next = numbers.len();
                let number = *numbers.entry(word).or_insert(next);
                if number == next {
                    last_lines.push(usize::MAX);
                }
                if let Some(last) = last_lines.get_mut(number)
                    && *last != place
                {
                    *last = place;
                    words.push(number);
                }
            }
            let size = if text.is_ascii() { text.len() } else { text.chars().count() };
            lines.push(SizedLine { size: size + 1, words: start..words.len() });
        }
        let speaks = |line: &str| FIND_ERROR.as_ref().is_some_and(|search| search.is_match(line));
        let errors = texts.iter().enumerate().filter(|(_, line)| speaks(line)).map(|(place, _)| place).collect();
        Self { lines, words, word_count: numbers.len(), errors }
    }

    fn words_of(&self, line: &SizedLine) -> &[usize] {
        self.words.get(line.words.clone()).unwrap_or_default()
    }

    /// Return lines in order, with a line for each gap; `None` if they say no more than a cut would.
    ///
    /// `keep` is the end that a cut would leave.
    pub(super) fn choose(&self, lines: &[&str], room: usize, keep: Keep) -> Option<String> {
        let count = self.lines.len();
        let mut chosen = Chosen {
            novelty: self,
            left: room.checked_sub(GAP_SIZE)?,
            taken: vec![false; count],
            known: vec![false; self.word_count],
            size: 0,
        };
        chosen.take(both_ends(&self.errors), room / 4);
        let told = chosen.size;
        chosen.take_order(keep, room / 2);
        let at_ends = chosen.size;
        chosen.take_new();
        if told == 0 && chosen.size == at_ends {
            return None;
        }
        chosen.take_order(keep, room);
        (2 * chosen.size >= room).then(|| chosen.text(lines))
    }
}

/// The lines that are taken, and the room that is left.
struct Chosen<'n> {
    novelty: &'n Novelty,
    left: usize,
    taken: Vec<bool>,
    /// True for a word that a line that is taken has.
    known: Vec<bool>,
    /// The characters of the lines that are taken.
    size: usize,
}

impl Chosen<'_> {
    /// Take lines in an order, as long as all that are taken have at most a number of characters.
    fn take(&mut self, order: impl Iterator<Item = usize>, most: usize) {
        for place in order {
            let size = self.novelty.lines.get(place).map_or(0, |line| line.size);
            if self.is_open(place) && (self.size + size > most || !self.take_line(place)) {
                return;
            }
        }
    }

    /// Take lines in the order in which a cut would keep them.
    fn take_order(&mut self, keep: Keep, most: usize) {
        let count = self.taken.len();
        match keep {
            Keep::Head => self.take(0..count, most),
            Keep::Tail => self.take((0..count).rev(), most),
            Keep::Ends => {
                let half = count.div_ceil(2);
                let pairs = (0..half).flat_map(|place| [place, count - 1 - place]);
                // The place in the middle of an odd number comes twice, and is taken once.
                self.take(pairs, most);
            }
        }
    }

    /// Take the lines with the most new words for what they cost.
    fn take_new(&mut self) {
        let lines = self.novelty.lines.iter().enumerate();
        let mut rest: Vec<_> =
            lines.filter(|(_, line)| !line.words.is_empty()).map(|(place, _)| (place, PER_WORD)).collect();
        for rate in RATES {
            let before = self.size;
            rest.retain_mut(|(place, highest)| self.stays_open(*place, highest, rate));
            if self.size > before {
                self.fill_gaps();
            }
        }
    }

    /// Take a line with this rate of new words. Return true if it stays open, with the highest rate that it can have.
    fn stays_open(&mut self, place: usize, highest: &mut usize, rate: usize) -> bool {
        if !self.is_open(place) {
            return false;
        }
        let Some(line) = self.novelty.lines.get(place).filter(|_| *highest >= rate) else { return true };
        let words = self.novelty.words_of(line);
        let new = PER_WORD * words.iter().filter(|word| self.known.get(**word) == Some(&false)).count();
        let price = (line.size + GAP_PRICE * self.gaps(place)).saturating_sub(GAP_PRICE).max(1);
        if new == 0 || (new >= rate * price && self.take_line(place)) {
            return false;
        }
        *highest = new / line.size.saturating_sub(GAP_PRICE).max(1);
        true
    }

    fn is_open(&self, place: usize) -> bool {
        self.taken.get(place) == Some(&false)
    }

    /// Return how many gaps there are next to a line. It fills the one that it is in.
    fn gaps(&self, place: usize) -> usize {
        usize::from(place.checked_sub(1).is_some_and(|before| self.is_open(before)))
            + usize::from(self.is_open(place + 1))
    }

    /// Take a line. Return false if it does not fit.
    fn take_line(&mut self, place: usize) -> bool {
        let Some(line) = self.novelty.lines.get(place) else { return false };
        let (size, room) = (line.size + GAP_SIZE * self.gaps(place), self.left + GAP_SIZE);
        if size > room {
            return false;
        }
        self.left = room - size;
        self.size += line.size;
        if let Some(taken) = self.taken.get_mut(place) {
            *taken = true;
        }
        for word in self.novelty.words_of(line) {
            if let Some(known) = self.known.get_mut(*word) {
                *known = true;
            }
        }
        true
    }

    /// Take the lines of small gaps.
    fn fill_gaps(&mut self) {
        let (mut start, mut size) = (0, 0);
        for (place, line) in self.novelty.lines.iter().enumerate() {
            if self.is_open(place) {
                size += line.size;
                continue;
            }
            if size <= SMALL_GAP {
                for line in start..place {
                    self.take_line(line);
                }
            }
            (start, size) = (place + 1, 0);
        }
    }

    /// Return the lines that are taken, with a line for each gap.
    fn text(&self, lines: &[&str]) -> String {
        let mut shown: Vec<&str> = Vec::new();
        let mut was_taken = true;
        for (line, is_taken) in lines.iter().zip(&self.taken) {
            if *is_taken {
                shown.push(line);
            } else if was_taken {
                shown.push(GAP);
            }
            was_taken = *is_taken;
        }
        shown.join("\n")
    }
}
