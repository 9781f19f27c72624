//! Texts from any bytes, lone surrogates among them.

/// UTF-8 as code points. What is none is a lone surrogate: those that Python's strings may hold.
pub fn code_points(data: &[u8]) -> Vec<u32> {
    let mut text = Vec::new();
    for chunk in data.utf8_chunks() {
        text.extend(chunk.valid().chars().map(u32::from));
        text.extend(chunk.invalid().iter().map(|byte| 0xD800 + 8 * u32::from(*byte)));
    }
    text
}
