//! Bit masks of blocks of 64 bytes, with vector instructions and without. No other module uses vector instructions.
//!
//! Bit `n` of a mask is about byte `n` of the block. [`dispatch`] chooses the implementation once per piece of work,
//! and the tests check that all implementations agree.

#![allow(unsafe_code)] // vector instructions

/// Build a table of `$size` bytes: the entry at index `$byte` is `$number`.
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

mod dispatch;
mod escapes;
mod quarters;
mod scalar;

pub(crate) use self::dispatch::dispatch;
pub(crate) use self::escapes::{ESCAPES, copy_block, find_escaped};
#[cfg(test)]
pub(crate) use self::quarters::Quarters;
pub(crate) use self::scalar::Scalar;

pub(crate) const BLOCK: usize = 64;

/// The masks that show where a string ends, and whether it holds a wrong byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Masks {
    pub(crate) quotes: u64,
    pub(crate) backslashes: u64,
    /// Bytes that are not printable ASCII: controls below U+0020, which a JSON string may not contain, and bytes of
    /// non-ASCII characters.
    pub(crate) others: u64,
}

/// The masks that classify the bytes in [`Masks::others`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Others {
    /// Bytes of non-ASCII characters.
    pub(crate) high: u64,
    /// Bytes of `high` that don't begin a character.
    pub(crate) continuations: u64,
}

/// An implementation of the operations on blocks.
pub(crate) trait Lanes {
    /// True if making a mask takes less time than a look at each byte.
    const ARE_WIDE: bool = true;
    /// The state of a check for odd bytes in several blocks of a string.
    type Odd: Copy;
    /// Prefetch the memory at an offset, which may be past the end.
    fn fetch(data: &[u8], at: usize);
    fn masks(block: &[u8; BLOCK]) -> Masks;
    fn others(block: &[u8; BLOCK]) -> Others;
    const NOTHING_ODD: Self::Odd;
    /// Add a block to the check; `letters` are the bytes that follow an escaping backslash. Odd bytes are a quote that
    /// is not such a letter, a letter that is neither a quote nor [`ESCAPABLE`], a control, and, if `IS_ASCII`, a
    /// non-ASCII byte.
    fn odd<const IS_ASCII: bool>(odd: Self::Odd, block: &[u8; BLOCK], letters: u64) -> Self::Odd;
    fn is_odd<const IS_ASCII: bool>(odd: Self::Odd) -> bool;
    /// Return a mask of the bytes that equal `byte`.
    fn equal(block: &[u8; BLOCK], byte: u8) -> u64;
    /// Return a mask of the bytes from `first` to `last`, which are ASCII.
    fn between(block: &[u8; BLOCK], first: u8, last: u8) -> u64;
    /// Return a mask of the bytes that the table holds at the index of their low four bits.
    fn among(block: &[u8; BLOCK], table: &[u8; 16]) -> u64;
    /// Decode the escapes of the block at an offset of `from`, write it at an offset of `to`, and return the number of
    /// bytes written. `escapes` are the backslashes to remove, and the letters after them, which are replaced by the
    /// characters that they stand for. Up to a block after the written bytes may be overwritten.
    fn unescape(from: (&[u8], usize), escapes: (u64, u64), to: (&mut [u8], usize)) -> usize;
}

/// The letters that may follow a backslash, each at the index of its low four bits. The quote is missing, and so are
/// `b` and `u`, which are rare. The first entry equals no byte with these low bits, so that a zero does not match.
pub(crate) const ESCAPABLE: [u8; 16] = [0xFF, 0, b'r', 0, b't', 0, b'f', 0, 0, 0, 0, 0, b'\\', 0, b'n', b'/'];

/// Prefetch the memory of an element, which may be past the end. Does nothing on other processors than x86-64.
#[inline(always)]
#[cfg_attr(not(target_arch = "x86_64"), expect(unused_variables))]
pub(crate) fn prefetch<T>(data: &[T], at: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: every x86-64 has this instruction; it is a hint that no address makes fail.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(data.as_ptr().wrapping_add(at).cast()) };
    }
}

/// Prefetch data that is read from one end to the other into the second-level cache. The processor itself moves it on
/// to the first level, and more requests can be pending than with the first level as target.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn prefetch_stream(data: &[u8], at: usize) {
    use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
    // SAFETY: as above.
    unsafe { _mm_prefetch::<_MM_HINT_T1>(data.as_ptr().wrapping_add(at).cast()) };
}

/// Return the block at an offset. The last block is a copy, padded with zeros, which no string may contain.
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

/// A piece of work that runs with any [`Lanes`].
pub(crate) trait Work {
    type Done;
    fn run<L: Lanes>(self) -> Self::Done;
}

/// Return true if all bytes are ASCII.
pub(crate) fn is_ascii(bytes: &[u8]) -> bool {
    struct Looking<'b>(&'b [u8]);
    impl Work for Looking<'_> {
        type Done = bool;

        #[inline(always)]
        fn run<L: Lanes>(self) -> bool {
            self.0.chunks(16 * BLOCK).all(|stretch| stretch.iter().fold(0, |bits, byte| bits | byte) < 0x80)
        }
    }
    // For short input, the check takes less time than the dispatch.
    if bytes.len() < 2 * BLOCK { bytes.is_ascii() } else { dispatch(Looking(bytes)) }
}
