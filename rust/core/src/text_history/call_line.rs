//! The line of a tool call: `[Tool: ReadFile(path="test.cs")] → its result`.

use crate::content::Content;
use crate::context::block::call_title;
use crate::json::value::Value;
use crate::pairing::block::Entry;
use crate::text::constants::{NO_OUTPUT, TOOL_LINE, TRUNCATED};
use crate::text::piece::Piece;
use crate::text::sanitize::{cut_text, escape_marks, has_controls, without_controls};
use crate::text::segment::Segment;
use crate::text::truncate::Keep;
use crate::text::{OwnedText, Text};

/// The beginning of a call line, preceded by a line feed. In a result it is escaped.
const MARK_OF_A_LINE: [&str; 1] = ["\n[Tool: "];
const ARROW: Text<'static> = Text::Ucs2(&[0x20, 0x2192, 0x20]);
/// The separator between lines.
pub(super) const SEPARATOR: &str = "\n\n";
/// The maximum number of characters of a call with its arguments.
const LONGEST_CALL: usize = 2_000;
/// The number of characters beyond the limit that may turn out to be control characters or line feeds, so that nothing
/// is cut. A result that exceeds the limit by more is always cut.
const SLACK: usize = 64;
/// The number of characters that is enough for most calls.
const USUAL_CALL: usize = 128;
/// The number of characters at each end that are searched for line feeds before the whole text is decoded.
const END: usize = 64;

/// The outcome for a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ResultOutcome {
    /// It is shown whole.
    Whole,
    /// It was cut to the limit on one result.
    Cut,
    /// It was cut to fit the total.
    CutFurther,
    /// It was left out.
    Shortened,
}

/// A line under construction: its call and the shown part of the result, which had `chars_before` characters.
#[derive(Debug)]
pub(super) struct ToolLine<'a> {
    pub(super) call: Piece<'a>,
    pub(super) status: &'static str,
    pub(super) result: Piece<'a>,
    pub(super) fate: ResultOutcome,
    pub(super) chars_before: usize,
}

impl<'a> ToolLine<'a> {
    pub(super) fn new<V: Value<'a>>(entry: &Entry<'a, V>, limit: usize) -> Self {
        let mut call = OwnedText::with_room(USUAL_CALL);
        call.push_ascii(TOOL_LINE);
        call_title(&mut call, entry, LONGEST_CALL);
        call.push_ascii("]");
        let mut line = Self {
            call: Piece::own(call),
            status: if entry.is_error() { "(failed)" } else { "" },
            result: Piece::default(),
            fate: ResultOutcome::Whole,
            chars_before: 0,
        };
        if entry.result.is_none() {
            line.status = "(no result)";
            return line;
        }
        let content = &entry.text;
        line.chars_before = content.len();
        let (result, is_cut) = cut_result(content, limit);
        line.result = result;
        if is_cut {
            line.fate = ResultOutcome::Cut;
        } else if line.result.is_empty() && line.status.is_empty() {
            line.status = NO_OUTPUT;
        }
        line
    }

    /// Return the parts of the line.
    pub(super) fn parts(&self) -> Vec<Segment<'a>> {
        match self.fate {
            ResultOutcome::Shortened => vec![self.call.clone().into()],
            fate => self.with_result(&self.result, fate != ResultOutcome::Whole),
        }
    }

    /// Return the parts of the line with another result.
    pub(super) fn with_result(&self, result: &Piece<'a>, is_cut: bool) -> Vec<Segment<'a>> {
        let has_both = !self.status.is_empty() && (is_cut || !result.is_empty());
        let pieces = [
            self.call.clone(),
            Piece::Borrowed(ARROW),
            Piece::ascii(self.status),
            Piece::ascii(if has_both { " " } else { "" }),
            result.clone(),
            Piece::ascii(if is_cut { TRUNCATED } else { "" }),
        ];
        pieces.map(Segment::from).into()
    }
}

/// Return the first `limit` characters of a result, and true if that is not all of it. Control characters are removed,
/// and a line that looks like a call line is escaped.
fn cut_result<'a, V: Value<'a>>(content: &Content<'a, V>, limit: usize) -> (Piece<'a>, bool) {
    let text = clean_start(content, limit).unwrap_or_else(|| {
        let text = content.whole().trim_newlines();
        let start = text.slice(0, limit.saturating_add(1));
        let is_long = text.len() > limit.saturating_add(SLACK);
        if is_long && !has_controls(start.text()) { text } else { without_controls(&text).trim_newlines() }
    });
    let (head, tail) = cut_text(text.text(), limit, Keep::Head);
    let shown = escape_marks(&text.slice(0, head), &MARK_OF_A_LINE);
    if shown.len() > limit {
        let (head, _) = cut_text(shown.text(), limit, Keep::Head);
        return (shown.slice(0, head), true);
    }
    (shown, head < tail)
}

/// Return the first `limit + 1` characters of an over-long result, if they need no cleaning.
fn clean_start<'a, V: Value<'a>>(content: &Content<'a, V>, limit: usize) -> Option<Piece<'a>> {
    let size = content.len();
    let most = limit.saturating_add(SLACK);
    if size <= most {
        return None;
    }
    let before = newlines(&content.start(END), false)?;
    let after = newlines(&content.end(END), true)?;
    if size - before - after <= most {
        return None;
    }
    let start = content.start(before + limit + 1);
    let start = start.slice(before, start.len());
    (!has_controls(start.text())).then_some(start)
}

/// Return the number of line feeds at one end of a string; `None` if there is nothing else.
fn newlines(text: &Piece<'_>, is_end: bool) -> Option<usize> {
    let text = text.text();
    let size = text.len();
    (0..size).find(|index| text.get(if is_end { size - 1 - index } else { *index }) != Some(0x0A))
}
