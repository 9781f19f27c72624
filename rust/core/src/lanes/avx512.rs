//! Masks by AVX-512, 64 bytes at once.

#![allow(unsafe_code)] // vector instructions
#![allow(clippy::cast_ptr_alignment)] // their loads need no alignment

use std::arch::x86_64::{
    __m128i, __m512i, _mm_loadu_si128, _mm512_broadcast_i32x4, _mm512_cmpeq_epi8_mask, _mm512_cmplt_epi8_mask,
    _mm512_loadu_si512, _mm512_movepi8_mask, _mm512_set1_epi8, _mm512_shuffle_epi8,
};

use super::{Avx512, BLOCK, ESCAPABLE, Lanes, Masks, Others};

// SAFETY, for all below: these lanes are named only by code that `dispatch` runs, where the processor has what their
// instructions need; loads are of a block's 64 bytes.

#[inline(always)]
fn load(block: &[u8; BLOCK]) -> __m512i {
    // SAFETY: as above.
    unsafe { _mm512_loadu_si512(block.as_ptr().cast::<__m512i>()) }
}

#[inline(always)]
fn equal(bytes: __m512i, byte: u8) -> u64 {
    // SAFETY: as above.
    unsafe { _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(byte.cast_signed())) }
}

/// The bytes below a limit, as signed numbers.
#[inline(always)]
fn below(bytes: __m512i, limit: i8) -> u64 {
    // SAFETY: as above.
    unsafe { _mm512_cmplt_epi8_mask(bytes, _mm512_set1_epi8(limit)) }
}

impl Lanes for Avx512 {
    #[inline(always)]
    fn masks(block: &[u8; BLOCK]) -> Masks {
        let bytes = load(block);
        Masks { quotes: equal(bytes, b'"'), backslashes: equal(bytes, b'\\'), others: below(bytes, 0x20) }
    }

    #[inline(always)]
    fn others(block: &[u8; BLOCK]) -> Others {
        let bytes = load(block);
        // SAFETY: as above.
        Others { high: unsafe { _mm512_movepi8_mask(bytes) }, continuations: below(bytes, -64) }
    }

    #[inline(always)]
    fn backslashes(block: &[u8; BLOCK]) -> u64 {
        equal(load(block), b'\\')
    }

    #[inline(always)]
    fn breaks(block: &[u8; BLOCK]) -> u64 {
        let bytes = load(block);
        equal(bytes, b'\t') | equal(bytes, b'\n')
    }

    #[inline(always)]
    fn deletes(block: &[u8; BLOCK]) -> u64 {
        equal(load(block), 0x7F)
    }

    #[inline(always)]
    fn escapable(block: &[u8; BLOCK]) -> u64 {
        let bytes = load(block);
        // SAFETY: as above.
        unsafe {
            let table = _mm512_broadcast_i32x4(_mm_loadu_si128(ESCAPABLE.as_ptr().cast::<__m128i>()));
            _mm512_cmpeq_epi8_mask(_mm512_shuffle_epi8(table, bytes), bytes)
        }
    }
}
