//! Text in units of three widths: reading, slicing, widening, writing.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

use crate::wire::piece;
use toolcarry::context::output::Output;
use toolcarry::text::piece::Piece;
use toolcarry::text::{OwnedText, Text, Width};

/// The ASCII text in units of each width.
fn in_all_widths(ascii: &str) -> [OwnedText; 3] {
    let bytes = ascii.as_bytes();
    [
        OwnedText::Latin1(bytes.to_vec()),
        OwnedText::Ucs2(bytes.iter().map(|byte| u16::from(*byte)).collect()),
        OwnedText::Ucs4(bytes.iter().map(|byte| u32::from(*byte)).collect()),
    ]
}

fn output_of(texts: &[&str]) -> Output<'static> {
    let mut output = Output::default();
    for text in texts {
        output.push(piece(text));
    }
    output
}

fn hash_of(piece: &Piece<'_>) -> u64 {
    let mut state = DefaultHasher::new();
    piece.hash(&mut state);
    state.finish()
}

// Widths

#[test]
fn the_width_is_that_of_the_widest_code_point() {
    let cases = [
        ("", Width::Ascii),
        ("a\u{7f}", Width::Ascii),
        ("a\u{80}", Width::Latin1),
        ("a\u{ff}", Width::Latin1),
        ("a\u{100}", Width::Ucs2),
        ("a\u{ffff}", Width::Ucs2),
        ("a\u{10000}", Width::Ucs4),
        ("a\u{10ffff}", Width::Ucs4),
    ];
    for (text, width) in cases {
        assert_eq!(OwnedText::from_utf8(text).as_text().width(), width, "{text:?}");
    }
}

#[test]
fn the_width_of_a_part_is_its_own() {
    let text = OwnedText::from_utf8("ab\u{e9}\u{20ac}\u{1f600}");
    let widths = [(2, Width::Ascii), (3, Width::Latin1), (4, Width::Ucs2), (5, Width::Ucs4)];
    for (end, width) in widths {
        assert_eq!(text.as_text().slice(0, end).width(), width, "{end}");
    }
}

#[test]
fn text_from_utf8_has_the_narrowest_units() {
    assert!(matches!(OwnedText::from_utf8("\u{ff}"), OwnedText::Latin1(_)));
    assert!(matches!(OwnedText::from_utf8("\u{100}"), OwnedText::Ucs2(_)));
    assert!(matches!(OwnedText::from_utf8("\u{10000}"), OwnedText::Ucs4(_)));
}

#[test]
fn lengths_count_code_points() {
    for (text, length) in [("", 0), ("abc", 3), ("\u{e9}\u{e9}", 2), ("\u{20ac}x", 2), ("\u{1f600}x", 2)] {
        let own = OwnedText::from_utf8(text);
        assert_eq!(own.as_text().len(), length, "{text:?}");
        assert_eq!(own.as_text().is_empty(), length == 0);
        assert_eq!(own.as_text().to_utf8(), text);
    }
}

// Reading

#[test]
fn a_slice_is_limited_to_the_text() {
    let cases = [((0, 3), "abc"), ((1, 2), "b"), ((1, 99), "bc"), ((2, 2), ""), ((5, 9), ""), ((2, 1), "")];
    for text in in_all_widths("abc") {
        for ((start, end), expected) in cases {
            assert_eq!(text.as_text().slice(start, end).to_utf8(), expected, "{start}..{end}");
        }
        assert_eq!(text.as_text().slice(usize::MAX, usize::MAX).len(), 0);
    }
}

#[test]
fn a_code_point_is_found_by_its_index() {
    let text = OwnedText::from_utf8("a\u{1f600}");
    assert_eq!(text.as_text().get(0), Some(0x61));
    assert_eq!(text.as_text().get(1), Some(0x1_f600));
    assert_eq!(text.as_text().get(2), None);
}

#[test]
fn find_returns_the_first_position() {
    for place in [0, 1, 63, 64, 65, 127, 128, 200] {
        for text in in_all_widths(&format!("{}|-|", "-".repeat(place))) {
            assert_eq!(text.as_text().find(b'|'), Some(place));
            assert_eq!(text.as_text().find(b'+'), None);
        }
    }
}

#[test]
fn find_compares_whole_units() {
    assert_eq!(Text::Ucs2(&[0x0178, 0x7800]).find(b'x'), None);
    assert_eq!(Text::Ucs4(&[0x1_0078, 0x0178]).find(b'x'), None);
}

#[test]
fn beginnings_and_ends() {
    for text in in_all_widths("input_image_url") {
        let text = text.as_text();
        assert!(text.starts_with("input_") && text.starts_with(""));
        assert!(text.ends_with("_url") && text.ends_with(""));
        assert!(!text.starts_with("output") && !text.ends_with("_uri"));
        assert!(!text.starts_with("input_image_url_") && !text.ends_with("_input_image_url"));
        assert_eq!(text.without_prefix("input_").without_suffix("_url").to_utf8(), "image");
        assert_eq!(text.without_prefix("x").without_suffix("x").len(), text.len());
    }
}

#[test]
fn a_text_is_a_literal_only_as_a_whole() {
    assert!(Text::ascii("tool").is("tool"));
    assert!(!Text::ascii("tools").is("tool"));
    assert!(!OwnedText::from_utf8("\u{e9}").as_text().is("\u{e9}"), "the literal must be ASCII");
}

// Own text

