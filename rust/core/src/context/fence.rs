//! Fenced code blocks whose content can't close them, cut to a limit or to the rest of the total.
//!
//! The line of an image or a document is shown whole or not at all, since a part of its URL is of no use.

use std::cell::OnceCell;

use super::limits::{Cut, Limits, Measure, cut_clean, cut_plain, room_of, signed};
use super::output::Output;
use crate::content::Content;
use crate::content::client_blocks::{around_blocks, may_have_blocks};
use crate::content::media::{is_media_line, media_label};
use crate::content::terminal::last_state;
use crate::dedupe::rules::bare_name;
use crate::json::value::Value;
use crate::shorten::{Draft, Kinds, was_drawn};
use crate::text::constants::NO_OUTPUT;
use crate::text::piece::Piece;
use crate::text::sanitize::{clean, clean_line};
use crate::text::segment::Segment;
use crate::text::truncate::Keep;
use crate::text::{OwnedText, Text, Unit, on_units};
use crate::tokens::messages::count_media;

/// The fewest characters that a cut text may show. With fewer, the block is left out.
const LEAST_SHOWN: usize = 20;
const LONGEST_REFERENCE: usize = 210;
/// The usual opening fence.
const OPENING: &str = "```";
/// The usual closing fence, with the line feeds that may be needed before and after it.
const CLOSING: &str = "\n```\n\n";

/// A text to be fenced, with its language, the part that stays if it is cut, and the reference to the full text.
#[derive(Clone, Debug)]
pub struct Source<'a, V> {
    /// The text.
    pub text: Content<'a, V>,
    /// The language of the fence; may be empty.
    pub language: &'static str,
    /// The part that stays if the text is cut.
    pub side: Keep,
    /// The id of the call.
    pub reference: Text<'a>,
    /// True for a command, which is shown whole: the limit on one result does not apply.
    pub is_exempt: bool,
    /// The content of the result, if the text is a result's.
    pub content: Option<V>,
    /// The command or the tool that printed the text; `None` if all of its lines matter alike.
    pub printed_by: Option<Printer<'a>>,
    /// True if no marker is put into JSON: readers take it for a part of the result.
    pub has_marker_below: bool,
}

/// The command or the tool that printed a text.
#[derive(Clone, Debug)]
pub struct Printer<'a> {
    pub(crate) name: Piece<'a>,
    pub(crate) is_command: bool,
    /// The text that it printed, read by what it is. A text may be cut several times until it fits.
    pub(crate) draft: OnceCell<Option<Draft>>,
}

impl Printer<'_> {
    /// Return the command, or the name of the tool without that of its server.
    pub(crate) fn command(&self) -> String {
        if self.is_command { self.name.text().to_utf8() } else { bare_name(self.name.text()) }
    }
}

/// A finished code block: its size and the number of characters shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fenced {
    /// The size of the block, including the text that ends it.
    pub size: usize,
    /// The number of characters of the text that are shown.
    pub shown: usize,
    /// True if that is not the whole text.
    pub is_cut: bool,
}

/// Keep `source` in `out` as a fenced block, cut to its limits and followed by `end`.
pub fn fence<'a, V: Value<'a>>(
    source: &Source<'a, V>,
    limits: Limits,
    measure: Measure,
    end: &'static str,
    out: &mut Output<'a>,
) -> Fenced {
    let start = out.end();
    let shown = cut_to(source, limits, measure);
    let (mark, ends_with_newline) = (shown.mark(), shown.ends_with_newline(source.side));
    let Shown { head, tail, reference, left_out, tokens, by_kind } = shown;
    let (chars, is_cut) = (by_kind.unwrap_or(head.len() + tail.len()), reference.is_some() || by_kind.is_some());
    let needs_newline = !head.is_empty() && !head.ends_with_newline();
    match &mark {
        Some(mark) => out.keep_ascii(mark),
        None => out.keep_ascii(OPENING),
    }
    out.keep_ascii(source.language);
    out.keep_ascii("\n");
    let inside = out.end();
    out.keep(head);
    let head_end = out.end();
    if let Some(reference) = reference {
        keep_marker(out, needs_newline, [chars, source.text.len()], &left_out, reference);
        if source.side != Keep::Head {
            out.keep_ascii("\n");
        }
    } else if chars == 0 {
        out.keep_ascii(NO_OUTPUT);
    }
    let tail_start = out.end();
    out.keep(tail);
    let tail_end = out.end();
    let newline = if ends_with_newline { "" } else { "\n" };
    match (&mark, end) {
        (None, "" | "\n") => {
            out.keep_ascii(CLOSING.get(1 - newline.len()..CLOSING.len() - 1 + end.len()).unwrap_or(CLOSING));
        }
        (mark, _) => out.keep_ascii(&format!("{newline}{}\n{end}", mark.as_deref().unwrap_or(OPENING))),
    }
    let [head_tokens, tail_tokens] = tokens;
    let stretches = [
        (start..inside, None),
        (inside..head_end, head_tokens),
        (head_end..tail_start, None),
        (tail_start..tail_end, tail_tokens),
        (tail_end..out.end(), None),
    ];
    Fenced { size: measure.size_kept(out, stretches), shown: chars, is_cut }
}

