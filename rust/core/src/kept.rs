//! What an output keeps, seen part by part.

use std::ops::Range;

use crate::phrases::{LONGEST_PHRASE, Phrase};
use crate::pieces::{Part, Piece};
use crate::shorthand::{Listener, Reading, tell};
use crate::text::Text;

/// So much own text is seen at once.
const SEEN: usize = 256;

/// What an output keeps in one.
pub(crate) enum Kept<'o, 'a> {
    /// Own text, in shorthand.
    Said(&'o [u8]),
    /// Own text.
    Text(&'o [u8]),
    /// A part that was not copied.
    Part(&'o Part<'a>),
}

/// Own text that is seen, some of it at a time.
pub(crate) struct Seeing<'d, 's, F> {
    data: &'d [u8],
    room: [u8; SEEN],
    size: usize,
    see: &'s mut F,
}

impl<'d, 's, F: FnMut(&Part<'_>)> Seeing<'d, 's, F> {
    pub(crate) fn new(data: &'d [u8], see: &'s mut F) -> Self {
        Self { data, room: [0; SEEN], size: 0, see }
    }

    #[inline(always)]
    pub(crate) fn take(&mut self, kept: &Kept<'_, '_>) {
        match kept {
            Kept::Said(said) => tell(said, self),
            Kept::Text([]) => {}
            // Nothing waits: an output has either kind of own text.
            Kept::Text(text) => (self.see)(&Piece::Borrowed(Text::Latin1(text)).into()),
            Kept::Part(part) => {
                self.flush();
                (self.see)(part);
            }
        }
    }

    pub(crate) fn flush(&mut self) {
        let text = self.room.get(..self.size).unwrap_or_default();
        if !text.is_empty() {
            (self.see)(&Piece::Borrowed(Text::Latin1(text)).into());
        }
        self.size = 0;
    }

    /// The room that is left, which is as large, unless all of it is too small.
    #[inline(always)]
    fn room_for(&mut self, size: usize) -> &mut [u8] {
        if self.size + size > SEEN {
            self.flush();
        }
        self.room.get_mut(self.size..).unwrap_or_default()
    }
}

impl<F: FnMut(&Part<'_>)> Listener for Seeing<'_, '_, F> {
    #[inline(always)]
    fn text(&mut self, text: &[u8]) {
        match self.room_for(text.len()).get_mut(..text.len()) {
            Some(own) => {
                own.copy_from_slice(text);
                self.size += text.len();
            }
            None => (self.see)(&Piece::Borrowed(Text::Latin1(text)).into()),
        }
    }

    #[inline(always)]
    fn phrase(&mut self, phrase: Phrase) {
        self.size += phrase.write(self.room_for(LONGEST_PHRASE));
    }

    fn part(&mut self, range: Range<usize>, reading: Reading) {
        debug_assert_eq!(reading, Reading::AsItStands, "an output says nothing else of its data");
        self.text(self.data.get(range).unwrap_or_default());
    }
}
