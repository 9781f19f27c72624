//! Text as a JSON string spells it. It is measured and cut without decoding its escapes.
//!
//! An [`EscapedText`] is a whole string, or a number of code points from either end. [`super::unescape`] decodes it,
//! and a [`super::segment::Plain`] is a part that an output can store undecoded. [`crate::json`] finds the quotes.

use std::iter;

use super::utf8;
use crate::simd::{BLOCK, ESCAPES, Lanes, Work, block_at, dispatch, find_escaped};

/// A JSON string with its escapes, and without its quotes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EscapedText<'a> {
    pub(crate) bytes: &'a [u8],
    /// The number of code points after decoding.
    pub(crate) chars: u32,
    pub(crate) has_escapes: bool,
    pub(crate) is_ascii: bool,
}

pub(crate) fn is_high_surrogate(unit: u32) -> bool {
    (0xD800..0xDC00).contains(&unit)
}

/// Return the low surrogate whose escape is at `at`.
pub(crate) fn low_surrogate_at(data: &[u8], at: usize) -> Option<u32> {
    let is_escape = data.get(at..at + 2) == Some(b"\\u");
    is_escape.then(|| hex4(data, at + 2)).flatten().filter(|unit| (0xDC00..0xE000).contains(unit))
}

/// Return the number that the four hexadecimal digits at `at` spell.
pub(crate) fn hex4(data: &[u8], at: usize) -> Option<u32> {
    let digits = data.get(at..at + 4)?;
    digits.iter().try_fold(0, |number, digit| char::from(*digit).to_digit(16).map(|value| number << 4 | value))
}

/// Return the code point of the escape at `at`, and the escape's length in bytes.
#[inline]
pub(crate) fn escape_at(bytes: &[u8], at: usize) -> (u32, usize) {
    match bytes.get(at + 1).copied().unwrap_or_default() {
        b'u' => unit_at(bytes, at),
        letter => (u32::from(ESCAPES.get(usize::from(letter)).copied().unwrap_or_default()), 2),
    }
}

/// Return the code point of the `\u` escape at `at`, and its length in bytes; a pair of surrogates is one code point.
#[inline(never)]
fn unit_at(bytes: &[u8], at: usize) -> (u32, usize) {
    let unit = hex4(bytes, at + 2).unwrap_or_default();
    match low_surrogate_at(bytes, at + 6).filter(|_| is_high_surrogate(unit)) {
        Some(low) => (0x1_0000 + ((unit - 0xD800) << 10) + (low - 0xDC00), 12),
        None => (unit, 6),
    }
}

/// A number of code points that are skipped in negligible time.
const NEAR: usize = BLOCK;

impl<'a> EscapedText<'a> {
    /// Return the first `count` code points, or all.
    pub(crate) fn first(self, count: usize) -> Self {
        let Some(others) = self.all_but(count) else { return self };
        let end = match () {
            () if self.is_plain() => count,
            () if is_near(others, count) => self.bytes.len() - self.last(others).bytes.len(),
            () => self.step(self.bytes, count).at,
        };
        self.part(self.bytes.get(..end).unwrap_or_default(), count)
    }

    /// Return the last `count` code points, or all.
    pub(crate) fn last(self, count: usize) -> Self {
        let Some(others) = self.all_but(count) else { return self };
        let known = match () {
            () if self.is_plain() => Some(others),
            () if is_near(others, count) => Some(self.first(others).bytes.len()),
            () => None,
        };
        if let Some(start) = known {
            return self.part(self.bytes.get(start..).unwrap_or_default(), count);
        }
        for rest in self.longer_ends(count) {
            let held = self.step(rest, usize::MAX).count;
            if let Some(surplus) = held.checked_sub(count) {
                let at = self.step(rest, surplus).at;
                return self.part(rest.get(at..).unwrap_or_default(), count);
            }
        }
        self
    }

    /// Return ends of the string, each longer than the one before, up to the whole string. The first one usually holds
    /// `count` code points, because its size is the average size of that many, and a margin.
    pub(crate) fn longer_ends(self, count: usize) -> impl Iterator<Item = &'a [u8]> {
        let (size, chars) = (self.bytes.len(), self.chars as usize);
        let first = if count < chars { count * size / chars + count / 8 + BLOCK } else { size };
        let next = move |taken: &usize| (*taken < size).then(|| taken.saturating_mul(2));
        iter::successors(Some(first), next)
            .filter_map(move |taken| self.bytes.get(boundary(self.bytes, size.saturating_sub(taken))..))
    }

    /// Return the number of code points beyond `count`; `None` if it is zero.
    fn all_but(self, count: usize) -> Option<usize> {
        (self.chars as usize).checked_sub(count).filter(|others| *others > 0)
    }

    fn step(self, bytes: &[u8], count: usize) -> Stepped {
        dispatch(Stepping { bytes, is_ascii: self.is_ascii, count })
    }

    fn is_plain(self) -> bool {
        self.is_ascii && !self.has_escapes
    }

    fn part(self, bytes: &'a [u8], count: usize) -> Self {
        Self { bytes, chars: u32::try_from(count).unwrap_or(self.chars), ..self }
    }
}

/// Return true if so few other code points are left that counting from the other end is faster.
fn is_near(others: usize, count: usize) -> bool {
    others <= NEAR && count > 2 * NEAR
}

/// The work of stepping over the first `count` code points, or all.
struct Stepping<'b> {
    bytes: &'b [u8],
    is_ascii: bool,
    count: usize,
}