/// Keep `source` in `out` as a fenced block of at most `room` in total. Return `None` and keep nothing if too little
/// of the text would be shown.
pub fn fence_into<'a, V: Value<'a>>(
    source: &Source<'a, V>,
    limits: Limits,
    (room, measure): (usize, Measure),
    end: &'static str,
    out: &mut Output<'a>,
) -> Option<Fenced> {
    let start = out.end();
    let frame = measure.size_ascii(&format!("```{}\n```\n{end}", source.language));
    let mut fenced = fence(source, limits.within(room.saturating_sub(frame), measure), measure, end, out);
    if fenced.size > room {
        out.go_back(start);
        keep_marker(out, false, [room, source.text.len()], "", reference_of(source));
        let note = measure.size_kept(out, [(start..out.end(), None)]);
        let limits = limits.within(room.saturating_sub(frame + note + 3), measure);
        out.go_back(start);
        fenced = fence(source, limits, measure, end, out);
        if fenced.size > room {
            let (limit, excess) = (limits.of(measure), fenced.size - room);
            let limit = limit.saturating_sub(excess).max((limit / 2).saturating_sub(16));
            out.go_back(start);
            fenced = fence(source, limits.within(limit, measure), measure, end, out);
        }
    }
    let is_enough = fenced.size <= room && (!fenced.is_cut || fenced.shown >= LEAST_SHOWN);
    if !is_enough {
        out.go_back(start);
    }
    is_enough.then_some(fenced)
}

/// The part of a text that a fence shows: the whole text, as the head, or both ends. One end may be empty.
struct Shown<'a> {
    head: Segment<'a>,
    tail: Segment<'a>,
    /// The reference for the marker between the ends; `None` if the text is shown whole.
    reference: Option<Piece<'a>>,
    /// The kinds of the media between the ends; empty without media.
    left_out: String,
    /// The tokens of both ends, if they were counted.
    tokens: [Option<usize>; 2],
    /// The characters shown of a text that is shortened by what it is. Then the head has the marker.
    by_kind: Option<usize>,
}

impl<'a> Shown<'a> {
    fn whole(text: impl Into<Segment<'a>>, tokens: Option<usize>) -> Self {
        let (head, tail) = (text.into(), Segment::default());
        Self { head, tail, reference: None, left_out: String::new(), tokens: [tokens, None], by_kind: None }
    }

    fn ends<V: Value<'a>>(source: &Source<'a, V>, [head, tail]: [Segment<'a>; 2], tokens: Option<[usize; 2]>) -> Self {
        let tokens = tokens.map_or([None; 2], |tokens| tokens.map(Some));
        Self { head, tail, reference: Some(reference_of(source)), left_out: String::new(), tokens, by_kind: None }
    }

    fn ends_with_newline(&self, side: Keep) -> bool {
        match &self.reference {
            None => self.head.ends_with_newline(),
            Some(_) if self.tail.is_empty() => side != Keep::Head,
            Some(_) => self.tail.ends_with_newline(),
        }
    }

    /// Return the shorter of the fences that no line of the text can close; `None` for the usual fence.
    fn mark(&self) -> Option<String> {
        mark_of(|character| self.longest_run(character))
    }

