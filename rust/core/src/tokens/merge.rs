//! Byte pair merging: join the two neighbours whose union has the lowest rank, the leftmost of equals, until none has one.

use super::characters::Character;
use super::vocabulary::{NONE, Vocabulary};
use crate::simd::{Lanes, Work, dispatch};

/// So many bytes at most are merged with all that is known of them in one integer and one small array.
pub(crate) const SHORT: usize = 64;

/// For each byte that begins a part, the rank of that part joined with the next one, above the byte's own place:
/// the least of them all is both what to join and where. Other bytes have [`NONE`].
pub(crate) type Joins = [i32; SHORT];

/// Where the tokens begin of the bytes from `start` to before `end`, of which there are 1 to [`SHORT`]: a bit each.
pub(crate) fn merge_short(vocabulary: &Vocabulary, text: &[u8], start: usize, end: usize, joins: &mut Joins) -> u64 {
    let piece = Piece { vocabulary, text, start, size: end - start, largest: usize::MAX };
    dispatch(Merge { piece, joins })
}

/// The same of bytes that are known to be no token all together.
pub(crate) fn merge_no_token(vocabulary: &Vocabulary, text: &[u8], start: usize, end: usize, joins: &mut Joins) -> u64 {
    let piece = Piece { vocabulary, text, start, size: end - start, largest: end - start - 1 };
    dispatch(Merge { piece, joins })
}

/// Bytes of a text to merge.
struct Piece<'a> {
    vocabulary: &'a Vocabulary,
    text: &'a [u8],
    start: usize,
    size: usize,
    /// No more of them may be a token.
    largest: usize,
}

impl<'a> Piece<'a> {
    #[inline(always)]
    fn bytes(&self) -> &'a [u8] {
        self.text.get(self.start..self.start + self.size).unwrap_or_default()
    }

    /// The rank of some of the bytes, above the place where they begin.
    #[inline(always)]
    fn join(&self, from: usize, to: usize) -> i32 {
        if to - from > self.largest {
            return NONE;
        }
        join_of(self.vocabulary.rank(self.text, self.start + from, self.start + to), from)
    }
}

/// The least of the joins is sought for each that is made: work for the widest vectors that there are.
struct Merge<'a> {
    piece: Piece<'a>,
    joins: &'a mut Joins,
}

impl Work for Merge<'_> {
    type Done = u64;

    #[inline(always)]
    fn run<L: Lanes>(self) -> u64 {
        let Self { piece, joins } = self;
        // Whole vectors are compared; what lies beyond the bytes must not count.
        let Some(joins) = joins.get_mut(..piece.size.next_multiple_of(8)) else { return 1 };
        joins.fill(NONE);
        let starts = if piece.bytes().is_ascii() { of_bytes(&piece, joins) } else { of_characters(&piece, joins) };
        join_parts(&piece, starts, joins)
    }
}

/// Every byte is a part: where the parts start, once the rank of each joined with the next one is noted.
#[inline(always)]
fn of_bytes(piece: &Piece<'_>, joins: &mut [i32]) -> u64 {
    for (at, (join, pair)) in joins.iter_mut().zip(piece.bytes().windows(2)).enumerate() {
        *join = join_of(pair_rank(piece.vocabulary, pair), at);
    }
    all_starts(piece.size)
}

/// The same where the bytes of characters are merged that can be before others. One that is no token joins nothing.
#[inline(always)]
fn of_characters(piece: &Piece<'_>, joins: &mut [i32]) -> u64 {
    let (bytes, characters) = (piece.bytes(), &piece.vocabulary.characters);
    let (mut starts, mut closed) = (0, 0);
    let (mut at, mut is_seam) = (0, false);
    while at < bytes.len() {
        let character = bytes.get(at..).and_then(Character::first);
        let end = at + character.map_or(1, |own| own.size);
        let was_seam = std::mem::replace(&mut is_seam, characters.is_seam(bytes, end));
        let every = all_starts(end - at);
        let parts = match character {
            Some(own) if !was_seam && !is_seam => characters.parts(own, || by_itself(piece.vocabulary, bytes, at, end)),
            _ => every,
        };
        starts |= parts << at;
        closed |= if parts == 1 || parts == every { 0 } else { parts << at };
        at = end;
    }
    let (mut first, mut later) = (0, starts & !1);
    while later != 0 {
        let second = later.trailing_zeros() as usize;
        later &= later - 1;
        let end = if later == 0 { bytes.len() } else { later.trailing_zeros() as usize };
        if (closed >> first | closed >> second) & 1 == 0
            && let Some(join) = joins.get_mut(first)
        {
            *join = piece.join(first, end);
        }
        first = second;
    }
    starts
}

/// Where the parts start that a character is merged to by itself.
#[cold]
fn by_itself(vocabulary: &Vocabulary, text: &[u8], start: usize, end: usize) -> u64 {
    let piece = Piece { vocabulary, text, start, size: end - start, largest: usize::MAX };
    let mut joins = [NONE; 8];
    let starts = of_bytes(&piece, &mut joins);
    join_parts(&piece, starts, &mut joins)
}

/// As many bits as there are bytes.
#[inline(always)]
fn all_starts(size: usize) -> u64 {
    u64::MAX >> (SHORT - size)
}

/// The rank of a part joined with the next one, above its place.
#[inline(always)]
fn join_of(rank: i32, at: usize) -> i32 {
    if rank == NONE { NONE } else { rank << 6 | i32::try_from(at).unwrap_or(0) }
}

