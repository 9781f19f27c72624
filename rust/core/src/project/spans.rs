//! A projection of bytes: what changes is written anew, and all else is copied as it stood.
//!
//! Between parts that follow one another as they did, what stood between them stays: the comma and the white space.
//! The twin is `_pure/project/spans.py`.

use std::ops::Range;

use super::drafts::{Changed, Draft, Edit, Home, Json, Parts, TextPart};
use crate::scan::{Scanned, push_escaped, push_string, span_of};
use crate::text::Text;
use crate::value::Value;

/// What is written of a document: what is copied, and what is new.
#[derive(Debug)]
pub struct Written<'d> {
    data: &'d [u8],
    /// All that is new.
    own: Vec<u8>,
    chunks: Vec<Chunk>,
}

#[derive(Clone, Debug)]
enum Chunk {
    /// A part of the data.
    Copied(Range<usize>),
    /// A part of what is new.
    Own(Range<usize>),
}

impl Written<'_> {
    fn slices(&self) -> impl Iterator<Item = &[u8]> {
        self.chunks.iter().map(|chunk| match chunk {
            Chunk::Copied(range) => self.data.get(range.clone()).unwrap_or_default(),
            Chunk::Own(range) => self.own.get(range.clone()).unwrap_or_default(),
        })
    }

    /// How many bytes there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.slices().map(<[u8]>::len).sum()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Write them into room for as many.
    pub fn write(&self, room: &mut [u8]) {
        let mut rest = room;
        for slice in self.slices() {
            let Some((own, behind)) = rest.split_at_mut_checked(slice.len()) else { return };
            own.copy_from_slice(slice);
            rest = behind;
        }
    }
}

/// A writer of what was scanned.
pub(crate) struct Writer<'d> {
    data: &'d [u8],
    own: Vec<u8>,
    chunks: Vec<Chunk>,
}

/// What stands between the brackets of a list or an object.
struct Inside<'s> {
    /// What the brackets hold was, where it was.
    outer: Option<Range<usize>>,
    /// Where each part stood.
    parts: &'s [Range<usize>],
    /// The number of the part before.
    before: Option<usize>,
    is_empty: bool,
}

impl Inside<'_> {
    /// What stands before a part that had a number, and before one that is new.
    fn step(&mut self, index: Option<usize>, writer: &mut Writer<'_>) {
        let follows =
            if self.is_empty { index == Some(0) } else { index.is_some() && index == self.before.map(|at| at + 1) };
        let gap = index.filter(|_| follows).and_then(|index| {
            let end = match index.checked_sub(1) {
                Some(before) => self.parts.get(before)?.end,
                None => self.outer.as_ref()?.start + 1,
            };
            Some(end..self.parts.get(index)?.start)
        });
        match gap {
            Some(gap) => writer.copy(gap),
            None if !self.is_empty => writer.push(b","),
            None => {}
        }
        (self.before, self.is_empty) = (index, false);
    }

    /// What stands behind the last part.
    fn finish(self, writer: &mut Writer<'_>) {
        if let (Some(outer), Some(last)) = (self.outer, self.parts.last())
            && !self.is_empty
            && self.before.is_some_and(|before| before + 1 == self.parts.len())
        {
            writer.copy(last.end..outer.end.saturating_sub(1));
        }
    }
}

impl<'d> Writer<'d> {
    pub(crate) fn new(data: &'d [u8]) -> Self {
        Self { data, own: Vec::new(), chunks: Vec::new() }
    }

    /// The document with these messages.
    pub(crate) fn document(mut self, messages: Scanned<'_>, drafts: &[Draft<'_, Scanned<'_>>]) -> Written<'d> {
        let span = messages.span(self.data);
        self.copy(0..span.start);
        self.list(Some((Home::Messages, messages)), drafts);
        self.copy(span.end..self.data.len());
        self.finish()
    }

    /// One message.
    pub(crate) fn message(mut self, draft: &Draft<'_, Scanned<'_>>) -> Written<'d> {
        self.draft(draft);
        self.finish()
    }

