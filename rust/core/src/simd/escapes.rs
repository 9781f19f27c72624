//! Backslashes and the characters that they escape.

use super::BLOCK;

/// Return a mask of the characters that follow an escaping backslash. `carry` is passed from block to block; it is 1 if
/// the first byte of the next block is escaped.
#[inline(always)]
pub(crate) fn find_escaped(backslashes: u64, carry: &mut u64) -> u64 {
    const ODD: u64 = 0xAAAA_AAAA_AAAA_AAAA;
    // Subtracting at the start of a run of backslashes borrows as far as its end, so that the bits after the run depend
    // on whether it begins at an even or an odd bit.
    let starting = backslashes & !*carry;
    let series = (starting << 1 | ODD).wrapping_sub(starting);
    let codes = series ^ ODD;
    let escaped = codes ^ (backslashes | *carry);
    *carry = (codes & backslashes) >> 63;
    escaped
}

/// The byte that each letter stands for after a backslash; 0 for `u` and for bytes that may not follow one.
pub(crate) static ESCAPES: [u8; 256] = table!(256, letter => match letter {
    b'n' => b'\n',
    b't' => b'\t',
    b'r' => b'\r',
    b'b' => 0x08,
    b'f' => 0x0C,
    b'"' | b'\\' | b'/' => letter,
    _ => 0,
});

/// Write a block without its escapes, as [`super::Lanes::unescape`] does. The text between two escapes is copied as a
/// whole block, and the next copy overwrites the surplus.
#[inline(always)]
pub(super) fn copy_between(
    (from, at): (&[u8], usize),
    (removed, letters): (u64, u64),
    (to, place): (&mut [u8], usize),
) -> usize {
    let meant = |at: usize| ESCAPES.get(from.get(at).map_or(0, |byte| usize::from(*byte))).copied().unwrap_or_default();
    let (mut taken, mut done) = (0, place);
    let write = |letter: usize, done: &mut usize, to: &mut [u8]| {
        if let Some(byte) = to.get_mut(*done) {
            *byte = meant(at + letter);
        }
        *done += 1;
    };
    if letters & 1 == 1 {
        write(0, &mut done, to);
        taken = 1;
    }
    let mut removed = removed;
    while removed != 0 {
        let backslash = removed.trailing_zeros() as usize;
        removed &= removed - 1;
        copy_block(from, at + taken, to, done);
        done += backslash - taken;
        taken = backslash + 1;
        if taken < BLOCK {
            write(taken, &mut done, to);
            taken += 1;
        }
    }
    copy_block(from, at + taken, to, done);
    done + BLOCK.saturating_sub(taken) - place
}

/// Copy a block, or as much of it as both slices have.
#[inline(always)]
pub(crate) fn copy_block(from: &[u8], at: usize, to: &mut [u8], place: usize) {
    let (from, to) = (from.get(at..).unwrap_or_default(), to.get_mut(place..).unwrap_or_default());
    match (from.first_chunk::<BLOCK>(), to.first_chunk_mut::<BLOCK>()) {
        (Some(block), Some(room)) => *room = *block,
        _ => from.iter().zip(to).for_each(|(byte, target)| *target = *byte),
    }
}
