//! The name of a member as nodes keep it: where it stands in what was scanned, in a third of what a text takes.

use super::strings::Raw;
use crate::text::Text;

/// The bit of a size that says of a name that it has escapes, or is no ASCII.
const ODD: u32 = 1 << 31;

/// No name is longer.
pub(super) const LONGEST_NAME: usize = (ODD - 1) as usize;

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
    pub(super) fn of(raw: Raw<'_>, start: usize) -> Self {
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
                size == units.len() && data.get(start..start + size).is_some_and(|bytes| is_same(bytes, units))
            }
            _ => self.raw(data).is(text),
        }
    }

    /// The name as it is written in the data; its characters are not counted.
    #[inline(always)]
    pub(crate) fn raw(self, data: &[u8]) -> Raw<'_> {
        let (start, is_odd) = (self.start(), self.size & ODD != 0);
        let bytes = data.get(start..start + (self.size & !ODD) as usize).unwrap_or_default();
        Raw {
            bytes,
            chars: u32::MAX,
            has_escapes: is_odd && bytes.contains(&b'\\'),
            is_ascii: !is_odd || bytes.is_ascii(),
        }
    }

    /// The offset of its first byte.
    pub(super) fn start(self) -> usize {
        self.start as usize
    }
}

/// Whether two names of the same length are the same. Most have four letters to sixteen: they are compared by both their
/// ends, in less time than a call takes.
#[inline(always)]
fn is_same(name: &[u8], other: &[u8]) -> bool {
    match name.len() {
        4..=8 => name.first_chunk::<4>() == other.first_chunk() && name.last_chunk::<4>() == other.last_chunk(),
        9..=16 => name.first_chunk::<8>() == other.first_chunk() && name.last_chunk::<8>() == other.last_chunk(),
        _ => name == other,
    }
}

#[cfg(test)]
mod tests {
    use super::is_same;

    #[test]
    fn names_are_the_same_in_every_letter() {
        let letters: Vec<u8> = (b'a'..b'a' + 24).collect();
        for size in 0..letters.len() {
            let (name, mut other) = (letters.get(..size).unwrap_or_default(), letters.clone());
            other.truncate(size);
            assert!(is_same(name, &other));
            for place in 0..size {
                let mut wrong = other.clone();
                wrong.iter_mut().skip(place).take(1).for_each(|letter| *letter ^= 0x20);
                assert!(!is_same(name, &wrong), "{size}, {place}");
            }
        }
    }
}
