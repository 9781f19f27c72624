//! Finished output: text of our own with parts of the input between, written once into one exact allocation.

use std::ops::Range;

use crate::grouped::{grouped_size, with_grouped};
use crate::kept::{Kept, Seeing};
use crate::pieces::Part;
use crate::scan::span_of;
use crate::shorthand::{Reading, Shorthand};
use crate::text::{OwnedText, Text, Unit, Width};

/// Parts of fewer code points, all ASCII, become own text: kept as they are, most would take as much.
const SHORT: usize = 128;
/// Of those that are longer than this, and stand in the data, it is kept where.
const LONGEST_COPIED: usize = 8;
/// The own text of a block takes about as much.
const OWN_ROOM: usize = 48;

/// Finished output. What it says is kept as it comes, and stands in an order of its own.
#[derive(Clone, Debug, Default)]
pub struct Output<'a> {
    /// What parts may stand in. Where there is any, own text is in shorthand, since it may have to wait until all is let
    /// go of that the output was made with; else it is text, which is sooner kept and written.
    data: &'a [u8],
    /// ASCII.
    own: Shorthand,
    insets: Vec<Inset<'a>>,
    order: Vec<Range<Place>>,
    /// How many code points are kept.
    size: usize,
}

/// A part that was not copied.
#[derive(Clone, Debug)]
struct Inset<'a> {
    /// What the own text before it takes.
    own: usize,
    part: Part<'a>,
}

/// A place in what an output keeps; the default is its beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// What the own text before it takes.
    own: usize,
    /// How many parts between.
    insets: usize,
    /// How many code points.
    size: usize,
}

impl<'a> Output<'a> {
    /// An empty output with room for so many blocks, of which parts may stand in some data.
    pub(crate) fn over(data: &'a [u8], blocks: usize) -> Self {
        let own = Shorthand::with_room(blocks * OWN_ROOM);
        Self { data, own, insets: Vec::with_capacity(2 * blocks), ..Self::default() }
    }

    /// Whether own text is in shorthand.
    fn is_said(&self) -> bool {
        !self.data.is_empty()
    }

    /// What the own text takes.
    pub(crate) fn said_len(&self) -> usize {
        self.own.len()
    }

    /// Where a part stands in the data, if it does.
    pub(crate) fn start_of(&self, part: &[u8]) -> Option<u32> {
        self.data.as_ptr_range().contains(&part.as_ptr()).then(|| span_of(part, self.data).start.try_into().ok())?
    }

    /// Each part that was not copied, whether it stands in the output or not.
    pub(crate) fn insets(&self) -> impl ExactSizeIterator<Item = &Part<'a>> {
        self.insets.iter().map(|inset| &inset.part)
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
        if part.is_empty() {
            return;
        }
        self.size += part.len();
        let narrow = match &part {
            _ if part.len() >= SHORT => None,
            Part::Piece(piece) => match piece.text() {
                Text::Latin1(units) => Some(units).filter(|units| units.is_ascii()),
                _ => None,
            },
            Part::Plain(plain) => Some(plain.written()).filter(|bytes| bytes.len() == plain.len()),
            Part::Signed(_) => None,
        };
        match narrow {
            None => self.insets.push(Inset { own: self.own.len(), part }),
            Some(units) if !self.is_said() => self.own.add(units),
            Some(units) => match self.start_of(units) {
                Some(start) if units.len() > LONGEST_COPIED => {
                    self.own.say_part(start, units.len(), Reading::AsItStands);
                }
                _ => self.own.say(units),
            },
        }
    }

    #[inline(always)]
    pub(crate) fn keep_ascii(&mut self, text: &str) {
        self.size += text.len();
        if self.is_said() {
            self.own.say(text.as_bytes());
        } else {
            self.own.add(text.as_bytes());
        }
    }

    /// Keep a number with commas.
    pub(crate) fn keep_number(&mut self, number: usize) {
        self.size += grouped_size(number);
        if self.is_said() {
            self.own.say_number(number);
        } else {
            with_grouped(number, |digits| self.own.add(digits));
        }
    }

    /// Where the next part will be kept.
    #[must_use]
    pub fn end(&self) -> Place {
        Place { own: self.own.len(), insets: self.insets.len(), size: self.size }
    }

    /// Keep nothing of what is kept behind a place, none of which stands in the output.
    pub(crate) fn go_back(&mut self, place: Place) {
        self.own.truncate(place.own);
        self.insets.truncate(place.insets);
        self.size = place.size;
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
    pub(crate) fn size_of(kept: &Range<Place>) -> usize {
        kept.end.size - kept.start.size
    }

    /// See what is kept between two places.
    fn see_kept<'o>(&'o self, kept: &Range<Place>, see: &mut impl FnMut(Kept<'o, 'a>)) {
        let own_text = if self.is_said() { Kept::Said } else { Kept::Text };
        let mut own = kept.start.own;
        for inset in self.insets.get(kept.start.insets..kept.end.insets).unwrap_or_default() {
            see(own_text(self.own.get(own..inset.own)));
            see(Kept::Part(&inset.part));
            own = inset.own;
        }
        see(own_text(self.own.get(own..kept.end.own)));
    }

    /// See each part of what is kept between two places.
    pub(crate) fn see_parts(&self, kept: &Range<Place>, see: &mut impl FnMut(&Part<'_>)) {
        let mut seeing = Seeing::new(self.data, see);
        self.see_kept(kept, &mut |kept| seeing.take(&kept));
        seeing.flush();
    }

    /// What is kept between two places.
    pub(crate) fn kept(&self, kept: Range<Place>) -> OwnedText {
        let mut text = OwnedText::default();
        self.see_parts(&kept, &mut |part| part.with_text(|own| text.push(own)));
        text
    }

    /// See all that stands in the output, one behind the other.
    pub(crate) fn see<'o>(&'o self, see: &mut impl FnMut(Kept<'o, 'a>)) {
        for kept in &self.order {
            self.see_kept(kept, see);
        }
    }

    /// See each part, one behind the other.
    fn see_all(&self, mut see: impl FnMut(&Part<'_>)) {
        let mut seeing = Seeing::new(self.data, &mut see);
        self.see(&mut |kept| seeing.take(&kept));
        seeing.flush();
    }

    /// How many code points there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.order.iter().map(Self::size_of).sum()
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
        self.see(&mut |kept| {
            width = match kept {
                Kept::Part(part) if width < Width::Ucs4 => width.max(part.width()),
                _ => width,
            };
        });
        width
    }

    /// Write all code points into `room`, which holds exactly as many and is wide enough.
    pub fn write<C: Unit>(&self, room: &mut [C]) {
        let mut at = 0;
        self.see_all(|part| {
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
        self.see_all(|part| size += part.utf8_len());
        let (mut bytes, mut at) = (vec![0; size], 0);
        self.see_all(|part| at += part.write_utf8(bytes.get_mut(at..).unwrap_or_default()));
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
    use crate::pieces::Piece;

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
        assert_eq!(output.kept(pound).as_text(), Text::Ucs2(&[0x3C, 0x20A4, 0x3E]));
    }

    #[test]
    fn what_follows_on_another_is_one_stretch() {
        let mut output = Output::default();
        let (first, second) = (keep(&mut output, &[&[0x20AC]]), keep(&mut output, &[&[0x20AC]]));
        output.place(first);
        output.place(second);
        assert_eq!(output.order, [Place::default()..output.end()]);
    }
}
