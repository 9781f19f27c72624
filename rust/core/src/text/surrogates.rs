//! Lone surrogates: half of a character that was cut in two, which only texts of wide characters may have.

use super::graphemes::CodePoint;
use super::{Text, on_units};

/// The units that are read at once.
const BLOCK: usize = 64;

/// Return true if a text has a lone surrogate. A text of narrow characters has none.
#[must_use]
pub fn is_broken(text: Text<'_>) -> bool {
    match text {
        Text::Latin1(_) => false,
        wide => on_units!(wide, units => units.chunks(BLOCK).any(has_surrogate_in)),
    }
}

/// Return true if any of some units is a surrogate. They are read without a branch between them.
fn has_surrogate_in<U: CodePoint>(units: &[U]) -> bool {
    units.iter().fold(false, |is_found, unit| is_found | is_surrogate(unit.code_point()))
}

/// Return true if a unit is half of a character.
pub(crate) fn is_surrogate(unit: u32) -> bool {
    unit & 0xFFFF_F800 == 0xD800
}
