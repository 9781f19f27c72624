//! Reading of JSON strings: their ends, their numbers of characters, and the kinds of their bytes.
//!
//! Several short strings, such as names, often share a block of 64 bytes. The masks of the last block are kept, so that
//! the next string is found without waiting for memory. The name of a member is stored as its offset and size.

use std::cell::Cell;

use super::error::{Fault, Refused};
use crate::simd::{BLOCK, ESCAPABLE, Lanes, Masks, Others, block_at, find_escaped};
use crate::text::Text;
use crate::text::escaped::{EscapedText, hex4, is_high_surrogate, low_surrogate_at};

/// The distance in bytes at which a long string is prefetched. The processor also prefetches, but not beyond the end of
/// a page; distances from one page on were measured to be the fastest.
const AHEAD: usize = 8_192;

/// The number of blocks that are passed together.
const GROUP: usize = 4;

/// The size in bytes from which a string is remembered.
const LONG: usize = 256;

/// A long text: the offset of its quote, and its properties.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Long {
    pub(crate) at: u32,
    size: u32,
    chars: u32,
    has_escapes: bool,
    is_ascii: bool,
}

impl Long {
    /// Create the entry of a string, if it is long enough; `at` is the offset of its quote.
    #[inline(always)]
    pub(crate) fn of(at: usize, text: EscapedText<'_>) -> Option<Self> {
        let EscapedText { bytes, chars, has_escapes, is_ascii } = text;
        if bytes.len() < LONG {
            return None;
        }
        Some(Self { at: u32::try_from(at).ok()?, size: u32::try_from(bytes.len()).ok()?, chars, has_escapes, is_ascii })
    }

    /// Return the entries at or after an offset.
    pub(crate) fn from(long: &[Self], at: usize) -> &[Self] {
        long.get(long.partition_point(|long| (long.at as usize) < at)..).unwrap_or_default()
    }

    /// Return the text as it was read.
    pub(crate) fn raw(self, data: &[u8]) -> Option<EscapedText<'_>> {
        let start = self.at as usize + 1;
        let bytes = data.get(start..start + self.size as usize)?;
        Some(EscapedText { bytes, chars: self.chars, has_escapes: self.has_escapes, is_ascii: self.is_ascii })
    }
}

/// Read the string whose first byte after the quote is at `start`.
#[inline(always)]
pub(crate) fn read_string<'a, L: Lanes>(
    data: &'a [u8],
    start: usize,
    checks_utf8: bool,
    window: &mut Window,
) -> Result<EscapedText<'a>, Refused> {
    // Most strings are names and other short words.
    if let Some(raw) = window.string::<L>(data, start) {
        return Ok(raw);
    }
    let (mut at, mut carry) = (start, 0);
    let mut seen = Seen { escapes: 0, later_bytes: 0, is_ascii: true };
    let mut padded = [0; BLOCK];
    let mut left = 0; // blocks to be looked at one by one
    let (end, is_valid) = loop {
        if left == 0 {
            let groups = data.get(at..).unwrap_or_default().as_chunks().0.as_chunks().0;
            let passed = if seen.is_ascii {
                seen.pass_inside::<L, true>(groups, &mut carry)
            } else {
                seen.pass_inside::<L, false>(groups, &mut carry)
            };
            at += passed * GROUP * BLOCK;
            left = GROUP;
        }
        left -= 1;
        let block = block_at(data, at, &mut padded);
        let masks = L::masks(block);
        let escaped = find_escaped(masks.backslashes, &mut carry);
        let ends = masks.quotes & !escaped;
        if ends != 0 {
            let inside = ends.wrapping_sub(1) & !ends; // the bytes before the first of them
            break (at + ends.trailing_zeros() as usize, seen.look::<L>(data, at, block, masks, escaped, inside));
        }
        if !seen.look::<L>(data, at, block, masks, escaped, u64::MAX) {
            break (at, false);
        }
        at += BLOCK;
    };
    if !is_valid {
        return Err(first_fault(data, start, checks_utf8));
    }
    let Seen { escapes, later_bytes, is_ascii } = seen;
    let bytes = data.get(start..end).unwrap_or_default();
    if !is_ascii
        && checks_utf8
        && simdutf8::basic::from_utf8(bytes).is_err()
        && let Err(error) = std::str::from_utf8(bytes)
    {
        return Err(Refused { at: start + error.valid_up_to(), fault: Fault::NotUtf8 });
    }
    let size = u32::try_from(bytes.len()).map_err(|_| Refused { at: start, fault: Fault::TooLong })?;
    Ok(EscapedText { bytes, chars: size - escapes - later_bytes, has_escapes: escapes != 0, is_ascii })
}

