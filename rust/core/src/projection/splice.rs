//! A projection written as bytes: changes are written as new text, and everything else is copied verbatim.
//!
//! If two neighbouring parts were neighbours before, the comma and the white space between them are copied as well.

use std::ops::Range;

use ahash::AHashMap;

use super::edits::{Changed, Draft, DraftList, Edit, Json, Parts, TextPart};
use crate::json::nodes::span_of;
use crate::json::scanned::Scanned;
use crate::json::value::{Key, Value};
use crate::json::write::{push_escaped, push_string};
use crate::text::Text;

/// A new document, as copied ranges of the old one and new text.
#[derive(Debug)]
pub struct Written<'d> {
    data: &'d [u8],
    chunks: Vec<Chunk>,
}

#[derive(Clone, Debug)]
enum Chunk {
    /// A range of the old document.
    Copied(Range<usize>),
    /// New text.
    Own(Vec<u8>),
}

impl Written<'_> {
    fn slices(&self) -> impl Iterator<Item = &[u8]> {
        self.chunks.iter().map(|chunk| match chunk {
            Chunk::Copied(range) => self.data.get(range.clone()).unwrap_or_default(),
            Chunk::Own(text) => text,
        })
    }

    /// Return the number of bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.slices().map(<[u8]>::len).sum()
    }

    /// Return true if there are no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Write the bytes into `room`, whose length must be [`Written::len`].
    pub fn write(&self, room: &mut [u8]) {
        let mut rest = room;
        for slice in self.slices() {
            let Some((own, after)) = rest.split_at_mut_checked(slice.len()) else { return };
            own.copy_from_slice(slice);
            rest = after;
        }
    }
}

/// A writer for scanned documents. It takes the drafts, so that a new text is freed as soon as it is written.
pub(crate) struct Writer<'d> {
    data: &'d [u8],
    chunks: Vec<Chunk>,
}

/// A list or an object under construction, whose parts may come from an old one.
struct Container {
    brackets: [&'static [u8]; 2],
    /// The range of the old one.
    outer: Option<Range<usize>>,
    /// The number of parts of the old one.
    count: usize,
    /// The index of the part written last in the old one, and its end.
    before: Option<(usize, usize)>,
    is_empty: bool,
}

impl Container {
    fn new(brackets: [&'static [u8]; 2], outer: Option<Range<usize>>, count: usize) -> Self {
        Self { brackets, outer, count, before: None, is_empty: true }
    }

    /// Write the text before a part. `known` is the index and the range of an old part, or `None` for a new one.
    fn step(&mut self, known: Option<(usize, Range<usize>)>, writer: &mut Writer<'_>) {
        let gap = known.as_ref().and_then(|(index, span)| {
            let start = match self.before {
                None if self.is_empty && *index == 0 => self.outer.as_ref()?.start,
                Some((before, end)) if before + 1 == *index => end,
                _ => return None,
            };
            Some(start..span.start)
        });
        match gap {
            Some(gap) => writer.copy(gap),
            None if self.is_empty => writer.push(self.brackets[0]),
            None => writer.push(b","),
        }
        (self.before, self.is_empty) = (known.map(|(index, span)| (index, span.end)), false);
    }

    /// Write the text after the last part.
    fn finish(self, writer: &mut Writer<'_>) {
        let last = self.before.filter(|(last, _)| last + 1 == self.count);
        match (self.outer, last) {
            (Some(outer), Some((_, end))) => writer.copy(end..outer.end),
            _ if self.is_empty => self.brackets.iter().for_each(|bracket| writer.push(bracket)),
            _ => writer.push(self.brackets[1]),
        }
    }
}

impl<'d> Writer<'d> {
    pub(crate) fn new(data: &'d [u8]) -> Self {
        Self { data, chunks: Vec::new() }
    }

    /// Write the document with new messages.
    pub(crate) fn document(mut self, messages: Scanned<'_>, drafts: Vec<Draft<'_, Scanned<'_>>>) -> Written<'d> {
        let span = messages.span(self.data);
        self.copy(0..span.start);
        self.list(Some((DraftList::Messages, messages)), drafts);
        self.copy(span.end..self.data.len());
        self.finish()
    }

    /// Write the document as a changed object.
    pub(crate) fn request(mut self, document: Scanned<'_>, changed: Changed<'_, Scanned<'_>>) -> Written<'d> {
        let span = document.span(self.data);
        self.copy(0..span.start);
        self.object(changed, Some(span.clone()));
        self.copy(span.end..self.data.len());
        self.finish()
    }

    /// Write one message.
    pub(crate) fn message(mut self, draft: Draft<'_, Scanned<'_>>) -> Written<'d> {
        let span = self.span(&draft);
        self.draft(draft, span);
        self.finish()
    }

    fn finish(self) -> Written<'d> {
        let Self { data, chunks } = self;
        Written { data, chunks }
    }

