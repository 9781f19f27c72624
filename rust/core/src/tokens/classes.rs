//! The classes of characters in the grammars of the encodings: letters, numbers, spaces.
//!
//! The classes are those of the table `classes.txt`, in the Unicode version of tiktoken's regular expressions. Rust's
//! own, newer version would count some thousand characters differently. ASCII needs no table.

use std::sync::OnceLock;

/// `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`: may begin a word.
pub(crate) const UPPER: u8 = 1;
/// `[\p{Ll}\p{Lm}\p{Lo}\p{M}]`: may continue a word. Many scripts are upper and lower case at once.
pub(crate) const LOWER: u8 = 2;
/// `\p{L}`
pub(crate) const LETTER: u8 = 4;
/// `\p{N}`
pub(crate) const NUMBER: u8 = 8;
/// `\s`
pub(crate) const SPACE: u8 = 16;
/// `[\r\n]`; a space too.
pub(crate) const NEWLINE: u8 = 32;
/// `[^\s\p{L}\p{N}]`: punctuation, symbols, marks.
pub(crate) const OTHER: u8 = 64;
/// A byte of a wider character, which decides nothing by itself.
pub(crate) const WIDE: u8 = 128;

const TABLE_TEXT: &str = include_str!("classes.txt");

/// The number of characters in a row of the table.
const ROW: usize = 64;
const ROWS: usize = 0x11_0000 / ROW;

/// The class of a byte.
static OF_BYTE: [u8; 256] = {
    let mut classes = [WIDE; 256];
    let mut byte = 0_u8;
    while byte < 0x80 {
        #[allow(clippy::indexing_slicing)] // in a constant, a wrong index doesn't compile
        {
            classes[byte as usize] = match byte {
                b'A'..=b'Z' => UPPER | LETTER,
                b'a'..=b'z' => LOWER | LETTER,
                b'0'..=b'9' => NUMBER,
                b'\r' | b'\n' => SPACE | NEWLINE,
                b' ' | b'\t' | 0x0B | 0x0C => SPACE,
                _ => OTHER,
            };
        }
        byte += 1;
    }
    classes
};

/// The class of a character of one byte, or [`WIDE`].
#[inline(always)]
pub(crate) fn of_byte(byte: u8) -> u8 {
    OF_BYTE.get(usize::from(byte)).copied().unwrap_or(WIDE)
}

/// The classes of all characters. For each row of the code space, the index of its content; equal rows share one.
pub(crate) struct Classes {
    places: Vec<u16>,
    rows: Vec<[u8; ROW]>,
}

impl Classes {
    /// Return the table, which is read at first use.
    pub(crate) fn load() -> &'static Self {
        static TABLE: OnceLock<Classes> = OnceLock::new();
        TABLE.get_or_init(|| Self::parse(TABLE_TEXT))
    }

    /// Read the table from its lines without comments. Characters that are not listed have the class `OTHER`.
    fn parse(table: &str) -> Self {
        let mut classes = Self { places: vec![0; ROWS], rows: vec![[OTHER; ROW]] };
        for (first, last, class) in table.lines().filter_map(parse_line) {
            classes.fill(first, last, class);
        }
        classes
    }

    fn fill(&mut self, first: usize, last: usize, class: u8) {
        let mut full = None; // all rows within a range are equal
        for place in first / ROW..=last / ROW {
            let start = place * ROW;
            let (from, to) = (first.max(start) - start, (last + 1).min(start + ROW) - start);
            let is_full = to - from == ROW;
            let number = match (full, self.places.get(place)) {
                (Some(number), _) if is_full => number,
                (_, Some(number)) if *number > 0 => *number,
                _ => {
                    self.rows.push([OTHER; ROW]);
                    u16::try_from(self.rows.len() - 1).unwrap_or(0)
                }
            };
            full = full.or(is_full.then_some(number));
            let row = self.rows.get_mut(usize::from(number)).and_then(|row| row.get_mut(from..to));
            row.unwrap_or_default().fill(class);
            if let Some(own) = self.places.get_mut(place) {
                *own = number;
            }
        }
    }

    /// The class of a character.
    #[inline]
    pub(crate) fn of(&self, code_point: u32) -> u8 {
        let code = code_point as usize;
        let row = self.places.get(code / ROW).and_then(|place| self.rows.get(usize::from(*place)));
        row.and_then(|row| row.get(code % ROW)).copied().unwrap_or(OTHER)
    }
}

/// The range and the class of a line such as `0041..005A U`.
fn parse_line(line: &str) -> Option<(usize, usize, u8)> {
    let (codes, letter) = line.split_once(' ')?;
    let (first, last) = codes.split_once("..").unwrap_or((codes, codes));
    let class = match letter {
        "U" => UPPER | LETTER,
        "L" => LOWER | LETTER,
        "B" => UPPER | LOWER | LETTER,
        "M" => UPPER | LOWER | OTHER,
        "N" => NUMBER,
        "S" => SPACE,
        _ => return None,
    };
    Some((usize::from_str_radix(first, 16).ok()?, usize::from_str_radix(last, 16).ok()?, class))
}

#[cfg(test)]
mod tests {
    use super::{Classes, NEWLINE, TABLE_TEXT, of_byte, parse_line};

    #[test]
    fn parses_every_line_of_the_table() {
        let lines = || TABLE_TEXT.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        assert_eq!(lines().filter_map(parse_line).count(), lines().count());
        let mut end = 0;
        for (first, last, _) in lines().filter_map(parse_line) {
            assert!(end <= first && first <= last && last < 0x11_0000, "{first:04X}");
            end = last + 1;
        }
    }

    #[test]
    fn every_character_has_the_class_of_its_line() {
        let table = Classes::load();
        let lines: Vec<_> = TABLE_TEXT.lines().filter_map(parse_line).collect();
        let mut named = 0;
        for (first, last, class) in lines {
            assert!((first..=last).all(|code| table.of(u32::try_from(code).unwrap_or(0)) == class), "{first:04X}");
            named += last + 1 - first;
        }
        let others = (0..0x11_0000).filter(|code| table.of(*code) == super::OTHER).count();
        assert_eq!(others + named, 0x11_0000);
    }

    #[test]
    fn ascii_is_as_in_the_table() {
        for byte in 0..0x80 {
            assert_eq!(Classes::load().of(u32::from(byte)), of_byte(byte) & !NEWLINE, "{byte:02X}");
        }
    }
}
