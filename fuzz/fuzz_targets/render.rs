//! Any text in a fence, cut to the room: the fence ends with its last line, and its counts are right. Cleaning a clean
//! text changes nothing.

#![no_main]

use libfuzzer_sys::fuzz_target;
use toolcarry::content::Content;
use toolcarry::context::fence::{Fenced, Source, fence, fence_into};
use toolcarry::context::limits::{Limits, Measure};
use toolcarry::context::output::{Output, OutputPosition};
use toolcarry::context::summary::clean_summary;
use toolcarry::json::scanned::Scanned;
use toolcarry::text::piece::Piece;
use toolcarry::text::sanitize::{CLOSE_MARKER, OPEN_MARKER, clean, clean_line, is_clean};
use toolcarry::text::truncate::Keep;
use toolcarry::text::{OwnedText, Text};

#[path = "../texts.rs"]
mod texts;

const LONGEST: usize = 4_096;

fuzz_target!(|data: &[u8]| {
    let Some((&[limit, room, keep], rest)) = data.split_first_chunk() else { return };
    let text = Piece::own(owned(&texts::code_points(rest)));
    let sizes = [usize::from(limit) * usize::from(limit), 16 * usize::from(room)];
    let side = [Keep::Head, Keep::Tail, Keep::Ends][usize::from(keep % 3)];
    check_cleaning(&text, sizes[0].max(3)); // a shortened line has at least its three dots
    let source: Source<'_, Scanned<'_>> = Source {
        text: Content::Piece(text),
        language: ["", "python"][usize::from(keep >> 2 & 1)],
        side,
        reference: Text::ascii("t1"),
        is_exempt: keep >> 3 & 1 == 1,
        content: None,
        printed_by: None,
        has_marker_below: false,
    };
    let mut output = Output::default();
    let whole = fence(&source, Limits::of_chars(sizes[0]), Measure::Characters, "", &mut output);
    check_fence(output, &whole, source.language);
    assert!(whole.shown <= sizes[0]);
    let mut output = Output::default();
    match fence_into(&source, Limits::of_chars(sizes[0]), (sizes[1], Measure::Characters), "", &mut output) {
        Some(part) => {
            check_fence(output, &part, source.language);
            assert!(part.size <= sizes[1] && part.shown <= sizes[0]);
        }
        None => assert_eq!(output.end(), OutputPosition::default()),
    }
});

fn owned(text: &[u32]) -> OwnedText {
    let mut all = OwnedText::default();
    for code_point in text {
        let unit = [*code_point];
        let narrow = u16::try_from(*code_point).map(|unit| [unit]);
        let byte = u8::try_from(*code_point).map(|unit| [unit]);
        match (&byte, &narrow) {
            (Ok(byte), _) => all.push(Text::Latin1(byte)),
            (_, Ok(narrow)) => all.push(Text::Ucs2(narrow)),
            _ => all.push(Text::Ucs4(&unit)),
        }
    }
    all
}

fn check_cleaning(text: &Piece<'_>, limit: usize) {
    let cleaned = clean(text);
    assert_eq!(clean(&cleaned), cleaned);
    assert!(!is_clean(text.text()) || cleaned == *text);
    let shown = cleaned.text().to_utf8();
    assert!(!shown.contains(OPEN_MARKER) && !shown.contains(CLOSE_MARKER));
    assert!(shown.chars().all(|letter| !letter.is_control() || matches!(letter, '\n' | '\t')));
    let line = clean_line(text, limit).text().to_utf8();
    assert!(line.chars().count() <= limit && !line.contains(['\n', '\t']));
    if text.len() <= LONGEST {
        let summary = Piece::own(clean_summary(text));
        assert_eq!(clean(&summary), summary);
    }
}

/// Check that the fence ends with its last line, and that no line inside could close it.
fn check_fence(mut output: Output<'_>, fenced: &Fenced, language: &str) {
    output.place(OutputPosition::default()..output.end());
    let text = output.to_utf8();
    assert_eq!(text.chars().count(), fenced.size);
    let Some((first, rest)) = text.split_once('\n') else { panic!("{text:?}") };
    let mark = first.strip_suffix(language).unwrap();
    assert!(mark.len() >= 3 && (mark.bytes().all(|byte| byte == b'`') || mark.bytes().all(|byte| byte == b'~')));
    let content = rest.strip_suffix('\n').and_then(|rest| rest.strip_suffix(mark)).unwrap();
    assert!(content.is_empty() || content.ends_with('\n'), "{text:?}");
    let ends = |line: &str| line.trim_start_matches(' ').starts_with(mark);
    assert!(!content.split('\n').any(ends), "{text:?}");
}
