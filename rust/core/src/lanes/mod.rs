//! Bytes as bit masks, 64 at a time: the one place with vector instructions, and its twin without.
//!
//! Bit `n` of a mask speaks of byte `n` of the block. Which implementation runs is decided once a scan, by
//! [`dispatch`]; the two are tested to be equal.

#![allow(unsafe_code)] // vector instructions

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
    fn masks(block: &[u8; BLOCK]) -> Masks;
    fn others(block: &[u8; BLOCK]) -> Others;
    /// The backslashes alone.
    fn backslashes(block: &[u8; BLOCK]) -> u64;
    /// Tabs and newlines.
    fn breaks(block: &[u8; BLOCK]) -> u64;
    /// The control U+007F.
    fn deletes(block: &[u8; BLOCK]) -> u64;
    /// What may stand behind a backslash, but for a quote, and for `b` and `u`, which are rare.
    fn escapable(block: &[u8; BLOCK]) -> u64;
}

/// For each low half of a byte, the one byte that [`Lanes::escapable`] finds.
const ESCAPABLE: [u8; 16] = [0xFF, 0, b'r', 0, b't', 0, b'f', 0, 0, 0, 0, 0, b'\\', 0, b'n', b'/'];

/// One byte after the other.
pub(crate) struct Scalar;

fn mask_of(block: &[u8; BLOCK], is_wanted: impl Fn(u8) -> bool) -> u64 {
    block.iter().rev().fold(0, |mask, byte| mask << 1 | u64::from(is_wanted(*byte)))
}

impl Lanes for Scalar {
    fn masks(block: &[u8; BLOCK]) -> Masks {
        Masks {
            quotes: mask_of(block, |byte| byte == b'"'),
            backslashes: Self::backslashes(block),
            others: mask_of(block, |byte| !(0x20..0x80).contains(&byte)),
        }
    }

    fn others(block: &[u8; BLOCK]) -> Others {
        Others { high: mask_of(block, |byte| byte >= 0x80), continuations: mask_of(block, |byte| byte & 0xC0 == 0x80) }
    }

    fn backslashes(block: &[u8; BLOCK]) -> u64 {
        mask_of(block, |byte| byte == b'\\')
    }

    fn breaks(block: &[u8; BLOCK]) -> u64 {
        mask_of(block, |byte| matches!(byte, b'\t' | b'\n'))
    }

    fn deletes(block: &[u8; BLOCK]) -> u64 {
        mask_of(block, |byte| byte == 0x7F)
    }

    fn escapable(block: &[u8; BLOCK]) -> u64 {
        mask_of(block, |byte| matches!(byte, b'r' | b't' | b'f' | b'\\' | b'n' | b'/'))
    }
}

/// 32 bytes at once.
#[cfg(target_arch = "x86_64")]
pub(crate) struct Avx2;

/// 64 bytes at once.
#[cfg(target_arch = "x86_64")]
pub(crate) struct Avx512;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;

/// The block at an offset; at the end it is a copy, filled up with zeros, which no string may hold.
#[inline(always)]
pub(crate) fn block_at<'b>(data: &'b [u8], at: usize, padded: &'b mut [u8; BLOCK]) -> &'b [u8; BLOCK] {
    let rest = data.get(at..).unwrap_or_default();
    match rest.first_chunk() {
        Some(block) => block,
        None => pad(rest, padded),
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
        #[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt,popcnt")]
        fn run_avx512<W: Work>(work: W) -> W::Done {
            work.run::<Avx512>()
        }
        #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
        fn run_avx2<W: Work>(work: W) -> W::Done {
            work.run::<Avx2>()
        }
        if has_avx512() {
            // SAFETY: the processor has what the function is compiled for.
            return unsafe { run_avx512(work) };
        }
        if has_avx2() {
            // SAFETY: the processor has what the function is compiled for.
            return unsafe { run_avx2(work) };
        }
    }
    work.run::<Scalar>()
}

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
    has_avx2() && is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw")
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::{Avx2, Avx512, BLOCK, Lanes, Scalar, has_avx2, has_avx512};

    /// Blocks of seeded noise, and of every byte alone.
    fn blocks() -> impl Iterator<Item = [u8; BLOCK]> {
        let mut state = 20_261_121_u64;
        let noise = (0..2_000).map(move |_| {
            [(); BLOCK].map(|()| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                state.to_le_bytes()[6]
            })
        });
        noise.chain((0..=255).map(|byte| [byte; BLOCK]))
    }

    fn check<L: Lanes>() {
        for block in blocks() {
            assert_eq!(L::masks(&block), Scalar::masks(&block));
            assert_eq!(L::others(&block), Scalar::others(&block));
            assert_eq!(L::backslashes(&block), Scalar::backslashes(&block));
            assert_eq!(L::breaks(&block), Scalar::breaks(&block));
            assert_eq!(L::deletes(&block), Scalar::deletes(&block));
            assert_eq!(L::escapable(&block), Scalar::escapable(&block));
        }
    }

    #[test]
    fn the_twins_agree() {
        if has_avx2() {
            check::<Avx2>();
        }
        if has_avx512() {
            check::<Avx512>();
        }
    }
}
