//! Deltas of metadata: parts that repeat the commit's content are replaced with references to it.

use memchr::memmem;

const FOLDED: u8 = 0;
const BLOCK: usize = 32;
const WINDOW: usize = 256;
const SEARCHES: usize = 16;
const ESCAPE: &[u8] = b"\\u";
const ESCAPE_SIZE: usize = 6;
const SHORTEST: usize = 512;
const GROWTH: usize = 8;

/// Return canonical metadata folded with its content. `None` means that it is stored unchanged: it is short, much longer
/// than the content, or would not shrink to half.
#[must_use]
pub fn fold(metadata: &[u8], content: &[u8]) -> Option<Vec<u8>> {
    if metadata.len() < SHORTEST || metadata.len() > GROWTH * content.len() {
        return None;
    }
    let mut folded = vec![FOLDED];
    let (mut start, mut place, mut end, mut searches) = (0, 0, 0, 0);
    while let Some(block) = metadata.get(place..place + BLOCK) {
        if block.starts_with(ESCAPE) {
            place += ESCAPE_SIZE;
            continue;
        }
        let window = content.get(end..).map_or(&[][..], |rest| rest.get(..WINDOW).unwrap_or(rest));
        let mut found = memmem::find(window, block).map(|at| end + at);
        if found.is_none() && searches < SEARCHES {
            searches += 1;
            found = memmem::find(content, block);
        }
        let Some(at) = found else {
            place += BLOCK;
            continue;
        };
        let length = common_length(metadata.get(place..)?, content.get(at..)?);
        step(metadata.get(start..place)?, at, length, &mut folded)?;
        place += length;
        (start, end) = (place, at + length);
    }
    step(metadata.get(start..)?, 0, 0, &mut folded)?;
    (folded.len() <= metadata.len() / 2).then_some(folded)
}

/// Return the length of the common prefix.
fn common_length(one: &[u8], other: &[u8]) -> usize {
    let blocks = one.chunks_exact(BLOCK).zip(other.chunks_exact(BLOCK));
    let whole = BLOCK * blocks.take_while(|(one, other)| one == other).count();
    let rest = one.iter().skip(whole).zip(other.iter().skip(whole));
    whole + rest.take_while(|(one, other)| one == other).count()
}

/// Write one step: literal bytes, then a range of the content.
fn step(literal: &[u8], at: usize, length: usize, to: &mut Vec<u8>) -> Option<()> {
    to.extend(u32::try_from(literal.len()).ok()?.to_be_bytes());
    to.extend(literal);
    to.extend(u32::try_from(at).ok()?.to_be_bytes());
    to.extend(u32::try_from(length).ok()?.to_be_bytes());
    Some(())
}

/// Return true if the stored metadata is folded.
#[must_use]
pub fn is_folded(stored: &[u8]) -> bool {
    stored.first() == Some(&FOLDED)
}

/// Return folded metadata in its original form; `None` if it can't have been folded with this content.
#[must_use]
pub fn unfold(stored: &[u8], content: &[u8]) -> Option<Vec<u8>> {
    let mut rest = stored.get(1..)?;
    let mut metadata = Vec::new();
    while !rest.is_empty() {
        let size = number(&mut rest)?;
        let (literal, after) = rest.split_at_checked(size)?;
        rest = after;
        let (at, length) = (number(&mut rest)?, number(&mut rest)?);
        metadata.extend_from_slice(literal);
        metadata.extend_from_slice(content.get(at..at + length)?);
        if metadata.len() > GROWTH * content.len() {
            return None;
        }
    }
    Some(metadata)
}

/// Remove a number from the front of `bytes` and return it.
fn number(bytes: &mut &[u8]) -> Option<usize> {
    let (number, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    usize::try_from(u32::from_be_bytes(*number)).ok()
}
