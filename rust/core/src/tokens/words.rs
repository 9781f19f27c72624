//! The words of a text, of which it has no more than tokens: counting them is much faster.

use crate::text::Unit;

/// Return true if a text has at least `least` words.
///
/// A word is a run of letters or of digits after another ASCII character. No token of either encoding has two of them, but
/// for the letters after an apostrophe, which are not counted. Neither are those after a backslash: if the text is spelled
/// in JSON without `\u`, it has no fewer words. They are counted in stretches, without a branch within them.
pub(crate) fn has_many_words<U: Unit>(units: &[U], least: usize) -> bool {
    const STRETCH: usize = 128;
    let byte = |unit: &U| u8::try_from(unit.code_point()).unwrap_or(u8::MAX);
    let mut words = 0;
    for start in (0..units.len()).step_by(STRETCH) {
        let stretch = units.get(start..units.len().min(start + STRETCH + 1)).unwrap_or_default();
        let after = stretch.get(1..).unwrap_or_default();
        let begins = stretch.iter().zip(after).map(|(before, own)| u8::from(begins_word(byte(before), byte(own))));
        words += usize::from(begins.sum::<u8>());
        if words >= least {
            return true;
        }
    }
    false
}

/// Return true if a word begins with a byte after another one.
fn begins_word(before: u8, own: u8) -> bool {
    let with_letter = own.is_ascii_alphabetic() & !before.is_ascii_alphabetic() & (before != b'\'');
    let with_digit = own.is_ascii_digit() & !before.is_ascii_digit();
    before.is_ascii() & (before != b'\\') & (with_letter | with_digit)
}
