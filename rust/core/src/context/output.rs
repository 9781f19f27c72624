//! The output of a job: slices of the input and generated text, written in one pass into one allocation.
//!
//! A step keeps text in the order in which it finds it, which is newest block first. Kept text becomes part of the
//! output when it is placed, so that blocks can be placed oldest first without being copied twice.

use std::ops::Range;

use crate::text::piece::Piece;
use crate::text::segment::Segment;
use crate::text::{OwnedText, Text, Unit, Width, grouped};

/// ASCII parts shorter than this are copied, because a reference would take as much room.
const SHORT: usize = 128;
/// The approximate number of bytes that a block copies.
const OWN_ROOM: usize = 48;

/// Kept text, and the order in which it is written.
#[derive(Clone, Debug, Default)]
pub struct Output<'a> {
    /// Copied text, all of it ASCII.
    own: Vec<u8>,
    /// Parts that are not copied.
    insets: Vec<Inset<'a>>,
    /// The kept stretches that make up the output.
    order: Vec<Range<OutputPosition>>,
    /// The number of code points kept.
    size: usize,
}

/// A part that is not copied, between two stretches of copied text.
#[derive(Clone, Debug)]
struct Inset<'a> {
    /// The length of the copied text before it.
    own: usize,
    part: Segment<'a>,
}

/// A position in the kept text. The default is its beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutputPosition {
    /// The length of the copied text before it.
    own: usize,
    /// The number of parts before it.
    insets: usize,
    /// The number of code points before it.
    size: usize,
}

impl<'a> Output<'a> {
    /// Create an empty output with room for a number of blocks.
    pub(crate) fn with_room(blocks: usize) -> Self {
        Self { own: Vec::with_capacity(blocks * OWN_ROOM), insets: Vec::with_capacity(2 * blocks), ..Self::default() }
    }

    /// Add a part at the end.
    pub fn push(&mut self, part: impl Into<Segment<'a>>) {
        let start = self.end();
        self.keep(part.into());
        self.place(start..self.end());
    }

    /// Add an ASCII literal at the end.
    pub(crate) fn push_ascii(&mut self, text: &str) {
        let start = self.end();
        self.keep_ascii(text);
        self.place(start..self.end());
    }

    /// Keep a part. It is written only after [`Output::place`].
    pub(crate) fn keep(&mut self, part: Segment<'a>) {
        if part.is_empty() {
            return;
        }
        self.size += part.len();
        match short_ascii(&part) {
            Some(units) => self.own.extend_from_slice(units),
            None => self.insets.push(Inset { own: self.own.len(), part }),
        }
    }

    /// Keep an ASCII literal.
    #[inline(always)]
    pub(crate) fn keep_ascii(&mut self, text: &str) {
        self.size += text.len();
        self.own.extend_from_slice(text.as_bytes());
    }

    /// Keep a number, with commas between thousands.
    pub(crate) fn keep_number(&mut self, number: usize) {
        self.keep_ascii(&grouped(number));
    }

    /// Return the position of the next part to be kept.
    #[must_use]
    pub fn end(&self) -> OutputPosition {
        OutputPosition { own: self.own.len(), insets: self.insets.len(), size: self.size }
    }

    /// Discard everything kept after a position. None of it may have been placed.
    pub(crate) fn go_back(&mut self, place: OutputPosition) {
        self.own.truncate(place.own);
        self.insets.truncate(place.insets);
        self.size = place.size;
    }

    /// Write the text kept between two positions next.
    pub fn place(&mut self, kept: Range<OutputPosition>) {
        match self.order.last_mut() {
            _ if kept.start == kept.end => {}
            Some(last) if last.end == kept.start => last.end = kept.end,
            _ => self.order.push(kept),
        }
    }

    /// Return the number of code points between two positions.
    pub(crate) fn size_of(kept: &Range<OutputPosition>) -> usize {
        kept.end.size - kept.start.size
    }

