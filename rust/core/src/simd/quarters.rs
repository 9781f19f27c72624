//! Masks of 16 bytes at a time, by the vector instructions that every processor of its kind has: SSE2, NEON, SIMD128.

use wide::u8x16;

use super::escapes::copy_between;
use super::{BLOCK, ESCAPABLE, Lanes, Masks, Others};

/// The implementation with the vectors of the crate `wide`.
pub(crate) struct Quarters;

type Vectors = [u8x16; 4];

#[inline(always)]
fn load(block: &[u8; BLOCK]) -> Vectors {
    let (quarters, _) = block.as_chunks::<16>();
    std::array::from_fn(|number| u8x16::from(quarters.get(number).copied().unwrap_or_default()))
}

/// Return the highest bits of all bytes.
#[inline(always)]
fn bits(vectors: Vectors) -> u64 {
    vectors.iter().rev().fold(0, |mask, vector| mask << 16 | u64::from(vector.to_bitmask()))
}

#[inline(always)]
fn equal(vectors: Vectors, byte: u8) -> u64 {
    bits(vectors.map(|vector| vector.simd_eq(u8x16::splat(byte))))
}

/// Return a mask of the bytes from `first` to `last`. The subtraction wraps, so lesser bytes are far away.
#[inline(always)]
fn between(vectors: Vectors, first: u8, last: u8) -> u64 {
    let (first, most) = (u8x16::splat(first), u8x16::splat(last.wrapping_sub(first)));
    bits(vectors.map(|vector| {
        let above = vector - first;
        above.min(most).simd_eq(above)
    }))
}

impl Lanes for Quarters {
    /// A mask of the wrong quotes and escape letters, and for each byte of a vector the controls, and the bits of all.
    type Odd = (u64, u8x16, u8x16);

    #[inline(always)]
    fn fetch(_: &[u8], _: usize) {}

    #[inline(always)]
    fn masks(block: &[u8; BLOCK]) -> Masks {
        let vectors = load(block);
        Masks {
            quotes: equal(vectors, b'"'),
            backslashes: equal(vectors, b'\\'),
            others: !between(vectors, 0x20, 0x7F),
        }
    }

    #[inline(always)]
    fn others(block: &[u8; BLOCK]) -> Others {
        let vectors = load(block);
        Others { high: bits(vectors), continuations: between(vectors, 0x80, 0xBF) }
    }

    const NOTHING_ODD: Self::Odd = (0, u8x16::ZERO, u8x16::ZERO);

    #[inline(always)]
    fn odd<const IS_ASCII: bool>((odd, controls, high): Self::Odd, block: &[u8; BLOCK], letters: u64) -> Self::Odd {
        let vectors = load(block);
        let wrong = (equal(vectors, b'"') ^ letters) & !Self::among(block, &ESCAPABLE);
        let last = u8x16::splat(0x1F);
        let found = vectors.iter().fold((controls, high), |(controls, high), vector| {
            (controls | vector.min(last).simd_eq(*vector), high | *vector)
        });
        (odd | wrong, found.0, found.1)
    }

    #[inline(always)]
    fn is_odd<const IS_ASCII: bool>((odd, controls, high): Self::Odd) -> bool {
        odd != 0 || controls.any() || IS_ASCII && high.any()
    }

    #[inline(always)]
    fn equal(block: &[u8; BLOCK], byte: u8) -> u64 {
        equal(load(block), byte)
    }

    #[inline(always)]
    fn between(block: &[u8; BLOCK], first: u8, last: u8) -> u64 {
        between(load(block), first, last)
    }

    #[inline(always)]
    fn among(block: &[u8; BLOCK], table: &[u8; 16]) -> u64 {
        let vectors = load(block);
        let mut found = [u8x16::ZERO; 4];
        for (_, byte) in (0..16).zip(table).filter(|(low, byte)| **byte & 0x0F == *low) {
            for (found, vector) in found.iter_mut().zip(&vectors) {
                *found |= vector.simd_eq(u8x16::splat(*byte));
            }
        }
        bits(found)
    }

    #[inline(always)]
    fn unescape(from: (&[u8], usize), escapes: (u64, u64), to: (&mut [u8], usize)) -> usize {
        copy_between(from, escapes, to)
    }
}