#[test]
fn own_text_widens_if_wider_text_is_added() {
    let letters = ["a", "\u{e9}", "\u{20ac}", "\u{1f600}"];
    let width = |text: &OwnedText| match text {
        OwnedText::Latin1(_) => 1,
        OwnedText::Ucs2(_) => 2,
        OwnedText::Ucs4(_) => 4,
    };
    for first in letters {
        for second in letters {
            let mut text = OwnedText::from_utf8(first);
            let added = OwnedText::from_utf8(second);
            let widest = width(&text).max(width(&added));
            text.push(added.as_text());
            text.push_ascii("!");
            assert_eq!(text.as_text().to_utf8(), format!("{first}{second}!"));
            assert_eq!(width(&text), widest, "{first}{second}");
        }
    }
}

#[test]
fn own_text_keeps_lone_surrogates() {
    let mut text = OwnedText::default();
    text.push(Text::Ucs2(&[0xd800]));
    text.push(Text::Ucs4(&[0x1_f600, 0xdfff]));
    assert_eq!(text.as_text(), Text::Ucs4(&[0xd800, 0x1_f600, 0xdfff]));
    assert_eq!(text.as_text().to_utf8(), "\u{fffd}\u{1f600}\u{fffd}");
}

// Pieces

#[test]
fn a_slice_of_a_slice_counts_from_its_own_start() {
    for whole in [Piece::ascii("0123456789"), piece("0123456789")] {
        let part = whole.slice(2, 8).slice(1, 4);
        assert_eq!(part.text().to_utf8(), "345");
        assert_eq!(part.len(), 3);
        assert!(part.slice(3, 9).is_empty());
        assert!(part.slice(9, 2).is_empty());
    }
}

#[test]
fn a_slice_shares_the_text() {
    let text = Rc::new(OwnedText::from_utf8("0123456789"));
    let _part = Piece::Shared(Rc::clone(&text), 0, 10).slice(2, 4);
    assert_eq!(Rc::strong_count(&text), 2);
}

#[test]
fn borrowed_and_owned_pieces_of_equal_text_are_equal() {
    let (borrowed, own) = (Piece::ascii("ls"), piece("ls -l").slice(0, 2));
    assert_eq!(borrowed, own);
    assert_eq!(hash_of(&borrowed), hash_of(&own));
    assert_ne!(borrowed, Piece::ascii("la"));
}

// Output

#[test]
fn an_output_knows_its_length_and_width() {
    let cases: [(&[&str], (usize, Width)); 6] = [
        (&[], (0, Width::Ascii)),
        (&["", ""], (0, Width::Ascii)),
        (&["", "ab", ""], (2, Width::Ascii)),
        (&["ab", "\u{e9}"], (3, Width::Latin1)),
        (&["\u{20ac}", "ab"], (3, Width::Ucs2)),
        (&["\u{20ac}", "\u{1f600}", "ab"], (4, Width::Ucs4)),
    ];
    for (texts, expected) in cases {
        let output = output_of(texts);
        assert_eq!((output.len(), output.width()), expected, "{texts:?}");
        assert_eq!(output.is_empty(), expected.0 == 0);
    }
}

#[test]
fn an_output_is_written_in_units_of_any_width_that_fits() {
    let narrow = output_of(&["ab", "", "\u{e9}"]);
    let (mut bytes, mut units) = ([0_u8; 3], [0_u32; 3]);
    narrow.write(&mut bytes);
    narrow.write(&mut units);
    assert_eq!(bytes, [0x61, 0x62, 0xe9]);
    assert_eq!(units, [0x61, 0x62, 0xe9]);

    let wide = output_of(&["a", "\u{20ac}", "b"]);
    let mut units = [0_u16; 3];
    wide.write(&mut units);
    assert_eq!(units, [0x61, 0x20ac, 0x62]);
}

#[test]
fn a_narrow_part_of_a_wide_text_is_written_in_narrow_units() {
    let text = OwnedText::from_utf8("ab\u{1f600}");
    let mut output = Output::default();
    output.push(Piece::Borrowed(text.as_text().slice(0, 2)));
    assert_eq!((output.len(), output.width()), (2, Width::Ascii));
    let mut bytes = [0_u8; 2];
    output.write(&mut bytes);
    assert_eq!(&bytes, b"ab");
}

#[test]
fn lone_surrogates_are_written_unchanged_and_replaced_in_utf8() {
    let mut output = Output::default();
    output.push(Piece::Borrowed(Text::Ucs2(&[0x61, 0xd83d, 0xde00])));
    assert_eq!((output.len(), output.width()), (3, Width::Ucs2));
    let (mut narrow, mut wide) = ([0_u16; 3], [0_u32; 3]);
    output.write(&mut narrow);
    output.write(&mut wide);
    assert_eq!(narrow, [0x61, 0xd83d, 0xde00]);
    assert_eq!(wide, [0x61, 0xd83d, 0xde00]);
    assert_eq!(output.to_utf8(), "a\u{fffd}\u{fffd}", "two code points, not a pair");
}

#[test]
fn too_little_room_ends_the_writing() {
    let mut room = [0_u16; 3];
    output_of(&["ab", "\u{20ac}\u{20ac}"]).write(&mut room);
    assert_eq!(room, [0x61, 0x62, 0]);
}

#[test]
fn utf8_joins_the_pieces() {
    assert_eq!(output_of(&["a", "\u{e9}", "\u{1f600}", "\n"]).to_utf8(), "a\u{e9}\u{1f600}\n");
}

#[test]
fn an_ascii_part_of_a_wide_text_equals_its_literal() {
    let wide = OwnedText::from_utf8("image/png \u{20AC}");
    assert!(wide.as_text().slice(0, 5).is("image"));
    assert!(!wide.as_text().slice(0, 5).is("imagE") && !wide.as_text().is("image"));
}
