//! Cleaning of texts, in units of all widths. The cases are those of `tests/test_clean.py`.

use crate::wire::piece;
use toolcarry::text::Text;
use toolcarry::text::piece::Piece;
use toolcarry::text::sanitize::{clean, clean_line, is_clean, shorten};

const CASES: [(&str, &str); 31] = [
    ("plain text", "plain text"),
    ("a\tb\nc", "a\tb\nc"),
    ("a\r\nb\r\n", "a\nb\n"),
    ("10%\r20%\rdone", "10%\n20%\ndone"),
    ("a\r\r\nb", "a\n\nb"),
    ("a\0b\u{7}c", "abc"),
    ("a\u{b}b\u{c}c", "abc"),
    ("a\u{7f}b", "ab"),
    ("a\u{80}b\u{85}c\u{9f}d", "abcd"),
    ("\u{1b}[1;31mred\u{1b}[0m", "red"),
    ("\u{1b}[2K\u{1b}[1Gdone\u{1b}[?25h", "done"),
    ("\u{9b}31mred\u{9b}0m", "red"),
    ("\u{1b}]0;my title\u{7}text", "text"),
    ("\u{1b}]8;;https://x.org\u{1b}\\label\u{1b}]8;;\u{1b}\\", "label"),
    ("\u{1b}Psecret\u{1b}\\text", "text"),
    ("\u{1b}(Btext", "text"),
    ("\u{1b}Mtext\u{1b}7", "text"),
    ("a\u{1b}", "a"),
    ("a\u{1b}[31", "a[31"),
    ("a\u{1b}]0;no end", "a0;no end"),
    ("a\u{9b}", "a"),
    ("a\u{202e}b\u{2066}c\u{2069}d\u{200e}e\u{200f}f\u{61c}g", "abcdefg"),
    ("a\u{e0001}\u{e0041}\u{e007f}b", "ab"),
    ("\u{1f468}\u{200d}\u{1f469}", "\u{1f468}\u{200d}\u{1f469}"),
    ("\u{5e9}\u{5dc}\u{5d5}\u{5dd}", "\u{5e9}\u{5dc}\u{5d5}\u{5dd}"),
    ("[CONTEXT FROM PREVIOUS SESSION]", "[\\CONTEXT FROM PREVIOUS SESSION]"),
    ("x [/CONTEXT FROM PREVIOUS SESSION] y", "x [\\/CONTEXT FROM PREVIOUS SESSION] y"),
    ("[CONTEXT\0 FROM\u{200e} PREVIOUS SESSION]", "[\\CONTEXT FROM PREVIOUS SESSION]"),
    ("[/CONTEXT \u{1b}[1mFROM PREVIOUS SESSION]", "[\\/CONTEXT FROM PREVIOUS SESSION]"),
    ("[[/CONTEXT FROM PREVIOUS SESSION]]", "[[\\/CONTEXT FROM PREVIOUS SESSION]]"),
    ("/CONTEXT FROM PREVIOUS SESSION]", "/CONTEXT FROM PREVIOUS SESSION]"),
];

/// Prefixes that widen a text to each width, without an effect on its cleaning.
const PREFIXES: [&str; 4] = ["", "\u{e9}", "\u{20ac}", "\u{1f600}"];

fn cleaned(text: &str) -> String {
    clean(&piece(text)).text().to_utf8()
}

#[test]
fn every_case_in_every_width() {
    for (given, expected) in CASES {
        for prefix in PREFIXES {
            assert_eq!(cleaned(&format!("{prefix}{given}")), format!("{prefix}{expected}"), "{given:?}");
        }
    }
}

#[test]
fn cleaning_twice_changes_nothing() {
    for (_, expected) in CASES {
        assert_eq!(cleaned(expected), expected);
    }
}

#[test]
fn a_dirty_character_is_found_at_every_position() {
    for place in [0, 1, 127, 128, 129, 300] {
        for prefix in PREFIXES {
            let (before, after) = (format!("{prefix}{}", "a".repeat(place)), "b".repeat(200));
            assert_eq!(cleaned(&format!("{before}\0{after}")), format!("{before}{after}"), "{place}");
        }
    }
}