    fn finish(self) -> Written<'d> {
        let Self { data, own, chunks } = self;
        Written { data, own, chunks }
    }

    /// Copy a part of the data; parts that follow one another are one.
    fn copy(&mut self, span: Range<usize>) {
        match self.chunks.last_mut() {
            Some(Chunk::Copied(last)) if last.end == span.start => last.end = span.end,
            _ => self.chunks.push(Chunk::Copied(span)),
        }
    }

    /// Write what is new.
    fn push(&mut self, bytes: &[u8]) {
        let start = self.own.len();
        self.own.extend_from_slice(bytes);
        self.take_in(start);
    }

    /// Take in what was added to what is new from a place on.
    fn take_in(&mut self, start: usize) {
        let end = self.own.len();
        match self.chunks.last_mut() {
            Some(Chunk::Own(last)) => last.end = end,
            _ => self.chunks.push(Chunk::Own(start..end)),
        }
    }

    fn draft(&mut self, draft: &Draft<'_, Scanned<'_>>) {
        match draft {
            Draft::Kept(_, value) => self.copy(value.span(self.data)),
            Draft::Changed(changed) => self.object(changed),
            Draft::Made(value) => self.json(value),
        }
    }

    fn edit(&mut self, edit: &Edit<'_, Scanned<'_>>) {
        match edit {
            Edit::Made(value) => self.json(value),
            Edit::Changed(changed) => self.object(changed),
            Edit::Parts(Parts { of, items }) => self.list(*of, items),
        }
    }

    /// An array of drafts; `of` is the array whose items they may be.
    fn list(&mut self, of: Option<(Home, Scanned<'_>)>, drafts: &[Draft<'_, Scanned<'_>>]) {
        let (mut outer, mut parts) = (None, Vec::new());
        if let Some((_, list)) = of {
            let items = (0..list.count()).filter_map(|index| list.item(index));
            parts = items.map(|item| item.span(self.data)).collect();
            outer = Some(list.span(self.data));
        }
        let mut inside = Inside { outer, parts: &parts, before: None, is_empty: true };
        self.push(b"[");
        for draft in drafts {
            let place = of.and_then(|(home, _)| draft.path()?.index_in(home));
            inside.step(place, self);
            self.draft(draft);
        }
        inside.finish(self);
        self.push(b"]");
    }

    /// An object with some members replaced, left out or added.
    fn object(&mut self, changed: &Changed<'_, Scanned<'_>>) {
        let known = changed.of.map_or(&[][..], Scanned::raw_members);
        let parts: Vec<Range<usize>> = known.iter().map(|member| member.span(self.data)).collect();
        let last = |name: Text<'_>| known.iter().rposition(|member| member.name.is(name));
        let lasts: Vec<Option<usize>> = changed.members.iter().map(|(key, _)| last(key.name)).collect();
        let outer = changed.of.map(|object| object.span(self.data));
        let mut inside = Inside { outer, parts: &parts, before: None, is_empty: true };
        self.push(b"{");
        for (index, (member, span)) in known.iter().zip(&parts).enumerate() {
            let change = changed.members.iter().zip(&lasts).find(|((key, _), _)| member.name.is(key.name));
            match change {
                Some(((_, None), _)) => {}
                Some(((_, Some(edit)), last)) if *last == Some(index) => {
                    inside.step(Some(index), self);
                    self.copy(span.start..member.value.span(self.data).start);
                    self.edit(edit);
                }
                _ => {
                    inside.step(Some(index), self);
                    self.copy(span.clone());
                }
            }
        }
        for ((key, edit), _) in changed.members.iter().zip(&lasts).filter(|(_, last)| last.is_none()) {
            if let Some(edit) = edit {
                inside.step(None, self);
                self.text(key.name);
                self.push(b":");
                self.edit(edit);
            }
        }
        inside.finish(self);
        self.push(b"}");
    }

    /// A new value.
    fn json(&mut self, value: &Json<'_>) {
        match value {
            Json::Text(text) => self.text(text.text()),
            Json::Joined(parts) => self.joined(parts),
            Json::Number(number) => self.push(number.to_string().as_bytes()),
            Json::True => self.push(b"true"),
            Json::List(items) => {
                self.push(b"[");
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        self.push(b",");
                    }
                    self.json(item);
                }
                self.push(b"]");
            }
            Json::Object(members) => {
                self.push(b"{");
                for (index, (name, value)) in members.iter().enumerate() {
                    if index > 0 {
                        self.push(b",");
                    }
                    self.text(name.text());
                    self.push(b":");
                    self.json(value);
                }
                self.push(b"}");
            }
        }
    }

    /// A new text of parts, of which what is written already is copied.
    fn joined(&mut self, parts: &[TextPart<'_>]) {
        self.push(b"\"");
        for part in parts {
            match part {
                TextPart::Text(text) => {
                    let start = self.own.len();
                    push_escaped(&mut self.own, text.text());
                    self.take_in(start);
                }
                TextPart::Written(bytes) => self.copy(span_of(bytes, self.data)),
            }
        }
        self.push(b"\"");
    }

    /// A new text.
    fn text(&mut self, text: Text<'_>) {
        let start = self.own.len();
        push_string(&mut self.own, text);
        self.take_in(start);
    }
}
