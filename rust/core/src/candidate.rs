//! A block that is offered to a context. The twin is in `_pure/fill.py`.

use std::ops::Range;

use crate::entry::Entry;
use crate::fences::Fenced;
use crate::pieces::Piece;
use crate::render::{Section, count_note, notes, title, with_count};
use crate::rules::Kind;
use crate::value::Value;

/// A block that is offered: its heading's parts, and once it is shown, where its texts are and what its heading
/// counts.
#[derive(Debug)]
pub(crate) struct Candidate<'a> {
    pub(crate) section: Section,
    pub(crate) kind: Kind,
    pub(crate) age: usize,
    pub(crate) order: usize,
    pub(crate) title: Piece<'a>,
    pub(crate) notes: String,
    pub(crate) texts: Range<usize>,
    pub(crate) size: usize,
    pub(crate) is_cut: bool,
    pub(crate) earlier: usize,
    pub(crate) late: usize,
    pub(crate) count_size: usize,
}

impl<'a> Candidate<'a> {
    pub(crate) fn new<V: Value<'a>>(entry: &Entry<'a, V>) -> Self {
        Self {
            section: Section::of(entry),
            kind: entry.kind,
            age: entry.age,
            order: entry.order,
            title: title(entry),
            notes: notes(entry),
            texts: 0..0,
            size: 0,
            is_cut: false,
            earlier: 0,
            late: 0,
            count_size: 0,
        }
    }

    /// Take a fenced text in.
    pub(crate) fn add(&mut self, fenced: Fenced) {
        self.size += fenced.size;
        self.is_cut |= fenced.is_cut;
    }

    /// What the heading says behind its title. What came after the total was spent is counted where its number
    /// has room.
    pub(crate) fn heading_end(&self, walked_all: bool) -> Piece<'a> {
        if self.earlier == 0 && self.notes.is_empty() {
            return Piece::ascii("\n");
        }
        let mut count = count_note(self.kind, self.earlier, !walked_all || self.late > 0);
        if walked_all && self.earlier > 0 {
            let exact = count_note(self.kind, self.earlier + self.late, false);
            count = if exact.len() <= self.count_size { exact } else { count };
        }
        let mut end = with_count(&self.notes, &count);
        end.push('\n');
        Piece::own_ascii(end)
    }
}