/// The counts of a string, as far as it was read.
struct Seen {
    /// The number of letters after a backslash.
    escapes: u32,
    /// The number of bytes after the first one of a character, or after the letter of an escape.
    later_bytes: u32,
    is_ascii: bool,
}

impl Seen {
    /// Pass the first groups of blocks that are entirely inside the string and hold nothing rare, and return their
    /// number.
    ///
    /// Nearly all of a long string is passed here, with one branch per group and as few checks as possible. Non-ASCII
    /// bytes are rare until the string has some.
    #[inline(always)]
    fn pass_inside<L: Lanes, const IS_ASCII: bool>(
        &mut self,
        groups: &[[[u8; BLOCK]; GROUP]],
        carry: &mut u64,
    ) -> usize {
        let (mut letters, mut later_bytes) = (0, 0);
        let mut passed = 0;
        for group in groups {
            let (mut next, mut odd, mut own_letters, mut own_later_bytes) = (*carry, L::NOTHING_ODD, 0, 0);
            for block in group {
                L::fetch(block, AHEAD);
                let escaped = find_escaped(L::equal(block, b'\\'), &mut next);
                odd = L::odd::<IS_ASCII>(odd, block, escaped);
                // Escapes are counted in every block, because a branch on their presence is hard to predict.
                own_letters += escaped.count_ones();
                if !IS_ASCII {
                    own_later_bytes += L::others(block).continuations.count_ones();
                }
            }
            if L::is_odd::<IS_ASCII>(odd) {
                break;
            }
            *carry = next;
            letters += own_letters;
            later_bytes += own_later_bytes;
            passed += 1;
        }
        self.escapes += letters;
        self.later_bytes += later_bytes;
        passed
    }

    /// Check the part of a block that is inside the string, and return true if it is valid there.
    #[inline(always)]
    fn look<L: Lanes>(
        &mut self,
        data: &[u8],
        at: usize,
        block: &[u8; BLOCK],
        masks: Masks,
        escaped: u64,
        inside: u64,
    ) -> bool {
        self.escapes += (escaped & inside).count_ones();
        let rare = escaped & inside & !(masks.quotes | L::among(block, &ESCAPABLE));
        let others = masks.others & inside;
        if rare | others == 0 {
            return true;
        }
        if rare != 0 {
            let Some(later_bytes) = read_escapes(data, at, rare) else { return false };
            self.later_bytes += later_bytes;
        }
        let Others { high, continuations } = L::others(block);
        self.is_ascii &= others == 0;
        self.later_bytes += (continuations & inside).count_ones();
        others & !high == 0
    }
}

/// Return the first fault of a string that is refused.
#[cold]
fn first_fault(data: &[u8], start: usize, checks_utf8: bool) -> Refused {
    let mut at = start;
    let fault = loop {
        match (data.get(at), data.get(at + 1)) {
            (None, _) | (Some(b'\\'), None) => {
                at = data.len();
                break Fault::Unterminated;
            }
            (Some(b'\\'), Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't')) => at += 2,
            (Some(b'\\'), Some(b'u')) if hex4(data, at + 2).is_some() => at += 6,
            (Some(b'\\'), Some(_)) => break Fault::Escape,
            (Some(0..0x20), _) => break Fault::Control,
            (Some(_), _) => at += 1,
        }
    };
    match std::str::from_utf8(data.get(start..at).unwrap_or_default()) {
        Err(error) if checks_utf8 => Refused { at: start + error.valid_up_to(), fault: Fault::NotUtf8 },
        _ => Refused { at, fault },
    }
}

