//! Finished output: text of our own with parts of the input between, written once into one exact allocation.

use std::ops::Range;

use crate::pieces::{Part, Piece};
use crate::text::{OwnedText, Text, Unit, Width, see_grouped};

/// Parts of fewer code points, all up to U+00FF, are copied: titles, markers, and what stands around texts. Kept as they
/// are, most would take as much, and one after the other is longer to write.
const SHORT: usize = 128;

/// Finished output. Its text is kept as it comes, and stands in an order of its own.
#[derive(Clone, Debug, Default)]
pub struct Output<'a> {
    /// Text up to U+00FF that was copied.
    own: Vec<u8>,
    insets: Vec<Inset<'a>>,
    order: Vec<Range<Place>>,
}

/// A part that was not copied.
#[derive(Clone, Debug)]
struct Inset<'a> {
    /// How much own text there is before it.
    own: usize,
    part: Part<'a>,
}

/// A place in what an output keeps; the default is its beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// How much own text there is before it.
    own: usize,
    /// How many parts between.
    insets: usize,
}

impl Place {
    /// The place behind so much own text.
    pub(crate) fn behind(self, own: usize) -> Self {
        Self { own: self.own + own, ..self }
    }
}

impl<'a> Output<'a> {
    /// An empty output with room for so many blocks.
    pub(crate) fn with_room(blocks: usize) -> Self {
        let (own, insets) = (Vec::with_capacity(blocks * SHORT), Vec::with_capacity(2 * blocks));
        Self { own, insets, order: Vec::new() }
    }

    /// Add a part at the end.
    pub fn push(&mut self, part: impl Into<Part<'a>>) {
        let start = self.end();
        self.keep(part.into());
        self.place(start..self.end());
    }

    pub(crate) fn push_ascii(&mut self, text: &str) {
        let start = self.end();
        self.keep_ascii(text);
        self.place(start..self.end());
    }

    /// Keep a part, which does not stand in the output until its place is put in order.
    pub(crate) fn keep(&mut self, part: Part<'a>) {
        let narrow = match &part {
            _ if part.len() >= SHORT => None,
            Part::Piece(piece) => match piece.text() {
                Text::Latin1(units) => Some(units),
                _ => None,
            },
            Part::Plain(plain) => Some(plain.written()).filter(|bytes| bytes.len() == plain.len()),
        };
        if let Some(units) = narrow {
            self.own.extend_from_slice(units);
        } else if !part.is_empty() {
            self.insets.push(Inset { own: self.own.len(), part });
        }
    }

    pub(crate) fn keep_ascii(&mut self, text: &str) {
        self.own.extend_from_slice(text.as_bytes());
    }

    /// Keep a number with commas.
    pub(crate) fn keep_number(&mut self, number: usize) {
        see_grouped(number, &mut |byte| self.own.push(byte));
    }

    /// Where the next part will be kept.
    #[must_use]
    pub fn end(&self) -> Place {
        Place { own: self.own.len(), insets: self.insets.len() }
    }

    /// Keep nothing of what is kept behind a place, none of which stands in the output.
    pub(crate) fn go_back(&mut self, place: Place) {
        self.own.truncate(place.own);
        self.insets.truncate(place.insets);
    }

    /// Let what is kept between two places be the next that stands in the output.
    pub fn place(&mut self, kept: Range<Place>) {
        match self.order.last_mut() {
            _ if kept.start == kept.end => {}
            Some(last) if last.end == kept.start => last.end = kept.end,
            _ => self.order.push(kept),
        }
    }

    /// How many code points are kept between two places.
    pub(crate) fn len_of(&self, kept: &Range<Place>) -> usize {
        let insets = self.insets.get(kept.start.insets..kept.end.insets).unwrap_or_default();
        kept.end.own - kept.start.own + insets.iter().map(|inset| inset.part.len()).sum::<usize>()
    }

