//! Texts to try the encodings on.

use std::fs;
use std::path::{Path, PathBuf};

use crate::random::Random;

pub(crate) const PARTS: &[&str] = &[
    "a",
    "B",
    "the",
    "Hello",
    "WORLD",
    "camelCase",
    "HTTPServer",
    "fooBAR",
    "snake_case",
    "é",
    "É",
    "ñandú",
    "straße",
    "ǅ",
    "ʰ",
    "ª",
    "中",
    "中文字符",
    "日本語",
    "テスト",
    "한국어",
    "עברית",
    "العربية",
    "हिन्दी",
    "ไทย",
    "Ωμέγα",
    "Привет",
    "\u{301}",
    "\u{300}\u{301}",
    "\u{20DD}",
    "🙂",
    "👨‍👩‍👧",
    "🇩🇪",
    "❤️",
    "€",
    "—",
    "“",
    "”",
    "…",
    "。",
    "，",
    "、",
    "!",
    "?",
    "?!",
    "...",
    "/",
    "//",
    "\\",
    "\"",
    "'",
    "''",
    "-",
    "--",
    "_",
    "(",
    ")",
    "{}",
    "[]",
    "<|endoftext|>",
    "<|",
    "=",
    "==",
    "#",
    "@",
    "$",
    "%",
    "&&",
    "+",
    "*",
    "`",
    "~",
    "'s",
    "'S",
    "'t",
    "'T",
    "'re",
    "'RE",
    "'rE",
    "'Ve",
    "'m",
    "'M",
    "'ll",
    "'lL",
    "'LL",
    "'d",
    "'D",
    "'ſ",
    "'\u{212A}",
    "ſ",
    "'l",
    "'r",
    "'x",
    " ",
    " ",
    " ",
    "  ",
    "   ",
    "        ",
    "\t",
    "\t\t",
    "\n",
    "\n\n",
    "\r\n",
    "\r",
    "\r\n\r\n",
    "\n ",
    " \n",
    "\u{A0}",
    "\u{3000}",
    "\u{2003}",
    "\u{85}",
    "\u{B}",
    "\u{C}",
    "\u{1680}",
    "\u{2028}",
    "0",
    "1",
    "12",
    "123",
    "1234567",
    "3.14",
    "0x1F",
    "²",
    "½",
    "٣",
    "五",
    "Ⅷ",
    "\0",
    "\u{7F}",
    "\u{1B}[0m",
    "\u{FEFF}",
    "\u{200B}",
    "\u{FFFD}",
    "\u{E000}",
    "\u{10FFFF}",
    "https://example.com/a?b=c",
    "fn main() {\n    println!(\"hi\");\n}\n",
];

/// A text of `parts` random parts.
pub(crate) fn mixed(random: &mut Random, parts: usize) -> String {
    (0..parts).map(|_| PARTS[random.below(PARTS.len())]).collect()
}

pub(crate) fn random_character(random: &mut Random) -> char {
    let limit = *random.pick(&[&0x80, &0x250, &0x3000, &0x1_0000, &0x2_0000, &0x11_0000]);
    loop {
        if let Some(character) = u32::try_from(random.below(limit)).ok().and_then(char::from_u32) {
            return character;
        }
    }
}

/// The transcripts next to the repository, if there are any, and the repository's own files.
pub(crate) fn files() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = Vec::new();
    let mut folders = vec![root.join("../shared/transcripts")];
    folders.extend(["rust/core", "python", "tests", "benches"].map(|folder| root.join(folder)));
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    found
}

/// Large texts of few characters, for which other tokenizers take quadratic time or fail.
pub(crate) fn large() -> Vec<(&'static str, String)> {
    const SIZE: usize = if cfg!(debug_assertions) { 100_000 } else { 1_000_000 }; // the peer takes minutes unoptimized
    let row = |text: &str| text.repeat(SIZE / text.len());
    let mut random = Random(7);
    let letters: Vec<char> = ('A'..='Z').chain('a'..='z').chain('0'..='9').chain(['+', '/']).collect();
    let base64 = (0..2 * SIZE).map(|_| letters[random.below(64)]).collect();
    let cjk =
        (0..14_000).map(|_| char::from_u32(0x4E00 + u32::try_from(random.below(0x5000)).unwrap()).unwrap()).collect();
    let mut texts: Vec<_> = [
        " ", "\n", "\r\n", "a", "A", "^", "=", "0", "中", "🙂", "é", "\t", "\u{301}", "ab", "=-~", "'", "\u{A0}", "'s",
        "\0",
    ]
    .map(|text| (text, row(text)))
    .into();
    texts.push(("base64", base64));
    texts.push(("random cjk", cjk));
    texts
}
