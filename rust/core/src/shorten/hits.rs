//! Rank the lines of a search: the first hits of each file, then more of each, and before them what speaks of errors.
//!
//! A hit is a line such as `a.py:3:text`, `a.py:text`, or `3:text` below a line with the path.

use ahash::AHashMap;

use super::kinds::FIND_ERROR;
use super::lines::{FOLDED, HIGHEST, Rank, Ranking, is_promising};

/// The rank of a line with the path of hits, and of messages. Above it are the lines that speak of errors.
const PATH: Rank = 155;
const FIRST_HIT: Rank = 154;
const CONTEXT: Rank = 2;

/// Return the ranks of lines that are hits; `None` if fewer than three of four are.
///
/// Lines that speak of errors come first, then messages and paths.
pub(super) fn read_hits(lines: &[&str]) -> Option<Ranking> {
    if !is_promising(lines, is_known) {
        return None;
    }
    let paths: Vec<Option<&str>> = lines.iter().map(|line| path_of(line)).collect();
    let following = following(&paths);
    let (mut ranks, mut groups) = (Vec::with_capacity(lines.len()), Vec::with_capacity(lines.len()));
    let mut numbers: AHashMap<&str, usize> = AHashMap::new();
    let (mut hits, mut errors) = (AHashMap::<&str, usize>::new(), AHashMap::<&str, usize>::new());
    let (mut own, mut last, mut strange, mut filled, mut is_start) = ("", None, 0, 0, true);
    for (place, ((line, path), following)) in lines.iter().zip(&paths).zip(&following).enumerate() {
        let was_start = std::mem::replace(&mut is_start, matches!(*line, "" | "--"));
        let mut rank = FOLDED;
        if !is_start {
            filled += 1;
            let numbered = number_of(line).filter(|(number, _)| last.is_none_or(|last| *number > last));
            let is_headed = || was_start && lines.get(place + 1).is_some_and(|next| number_of(next).is_some());
            let mut is_hit = path.is_some();
            if let Some(path) = path {
                (own, last) = (path, None);
            } else if let Some((number, sign)) = numbered {
                (last, is_hit, rank) = (Some(number), sign == b':', CONTEXT);
            } else if is_headed() {
                (own, last, rank) = (line, None, PATH);
            } else if !own.is_empty() && is_beside(line, own) {
                rank = CONTEXT;
            } else if !following.is_empty() && is_beside(line, following) {
                (own, rank) = (following, CONTEXT);
            }
            if is_hit {
                rank = below(FIRST_HIT, hits.entry(own).or_default()).max(CONTEXT + 1);
            } else if rank == FOLDED {
                (strange, rank) = (strange + 1, PATH);
            }
            if FIND_ERROR.as_ref().is_some_and(|search| search.is_match(*line)) {
                rank = below(HIGHEST, errors.entry(own).or_default()).max(PATH + 1);
            }
        }
        ranks.push(rank);
        let next = numbers.len();
        groups.push(*numbers.entry(own).or_insert(next));
    }
    if strange * 4 > filled || hits.is_empty() {
        return None;
    }
    Some(Ranking { ranks, label: "more", least: 1, groups, unit: "files", above: Vec::new() })
}

/// Return true if a line may be a hit, or one around a hit.
fn is_known(line: &str) -> bool {
    let is_number = |(at, _): (usize, &str)| line.get(at..).is_some_and(|rest| is_beside(rest, ""));
    path_of(line).is_some() || number_of(line).is_some() || line.match_indices('-').any(is_number)
}

/// Return the rank below another one by a count, which grows by one.
fn below(rank: Rank, count: &mut usize) -> Rank {
    *count += 1;
    rank.saturating_sub(Rank::try_from(*count - 1).unwrap_or(Rank::MAX))
}

/// Return the path before a hit. A time is not a path, and a word without a dot or a slash only if a number follows.
fn path_of(line: &str) -> Option<&str> {
    let is_drive = matches!(line.as_bytes(), [letter, b':', b'\\' | b'/', ..] if letter.is_ascii_alphabetic());
    let (path, is_numbered) = (is_drive.then(|| path_from(line, 3)).flatten()).or_else(|| path_from(line, 0))?;
    let first = path.bytes().next()?;
    let has_sign = path.contains(['.', '/']);
    let is_path = if first.is_ascii_digit() {
        has_sign && path.bytes().any(|byte| byte.is_ascii_alphabetic())
    } else {
        first.is_ascii_alphabetic() || b"_./~@-".contains(&first)
    };
    (is_path && (has_sign || is_numbered)).then_some(path)
}

/// Return the text before a colon, which is more than `from` bytes, and true if a number comes after it.
fn path_from(line: &str, from: usize) -> Option<(&str, bool)> {
    let size = line.get(from..)?.find([' ', '\t', ':']).filter(|size| *size > 0)?;
    let (path, rest) = line.split_at_checked(from + size)?;
    let rest = rest.strip_prefix(':')?;
    let after = rest.trim_start_matches(|character: char| character.is_ascii_digit());
    Some((path, after.len() < rest.len() && (after.is_empty() || after.starts_with(':'))))
}

/// Return the number before a line, and the sign after it.
fn number_of(line: &str) -> Option<(usize, u8)> {
    let size = line.bytes().take_while(u8::is_ascii_digit).take(10).count();
    let sign = line.as_bytes().get(size).copied().filter(|sign| matches!(sign, b':' | b'-'))?;
    if size > 9 {
        return None;
    }
    Some((line.get(..size)?.parse().ok()?, sign))
}

/// Return the path of the next hit for each line.
fn following<'l>(paths: &[Option<&'l str>]) -> Vec<&'l str> {
    let mut found = "";
    let mut following: Vec<&str> = paths
        .iter()
        .rev()
        .map(|path| {
            found = path.unwrap_or(found);
            found
        })
        .collect();
    following.reverse();
    following
}

/// Return true if a line is one around a hit in a file: `a.py-3-text`.
fn is_beside(line: &str, path: &str) -> bool {
    let rest = line.strip_prefix(path).and_then(|rest| rest.strip_prefix('-'));
    rest.is_some_and(|rest| {
        let after = rest.trim_start_matches(|character: char| character.is_ascii_digit());
        after.len() < rest.len() && after.starts_with('-')
    })
}

#[cfg(test)]
mod tests {
    use super::read_hits;

    #[test]
    fn the_first_hits_of_each_file_come_first() {
        let lines = ["a.py:1:import os", "a.py:7:os.read(0)", "b.py:3:import os", "grep: c: Is a directory"];
        assert_eq!(read_hits(&lines).map(|found| found.ranks), Some(vec![154, 153, 154, 155]));
    }
}
