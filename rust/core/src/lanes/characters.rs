//! Characters of UTF-8 by AVX-512, 16 at once: the code points of bytes, and the bytes of code points.

#![allow(unsafe_code)] // vector instructions
#![allow(clippy::cast_ptr_alignment)] // their loads need no alignment

use std::arch::x86_64::{
    __m128i, __m512i, _mm512_add_epi32, _mm512_and_si512, _mm512_broadcast_i32x4, _mm512_castsi512_si128,
    _mm512_cmpeq_epi32_mask, _mm512_cmpge_epi8_mask, _mm512_cmpge_epi32_mask, _mm512_cvtepu8_epi32, _mm512_loadu_si512,
    _mm512_mask_mov_epi32, _mm512_maskz_compress_epi8, _mm512_or_si512, _mm512_permutexvar_epi8, _mm512_set1_epi8,
    _mm512_set1_epi32, _mm512_shuffle_epi8, _mm512_slli_epi32, _mm512_srlv_epi32, _mm512_storeu_si512,
    _mm512_test_epi8_mask, _pdep_u64,
};

use super::{BLOCK, CHARACTERS};

/// For each code point, the four bytes from where it begins.
const FOUR_BYTES: i32 = i32::from_le_bytes([0, 1, 2, 3]);

/// The first byte of each four, four times. (A multiplication would do, but slows the processor down for all that follows.)
// SAFETY: any 16 bytes are a vector.
const FIRST_OF_FOUR: __m128i = unsafe { std::mem::transmute([0_u8, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12]) };

/// [`Lanes::decode`](super::Lanes::decode).
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
pub(super) fn decode(block: &[u8; BLOCK], room: &mut [u32; CHARACTERS]) -> (usize, usize) {
    // SAFETY: a block has 64 bytes.
    let bytes = unsafe { _mm512_loadu_si512(block.as_ptr().cast::<__m512i>()) };
    let begins = _mm512_cmpge_epi8_mask(bytes, _mm512_set1_epi8(-64));
    // SAFETY: the table has 64 bytes.
    let places = unsafe { _mm512_loadu_si512(PLACES.as_ptr().cast::<__m512i>()) };
    let starts = _mm512_cvtepu8_epi32(_mm512_castsi512_si128(_mm512_maskz_compress_epi8(begins, places)));
    let four = _mm512_shuffle_epi8(starts, _mm512_broadcast_i32x4(FIRST_OF_FOUR));
    let wanted = _mm512_add_epi32(four, _mm512_set1_epi32(FOUR_BYTES));
    let written = _mm512_permutexvar_epi8(wanted, bytes);
    let first = _mm512_and_si512(written, _mm512_set1_epi32(0xFF));
    let tail = |shift: u32| {
        _mm512_and_si512(_mm512_srlv_epi32(written, _mm512_set1_epi32(shift.cast_signed())), _mm512_set1_epi32(0x3F))
    };
    let joined = |upper, lower| _mm512_or_si512(_mm512_slli_epi32::<6>(upper), lower);
    let head = |bits| _mm512_and_si512(first, _mm512_set1_epi32(bits));
    let (second, third, fourth) = (tail(8), tail(16), tail(24));
    let is_from = |least| _mm512_cmpge_epi32_mask(first, _mm512_set1_epi32(least));
    let two = joined(head(0x1F), second);
    let three = joined(joined(head(0x0F), second), third);
    let four = joined(joined(joined(head(0x07), second), third), fourth);
    let found = _mm512_mask_mov_epi32(first, is_from(0xC0), two);
    let found = _mm512_mask_mov_epi32(found, is_from(0xE0), three);
    let found = _mm512_mask_mov_epi32(found, is_from(0xF0), four);
    // SAFETY: there is room for 16.
    unsafe { _mm512_storeu_si512(room.as_mut_ptr().cast::<__m512i>(), found) };
    // Of a character at the end of the block there may be less than is needed.
    let count = ((begins & u64::MAX >> 3).count_ones() as usize).min(CHARACTERS);
    (count, _pdep_u64(1 << count, begins).trailing_zeros() as usize)
}

/// [`Lanes::encode`](super::Lanes::encode).
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,popcnt")]
pub(super) fn encode(code_points: &[u32; CHARACTERS], room: &mut [u8; BLOCK]) -> usize {
    // SAFETY: there are 16.
    let given = unsafe { _mm512_loadu_si512(code_points.as_ptr().cast::<__m512i>()) };
    let surrogates =
        _mm512_cmpeq_epi32_mask(_mm512_and_si512(given, _mm512_set1_epi32(!0x7FF)), _mm512_set1_epi32(0xD800));
    let given = _mm512_mask_mov_epi32(given, surrogates, _mm512_set1_epi32(0xFFFD));
    let is_from = |least| _mm512_cmpge_epi32_mask(given, _mm512_set1_epi32(least));
    let tail = |shift: u32| {
        let bits =
            _mm512_and_si512(_mm512_srlv_epi32(given, _mm512_set1_epi32(shift.cast_signed())), _mm512_set1_epi32(0x3F));
        _mm512_or_si512(bits, _mm512_set1_epi32(0x80))
    };
    let head = |shift: u32, mark| {
        _mm512_or_si512(_mm512_srlv_epi32(given, _mm512_set1_epi32(shift.cast_signed())), _mm512_set1_epi32(mark))
    };
    let behind = |bytes, rest| _mm512_or_si512(bytes, _mm512_slli_epi32::<8>(rest));
    let (last, later) = (tail(0), tail(6));
    let two = behind(head(6, 0xC0), last);
    let three = behind(head(12, 0xE0), behind(later, last));
    let four = behind(head(18, 0xF0), behind(tail(12), behind(later, last)));
    let (twos, threes, fours) = (is_from(0x80), is_from(0x800), is_from(0x1_0000));
    let written = _mm512_mask_mov_epi32(given, twos, two);
    let written = _mm512_mask_mov_epi32(written, threes, three);
    let written = _mm512_mask_mov_epi32(written, fours, four);
    // What is no first byte of a character is written if it is none of the zeros above its last byte.
    let kept = _mm512_test_epi8_mask(written, written) | FIRST_BYTES;
    // SAFETY: there is room for 64 bytes.
    unsafe { _mm512_storeu_si512(room.as_mut_ptr().cast::<__m512i>(), _mm512_maskz_compress_epi8(kept, written)) };
    kept.count_ones() as usize
}

/// The first byte of each code point's four.
const FIRST_BYTES: u64 = 0x1111_1111_1111_1111;

/// The numbers of a block's bytes.
static PLACES: [u8; BLOCK] = table!(BLOCK, place => place);
