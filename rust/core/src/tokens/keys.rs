//! A few bytes of a text as one integer, which tells them and their number.

const FIRST: u64 = 0x9E37_79B9_7F4A_7C15;
const SECOND: u64 = 0xC2B2_AE3D_27D4_EB4F;

/// The bits of a key of up to 15 bytes: those and, above them, their number.
pub(crate) const SIZE_BITS: u128 = u128::MAX >> 4;

/// What the place of a medium key is taken from; the upper bits are the good ones.
#[inline(always)]
#[allow(clippy::cast_possible_truncation)] // its halves
pub(crate) fn hash(key: u128) -> u64 {
    let (low, high) = (key as u64, (key >> 64) as u64);
    (low ^ low >> 29).wrapping_mul(FIRST).wrapping_add((high ^ high >> 31).wrapping_mul(SECOND)).wrapping_mul(FIRST)
}

/// One that takes less time and is less good, for what may be forgotten.
#[inline(always)]
#[allow(clippy::cast_possible_truncation)] // its halves
pub(crate) fn near_hash(key: u128) -> u64 {
    let (low, high) = (key as u64, (key >> 64) as u64);
    let both = low ^ high.wrapping_mul(SECOND);
    (both ^ both >> 32).wrapping_mul(FIRST)
}

/// What the filter's bit for a short key is taken from.
#[inline(always)]
pub(crate) fn short_filter_hash(key: u64) -> u64 {
    (key ^ key >> 31).wrapping_mul(SECOND)
}

/// The same for a medium key.
#[inline(always)]
pub(crate) fn medium_filter_hash(key: u128) -> u64 {
    hash(key).wrapping_mul(SECOND)
}

/// The bytes from `start` on, 16 or as many as there are.
#[inline(always)]
fn sixteen(text: &[u8], start: usize) -> u128 {
    let rest = text.get(start..).unwrap_or_default();
    match rest.first_chunk() {
        Some(bytes) => u128::from_le_bytes(*bytes),
        None => rest.iter().rev().fold(0, |word, byte| word << 8 | u128::from(*byte)),
    }
}

/// The bytes from `start` on, 8 or as many as there are.
#[inline(always)]
fn eight(text: &[u8], start: usize) -> u64 {
    let rest = text.get(start..).unwrap_or_default();
    match rest.first_chunk() {
        Some(bytes) => u64::from_le_bytes(*bytes),
        None => rest.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)),
    }
}

/// The key of up to 7 bytes: those, and a bit behind them.
#[inline(always)]
pub(crate) fn short_key(text: &[u8], start: usize, size: usize) -> u64 {
    let end = 1 << (8 * (size & 7));
    eight(text, start) & (end - 1) | end
}

/// The key of up to 15 bytes.
#[inline(always)]
pub(crate) fn medium_key(text: &[u8], start: usize, size: usize) -> u128 {
    #[allow(clippy::indexing_slicing)] // while it is compiled
    const MASKS: [u128; 16] = {
        let (mut masks, mut size) = ([0; 16], 1);
        while size < 16 {
            masks[size] = u128::MAX >> (128 - 8 * size);
            size += 1;
        }
        masks
    };
    sixteen(text, start) & MASKS.get(size & 15).copied().unwrap_or(0) | (size as u128) << 120
}

/// How many bytes a medium key is of.
#[inline(always)]
pub(crate) fn size_of_key(key: u128) -> usize {
    usize::try_from(key >> 120 & 15).unwrap_or(0)
}

/// The hash of any number of bytes.
pub(crate) fn hash_bytes(bytes: &[u8]) -> u64 {
    let mix = |hash: u64, word: u64| {
        let mixed = (hash ^ word).wrapping_mul(FIRST);
        mixed ^ mixed >> 32
    };
    let (words, rest) = bytes.as_chunks::<8>();
    let hash = words.iter().fold(bytes.len() as u64, |hash, word| mix(hash, u64::from_le_bytes(*word)));
    mix(hash, eight(rest, 0)).wrapping_mul(SECOND)
}
