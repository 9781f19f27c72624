//! The length of terminal control sequences.

use super::Unit;

const MOST_PARAMETERS: usize = 64;
const MOST_INTERMEDIATES: usize = 8;
const LONGEST_STRING: usize = 4_096;
pub(crate) const ESCAPE: u32 = 0x1B;
pub(crate) const CONTROL_SEQUENCE: u32 = 0x9B;

/// Return the number of units of the control sequence at the start; 1 if the escape there begins none.
pub(crate) fn sequence_length<C: Unit>(units: &[C]) -> usize {
    let second = code_point_at(units, 1);
    let found = match code_point_at(units, 0) {
        Some(CONTROL_SEQUENCE) => control_sequence(units, 1),
        _ if second == Some(u32::from(b'[')) => control_sequence(units, 2),
        _ => None,
    };
    if let Some(length) = found {
        return length;
    }
    if code_point_at(units, 0) == Some(CONTROL_SEQUENCE) {
        return 1;
    }
    control_string(units).or_else(|| character_set(units)).unwrap_or(match second {
        Some(0x30..=0x5A | 0x5C..=0x5F | 0x63) => 2,
        _ => 1,
    })
}

/// Return the length of a sequence such as a colour or a cursor movement: parameters, intermediates, a final character.
fn control_sequence<C: Unit>(units: &[C], start: usize) -> Option<usize> {
    let parameters = count(units, start, MOST_PARAMETERS, 0x30..=0x3F);
    let intermediates = count(units, start + parameters, MOST_INTERMEDIATES, 0x20..=0x2F);
    let end = start + parameters + intermediates;
    matches!(code_point_at(units, end), Some(0x40..=0x7E)).then_some(end + 1)
}

/// Return the length of a string such as a title or a link: text up to BEL or ESC `\`.
fn control_string<C: Unit>(units: &[C]) -> Option<usize> {
    if !matches!(code_point_at(units, 1), Some(0x5D | 0x50 | 0x58 | 0x5E | 0x5F)) {
        return None;
    }
    let inside = units.iter().skip(2).take(LONGEST_STRING);
    let length = inside.take_while(|unit| !matches!(unit.code_point(), 0..=0x1F | 0x7F)).count();
    match code_point_at(units, 2 + length) {
        Some(0x07) => Some(length + 3),
        Some(ESCAPE) if code_point_at(units, 3 + length) == Some(0x5C) => Some(length + 4),
        _ => None,
    }
}

fn character_set<C: Unit>(units: &[C]) -> Option<usize> {
    let intermediates = count(units, 1, 2, 0x20..=0x2F);
    let is_final = matches!(code_point_at(units, 1 + intermediates), Some(0x30..=0x7E));
    (intermediates > 0 && is_final).then_some(intermediates + 2)
}

fn count<C: Unit>(units: &[C], start: usize, most: usize, range: std::ops::RangeInclusive<u32>) -> usize {
    units.iter().skip(start).take(most).take_while(|unit| range.contains(&unit.code_point())).count()
}

pub(crate) fn code_point_at<C: Unit>(units: &[C], index: usize) -> Option<u32> {
    units.get(index).map(|unit| unit.code_point())
}
