//! A block that is offered to a context, and what is kept of one that is shown. The twin is in `_pure/candidate.py`.

use crate::entry::Entry;
use crate::fit::Fitted;
use crate::limits::{Measure, signed};
use crate::output::{Output, Place};
use crate::pieces::{Part, Piece};
use crate::render::{Section, count_note, notes, title, with_count};
use crate::rules::Kind;
use crate::text::{OwnedText, Text};
use crate::value::Value;

const OPENING: &str = "### ";

/// A block that is offered: what its heading says, and takes.
#[derive(Debug)]
pub(crate) struct Candidate<'a> {
    pub(crate) section: Section,
    pub(crate) age: usize,
    pub(crate) order: usize,
    /// What the heading takes.
    pub(crate) line_size: usize,
    /// The characters of the heading without notes.
    bare_size: usize,
    position: usize,
    kind: Kind,
    title: Piece<'a>,
    notes: String,
    has_texts: bool,
}

impl<'a> Candidate<'a> {
    pub(crate) fn new<V: Value<'a>>(entry: &Entry<'a, V>, has_texts: bool, measure: Measure) -> Self {
        let (title, notes) = (title(entry), notes(entry));
        let bare_size = OPENING.len() + title.len() + end(has_texts).len();
        let line_size = match measure {
            Measure::Characters => bare_size + notes.len(),
            Measure::Tokens(_) => {
                let mut line = OwnedText::from(Text::ascii(OPENING));
                line.push(title.text());
                measure_line(line, &notes, has_texts, measure)
            }
        };
        Self {
            section: Section::of(entry),
            age: entry.age,
            order: entry.order,
            line_size,
            bare_size,
            position: entry.position,
            kind: entry.kind,
            title,
            notes,
            has_texts,
        }
    }

    /// Let the output keep the block, with its texts.
    pub(crate) fn keep(self, fitted: Fitted, texts: &mut Vec<Part<'a>>, output: &mut Output<'a>) -> Block {
        let Self { section, position, kind, title, notes, has_texts, line_size, bare_size, .. } = self;
        let start = output.end();
        output.keep_ascii(OPENING);
        output.keep(title.into());
        let title_end = output.end();
        output.keep_ascii(&notes);
        output.keep_ascii(end(has_texts));
        texts.drain(..).for_each(|part| output.keep(part));
        Block {
            section,
            position,
            line_size,
            texts_size: fitted.size,
            earlier: 0,
            late: 0,
            kind,
            start,
            title_end,
            end: output.end(),
            notes_size: notes.len(),
            bare_size,
            has_texts,
        }
    }
}

/// A block that is shown: where the output keeps it, and what its heading counts.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) section: Section,
    pub(crate) position: usize,
    /// What the heading takes.
    pub(crate) line_size: usize,
    /// What the texts take.
    pub(crate) texts_size: usize,
    /// How many older blocks its heading counts.
    pub(crate) earlier: usize,
    /// How many came after the total was spent.
    pub(crate) late: usize,
    kind: Kind,
    start: Place,
    title_end: Place,
    end: Place,
    /// The notes stand behind the title.
    notes_size: usize,
    /// The characters of the heading without notes.
    bare_size: usize,
    has_texts: bool,
}

impl Block {
    /// How much more the heading takes that counts one older block more. It may be less.
    pub(crate) fn growth(&self, measure: Measure, output: &Output<'_>) -> isize {
        let count = count_note(self.kind, self.earlier + 1, true);
        signed(self.line_size_with(&count, measure, output)) - signed(self.line_size)
    }

    /// What the heading takes with a count.
    fn line_size_with(&self, count: &str, measure: Measure, output: &Output<'_>) -> usize {
        match measure {
            Measure::Characters => {
                let brackets = match (self.notes_size, count.len()) {
                    (notes, 0) => notes,
                    (0, count) => count + 3,
                    (notes, count) => notes + count + 2,
                };
                self.bare_size + brackets
            }
            Measure::Tokens(_) => {
                let line = output.kept(self.start..self.title_end);
                measure_line(line, &with_count(&self.notes(output), count), self.has_texts, measure)
            }
        }
    }

    fn notes(&self, output: &Output<'_>) -> String {
        output.kept(self.title_end..self.title_end.behind(self.notes_size)).as_text().to_utf8()
    }

    /// Let the block be the next that stands in the output, with what its heading counts.
    pub(crate) fn place(&mut self, walked_all: bool, measure: Measure, output: &mut Output<'_>) {
        if self.earlier + self.late == 0 {
            output.place(self.start..self.end);
            return;
        }
        let count = self.settle_count(walked_all, measure, output);
        let counted = with_count(&self.notes(output), &count);
        output.place(self.start..self.title_end);
        output.push_ascii(&counted);
        output.place(self.title_end.behind(self.notes_size)..self.end);
    }

    /// What the heading counts. What came after the total was spent is counted where its number has room.
    fn settle_count(&mut self, walked_all: bool, measure: Measure, output: &Output<'_>) -> String {
        if walked_all {
            let exact = count_note(self.kind, self.earlier + self.late, false);
            let size = self.line_size_with(&exact, measure, output);
            if size <= self.line_size {
                self.line_size = size;
                return exact;
            }
        }
        count_note(self.kind, self.earlier, true)
    }
}

/// What a heading ends with: an empty line ends a block that has nothing else.
fn end(has_texts: bool) -> &'static str {
    if has_texts { "\n" } else { "\n\n" }
}

fn measure_line(mut line: OwnedText, notes: &str, has_texts: bool, measure: Measure) -> usize {
    line.push_ascii(notes);
    line.push_ascii(end(has_texts));
    measure.size(line.as_text())
}
