//! The classes of characters that decide where a grapheme cluster ends.

use std::sync::OnceLock;

pub(crate) const TABLE_TEXT: &str = include_str!("../../../../python/toolcarry/_data/graphemes.txt");

/// The number of syllables that share their first two jamo: one without a final consonant, 27 with.
const HANGUL_BLOCK: u32 = 28;

/// The classes of the table. `HangulSyllable`, H in the table, is only used there: a character is `Lv` or `Lvt`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    Other,
    Cr,
    Lf,
    Control,
    Extend,
    Zwj,
    RegionalIndicator,
    Prepend,
    SpacingMark,
    Pictographic,
    L,
    V,
    T,
    Lv,
    Lvt,
    HangulSyllable,
}

/// Return the class of a character.
pub(crate) fn class_of(code: u32) -> Class {
    let table = load_table();
    let after = table.partition_point(|(start, _)| *start <= code);
    match after.checked_sub(1).and_then(|index| table.get(index)) {
        Some((start, Class::HangulSyllable)) => match (code - start) % HANGUL_BLOCK {
            0 => Class::Lv,
            _ => Class::Lvt,
        },
        Some((_, class)) => *class,
        None => Class::Other,
    }
}

/// Return the first code point and the class of each stretch; together the stretches cover all of Unicode.
fn load_table() -> &'static [(u32, Class)] {
    static TABLE: OnceLock<Vec<(u32, Class)>> = OnceLock::new();
    TABLE.get_or_init(|| parse_table(TABLE_TEXT))
}

/// Return the stretches that the lines of a table describe, ignoring comments.
fn parse_table(table: &str) -> Vec<(u32, Class)> {
    let mut stretches = vec![(0, Class::Other)];
    for (first, last, class) in table.lines().filter_map(parse_line) {
        if stretches.last().is_some_and(|(start, _)| *start == first) {
            stretches.pop(); // no gap: the range replaces the Other that would fill it
        }
        stretches.push((first, class));
        stretches.push((last + 1, Class::Other));
    }
    stretches
}

/// Return the range and class of a line such as `0600..0605 P`.
pub(crate) fn parse_line(line: &str) -> Option<(u32, u32, Class)> {
    let (codes, letter) = line.split_once(' ')?;
    let (first, last) = codes.split_once("..").unwrap_or((codes, codes));
    let first = u32::from_str_radix(first, 16).ok()?;
    let last = u32::from_str_radix(last, 16).ok()?;
    Some((first, last, class_from_letter(letter)?))
}

fn class_from_letter(letter: &str) -> Option<Class> {
    Some(match letter {
        "R" => Class::Cr,
        "N" => Class::Lf,
        "C" => Class::Control,
        "E" => Class::Extend,
        "Z" => Class::Zwj,
        "F" => Class::RegionalIndicator,
        "P" => Class::Prepend,
        "S" => Class::SpacingMark,
        "X" => Class::Pictographic,
        "L" => Class::L,
        "V" => Class::V,
        "T" => Class::T,
        "H" => Class::HangulSyllable,
        _ => return None,
    })
}
