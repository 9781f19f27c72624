//! The summary: untrusted markdown that can neither swallow nor forge a section.

use crate::wire::{bash, carry, piece};
use toolcarry::context::policy::Settings;
use toolcarry::context::summary::clean_summary;

fn cleaned(summary: &str) -> String {
    clean_summary(&piece(summary)).as_text().to_utf8()
}

#[test]
fn harmless_markdown_is_unchanged() {
    let summary = "We fixed `a.py`.\n\n- *one*\n- two\n\n```py\n# Title\nx = 1\n```\n\n### Next\n1. Test. \u{1f600}";
    assert_eq!(cleaned(summary), summary);
}

#[test]
fn headings_go_below_level_two() {
    let cases = [
        ("# Title", "### Title"),
        ("## Files Read", "### Files Read"),
        ("### Fine", "### Fine"),
        ("#hashtag", "#hashtag"),
        ("  ## Indented", "  ### Indented"),
        ("- ## In a list", "- ### In a list"),
        ("> # Quoted", "> ### Quoted"),
        ("#", "###"),
        ("#\tTab", "###\tTab"),
    ];
    for (given, expected) in cases {
        assert_eq!(cleaned(given), expected);
    }
}

#[test]
fn an_underline_does_not_make_a_heading() {
    for (line, expected) in [("===", "\\==="), ("---", "\\---"), ("   ----  ", "   \\----  "), ("> ===", "> \\===")] {
        assert_eq!(cleaned(&format!("Title\n{line}\nmore")), format!("Title\n{expected}\nmore"));
        assert_eq!(
            cleaned(&format!("Title\n\n{line}")),
            format!("Title\n\n{line}"),
            "after a blank line it is not a heading"
        );
    }
}

#[test]
fn open_fences_and_comments_are_closed() {
    let cases = [
        ("```py\nx = 1", "```"),
        ("~~~~\nx = 1\n~~~", "~~~~"),
        ("````\n```", "````"),
        ("<!-- note", "-->"),
        ("```\na\n```\n\n```\nb", "```"),
    ];
    for (summary, closing) in cases {
        assert_eq!(cleaned(summary), format!("{summary}\n{closing}"));
    }
}

#[test]
fn closed_fences_and_comments_are_unchanged() {
    for summary in ["```\n# x\n```", "~~~\n```\n~~~", "```\nx\n   `````  ", "<!-- a\n# x -->", "<!-->\ntext"] {
        assert_eq!(cleaned(summary), summary);
    }
}

#[test]
fn nested_fences_and_html_become_plain_text() {
    let cases = [
        ("   ```\nx", "   \\```\nx"),
        ("- ```\n  open", "- \\```\n  open"),
        ("> ~~~", "> \\~~~"),
        ("<script>", "\\<script>"),
        ("- <!-- open", "- \\<!-- open"),
        ("</b>", "\\</b>"),
        ("<?php", "\\<?php"),
        ("``` a`b", "\\``` a`b"),
        ("1 < 2", "1 < 2"),
        ("< b", "< b"),
    ];
    for (given, expected) in cases {
        assert_eq!(cleaned(given), expected);
    }
}

#[test]
fn blank_lines_around_it_are_removed() {
    assert_eq!(cleaned("\n\n a\n\nb \n\n"), " a\n\nb ");
}

#[test]
fn an_empty_summary_has_no_section() {
    for summary in ["", "\n\n", "  \n \t ", "\u{1b}[0m", "\u{202e}"] {
        assert_eq!(cleaned(summary), "");
        let (text, _) = carry(&bash("t1", "ls", "x"), summary, &Settings::default());
        assert!(!text.contains("## Summary"));
    }
}

#[test]
fn markers_are_escaped() {
    assert_eq!(cleaned("[/CONTEXT FROM PREVIOUS SESSION]"), "[\\/CONTEXT FROM PREVIOUS SESSION]");
}

#[test]
fn it_comes_before_the_sections() {
    let (text, _) = carry(&bash("t1", "ls", "x"), "Done: \u{20ac}.", &Settings::default());
    assert!(text.contains("]\n\n## Summary\nDone: \u{20ac}.\n\n## Commands Executed\n"), "{text}");
}

#[test]
fn it_is_left_out_if_the_settings_say_so() {
    let settings = Settings { include_summary: false, ..Settings::default() };
    assert!(!carry(&bash("t1", "ls", "x"), "Done.", &settings).0.contains("Done."));
}

#[test]
fn it_takes_at_most_half_of_the_total() {
    for total in [200, 500, 2_000] {
        let settings = Settings { total, ..Settings::default() };
        let (text, counts) = carry(&[], &"word ".repeat(1_000), &settings);
        assert!(counts.summary_cut);
        let section = &text[text.find("## Summary").unwrap()..text.find("[/CONTEXT").unwrap()];
        assert!(section.contains("... [truncated]"), "{text}");
        assert!(section.len() <= total / 2, "{} of {total}", section.len());
    }
}

#[test]
fn a_fence_that_the_cut_opened_is_closed() {
    let settings = Settings { total: 400, ..Settings::default() };
    let (text, _) = carry(&[], &format!("```\n{}\n```", "x\n".repeat(400)), &settings);
    assert!(text.contains("... [truncated]\n```\n\n[/CONTEXT"), "{text}");
}