    /// Visit the parts between two positions. Each stretch of copied text is one part.
    pub(crate) fn see_parts(&self, kept: &Range<OutputPosition>, see: &mut impl FnMut(&Segment<'_>)) {
        let mut see_own = |own: Range<usize>, inset: Option<&Segment<'_>>| {
            let own = self.own.get(own).unwrap_or_default();
            if !own.is_empty() {
                see(&Piece::Borrowed(Text::Latin1(own)).into());
            }
            if let Some(part) = inset {
                see(part);
            }
        };
        let mut own = kept.start.own;
        for inset in self.insets.get(kept.start.insets..kept.end.insets).unwrap_or_default() {
            see_own(own..inset.own, Some(&inset.part));
            own = inset.own;
        }
        see_own(own..kept.end.own, None);
    }

    /// Visit the parts of the output, in the order in which they are written.
    fn see_all(&self, mut see: impl FnMut(&Segment<'_>)) {
        for kept in &self.order {
            self.see_parts(kept, &mut see);
        }
    }

    /// Return the text between two positions.
    pub(crate) fn kept(&self, kept: Range<OutputPosition>) -> OwnedText {
        let mut text = OwnedText::default();
        self.see_parts(&kept, &mut |part| part.with_text(|own| text.push(own)));
        text
    }

    /// Return the number of code points.
    #[must_use]
    pub fn len(&self) -> usize {
        self.order.iter().map(Self::size_of).sum()
    }

    /// Return true if the output has no code points.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Return the width of the widest code point.
    #[must_use]
    pub fn width(&self) -> Width {
        let mut width = Width::Ascii; // the width of copied text
        for kept in &self.order {
            for inset in self.insets.get(kept.start.insets..kept.end.insets).unwrap_or_default() {
                if width < Width::Ucs4 {
                    width = width.max(inset.part.width());
                }
            }
        }
        width
    }

    /// Write all code points into `room`, whose length must be [`Output::len`] and whose units must be wide enough.
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

    /// Return the number of bytes in UTF-8.
    #[must_use]
    pub fn utf8_len(&self) -> usize {
        let mut size = 0;
        self.see_all(|part| size += part.utf8_len());
        size
    }

    /// Write the output in UTF-8 into `room`, whose length must be [`Output::utf8_len`]. A lone surrogate becomes
    /// U+FFFD.
    ///
    /// The whole room is written; bytes that the input does not fill are spaces.
    pub fn write_utf8(&self, room: &mut [u8]) {
        let mut at = 0;
        self.see_all(|part| {
            let rest = room.get_mut(at..).unwrap_or_default();
            let size = part.write_utf8(rest);
            if size > rest.len() {
                rest.fill(b' ');
            }
            at += size;
        });
        room.get_mut(at..).unwrap_or_default().fill(b' ');
    }

    /// Return the output in UTF-8. A lone surrogate becomes U+FFFD.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.utf8_len()];
        self.write_utf8(&mut bytes);
        bytes
    }

    /// Return [`Output::to_bytes`] as a string.
    #[must_use]
    pub fn to_utf8(&self) -> String {
        String::from_utf8(self.to_bytes()).unwrap_or_default()
    }
}

/// Return the bytes of a part that is short, ASCII and free of escapes.
fn short_ascii<'p>(part: &'p Segment<'_>) -> Option<&'p [u8]> {
    if part.len() >= SHORT {
        return None;
    }
    match part {
        Segment::Piece(piece) => match piece.text() {
            Text::Latin1(units) => Some(units).filter(|units| units.is_ascii()),
            _ => None,
        },
        Segment::Plain(plain) => Some(plain.written()).filter(|bytes| bytes.len() == plain.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::piece::Piece;

    /// Keep some texts in the output and return their range.
    fn keep<'a>(output: &mut Output<'a>, texts: &[&'a [u16]]) -> Range<OutputPosition> {
        let start = output.end();
        for text in texts {
            output.keep_ascii("<");
            output.keep(Piece::Borrowed(Text::Ucs2(text)).into());
            output.keep_ascii(">");
        }
        start..output.end()
    }

    #[test]
    fn kept_text_is_written_in_the_order_of_placement() {
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
    fn consecutive_stretches_are_merged() {
        let mut output = Output::default();
        let (first, second) = (keep(&mut output, &[&[0x20AC]]), keep(&mut output, &[&[0x20AC]]));
        output.place(first);
        output.place(second);
        assert_eq!(output.order, [OutputPosition::default()..output.end()]);
    }
}
