//! The ways to write a text in JSON.

use super::bash;

/// The escape of a UTF-16 unit.
pub(crate) fn escaped(unit: u32) -> String {
    format!("\\u{unit:04x}")
}

/// A text in JSON: with as few escapes as possible, with every character escaped, and with every other one escaped.
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

/// A call of `ls` with this JSON text as its result.
pub(crate) fn with_result(written: &[u8]) -> Vec<u8> {
    let document = serde_json::to_string(&bash("t1", "ls", "@@")).unwrap();
    let (before, after) = document.split_once("\"@@\"").unwrap();
    [before.as_bytes(), written, after.as_bytes()].concat()
}
