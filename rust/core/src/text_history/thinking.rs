//! Remove thinking from text: `<think>...</think>` is removed, and code that shows such tags stays.
//!
//! A tag counts if it is outside of fenced code and not alone in backticks. The first closing tag ends the thinking;
//! without one, the thinking goes on to the end of the text. Some chat templates open the tag themselves, so that the
//! text begins with thinking; then a closing tag on a line of its own ends it.

use std::ops::Range;

use crate::text::piece::Piece;
use crate::text::sanitize::find_ascii;
use crate::text::{OwnedText, Unit, find_unit, on_units};

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";
/// The index of the character in the tags that is searched for first.
const RARE: usize = 0;

/// Return `piece` without thinking; `None` if it has none.
pub(super) fn without_thinking<'a>(piece: &Piece<'a>) -> Option<Piece<'a>> {
    let text = piece.text();
    on_units!(text, units => find_ascii(units, "think>", 5, 0))?;
    let text_ranges = on_units!(text, units => Thoughts::new(units).text_ranges());
    if text_ranges.iter().map(Range::len).sum::<usize>() == text.len() {
        return None;
    }
    let mut left = OwnedText::default();
    for Range { start, end } in text_ranges {
        left.push(text.slice(start, end));
    }
    Some(Piece::own(left).trim_newlines())
}

/// A search for thinking.
struct Thoughts<'t, C> {
    units: &'t [C],
    text_ranges: Vec<Range<usize>>,
    /// The end of the text that is already decided.
    done: usize,
    /// True until the first tag.
    is_first: bool,
    /// True once some text is kept.
    is_kept: bool,
    /// True if the next character begins a line of the kept text.
    is_line: bool,
}

impl<'t, C: Unit> Thoughts<'t, C> {
    fn new(units: &'t [C]) -> Self {
        Self { units, text_ranges: Vec::new(), done: 0, is_first: true, is_kept: false, is_line: true }
    }

    /// Return the ranges of the text that are kept.
    fn text_ranges(mut self) -> Vec<Range<usize>> {
        let size = self.units.len();
        let (mut at, mut end) = (0, 0);
        let mut fence: Option<(u32, usize)> = None;
        while at < size {
            if at >= end {
                end = find_unit(self.from(at), C::from_code_point(0x0A)).map_or(size, |found| at + found + 1);
                self.is_line = true;
            }
            let line = self.units.get(at..end).unwrap_or_default();
            let mark = fence_mark(line).filter(|_| self.is_line);
            if let Some((character, length)) = fence {
                if mark.is_some_and(|(own, run, rest)| own == character && run >= length && is_blank(rest)) {
                    fence = None;
                }
            } else if let Some((character, run, _)) = mark {
                fence = Some((character, run));
            } else if self.is_first && is_close(line) {
                self.is_first = false;
                self.done = self.skip_newlines(end);
            } else if let Some(opened) = self.find_open(at, end) {
                at = self.take_out(opened);
                continue;
            }
            at = end;
        }
        self.text_ranges.push(self.done..size);
        self.text_ranges
    }

    /// Remove the thinking that opens here. Return the index at which the text goes on.
    fn take_out(&mut self, opened: usize) -> usize {
        let size = self.units.len();
        self.is_first = false;
        self.is_kept |= self.done < opened;
        self.text_ranges.push(self.done..opened);
        let closed = find_ascii(self.units, CLOSE, RARE, opened + OPEN.len());
        let mut at = closed.map_or(size, |closed| closed + CLOSE.len());
        self.is_line = !self.is_kept || opened.checked_sub(1).and_then(|before| self.at(before)) == Some(0x0A);
        if self.is_line {
            at = self.skip_newlines(at);
        }
        self.done = at;
        at
    }

    /// Find the first tag that opens thinking.
    fn find_open(&self, start: usize, end: usize) -> Option<usize> {
        let line = self.units.get(..end).unwrap_or_default();
        let mut from = start;
        loop {
            let found = find_ascii(line, OPEN, RARE, from)?;
            from = found + OPEN.len();
            let before = found.checked_sub(1).and_then(|before| self.at(before));
            if before != Some(0x60) || self.at(from) != Some(0x60) {
                return Some(found);
            }
        }
    }

    fn skip_newlines(&self, from: usize) -> usize {
        from + self.from(from).iter().take_while(|unit| unit.code_point() == 0x0A).count()
    }

    fn at(&self, index: usize) -> Option<u32> {
        self.units.get(index).map(|unit| unit.code_point())
    }

    fn from(&self, index: usize) -> &'t [C] {
        self.units.get(index..).unwrap_or_default()
    }
}

/// Return the character and the length of the fence that a line begins with, also in a list or a quotation, and the
/// rest of the line. After an opening fence of backticks, the line has no further backtick.
fn fence_mark<C: Unit>(line: &[C]) -> Option<(u32, usize, &[C])> {
    let mut line = line;
    while let Some(size) = container_mark(line) {
        line = line.get(size..)?;
    }
    let character = line.first()?.code_point();
    let run = line.iter().take_while(|unit| unit.code_point() == character).count();
    let rest = line.get(run..)?;
    let is_fence = || match character {
        0x60 => !rest.iter().any(|unit| unit.code_point() == 0x60),
        0x7E => true,
        _ => false,
    };
    (run >= 3 && is_fence()).then_some((character, run, rest))
}

/// Return the length of the white space character, quotation mark or list marker that a line begins with.
fn container_mark<C: Unit>(line: &[C]) -> Option<usize> {
    let is_space = |index: usize| line.get(index).is_some_and(|unit| matches!(unit.code_point(), 0x20 | 0x09));
    let is_at =
        |index: usize, characters: &[u32]| line.get(index).is_some_and(|it| characters.contains(&it.code_point()));
    match line.first()?.code_point() {
        0x20 | 0x09 | 0x3E => Some(1),
        0x2A | 0x2B | 0x2D if is_space(1) => Some(1),
        0x30..=0x39 => {
            let digits = line.iter().take(10).take_while(|unit| matches!(unit.code_point(), 0x30..=0x39)).count();
            (digits <= 9 && is_at(digits, &[0x2E, 0x29]) && is_space(digits + 1)).then_some(digits + 1)
        }
        _ => None,
    }
}

fn is_blank<C: Unit>(units: &[C]) -> bool {
    units.iter().all(|unit| matches!(unit.code_point(), 0x20 | 0x09 | 0x0A))
}

/// Return true if a line is a closing tag and nothing else.
fn is_close<C: Unit>(line: &[C]) -> bool {
    let start = line.iter().take_while(|unit| is_blank(&[**unit])).count();
    let rest = line.get(start..).unwrap_or_default();
    find_ascii(rest, CLOSE, RARE, 0) == Some(0) && rest.get(CLOSE.len()..).is_some_and(is_blank)
}
