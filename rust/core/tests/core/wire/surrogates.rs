//! Replace lone surrogates in a document, for a JSON reader that refuses them.

/// Return the character that replaces a lone surrogate while `serde_json` reads.
pub(crate) fn stand_in(code_point: u32) -> u32 {
    if (0xD800..0xE000).contains(&code_point) { code_point + 0x800 } else { code_point }
}

fn unit_at(data: &[u8], at: usize) -> Option<u32> {
    let digits = data.get(at..at + 6)?.strip_prefix(b"\\u")?;
    let are_digits = digits.iter().all(u8::is_ascii_hexdigit);
    are_digits.then(|| u32::from_str_radix(str::from_utf8(digits).unwrap(), 16).unwrap())
}

/// Return a document with its lone surrogates replaced.
pub(crate) fn without_lone_surrogates(data: &[u8]) -> Vec<u8> {
    let (mut out, mut at) = (Vec::with_capacity(data.len()), 0);
    while at < data.len() {
        let size = match (unit_at(data, at), unit_at(data, at + 6)) {
            (Some(0xD800..0xDC00), Some(0xDC00..0xE000)) => 12,
            (Some(unit @ 0xD800..0xE000), _) => {
                out.extend_from_slice(format!("\\u{:04x}", stand_in(unit)).as_bytes());
                at += 6;
                continue;
            }
            _ if data[at] == b'\\' => 2,
            _ => 1,
        };
        out.extend_from_slice(&data[at..data.len().min(at + size)]);
        at += size;
    }
    out
}
