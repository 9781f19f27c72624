//! Merge long pieces in linear time: by short stretches, which are then joined.
//!
//! Tokens are the encoding of their bytes if each two neighbours are the encoding of theirs. So two encoded stretches
//! joined differ from both together only near the seam: what stands there is encoded anew, from one token to each
//! side on, then two, four, until the outermost tokens are what they were; beyond them, the neighbours are unchanged.
//!
//! A long piece is seldom prose. In a row of one character, stretches and seams repeat; the last ones are kept.

use super::keys::hash_bytes;
use super::merge::{Joins, SHORT, merge_plainly, merge_short};
use super::vocabulary::Vocabulary;

/// Bytes in a stretch: a multiple of what characters take, so that those of a row repeat.
const STRETCH: usize = 60;

/// Bytes in a stretch of what repeats: a multiple of what the longest tokens take, so that few of them have a seam.
const ROW: usize = 384;

/// So many stretches and seams are kept.
const KEPT: usize = 64;
/// And none that is longer.
const KEPT_BYTES: usize = 1024;

/// What happens at the end of a part of a piece seldom reaches further back than so many tokens.
const SETTLED: usize = 64;

/// Bytes encoded lately, and where their tokens end.
#[derive(Default)]
pub(crate) struct Windows {
    kept: Vec<(Vec<u8>, Vec<usize>)>,
}

impl Windows {
    /// Where the tokens of these bytes end, counted from their start.
    fn encode(&mut self, vocabulary: &Vocabulary, bytes: &[u8], joins: &mut Joins, ends: &mut Vec<usize>) {
        ends.clear();
        if self.kept.is_empty() {
            self.kept.resize_with(KEPT, Default::default);
        }
        let place = usize::try_from(hash_bytes(bytes) >> 40).unwrap_or(0) % KEPT;
        let Some((own, own_ends)) = self.kept.get_mut(place) else { return };
        if own != bytes || own.is_empty() {
            own_ends.clear();
            if bytes.len() <= SHORT {
                let starts = merge_short(vocabulary, bytes, 0, bytes.len(), joins);
                own_ends.extend((1..bytes.len()).filter(|at| starts >> at & 1 == 1));
                own_ends.push(bytes.len());
            } else {
                own_ends.extend(merge_plainly(vocabulary, bytes));
            }
            own.clear();
            own.extend_from_slice(if bytes.len() <= KEPT_BYTES { bytes } else { &[] });
        }
        ends.extend_from_slice(own_ends);
    }
}

/// Where the tokens of a piece end, counted from its start: the first `enough` of them at least.
pub(crate) fn merge_long(
    vocabulary: &Vocabulary,
    piece: &[u8],
    windows: &mut Windows,
    joins: &mut Joins,
    enough: usize,
) -> Vec<usize> {
    let (mut ends, mut fresh, mut seam) = (Vec::new(), Vec::new(), Vec::new());
    let mut next = 0;
    while next < piece.len() && ends.len() < enough.saturating_add(SETTLED) {
        let at = next;
        let stretch = stretch_at(piece, at);
        next += stretch.len();
        windows.encode(vocabulary, stretch, joins, &mut fresh);
        for end in &mut fresh {
            *end += at;
        }
        if at == 0 {
            ends.clone_from(&fresh);
            continue;
        }
        let mut reach = 1;
        loop {
            let kept = ends.len().saturating_sub(reach);
            let taken = reach.min(fresh.len());
            let token_end = |ends: &[usize], index: usize| ends.get(index).copied().unwrap_or(at);
            let token_start = |ends: &[usize], index: usize, first: usize| {
                index.checked_sub(1).map_or(first, |before| token_end(ends, before))
            };
            let (from, to) = (token_start(&ends, kept, 0), token_end(&fresh, taken - 1));
            windows.encode(vocabulary, piece.get(from..to).unwrap_or_default(), joins, &mut seam);
            for end in &mut seam {
                *end += from;
            }
            let is_left_same = kept == 0 || seam.first() == ends.get(kept);
            let last_start = token_start(&seam, seam.len() - 1, from);
            let is_right_same = taken == fresh.len() || last_start == token_start(&fresh, taken - 1, at);
            if is_left_same && is_right_same {
                ends.truncate(kept);
                ends.extend_from_slice(&seam);
                ends.extend_from_slice(fresh.get(taken..).unwrap_or_default());
                break;
            }
            reach *= 2;
        }
    }
    ends
}

/// The stretch that begins at `at`.
fn stretch_at(piece: &[u8], at: usize) -> &[u8] {
    let rest = piece.get(at..).unwrap_or_default();
    let row = rest.get(..ROW).filter(|row| row.get(STRETCH..) == row.get(..ROW - STRETCH));
    row.or(rest.get(..STRETCH)).unwrap_or(rest)
}
