//! Random documents, with the values that are written in them.

use super::Dice;
use super::spellings::escaped;
use super::trees::Tree;

const NUMBERS: [&str; 18] = [
    "0",
    "-0",
    "7",
    "-12",
    "0.5",
    "-0.0",
    "10.25",
    "1e5",
    "1E+05",
    "-1.5e-3",
    "2.2250738585072014e-308",
    "1e-999",
    "9223372036854775807",
    "-9223372036854775808",
    "-9223372036854775809",
    "18446744073709551615",
    "18446744073709551616",
    "123456789012345678901234567890",
];
const NAMES: [&str; 10] =
    ["a", "b", "", "id", "uuid", "message", "messages", "parentUuid", "logicalParentUuid", "isSidechain"];
const PLAIN: [&str; 8] = ["a", "xyz ", "0123456789", "\u{7f}", "\u{e9}", "\u{20ac}", "\u{1f600}", "{\u{5b}:,}]"];
const SHORT: [(&str, u32); 8] = [
    ("\\n", 0x0A),
    ("\\t", 0x09),
    ("\\r", 0x0D),
    ("\\b", 0x08),
    ("\\f", 0x0C),
    ("\\/", 0x2F),
    ("\\\"", 0x22),
    ("\\\\", 0x5C),
];
const UNITS: [u32; 12] = [0x00, 0x22, 0x41, 0x5C, 0x7F, 0xE9, 0x20AC, 0xD7FF, 0xD83D, 0xDE00, 0xDFFF, 0xFFFF];

/// A writer of random documents, which also returns the values that it writes.
pub(crate) struct Author {
    pub(crate) dice: Dice,
    pub(crate) written: Vec<u8>,
    spaces: &'static [&'static str],
}

impl Author {
    pub(crate) fn new(seed: u64, spaces: &'static [&'static str]) -> Self {
        Self { dice: Dice(seed), written: Vec::new(), spaces }
    }

    pub(crate) fn write(&mut self, text: &str) {
        self.written.extend_from_slice(text.as_bytes());
    }

    pub(crate) fn space(&mut self) {
        for _ in 0..self.dice.below(3) {
            let space = self.dice.one_of(self.spaces);
            self.write(space);
        }
    }

    pub(crate) fn document(&mut self) -> Tree {
        self.written.clear();
        self.space();
        let tree = self.value(5);
        self.space();
        tree
    }

    pub(crate) fn value(&mut self, depth: usize) -> Tree {
        match self.dice.below(if depth == 0 { 5 } else { 12 }) {
            0 => {
                self.write("null");
                Tree::Null
            }
            1 => {
                let value = self.dice.below(2) == 0;
                self.write(if value { "true" } else { "false" });
                Tree::Bool(value)
            }
            2 => {
                let digits = self.dice.one_of(&NUMBERS);
                self.write(digits);
                Tree::Number(digits.to_owned())
            }
            3 | 4 => Tree::Text(self.text()),
            5..8 => self.list(depth),
            _ => self.object(depth),
        }
    }

    pub(crate) fn list(&mut self, depth: usize) -> Tree {
        self.write("[");
        self.space();
        let items = (0..self.dice.below(5)).map(|index| {
            self.comma(index);
            let item = self.value(depth - 1);
            self.space();
            item
        });
        let items = items.collect();
        self.write("]");
        Tree::List(items)
    }

    pub(crate) fn object(&mut self, depth: usize) -> Tree {
        self.write("{");
        self.space();
        let mut members: Vec<(Vec<u32>, Tree)> = Vec::new();
        for index in 0..self.dice.below(5) {
            self.comma(index);
            let name = self.name();
            self.space();
            self.write(":");
            self.space();
            let value = self.value(depth - 1);
            self.space();
            match members.iter_mut().find(|(known, _)| *known == name) {
                Some(known) => known.1 = value,
                None => members.push((name, value)),
            }
        }
        self.write("}");
        Tree::Object(members)
    }

    pub(crate) fn comma(&mut self, index: usize) {
        if index > 0 {
            self.write(",");
            self.space();
        }
    }

    pub(crate) fn name(&mut self) -> Vec<u32> {
        if self.dice.below(5) == 0 {
            return self.text();
        }
        let name = self.dice.one_of(&NAMES);
        self.write("\"");
        for character in name.chars() {
            if self.dice.below(8) == 0 {
                self.unit(u32::from(character));
            } else {
                self.write(&character.to_string());
            }
        }
        self.write("\"");
        name.chars().map(u32::from).collect()
    }

    pub(crate) fn unit(&mut self, unit: u32) {
        let digits = if self.dice.below(2) == 0 { escaped(unit) } else { format!("\\u{unit:04X}") };
        self.write(&digits);
    }

    /// A text of a few parts, or of hundreds.
    pub(crate) fn text(&mut self) -> Vec<u32> {
        let parts = if self.dice.below(12) == 0 { self.dice.below(300) } else { self.dice.below(6) };
        let mut said = Vec::new();
        self.write("\"");
        for _ in 0..parts {
            match self.dice.below(8) {
                0..3 => {
                    let plain = self.dice.one_of(&PLAIN);
                    self.write(plain);
                    said.extend(plain.chars().map(u32::from));
                }
                3 => {
                    let size = self.dice.below(150);
                    self.write(&"a".repeat(size));
                    said.extend(vec![0x61; size]);
                }
                4 => {
                    let size = self.dice.below(9);
                    self.write(&"\\\\".repeat(size));
                    said.extend(vec![0x5C; size]);
                }
                5 => {
                    let unit = self.dice.one_of(&UNITS);
                    self.unit(unit);
                    said.push(unit);
                }
                _ => {
                    let (escape, code_point) = self.dice.one_of(&SHORT);
                    self.write(escape);
                    said.push(code_point);
                }
            }
        }
        self.write("\"");
        joined(&said)
    }

    /// Return the document with one byte inserted, removed or changed, or cut off at one byte.
    pub(crate) fn mutated(&mut self) -> Vec<u8> {
        const BYTES: &[u8] = b"\"\"\\\\{}[]:,. \t-+0159aebfnrtu/\x00\x01\x1f\x7f\x80\xbf\xc3\xe2\xed\xf0\xff";
        let mut data = self.written.clone();
        let (at, byte) = (self.dice.below(data.len()), self.dice.one_of(BYTES));
        match self.dice.below(4) {
            0 => data.insert(at, byte),
            1 => drop(data.remove(at)),
            2 => data.truncate(at),
            _ => data[at] = byte,
        }
        data
    }
}

/// Join adjacent surrogates to one code point.
pub(crate) fn joined(said: &[u32]) -> Vec<u32> {
    let mut whole: Vec<u32> = Vec::with_capacity(said.len());
    for code_point in said {
        match whole.last_mut() {
            Some(high @ 0xD800..0xDC00) if (0xDC00..0xE000).contains(code_point) => {
                *high = 0x1_0000 + ((*high - 0xD800) << 10) + (code_point - 0xDC00);
            }
            _ => whole.push(*code_point),
        }
    }
    whole
}
