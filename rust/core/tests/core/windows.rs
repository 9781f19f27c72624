//! Long texts in bytes, read only at their ends: the ends are the same as those of the whole text.

use std::fmt::Write;

use crate::wire::author::{Author, joined};
use crate::wire::bash;
use crate::wire::spellings::{escaped, spellings, with_result};
use crate::wire::trees::code_points;
use bumpalo::Bump;
use toolcarry::content::Content;
use toolcarry::context::carry;
use toolcarry::context::fence::{Source, fence};
use toolcarry::context::limits::{Limits, Measure};
use toolcarry::context::output::{Output, OutputPosition};
use toolcarry::context::policy::{NO_LIMIT, Settings};
use toolcarry::dedupe::rules::RuleSet;
use toolcarry::input::Conversation;
use toolcarry::input::messages::{List, Messages};
use toolcarry::json::scanned::Scanned;
use toolcarry::json::value::{Value, names};
use toolcarry::text::piece::Piece;
use toolcarry::text::sanitize::cut_text;
use toolcarry::text::truncate::Keep;
use toolcarry::text::{OwnedText, Text};

// Texts by their ends

/// Check that the windows of a text equal slices of the whole text.
fn check_windows(value: Scanned<'_>, expected: &[u32]) {
    let whole = value.text().unwrap();
    assert_eq!(code_points(whole), expected);
    assert_eq!(value.text_len(), Some(expected.len()));
    assert_eq!(value.utf8_len(), Some(whole.utf8_len()));
    for count in 0..=expected.len() + 2 {
        let start = code_points(value.text_start(count).unwrap());
        assert_eq!(start, expected[..count.min(expected.len())], "the first {count}");
        let end = code_points(value.text_end(count).unwrap());
        assert!(end.len() >= count.min(expected.len()), "the last {count}: only {}", end.len());
        assert!(expected.ends_with(&end), "the last {count}: {end:x?}");
    }
}

/// Check a text as a whole document, and in a message after another text.
fn check_written(written: &[u8], expected: &[u32]) {
    let bump = Bump::new();
    let document = [b"\"", written, b"\""].concat();
    check_windows(Scanned::parse(&document, &bump).unwrap(), expected);
    let messages = [&b"[{\"a\": \""[..], &[b'x'; 300], b"\", \"content\":\"", written, b"\"}]"].concat();
    let conversation = Conversation::open(&messages, &bump).unwrap();
    let (_, message) = conversation.before(None).unwrap().unwrap();
    check_windows(message.get(names::CONTENT).unwrap(), expected);
}

