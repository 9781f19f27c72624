//! Fences: marks that the content can't close, cuts, and the remaining room.

use crate::wire::piece;
use toolcarry::content::Content;
use toolcarry::context::fence::{Fenced, Source as SourceOf, fence, fence_into};
use toolcarry::context::limits::{Limits, Measure};
use toolcarry::context::output::{Output, OutputPosition};
use toolcarry::json::scanned::Scanned;
use toolcarry::text::Text;
use toolcarry::text::piece::Piece;
use toolcarry::text::sanitize::clean;
use toolcarry::text::truncate::Keep;

type Source = SourceOf<'static, Scanned<'static>>;

const ALL: usize = 1_000_000;
const SIDES: [Keep; 3] = [Keep::Head, Keep::Tail, Keep::Ends];

fn source(text: &str, side: Keep) -> Source {
    Source {
        text: Content::Piece(piece(text)),
        language: "",
        side,
        reference: Text::ascii("t1"),
        is_exempt: false,
        content: None,
        printed_by: None,
        has_marker_below: false,
    }
}

/// A fenced text, with its size, the number of characters shown, and true if it was cut.
struct Block {
    output: Output<'static>,
    size: usize,
    shown: usize,
    is_cut: bool,
}

impl Block {
    /// Place the text in the output.
    fn new(mut output: Output<'static>, fenced: Fenced) -> Self {
        output.place(OutputPosition::default()..output.end());
        Self { output, size: fenced.size, shown: fenced.shown, is_cut: fenced.is_cut }
    }

    fn text(&self) -> String {
        self.output.to_utf8()
    }
}

fn cut_to(source: &Source, limit: usize) -> Block {
    let mut output = Output::default();
    let fenced = fence(source, Limits::of_chars(limit), Measure::Characters, "", &mut output);
    Block::new(output, fenced)
}

fn fit_into(source: &Source, limit: usize, room: usize) -> Option<Block> {
    let mut output = Output::default();
    let fenced = fence_into(source, Limits::of_chars(limit), (room, Measure::Characters), "", &mut output);
    fenced.map(|fenced| Block::new(output, fenced))
}

fn fenced(text: &str, side: Keep, limit: usize) -> String {
    cut_to(&source(text, side), limit).text()
}

/// Return the content of a fence, and check that the fence ends with its last line and not before.
fn inside(text: &str) -> &str {
    let (first, rest) = text.split_once('\n').unwrap();
    let mark = first.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    assert!(mark.len() >= 3, "{text:?}");
    let content = rest.strip_suffix(&format!("{mark}\n")).unwrap();
    assert!(content.ends_with('\n') && !content.contains(mark), "{text:?}");
    content
}

// Marks

#[test]
fn the_mark_is_longer_than_any_run_inside() {
    let cases = [
        ("x", "```"),
        ("``", "```"),
        ("```", "~~~"),
        ("~~~", "```"),
        ("```\n~~~", "````"),
        ("````\n~~~", "~~~~"),
        ("a ````` b\n~~~~~~", "``````"),
    ];
    for (content, mark) in cases {
        for suffix in ["", "\u{e9}", "\u{20ac}", "\u{1f600}"] {
            assert_eq!(fenced(&format!("{content}\n{suffix}"), Keep::Head, ALL).split('\n').next(), Some(mark));
        }
    }
}

#[test]
fn a_run_that_is_cut_away_needs_no_long_mark() {
    assert!(fenced(&("x".repeat(50) + "``````"), Keep::Head, 20).starts_with("```\nxxx"));
}

#[test]
fn the_reference_can_not_close_the_fence() {
    let hostile = Source { reference: Text::ascii("`````\n```"), ..source(&"x".repeat(100), Keep::Head) };
    let text = cut_to(&hostile, 30).text();
    assert!(inside(&text).contains("whole: `````\\n```]\n"));
}

// Contents

#[test]
fn the_content_is_the_text_with_one_final_newline() {
    for (given, expected) in [("a", "a\n"), ("a\n", "a\n"), ("a\n\n", "a\n\n"), ("\n", "\n"), ("", "(no output)\n")] {
        assert_eq!(inside(&fenced(given, Keep::Head, ALL)), expected);
    }
}

#[test]
fn a_text_that_is_empty_after_cleaning_is_no_output() {
    assert_eq!(inside(&fenced("\u{1b}[0m\u{7}", Keep::Head, ALL)), "(no output)\n");
}

#[test]
fn the_language_follows_the_mark() {
    let python = Source { language: "python", ..source("x = 1", Keep::Head) };
    assert_eq!(cut_to(&python, ALL).text(), "```python\nx = 1\n```\n");
}

// Cuts

#[test]
fn a_cut_keeps_the_chosen_side() {
    let marker = "... [truncated: 4 of 12 characters shown; whole: t1]\n";
    let expected = [format!("aaaa\n{marker}"), format!("{marker}cccc\n"), format!("aa\n{marker}cc\n")];
    for (side, expected) in SIDES.into_iter().zip(expected) {
        assert_eq!(inside(&fenced("aaaabbbbcccc", side, 4)), expected);
    }
}