thread_local! {
    /// True if this thread read the escape of half a pair of surrogates since the flag was cleared; the two of a pair in
    /// different blocks set it, too.
    ///
    /// So it is only a hint, but it costs nothing where there are no such escapes. A search of the body would take half as
    /// long as the scan.
    pub(crate) static SAW_HALF: Cell<bool> = const { Cell::new(false) };
}

/// Check the rare escapes of a block, whose letters are at these bits. Return the number of bytes to add to
/// `later_bytes`: their digits, and one for each surrogate pair. Return `None` if an escape is invalid.
#[inline(never)]
fn read_escapes(data: &[u8], base: usize, mut letters: u64) -> Option<u32> {
    let (mut unseen, mut pair_end) = (0, usize::MAX);
    while letters != 0 {
        let at = base + letters.trailing_zeros() as usize;
        letters &= letters - 1;
        match data.get(at) {
            Some(b'b') => {}
            Some(b'u') => {
                let unit = hex4(data, at + 1)?;
                unseen += 4;
                if is_high_surrogate(unit) && low_surrogate_at(data, at + 5).is_some() {
                    unseen += 1; // the two are one character
                    pair_end = at + 6;
                } else if (0xD800..0xE000).contains(&unit) && at != pair_end {
                    SAW_HALF.set(true);
                }
            }
            _ => return None,
        }
    }
    Some(unseen)
}

/// The masks of the last block, which may hold several short strings.
#[derive(Debug, Default)]
pub(crate) struct Window {
    at: usize,
    quotes: u64,
    /// Backslashes, and bytes that are not printable ASCII: the window holds no strings with them.
    odd: u64,
}

impl Window {
    /// Return the string whose first byte is at `start`, if it is short and plain. If the window doesn't hold it, the
    /// window moves there.
    #[inline(always)]
    pub(crate) fn string<'a, L: Lanes>(&mut self, data: &'a [u8], start: usize) -> Option<EscapedText<'a>> {
        if let Some(found) = self.held(data, start) {
            return Some(found);
        }
        let masks = L::masks(data.get(start..)?.first_chunk()?);
        *self = Self { at: start, quotes: masks.quotes, odd: masks.backslashes | masks.others };
        self.held(data, start)
    }

    /// Return the string, if the window holds all of it.
    #[inline(always)]
    fn held<'a>(&self, data: &'a [u8], start: usize) -> Option<EscapedText<'a>> {
        let place = start.wrapping_sub(self.at);
        if place >= BLOCK {
            return None;
        }
        let quotes = self.quotes >> place;
        let inside = quotes.wrapping_sub(1) & !quotes;
        if quotes == 0 || (self.odd >> place) & inside != 0 {
            return None;
        }
        let chars = quotes.trailing_zeros();
        let bytes = data.get(start..start + chars as usize).unwrap_or_default();
        Some(EscapedText { bytes, chars, has_escapes: false, is_ascii: true })
    }
}

/// The bit of a name's size that is set if the name has escapes or is not ASCII.
const ODD: u32 = 1 << 31;

/// The maximum size of a name in bytes.
pub(crate) const LONGEST_NAME: usize = (ODD - 1) as usize;

/// The position of a name in data of less than 4 GiB.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Name {
    /// The offset after the quote.
    start: u32,
    /// The number of bytes, with the bit [`ODD`].
    size: u32,
}

impl Name {
    /// Create the name whose first byte is at `start`.
    #[inline(always)]
    pub(crate) fn of(raw: EscapedText<'_>, start: usize) -> Self {
        let is_odd = raw.has_escapes || !raw.is_ascii;
        let [start, size] = [start, raw.bytes.len()].map(|number| u32::try_from(number).unwrap_or(u32::MAX));
        Self { start, size: size | if is_odd { ODD } else { 0 } }
    }

    /// Return true if the name equals this text.
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

    /// Return the name with its escapes; its characters are not counted.
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

    /// Return the offset of its first byte.
    pub(crate) fn start(self) -> usize {
        self.start as usize
    }
}

