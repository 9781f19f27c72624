//! What the tests of the bytes door share: values that can be compared, and documents made by chance.

use bumpalo::Bump;
use toolcarry::messages::Messages;
use toolcarry::scan::{Conversation, Refused, Scanned, Written};
use toolcarry::text::Text;
use toolcarry::value::Value;

use super::{Dice, bash};

/// A value as a test compares it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Tree {
    Null,
    Bool(bool),
    Number(String),
    Text(Vec<u32>),
    List(Vec<Tree>),
    Object(Vec<(Vec<u32>, Tree)>),
}

pub(crate) fn code_points(text: Text<'_>) -> Vec<u32> {
    (0..text.len()).filter_map(|index| text.get(index)).collect()
}

pub(crate) fn tree_of(value: Scanned<'_>) -> Tree {
    match value.written() {
        Written::Null => Tree::Null,
        Written::Bool(value) => Tree::Bool(value),
        Written::Number(digits) => Tree::Number(String::from_utf8(digits.to_vec()).unwrap()),
        Written::Text(text) => Tree::Text(code_points(text)),
        Written::List => Tree::List((0..value.count()).map(|index| tree_of(value.item(index).unwrap())).collect()),
        Written::Object => {
            let mut members = Vec::new();
            value.members(&mut |name, value| {
                members.push((code_points(name), tree_of(value)));
                true
            });
            assert_eq!(members.len(), value.size());
            Tree::Object(members)
        }
    }
}

pub(crate) fn parse(data: &[u8]) -> Result<Tree, Refused> {
    Scanned::parse(data, &Bump::new()).map(tree_of)
}

/// The messages of a conversation, the first first.
pub(crate) fn messages_of<'a>(messages: &Conversation<'a>) -> Result<Vec<(usize, Scanned<'a>)>, Refused> {
    let (mut found, mut position) = (Vec::new(), None);
    while let Some((place, item)) = messages.before(position)? {
        found.push((place, item));
        position = Some(place);
    }
    found.reverse();
    Ok(found)
}

pub(crate) fn open(data: &[u8]) -> Result<Vec<Tree>, Refused> {
    let bump = Bump::new();
    let messages = Conversation::open(data, &bump)?;
    Ok(messages_of(&messages)?.into_iter().map(|(_, item)| tree_of(item)).collect())
}

// Documents made by chance

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

/// A document in the making; what it says is told beside it.
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

    /// The document with one byte more, less, or another.
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

/// Code points with surrogates that stand beside one another made one.
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

// Texts as they may be written

/// A unit of UTF-16 by its number.
pub(crate) fn escaped(unit: u32) -> String {
    format!("\\u{unit:04x}")
}

/// A text in JSON: with no escape without need, with nothing but escapes, and with every other one.
pub(crate) fn spellings(text: &str) -> [Vec<u8>; 3] {
    let escape = |character: char| -> String {
        character.encode_utf16(&mut [0; 2]).iter().map(|unit| escaped(u32::from(*unit))).collect::<Vec<_>>().concat()
    };
    let quoted = |inside: String| format!("\"{inside}\"").into_bytes();
    let short = |text: &str| {
        let whole = serde_json::to_string(text).unwrap();
        whole[1..whole.len() - 1].to_owned()
    };
    let mixed = |(index, character): (usize, char)| {
        if index % 2 == 0 { short(&character.to_string()) } else { escape(character) }
    };
    [
        quoted(short(text)),
        quoted(text.chars().map(escape).collect()),
        quoted(text.chars().enumerate().map(mixed).collect()),
    ]
}

/// A call of `ls` with a result that is written so.
pub(crate) fn with_result(written: &[u8]) -> Vec<u8> {
    let document = serde_json::to_string(&bash("t1", "ls", "@@")).unwrap();
    let (before, behind) = document.split_once("\"@@\"").unwrap();
    [before.as_bytes(), written, behind.as_bytes()].concat()
}
