//! Shorten JSON inside of its texts and arrays, so that it stays JSON with all of its keys, numbers and short values.
//!
//! The text is written again with lower and lower limits on arrays and texts, until it fits. Lines of JSON are shortened
//! as the items of an array are.
//!
//! ```text
//! {"files": ["a.py", "b.py", "c.py", "d.py"], "log": "<200 characters>", "code": 0}
//! {"files": ["a.py", "b.py", "... 2 more items"], "log": "<10>... 180 more characters ...<10>", "code": 0,"toolcarry":"<marker>"}
//! ```

use std::ops::Range;

use super::json_spans::{BLANKS, Form, Node, character_ends, read};
use super::kinds::{FIND_ERROR, found_in};
use crate::text::grouped;
use crate::text::truncate::Keep;

/// The sign after a marker that is a part of JSON.
pub(super) const CLOSED: &str = "\"";
/// The items of an array and the characters of a text that stay, from the most to the least.
const STEPS: [(usize, usize); 9] =
    [(100, 4_000), (50, 2_000), (30, 1_000), (20, 500), (10, 300), (6, 150), (4, 80), (3, 40), (2, 20)];
/// A text that is over the limit by no more than this stays, since a note would save next to nothing.
const SPARE_CHARS: usize = 40;
/// A character has at most as many bytes.
const BYTES_PER_CHAR: usize = 4;

/// Shorten an object or an array to `room` characters, in two parts with a place for a marker between them, and the sign that
/// opens a marker which is a part of it. [`CLOSED`] closes that.
///
/// So are objects and arrays on lines of their own if a cut would leave the first ones; the marker and the gaps are lines
/// of JSON, too. `None` for any other text, or one that is still too long without most of its texts and items.
pub(super) fn shorten_json(text: &str, room: usize, keep: Keep) -> Option<(String, &'static str, &'static str)> {
    let tree = read(text, keep == Keep::Head).filter(|tree| !tree.items.is_empty())?;
    let errors: Vec<usize> = found_in(FIND_ERROR.as_ref(), text).map(|(place, _)| place).collect();
    let (opened, after) = match tree.form {
        Form::Lines => ("\n\"", ""),
        Form::Array => (",\"", "]"),
        _ => (",\"toolcarry\":\"", "}"),
    };
    let most_bytes = room.saturating_mul(BYTES_PER_CHAR);
    STEPS.into_iter().find_map(|(items, chars)| {
        let mut writer = Writer { text, items, chars, most_bytes, errors: &errors, body: String::new() };
        writer.value(&tree)?;
        let mut body = writer.body;
        if tree.form != Form::Lines {
            body.pop(); // the bracket, which follows the marker
            body.truncate(body.trim_end_matches(BLANKS).len());
        }
        let size = body.chars().count() + opened.len() + CLOSED.len() + after.len();
        (size <= room).then_some((body, after, opened))
    })
}

/// One attempt to write a text within limits.
struct Writer<'t> {
    text: &'t str,
    /// The most items of an array.
    items: usize,
    /// The most characters of a text.
    chars: usize,
    /// The most bytes of the whole. With more it is certainly too long.
    most_bytes: usize,
    /// The places of the words that speak of errors, in order.
    errors: &'t [usize],
    body: String,
}

impl Writer<'_> {
    /// Write a value. Longer arrays and texts than the limits are shortened. `None` if the whole is too long.
    fn value(&mut self, node: &Node) -> Option<()> {
        if self.body.len() > self.most_bytes {
            return None;
        }
        if node.form == Form::Quoted {
            let quoted = self.text.get(node.start..node.end)?;
            return self.quoted(quoted);
        }
        let (mut at, mut next) = (node.start, 0);
        for index in self.shown_items(node) {
            at = self.gap(node, next..index, at)?;
            let item = node.items.get(index)?;
            self.copy(at..item.start)?;
            self.value(item)?;
            (at, next) = (item.end, index + 1);
        }
        at = self.gap(node, next..node.items.len(), at)?;
        self.copy(at..node.end)
    }

    /// Write a part of the text as it is.
    fn copy(&mut self, range: Range<usize>) -> Option<()> {
        self.body.push_str(self.text.get(range)?);
        Some(())
    }

    /// Write a note in the place of items, if there are any. The text is written up to `at`; return where it goes on.
    fn gap(&mut self, node: &Node, left_out: Range<usize>, at: usize) -> Option<usize> {
        let left_out = node.items.get(left_out)?;
        let Some((first, last)) = left_out.first().zip(left_out.last()) else { return Some(at) };
        self.copy(at..first.start)?;
        let plural = if left_out.len() > 1 { "s" } else { "" };
        self.body.extend(["\"... ", &grouped(left_out.len()), " more item", plural, "\""]);
        Some(last.end)
    }

    /// Return the indices of the items that stay: all of an object, of an array the first ones, and as many that speak of
    /// errors.
    fn shown_items(&self, node: &Node) -> Vec<usize> {
        let all = 0..node.items.len();
        if node.form == Form::Object {
            return all.collect();
        }
        let is_error = |index: &usize| {
            node.items.get(*index).is_some_and(|item| {
                let next = self.errors.partition_point(|place| *place < item.start);
                self.errors.get(next).is_some_and(|place| *place < item.end)
            })
        };
        let first = self.items.min(all.end);
        (0..first).chain((first..all.end).filter(is_error).take(self.items)).collect()
    }

    /// Write a text in quotes, with both ends of it if it is much longer than it may be.
    fn quoted(&mut self, quoted: &str) -> Option<()> {
        let inner = quoted.get(1..quoted.len() - 1)?;
        let may_be_long = inner.chars().count() > self.chars + SPARE_CHARS;
        let count = if may_be_long { character_ends(inner).count() } else { 0 };
        let half = self.chars / 2;
        let left_out = count.saturating_sub(2 * half);
        if left_out == 0 {
            self.body.push_str(quoted);
            return Some(());
        }
        let end_of = |count: usize| count.checked_sub(1).map_or(Some(0), |last| character_ends(inner).nth(last));
        self.body.push('"');
        self.body.push_str(inner.get(..end_of(half)?)?);
        self.body.extend(["... ", &grouped(left_out), " more characters ..."]);
        self.body.push_str(inner.get(end_of(count - half)?..)?);
        self.body.push('"');
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::{CLOSED, shorten_json};
    use crate::text::truncate::Keep;

    fn shortened(text: &str, room: usize) -> Option<String> {
        let found = shorten_json(text, room, Keep::Head);
        found.map(|(before, after, opened)| [&before, opened, "[cut]", CLOSED, after].concat())
    }

    #[test]
    fn keys_and_short_values_stay() {
        let text = format!("{{\"out\": \"{}\", \"exitCode\": 0}}", "x".repeat(90));
        let out = "xxxxxxxxxx... 70 more characters ...xxxxxxxxxx";
        let wanted = format!("{{\"out\": \"{out}\", \"exitCode\": 0,\"toolcarry\":\"[cut]\"}}");
        assert_eq!(shortened(&text, 100), Some(wanted));
    }

    #[test]
    fn what_is_not_json_is_left_alone() {
        for text in
            ["", "{", "[]", "[1,]", "{\"a\" 1}", "[01]", "[1.]", "[tru]", "[\"\\x\"]", "[1] 2", "\"a\"", "[\"\n\"]"]
        {
            assert_eq!(shortened(text, 1_000), None, "{text}");
        }
        assert!(shortened("[-1.5e+3, null, \"\\ud83d\\ude00\"]", 1_000).is_some());
    }
}
