//! Masks with AVX-512 instructions, 64 bytes at a time.

#![allow(unsafe_code)] // vector instructions
#![allow(clippy::cast_ptr_alignment)] // their loads need no alignment

use std::arch::asm;
use std::arch::x86_64::{
    __m128i, __m512i, _mm_loadu_si128, _mm512_broadcast_i32x4, _mm512_cmpeq_epi8_mask, _mm512_cmple_epu8_mask,
    _mm512_cmplt_epi8_mask, _mm512_loadu_si512, _mm512_mask_add_epi8, _mm512_mask_mov_epi8, _mm512_maskz_compress_epi8,
    _mm512_min_epu8, _mm512_movepi8_mask, _mm512_or_si512, _mm512_permutex2var_epi8, _mm512_set1_epi8,
    _mm512_shuffle_epi8, _mm512_storeu_si512, _mm512_sub_epi8,
};

use super::Avx512;
use crate::simd::{BLOCK, ESCAPES, Lanes, Masks, Others, prefetch_stream};

// SAFETY, for all below: only code that `dispatch` runs gets these lanes, on processors that have their instructions;
// loads read the 64 bytes of a block.

#[inline(always)]
fn load(block: &[u8; BLOCK]) -> __m512i {
    // SAFETY: as above.
    unsafe { _mm512_loadu_si512(block.as_ptr().cast::<__m512i>()) }
}

#[inline(always)]
fn equal(bytes: __m512i, byte: u8) -> u64 {
    // SAFETY: as above.
    unsafe { moved(_mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(byte.cast_signed()))) }
}

/// Move a mask to a general register. Otherwise the compiler does arithmetic on mask registers, where the processor
/// completes only one operation per cycle.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn moved(mask: u64) -> u64 {
    let bits;
    // SAFETY: it copies one register to another.
    unsafe { asm!("kmovq {}, {}", out(reg) bits, in(kreg) mask, options(pure, nomem, nostack, preserves_flags)) };
    bits
}

/// Return a mask of the bytes that are less than a limit, compared as signed numbers.
#[inline(always)]
fn below(bytes: __m512i, limit: i8) -> u64 {
    // SAFETY: as above.
    unsafe { _mm512_cmplt_epi8_mask(bytes, _mm512_set1_epi8(limit)) }
}

/// A number for each ASCII byte. Its highest bit is set if the byte is odd outside an escape. After adding 0x40, the
/// highest bit is set if the byte is odd as the letter of an escape.
static ODD: [u8; 128] = table!(128, byte => match byte {
    b'"' => 0xC0,
    0..0x20 => 0x80,
    b'n' | b't' | b'r' | b'f' | b'/' | b'\\' => 0, // the letters in `ESCAPABLE`
    _ => 0x40,
});

impl Lanes for Avx512 {
    /// The highest bit of each lane is set if an odd byte was seen there.
    type Odd = __m512i;

    #[inline(always)]
    fn fetch(data: &[u8], at: usize) {
        prefetch_stream(data, at);
    }

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

    // SAFETY: as above.
    const NOTHING_ODD: __m512i = unsafe { std::mem::transmute::<[u8; BLOCK], __m512i>([0; BLOCK]) };

    #[inline(always)]
    fn odd<const IS_ASCII: bool>(odd: __m512i, block: &[u8; BLOCK], letters: u64) -> __m512i {
        let bytes = load(block);
        let start = ODD.as_ptr().cast::<__m512i>();
        // SAFETY: as above; the table has 128 bytes.
        unsafe {
            // A non-ASCII byte gets the entry of 0x7F. If none is expected, the OR below makes it odd.
            let index = if IS_ASCII { bytes } else { _mm512_min_epu8(bytes, _mm512_set1_epi8(0x7F)) };
            let kind = _mm512_permutex2var_epi8(_mm512_loadu_si512(start), index, _mm512_loadu_si512(start.add(1)));
            let own = _mm512_mask_add_epi8(kind, letters, kind, _mm512_set1_epi8(0x40));
            let own = _mm512_or_si512(odd, own);
            if IS_ASCII { _mm512_or_si512(own, bytes) } else { own }
        }
    }

    #[inline(always)]
    fn is_odd<const IS_ASCII: bool>(odd: __m512i) -> bool {
        // SAFETY: as above.
        unsafe { _mm512_movepi8_mask(odd) != 0 }
    }

    #[inline(always)]
    fn equal(block: &[u8; BLOCK], byte: u8) -> u64 {
        equal(load(block), byte)
    }

    #[inline(always)]
    fn between(block: &[u8; BLOCK], first: u8, last: u8) -> u64 {
        let bytes = load(block);
        // SAFETY: as above.
        unsafe {
            let above = _mm512_sub_epi8(bytes, _mm512_set1_epi8(first.cast_signed()));
            _mm512_cmple_epu8_mask(above, _mm512_set1_epi8((last - first).cast_signed()))
        }
    }

    #[inline(always)]
    fn among(block: &[u8; BLOCK], table: &[u8; 16]) -> u64 {
        let bytes = load(block);
        // SAFETY: as above.
        unsafe {
            let table = _mm512_broadcast_i32x4(_mm_loadu_si128(table.as_ptr().cast::<__m128i>()));
            moved(_mm512_cmpeq_epi8_mask(_mm512_shuffle_epi8(table, bytes), bytes))
        }
    }

    #[inline(always)]
    fn unescape((from, at): (&[u8], usize), (removed, letters): (u64, u64), (to, place): (&mut [u8], usize)) -> usize {
        let block = from.get(at..).and_then(|rest| rest.first_chunk::<BLOCK>());
        let room = to.get_mut(place..).and_then(|rest| rest.first_chunk_mut::<BLOCK>());
        let (Some(block), Some(room)) = (block, room) else { return 0 };
        let bytes = load(block);
        let start = ESCAPES.as_ptr().cast::<__m512i>();
        // SAFETY: as above; the table has 256 bytes, and the letters of escapes are ASCII, so its first 128 are enough.
        unsafe {
            let meant = _mm512_permutex2var_epi8(_mm512_loadu_si512(start), bytes, _mm512_loadu_si512(start.add(1)));
            let unescaped = _mm512_mask_mov_epi8(bytes, letters, meant);
            let kept = _mm512_maskz_compress_epi8(!removed, unescaped);
            _mm512_storeu_si512(room.as_mut_ptr().cast::<__m512i>(), kept);
        }
        BLOCK - removed.count_ones() as usize
    }
}
