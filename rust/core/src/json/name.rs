//! The name of a member as nodes keep it: where it stands in what was scanned, in a third of what a text takes.

use crate::text::Text;
use crate::text::escaped::EscapedText;

/// The bit of a size that says of a name that it has escapes, or is no ASCII.
const ODD: u32 = 1 << 31;

/// No name is longer.
pub(crate) const LONGEST_NAME: usize = (ODD - 1) as usize;

/// A name in data of less than 4 GiB.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Name {
    /// The offset behind the quote.
    start: u32,
    /// How many bytes, and whether it is odd.
    size: u32,
}

impl Name {
    /// The name whose first byte is at `start`.
    #[inline(always)]
    pub(crate) fn of(raw: EscapedText<'_>, start: usize) -> Self {
        let is_odd = raw.has_escapes || !raw.is_ascii;
        let [start, size] = [start, raw.bytes.len()].map(|number| u32::try_from(number).unwrap_or(u32::MAX));
        Self { start, size: size | if is_odd { ODD } else { 0 } }
    }

    /// Whether the name is this text.
    #[inline(always)]
    pub(crate) fn is(self, text: Text<'_>, data: &[u8]) -> bool {
        match text {
            Text::Latin1(units) if self.size & ODD == 0 => {
                let (start, size) = (self.start(), self.size as usize);
                data.get(start..start + size).is_some_and(|name| name == units)
            }
            _ => self.raw(data).is(text),
        }
    }

    /// The name as it is written in the data; its characters are not counted.
    #[inline(always)]
    pub(crate) fn raw(self, data: &[u8]) -> EscapedText<'_> {
        let (start, is_odd) = (self.start(), self.size & ODD != 0);
        let bytes = data.get(start..start + (self.size & !ODD) as usize).unwrap_or_default();
        EscapedText {
            bytes,
            chars: u32::MAX,
            has_escapes: is_odd && bytes.contains(&b'\\'),
            is_ascii: !is_odd || bytes.is_ascii(),
        }
    }

    /// The offset of its first byte.
    pub(crate) fn start(self) -> usize {
        self.start as usize
    }
}
