//! The blocks that a client puts next to what a tool returned, such as `<system-reminder>`: a shortened result has each
//! of them whole, or not at all.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, Input};
use memchr::memmem::Finder;

use super::CLIENT_BLOCKS;
use crate::json::value::Spelling;
use crate::text::Text;

/// The beginning of a tag that closes a block, which few texts have, and how JSON may write its characters.
static CLOSING: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"</"));
static ESCAPES: LazyLock<[Finder<'static>; 2]> = LazyLock::new(|| [Finder::new(b"\\/"), Finder::new(b"\\u003")]);
/// The names of the tags, and the tags that open a block.
static NAMES: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| AhoCorasick::new(CLIENT_BLOCKS).ok());
static OPENINGS: LazyLock<Option<AhoCorasick>> =
    LazyLock::new(|| AhoCorasick::new(CLIENT_BLOCKS.iter().map(|name| format!("<{name}>"))).ok());

/// Return false if a text has no blocks for certain, without decoding it.
pub(crate) fn may_have_blocks(text: Spelling<'_>) -> bool {
    match text {
        Spelling::Json(bytes) if ESCAPES.iter().any(|escape| escape.find(bytes).is_some()) => {
            NAMES.as_ref().is_some_and(|names| names.is_match(bytes))
        }
        Spelling::Json(bytes) | Spelling::Text(Text::Latin1(bytes)) => closes_block(bytes),
        Spelling::Text(text) => closes_block(text.as_utf8().as_bytes()),
    }
}

/// Return true if a tag with one of the names begins as it would to close a block.
fn closes_block(bytes: &[u8]) -> bool {
    let is_name = |rest: &[u8]| CLIENT_BLOCKS.iter().any(|name| rest.starts_with(name.as_bytes()));
    CLOSING.find_iter(bytes).any(|at| bytes.get(at + CLOSING.needle().len()..).is_some_and(is_name))
}

const WHITE: [char; 4] = [' ', '\t', '\r', '\n'];

/// The most characters of a block that may stand between other lines.
const LONGEST_WITHIN: usize = 4_000;

/// Return the blocks, as ranges of bytes. A long one stands before or after all else in a text: in another place, it is
/// more likely a text about such blocks.
fn blocks(text: &str) -> Vec<Range<usize>> {
    let mut found = closed_blocks(text);
    let is_blank =
        |start: usize, end: usize| text.get(start..end).is_some_and(|between| between.trim_matches(WHITE).is_empty());
    let (mut first, mut at) = (0, 0);
    while let Some(block) = found.get(first).filter(|block| is_blank(at, block.start)) {
        (first, at) = (first + 1, block.end);
    }
    let (mut last, mut at) = (found.len(), text.len());
    while let Some(block) = last.checked_sub(1).filter(|&before| before >= first).and_then(|before| found.get(before))
        && is_blank(block.end, at)
    {
        (last, at) = (last - 1, block.start);
    }
    let is_short =
        |block: &Range<usize>| text.get(block.clone()).is_some_and(|whole| whole.chars().nth(LONGEST_WITHIN).is_none());
    let mut number = 0;
    found.retain(|block| {
        number += 1;
        number <= first || number > last || is_short(block)
    });
    found
}

/// Return the blocks that begin a line, and are closed where a line ends, as ranges of bytes.
fn closed_blocks(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut unclosed = [false; CLIENT_BLOCKS.len()];
    let mut at = 0;
    while let Some(opening) = OPENINGS.as_ref().and_then(|openings| openings.find(Input::new(text).range(at..))) {
        at = opening.end();
        let begins_line = opening.start().checked_sub(1).is_none_or(|before| bytes.get(before) == Some(&b'\n'));
        if !begins_line {
            continue;
        }
        let number = opening.pattern().as_usize();
        let Some((is_unclosed, name)) = unclosed.get_mut(number).zip(CLIENT_BLOCKS.get(number)) else { break };
        let closing = format!("</{name}>");
        let rest = text.get(at..).filter(|_| !*is_unclosed);
        let Some(end) = rest.and_then(|rest| rest.find(&closing)) else {
            *is_unclosed = true;
            continue;
        };
        at += end + closing.len();
        if matches!(bytes.get(at), None | Some(b'\r' | b'\n')) {
            found.push(opening.start()..at);
        }
    }
    found
}

/// Return a cut that splits no block: what it would leave of one is cut, too.
pub(crate) fn around_blocks(text: Text<'_>, mut head: usize, mut tail: usize) -> (usize, usize) {
    let text = text.as_utf8();
    let (mut bytes, mut characters) = (0, 0);
    let mut place = |byte: usize| {
        characters += text.get(bytes..byte).map_or(0, |between| between.chars().count());
        bytes = byte;
        characters
    };
    for block in blocks(&text) {
        let (start, end) = (place(block.start), place(block.end));
        if start < head && head < end {
            head = start;
        }
        if start < tail && tail < end {
            tail = end;
        }
    }
    (head, tail)
}

/// Return a text without blocks, and without the line of one that it has to itself.
pub(crate) fn without_blocks(text: &str) -> Cow<'_, str> {
    let blocks = if closes_block(text.as_bytes()) { blocks(text) } else { Vec::new() };
    if blocks.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut kept = String::with_capacity(text.len());
    let mut at = 0;
    let part = |range: Range<usize>| text.get(range).unwrap_or_default();
    for Range { start, end } in blocks {
        let has_line = start == 0 || part(start - 1..start) == "\n";
        kept.push_str(part(at..start));
        at = end + usize::from(has_line && part(end..end + 1) == "\n");
    }
    kept.push_str(part(at..text.len()));
    Cow::Owned(kept)
}

#[cfg(test)]
mod tests {
    use super::{around_blocks, without_blocks};
    use crate::text::Text;

    #[test]
    fn a_cut_splits_no_block() {
        let text = "a\n<system-reminder>b</system-reminder>\n ";
        for (given, wanted) in [((10, 20), (2, 38)), ((2, 38), (2, 38)), ((0, 5), (0, 38)), ((39, 40), (39, 40))] {
            assert_eq!(around_blocks(Text::ascii(text), given.0, given.1), wanted);
        }
    }

    #[test]
    fn a_block_goes_with_its_line() {
        assert_eq!(without_blocks("é\n<system-reminder>b</system-reminder>\n"), "é\n");
        assert_eq!(without_blocks("<system-reminder>b</system-reminder>\né"), "é");
        assert_eq!(without_blocks("a\n<system-reminder>b</system-reminder>\nc"), "a\nc");
        let long = format!("a\n<system-reminder>{}</system-reminder>\nc", "b".repeat(4_000));
        for whole in ["a <system-reminder>b</system-reminder>", &long] {
            assert_eq!(without_blocks(whole), whole);
        }
        assert_eq!(without_blocks("<system-reminder>b<system-reminder>"), "<system-reminder>b<system-reminder>");
    }
}
