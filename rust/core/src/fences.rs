//! Fenced code blocks whose content can't end them, cut to a limit or to the room that is left.
//! The twin is `_pure/fences.py`.

use crate::clean::{clean, clean_line};
use crate::content::Content;
use crate::limits::{Cut, Limits, Measure};
use crate::pieces::{Part, Piece};
use crate::text::{OwnedText, Text, Unit, on_units, push_grouped};
use crate::truncate::Keep;
use crate::value::Value;
use crate::windows::{cut_windows, plain_ends};

/// A cut text of fewer characters tells nothing: the block is left out instead.
const LEAST_SHOWN: usize = 20;
const LONGEST_REFERENCE: usize = 80;
const NO_OUTPUT: &str = "(no output)";
/// The lines of a fence around a text that holds none, the last one with the end of the line before.
const OPENING: &str = "```";
const CLOSING: &str = "\n```\n";

/// A text to be fenced: its language, the side that stays where it is cut, and where the whole is.
#[derive(Clone, Debug)]
pub struct Source<'a, V> {
    /// The text.
    pub text: Content<'a, V>,
    /// The language of the fence; may be empty.
    pub language: &'static str,
    /// What stays where the text is cut.
    pub side: Keep,
    /// The id of the call.
    pub reference: Text<'a>,
    /// Whether the limit on one result does not apply: a command, which is shown whole.
    pub is_exempt: bool,
}

/// A finished block: how long it is, and what it shows of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fenced {
    /// What the block takes, with all that stands behind it.
    pub size: usize,
    /// How many characters of the text are shown.
    pub shown: usize,
    /// Whether that is not all.
    pub is_cut: bool,
}

/// Add `source` to `out` in a fence, no more of it than its limits allow, and what stands behind the fence.
pub fn fence<'a, V: Value<'a>>(
    source: &Source<'a, V>,
    limits: Limits,
    measure: Measure,
    end: &'static str,
    out: &mut Vec<Part<'a>>,
) -> Fenced {
    let start = out.len();
    out.push(Part::default());
    if !source.language.is_empty() {
        out.push(Piece::ascii(source.language).into());
    }
    out.push(Piece::ascii("\n").into());
    let inside = out.len();
    let Shown { chars: shown, is_cut, mut counted } = cut_to(source, limits, measure, out);
    if out.iter().skip(inside).all(Part::is_empty) {
        out.truncate(inside);
        out.push(Piece::ascii(NO_OUTPUT).into());
    }
    let [mark, closing] = marks(out.get(inside..).unwrap_or_default());
    if let Some(opening) = out.get_mut(start) {
        *opening = mark.into();
    }
    out.push(closing.into());
    if !end.is_empty() {
        out.push(Piece::ascii(end).into());
    }
    for (number, _) in &mut counted {
        *number += inside - start;
    }
    Fenced { size: measure.size_of(out.get(start..).unwrap_or_default(), &counted), shown, is_cut }
}

/// Add `source` to `out` in a fence that takes no more than `room` in all; `None`, and nothing is added, where too
/// little would be shown.
pub fn fence_into<'a, V: Value<'a>>(
    source: &Source<'a, V>,
    limits: Limits,
    (room, measure): (usize, Measure),
    end: &'static str,
    out: &mut Vec<Part<'a>>,
) -> Option<Fenced> {
    let start = out.len();
    let frame = measure.size_ascii(&format!("```{}\n```\n{end}", source.language));
    let mut fenced = fence(source, limits.within(room.saturating_sub(frame), measure), measure, end, out);
    if fenced.size > room {
        let note = measure.size(marker(source, room, [""; 2]).text());
        let limits = limits.within(room.saturating_sub(frame + note + 3), measure);
        out.truncate(start);
        fenced = fence(source, limits, measure, end, out);
        if fenced.size > room {
            let (limit, excess) = (limits.of(measure), fenced.size - room);
            let limit = limit.saturating_sub(excess).max((limit / 2).saturating_sub(16));
            out.truncate(start);
            fenced = fence(source, limits.within(limit, measure), measure, end, out);
        }
    }
    let is_enough = fenced.size <= room && (!fenced.is_cut || fenced.shown >= LEAST_SHOWN);
    if !is_enough {
        out.truncate(start);
    }
    is_enough.then_some(fenced)
}

/// What a fence shows of a text.
struct Shown {
    chars: usize,
    is_cut: bool,
    /// The numbers of its parts and their tokens, where they were counted.
    counted: Vec<(usize, usize)>,
}

