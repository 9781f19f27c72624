//! The tokens of texts against the crate bpe-openai, whose own tests hold it against tiktoken.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)] // a test fails by panicking

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use bpe_openai::Tokenizer;
use toolcarry::graphemes::{ceil_boundary, floor_boundary};
use toolcarry::text::{OwnedText, Text};
use toolcarry::tokens::{BadVocabulary, Encoding, EncodingName};
use toolcarry::truncate::Keep;

/// An encoding of ours, the other one, and its name.
struct Pair {
    name: &'static str,
    ours: Encoding,
    other: &'static Tokenizer,
}

static PAIRS: LazyLock<[Pair; 2]> =
    LazyLock::new(|| {
        [("o200k_base", bpe_openai::o200k_base()), ("cl100k_base", bpe_openai::cl100k_base())]
            .map(|(name, other)| Pair { name, ours: load(name), other })
    });

fn load(name: &str) -> Encoding {
    Encoding::parse(EncodingName::parse(name).unwrap(), &packed(name)).unwrap()
}

fn packed(name: &str) -> Vec<u8> {
    let path = format!("../../python/toolcarry/vocabularies/{name}.bpe");
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

/// Where the other crate has an older expression: what ends in white space, after a newline that is not its end.
fn is_split_otherwise(pair: &Pair, text: &str) -> bool {
    let end = &text[text.trim_end().len()..];
    pair.name == "cl100k_base" && end.contains(['\r', '\n']) && !end.ends_with(['\r', '\n'])
}

fn check(text: &str) {
    for pair in PAIRS.iter().filter(|pair| !is_split_otherwise(pair, text)) {
        let (ours, other) = (pair.ours.encode(text.as_bytes()), pair.other.encode(text));
        if ours != other {
            let at = ours.iter().zip(&other).take_while(|(ours, other)| ours == other).count();
            let text = pair.other.decode(&other[at.saturating_sub(5)..(at + 20).min(other.len())]);
            panic!("{}: token {at}: {:?} {:?}: {text:?}", pair.name, ours.get(at), other.get(at));
        }
        assert_eq!(pair.ours.count(text.as_bytes()), other.len());
    }
}

/// Numbers that are the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap() % limit
    }

    fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }
}

