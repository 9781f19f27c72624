//! Whether two texts are the same: short ones in less time than a call takes.

use std::hash::{Hash, Hasher};

use crate::text::{Text, on_units};

impl PartialEq for Text<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Latin1(one), Self::Latin1(other)) => is_same(one, other),
            (Self::Ucs2(one), Self::Ucs2(other)) => one == other,
            (Self::Ucs4(one), Self::Ucs4(other)) => one == other,
            _ => false,
        }
    }
}

impl Hash for Text<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        on_units!(self, units => units.hash(state));
    }
}

/// Whether bytes are the same. Names of members, tools and files, which are compared most, have four letters to sixty-four:
/// both their ends tell, which may overlap.
#[inline(always)]
pub(crate) fn is_same(one: &[u8], other: &[u8]) -> bool {
    if one.len() != other.len() {
        return false;
    }
    match one.len() {
        0 => true,
        4..8 => have_ends::<4>(one, other),
        8..16 => have_ends::<8>(one, other),
        16..32 => have_ends::<16>(one, other),
        32..=64 => have_ends::<32>(one, other),
        _ => one == other,
    }
}

#[inline(always)]
fn have_ends<const SIZE: usize>(one: &[u8], other: &[u8]) -> bool {
    one.first_chunk::<SIZE>() == other.first_chunk() && one.last_chunk::<SIZE>() == other.last_chunk()
}

#[cfg(test)]
mod tests {
    use super::is_same;

    #[test]
    fn what_is_the_same_is_so_in_every_byte() {
        let bytes: Vec<u8> = (0..80).collect();
        for size in 0..bytes.len() {
            let (one, mut other) = (bytes.get(..size).unwrap_or_default(), bytes.clone());
            assert!(!is_same(one, &other));
            other.truncate(size);
            assert!(is_same(one, &other));
            for place in 0..size {
                let mut wrong = other.clone();
                wrong.iter_mut().skip(place).take(1).for_each(|byte| *byte ^= 0x80);
                assert!(!is_same(one, &wrong), "{size}, {place}");
            }
        }
    }
}