    /// Return the length of the longest run if it has at least three characters, otherwise 0. No run spans two parts.
    fn longest_run(&self, character: u8) -> usize {
        let reference = self.reference.as_ref().map_or(Text::ascii(""), Piece::text);
        let ends = [&self.head, &self.tail].map(|end| match end {
            Segment::Piece(piece) => piece.text(),
            Segment::Plain(plain) if character == b'`' && !plain.has_backticks() => Text::ascii(""),
            Segment::Plain(plain) => Text::Latin1(plain.written()),
        });
        let runs = ends.into_iter().chain([reference]).map(|text| longest_run_in(text, character));
        runs.max().filter(|run| *run >= 3).unwrap_or(0)
    }
}

/// Return the length of the longest run of a character; 0 without any.
pub(crate) fn longest_run_in(text: Text<'_>, character: u8) -> usize {
    let Some(start) = text.find(character) else { return 0 };
    on_units!(text.slice(start, text.len()), units => run_length(units, character))
}

/// Return the shorter of the fences that no line can close, given the longest run of a character; `None` for the usual
/// fence.
pub(crate) fn mark_of(longest_run: impl Fn(u8) -> usize) -> Option<String> {
    let backticks = longest_run(b'`');
    if backticks < 3 {
        return None;
    }
    let tildes = longest_run(b'~');
    Some(if tildes < backticks { "~".repeat((tildes + 1).max(3)) } else { "`".repeat(backticks + 1) })
}

