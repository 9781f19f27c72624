//! Fenced code blocks whose content can't end them, cut to a limit or to the room that is left.
//! The twin is `_pure/fences.py`.

use crate::clean::{LONGEST_SEQUENCE, clean, clean_line, cut_text, is_clean};
use crate::pieces::Piece;
use crate::text::{OwnedText, Text, Unit, on_units, push_grouped};
use crate::truncate::Keep;

/// A cut text of fewer characters tells nothing: the block is left out instead.
const LEAST_SHOWN: usize = 20;
const LONGEST_REFERENCE: usize = 80;
const NO_OUTPUT: &str = "(no output)";

/// A text to be fenced: its language, the side that stays where it is cut, and where the whole is.
#[derive(Clone, Debug)]
pub struct Source<'a> {
    /// The text.
    pub text: Piece<'a>,
    /// The language of the fence; may be empty.
    pub language: &'static str,
    /// What stays where the text is cut.
    pub side: Keep,
    /// The id of the call.
    pub reference: Text<'a>,
    /// Whether the limit on one result does not apply: a command, which is shown whole.
    pub is_exempt: bool,
}

/// A finished block: its pieces, how long they are together, and what they show of the text.
#[derive(Clone, Debug)]
pub struct Fenced<'a> {
    /// The block's text, its final newline included.
    pub pieces: Vec<Piece<'a>>,
    /// The length of all pieces.
    pub size: usize,
    /// How many characters of the text are shown.
    pub shown: usize,
    /// Whether that is not all.
    pub is_cut: bool,
}

/// What is left of a text within a limit.
struct Shown<'a> {
    pieces: Vec<Piece<'a>>,
    count: usize,
    is_cut: bool,
}

/// `source` in a fence, at most `limit` characters of it.
#[must_use]
pub fn fence<'a>(source: &Source<'a>, limit: usize) -> Fenced<'a> {
    let Shown { pieces: mut content, count: shown, is_cut } = cut_to(source, limit);
    if content.iter().all(Piece::is_empty) {
        content = vec![Piece::ascii(NO_OUTPUT)];
    }
    let mark = fence_mark(&content);
    let needs_newline = content.last().is_none_or(|piece| !piece.text().ends_with("\n"));
    let mut pieces = Vec::with_capacity(content.len() + 5);
    pieces.extend([mark.clone(), Piece::ascii(source.language), Piece::ascii("\n")]);
    pieces.append(&mut content);
    if needs_newline {
        pieces.push(Piece::ascii("\n"));
    }
    pieces.extend([mark, Piece::ascii("\n")]);
    let size = pieces.iter().map(Piece::len).sum();
    Fenced { pieces, size, shown, is_cut }
}

/// `source` in a fence of at most `room` characters in all; `None` where too little would be shown.
#[must_use]
pub fn fence_into<'a>(source: &Source<'a>, limit: usize, room: usize) -> Option<Fenced<'a>> {
    let overhead = source.language.len() + 9; // two fences of three, three newlines
    let mut fenced = fence(source, limit.min(room.saturating_sub(overhead)));
    if fenced.size > room {
        let limit = limit.min(room.saturating_sub(overhead + marker(source, room).len() + 2));
        fenced = fence(source, limit);
        if fenced.size > room {
            let excess = fenced.size - room;
            fenced = fence(source, limit.saturating_sub(excess).max((limit / 2).saturating_sub(16)));
        }
    }
    (fenced.size <= room && (!fenced.is_cut || fenced.shown >= LEAST_SHOWN)).then_some(fenced)
}

/// The clean text within `limit`, with a marker where it was cut.
fn cut_to<'a>(source: &Source<'a>, limit: usize) -> Shown<'a> {
    let mut text = source.text.clone();
    if text.len() <= limit || !has_clean_window(text.text(), limit, source.side) {
        text = clean(&text);
        if text.len() <= limit {
            return Shown { count: text.len(), pieces: vec![text], is_cut: false };
        }
    }
    let (head, tail) = cut_text(text.text(), limit, source.side);
    let shown = head + text.len() - tail;
    let mut pieces = Vec::with_capacity(5);
    if head > 0 {
        let start = text.slice(0, head);
        let needs_newline = !start.text().ends_with("\n");
        pieces.push(start);
        if needs_newline {
            pieces.push(Piece::ascii("\n"));
        }
    }
    pieces.push(marker(source, shown));
    if source.side != Keep::Head {
        pieces.push(Piece::ascii("\n"));
        if tail < text.len() {
            pieces.push(text.slice(tail, text.len()));
        }
    }
    Shown { pieces, count: shown, is_cut: true }
}

/// Whether what a cut of an over-long text would show is clean as it stands.
fn has_clean_window(text: Text<'_>, limit: usize, side: Keep) -> bool {
    let head = match side {
        Keep::Head => limit,
        Keep::Tail => 0,
        Keep::Ends => limit / 2,
    };
    let tail = if side == Keep::Head { 0 } else { limit - head };
    let start = text.len().saturating_sub(tail + 1 + LONGEST_SEQUENCE);
    (head == 0 || is_clean(text.slice(0, head + 1))) && (tail == 0 || is_clean(text.slice(start, text.len())))
}

/// What stands where text was cut: how much is shown, of how much, and where the whole is.
fn marker<'a>(source: &Source<'a>, shown: usize) -> Piece<'a> {
    let mut text = String::with_capacity(128);
    text.push_str("... [truncated: ");
    push_grouped(&mut text, shown);
    text.push_str(" of ");
    push_grouped(&mut text, source.text.len());
    text.push_str(" characters shown");
    if source.reference.is_empty() {
        text.push(']');
        return Piece::own_ascii(text);
    }
    text.push_str("; whole: ");
    let mut text = OwnedText::Latin1(text.into_bytes());
    text.push(clean_line(&Piece::Borrowed(source.reference), LONGEST_REFERENCE).text());
    text.push_ascii("]");
    Piece::own(text)
}

/// The shorter of the fences that no line of `content` can end.
fn fence_mark<'a>(content: &[Piece<'a>]) -> Piece<'a> {
    let backticks = longest_run(content, b'`');
    if backticks < 3 {
        return Piece::ascii("```");
    }
    let tildes = longest_run(content, b'~');
    if tildes < backticks {
        return Piece::own_ascii("~".repeat((tildes + 1).max(3)));
    }
    Piece::own_ascii("`".repeat(backticks + 1))
}

/// The longest run of three or more; 0 where there is none. No run goes from one piece to the next.
fn longest_run(content: &[Piece<'_>], character: u8) -> usize {
    let longest = content.iter().map(|piece| {
        let text = piece.text();
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
