//! Texts from any bytes, with lone surrogates.

/// Decode UTF-8 to code points. Invalid bytes become lone surrogates, which Python's strings may contain.
pub fn code_points(data: &[u8]) -> Vec<u32> {
    let mut text = Vec::new();
    for chunk in data.utf8_chunks() {
        text.extend(chunk.valid().chars().map(u32::from));
        text.extend(chunk.invalid().iter().map(|byte| 0xD800 + 8 * u32::from(*byte)));
    }
    text
}
