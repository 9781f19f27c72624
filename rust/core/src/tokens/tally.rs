//! The count of texts that stand one behind the other.
//!
//! Where it is known how many tokens one of them has by itself, what is counted again is what stands at its ends, up to
//! where the text can be taken apart.

use super::encoding::Encoding;
use super::part::utf8_of;
use crate::text::Text;

/// Of so many characters at most an end is counted again; where the text can't be taken apart within them, all is.
const LONGEST_END: usize = 128;

/// A count in the making.
#[derive(Debug)]
pub struct Tally<'e> {
    encoding: &'e Encoding,
    count: usize,
    /// What is not yet counted.
    rest: Vec<u8>,
}

impl<'e> Tally<'e> {
    /// A count of nothing.
    #[must_use]
    pub fn new(encoding: &'e Encoding) -> Self {
        Self { encoding, count: 0, rest: Vec::new() }
    }

    /// Add a text.
    pub fn add(&mut self, text: Text<'_>) {
        self.rest.extend_from_slice(&utf8_of(text));
    }

    /// Add a text that has so many tokens by itself.
    pub fn add_counted(&mut self, text: Text<'_>, tokens: usize) {
        let size = text.len();
        if size <= 2 * LONGEST_END {
            return self.add(text);
        }
        let (start, end) = (utf8_of(text.slice(0, LONGEST_END)), utf8_of(text.slice(size - LONGEST_END, size)));
        let first = self.encoding.splitter(&start).safe_after(0);
        let last = self.encoding.splitter(&end).safe_before(end.len());
        if first == start.len() || last == 0 {
            return self.add(text);
        }
        let (start, end) = (start.get(..first).unwrap_or_default(), end.get(last..).unwrap_or_default());
        let inside = tokens - (self.encoding.count(start) + self.encoding.count(end)).min(tokens);
        self.rest.extend_from_slice(start);
        self.count += self.encoding.count(&self.rest) + inside;
        self.rest.clear();
        self.rest.extend_from_slice(end);
    }

    /// How many tokens all of it has.
    #[must_use]
    pub fn finish(self) -> usize {
        self.count + self.encoding.count(&self.rest)
    }
}
