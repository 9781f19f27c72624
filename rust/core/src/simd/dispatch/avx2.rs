//! Masks with AVX2 instructions, 32 bytes at a time.

#![allow(unsafe_code)] // vector instructions
#![allow(clippy::cast_ptr_alignment)] // their loads need no alignment

use std::arch::x86_64::{
    __m128i, __m256i, _mm_loadu_si128, _mm256_broadcastsi128_si256, _mm256_cmpeq_epi8, _mm256_cmpgt_epi8,
    _mm256_loadu_si256, _mm256_max_epu8, _mm256_min_epi8, _mm256_min_epu8, _mm256_movemask_epi8, _mm256_set1_epi8,
    _mm256_shuffle_epi8, _mm256_sub_epi8, _mm256_xor_si256,
};

use super::Avx2;
use crate::simd::escapes::copy_between;
use crate::simd::{BLOCK, ESCAPABLE, Lanes, Masks, Others, prefetch_stream};

// SAFETY, for all below: only code that `dispatch` runs gets these lanes, on processors that have their instructions;
// loads read the 64 bytes of a block.

type Halves = (__m256i, __m256i);

#[inline(always)]
fn load(block: &[u8; BLOCK]) -> Halves {
    let start = block.as_ptr().cast::<__m256i>();
    // SAFETY: as above.
    unsafe { (_mm256_loadu_si256(start), _mm256_loadu_si256(start.add(1))) }
}

#[inline(always)]
fn bits((low, high): Halves) -> u64 {
    // SAFETY: as above.
    let (low, high) = unsafe { (_mm256_movemask_epi8(low), _mm256_movemask_epi8(high)) };
    u64::from(low.cast_unsigned()) | u64::from(high.cast_unsigned()) << 32
}

#[inline(always)]
fn equal((low, high): Halves, byte: u8) -> u64 {
    // SAFETY: as above.
    bits(unsafe {
        let wanted = _mm256_set1_epi8(byte.cast_signed());
        (_mm256_cmpeq_epi8(low, wanted), _mm256_cmpeq_epi8(high, wanted))
    })
}

/// Return a mask of the bytes that are less than a limit, compared as signed numbers.
#[inline(always)]
fn below((low, high): Halves, limit: i8) -> u64 {
    // SAFETY: as above.
    bits(unsafe {
        let limit = _mm256_set1_epi8(limit);
        (_mm256_cmpgt_epi8(limit, low), _mm256_cmpgt_epi8(limit, high))
    })
}

impl Lanes for Avx2 {
    /// A mask of the wrong quotes and escape letters, and the least byte of each lane. If the string is ASCII so far,
    /// bytes are compared as signed numbers: a non-ASCII byte is negative then, and so also less than a space.
    type Odd = (u64, __m256i);

    #[inline(always)]
    fn fetch(data: &[u8], at: usize) {
        prefetch_stream(data, at);
    }

    #[inline(always)]
    fn masks(block: &[u8; BLOCK]) -> Masks {
        let halves = load(block);
        Masks { quotes: equal(halves, b'"'), backslashes: equal(halves, b'\\'), others: below(halves, 0x20) }
    }

    #[inline(always)]
    fn others(block: &[u8; BLOCK]) -> Others {
        let halves = load(block);
        Others { high: bits(halves), continuations: below(halves, -64) }
    }

    // SAFETY: as above.
    const NOTHING_ODD: Self::Odd = (0, unsafe { std::mem::transmute::<[u8; BLOCK / 2], __m256i>([0x7F; BLOCK / 2]) });

    #[inline(always)]
    fn odd<const IS_ASCII: bool>((odd, least): Self::Odd, block: &[u8; BLOCK], letters: u64) -> Self::Odd {
        let (low, high) = load(block);
        let wrong = (equal((low, high), b'"') ^ letters) & !Self::among(block, &ESCAPABLE);
        // SAFETY: as above.
        let least = unsafe {
            if IS_ASCII {
                _mm256_min_epi8(least, _mm256_min_epi8(low, high))
            } else {
                _mm256_min_epu8(least, _mm256_min_epu8(low, high))
            }
        };
        (odd | wrong, least)
    }

    #[inline(always)]
    fn is_odd<const IS_ASCII: bool>((odd, least): Self::Odd) -> bool {
        // SAFETY: as above.
        unsafe {
            let space = _mm256_set1_epi8(0x20);
            let is_below = if IS_ASCII {
                _mm256_cmpgt_epi8(space, least)
            } else {
                _mm256_xor_si256(_mm256_cmpeq_epi8(_mm256_max_epu8(least, space), least), _mm256_set1_epi8(-1))
            };
            odd != 0 || _mm256_movemask_epi8(is_below) != 0
        }
    }

    #[inline(always)]
    fn equal(block: &[u8; BLOCK], byte: u8) -> u64 {
        equal(load(block), byte)
    }

    #[inline(always)]
    fn between(block: &[u8; BLOCK], first: u8, last: u8) -> u64 {
        let (low, high) = load(block);
        // SAFETY: as above.
        bits(unsafe {
            // A byte is in the range if its distance from `first` is at most that of `last`. The subtraction wraps, so
            // lesser bytes are far away.
            let (first, most) = (_mm256_set1_epi8(first.cast_signed()), _mm256_set1_epi8((last - first).cast_signed()));
            let is_within = |half| {
                let above = _mm256_sub_epi8(half, first);
                _mm256_cmpeq_epi8(_mm256_min_epu8(above, most), above)
            };
            (is_within(low), is_within(high))
        })
    }

    #[inline(always)]
    fn among(block: &[u8; BLOCK], table: &[u8; 16]) -> u64 {
        let (low, high) = load(block);
        // SAFETY: as above.
        bits(unsafe {
            let table = _mm256_broadcastsi128_si256(_mm_loadu_si128(table.as_ptr().cast::<__m128i>()));
            let is_in_table = |half| _mm256_cmpeq_epi8(_mm256_shuffle_epi8(table, half), half);
            (is_in_table(low), is_in_table(high))
        })
    }

    #[inline(always)]
    fn unescape(from: (&[u8], usize), escapes: (u64, u64), to: (&mut [u8], usize)) -> usize {
        copy_between(from, escapes, to)
    }
}
