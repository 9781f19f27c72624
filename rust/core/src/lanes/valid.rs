//! Whether bytes are UTF-8, by AVX-512, 64 at once.
//!
//! Which bytes may go on with a character is told by the three before each: whether one of them begins a character that is
//! long enough. What may stand right behind its first byte is looked up, by the lower six bits of both.

#![allow(unsafe_code)] // vector instructions
#![allow(clippy::cast_ptr_alignment)] // their loads need no alignment

use std::arch::x86_64::{
    __m512i, _mm512_cmpge_epu8_mask, _mm512_cmplt_epi8_mask, _mm512_loadu_si512, _mm512_mask_testn_epi8_mask,
    _mm512_movepi8_mask, _mm512_or_si512, _mm512_permutexvar_epi8, _mm512_set1_epi8, _mm512_setzero_si512,
};

use super::BLOCK;

/// So many bytes before a block tell what may stand in it.
const BEFORE: usize = 3;

/// So many blocks are passed at once where they are ASCII.
const GROUP: usize = 4;

/// [`Lanes::is_utf8`](super::Lanes::is_utf8).
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
pub(super) fn is_utf8(bytes: &[u8]) -> bool {
    // Zeros before the beginning and behind the end go on with nothing.
    let mut padded = [0; BEFORE + BLOCK];
    padded.iter_mut().skip(BEFORE).zip(bytes).for_each(|(own, byte)| *own = *byte);
    let mut wrong = wrong_in(&padded);
    let mut rest = bytes.get(BLOCK - BEFORE..).unwrap_or_default();
    while let Some(group) = rest.first_chunk::<{ BEFORE + GROUP * BLOCK }>() {
        if !is_ascii(group) {
            let windows = (0..GROUP).filter_map(|number| group.get(number * BLOCK..)?.first_chunk());
            wrong = windows.fold(wrong, |wrong, window| wrong | wrong_in(window));
        }
        rest = rest.get(GROUP * BLOCK..).unwrap_or_default();
    }
    while rest.len() >= BEFORE {
        let window = rest.first_chunk().unwrap_or_else(|| {
            padded = [0; BEFORE + BLOCK];
            padded.iter_mut().zip(rest).for_each(|(own, byte)| *own = *byte);
            &padded
        });
        wrong |= wrong_in(window);
        rest = rest.get(BLOCK..).unwrap_or_default();
    }
    wrong == 0
}

/// Whether all bytes of a group are ASCII, and those before it.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn is_ascii(group: &[u8; BEFORE + GROUP * BLOCK]) -> bool {
    // SAFETY: from each of these places on there are 64.
    let bytes = [0, BEFORE, BEFORE + BLOCK, BEFORE + 2 * BLOCK, BEFORE + 3 * BLOCK]
        .map(|from| unsafe { _mm512_loadu_si512(group.as_ptr().add(from).cast::<__m512i>()) });
    let all = bytes.into_iter().fold(_mm512_setzero_si512(), |all, bytes| _mm512_or_si512(all, bytes));
    _mm512_movepi8_mask(all) == 0
}

/// The bytes of a block that may not stand where they do, by those before them.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn wrong_in(window: &[u8; BEFORE + BLOCK]) -> u64 {
    // SAFETY: from each of the first four bytes on there are 64.
    let [third, second, first, own] =
        [0, 1, 2, 3].map(|from| unsafe { _mm512_loadu_si512(window.as_ptr().add(from).cast::<__m512i>()) });
    let is_from = |bytes, least: u8| _mm512_cmpge_epu8_mask(bytes, _mm512_set1_epi8(least.cast_signed()));
    let behind_first = is_from(first, 0xC0);
    let goes_on = behind_first | is_from(second, 0xE0) | is_from(third, 0xF0);
    let continuations = _mm512_cmplt_epi8_mask(own, _mm512_set1_epi8(-64));
    // SAFETY: the tables have 64 bytes.
    let [followers, ranges] =
        [&FOLLOWERS, &RANGES].map(|table| unsafe { _mm512_loadu_si512(table.as_ptr().cast::<__m512i>()) });
    let allowed = _mm512_permutexvar_epi8(first, followers);
    let range = _mm512_permutexvar_epi8(own, ranges);
    (goes_on ^ continuations) | _mm512_mask_testn_epi8_mask(behind_first, allowed, range)
}

const TO_8F: u8 = 1;
const TO_9F: u8 = 2;
const TO_BF: u8 = 4;
const ANY: u8 = TO_8F | TO_9F | TO_BF;
/// What begins no character, or what begins one that is written in fewer bytes.
const NONE: u8 = 0;

/// By the lower six bits of a character's first byte, the ranges of the byte behind it.
#[rustfmt::skip]
static FOLLOWERS: [[u8; 16]; 4] = [
    [NONE, NONE, ANY, ANY, ANY, ANY, ANY, ANY, ANY, ANY, ANY, ANY, ANY, ANY, ANY, ANY],
    [ANY; 16],
    // Behind E0 the rest is written in fewer bytes, behind ED there are surrogates.
    [TO_BF, ANY, ANY, ANY, ANY, ANY, ANY, ANY, ANY, ANY, ANY, ANY, ANY, TO_8F | TO_9F, ANY, ANY],
    // Behind F0 the rest is written in fewer bytes, behind F4 there is no character any more.
    [TO_9F | TO_BF, ANY, ANY, ANY, TO_8F, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE],
];

/// By the lower six bits of a byte that goes on with a character, its range.
static RANGES: [[u8; 16]; 4] = [[TO_8F; 16], [TO_9F; 16], [TO_BF; 16], [TO_BF; 16]];