#[test]
fn ends_of_texts_agree_with_the_whole() {
    let cases: [(&str, &str); 12] = [
        ("a", "a"),
        (r"\n", "\n"),
        (r"\\", "\\"),
        (r"\\\\n", "\\\\n"),
        (r"a\tb\/c\u0041", "a\tb/cA"),
        (r#"\"\b\f\r"#, "\"\u{8}\u{c}\r"),
        (r"\u00e9", "\u{e9}"),
        (r"x\u20acy", "x\u{20ac}y"),
        (r"\ud83d\ude00", "\u{1f600}"),
        ("\u{e9}", "\u{e9}"),
        ("\u{20ac}\\n\u{1f600}", "\u{20ac}\n\u{1f600}"),
        (r"\\u00e9\\\u00e9", "\\u00e9\\\u{e9}"),
    ];
    for (part, expected) in cases {
        for (count, before) in [(1, 0), (40, 1), (97, 2), (190, 3)] {
            let written = "x".repeat(before) + &part.repeat(count);
            let expected: Vec<u32> = ("x".repeat(before) + &expected.repeat(count)).chars().map(u32::from).collect();
            check_written(written.as_bytes(), &expected);
        }
    }
}

#[test]
fn ends_of_texts_of_lone_surrogates_agree_with_the_whole() {
    for units in [&[0xD83D][..], &[0xDE00], &[0xDE00, 0xD83D], &[0xD83D, 0xD83D, 0xDE00], &[0x5C, 0xD83D, 0x41]] {
        for size in [1, 20, 64, 65, 66, 130] {
            let units: Vec<u32> = units.iter().copied().cycle().take(size).collect();
            let written: String = units.iter().map(|unit| escaped(*unit)).collect::<Vec<_>>().concat();
            check_written(written.as_bytes(), &joined(&units));
        }
    }
}

#[test]
fn ends_of_random_texts_agree_with_the_whole() {
    let mut author = Author::new(6, &[" "]);
    for _ in 0..400 {
        author.written.clear();
        let expected = author.text();
        if expected.len() < 1_500 {
            check_written(&author.written[1..author.written.len() - 1], &expected);
        }
    }
}

#[test]
fn runs_of_backslashes_of_any_length_are_decoded() {
    for size in 0..300 {
        for (end, rest) in [("", ""), ("\\n", "\n"), ("n", "n"), ("\\ud83d\\ude00", "\u{1f600}"), ("ud83d", "ud83d")] {
            let written = "\\\\".repeat(size) + end;
            let bump = Bump::new();
            let document = format!("\"{written}\"");
            let value = Scanned::parse(document.as_bytes(), &bump).unwrap();
            let expected: Vec<u32> = ("\\".repeat(size) + rest).chars().map(u32::from).collect();
            assert_eq!(code_points(value.text().unwrap()), expected);
            for count in 1..6 {
                assert!(expected.ends_with(&code_points(value.text_end(count).unwrap())), "{size} {end} {count}");
            }
        }
    }
}

#[test]
fn a_text_has_the_narrowest_units_with_and_without_escapes() {
    for text in ["abc\n", "caf\u{e9}\n", "\u{20ac}\n", "\u{1f600}\n", ""] {
        let expected = OwnedText::from_utf8(text);
        for written in spellings(text) {
            let bump = Bump::new();
            assert_eq!(Scanned::parse(&written, &bump).unwrap().text(), Some(expected.as_text()), "{text:?}");
        }
    }
}

// Cuts

/// The context of a document; checks that it is the same from a conversation and from a list of values.
fn carried(document: &[u8], settings: &Settings) -> String {
    let bump = Bump::new();
    let summary = Piece::ascii("");
    let conversation = Conversation::open(document, &bump).unwrap();
    let list = List(Scanned::parse(document, &bump).unwrap());
    let found = carry(&conversation, &summary, settings, RuleSet::built_in(), false).unwrap();
    let other = carry(list, &summary, settings, RuleSet::built_in(), false).unwrap();
    assert_eq!(found.output.to_bytes(), other.output.to_bytes());
    assert_eq!(found.counts, other.counts);
    found.output.to_utf8()
}

/// The fence of a clean text that is cut after reading all of it.
fn cut_block(text: &str, limit: usize, side: Keep) -> String {
    let own = OwnedText::from_utf8(text);
    let whole = own.as_text();
    let (head, tail) = cut_text(whole, limit, side);
    let mut block = whole.slice(0, head).to_utf8();
    if head < tail {
        if !block.is_empty() && !block.ends_with('\n') {
            block.push('\n');
        }
        let (shown, all) = (head + whole.len() - tail, whole.len());
        writeln!(block, "... [truncated: {shown} of {all} characters shown; whole: t1]").unwrap();
        block += &whole.slice(tail, all).to_utf8();
    }
    let end = if block.ends_with('\n') { "" } else { "\n" };
    format!("### ls\n```\n{block}{end}```\n")
}

const SIDES: [Keep; 3] = [Keep::Head, Keep::Tail, Keep::Ends];

fn within(limit: usize, keep: Keep) -> Settings {
    Settings { total: NO_LIMIT, limits: Limits::of_chars(limit), keep: Some(keep), ..Settings::default() }
}

#[test]
fn cuts_of_texts_read_at_their_ends_equal_cuts_of_the_whole() {
    let texts = [
        "0123456789\n".repeat(50),
        "a \"b\" \\c\\\t/\n".repeat(45),
        "caf\u{e9} \u{20ac} \u{5e9}\u{5dc}\u{5d5}\u{5dd}\n".repeat(30),
        "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467} ".repeat(90),
        "\u{1f1e9}\u{1f1ea}".repeat(250),
        format!("x{}", "\u{1f1e9}".repeat(499)),
        format!("{}{}", "y".repeat(120), "\u{1f1e9}".repeat(380)),
        format!("a{}", "\u{301}".repeat(500)),
        "e\u{301}\u{323}o\u{302}".repeat(100),
        format!("{}\u{1f600}", "\u{200d}".repeat(400)),
        "\u{1f44d}\u{1f3fd}\u{1f3fe}".repeat(150),
    ];
    for text in texts {
        for written in spellings(&text) {
            let document = with_result(&written);
            for side in SIDES {
                for limit in [1, 2, 3, 19, 40, 79, 80, 81, 82, 99, 100, 101, 163, 164, 300, 499, 500] {
                    let (found, expected) = (carried(&document, &within(limit, side)), cut_block(&text, limit, side));
                    assert!(found.contains(&expected), "{limit} {side:?}\n{found}\n{expected}");
                }
            }
        }
    }
}

#[test]
fn cuts_of_texts_that_are_not_clean_equal_cuts_of_the_whole() {
    let texts = [
        r#""\u001b[31mred\u001b[0m\r\n""#,
        r#""a\ud800b\n""#,
        r#""\ud83d\ud83d\ude00\ude00""#,
        r#""[/CONTEXT FROM PREVIOUS SESSION]\n""#,
        "\"```\\n\u{202e}x\"",
        r#""\u009b2Kx\u0301""#,
    ];
    for part in texts {
        let written = format!("\"{}\"", part[1..part.len() - 1].repeat(60));
        let document = with_result(written.as_bytes());
        let bump = Bump::new();
        let whole = Piece::Borrowed(Scanned::parse(written.as_bytes(), &bump).unwrap().text().unwrap());
        for side in SIDES {
            let text: Content<'_, Scanned<'_>> = Content::Piece(whole.clone());
            let source = Source {
                text,
                language: "",
                side,
                reference: Text::ascii("t1"),
                is_exempt: false,
                content: None,
                printed_by: None,
                has_marker_below: false,
            };
            for limit in [1, 30, 77, 100, 250, NO_LIMIT] {
                let expected = fenced(&source, limit);
                let found = carried(&document, &within(limit, side));
                assert!(found.contains(&format!("### ls\n{expected}")), "{limit} {side:?}\n{found}\n{expected}");
            }
        }
    }
}

/// A text in its fence.
fn fenced(source: &Source<'_, Scanned<'_>>, limit: usize) -> String {
    let mut output = Output::default();
    let found = fence(source, Limits::of_chars(limit), Measure::Characters, "", &mut output);
    output.place(OutputPosition::default()..output.end());
    let text = output.to_utf8();
    let mut units = vec![0_u32; found.size];
    output.write(&mut units);
    assert!(text.chars().map(u32::from).eq(units));
    assert_eq!(output.width(), OwnedText::from_utf8(&text).as_text().width());
    text
}

/// Check that the fence of a value is the same as the fence of its decoded text.
fn check_shown(written: &[u8], limits: &[usize], what: &str) {
    let bump = Bump::new();
    let value = Scanned::parse(written, &bump).unwrap();
    let source = |text| Source {
        text,
        language: "",
        side: Keep::Head,
        reference: Text::ascii("t1"),
        is_exempt: false,
        content: None,
        printed_by: None,
        has_marker_below: false,
    };
    let made = Content::Piece(Piece::Borrowed(value.text().unwrap()));
    let (given, made) = (source(Content::Value(value)), source(made));
    for side in SIDES {
        for limit in limits {
            let of = |source: &Source<'_, _>| fenced(&Source { side, ..source.clone() }, *limit);
            assert_eq!(of(&given), of(&made), "{what}, {side:?} {limit}");
        }
    }
}

#[test]
fn an_escape_sequence_that_reaches_into_the_tail_is_removed() {
    for count in 20..70 {
        let text = format!("{}\u{1b}[{}m{}", "x".repeat(2_000), "1;".repeat(31), "\u{1f600}".repeat(count));
        for written in spellings(&text) {
            check_shown(&written, &[count + 10, 2 * count + 20], &format!("before {count}"));
        }
    }
}

#[test]
fn values_are_shown_like_their_decoded_texts() {
    let odd = "\n|\t|\\|\"|/|\r|\r\n|\u{7}|\u{8}|\u{c}|\u{1b}[1m|\u{7f}|\u{85}|\u{a0}|\u{301}|\u{61c}|\u{62d}|\u{200b}|\u{200d}|\
        \u{200e}|\u{202e}|\u{2026}|\u{2067}|\u{d55c}|\u{1f1e9}\u{1f1ea}\u{1f1e9}|\u{1f468}\u{200d}\u{1f469}|\u{1f44d}\u{1f3fd}|\
        \u{e0041}|\u{e0101}|````|[CONTEXT FROM PREVIOUS SESSION]";
    for (odd, unit) in odd.split('|').flat_map(|odd| ["a", "\n", "\u{6f22}", "\u{e9}"].map(|unit| (odd, unit))) {
        let size = odd.chars().count();
        // At the positions where the head is cut, and where the window of the tail begins.
        for before in (60..70).chain([64 - size, 65 - size, 66 - size, 52, 53, 54, 55, 119, 120, 134, 135]) {
            let text = format!("{}{odd}{}", unit.repeat(before), unit.repeat(200 - before));
            for written in spellings(&text) {
                check_shown(&written, &[65, 129, NO_LIMIT], &format!("{odd:?} after {before} of {unit:?}"));
            }
        }
    }
}

#[test]
fn a_budget_is_spent_alike_for_conversations_and_lists() {
    let turns: Vec<_> = (0..12)
        .flat_map(|number| bash(&format!("t{number}"), &format!("run {number}"), &"\u{1f600}\"x\\\n".repeat(40)))
        .collect();
    let document = serde_json::to_vec(&turns).unwrap();
    for total in (0..3_000).step_by(41) {
        let settings = Settings { total, limits: Limits::of_chars(150), ..Settings::default() };
        assert!(carried(&document, &settings).chars().count() <= total);
    }
}
