//! Find the places where text may be cut: between extended grapheme clusters (UAX #29).
//!
//! The boundaries come from one table, `graphemes.txt` among the package's data. Both backends read it, so both cut
//! alike, whatever Unicode version Python or Rust has. A call takes linear time at worst, and seldom reads more than a
//! few characters. Any sequence of code points is accepted; a lone surrogate has the class that Unicode gives it,
//! Other. The table is parsed when the first character above U+02FF is met.
//!
//! Not implemented: rule `GB9c` (Indic conjuncts), which is newer than the table's Unicode 15.0; tailoring by language;
//! and a list of clusters, which nothing here needs.
//!
//! Its counterpart is `python/toolcarry/model/text/graphemes.py`, with the same functions in the same order; the
//! functions of the table are in `grapheme_table.rs`.

use super::grapheme_table::{Class, class_of};

/// A unit of text that is a whole code point, as the units of a Python `str` are.
///
/// Units of 16 bits are UCS-2: a surrogate stands for itself, never for half a character.
pub trait CodePoint: Copy {
    /// The number of the code point.
    fn code_point(self) -> u32;
}

impl CodePoint for u8 {
    fn code_point(self) -> u32 {
        u32::from(self)
    }
}

impl CodePoint for u16 {
    fn code_point(self) -> u32 {
        u32::from(self)
    }
}

impl CodePoint for u32 {
    fn code_point(self) -> u32 {
        self
    }
}

/// The first code point that may join others. Below it, only CR and LF join, and no table is needed.
const FIRST_JOINING: u32 = 0x300;

const CARRIAGE_RETURN: u32 = 0x0D;
const LINE_FEED: u32 = 0x0A;

/// Return the greatest grapheme boundary that is not above an index.
///
/// The index is a count of code points; beyond the end it means the end. 0 and `text.len()` are
/// boundaries. Source: UAX #29, "Grapheme Cluster Boundaries".
#[must_use]
pub fn floor_boundary<C: CodePoint>(text: &[C], index: usize) -> usize {
    let mut index = index.min(text.len());
    while !is_boundary(text, index) {
        index -= 1;
    }
    index
}

/// Return the least grapheme boundary that is not below an index.
///
/// Arguments and source are those of [`floor_boundary`].
#[must_use]
pub fn ceil_boundary<C: CodePoint>(text: &[C], index: usize) -> usize {
    let mut index = index.min(text.len());
    while !is_boundary(text, index) {
        index += 1;
    }
    index
}

/// Return true if text may be cut before the character at an index.
#[must_use]
pub fn is_boundary<C: CodePoint>(text: &[C], index: usize) -> bool {
    let (Some(left), Some(right)) = (code_before(text, index), code_at(text, index)) else {
        return true;
    };
    if left < FIRST_JOINING && right < FIRST_JOINING {
        return left != CARRIAGE_RETURN || right != LINE_FEED;
    }
    !is_joined(text, index, class_of(left), class_of(right))
}

/// Return true if a rule of UAX #29 joins two characters of these classes at an index.
fn is_joined<C: CodePoint>(text: &[C], index: usize, left: Class, right: Class) -> bool {
    if is_control(left) || is_control(right) {
        return left == Class::Cr && right == Class::Lf; // GB3, GB4, GB5
    }
    if is_trailing(right) || left == Class::Prepend {
        return true; // GB9, GB9a, GB9b
    }
    if right == Class::Pictographic {
        return left == Class::Zwj && has_pictograph_before(text, index.saturating_sub(1)); // GB11
    }
    if right == Class::RegionalIndicator {
        return count_indicators_before(text, index) % 2 == 1; // GB12, GB13
    }
    is_hangul_pair(left, right) // GB6, GB7, GB8
}

fn is_control(class: Class) -> bool {
    matches!(class, Class::Cr | Class::Lf | Class::Control)
}

fn is_trailing(class: Class) -> bool {
    matches!(class, Class::Extend | Class::Zwj | Class::SpacingMark)
}

fn is_hangul_pair(left: Class, right: Class) -> bool {
    match left {
        Class::L => matches!(right, Class::L | Class::V | Class::Lv | Class::Lvt),
        Class::V | Class::Lv => matches!(right, Class::V | Class::T),
        Class::T | Class::Lvt => right == Class::T,
        _ => false,
    }
}

// Both functions look back to the start of a run. The walks above are linear nevertheless: the runs that successive
// calls read do not overlap, except that two calls may read the same row of flags.

/// Return true if a pictograph precedes an index, with only Extend characters in between.
fn has_pictograph_before<C: CodePoint>(text: &[C], index: usize) -> bool {
    classes_before(text, index).find(|class| *class != Class::Extend) == Some(Class::Pictographic)
}

