//! Masks without vector instructions.

use super::escapes::copy_between;
use super::{BLOCK, ESCAPABLE, Lanes, Masks, Others};

/// The implementation that looks at one byte at a time.
pub(crate) struct Scalar;

fn mask_of(block: &[u8; BLOCK], is_wanted: impl Fn(u8) -> bool) -> u64 {
    block.iter().rev().fold(0, |mask, byte| mask << 1 | u64::from(is_wanted(*byte)))
}

impl Lanes for Scalar {
    const ARE_WIDE: bool = false;
    type Odd = bool;

    fn fetch(_: &[u8], _: usize) {}

    fn masks(block: &[u8; BLOCK]) -> Masks {
        Masks {
            quotes: mask_of(block, |byte| byte == b'"'),
            backslashes: Self::equal(block, b'\\'),
            others: mask_of(block, |byte| !(0x20..0x80).contains(&byte)),
        }
    }

    fn others(block: &[u8; BLOCK]) -> Others {
        Others { high: mask_of(block, |byte| byte >= 0x80), continuations: mask_of(block, |byte| byte & 0xC0 == 0x80) }
    }

    const NOTHING_ODD: bool = false;

    fn odd<const IS_ASCII: bool>(odd: bool, block: &[u8; BLOCK], letters: u64) -> bool {
        let wrong = (Self::equal(block, b'"') ^ letters) & !Self::among(block, &ESCAPABLE);
        odd | (wrong != 0) | block.iter().any(|byte| *byte < 0x20 || IS_ASCII && *byte >= 0x80)
    }

    fn is_odd<const IS_ASCII: bool>(odd: bool) -> bool {
        odd
    }

    fn equal(block: &[u8; BLOCK], byte: u8) -> u64 {
        mask_of(block, |other| other == byte)
    }

    fn between(block: &[u8; BLOCK], first: u8, last: u8) -> u64 {
        mask_of(block, |byte| (first..=last).contains(&byte))
    }

    fn among(block: &[u8; BLOCK], table: &[u8; 16]) -> u64 {
        mask_of(block, |byte| table.get(usize::from(byte & 0x0F)) == Some(&byte))
    }

    fn unescape(from: (&[u8], usize), escapes: (u64, u64), to: (&mut [u8], usize)) -> usize {
        copy_between(from, escapes, to)
    }
}