/// The offset after the step, and the number of code points before it.
struct Stepped {
    at: usize,
    count: usize,
}

impl Work for Stepping<'_> {
    type Done = Stepped;

    #[inline(always)]
    fn run<L: Lanes>(self) -> Stepped {
        let Self { bytes, is_ascii, count } = self;
        let (mut at, mut left, mut carry) = (0, count, 0);
        let mut padded = [0; BLOCK];
        while left > 0 && at < bytes.len() {
            let pending = usize::from(carry == 1);
            let block = block_at(bytes, at, &mut padded);
            let letters = find_escaped(L::equal(block, b'\\'), &mut carry);
            if letters & L::equal(block, b'u') != 0 {
                // The backslash of the first letter was counted with the block before.
                (at, left) = step(bytes, at - pending, at + BLOCK, left + pending);
                carry = 0;
                continue;
            }
            let size = BLOCK.min(bytes.len() - at);
            let begins =
                !(letters | if is_ascii { 0 } else { L::others(block).continuations }) & (u64::MAX >> (BLOCK - size));
            let held = begins.count_ones() as usize;
            if held > left {
                return Stepped { at: at + place_of(begins, left), count };
            }
            left -= held;
            at += size;
        }
        // Bytes that continue the last character, or its escape, belong to it.
        let pending = usize::from(carry == 1);
        let (at, left) = step(bytes, at - pending, bytes.len(), left + pending);
        Stepped { at, count: count - left }
    }
}

/// Step over one character or escape at a time, up to an offset or a count. Return the offset reached, and the count
/// that is left.
fn step(bytes: &[u8], from: usize, end: usize, count: usize) -> (usize, usize) {
    let (mut at, mut left) = (from, count);
    while at < end
        && let Some(byte) = bytes.get(at)
    {
        if utf8::is_continuation(*byte) {
            at += 1;
            continue;
        }
        if left == 0 {
            break;
        }
        at += if *byte == b'\\' { escape_at(bytes, at).1 } else { 1 };
        left -= 1;
    }
    (at, left)
}

/// Return the last offset at or before `at` where a character or an escape begins.
fn boundary(bytes: &[u8], at: usize) -> usize {
    let is_continuation = |at: &usize| bytes.get(*at).is_some_and(|byte| byte & 0xC0 == 0x80);
    let mut at = (0..=at).rev().find(|at| !is_continuation(at)).unwrap_or(0);
    // An escape has at most six bytes, so one that contains this offset begins at the last backslash before it.
    for start in (at.saturating_sub(5)..at).rev() {
        if bytes.get(start) == Some(&b'\\') {
            if is_escape(bytes, start) && start + escape_at(bytes, start).1.min(6) > at {
                at = start;
            }
            break;
        }
    }
    // The second escape of a surrogate pair belongs to the first.
    let pair = at.checked_sub(6).filter(|_| low_surrogate_at(bytes, at).is_some());
    let is_pair = |start: &usize| {
        bytes.get(*start) == Some(&b'\\') && is_escape(bytes, *start) && escape_at(bytes, *start).1 == 12
    };
    pair.filter(is_pair).unwrap_or(at)
}

/// Return true if the backslash at `at` begins an escape: an even number of backslashes is before it.
fn is_escape(bytes: &[u8], at: usize) -> bool {
    let before = bytes.get(..at).unwrap_or_default();
    before.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 0
}

/// Return the index of the set bit that has `before` set bits below it, by binary search.
#[inline(always)]
pub(crate) fn place_of(bits: u64, before: usize) -> usize {
    let (mut place, mut left) = (0, before);
    for width in [32, 16, 8, 4, 2, 1] {
        let below = (bits >> place & ((1 << width) - 1)).count_ones() as usize;
        if left >= below {
            (place, left) = (place + width, left - below);
        }
    }
    place
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test fails by panicking
mod tests {
    use bumpalo::Bump;

    use super::EscapedText;
    use crate::json::strings::Window;
    use crate::json::strings::read_string;
    use crate::simd::Scalar;

    /// Check that the ends of every length decode to the ends of the text, and that a start and the rest make up the
    /// string.
    fn check(written: &str) {
        let quoted = format!("\"{written}\"");
        let raw = read_string::<Scalar>(quoted.as_bytes(), 1, true, &mut Window::default()).unwrap();
        let bump = Bump::new();
        let text = |raw: EscapedText<'_>| {
            let text = raw.text(&bump);
            assert_eq!(text.len(), raw.chars as usize);
            (0..text.len()).filter_map(|index| text.get(index)).collect::<Vec<_>>()
        };
        let (size, whole) = (raw.chars as usize, text(raw));
        for count in 0..size + 2 {
            let (first, last) = (raw.first(count), raw.last(size.saturating_sub(count)));
            assert_eq!([first.bytes, last.bytes].concat(), raw.bytes, "{count} of {written}");
            assert_eq!([text(first), text(last)].concat(), whole, "{count} of {written}");
        }
    }

    #[test]
    fn strings_are_cut_between_characters() {
        for unit in [
            "a",
            "\\n",
            "\\\\",
            "\\\"",
            "\u{e9}",
            "\u{20ac}\u{1f600}",
            "\\u00e9",
            "\\ud83d\\ude00",
            "\\ud83d",
            "\\ude00\\ud83d",
        ] {
            for before in (0..70).step_by(3) {
                check(&format!("{}{}", "x".repeat(before), unit.repeat(140)));
                check(&format!("{}{unit}{}", "\\t".repeat(before), "\u{fc}b\\u0061".repeat(60)));
            }
        }
    }
}
