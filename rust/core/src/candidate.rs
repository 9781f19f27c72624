//! A block that is offered to a context. The twin is in `_pure/fill.py`.

use std::ops::Range;

use crate::entry::Entry;
use crate::fit::Fitted;
use crate::limits::{Measure, signed};
use crate::pieces::{Part, Piece};
use crate::render::{Section, count_note, notes, title, with_count};
use crate::rules::Kind;
use crate::text::OwnedText;
use crate::value::Value;

/// A block that is offered: what its heading says, and once it is shown, where its parts are and what its heading
/// counts.
#[derive(Debug)]
pub(crate) struct Candidate<'a> {
    pub(crate) section: Section,
    pub(crate) age: usize,
    pub(crate) order: usize,
    pub(crate) position: usize,
    pub(crate) title: Piece<'a>,
    pub(crate) parts: Range<usize>,
    pub(crate) fitted: Fitted,
    /// How many older blocks its heading counts.
    pub(crate) earlier: usize,
    /// How many came after the total was spent.
    pub(crate) late: usize,
    /// What the heading takes.
    pub(crate) line_size: usize,
    measure: Measure,
    kind: Kind,
    notes: String,
    /// An empty line ends a block that has nothing else.
    end: &'static str,
}

impl<'a> Candidate<'a> {
    pub(crate) fn new<V: Value<'a>>(entry: &Entry<'a, V>, has_texts: bool, measure: Measure) -> Self {
        let mut candidate = Self {
            section: Section::of(entry),
            age: entry.age,
            order: entry.order,
            position: entry.position,
            title: title(entry),
            parts: 0..0,
            fitted: Fitted::default(),
            earlier: 0,
            late: 0,
            line_size: 0,
            measure,
            kind: entry.kind,
            notes: notes(entry),
            end: if has_texts { "\n" } else { "\n\n" },
        };
        candidate.line_size = candidate.line_size_with("");
        candidate
    }

    /// What the heading takes with a count.
    fn line_size_with(&self, count: &str) -> usize {
        match self.measure {
            Measure::Characters => {
                let brackets = match (self.notes.len(), count.len()) {
                    (notes, 0) => notes,
                    (0, count) => count + 3,
                    (notes, count) => notes + count + 2,
                };
                4 + self.title.len() + brackets + self.end.len()
            }
            Measure::Tokens(_) => {
                let mut line = OwnedText::default();
                line.push_ascii("### ");
                line.push(self.title.text());
                line.push_ascii(&with_count(&self.notes, count));
                line.push_ascii(self.end);
                self.measure.size(line.as_text())
            }
        }
    }

    /// How much more the heading takes that counts one older block more. It may be less.
    pub(crate) fn growth(&self) -> isize {
        let size = self.line_size_with(&count_note(self.kind, self.earlier + 1, true));
        signed(size) - signed(self.line_size)
    }

    /// Add the heading to the parts, but for its end, which is known last; where it begins.
    pub(crate) fn open(&self, parts: &mut Vec<Part<'a>>) -> usize {
        let start = parts.len();
        parts.extend([Piece::ascii("### "), self.title.clone(), Piece::default()].map(Part::from));
        start
    }

    /// Set the end of the heading.
    pub(crate) fn end_heading(&mut self, walked_all: bool, parts: &mut [Part<'a>]) {
        let end = self.heading_end(walked_all);
        if let Some([_, _, own, ..]) = parts.get_mut(self.parts.clone()) {
            *own = end.into();
        }
    }

    /// What the heading says behind its title. What came after the total was spent is counted where its number
    /// has room.
    fn heading_end(&mut self, walked_all: bool) -> Piece<'a> {
        if self.earlier + self.late == 0 && self.notes.is_empty() {
            return Piece::ascii(self.end);
        }
        let mut count = count_note(self.kind, self.earlier, true);
        if walked_all && self.earlier + self.late > 0 {
            let exact = count_note(self.kind, self.earlier + self.late, false);
            let size = self.line_size_with(&exact);
            if size <= self.line_size {
                (count, self.line_size) = (exact, size);
            }
        }
        let mut end = with_count(&self.notes, &count);
        end.push_str(self.end);
        Piece::own_ascii(end)
    }
}
