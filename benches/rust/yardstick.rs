//! The minimal work of a JSON scan, for comparison: find the strings and count the brackets, nothing else.
//! `benches/compare/body.py` builds this with `rustc` and calls it in the same rounds as the measured functions.

use std::arch::x86_64::{__m256i, _mm256_cmpeq_epi8, _mm256_loadu_si256, _mm256_movemask_epi8, _mm256_or_si256, _mm256_set1_epi8, _mm_clmulepi64_si128, _mm_cvtsi128_si64, _mm_set1_epi8, _mm_set_epi64x};

const ODD: u64 = 0xAAAA_AAAA_AAAA_AAAA;

/// Count the quotes and the brackets of JSON outside strings; 0 if the processor lacks the instructions.
///
/// # Safety
///
/// `data` must point to `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn count_structure(data: *const u8, size: usize) -> u64 {
    if !is_x86_feature_detected!("avx2") || !is_x86_feature_detected!("pclmulqdq") {
        return 0;
    }
    // SAFETY: the caller guarantees the size, and the processor has the instructions.
    unsafe { count(std::slice::from_raw_parts(data, size)) }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,pclmulqdq")]
fn count(data: &[u8]) -> u64 {
    let (mut is_escaped, mut is_inside, mut found) = (0_u64, 0_u64, 0_u64);
    for block in data.chunks_exact(64) {
        // SAFETY: two loads of 32 bytes each, from a block of 64.
        let (low, high) = unsafe {
            let start = block.as_ptr().cast::<__m256i>();
            (_mm256_loadu_si256(start), _mm256_loadu_si256(start.add(1)))
        };
        let bits = |low: __m256i, high: __m256i| {
            u64::from(_mm256_movemask_epi8(low).cast_unsigned())
                | u64::from(_mm256_movemask_epi8(high).cast_unsigned()) << 32
        };
        let equal = |byte: u8| {
            let wanted = _mm256_set1_epi8(byte.cast_signed());
            bits(_mm256_cmpeq_epi8(low, wanted), _mm256_cmpeq_epi8(high, wanted))
        };
        let backslashes = equal(b'\\');
        let starting = backslashes & !is_escaped;
        let codes = (starting << 1 | ODD).wrapping_sub(starting) ^ ODD;
        let escaped = codes ^ (backslashes | is_escaped);
        is_escaped = (codes & backslashes) >> 63;
        let quotes = equal(b'"') & !escaped;
        let product = _mm_clmulepi64_si128(_mm_set_epi64x(0, quotes.cast_signed()), _mm_set1_epi8(-1), 0);
        let inside = _mm_cvtsi128_si64(product).cast_unsigned() ^ is_inside;
        is_inside = (inside.cast_signed() >> 63).cast_unsigned();
        let fold = _mm256_set1_epi8(0x20);
        let is_brace = |half: __m256i| {
            let folded = _mm256_or_si256(half, fold); // brackets become braces
            let open = _mm256_cmpeq_epi8(folded, _mm256_set1_epi8(b'{'.cast_signed()));
            _mm256_or_si256(open, _mm256_cmpeq_epi8(folded, _mm256_set1_epi8(b'}'.cast_signed())))
        };
        let braces = bits(is_brace(low), is_brace(high)) & !inside;
        found += u64::from(braces.count_ones() + quotes.count_ones());
    }
    found
}