const PARTS: &[&str] = &[
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

/// A text of so many random parts.
fn mixed(random: &mut Random, parts: usize) -> String {
    (0..parts).map(|_| PARTS[random.below(PARTS.len())]).collect()
}

fn random_character(random: &mut Random) -> char {
    let limit = *random.pick(&[&0x80, &0x250, &0x3000, &0x1_0000, &0x2_0000, &0x11_0000]);
    loop {
        if let Some(character) = u32::try_from(random.below(limit)).ok().and_then(char::from_u32) {
            return character;
        }
    }
}

/// The transcripts beside the repository, or its own files where there are none.
fn files() -> Vec<PathBuf> {
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

#[test]
fn files_have_the_same_tokens() {
    for path in files() {
        if let Ok(text) = fs::read_to_string(&path) {
            check(&text);
        }
    }
}

#[test]
fn generated_texts_have_the_same_tokens() {
    let mut random = Random(0x2545_F491_4F6C_DD1D);
    for _ in 0..30_000 {
        let parts = 1 + random.below(12);
        check(&mixed(&mut random, parts));
    }
    for _ in 0..300 {
        check(&mixed(&mut random, 1_000));
    }
}

#[test]
fn random_characters_have_the_same_tokens() {
    let mut random = Random(88_172_645_463_325_252);
    for _ in 0..3_000 {
        let text: String = (0..=random.below(40)).map(|_| random_character(&mut random)).collect();
        check(&text);
    }
}

#[test]
fn every_code_point_has_the_same_tokens_in_three_contexts() {
    for character in '\0'..=char::MAX {
        for text in [format!("a{character}b"), format!(" {character} "), format!("1{character}\n")] {
            for pair in PAIRS.iter().filter(|pair| !is_split_otherwise(pair, &text)) {
                assert_eq!(pair.ours.encode(text.as_bytes()), pair.other.encode(&*text), "{} {text:?}", pair.name);
            }
        }
    }
}

/// Each pair of letters is joined before the pair to its left, so that the last letter decides on all of them.
const CASCADES: [&str; 4] = [
    "vqyjhgzlwfjmwjbmvnmxlpdmcvuoqaezzujuzyltihrupptrorer",
    "lzpjhgxrkvbkdvvhpkknbpdmcyrvtfnnpuzaooymssoptrorer",
    "QEZHQNJVNWKCyxrkJEWNVLFrpkknbpdxCGRRCDSDFOPTESeyssoptrorer",
    "]$\"|%\\$,)!:&)^[/-'/_)$$.(/>)]]=(:([\"))..",
];

/// Rows that begin and end in others, of all sizes at which a row is told from what is none.
#[test]
fn rows_have_the_same_tokens() {
    let mut random = Random(17);
    let kinds = [
        "=",
        "-",
        "a",
        "─",
        "中",
        "🙂",
        "👩\u{200D}",
        "🇩",
        "\u{FFFD}",
        "ab",
        "abc",
        "=-=",
        "hello",
        "+=+=-",
        " ",
        "\n",
        "\t ",
        "\u{301}",
        "CASCADE",
        "]]",
        "_",
        "..",
        "0",
        "\u{3000}",
        "qwertyuiopasdfghjklz",
    ];
    for kind in kinds {
        for size in (1_usize..=200).chain([255, 256, 257, 300, 511, 513, 700, 1_023, 1_025, 1_500, 3_000]) {
            let row = kind.repeat(size.div_ceil(kind.len()));
            check(&row);
            let (before, behind) = (random.pick(PARTS), random.pick(PARTS));
            let end = random.below(row.len());
            let part = &row[..(0..=end).rev().find(|at| row.is_char_boundary(*at)).unwrap_or(0)];
            check(&format!("{before}{row}{part}{behind}{row}"));
        }
    }
}

#[test]
fn long_pieces_have_the_same_tokens() {
    let mut random = Random(3);
    let alphabets: &[&[&str]] = &[
        &["a"],
        &["a", "b"],
        &["a", "e", "i", "n", "t", "s", "r"],
        &["="],
        &["=", "-"],
        &["=", "-", "*", "#"],
        &["^"],
        &[" "],
        &[" ", "\t"],
        &["\n"],
        &["\n", "\r\n"],
        &["中"],
        &["中", "文", "的", "一"],
        &["🙂"],
        &["🙂", "🎉", "👍"],
        &["é", "a"],
        &["ha", "HA"],
        &["क", "ि", "न"],
        &["========", "-", "--------------------------------"],
        &["                ", "  ", " "],
    ];
    for alphabet in alphabets {
        for _ in 0..60 {
            let parts = 1 + random.below(600);
            check(&(0..parts).map(|_| random.pick(alphabet)).collect::<String>());
        }
    }
    for cascade in CASCADES {
        for before in 0..80 {
            for cut in [0, 1] {
                let text = "x".repeat(before) + &cascade.repeat(3);
                check(&text[..text.len() - cut]);
            }
        }
    }
    for _ in 0..200 {
        // Words without a space between them, as one piece.
        let words =
            ["international", "ization", "the", "quick", "un", "believ", "able", "s", "ing", "straße", "中文", "que"];
        check(&(0..100).map(|_| words[random.below(words.len())]).collect::<String>());
    }
}

/// Large texts of few characters, which other tokenizers take quadratic time for, or fail at.
fn large() -> Vec<(&'static str, String)> {
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

#[test]
fn large_texts_have_the_same_tokens() {
    for (_, text) in large() {
        check(&text);
        check(&format!("x {text} y"));
    }
}

/// A cut by encoding all, and counting all again, as the documentation of a cut has it.
fn plain_cut(pair: &Pair, text: &str, limit: usize, keep: Keep, marker: &str) -> (usize, usize) {
    let units: Vec<u32> = text.chars().map(u32::from).collect();
    let tokens = pair.ours.encode(text.as_bytes());
    if tokens.len() <= limit {
        return (units.len(), units.len());
    }
    let mut ends = vec![0];
    ends.extend(tokens.iter().scan(0, |end, token| {
        *end += pair.other.bpe.token_len(*token);
        Some(*end)
    }));
    let before =
        |at: usize| text.char_indices().filter(|(index, character)| index + character.len_utf8() <= at).count();
    let behind = |at: usize| text.char_indices().filter(|(index, _)| *index < at).count();
    let allowed = limit + pair.ours.count(marker.as_bytes());
    for size in (1..=limit).rev() {
        let first = [size, 0, size / 2][keep as usize];
        let head = floor_boundary(&units, before(ends[first]));
        let last = if keep == Keep::Head { 0 } else { size - first };
        let tail = ceil_boundary(&units, behind(ends[tokens.len() - last]));
        let part = |from: usize, to: usize| text.chars().skip(from).take(to - from).collect::<String>();
        let joined = part(0, head) + marker + &part(tail, units.len());
        if pair.ours.count(joined.as_bytes()) <= allowed {
            return (head, tail);
        }
    }
    (0, units.len())
}

#[test]
fn cuts_keep_as_many_tokens_as_they_may() {
    let mut random = Random(11);
    let files: Vec<String> = files().iter().filter_map(|path| fs::read_to_string(path).ok()).collect();
    for round in 0..6_000 {
        let parts = 1 + random.below(300);
        let mut text = mixed(&mut random, parts);
        if round % 3 == 0 {
            let file = &files[random.below(files.len())];
            let from = random.below(file.len().max(1));
            text = file.chars().skip(from.min(20_000)).take(random.below(3_000)).collect();
        } else if round % 30 == 1 {
            let part = PARTS[random.below(PARTS.len())];
            text = part.repeat(1 + random.below(2_000));
        }
        let marker = *random.pick(&[&"", &"... [truncated]", &" ", &"\n", &"a", &"1", &"\u{301}", &"中", &"🇩"]);
        let keep = [Keep::Head, Keep::Tail, Keep::Ends][random.below(3)];
        let (own, own_marker) = (OwnedText::from_utf8(&text), OwnedText::from_utf8(marker));
        for pair in &*PAIRS {
            let count = pair.ours.count(text.as_bytes());
            let limit = if round % 5 == 0 { random.below(8) } else { random.below(count + 3) };
            let expected = plain_cut(pair, &text, limit, keep, marker);
            let found = pair.ours.cut(own.as_text(), limit, keep, own_marker.as_text());
            assert_eq!(found, expected, "{} {keep:?} {limit} {marker:?} {text:?}", pair.name);
            let up_to = (count <= limit).then_some(count);
            assert_eq!(pair.ours.count_up_to(text.as_bytes(), limit), up_to);
        }
    }
}

#[test]
fn a_head_and_a_tail_are_cuts_without_a_marker() {
    let text = Text::ascii("one two three four");
    for pair in &*PAIRS {
        assert_eq!((pair.ours.head(text, 2), pair.ours.tail(text, 2)), (7, 7));
        assert_eq!((pair.ours.head(text, 0), pair.ours.tail(text, 0)), (0, 18));
        assert_eq!((pair.ours.head(text, 4), pair.ours.tail(text, 4)), (18, 0));
        assert_eq!((pair.ours.head(text, usize::MAX), pair.ours.tail(text, usize::MAX)), (18, 0));
    }
}

#[test]
fn wider_texts_count_like_their_bytes() {
    let mut random = Random(5);
    for round in 0..400 {
        let parts = if round % 20 == 0 { 30_000 } else { 1 + random.below(40) };
        let text = mixed(&mut random, parts);
        let own = OwnedText::from_utf8(&text);
        for pair in &*PAIRS {
            assert_eq!(pair.ours.count_text(own.as_text()), pair.ours.count(text.as_bytes()), "{}", pair.name);
        }
    }
    for part in ["é", "中", "🙂", "中。", " é", "\n\u{A0}", "中 ", "\n中", "/é\n", "'sé"] {
        let text = part.repeat(40_000);
        for pair in &*PAIRS {
            let own = OwnedText::from_utf8(&text);
            assert_eq!(pair.ours.count_text(own.as_text()), pair.ours.count(text.as_bytes()), "{part:?}");
        }
    }
}

#[test]
fn lone_surrogates_count_as_replacement_characters() {
    let units: &[u16] = &[0x61, 0xD83D, 0x20, 0xDE00, 0x62];
    for pair in &*PAIRS {
        let expected = pair.ours.count("a\u{FFFD} \u{FFFD}b".as_bytes());
        assert_eq!(pair.ours.count_text(Text::Ucs2(units)), expected);
    }
}

#[test]
fn special_tokens_are_text() {
    for pair in &*PAIRS {
        assert!(pair.ours.count(b"<|endoftext|>") > 3);
    }
}

#[test]
fn nothing_panics_on_what_is_no_utf8() {
    let mut random = Random(13);
    for _ in 0..3_000 {
        let bytes: Vec<u8> = (0..random.below(200)).map(|_| u8::try_from(random.below(256)).unwrap()).collect();
        for pair in &*PAIRS {
            let tokens = pair.ours.encode(&bytes);
            assert_eq!(tokens.iter().map(|token| pair.other.bpe.token_len(*token)).sum::<usize>(), bytes.len());
        }
    }
}

#[test]
fn a_vocabulary_that_is_cut_off_is_refused() {
    let packed = packed("cl100k_base");
    for wrong in [&[][..], &packed[..100], &packed[..packed.len() - 1], &[0; 3], b"\x01a"] {
        assert_eq!(Encoding::parse(EncodingName::Cl100kBase, wrong).unwrap_err(), BadVocabulary);
    }
    assert_eq!(EncodingName::parse("p50k_base"), None);
}
