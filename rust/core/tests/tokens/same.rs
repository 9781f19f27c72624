//! The tokens of texts against the crate bpe-openai, whose own tests hold it against tiktoken.

use std::collections::HashSet;
use std::fs;

use toolcarry::text::{OwnedText, Text};
use toolcarry::tokens::{BadVocabulary, Encoding, EncodingName};

use crate::texts::{PAIRS, PARTS, Pair, Random, files, large, mixed, packed, random_character};

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

/// More rules of tables than are remembered, and longer ones, each of them again and again.
#[test]
fn rows_that_recur_have_the_same_tokens() {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let row = |random: &mut Random| {
        let rules = (0..=random.below(4)).map(|_| {
            let mark = ["-", "=", "+-", "*", "\u{2500}", "_a"][random.below(6)];
            mark.repeat(1 + random.below(60))
        });
        rules.collect::<Vec<_>>().join("|") + "\n"
    };
    let rows: Vec<String> = (0..1_000).map(|_| row(&mut random)).collect();
    for _ in 0..2_000 {
        let text: String = (0..=random.below(20)).map(|_| rows[random.below(rows.len())].as_str()).collect();
        check(&text);
    }
}

/// The tokens of an encoding, in the order of their ranks.
fn tokens(packed: &[u8]) -> Vec<&[u8]> {
    let (mut tokens, mut rest) = (Vec::new(), packed);
    while let Some((size, after)) = rest.split_first() {
        let (token, after) = after.split_at(usize::from(*size));
        tokens.push(token);
        rest = after;
    }
    tokens
}

/// What merging characters before other bytes stands on.
#[test]
fn every_token_is_made_of_two_before_it() {
    for pair in PAIRS.iter() {
        let packed = packed(pair.name);
        let mut seen = HashSet::new();
        for token in tokens(&packed) {
            let is_made = |at| seen.contains(&token[..at]) && seen.contains(&token[at..]);
            assert!(token.len() == 1 || (1..token.len()).any(is_made), "{} {token:X?}", pair.name);
            seen.insert(token);
        }
    }
}

/// Tokens with a part of a character, and what stands beside them: there, characters are not merged by themselves.
#[test]
fn characters_that_tokens_cut_have_the_same_tokens() {
    let mut random = Random(4_101_842_887_655_102_017);
    for pair in PAIRS.iter() {
        let packed = packed(pair.name);
        let wide: Vec<_> = tokens(&packed).into_iter().filter(|token| !token.is_ascii()).collect();
        let cut: Vec<_> = wide.iter().copied().filter(|token| std::str::from_utf8(token).is_err()).collect();
        for _ in 0..30_000 {
            let some = |random: &mut Random| {
                let from = if random.below(3) == 0 { &wide } else { &cut };
                completed(from[random.below(from.len())], random)
            };
            let text: Vec<u8> = (0..=random.below(6)).flat_map(|_| some(&mut random)).collect();
            check(&String::from_utf8_lossy(&text));
        }
    }
}

/// The token with some bytes that the characters lack at its start and its end.
fn completed(token: &[u8], random: &mut Random) -> Vec<u8> {
    let mut continuation = || 0x80 + u8::try_from(random.below(64)).unwrap();
    let missing = 2_usize.saturating_sub(token.iter().take_while(|byte| **byte & 0xC0 == 0x80).count());
    let mut found = Vec::new();
    if missing < 2 {
        found.push(0xE4 + continuation() % 6);
        found.extend((0..missing).map(|_| continuation()));
    }
    found.extend_from_slice(token);
    let lead = token.iter().rposition(|byte| byte & 0xC0 != 0x80).unwrap_or(token.len());
    let size = match token.get(lead) {
        Some(0xF0..) => 4,
        Some(0xE0..) => 3,
        Some(0xC0..) => 2,
        _ => 0,
    };
    found.extend((token.len() - lead..size).map(|_| continuation()));
    found
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

#[test]
fn large_texts_have_the_same_tokens() {
    for (_, text) in large() {
        check(&text);
        check(&format!("x {text} y"));
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
