//! The same tokens as the other crate, for files, generated texts, rows and long pieces.

use std::fs;

use crate::peer::check;
use crate::random::Random;
use crate::texts::{PARTS, files, large, mixed, random_character};

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

/// More table rules than the cache can keep, some of them too long for it, each repeated many times.
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

/// Each pair of letters is merged before the pair to its left, so the last letter decides all merges.
const CASCADES: [&str; 4] = [
    "vqyjhgzlwfjmwjbmvnmxlpdmcvuoqaezzujuzyltihrupptrorer",
    "lzpjhgxrkvbkdvvhpkknbpdmcyrvtfnnpuzaooymssoptrorer",
    "QEZHQNJVNWKCyxrkJEWNVLFrpkknbpdxCGRRCDSDFOPTESeyssoptrorer",
    "]$\"|%\\$,)!:&)^[/-'/_)$$.(/>)]]=(:([\"))..",
];

/// Rows inside other text, of all sizes around the one from which a run counts as a row.
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
            let (before, after) = (random.pick(PARTS), random.pick(PARTS));
            let end = random.below(row.len());
            let part = &row[..(0..=end).rev().find(|at| row.is_char_boundary(*at)).unwrap_or(0)];
            check(&format!("{before}{row}{part}{after}{row}"));
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
        // Words without spaces between them are one piece.
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
