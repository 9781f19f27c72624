//! Tests that all lanes return the same as [`Scalar`].

use super::{Avx2, Avx512, has_avx2, has_avx512};
use crate::simd::{BLOCK, ESCAPABLE, Lanes, Quarters, Scalar, find_escaped};

/// Blocks of seeded noise, and blocks that repeat one byte.
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

/// Two blocks of data, and the masks for the first one: the backslashes to remove, and the letters. Many of its bytes
/// belong to escapes.
fn escapes() -> impl Iterator<Item = (Vec<u8>, u64, u64)> {
    blocks().flat_map(|noise| {
        [0, 1].map(|carry| {
            let mut block = noise.map(|byte| if byte % 4 == 0 { b'\\' } else { byte });
            let backslashes = Scalar::equal(&block, b'\\');
            let letters = find_escaped(backslashes, &mut { carry });
            for (index, byte) in block.iter_mut().enumerate().filter(|(index, _)| letters >> index & 1 == 1) {
                *byte = b"nrtbf/\"\\".iter().copied().cycle().nth(index + usize::from(*byte)).unwrap_or(b'n');
            }
            ([block, noise].concat(), backslashes & !letters, letters)
        })
    })
}

fn unescaped<L: Lanes>(data: &[u8], removed: u64, letters: u64) -> Vec<u8> {
    let mut room = vec![0; 3 * BLOCK];
    let size = L::unescape((data, 0), (removed, letters), (&mut room, 7));
    room.drain(7..7 + size).collect()
}

#[test]
fn escapes_become_their_characters() {
    let mut block = [b'n'; BLOCK];
    block[..22].copy_from_slice(br#"a\nb\\nc\"d\t\r\b\f\/e"#);
    let backslashes = Scalar::equal(&block, b'\\');
    let letters = find_escaped(backslashes, &mut 0);
    let mut expected = b"a\nb\\nc\"d\t\r\x08\x0C/e".to_vec();
    expected.resize(BLOCK - 8, b'n');
    assert_eq!(unescaped::<Scalar>(&block, backslashes & !letters, letters), expected);
}

/// Return true if one of the blocks has an odd byte; `letters` is the mask of each block.
fn is_odd<L: Lanes, const IS_ASCII: bool>(blocks: &[[u8; BLOCK]], letters: u64) -> bool {
    let see = |odd, block: &[u8; BLOCK]| L::odd::<IS_ASCII>(odd, block, letters);
    L::is_odd::<IS_ASCII>(blocks.iter().fold(L::NOTHING_ODD, see))
}

/// Put every byte at several places of a plain block, as the letter of an escape and outside one.
fn check_odd<L: Lanes>() {
    let plain = [b'n'; BLOCK];
    for (byte, place) in (0..=255_u8).flat_map(|byte| [0, 1, 31, 32, 63].map(|place| (byte, place))) {
        let mut block = plain;
        block.iter_mut().skip(place).take(1).for_each(|own| *own = byte);
        for is_letter in [false, true] {
            let is_wrong = if is_letter { !b"nrtf/\"\\".contains(&byte) } else { byte < 0x20 || byte == b'"' };
            let letters = u64::from(is_letter) << place;
            for blocks in [&[block][..], &[plain, block], &[block, plain], &[plain, block, plain]] {
                assert_eq!(is_odd::<L, false>(blocks, letters), is_wrong, "{byte:x} at {place}");
                assert_eq!(is_odd::<L, true>(blocks, letters), is_wrong || byte >= 0x80, "{byte:x} at {place}");
            }
        }
    }
}

fn check<L: Lanes>() {
    for (data, removed, letters) in escapes() {
        assert_eq!(unescaped::<L>(&data, removed, letters), unescaped::<Scalar>(&data, removed, letters));
    }
    for block in blocks() {
        assert_eq!(L::masks(&block), Scalar::masks(&block));
        assert_eq!(L::others(&block), Scalar::others(&block));
        assert_eq!(L::equal(&block, b'\\'), Scalar::equal(&block, b'\\'));
        assert_eq!(L::among(&block, &ESCAPABLE), Scalar::among(&block, &ESCAPABLE));
        assert_eq!(L::between(&block, 0, 0x7F), Scalar::between(&block, 0, 0x7F));
        assert_eq!(L::between(&block, b'A', b'Z'), Scalar::between(&block, b'A', b'Z'));
    }
}

#[test]
fn all_lanes_agree() {
    check_odd::<Scalar>();
    check::<Quarters>();
    check_odd::<Quarters>();
    if has_avx2() {
        check::<Avx2>();
        check_odd::<Avx2>();
    }
    if has_avx512() {
        check::<Avx512>();
        check_odd::<Avx512>();
    }
}