    /// Copy a range of the old document. Adjacent ranges are merged.
    fn copy(&mut self, span: Range<usize>) {
        match self.chunks.last_mut() {
            Some(Chunk::Copied(last)) if last.end == span.start => {
                last.end = span.end;
                return;
            }
            Some(Chunk::Own(text)) => text.shrink_to_fit(),
            _ => {}
        }
        self.chunks.push(Chunk::Copied(span));
    }

    /// Write new text.
    fn push(&mut self, bytes: &[u8]) {
        self.append(|text| text.extend_from_slice(bytes));
    }

    /// Let a function append to the new text at the end.
    fn append(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        if let Some(Chunk::Own(text)) = self.chunks.last_mut() {
            return write(text);
        }
        let mut text = Vec::new();
        write(&mut text);
        self.chunks.push(Chunk::Own(text));
    }

    /// Write a draft. `span` is the range of the value that it is made from.
    fn draft(&mut self, draft: Draft<'_, Scanned<'_>>, span: Option<Range<usize>>) {
        match (draft, span) {
            (Draft::Original(..), span) => self.copy(span.unwrap_or_default()),
            (Draft::Changed(changed), span) => self.object(changed, span),
            (Draft::NewValue(value), _) => self.json(&value),
        }
    }

    fn edit(&mut self, edit: Edit<'_, Scanned<'_>>) {
        match edit {
            Edit::NewValue(value) => self.json(&value),
            Edit::Changed(changed) => {
                let span = changed.of.map(|object| object.span(self.data));
                self.object(changed, span);
            }
            Edit::Parts(Parts { of, items }) => self.list(of, items),
        }
    }

    /// Return the range of the value that a draft is made from.
    fn span(&self, draft: &Draft<'_, Scanned<'_>>) -> Option<Range<usize>> {
        let value = match draft {
            Draft::Original(_, value) => Some(*value),
            Draft::Changed(changed) => changed.of,
            Draft::NewValue(_) => None,
        };
        value.map(|value| value.span(self.data))
    }

    /// Write an array of drafts. `of` is the old array, which may contain their values.
    fn list(&mut self, of: Option<(DraftList, Scanned<'_>)>, drafts: Vec<Draft<'_, Scanned<'_>>>) {
        let list = of.map(|(_, list)| list);
        let outer = list.map(|list| list.span(self.data));
        let mut array = Container::new([b"[", b"]"], outer, list.map_or(0, Value::count));
        for draft in drafts {
            let index = of.and_then(|(home, _)| draft.path()?.index_in(home));
            let span = self.span(&draft);
            array.step(index.zip(span.clone()), self);
            self.draft(draft, span);
        }
        array.finish(self);
    }

    /// Write an object with some members replaced, left out or added. `outer` is the range of the old object.
    fn object(&mut self, mut changed: Changed<'_, Scanned<'_>>, outer: Option<Range<usize>>) {
        let data = self.data;
        let known = changed.of.map_or(&[][..], Scanned::raw_members);
        let mut object = Container::new([b"{", b"}"], outer, known.len());
        let places: AHashMap<Text<'_>, usize> =
            changed.members.iter().enumerate().map(|(place, (key, _))| (key.name, place)).collect();
        let names = changed.of.into_iter().flat_map(Scanned::raw_names);
        for (index, (member, name)) in known.iter().zip(names).enumerate() {
            let span = member.span(data);
            let change = places.get(&name).and_then(|place| changed.members.get_mut(*place));
            let is_last = |key: &Key<'_>| !known.iter().skip(index + 1).any(|later| later.name.is(key.name, data));
            match change {
                Some((_, None)) => {}
                Some((key, edit)) if is_last(key) => {
                    object.step(Some((index, span.clone())), self);
                    self.copy(span.start..member.value.start(data));
                    edit.take().into_iter().for_each(|edit| self.edit(edit));
                }
                _ => {
                    object.step(Some((index, span.clone())), self);
                    self.copy(span);
                }
            }
        }
        for (key, edit) in changed.members {
            let is_new = || !known.iter().any(|member| member.name.is(key.name, data));
            if let Some(edit) = edit.filter(|_| is_new()) {
                object.step(None, self);
                self.text(key.name);
                self.push(b":");
                self.edit(edit);
            }
        }
        object.finish(self);
    }

    /// Write a new value.
    fn json(&mut self, value: &Json<'_>) {
        match value {
            Json::Text(text) => self.text(text.text()),
            Json::Joined(parts) => self.joined(parts),
            Json::Source(text) => self.push(text.text().to_utf8().as_bytes()),
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

    /// Write a new text from parts. Slices of the old document are copied.
    fn joined(&mut self, parts: &[TextPart<'_>]) {
        self.push(b"\"");
        for part in parts {
            match part {
                TextPart::Text(text) => self.append(|to| push_escaped(to, text.text())),
                TextPart::Written(bytes) => self.copy(span_of(bytes, self.data)),
            }
        }
        self.push(b"\"");
    }

    /// Write a new text.
    fn text(&mut self, text: Text<'_>) {
        self.append(|to| push_string(to, text));
    }
}
