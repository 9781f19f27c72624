//! Shorten JSON inside of its texts and arrays, so that it stays JSON with all of its keys, numbers and short values.
//!
//! Lines of JSON are shortened as the items of an array are. The text is read into spans and never decoded: what stays is
//! spelled as it was.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::kinds::{ERRORS, found_in, search};
use crate::text::grouped;
use crate::text::truncate::Keep;

/// The items of an array and the characters of a text that stay, from the most to the least.
const STEPS: [(usize, usize); 9] =
    [(100, 4_000), (50, 2_000), (30, 1_000), (20, 500), (10, 300), (6, 150), (4, 80), (3, 40), (2, 20)];
const DEEPEST: usize = 64;
const BLANKS: [char; 4] = [' ', '\t', '\r', '\n'];

pub(super) static FIND_ERROR: LazyLock<Option<AhoCorasick>> =
    LazyLock::new(|| search(ERRORS.iter().map(|word| word.as_bytes())));

/// A value: where it begins and ends, and its members or items.
///
/// Several values on lines of their own are the items of a list without brackets.
#[derive(Debug)]
struct Node {
    start: usize,
    end: usize,
    items: Vec<Node>,
    is_list: bool,
    is_text: bool,
    has_lines: bool,
}

/// The kind of a token.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lexeme {
    Sign(u8),
    Quoted,
    Scalar,
}

struct Token {
    kind: Lexeme,
    start: usize,
    end: usize,
}

/// Shorten an object or an array to `room` characters, in two parts with a place for a marker between them.
///
/// So are objects and arrays on lines of their own if a cut would leave the first ones; the marker and the gaps are lines
/// of JSON, too. `None` for any other text, or one that is still too long without most of its texts and items.
pub(super) fn shorten_json(text: &str, room: usize, keep: Keep) -> Option<(String, String)> {
    let tree = read(text, keep == Keep::Head).filter(|tree| !tree.items.is_empty())?;
    let errors: Vec<usize> = found_in(FIND_ERROR.as_ref(), text).map(|(place, _)| place).collect();
    let most = room.saturating_mul(4); // a character has at most four bytes
    STEPS.into_iter().find_map(|(items, chars)| {
        let mut body = String::new();
        write(text, &tree, &Step { items, chars, most, errors: &errors }, &mut body)?;
        if !tree.has_lines {
            body.pop();
            body.truncate(body.trim_end_matches(BLANKS).len());
        }
        let (open, after) = match (tree.has_lines, tree.is_list) {
            (true, _) => ("\n\"", "\""),
            (false, true) => (",\"", "\"]"),
            (false, false) => (",\"toolcarry\":\"", "\"}"),
        };
        body.push_str(open);
        (body.chars().count() + after.len() <= room).then(|| (body, after.to_owned()))
    })
}

/// Return the tree of a text that is an object or an array in JSON, or lines of these; `None` for any other text.
fn read(text: &str, has_lines: bool) -> Option<Node> {
    let mut values: Vec<Node> = Vec::new();
    let mut rest = text;
    loop {
        let start = rest.trim_start_matches(BLANKS);
        let is_next = values.is_empty() || (has_lines && rest.get(..rest.len() - start.len())?.contains('\n'));
        (is_next && start.starts_with(['{', '['])).then_some(())?;
        let found = value(text, text.len() - start.len(), 0)?;
        rest = text.get(found.end..)?;
        values.push(found);
        if rest.trim_start_matches(BLANKS).is_empty() {
            break;
        }
    }
    if values.len() == 1 {
        return values.pop();
    }
    let (start, end) = (values.first()?.start, values.last()?.end);
    Some(Node { start, end, items: values, is_list: true, is_text: false, has_lines: true })
}

fn value(text: &str, at: usize, depth: usize) -> Option<Node> {
    let token = token_at(text, at).filter(|_| depth <= DEEPEST)?;
    let open = match token.kind {
        Lexeme::Sign(open @ (b'{' | b'[')) => open,
        Lexeme::Sign(_) => return None,
        kind => {
            let is_text = kind == Lexeme::Quoted;
            return Some(Node {
                start: token.start,
                end: token.end,
                items: Vec::new(),
                is_list: false,
                is_text,
                has_lines: false,
            });
        }
    };
    let close = Lexeme::Sign(if open == b'{' { b'}' } else { b']' });
    let mut node =
        Node { start: token.start, end: 0, items: Vec::new(), is_list: open == b'[', is_text: false, has_lines: false };
    let mut at = token.end;
    if let Some(token) = token_at(text, at).filter(|token| token.kind == close) {
        node.end = token.end;
        return Some(node);
    }
    loop {
        if open == b'{' {
            let key = token_at(text, at).filter(|key| key.kind == Lexeme::Quoted)?;
            at = token_at(text, key.end).filter(|colon| colon.kind == Lexeme::Sign(b':'))?.end;
        }
        let item = value(text, at, depth + 1)?;
        let token = token_at(text, item.end)?;
        node.items.push(item);
        at = token.end;
        if token.kind == close {
            node.end = at;
            return Some(node);
        }
        if token.kind != Lexeme::Sign(b',') {
            return None;
        }
    }
}

fn token_at(text: &str, at: usize) -> Option<Token> {
    let bytes = text.as_bytes();
    let start = at + bytes.get(at..)?.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n')).count();
    let rest = bytes.get(start..)?;
    let (kind, size) = match *rest.first()? {
        sign @ (b'{' | b'}' | b'[' | b']' | b',' | b':') => (Lexeme::Sign(sign), 1),
        b'"' => (Lexeme::Quoted, quoted_size(rest)?),
        _ => (Lexeme::Scalar, scalar_size(rest)?),
    };
    Some(Token { kind, start, end: start + size })
}