/// Add the clean text within its limits, with a marker where it was cut.
fn cut_to<'a, V: Value<'a>>(
    source: &Source<'a, V>,
    limits: Limits,
    measure: Measure,
    out: &mut Vec<Part<'a>>,
) -> Shown {
    let Source { text, side, .. } = source;
    let is_long = text.len() > limits.chars;
    // Tokens are counted of texts that are made.
    if measure.is_characters() && limits.tokens.is_none() {
        if is_long && let Some(ends) = plain_ends(text, limits.chars, *side) {
            return push_ends(source, ends.map(Part::Plain), None, out);
        }
        if !is_long && let Some(whole) = text.plain_start(usize::MAX) {
            out.push(Part::Plain(whole));
            return Shown { chars: whole.len(), is_cut: false, counted: Vec::new() };
        }
    }
    let cut = if is_long { cut_windows(text, limits.chars, *side) } else { None };
    let Cut { head, tail, tokens } = if let Some(cut) = cut {
        cut.within(limits, *side)
    } else {
        let text = clean(&text.whole());
        match Cut::of(&text, limits, *side) {
            Err(cut) => cut,
            Ok(tokens) => {
                let shown = text.len();
                out.push(text.into());
                let counted = tokens.map(|tokens| (0, tokens)).into_iter().collect();
                return Shown { chars: shown, is_cut: false, counted };
            }
        }
    };
    push_ends(source, [head, tail].map(Part::from), tokens, out)
}

/// Add what stays of a text that was cut, and the marker.
fn push_ends<'a, V: Value<'a>>(
    source: &Source<'a, V>,
    [head, tail]: [Part<'a>; 2],
    tokens: Option<[usize; 2]>,
    out: &mut Vec<Part<'a>>,
) -> Shown {
    let (start, shown) = (out.len(), head.len() + tail.len());
    let mut counted = Vec::new();
    let [head_tokens, tail_tokens] = tokens.map_or([None; 2], |tokens| tokens.map(Some));
    let newline = |is_needed| if is_needed { "\n" } else { "" };
    let before = newline(!head.is_empty() && !head.ends_with_newline());
    if !head.is_empty() {
        counted.extend(head_tokens.map(|tokens| (0, tokens)));
        out.push(head);
    }
    out.push(marker(source, shown, [before, newline(source.side != Keep::Head)]).into());
    if !tail.is_empty() {
        counted.extend(tail_tokens.map(|tokens| (out.len() - start, tokens)));
        out.push(tail);
    }
    Shown { chars: shown, is_cut: true, counted }
}

/// What stands where text was cut: how much is shown, of how much, and where the whole is; and what stands around it.
fn marker<'a, V: Value<'a>>(source: &Source<'a, V>, shown: usize, [before, behind]: [&str; 2]) -> Piece<'a> {
    let mut text = String::with_capacity(128);
    text.push_str(before);
    text.push_str("... [truncated: ");
    push_grouped(&mut text, shown);
    text.push_str(" of ");
    push_grouped(&mut text, source.text.len());
    text.push_str(" characters shown");
    let mut text = OwnedText::Latin1(text.into_bytes());
    if !source.reference.is_empty() {
        text.push_ascii("; whole: ");
        text.push(clean_line(&Piece::Borrowed(source.reference), LONGEST_REFERENCE).text());
    }
    text.push_ascii("]");
    text.push_ascii(behind);
    Piece::own(text)
}

/// The shorter of the fences that no line of `content` can end: what stands before the language, and what stands behind
/// the content.
fn marks<'a>(content: &[Part<'a>]) -> [Piece<'a>; 2] {
    let newline = usize::from(content.last().is_some_and(Part::ends_with_newline));
    let backticks = longest_run(content, b'`');
    if backticks < 3 {
        return [OPENING, CLOSING.get(newline..).unwrap_or_default()].map(Piece::ascii);
    }
    let tildes = longest_run(content, b'~');
    let mark = if tildes < backticks { "~".repeat((tildes + 1).max(3)) } else { "`".repeat(backticks + 1) };
    let mut closing = format!("\n{mark}\n");
    [mark, closing.split_off(newline)].map(Piece::own_ascii)
}

/// The longest run of three or more; 0 where there is none. No run goes from one part to the next.
fn longest_run(content: &[Part<'_>], character: u8) -> usize {
    let longest = content.iter().map(|part| {
        let text = match part {
            Part::Piece(piece) => piece.text(),
            Part::Plain(plain) if character == b'`' && !plain.has_backticks() => return 0,
            Part::Plain(plain) => Text::Latin1(plain.written()),
        };
        let Some(start) = text.find(character) else { return 0 };
        on_units!(text.slice(start, text.len()), units => run_length(units, character))
    });
    longest.max().filter(|run| *run >= 3).unwrap_or(0)
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
