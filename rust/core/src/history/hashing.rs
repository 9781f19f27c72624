//! The hashes that prove a commit of the canonical history: tagged SHA-256 over canonical bytes.

use std::sync::LazyLock;

use memchr::memmem;
use sha2::{Digest, Sha256};

use crate::text::constants::CUT_WORDS;
use crate::text::graphemes::CodePoint;
use crate::text::{Text, on_units};

const CONTENT: &[u8] = b"toolcarry content 1\n";
const COMMIT: &[u8] = b"toolcarry commit 1\n";
const SEAL: &[u8] = b"toolcarry seal 1\n";

/// The number of bytes in a seal.
const SEAL_SIZE: usize = 16;

/// Return the hash of a content, by which it is stored.
#[must_use]
pub fn content_hash(content: &[u8]) -> [u8; 32] {
    Sha256::new_with_prefix(CONTENT).chain_update(content).finalize().into()
}

/// Return the hash of a commit, from the hash of its parent (empty if it has none), its role, the hash of its content,
/// and its canonical metadata.
#[must_use]
pub fn commit_hash(parent: &[u8], role: &str, content: &[u8], metadata: &[u8]) -> [u8; 32] {
    let mut hasher = Sha256::new_with_prefix(COMMIT);
    for part in [parent, role.as_bytes(), content, metadata] {
        hasher.update(length(part));
        hasher.update(part);
    }
    hasher.finalize().into()
}

/// The hash state that every seal of a conversation starts from.
#[derive(Clone, Debug)]
pub struct Sealer(Sha256);

/// The columns of a commit that its hash does not cover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The commit's number in its conversation, from 1.
    pub sequence: u64,
    /// The code of the commit's kind.
    pub kind: u64,
    /// The tokens of its content.
    pub token_count: u64,
    /// Microseconds since 1970.
    pub created_at: i64,
}

impl Sealer {
    /// Create the state for a tenant's conversation.
    #[must_use]
    pub fn new(tenant: &str, conversation: &str) -> Self {
        let mut hasher = Sha256::new_with_prefix(SEAL);
        for name in [tenant, conversation] {
            hasher.update(length(name.as_bytes()));
            hasher.update(name);
        }
        Self(hasher)
    }

    /// Return the seal of a commit, from its hash and the columns that the hash does not cover.
    #[must_use]
    pub fn seal(&self, place: Place, commit: &[u8]) -> [u8; SEAL_SIZE] {
        let mut hasher = self.0.clone();
        for number in [place.sequence, place.kind, place.token_count] {
            hasher.update(number.to_be_bytes());
        }
        hasher.update(place.created_at.to_be_bytes());
        hasher.update(commit);
        let whole: [u8; 32] = hasher.finalize().into();
        let mut seal = [0; SEAL_SIZE];
        seal.iter_mut().zip(whole).for_each(|(own, byte)| *own = byte);
        seal
    }
}

fn length(part: &[u8]) -> [u8; 8] {
    (part.len() as u64).to_be_bytes()
}

static CUT_WORD_FINDERS: LazyLock<Vec<memmem::Finder<'static>>> =
    LazyLock::new(|| CUT_WORDS.iter().map(|word| memmem::Finder::new(word.as_bytes())).collect());

/// Return true if the text contains a word that a mark of a cut uses. The words are ASCII, so a wider text is searched
/// in a narrow copy, in which all other characters are alike.
#[must_use]
pub fn has_cut_word(text: Text<'_>) -> bool {
    let contains = |units: &[u8]| CUT_WORD_FINDERS.iter().any(|word| word.find(units).is_some());
    match text {
        Text::Latin1(units) => contains(units),
        Text::Ucs2(units) => contains(&units.iter().map(|unit| u8::try_from(*unit).unwrap_or(0)).collect::<Vec<u8>>()),
        Text::Ucs4(units) => contains(&units.iter().map(|unit| u8::try_from(*unit).unwrap_or(0)).collect::<Vec<u8>>()),
    }
}

/// Write a string as a quoted JSON string in ASCII.
pub fn write_text(text: Text<'_>, to: &mut Vec<u8>) {
    to.push(b'"');
    match text {
        Text::Latin1(units) if units.is_ascii() => {
            let mut rest = units;
            while !rest.is_empty() {
                let (plain, special) = rest.split_at(plain_length(rest));
                to.extend_from_slice(plain);
                let Some((byte, after)) = special.split_first() else { break };
                escape(u32::from(*byte), to);
                rest = after;
            }
        }
        _ => on_units!(text, units => units.iter().for_each(|unit| escape(unit.code_point(), to))),
    }
    to.push(b'"');
}

/// Return the number of leading bytes that need no escape. Blocks of 16 bytes are tested at once.
fn plain_length(bytes: &[u8]) -> usize {
    let is_plain = |byte: &u8| is_plain(u32::from(*byte));
    let blocks = bytes.chunks_exact(16).take_while(|block| block.iter().fold(true, |all, byte| all & is_plain(byte)));
    let whole = 16 * blocks.count();
    whole + bytes.iter().skip(whole).take_while(|byte| is_plain(byte)).count()
}

/// Return true if a character needs no escape.
#[inline(always)]
fn is_plain(code_point: u32) -> bool {
    matches!(code_point, 0x20..0x7F) & (code_point != 0x22) & (code_point != 0x5C)
}

/// Write a character, escaped if necessary.
fn escape(code_point: u32, to: &mut Vec<u8>) {
    match u8::try_from(code_point) {
        Ok(byte) if is_plain(code_point) => to.push(byte),
        Ok(byte @ (b'"' | b'\\')) => to.extend([b'\\', byte]),
        Ok(0x08) => to.extend(b"\\b"),
        Ok(0x0C) => to.extend(b"\\f"),
        Ok(b'\n') => to.extend(b"\\n"),
        Ok(b'\r') => to.extend(b"\\r"),
        Ok(b'\t') => to.extend(b"\\t"),
        _ => match code_point.checked_sub(0x1_0000) {
            Some(above) => {
                write_unit(0xD800 | above >> 10, to);
                write_unit(0xDC00 | above & 0x3FF, to);
            }
            None => write_unit(code_point, to),
        },
    }
}

/// Write a UTF-16 unit as `\uXXXX`.
fn write_unit(unit: u32, to: &mut Vec<u8>) {
    to.extend(b"\\u");
    for shift in [12, 8, 4, 0] {
        let digit = u8::try_from(unit >> shift & 0xF).unwrap_or(0);
        to.push(if digit < 10 { b'0' + digit } else { b'a' - 10 + digit });
    }
}