/// Return the size of a text in quotes at the beginning.
fn quoted_size(bytes: &[u8]) -> Option<usize> {
    let mut at = 1;
    loop {
        match *bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => match *bytes.get(at + 1)? {
                b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => at += 2,
                b'u' if bytes.get(at + 2..at + 6)?.iter().all(u8::is_ascii_hexdigit) => at += 6,
                _ => return None,
            },
            0..=0x1F => return None,
            _ => at += 1,
        }
    }
}

/// Return the size of a number or a word at the beginning.
fn scalar_size(bytes: &[u8]) -> Option<usize> {
    if let Some(word) = [&b"true"[..], b"false", b"null"].into_iter().find(|word| bytes.starts_with(word)) {
        return Some(word.len());
    }
    let digits = |at: usize| bytes.iter().skip(at).take_while(|byte| byte.is_ascii_digit()).count();
    let start = usize::from(bytes.first() == Some(&b'-'));
    let mut at = match bytes.get(start)? {
        b'0' => start + 1,
        b'1'..=b'9' => start + digits(start),
        _ => return None,
    };
    if bytes.get(at) == Some(&b'.') && digits(at + 1) > 0 {
        at += 1 + digits(at + 1);
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        let power = digits(at + 1 + sign);
        at += if power > 0 { 1 + sign + power } else { 0 };
    }
    Some(at)
}

/// The limits of one attempt.
struct Step<'e> {
    /// The items of an array.
    items: usize,
    /// The characters of a text.
    chars: usize,
    /// The bytes of the whole. With more it is certainly too long.
    most: usize,
    /// The places of the words that speak of errors, in order.
    errors: &'e [usize],
}

/// Write a value. Longer arrays and strings than the limits are shortened. `None` if the whole is too long.
fn write(text: &str, node: &Node, step: &Step<'_>, body: &mut String) -> Option<()> {
    if body.len() > step.most {
        return None;
    }
    if node.is_text {
        write_text(text.get(node.start..node.end)?, step.chars, body);
        return Some(());
    }
    let shown = if node.is_list { shown_items(node, step) } else { (0..node.items.len()).collect() };
    let (mut at, mut next) = (node.start, 0);
    for index in shown {
        let item = node.items.get(index)?;
        if index > next {
            body.push_str(text.get(at..node.items.get(next)?.start)?);
            body.push_str(&gap(index - next));
            at = node.items.get(index - 1)?.end;
        }
        body.push_str(text.get(at..item.start)?);
        write(text, item, step, body)?;
        (at, next) = (item.end, index + 1);
    }
    if next < node.items.len() {
        body.push_str(text.get(at..node.items.get(next)?.start)?);
        body.push_str(&gap(node.items.len() - next));
        at = node.items.last()?.end;
    }
    body.push_str(text.get(at..node.end)?);
    Some(())
}

/// Return the indices of the items that stay: the first ones, and as many that speak of errors.
fn shown_items(node: &Node, step: &Step<'_>) -> Vec<usize> {
    let first = step.items.min(node.items.len());
    let is_error = |index: &usize| {
        node.items.get(*index).is_some_and(|item| {
            let next = step.errors.partition_point(|place| *place < item.start);
            step.errors.get(next).is_some_and(|place| *place < item.end)
        })
    };
    (0..first).chain((first..node.items.len()).filter(is_error).take(step.items)).collect()
}

fn gap(count: usize) -> String {
    format!("\"... {} more item{}\"", grouped(count), if count > 1 { "s" } else { "" })
}

/// Write a text in quotes with both ends of it, if it is much longer than it may be.
fn write_text(quoted: &str, chars: usize, body: &mut String) {
    let inner = quoted.get(1..quoted.len() - 1).unwrap_or_default();
    let count = if inner.chars().count() > chars + 40 { unit_ends(inner).count() } else { 0 };
    let half = chars / 2;
    let left = count.saturating_sub(2 * half);
    let cut = |units: usize| units.checked_sub(1).and_then(|last| unit_ends(inner).nth(last)).unwrap_or(0);
    if left == 0 {
        body.push_str(quoted);
        return;
    }
    body.push('"');
    body.push_str(inner.get(..cut(half)).unwrap_or_default());
    body.extend(["... ", &grouped(left), " more characters ..."]);
    body.push_str(inner.get(cut(count - half)..).unwrap_or_default());
    body.push('"');
}

/// Return the ends of the characters of a text with escapes; a pair of surrogates is one character.
fn unit_ends(inner: &str) -> impl Iterator<Item = usize> {
    let bytes = inner.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        let byte = bytes.get(at)?;
        at += match (byte, bytes.get(at + 1)) {
            (b'\\', Some(b'u')) => {
                let is_high =
                    matches!(bytes.get(at + 2..at + 4), Some([b'd' | b'D', b'8' | b'9' | b'a' | b'b' | b'A' | b'B']));
                let is_pair = is_high && bytes.get(at + 6..at + 8) == Some(&b"\\u"[..]);
                if is_pair { 12 } else { 6 }
            }
            (b'\\' | 0xC0..=0xDF, _) => 2,
            (0..0x80, _) => 1,
            (0xE0..=0xEF, _) => 3,
            _ => 4,
        };
        Some(at)
    })
}

#[cfg(test)]
mod tests {
    use super::shorten_json;
    use crate::text::truncate::Keep;

    fn shortened(text: &str, room: usize) -> Option<String> {
        shorten_json(text, room, Keep::Head).map(|(before, after)| [&before, "[cut]", &after].concat())
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