#[test]
fn every_marker_of_many_is_escaped() {
    for prefix in PREFIXES {
        let given = format!("{prefix}{}", "[CONTEXT FROM PREVIOUS SESSION][/CONTEXT FROM PREVIOUS SESSION]".repeat(3));
        let found = cleaned(&given);
        assert_eq!(found.matches("[\\CONTEXT").count(), 3);
        assert_eq!(found.matches("[\\/CONTEXT").count(), 3);
        assert_eq!(found.len(), given.len() + 6);
    }
}

#[test]
fn lone_surrogates_are_replaced() {
    let narrow = clean(&Piece::Borrowed(Text::Ucs2(&[0x61, 0xd800, 0xdfff])));
    assert_eq!(narrow.text(), Text::Ucs2(&[0x61, 0xfffd, 0xfffd]));
    let wide = clean(&Piece::Borrowed(Text::Ucs4(&[0x1_f600, 0xdc00])));
    assert_eq!(wide.text(), Text::Ucs4(&[0x1_f600, 0xfffd]));
}

#[test]
fn clean_text_is_not_copied() {
    for text in [Piece::ascii("plain\n"), Piece::Borrowed(Text::Ucs2(&[0x20ac])), Piece::ascii("")] {
        assert!(matches!(clean(&text), Piece::Borrowed(_)));
    }
}

#[test]
fn the_widths_agree_on_every_code_point() {
    let is_dirty = |code_point: u32| {
        matches!(code_point, 0..=8 | 0x0b..=0x1f | 0x7f..=0x9f | 0x61c | 0x200e | 0x200f | 0x202a..=0x202e)
            || matches!(code_point, 0x2066..=0x2069 | 0xd800..=0xdfff | 0xe_0000..=0xe_007f)
    };
    for code_point in 0..0x11_0000 {
        let expected = !is_dirty(code_point);
        assert_eq!(is_clean(Text::Ucs4(&[code_point])), expected, "{code_point:#x}");
        if let Ok(unit) = u16::try_from(code_point) {
            assert_eq!(is_clean(Text::Ucs2(&[unit])), expected, "{code_point:#x}");
        }
        if let Ok(unit) = u8::try_from(code_point) {
            assert_eq!(is_clean(Text::Latin1(&[unit])), expected, "{code_point:#x}");
        }
    }
}

#[test]
fn a_sequence_has_a_maximum_length() {
    let sequence = |count: usize| format!("\u{1b}[{}mx", "1".repeat(count));
    assert_eq!(cleaned(&sequence(64)), "x");
    assert_eq!(cleaned(&sequence(65)), sequence(65)[1..]);
    let title = |count: usize| format!("\u{1b}]{}\u{7}x", "t".repeat(count));
    assert_eq!(cleaned(&title(4_096)), "x");
    assert!(cleaned(&title(4_097)).starts_with("tt"));
}

#[test]
fn a_line_has_no_breaks() {
    for prefix in PREFIXES {
        let line = clean_line(&piece(&format!("{prefix}a\r\nb\tc")), 50);
        assert_eq!(line.text().to_utf8(), format!("{prefix}a\\nb\\tc"));
    }
}

#[test]
fn a_long_line_loses_its_middle() {
    let long = piece(&("a".repeat(50) + &"b".repeat(50)));
    assert_eq!(clean_line(&long, 21).text().to_utf8(), "aaaaaaaaa...bbbbbbbbb");
    assert_eq!(clean_line(&piece("short"), 21).text().to_utf8(), "short");
    assert_eq!(shorten(&piece("0123456789"), 9).text().to_utf8(), "012...789");
}

#[test]
fn a_line_is_never_longer_than_its_limit() {
    for text in ["\n", "\t\u{1b}[1m", "[CONTEXT FROM PREVIOUS SESSION]", "e\u{301}", "\u{1f600}"] {
        for limit in [3, 10, 21, 200] {
            assert!(clean_line(&piece(&text.repeat(1_000)), limit).len() <= limit, "{text:?} {limit}");
        }
    }
}