/// Clean the text and cut it to its limits. A text of a known kind is shortened by what it is.
fn cut_to<'a, V: Value<'a>>(source: &Source<'a, V>, limits: Limits, measure: Measure) -> Shown<'a> {
    let Source { text, side, .. } = source;
    let is_long = text.len() > limits.chars;
    let is_limited = is_long || limits.tokens.is_some();
    if is_limited && source.content.is_some_and(|content| count_media(content, 0) > 0) {
        return cut_around_media(source, limits);
    }
    let has_blocks = is_limited && may_have_blocks(text.spelling());
    // Counting tokens needs the decoded text.
    let is_plain = measure.is_characters() && limits.tokens.is_none() && !has_blocks;
    let cut = |ends, tokens| by_kind(source, limits).unwrap_or_else(|| Shown::ends(source, ends, tokens));
    if is_plain {
        if is_long && let Some(ends) = cut_plain(text, limits.chars, *side) {
            return cut(ends.map(Segment::Plain), None);
        }
        if !is_long && let Some(whole) = text.plain_start(usize::MAX) {
            return Shown::whole(Segment::Plain(whole), None);
        }
    }
    let ends = if is_long && !has_blocks { cut_clean(text, limits.chars, *side) } else { None };
    let Cut { head, tail, tokens } = if let Some([head, tail]) = ends {
        Cut { head, tail, tokens: None }.within(limits, *side)
    } else {
        let text = clean(&text.whole());
        match Cut::of(&text, limits, *side) {
            Err(Cut { head, tail, .. }) if has_blocks => {
                let (head, tail) = around_blocks(text.text(), head.len(), text.len() - tail.len());
                Cut { head: text.slice(0, head), tail: text.slice(tail, text.len()), tokens: None }
            }
            Err(cut) => cut,
            Ok(tokens) => return Shown::whole(text, tokens),
        }
    };
    cut([head, tail].map(Segment::from), tokens)
}

/// Return the clean text shortened by what it is; `None` if it can only be cut.
fn by_kind<'a, V: Value<'a>>(source: &Source<'a, V>, limits: Limits) -> Option<Shown<'a>> {
    let (text, side, kinds) = (&source.text, source.side, limits.kinds);
    let printer = source.printed_by.as_ref().filter(|_| kinds != Kinds::NONE)?;
    let is_drawn = was_drawn(text, kinds);
    if let Some(last) = is_drawn.then(|| last_state(text)).flatten() {
        let last = clean(&last);
        if let Ok(tokens) = Cut::of(&last, limits, side) {
            return Some(Shown::whole(last, tokens));
        }
    }
    if !source.has_marker_below && source.reference.find(b'"').or_else(|| source.reference.find(b'\\')).is_some() {
        return None; // the marker may be in a text of JSON
    }
    let draft = printer.draft.get_or_init(|| Draft::of(text, &printer.command(), kinds, is_drawn)).as_ref()?;
    let (_, found) = draft.fit(limits.chars.min(text.len()), limits.tokens, ("", side, true))?;
    let chars = found.size();
    if chars > limits.chars {
        return None;
    }
    let mut out = Output::default();
    let start = out.end();
    keep_marker(&mut out, false, [chars, text.len()], "", reference_of(source));
    let marker = out.kept(start..out.end()).as_text().to_utf8();
    let whole = if source.has_marker_below { found.with_marker_below(&marker) } else { found.with_marker(&marker) };
    let whole = Piece::own(OwnedText::from_utf8(&whole));
    Some(Shown { by_kind: Some(chars), ..Shown::whole(whole, None) })
}

/// Clean a text with lines of media, and cut it without splitting one of these.
fn cut_around_media<'a, V: Value<'a>>(source: &Source<'a, V>, limits: Limits) -> Shown<'a> {
    let text = clean(&source.text.whole());
    let Cut { head, tail, .. } = match Cut::of(&text, limits, source.side) {
        Ok(tokens) => return Shown::whole(text, tokens),
        Err(cut) => cut,
    };
    let size = text.len();
    let (head, tail) = around_blocks(text.text(), head.len(), size - tail.len());
    let (head, tail, left_out) = around_media(text.text(), head, tail);
    let ends = [text.slice(0, head), text.slice(tail, size)].map(Segment::from);
    Shown { left_out, ..Shown::ends(source, ends, None) }
}

/// Return a cut that splits no line of a medium, and the kinds of the media in the part that is left out.
fn around_media(text: Text<'_>, mut head: usize, mut tail: usize) -> (usize, usize, String) {
    let is_split = |start, at, end| start < at && at < end && is_media_line(text.slice(start, end));
    let (start, end) = line_at(text, head);
    if is_split(start, head, end) {
        head = start;
    }
    let (start, end) = line_at(text, tail);
    if is_split(start, tail, end) {
        tail = (end + 1).min(text.len());
    }
    let mut labels: Vec<String> = Vec::new();
    let mut rest = Some(text.slice(head, tail));
    while let Some(lines) = rest {
        let newline = lines.find(b'\n');
        let line = lines.slice(0, newline.unwrap_or(lines.len()));
        if let Some(label) = media_label(line).map(Text::to_utf8).filter(|label| !labels.contains(label)) {
            labels.push(label);
        }
        rest = newline.map(|newline| lines.slice(newline + 1, lines.len()));
    }
    (head, tail, labels.join(", "))
}

/// Return the ends of the line that contains a position.
fn line_at(text: Text<'_>, index: usize) -> (usize, usize) {
    let before = (0..index).rev().find(|place| text.get(*place) == Some(u32::from(b'\n')));
    let end = text.slice(index, text.len()).find(b'\n').map_or(text.len(), |newline| index + newline);
    (before.map_or(0, |newline| newline + 1), end)
}

/// Keep the marker for cut text: the number of characters shown, the number of all, the media that are left out, and the
/// reference of the full text.
/// If `needs_newline`, a line feed ends the line before it.
fn keep_marker<'a>(
    out: &mut Output<'a>,
    needs_newline: bool,
    [shown, all]: [usize; 2],
    left_out: &str,
    reference: Piece<'a>,
) {
    if needs_newline {
        out.keep_ascii("\n... [truncated: ");
    } else {
        out.keep_ascii("... [truncated: ");
    }
    out.keep_number(shown);
    out.keep_ascii(" of ");
    out.keep_number(all);
    out.keep_ascii(" characters shown");
    if !left_out.is_empty() {
        out.keep_ascii(&format!(", {left_out} left out"));
    }
    if !reference.is_empty() {
        out.keep_ascii("; whole: ");
        out.keep(reference.into());
    }
    out.keep_ascii("]");
}

/// Return the id of the call as the marker shows it; it may be empty.
fn reference_of<'a, V>(source: &Source<'a, V>) -> Piece<'a> {
    clean_line(&Piece::Borrowed(source.reference), LONGEST_REFERENCE)
}

fn run_length<C: Unit>(units: &[C], character: u8) -> usize {
    let wanted = C::from_code_point(u32::from(character));
    let (mut longest, mut at) = (0, 0);
    while let Some(found) = units.get(at..).and_then(|rest| crate::text::find_unit(rest, wanted)) {
        let start = at + found;
        let run = units.iter().skip(start).take_while(|unit| **unit == wanted).count();
        longest = longest.max(run);
        at = start + run;
    }
    longest
}

