//! A block that is offered to a context. The twin is `_pure/candidate.py`.

use super::block::{Section, count_note, keep_title, notes, with_count};
use super::limits::{Measure, signed};
use super::output::{Output, Place};
use crate::json::value::Value;
use crate::pairing::block::{Entry, Kind};
use crate::text::OwnedText;

const OPENING: &str = "### ";

/// A block that is offered: what its heading takes and counts, and where the output keeps it.
#[derive(Debug)]
pub(crate) struct Candidate {
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
    pub(crate) start: Place,
    title_end: Place,
    notes_end: Place,
    end: Place,
    has_texts: bool,
}

impl Candidate {
    /// A block whose heading the output keeps from now on, and behind it, if it is shown, its texts.
    pub(crate) fn new<'a, V: Value<'a>>(
        entry: &Entry<'a, V>,
        has_texts: bool,
        measure: Measure,
        output: &mut Output<'a>,
    ) -> Self {
        let start = output.end();
        output.keep_ascii(OPENING);
        keep_title(output, entry);
        let title_end = output.end();
        output.keep_ascii(&notes(entry));
        let notes_end = output.end();
        output.keep_ascii(end(has_texts));
        let line = start..output.end();
        Self {
            section: Section::of(entry),
            position: entry.position,
            line_size: measure.size_kept(output, [(line.clone(), None)]),
            texts_size: 0,
            earlier: 0,
            late: 0,
            kind: entry.kind,
            start,
            title_end,
            notes_end,
            end: line.end,
            has_texts,
        }
    }

    /// The block with its texts, which the output keeps behind its heading.
    pub(crate) fn with_texts(self, size: usize, output: &Output<'_>) -> Self {
        Self { texts_size: size, end: output.end(), ..self }
    }

    /// How much more the heading takes that counts one older block more. It may be less.
    pub(crate) fn growth(&self, measure: Measure, output: &Output<'_>) -> isize {
        let count = count_note(self.kind, self.earlier + 1, true);
        signed(self.line_size_with(&count, measure, output)) - signed(self.line_size)
    }

    /// What the heading takes with a count.
    fn line_size_with(&self, count: &str, measure: Measure, output: &Output<'_>) -> usize {
        match measure {
            Measure::Characters => {
                let notes = Output::size_of(&(self.title_end..self.notes_end));
                let brackets = match (notes, count.len()) {
                    (notes, 0) => notes,
                    (0, count) => count + 3,
                    (notes, count) => notes + count + 2,
                };
                Output::size_of(&(self.start..self.title_end)) + brackets + end(self.has_texts).len()
            }
            Measure::Tokens(_) => {
                let line = output.kept(self.start..self.title_end);
                measure_line(line, &with_count(&self.notes(output), count), self.has_texts, measure)
            }
        }
    }

    fn notes(&self, output: &Output<'_>) -> String {
        output.kept(self.title_end..self.notes_end).as_text().to_utf8()
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
        output.place(self.notes_end..self.end);
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
