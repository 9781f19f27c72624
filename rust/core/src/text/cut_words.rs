//! Words of truncation marks: a text without any of them was certainly not cut.

use std::sync::LazyLock;

use memchr::memmem;

use super::Text;
use super::constants::CUT_WORDS;

static CUT_WORD_FINDERS: LazyLock<Vec<memmem::Finder<'static>>> =
    LazyLock::new(|| CUT_WORDS.iter().map(|word| memmem::Finder::new(word.as_bytes())).collect());

/// Return true if the text contains a word that a mark of truncation uses. The words are ASCII, so a wider text is searched
/// in a narrow copy, in which all other characters are alike.
#[must_use]
pub fn has_cut_word(text: Text<'_>) -> bool {
    let contains = |units: &[u8]| CUT_WORD_FINDERS.iter().any(|word| word.find(units).is_some());
    match text {
        Text::Latin1(units) => contains(units),
        Text::Ucs2(units) => contains(&units.iter().map(|unit| u8::try_from(*unit).unwrap_or(0)).collect::<Vec<u8>>()),
        Text::Ucs4(units) => contains(&units.iter().map(|unit| u8::try_from(*unit).unwrap_or(0)).collect::<Vec<u8>>()),
    }
}
