//! Any text cut to any size: the kept parts are short enough and end between grapheme clusters, and nothing more would
//! fit.

#![no_main]

use libfuzzer_sys::fuzz_target;
use toolcarry::text::graphemes::{CodePoint, is_boundary};
use toolcarry::text::truncate::{Keep, cut};

#[path = "../texts.rs"]
mod texts;

fuzz_target!(|data: &[u8]| {
    let Some((&[high, low, keep], rest)) = data.split_first_chunk() else { return };
    let text = texts::code_points(rest);
    let limit = usize::from(u16::from_be_bytes([high, low])) % (text.len() + 2);
    let keep = [Keep::Head, Keep::Tail, Keep::Ends][usize::from(keep % 3)];
    let plan = check(&text, limit, keep);
    let narrow: Option<Vec<u16>> = text.iter().map(|code_point| u16::try_from(*code_point).ok()).collect();
    assert!(narrow.is_none_or(|narrow| check(&narrow, limit, keep) == plan));
    let bytes: Option<Vec<u8>> = text.iter().map(|code_point| u8::try_from(*code_point).ok()).collect();
    assert!(bytes.is_none_or(|bytes| check(&bytes, limit, keep) == plan));
});

fn check<C: CodePoint>(text: &[C], limit: usize, keep: Keep) -> (usize, usize) {
    let size = text.len();
    let (head, tail) = cut(text, limit, keep);
    if size <= limit {
        assert_eq!((head, tail), (size, size));
        return (head, tail);
    }
    assert!(head < tail && tail <= size && head + size - tail <= limit, "{head} {tail} of {size} to {limit}");
    assert!(is_boundary(text, head) && is_boundary(text, tail));
    let (for_head, for_tail) = match keep {
        Keep::Head => (limit, 0),
        Keep::Tail => (0, limit),
        Keep::Ends => (limit / 2, limit - limit / 2),
    };
    assert!((head + 1..=for_head).all(|at| !is_boundary(text, at)), "the head ends at {head} of {for_head}");
    assert!((size - for_tail..tail).all(|at| !is_boundary(text, at)), "the tail begins at {tail}");
    (head, tail)
}
