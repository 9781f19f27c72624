//! Where a text can be taken apart: the tokens of both parts are those of the whole, whatever else is in it.
//!
//! That is so between two characters that no piece of either grammar holds side by side, and where what stands before
//! ends as it would at the end of a text. These are some of them, which most text is full of; a text that has none
//! within reach is read in whole.

use super::classes::{LETTER, LOWER, NEWLINE, NUMBER, OTHER, SPACE};
use super::split::Splitter;
use crate::text::utf8::floor;

/// Whether a text can be taken apart between two characters of these classes, the second of which begins with `byte`.
pub(crate) fn is_safe(before: u8, after: u8, byte: u8) -> bool {
    let is_alphanumeric = |class: u8| class & (LETTER | NUMBER) != 0;
    if is_alphanumeric(before) {
        // A mark goes on with a word, an apostrophe may.
        let is_punctuation = after & OTHER != 0 && after & LOWER == 0 && byte != b'\'';
        let is_space = after & SPACE != 0 && after & NEWLINE == 0;
        is_punctuation || is_space || (is_alphanumeric(after) && (before ^ after) & NUMBER != 0)
    } else if before & NEWLINE != 0 {
        after & SPACE == 0 && byte != b'/' && after != 0
    } else {
        before & OTHER != 0 && after & SPACE != 0 && after & NEWLINE == 0
    }
}

impl Splitter<'_> {
    fn byte_at(self, at: usize) -> u8 {
        self.text.get(at).copied().unwrap_or_default()
    }

    /// The last place at or before `at` where the text can be taken apart; its start is one.
    pub(crate) fn safe_before(self, at: usize) -> usize {
        let mut at = floor(self.text, at);
        let (mut after, _) = self.class_at(at);
        while at > 0 {
            let start = floor(self.text, at - 1);
            let (before, _) = self.class_at(start);
            if is_safe(before, after, self.byte_at(at)) {
                break;
            }
            (at, after) = (start, before);
        }
        at
    }

    /// The first place behind `at` where the text can be taken apart; its end is one.
    pub(crate) fn safe_after(self, at: usize) -> usize {
        let (mut before, mut at) = self.class_at(at);
        while at < self.text.len() {
            let (after, end) = self.class_at(at);
            if is_safe(before, after, self.byte_at(at)) {
                break;
            }
            (at, before) = (end, after);
        }
        at
    }
}
