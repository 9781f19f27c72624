//! Bytes as bit masks, 64 at a time: the one place with vector instructions, and the same without.
//!
//! Bit `n` of a mask speaks of byte `n` of the block. Which implementation runs is decided once a scan, by
//! [`dispatch`]; all are tested to be equal.

#![allow(unsafe_code)] // vector instructions

/// A table of so many bytes: for each number of its places, what is said of it.
macro_rules! table {
    ($size:expr, $byte:ident => $number:expr) => {{
        let mut table = [0; $size];
        let mut rest: &mut [u8] = &mut table;
        let mut $byte = 0_u8;
        while let Some((own, others)) = rest.split_first_mut() {
            *own = $number;
            rest = others;
            $byte = $byte.wrapping_add(1);
        }
        table
    }};
}

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod escapes;
mod scalar;

#[cfg(target_arch = "x86_64")]
use std::sync::LazyLock;

pub(crate) use self::escapes::{ESCAPES, copy_block, find_escaped};
pub(crate) use self::scalar::Scalar;

pub(crate) const BLOCK: usize = 64;

/// What the end of a string, and what is wrong with it, is found by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Masks {
    pub(crate) quotes: u64,
    pub(crate) backslashes: u64,
    /// Bytes that are no printable ASCII: controls below U+0020, which may not stand in a string, and parts of
    /// characters that are not ASCII.
    pub(crate) others: u64,
}

/// What is asked of the bytes that are no printable ASCII.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Others {
    /// Bytes of characters that are not ASCII.
    pub(crate) high: u64,
    /// Those of them that don't begin a character.
    pub(crate) continuations: u64,
}

/// A way to make masks of a block.
pub(crate) trait Lanes {
    /// True if masks take less time than one look at each byte.
    const ARE_WIDE: bool = true;
    /// What is odd in some blocks of a string.
    type Odd: Copy;
    /// Ask for the memory at an offset, which may lie behind the end, to be there soon.
    fn fetch(data: &[u8], at: usize);
    fn masks(block: &[u8; BLOCK]) -> Masks;
    fn others(block: &[u8; BLOCK]) -> Others;
    const NOTHING_ODD: Self::Odd;
    /// With what is odd in one block more, of whose bytes these are letters of escapes: a quote that is none, a letter
    /// that is neither a quote nor [`ESCAPABLE`], a control, and what is no ASCII where all is expected to be.
    fn odd<const IS_ASCII: bool>(odd: Self::Odd, block: &[u8; BLOCK], letters: u64) -> Self::Odd;
    fn is_odd<const IS_ASCII: bool>(odd: Self::Odd) -> bool;
    /// The bytes that are this one.
    fn equal(block: &[u8; BLOCK], byte: u8) -> u64;
    /// The bytes from one to another, both of ASCII.
    fn between(block: &[u8; BLOCK], first: u8, last: u8) -> u64;
    /// The bytes that stand in a table at the place of their low half.
    fn among(block: &[u8; BLOCK], table: &[u8; 16]) -> u64;
    /// Write the block at an offset of some data to a place in some room, without the backslashes that are removed, and
    /// with what they mean in place of the letters behind them; how many bytes. Behind those, up to a block more may be
    /// overwritten.
    fn unescape(from: (&[u8], usize), escapes: (u64, u64), to: (&mut [u8], usize)) -> usize;
}

/// For each low half of a byte, the one that may stand behind a backslash: but for a quote, and for `b` and `u`, which are
/// rare. None stands at the first place, where zeros look.
pub(crate) const ESCAPABLE: [u8; 16] = [0xFF, 0, b'r', 0, b't', 0, b'f', 0, 0, 0, 0, 0, b'\\', 0, b'n', b'/'];

/// 32 bytes at once.
#[cfg(target_arch = "x86_64")]
pub(crate) struct Avx2;

/// 64 bytes at once.
#[cfg(target_arch = "x86_64")]
pub(crate) struct Avx512;

/// Ask for the memory of an element, which may lie behind the end, to be there soon, where the processor can be asked.
#[inline(always)]
#[cfg_attr(not(target_arch = "x86_64"), expect(unused_variables))]
pub(crate) fn prefetch<T>(data: &[T], at: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: an instruction of every x86-64; it is a hint, which no address makes fail.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(data.as_ptr().wrapping_add(at).cast()) };
    }
}

/// The same for what is read from one end to the other: into the second cache, from where the processor takes it by
/// itself. More of it can be on its way at once than to the first.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn prefetch_stream(data: &[u8], at: usize) {
    use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
    // SAFETY: as above.
    unsafe { _mm_prefetch::<_MM_HINT_T1>(data.as_ptr().wrapping_add(at).cast()) };
}

/// The block at an offset; at the end it is a copy, filled up with zeros, which no string may hold.
#[inline(always)]
pub(crate) fn block_at<'b>(data: &'b [u8], at: usize, padded: &'b mut [u8; BLOCK]) -> &'b [u8; BLOCK] {
    match data.get(at..).and_then(|rest| rest.first_chunk()) {
        Some(block) => block,
        None => pad(data.get(at..).unwrap_or_default(), padded),
    }
}

#[inline(never)]
fn pad<'b>(rest: &[u8], padded: &'b mut [u8; BLOCK]) -> &'b [u8; BLOCK] {
    *padded = [0; BLOCK];
    for (to, from) in padded.iter_mut().zip(rest) {
        *to = *from;
    }
    padded
}

/// Work that can be done with any lanes.
pub(crate) trait Work {
    type Done;
    fn run<L: Lanes>(self) -> Self::Done;
}

/// Do the work with the best lanes that this processor has.
pub(crate) fn dispatch<W: Work>(work: W) -> W::Done {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
        fn run_avx512<W: Work>(work: W) -> W::Done {
            work.run::<Avx512>()
        }
        #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
        fn run_avx2<W: Work>(work: W) -> W::Done {
            work.run::<Avx2>()
        }
        match *WIDEST {
            // SAFETY: the processor has what the function is compiled for.
            Widest::Avx512 => return unsafe { run_avx512(work) },
            // SAFETY: the processor has what the function is compiled for.
            Widest::Avx2 => return unsafe { run_avx2(work) },
            Widest::Scalar => {}
        }
    }
    work.run::<Scalar>()
}

/// Return whether all bytes are ASCII.
pub(crate) fn is_ascii(bytes: &[u8]) -> bool {
    struct Looking<'b>(&'b [u8]);
    impl Work for Looking<'_> {
        type Done = bool;

        #[inline(always)]
        fn run<L: Lanes>(self) -> bool {
            self.0.chunks(16 * BLOCK).all(|stretch| stretch.iter().fold(0, |bits, byte| bits | byte) < 0x80)
        }
    }
    // What is short is known before it would be decided who looks at it.
    if bytes.len() < 2 * BLOCK { bytes.is_ascii() } else { dispatch(Looking(bytes)) }
}

/// The best lanes that a processor has.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug)]
enum Widest {
    Avx512,
    Avx2,
    Scalar,
}

/// Asked once: work may take less time than to ask for each of the features.
#[cfg(target_arch = "x86_64")]
static WIDEST: LazyLock<Widest> = LazyLock::new(|| match () {
    () if has_avx512() => Widest::Avx512,
    () if has_avx2() => Widest::Avx2,
    () => Widest::Scalar,
});

#[cfg(target_arch = "x86_64")]
fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("popcnt")
}

#[cfg(target_arch = "x86_64")]
fn has_avx512() -> bool {
    has_avx2()
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vbmi")
        && is_x86_feature_detected!("avx512vbmi2")
}

#[cfg(test)]
mod tests;