/// The texts of a block.
pub(crate) type Sources<'a, V> = [Option<Source<'a, V>>; 2];

/// The size of a block's fenced texts, and a flag that is true if one of them is cut.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Fitted {
    pub(crate) size: usize,
    pub(crate) is_cut: bool,
}

impl Fitted {
    fn add(&mut self, fenced: Fenced) {
        self.size += fenced.size;
        self.is_cut |= fenced.is_cut;
    }
}

/// Keep a block's texts in `out`, each fenced and cut only to the limits on one result. Return `None` and keep nothing
/// if they don't fit.
pub(crate) fn fit_whole<'a, V: Value<'a>>(
    sources: &Sources<'a, V>,
    own: Limits,
    (room, measure): (isize, Measure),
    out: &mut Output<'a>,
) -> Option<Fitted> {
    let (start, mut left, mut fitted) = (out.end(), room, Fitted::default());
    for (source, end) in with_ends(sources) {
        let limits = limits_on(source, own);
        // A part of a text may have more tokens than the whole, so the text has to be fenced before its size is known.
        let counts_chars = measure.is_characters() && limits.tokens.is_none();
        let mut tight = if counts_chars { limits.within(room_of(left), measure) } else { limits };
        if tight.chars < limits.chars {
            tight.kinds = Kinds::NONE; // it is shown whole or not at all
        }
        let found = (left >= 0).then(|| fence(source, tight, measure, end, out));
        let Some(found) = found.filter(|found| !(found.is_cut && tight.chars < limits.chars)) else {
            left = -1;
            break;
        };
        left -= signed(found.size);
        fitted.add(found);
    }
    if left < 0 {
        out.go_back(start);
    }
    (left >= 0).then_some(fitted)
}

/// Keep a block's texts in `out`, each fenced and cut to the room. Return `None` and keep nothing if too little of them
/// would be shown.
pub(crate) fn fit_part<'a, V: Value<'a>>(
    sources: &Sources<'a, V>,
    own: Limits,
    (room, measure): (isize, Measure),
    out: &mut Output<'a>,
) -> Option<Fitted> {
    let (start, mut left, mut fitted) = (out.end(), room, Fitted::default());
    for (source, end) in with_ends(sources) {
        let share = if end.is_empty() { (left - 1).div_euclid(2) } else { left };
        let found = usize::try_from(share)
            .ok()
            .and_then(|share| fence_into(source, limits_on(source, own), (share, measure), end, out));
        let Some(found) = found else {
            out.go_back(start);
            return None;
        };
        left -= signed(found.size);
        fitted.add(found);
    }
    (out.end() != start).then_some(fitted)
}

/// Return the limits on one text. A command has none, because it is shown whole.
fn limits_on<V>(source: &Source<'_, V>, own: Limits) -> Limits {
    if source.is_exempt { Limits::NONE } else { own }
}

/// Pair each text of a block with the end of its fence: the last is followed by the empty line that ends the block.
fn with_ends<'s, 'a, V>(sources: &'s Sources<'a, V>) -> impl Iterator<Item = (&'s Source<'a, V>, &'static str)> {
    let count = sources.iter().flatten().count();
    let sources = sources.iter().flatten().enumerate();
    sources.map(move |(number, source)| (source, if number + 1 == count { "\n" } else { "" }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::scanned::Scanned;

    #[test]
    fn clean_text_is_borrowed() {
        let given = "def main():\n".repeat(20);
        let source: Source<'_, Scanned<'_>> = Source {
            text: Content::Piece(Piece::ascii(&given)),
            language: "python",
            side: Keep::Head,
            reference: Text::ascii("t1"),
            is_exempt: false,
            content: None,
            printed_by: None,
            has_marker_below: false,
        };
        for (limit, shown) in [(given.len(), given.len()), (200, 200)] {
            let mut output = Output::default();
            let start = output.end();
            fence(&source, Limits::of_chars(limit), Measure::Characters, "", &mut output);
            let mut borrowed = Vec::new();
            output.see_parts(&(start..output.end()), &mut |part| {
                if let Segment::Piece(Piece::Borrowed(Text::Latin1(units))) = part {
                    borrowed.push((units.as_ptr(), units.len()));
                }
            });
            assert!(borrowed.contains(&(given.as_ptr(), shown)), "{limit}");
        }
    }
}
