//! The JSON grammar, checked strictly, without recursion and without building values.

use super::error::{Fault, Refused, Scan, unexpected};
use super::strings::LONGEST_NAME;
use super::strings::Window;
use super::strings::read_string;
use crate::simd::Lanes;
use crate::text::escaped::EscapedText;

/// The maximum depth of arrays and objects.
pub const MAX_DEPTH: usize = 128;
/// The largest number of values in a document that becomes nodes. A node takes eight times as many bytes as `[]`, so a
/// short file that unpacks to a long document could otherwise fill the memory, which would end the process.
pub const MAX_VALUES: usize = 1 << 25;
/// The maximum number of digits of an integer: as many as `CPython` converts.
const MOST_DIGITS: usize = 4_300;

/// A visitor of the values that the grammar finds; `at` is the offset of a value's first byte.
pub(crate) trait Visit<'a> {
    /// True if a value must end on the line on which it begins.
    const IS_LINE: bool = false;
    /// Visit the name of a member.
    fn key(&mut self, at: usize, name: EscapedText<'a>);
    fn text(&mut self, at: usize, text: EscapedText<'a>);
    fn number(&mut self, digits: &'a [u8]);
    fn literal(&mut self, at: usize, literal: Literal);
    fn open(&mut self, at: usize, is_object: bool);
    fn close(&mut self, is_object: bool);
    /// Return true if bytes that are not UTF-8 are refused.
    fn checks_utf8(&self) -> bool {
        true
    }
    /// Return the text at this offset, if it was read before.
    fn known(&mut self, _at: usize) -> Option<EscapedText<'a>> {
        None
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Literal {
    Null,
    True,
    False,
}

/// Return the offset of the next byte that is not white space.
#[inline(always)]
pub(crate) fn skip_space(data: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\n' | b'\r' | b'\t') = data.get(at) {
        at += 1;
    }
    at
}

/// Skip white space as [`skip_space`] does, but stay on the line.
#[inline(always)]
pub(crate) fn skip_blanks(data: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\r' | b'\t') = data.get(at) {
        at += 1;
    }
    at
}

#[inline(always)]
fn skip_for<'a, T: Visit<'a>>(data: &[u8], at: usize) -> usize {
    if T::IS_LINE { skip_blanks(data, at) } else { skip_space(data, at) }
}

/// Read the value that begins at or after `at`, inside `depth` arrays and objects, and return the offset after it.
#[inline(always)]
pub(crate) fn read_value<'a, L: Lanes, T: Visit<'a>>(
    data: &'a [u8],
    at: usize,
    depth: usize,
    visit: &mut T,
) -> Scan<usize> {
    let mut at = at;
    let mut open = 0_usize;
    let mut objects = 0_u128; // a bit for each open container: 1 if it is an object
    let mut window = Window::default();
    loop {
        at = skip_for::<T>(data, at);
        match data.get(at) {
            Some(b'"') => {
                let raw = match visit.known(at) {
                    Some(raw) => raw,
                    None => read_string::<L>(data, at + 1, visit.checks_utf8(), &mut window)?,
                };
                visit.text(at, raw);
                at += raw.bytes.len() + 2;
            }
            Some(bracket @ (b'{' | b'[')) => {
                if depth + open >= MAX_DEPTH {
                    return Err(Refused { at, fault: Fault::TooDeep });
                }
                let is_object = *bracket == b'{';
                open += 1;
                objects = objects << 1 | u128::from(is_object);
                visit.open(at, is_object);
                let inside = skip_for::<T>(data, at + 1);
                let is_empty = data.get(inside) == Some(if is_object { &b'}' } else { &b']' });
                if !is_empty {
                    at = if is_object { read_key::<L, T>(data, inside, visit, &mut window)? } else { inside };
                    continue;
                }
                at = inside; // the loop below closes it
            }
            Some(b'-' | b'0'..=b'9') => {
                let end = number_end(data, at)?;
                visit.number(data.get(at..end).unwrap_or_default());
                at = end;
            }
            Some(b't') => at = read_literal(data, at, b"true", Literal::True, visit)?,
            Some(b'f') => at = read_literal(data, at, b"false", Literal::False, visit)?,
            Some(b'n') => at = read_literal(data, at, b"null", Literal::Null, visit)?,
            _ => return unexpected(at),
        }
        loop {
            if open == 0 {
                return Ok(at);
            }
            at = skip_for::<T>(data, at);
            let is_object = objects & 1 == 1;
            match data.get(at) {
                Some(b',') => {
                    at += 1;
                    if is_object {
                        at = read_key::<L, T>(data, skip_for::<T>(data, at), visit, &mut window)?;
                    }
                    break;
                }
                Some(b'}') if is_object => {}
                Some(b']') if !is_object => {}
                _ => return unexpected(at),
            }
            visit.close(is_object);
            objects >>= 1;
            open -= 1;
            at += 1;
        }
    }
}

/// Read a member's name and its colon, and return the offset after them.
#[inline(always)]
pub(crate) fn read_key<'a, L: Lanes, T: Visit<'a>>(
    data: &'a [u8],
    at: usize,
    visit: &mut T,
    window: &mut Window,
) -> Scan<usize> {
    if data.get(at) != Some(&b'"') {
        return unexpected(at);
    }
    let name = read_string::<L>(data, at + 1, visit.checks_utf8(), window)?;
    if name.bytes.len() > LONGEST_NAME {
        return Err(Refused { at, fault: Fault::TooLong });
    }
    visit.key(at, name);
    let colon = skip_for::<T>(data, at + name.bytes.len() + 2);
    if data.get(colon) == Some(&b':') { Ok(colon + 1) } else { unexpected(colon) }
}

fn read_literal<'a>(data: &[u8], at: usize, word: &[u8], literal: Literal, visit: &mut impl Visit<'a>) -> Scan<usize> {
    let end = at + word.len();
    if data.get(at..end) != Some(word) {
        return unexpected(at);
    }
    visit.literal(at, literal);
    Ok(end)
}

/// Return the offset after the number that begins at `at`.
fn number_end(data: &[u8], at: usize) -> Scan<usize> {
    let digits = |from: usize| {
        let count = data.get(from..).unwrap_or_default().iter().take_while(|byte| byte.is_ascii_digit()).count();
        from + count
    };
    let start = at + usize::from(data.get(at) == Some(&b'-'));
    let whole = digits(start);
    let has_leading_zero = data.get(start) == Some(&b'0') && whole > start + 1;
    if whole == start || has_leading_zero {
        return unexpected(start);
    }
    let mut end = whole;
    if data.get(end) == Some(&b'.') {
        end = digits(whole + 1);
        if end == whole + 1 {
            return unexpected(end);
        }
    }
    if let Some(b'e' | b'E') = data.get(end) {
        let exponent = end + 1 + usize::from(matches!(data.get(end + 1), Some(b'+' | b'-')));
        end = digits(exponent);
        if end == exponent {
            return unexpected(end);
        }
    }
    if end == whole && whole - start > MOST_DIGITS {
        return Err(Refused { at, fault: Fault::TooLong });
    }
    Ok(end)
}