/// Return the number of regional indicators directly before an index.
fn count_indicators_before<C: CodePoint>(text: &[C], index: usize) -> usize {
    classes_before(text, index).take_while(|class| *class == Class::RegionalIndicator).count()
}

/// Return true if no boundary after this character depends on the characters before it.
pub(crate) fn ends_look_back<C: CodePoint>(unit: C) -> bool {
    let code = unit.code_point();
    code < FIRST_JOINING || !matches!(class_of(code), Class::Extend | Class::Zwj | Class::RegionalIndicator)
}

/// Return the classes of the characters before an index, the nearest first.
fn classes_before<C: CodePoint>(text: &[C], index: usize) -> impl Iterator<Item = Class> + '_ {
    let before = text.get(..index).unwrap_or_default();
    before.iter().rev().map(|unit| class_of(unit.code_point()))
}

fn code_before<C: CodePoint>(text: &[C], index: usize) -> Option<u32> {
    code_at(text, index.checked_sub(1)?)
}

fn code_at<C: CodePoint>(text: &[C], index: usize) -> Option<u32> {
    text.get(index).map(|unit| unit.code_point())
}

#[cfg(test)]
mod tests {
    use super::{CodePoint, ceil_boundary, floor_boundary, is_boundary};
    use crate::text::grapheme_table::{Class, TABLE_TEXT, parse_line};

    const CASES: &str = include_str!("../../../../tests/cases/grapheme_breaks.txt");
    const MANY: usize = 1_000_000;

    /// The lines of a data file that are not comments.
    fn lines(file: &'static str) -> impl Iterator<Item = &'static str> {
        file.lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
    }

    /// The code points of a test case, and its boundaries.
    fn read_case(line: &str) -> (Vec<u32>, Vec<usize>) {
        let (mut text, mut boundaries) = (Vec::new(), vec![0]);
        for cluster in line.split(" | ") {
            text.extend(cluster.split(' ').flat_map(|code| u32::from_str_radix(code, 16)));
            boundaries.push(text.len());
        }
        (text, boundaries)
    }

    fn check<C: CodePoint>(text: &[C], boundaries: &[usize]) {
        for index in 0..=text.len() {
            let floor = boundaries.iter().rfind(|boundary| **boundary <= index);
            let ceil = boundaries.iter().find(|boundary| **boundary >= index);
            assert_eq!(Some(&floor_boundary(text, index)), floor);
            assert_eq!(Some(&ceil_boundary(text, index)), ceil);
            assert_eq!(is_boundary(text, index), boundaries.contains(&index));
        }
    }

    #[test]
    fn agrees_with_every_case_of_unicode() {
        assert_eq!(lines(CASES).count(), 602);
        for (text, boundaries) in lines(CASES).map(read_case) {
            check(&text, &boundaries);
        }
    }

    #[test]
    fn reads_units_of_every_width() {
        check(b"a\r\nb", &[0, 1, 3, 4]);
        check(&[0x61_u16, 0x301, 0xD83D, 0xDE00, 0x301], &[0, 2, 3, 5]);
        check(&[0x1F468_u32, 0x200D, 0x1F469, 0xD83D, 0x301], &[0, 3, 5]);
        check(&[0xFFFF_FFFF_u32, 0x301, 0x11_0000], &[0, 2, 3]);
    }

    #[test]
    fn takes_an_index_beyond_the_end_for_the_end() {
        assert_eq!(floor_boundary(b"ab", usize::MAX), 2);
        assert_eq!(ceil_boundary(b"ab", usize::MAX), 2);
        assert_eq!(floor_boundary::<u8>(&[], 1), 0);
    }

    #[test]
    fn parses_every_line_of_the_table() {
        let ranges: Vec<_> = lines(TABLE_TEXT).filter_map(parse_line).collect();
        assert_eq!(ranges.len(), lines(TABLE_TEXT).count());
        let mut end = 0;
        for (first, last, class) in ranges {
            assert!(end <= first && first <= last, "{first:04X}");
            assert_ne!(class, Class::Other);
            end = last + 1;
        }
    }

    #[test]
    fn walks_long_runs_in_linear_time() {
        let marks = vec![0x301_u32; MANY];
        assert_eq!(floor_boundary(&marks, MANY - 1), 0);
        assert_eq!(ceil_boundary(&marks, 1), MANY);
        let flags = vec![0x1F1E6_u32; MANY];
        assert_eq!(floor_boundary(&flags, MANY - 1), MANY - 2);
        assert_eq!(ceil_boundary(&flags, MANY - 1), MANY);
        let family = [0x1F468_u32, 0x200D].repeat(MANY);
        assert_eq!(floor_boundary(&family, 2 * MANY - 1), 0);
        assert_eq!(ceil_boundary(&family, 1), 2 * MANY);
    }
}