    /// See each part of what is kept between two places.
    pub(crate) fn see_kept(&self, kept: &Range<Place>, see: &mut impl FnMut(&Part<'_>)) {
        let mut own = kept.start.own;
        for inset in self.insets.get(kept.start.insets..kept.end.insets).unwrap_or_default() {
            self.see_own(own..inset.own, see);
            see(&inset.part);
            own = inset.own;
        }
        self.see_own(own..kept.end.own, see);
    }

    fn see_own(&self, own: Range<usize>, see: &mut impl FnMut(&Part<'_>)) {
        let units = self.own.get(own).unwrap_or_default();
        if !units.is_empty() {
            see(&Piece::Borrowed(Text::Latin1(units)).into());
        }
    }

    /// What is kept between two places.
    pub(crate) fn kept(&self, kept: Range<Place>) -> OwnedText {
        let mut text = OwnedText::default();
        self.see_kept(&kept, &mut |part| part.with_text(|own| text.push(own)));
        text
    }

    /// How many parts are kept that were not copied.
    pub(crate) fn inset_count(&self) -> usize {
        self.insets.len()
    }

    /// See each part, one behind the other.
    pub(crate) fn see(&self, mut see: impl FnMut(&Part<'_>)) {
        for kept in &self.order {
            self.see_kept(kept, &mut see);
        }
    }

    /// How many code points there are.
    #[must_use]
    pub fn len(&self) -> usize {
        let mut size = 0;
        self.see(|part| size += part.len());
        size
    }

    /// Whether there is no code point.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// What the widest code point needs.
    #[must_use]
    pub fn width(&self) -> Width {
        let mut width = Width::Ascii;
        self.see(|part| {
            width = match part {
                _ if width == Width::Ucs4 => width,
                Part::Piece(piece) => width.max(piece.text().width()),
                Part::Plain(plain) => width.max(plain.width()),
            };
        });
        width
    }

    /// Write all code points into `room`, which holds exactly as many and is wide enough.
    pub fn write<C: Unit>(&self, room: &mut [C]) {
        let mut at = 0;
        self.see(|part| {
            let end = at + part.len();
            if let Some(own) = room.get_mut(at..end) {
                part.with_text(|text| C::copy_text(text, own));
            }
            at = end;
        });
    }

    /// The output in UTF-8; a lone surrogate becomes U+FFFD.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut size = 0;
        self.see(|part| size += part.utf8_len());
        let (mut bytes, mut at) = (vec![0; size], 0);
        self.see(|part| at += part.write_utf8(bytes.get_mut(at..).unwrap_or_default()));
        bytes
    }

    /// [`Output::to_bytes`] as text.
    #[must_use]
    pub fn to_utf8(&self) -> String {
        String::from_utf8(self.to_bytes()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Let the output keep some texts; where.
    fn keep<'a>(output: &mut Output<'a>, texts: &[&'a [u16]]) -> Range<Place> {
        let start = output.end();
        for text in texts {
            output.keep_ascii("<");
            output.keep(Piece::Borrowed(Text::Ucs2(text)).into());
            output.keep_ascii(">");
        }
        start..output.end()
    }

    #[test]
    fn what_is_kept_stands_in_the_order_that_it_is_given() {
        let mut output = Output::default();
        let euro = keep(&mut output, &[&[0x20AC], &[]]);
        let none = keep(&mut output, &[]);
        let pound = keep(&mut output, &[&[0x20A4]]);
        assert!(output.is_empty());
        for (name, kept) in [("1", &pound), ("2", &none), ("3", &euro)] {
            output.push_ascii(name);
            output.place(kept.clone());
        }
        assert_eq!(output.to_utf8(), "1<\u{20a4}>23<\u{20ac}><>");
        assert_eq!((output.len(), output.width()), (11, Width::Ucs2));
        assert_eq!(output.kept(euro.start..euro.start.behind(1)).as_text(), Text::ascii("<"));
        assert_eq!(output.kept(pound).as_text(), Text::Ucs2(&[0x3C, 0x20A4, 0x3E]));
    }

    #[test]
    fn what_follows_on_another_is_one_stretch() {
        let mut output = Output::default();
        let (first, second) = (keep(&mut output, &[&[0x20AC]]), keep(&mut output, &[&[0x20AC]]));
        let all = first.start..second.end;
        output.place(first);
        output.place(second);
        assert_eq!(output.order, [all]);
    }
}