#[cfg(test)]
mod tests {
    use super::{Window, read_string};
    use crate::json::error::{Fault, Refused};
    use crate::simd::{Lanes, Scalar, Work, dispatch};
    use crate::text::escaped::EscapedText;

    struct Reading<'a>(&'a [u8]);

    impl<'a> Work for Reading<'a> {
        type Done = Result<EscapedText<'a>, Refused>;

        fn run<L: Lanes>(self) -> Self::Done {
            read_string::<L>(self.0, 1, true, &mut Window::default())
        }
    }

    fn read(data: &[u8]) -> Result<(usize, usize, bool, bool), (usize, Fault)> {
        let found = dispatch(Reading(data));
        let twin = Reading(data).run::<Scalar>();
        let plain = |result: Result<EscapedText<'_>, Refused>| {
            result
                .map(|raw| (raw.bytes.len(), raw.chars as usize, raw.has_escapes, raw.is_ascii))
                .map_err(|refused| (refused.at, refused.fault))
        };
        let found = plain(found);
        assert_eq!(found, plain(twin));
        found
    }

    #[test]
    fn finds_the_end_of_strings_of_every_length() {
        for size in 0..200 {
            let data = format!("\"{}\" x", "a".repeat(size));
            assert_eq!(read(data.as_bytes()), Ok((size, size, false, true)));
            let data = format!("\"{}\\\"\\\\\"", "a".repeat(size));
            assert_eq!(read(data.as_bytes()), Ok((size + 4, size + 2, true, true)));
            let data = format!("\"{}\\\\\"", "\\\\".repeat(size));
            assert_eq!(read(data.as_bytes()), Ok((2 * size + 2, size + 1, true, true)));
            let data = format!("\"{}é\\ud83d\\ude00\"", "a".repeat(size));
            assert_eq!(read(data.as_bytes()), Ok((size + 14, size + 2, true, false)));
        }
    }

    #[test]
    fn refuses_with_the_offset() {
        for size in 0..200 {
            let start = format!("\"{}", "a".repeat(size));
            for (end, offset) in [("", 0), ("\\", 1), ("\\\"", 2)] {
                let data = format!("{start}{end}");
                assert_eq!(read(data.as_bytes()), Err((start.len() + offset, Fault::Unterminated)), "{data}");
            }
            for (wrong, fault) in
                [("\n", Fault::Control), ("\\x", Fault::Escape), ("\\u12g4", Fault::Escape), ("\\u12", Fault::Escape)]
            {
                for after in ["", &"z".repeat(100)] {
                    let data = format!("{start}{wrong}{after}\"");
                    assert_eq!(read(data.as_bytes()), Err((start.len(), fault)), "{data}");
                }
            }
            let mut data = start.into_bytes();
            let offset = data.len();
            data.extend_from_slice(b"\xED\xA0\x80\"");
            assert_eq!(read(&data), Err((offset, Fault::NotUtf8)));
        }
    }

    /// Check that strings read one after the other with a window are the same as each one read alone.
    #[test]
    fn a_window_does_not_change_the_strings() {
        let words =
            ["", "a", "type", "tool_use_id", "\\n", "a\\\"b", "\u{e9}", "a string of forty characters, or about so"];
        for first in 0..words.len() {
            for step in 1..words.len() {
                let order = (0..60).filter_map(|number| words.get((first + number * step) % words.len()));
                let data = format!("\"{}\", ", order.copied().collect::<Vec<_>>().join("\", \""));
                let (mut at, mut window, mut found) = (1, Window::default(), 0);
                while let Ok(raw) = read_string::<Scalar>(data.as_bytes(), at, true, &mut window) {
                    let alone = read_string::<Scalar>(data.as_bytes(), at, true, &mut Window::default());
                    assert!(alone.is_ok_and(|alone| alone.bytes == raw.bytes && alone.chars == raw.chars));
                    assert_eq!(data.as_bytes().get(at + raw.bytes.len()), Some(&b'"'));
                    (at, found) = (at + raw.bytes.len() + "\", \"".len(), found + 1);
                }
                assert_eq!(found, 60);
            }
        }
    }
}
