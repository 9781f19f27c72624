//! Short strings: names and other words, of which some stand in one block.
//!
//! The next one is found by the masks of the block that is known, without waiting for memory and its masks.

use crate::simd::{BLOCK, Lanes};
use crate::text::escaped::EscapedText;

/// The masks of the block that was looked at last: of short strings some stand in one.
#[derive(Debug, Default)]
pub(crate) struct Window {
    at: usize,
    quotes: u64,
    /// What no short string holds: backslashes, and bytes that are no printable ASCII.
    odd: u64,
}

impl Window {
    /// The string whose first byte is at `start`, if it is short and plain: where the window doesn't hold it, the window
    /// moves there.
    #[inline(always)]
    pub(crate) fn string<'a, L: Lanes>(&mut self, data: &'a [u8], start: usize) -> Option<EscapedText<'a>> {
        if let Some(found) = self.held(data, start) {
            return Some(found);
        }
        let masks = L::masks(data.get(start..)?.first_chunk()?);
        *self = Self { at: start, quotes: masks.quotes, odd: masks.backslashes | masks.others };
        self.held(data, start)
    }

    /// The string, where the window holds all of it.
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

#[cfg(test)]
mod tests {
    use super::Window;
    use crate::json::strings::read_string;
    use crate::simd::Scalar;

    /// What a window says of one string after the other is what each says by itself, wherever in the block it stands.
    #[test]
    fn a_window_knows_of_each_string_what_it_says_by_itself() {
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
