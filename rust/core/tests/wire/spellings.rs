//! Texts as they may be written in JSON.

use super::bash;

/// A unit of UTF-16 by its number.
pub(crate) fn escaped(unit: u32) -> String {
    format!("\\u{unit:04x}")
}

/// A text in JSON: with no escape without need, with nothing but escapes, and with every other one.
pub(crate) fn spellings(text: &str) -> [Vec<u8>; 3] {
    let escape = |character: char| -> String {
        character.encode_utf16(&mut [0; 2]).iter().map(|unit| escaped(u32::from(*unit))).collect::<Vec<_>>().concat()
    };
    let quoted = |inside: String| format!("\"{inside}\"").into_bytes();
    let short = |text: &str| {
        let whole = serde_json::to_string(text).unwrap();
        whole[1..whole.len() - 1].to_owned()
    };
    let mixed = |(index, character): (usize, char)| {
        if index % 2 == 0 { short(&character.to_string()) } else { escape(character) }
    };
    [
        quoted(short(text)),
        quoted(text.chars().map(escape).collect()),
        quoted(text.chars().enumerate().map(mixed).collect()),
    ]
}

/// A call of `ls` with a result that is written so.
pub(crate) fn with_result(written: &[u8]) -> Vec<u8> {
    let document = serde_json::to_string(&bash("t1", "ls", "@@")).unwrap();
    let (before, behind) = document.split_once("\"@@\"").unwrap();
    [before.as_bytes(), written, behind.as_bytes()].concat()
}
