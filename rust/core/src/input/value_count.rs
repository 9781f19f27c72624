//! The number of values in a JSON document, counted before it is decoded.

use memchr::memchr_iter;

/// The most arrays and objects, and the most values, that a document may have to be decoded.
const MOST_CONTAINERS: usize = 100_000;
const MOST_VALUES: usize = 1_000_000;

/// Return true if a document has more than 100,000 arrays and objects, or more than a million values. The data need not
/// be JSON.
#[must_use]
pub fn has_many_values(data: &[u8]) -> bool {
    if data.len() <= MOST_CONTAINERS || !exceeds(data) {
        return false;
    }
    let (mut containers, mut commas) = (0, 0);
    let (mut is_string, mut bytes) = (false, data.iter().peekable());
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => _ = bytes.next_if(|next| matches!(next, b'\\' | b'"')),
            b'"' => is_string = !is_string,
            b'[' | b'{' if !is_string => containers += 1,
            b',' if !is_string => commas += 1,
            _ => {}
        }
    }
    containers > MOST_CONTAINERS || commas >= MOST_VALUES
}

/// Return true if data has too many brackets or commas, those in strings included.
fn exceeds(data: &[u8]) -> bool {
    let count = |byte| memchr_iter(byte, data).count();
    count(b'[') + count(b'{') > MOST_CONTAINERS || (data.len() > MOST_VALUES && count(b',') >= MOST_VALUES)
}