#[test]
fn a_text_within_its_limit_is_whole() {
    for side in SIDES {
        let found = cut_to(&source("0123456789", side), 10);
        assert_eq!((found.shown, found.is_cut), (10, false));
    }
}

#[test]
fn limit_zero_shows_the_marker_alone() {
    for side in SIDES {
        let expected = "... [truncated: 0 of 100 characters shown; whole: t1]\n";
        assert_eq!(inside(&fenced(&"x".repeat(100), side, 0)), expected);
    }
}

#[test]
fn the_marker_of_a_result_without_id_has_no_reference() {
    let nameless = Source { reference: Text::ascii(""), ..source(&"x".repeat(54_321), Keep::Head) };
    assert!(cut_to(&nameless, 12_345).text().contains("\n... [truncated: 12,345 of 54,321 characters shown]\n"));
}

#[test]
fn the_limit_counts_cleaned_characters() {
    let red = "\u{1b}[31mred\u{1b}[0m\r\n".repeat(100);
    for side in SIDES {
        let text = fenced(&red, side, 80);
        assert_eq!(text.matches("red\n").count(), 20, "{text}");
        assert!(text.contains("[truncated: 80 of 1,400 characters"), "{text}");
    }
    assert!(!cut_to(&source(&red, Keep::Head), 400).is_cut);
}

#[test]
fn a_cut_splits_no_cluster() {
    let family = "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}";
    let found = cut_to(&source(&family.repeat(10), Keep::Head), 12);
    assert_eq!(found.shown, 10);
    assert!(found.text().starts_with(&format!("```\n{family}{family}\n... [")));
}

#[test]
fn every_limit_holds() {
    let texts = ["0123456789\n".repeat(20), "e\u{301}\r\n".repeat(60), "```\n~~~~\n\u{1f600}".repeat(15)];
    for text in &texts {
        for side in SIDES {
            for limit in 0..240 {
                let found = cut_to(&source(text, side), limit);
                assert!(found.shown <= limit);
                assert_eq!(found.size, found.output.len());
                inside(&found.text());
            }
        }
    }
}

/// Only the ends that a cut may show are cleaned, if the outcome is the same as after cleaning the whole text.
#[test]
fn a_cut_shows_what_a_cut_of_the_cleaned_text_would() {
    let without_marker = |text: &str| -> Vec<String> {
        text.lines().filter(|line| !line.starts_with("... [truncated")).map(str::to_owned).collect()
    };
    let long_sequence = format!("\u{1b}[{}m", "1".repeat(64));
    for dirt in ["\u{1b}[31m", "\u{1b}[31m\u{301}", "\r\n", "\u{9b}2K", &long_sequence] {
        for place in 0..=150 {
            let given = format!("{}{dirt}{}", "x".repeat(place), "y".repeat(150 - place));
            let cleaned = clean(&piece(&given)).text().to_utf8();
            for side in SIDES {
                let (found, expected) = (fenced(&given, side, 40), fenced(&cleaned, side, 40));
                assert_eq!(without_marker(&found), without_marker(&expected), "{given:?}");
            }
        }
    }
}

// Room

#[test]
fn a_text_fits_into_its_size_exactly() {
    for line in ["0123456789", "012345678\n"] {
        let whole = source(&line.repeat(12), Keep::Ends);
        let size = cut_to(&whole, ALL).size;
        assert!(fit_into(&whole, ALL, size).is_some_and(|found| !found.is_cut), "{line:?}");
        assert!(fit_into(&whole, ALL, size - 1).is_some_and(|found| found.is_cut), "{line:?}");
    }
}

#[test]
fn no_fence_is_larger_than_its_room() {
    let texts =
        ["0123456789\n".repeat(30), "`".repeat(300), "e\u{301}\r\n".repeat(90), "\u{1b}[1m```x\n~~~y\n".repeat(25)];
    for text in &texts {
        for side in SIDES {
            for room in 0..400 {
                let Some(found) = fit_into(&source(text, side), ALL, room) else { continue };
                assert!(found.size <= room, "{} > {room}", found.size);
                assert!(!found.is_cut || found.shown >= 20, "{} shown", found.shown);
                inside(&found.text());
            }
        }
    }
}

#[test]
fn a_cut_that_would_show_too_little_is_not_made() {
    let long = source(&"x".repeat(1_000), Keep::Head);
    assert!(fit_into(&long, 19, 500).is_none());
    assert!(fit_into(&long, 20, 500).is_some_and(|found| found.shown == 20));
    assert!(fit_into(&long, ALL, 60).is_none());
    assert!(fit_into(&source("short", Keep::Head), ALL, 15).is_some());
}

#[test]
fn earlier_output_is_kept() {
    let mut output = Output::default();
    output.push(Piece::ascii("before"));
    let (before, long) = (output.end(), source(&"x".repeat(1_000), Keep::Head));
    assert!(fence_into(&long, Limits::of_chars(ALL), (60, Measure::Characters), "", &mut output).is_none());
    assert_eq!(output.end(), before);
    let size = fence(&source("x", Keep::Head), Limits::of_chars(ALL), Measure::Characters, "", &mut output).size;
    output.place(before..output.end());
    assert_eq!((output.to_utf8().as_str(), output.len()), ("before```\nx\n```\n", 6 + size));
}