/// Join parts until no two can be: where they start then.
#[inline(always)]
fn join_parts(piece: &Piece<'_>, mut starts: u64, joins: &mut [i32]) -> u64 {
    let size = piece.size;
    loop {
        let best = least(joins);
        if best == NONE {
            return starts;
        }
        let at = usize::try_from(best & 63).unwrap_or(0);
        let next_after = |at: usize| {
            let later = starts & (u64::MAX << at << 1);
            if later == 0 { size } else { later.trailing_zeros() as usize }
        };
        let joined = next_after(at);
        let after = next_after(joined);
        let before = starts & ((1 << at) - 1);
        let mut set = |at: usize, join: i32| {
            if let Some(own) = joins.get_mut(at) {
                *own = join;
            }
        };
        set(joined, NONE);
        set(at, if after < size { piece.join(at, next_after(after)) } else { NONE });
        if before != 0 {
            let earlier = 63 - before.leading_zeros() as usize;
            set(earlier, piece.join(earlier, after));
        }
        starts &= !(1 << joined);
    }
}

#[inline(always)]
fn pair_rank(vocabulary: &Vocabulary, pair: &[u8]) -> i32 {
    if let [first, second] = pair { vocabulary.pair(*first, *second) } else { NONE }
}

/// The least of some joins, whose number is a multiple of 8.
#[inline(always)]
fn least(joins: &[i32]) -> i32 {
    let (chunks, _) = joins.as_chunks::<8>();
    let mut lanes = [NONE; 8];
    for chunk in chunks {
        for (lane, join) in lanes.iter_mut().zip(chunk) {
            *lane = (*lane).min(*join);
        }
    }
    lanes.into_iter().min().unwrap_or(NONE)
}

/// Where the tokens end of any bytes, counted from their start. All joins of one rank are made in one walk, so that a row
/// takes few walks; the time grows with the square of the number of bytes where the ranks are many, so this is for the
/// few bytes that are too many for [`merge_short`] and yet no long piece.
pub(crate) fn merge_plainly(vocabulary: &Vocabulary, bytes: &[u8]) -> Vec<usize> {
    // Where each part ends, and the rank of it joined with the next one.
    let pairs = bytes.windows(2).map(|pair| pair_rank(vocabulary, pair)).chain([NONE]);
    let mut parts: Vec<(usize, i32)> = (1..).zip(pairs).collect();
    let mut joined = Vec::with_capacity(parts.len());
    while let Some(best) = parts.iter().map(|(_, rank)| *rank).min().filter(|best| *best != NONE) {
        join_all(vocabulary, bytes, &parts, best, &mut joined);
        std::mem::swap(&mut parts, &mut joined);
    }
    parts.into_iter().map(|(end, _)| end).collect()
}

/// Make all joins of a rank from left to right, or until one makes a part whose own join comes first.
fn join_all(vocabulary: &Vocabulary, bytes: &[u8], parts: &[(usize, i32)], best: i32, joined: &mut Vec<(usize, i32)>) {
    joined.clear();
    let (mut rest, mut before, mut start) = (parts, 0, 0); // the last part of `joined` is from `before` to `start`
    while let [(end, rank), after @ ..] = rest {
        rest = after;
        let (mut part, mut is_outranked) = ((*end, *rank), false);
        if *rank == best
            && let [(end, _), after @ ..] = after
        {
            rest = after;
            part = (*end, after.first().map_or(NONE, |(next, _)| vocabulary.rank(bytes, start, *next)));
            if let Some((_, rank)) = joined.last_mut() {
                *rank = vocabulary.rank(bytes, before, *end);
                is_outranked = *rank < best;
            }
            is_outranked |= part.1 < best;
        }
        joined.push(part);
        (before, start) = (start, part.0);
        if is_outranked {
            joined.extend_from_slice(rest);
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // it fails by panicking

    use super::{SHORT, Vocabulary, merge_plainly, merge_short};
    use crate::tokens::random::Random;

    fn ends(starts: u64, size: usize) -> Vec<usize> {
        (1..size).filter(|at| starts >> at & 1 == 1).chain([size]).collect()
    }

    /// Bytes that are no text, too: a stretch of a long piece begins and ends within characters.
    #[test]
    fn characters_are_merged_as_their_bytes_are() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../python/toolcarry/_data/vocabularies/cl100k_base.bpe");
        let vocabulary = Vocabulary::parse(&std::fs::read(path).unwrap()).unwrap();
        let mut random = Random(88_172_645_463_325_252);
        let mut joins = [0; SHORT];
        for _ in 0..20_000 {
            let mut bytes = Vec::new();
            while bytes.len() < SHORT {
                let code_point = match random.below(6) {
                    0 => random.below(0x80),
                    1 => 0x80 + random.below(0x780),
                    2 => 0x1_F300 + random.below(0x400),
                    3 => 0x3000 + random.below(0x100),
                    _ => 0x4E00 + random.below(0x600),
                };
                let character = char::from_u32(u32::try_from(code_point).unwrap()).unwrap();
                bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                if random.below(8) == 0 {
                    bytes.push(u8::try_from(random.below(256)).unwrap());
                }
            }
            let start = random.below(8);
            let end = start + 1 + random.below(SHORT - 8);
            let starts = merge_short(&vocabulary, &bytes, start, end, &mut joins);
            let bytes = bytes.get(start..end).unwrap();
            assert_eq!(ends(starts, bytes.len()), merge_plainly(&vocabulary, bytes), "{bytes:X?}");
        }
    }
}
