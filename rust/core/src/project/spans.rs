//! A projection of bytes: what changes is written anew, and all else is copied as it stood.
//!
//! Between parts that follow one another as they did, what stood between them stays: the comma and the white space.
//! The twin is `_pure/project/spans.py`.

use std::ops::Range;

use super::drafts::{Changed, Draft, Edit, Home, Json, Parts};
use crate::scan::{Scanned, push_quoted};
use crate::text::{OwnedText, Text};
use crate::utf8;
use crate::value::Value;

/// A writer of what was scanned.
pub(crate) struct Writer<'d> {
    data: &'d [u8],
    out: Vec<u8>,
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
            None if !self.is_empty => writer.out.push(b','),
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
    pub(crate) fn new(data: &'d [u8], room: usize) -> Self {
        Self { data, out: Vec::with_capacity(room) }
    }

    /// The document with these messages.
    pub(crate) fn document(mut self, messages: Scanned<'_>, drafts: &[Draft<'_, Scanned<'_>>]) -> Vec<u8> {
        let span = messages.span(self.data);
        self.copy(0..span.start);
        self.list(Some((Home::Messages, messages)), drafts);
        self.copy(span.end..self.data.len());
        self.out
    }

    /// One message.
    pub(crate) fn message(mut self, draft: &Draft<'_, Scanned<'_>>) -> Vec<u8> {
        self.draft(draft);
        self.out
    }

    fn copy(&mut self, span: Range<usize>) {
        self.out.extend_from_slice(self.data.get(span).unwrap_or_default());
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
        self.out.push(b'[');
        for draft in drafts {
            let place = of.and_then(|(home, _)| draft.path()?.index_in(home));
            inside.step(place, self);
            self.draft(draft);
        }
        inside.finish(self);
        self.out.push(b']');
    }

    /// An object with some members replaced, left out or added.
    fn object(&mut self, changed: &Changed<'_, Scanned<'_>>) {
        let known = changed.of.map_or(&[][..], Scanned::raw_members);
        let parts: Vec<Range<usize>> = known.iter().map(|member| member.span(self.data)).collect();
        let last = |name: Text<'_>| known.iter().rposition(|member| member.name.is(name));
        let lasts: Vec<Option<usize>> = changed.members.iter().map(|(key, _)| last(key.name)).collect();
        let outer = changed.of.map(|object| object.span(self.data));
        let mut inside = Inside { outer, parts: &parts, before: None, is_empty: true };
        self.out.push(b'{');
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
                self.out.push(b':');
                self.edit(edit);
            }
        }
        inside.finish(self);
        self.out.push(b'}');
    }

    /// A new value.
    fn json(&mut self, value: &Json<'_>) {
        match value {
            Json::Text(text) => self.text(text.text()),
            Json::Number(number) => self.out.extend_from_slice(number.to_string().as_bytes()),
            Json::True => self.out.extend_from_slice(b"true"),
            Json::List(items) => {
                self.out.push(b'[');
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        self.out.push(b',');
                    }
                    self.json(item);
                }
                self.out.push(b']');
            }
            Json::Object(members) => {
                self.out.push(b'{');
                for (index, (name, value)) in members.iter().enumerate() {
                    if index > 0 {
                        self.out.push(b',');
                    }
                    self.text(name.text());
                    self.out.push(b':');
                    self.json(value);
                }
                self.out.push(b'}');
            }
        }
    }

    /// A new text in quotes, with lone surrogates as escapes.
    fn text(&mut self, text: Text<'_>) {
        let mut quoted = OwnedText::default();
        push_quoted(&mut quoted, text);
        let quoted = quoted.as_text();
        let code_points = || (0..quoted.len()).filter_map(|index| quoted.get(index));
        let is_lone = |unit: u32| (0xD800..0xE000).contains(&unit);
        if matches!(quoted, Text::Latin1(_)) || !code_points().any(is_lone) {
            let start = self.out.len();
            self.out.resize(start + quoted.utf8_len(), 0);
            quoted.write_utf8(self.out.get_mut(start..).unwrap_or_default());
            return;
        }
        for unit in code_points() {
            if is_lone(unit) {
                self.out.extend_from_slice(format!("\\u{unit:04x}").as_bytes());
            } else {
                let (bytes, size) = utf8::bytes_of(unit);
                self.out.extend_from_slice(bytes.get(..size).unwrap_or_default());
            }
        }
    }
}
