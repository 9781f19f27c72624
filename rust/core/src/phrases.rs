//! What contexts say often: each phrase has a number, and can be written at once.

use crate::clean::{CLOSE_MARKER, OPEN_MARKER};
use crate::render::Section;
use crate::texts::{FRAMING, NO_OUTPUT};

/// The phrases, by their numbers. Any other text may be said, too: it only takes more.
#[rustfmt::skip] // as many on a line as there is room for
const PHRASES: &[&str] = &[
    "", OPEN_MARKER, CLOSE_MARKER, FRAMING, NO_OUTPUT,
    Section::Files.heading(), Section::Changes.heading(), Section::Commands.heading(), Section::Others.heading(),
    "### ", "\n", "\n\n", "```", "\n```\n\n", "```\n\n", "\n```\n", "```\n",
    "... [truncated: ", "\n... [truncated: ", " of ", " characters shown; whole: ", " characters shown]", "]",
    " (failed)", " (edited after this read)", " (call missing)",
    "(", ")", "=", "\"", "\\\"", ", ", "...",
    "Bash", "Edit", "Glob", "Grep", "Read", "Task", "WebFetch", "Write", "bash", "glob", "grep", "command",
    "content", "limit", "path", "pattern", "prompt", "query", "url",
    "c", "clojure", "cpp", "csharp", "css", "dart", "diff", "elixir", "go", "groovy", "haskell", "hcl", "html", "ini",
    "java", "javascript", "json", "jsx", "julia", "kotlin", "latex", "less", "lua", "markdown", "ocaml", "perl", "php",
    "powershell", "protobuf", "python", "r", "rst", "ruby", "rust", "scala", "scss", "sh", "sql", "svelte", "swift",
    "toml", "tsx", "typescript", "vue", "xml", "yaml", "zig",
];

/// There are no more phrases.
pub(crate) const MOST: usize = 0x7B;
/// No phrase is longer.
pub(crate) const LONGEST_PHRASE: usize = 80;
/// Longer ones are written as any text is.
const PADDED_TO: usize = 32;

/// Where a phrase is looked for, by its ends and its size: its number, or that of the empty one.
static PLACES: [u8; 1 << PLACES_BITS] = place_phrases();
const PLACES_BITS: u32 = 10;
/// A number with which no two phrases have one place, found by trying.
const SALT: u32 = 0x9E37_7DA5;

#[allow(clippy::indexing_slicing, clippy::cast_possible_truncation)] // what is wrong does not compile
const fn place_phrases() -> [u8; 1 << PLACES_BITS] {
    assert!(PHRASES.len() <= MOST);
    let (mut places, mut number) = ([0; 1 << PLACES_BITS], 1);
    while number < PHRASES.len() {
        let place = place_of(PHRASES[number].as_bytes());
        assert!(places[place] == 0, "two phrases have one place: the salt has to be another");
        places[place] = number as u8;
        number += 1;
    }
    places
}

#[inline(always)]
#[allow(clippy::cast_possible_truncation)] // texts of all sizes have a place
const fn place_of(text: &[u8]) -> usize {
    let ([first, .., last] | [first @ last]) = text else { return 0 };
    let key = *first as u32 | (*last as u32) << 8 | (text.len() as u32) << 16;
    (key.wrapping_mul(SALT) >> (u32::BITS - PLACES_BITS)) as usize
}

/// Something that is said often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Phrase(u8);

impl Phrase {
    /// The phrase with a text, if there is one. Of a text that is known when this is compiled, it is known then.
    #[inline(always)]
    pub(crate) fn of(text: &[u8]) -> Option<Self> {
        let phrase = Self(PLACES.get(place_of(text)).copied().unwrap_or(0));
        (phrase.text() == text).then_some(phrase)
    }

    #[inline(always)]
    pub(crate) fn numbered(number: u8) -> Self {
        Self(number)
    }

    pub(crate) fn number(self) -> u8 {
        self.0
    }

    pub(crate) fn text(self) -> &'static [u8] {
        PHRASES.get(usize::from(self.0)).map_or(&[], |phrase| phrase.as_bytes())
    }

    /// Write it into room for it; what it takes. Some of what stands in the room behind it may be overwritten.
    #[inline(always)]
    pub(crate) fn write(self, room: &mut [u8]) -> usize {
        let Some((padded, size)) = PADDED.get(usize::from(self.0)) else { return 0 };
        match room.first_chunk_mut() {
            Some(room) if *size > 0 => {
                *room = *padded;
                usize::from(*size)
            }
            _ => {
                let text = self.text();
                room.iter_mut().zip(text).for_each(|(own, byte)| *own = *byte);
                text.len()
            }
        }
    }
}

/// The phrases that are written at once, with what they take: to copy as many bytes each time takes less time than to ask
/// how many there are. Of the longer ones there is nothing.
static PADDED: [([u8; PADDED_TO], u8); MOST] = pad();

#[allow(clippy::indexing_slicing, clippy::cast_possible_truncation)] // what is wrong does not compile
const fn pad() -> [([u8; PADDED_TO], u8); MOST] {
    let (mut padded, mut number) = ([([0; PADDED_TO], 0); MOST], 0);
    while number < PHRASES.len() {
        let text = PHRASES[number].as_bytes();
        assert!(text.len() <= LONGEST_PHRASE);
        let mut at = 0;
        while at < text.len() && text.len() <= PADDED_TO {
            padded[number].0[at] = text[at];
            at += 1;
        }
        padded[number].1 = at as u8;
        number += 1;
    }
    padded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_phrase_is_found_and_written() {
        for (number, text) in PHRASES.iter().enumerate().skip(1) {
            let phrase = Phrase::of(text.as_bytes()).map(Phrase::number);
            assert_eq!(phrase.map(usize::from), Some(number), "{text:?}");
            for behind in [0, 1, 100] {
                let mut room = vec![b'?'; text.len() + behind];
                assert_eq!(Phrase::of(text.as_bytes()).map(|phrase| phrase.write(&mut room)), Some(text.len()));
                assert!(room.starts_with(text.as_bytes()), "{text:?}");
            }
        }
    }

    #[test]
    fn what_no_phrase_says_is_none() {
        for text in ["pythoN", "Pythons", "pyxxxn", "x", "\n\n\n"] {
            assert_eq!(Phrase::of(text.as_bytes()), None, "{text:?}");
        }
    }
}
