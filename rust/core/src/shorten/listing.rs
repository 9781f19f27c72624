//! Rank the lines of a listing of files: the first entries of each folder, then more of each, and similar names last.
//!
//! A listing is what `ls`, `find`, `tree` and the like print: names, paths, lines with a mode or a size, or branches.

use std::borrow::Cow;

use ahash::{AHashMap, AHashSet};

use super::kinds::{FIND_ERROR, push_without_numbers};
use super::lines::{FOLDED, HIGHEST, Rank, Ranking, is_promising};

/// The lowest rank of an entry whose name is not similar to an earlier one of its folder.
const NEW: Rank = 54;
const FEWEST: usize = 4;
const BLANKS: [char; 2] = [' ', '\t'];
const STEMS: [char; 2] = [' ', '\u{a0}'];

/// Return the ranks of lines that list files; `None` if fewer than three of four do.
///
/// Messages come first. An entry comes after the folder that it is in.
pub(super) fn read_listing(lines: &[&str]) -> Option<Ranking> {
    if !is_promising(lines, |line| is_total(line) || entry_of(line).is_some()) {
        return None;
    }
    let (mut ranks, mut groups) = (Vec::with_capacity(lines.len()), Vec::with_capacity(lines.len()));
    // The place of each folder: how many entries come before what is in it.
    let mut orders: AHashMap<Cow<'_, str>, usize> = AHashMap::new();
    let mut counts: AHashMap<Cow<'_, str>, usize> = AHashMap::new();
    let mut repeats: AHashMap<Cow<'_, str>, usize> = AHashMap::new();
    let mut seen: AHashSet<(Cow<'_, str>, String)> = AHashSet::new();
    let mut similar: AHashSet<Cow<'_, str>> = AHashSet::new();
    let mut numbers: AHashMap<Cow<'_, str>, usize> = AHashMap::new();
    let mut branches: Vec<Cow<'_, str>> = vec![Cow::Borrowed("\n")];
    let (mut header, mut folder) = ("", Cow::Borrowed(""));
    let (mut strange, mut filled, mut is_start) = (0, 0, true);
    for (place, line) in lines.iter().enumerate() {
        let was_start = std::mem::replace(&mut is_start, line.is_empty());
        filled += usize::from(!is_start);
        let entry = entry_of(line);
        let mut rank = FOLDED;
        if let Some(path) = line.strip_suffix(':').filter(|_| was_start && !line.contains(' ')) {
            header = path;
            folder = Cow::Borrowed(path);
            let order = *orders.entry(folder.clone()).or_insert_with(|| path.matches('/').count());
            rank = below(HIGHEST - 1, order).max(NEW);
        } else if is_start || is_total(line) {
            folder = Cow::Borrowed(header);
        } else if let Some(entry) = entry {
            let key = if entry.level > 0 {
                branches.truncate(entry.level);
                folder = branches.last().cloned().unwrap_or_default();
                let key: Cow<'_, str> = Cow::Owned(format!("\n{place}"));
                branches.push(key.clone());
                key
            } else {
                folder = joined(header, entry.folder);
                if folder.is_empty() {
                    Cow::Borrowed(entry.name)
                } else {
                    Cow::Owned(format!("{folder}/{}", entry.name))
                }
            };
            let count = counts.get(&folder).copied().unwrap_or_default();
            let order = orders.get(&folder).copied().unwrap_or_default() + 1 + count;
            let mut form = String::new();
            push_without_numbers(entry.name, &mut form);
            let is_new = seen.insert((folder.clone(), form)) && !similar.contains(&folder);
            if is_new {
                rank = below(HIGHEST - 1, order).max(NEW);
                counts.insert(folder.clone(), count + 1);
            } else {
                similar.insert(key.clone());
                let repeated = repeats.entry(folder.clone()).or_default();
                rank = below(NEW - 1, *repeated).max(1);
                *repeated += 1;
            }
            orders.insert(key, order);
        } else {
            strange += 1;
            let is_error = FIND_ERROR.as_ref().is_some_and(|search| search.is_match(*line));
            rank = if is_error { HIGHEST } else { HIGHEST - 1 };
        }
        ranks.push(rank);
        let next = numbers.len();
        groups.push(*numbers.entry(folder.clone()).or_insert(next));
    }
    if strange * 4 > filled || filled - strange < FEWEST {
        return None;
    }
    Some(Ranking { ranks, label: "more", least: 1, groups, unit: "folders", above: Vec::new() })
}

fn below(rank: Rank, count: usize) -> Rank {
    rank.saturating_sub(Rank::try_from(count).unwrap_or(Rank::MAX))
}

fn joined<'l>(header: &'l str, folder: &'l str) -> Cow<'l, str> {
    match (header, folder) {
        ("", own) | (own, "") => Cow::Borrowed(own),
        (header, folder) => Cow::Owned(format!("{header}/{folder}")),
    }
}

/// An entry: its folder, its name, and the level of its branch, or 0.
struct Entry<'l> {
    folder: &'l str,
    name: &'l str,
    level: usize,
}

/// Return the entry of a line; `None` for any other line.
fn entry_of(line: &str) -> Option<Entry<'_>> {
    if let Some((name, level)) = branch_of(line) {
        return Some(Entry { folder: "", name, level });
    }
    if is_mode(line) {
        let name = line.rsplit_once(' ').map_or(line, |(_, name)| name);
        return Some(Entry { folder: "", name, level: 0 });
    }
    let path = match sized(line) {
        Some(path) => path,
        None if line.contains(BLANKS) && !line.starts_with('/') && !line.starts_with("./") => return None,
        None => line,
    };
    let path = path.trim_end_matches('/');
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    Some(Entry { folder, name, level: 0 })
}

/// Return the name of a branch of a tree, and its level.
fn branch_of(line: &str) -> Option<(&str, usize)> {
    let (mut rest, mut level) = (line, 1);
    while let Some(after) = stem_of(rest) {
        (rest, level) = (after, level + 1);
    }
    let signs = ["\u{251c}\u{2500}\u{2500}", "\u{2514}\u{2500}\u{2500}", "|--", "`--"];
    let name = signs.iter().find_map(|sign| rest.strip_prefix(sign))?.strip_prefix(STEMS)?;
    Some((name, level))
}

/// Return the text after the stem of a branch further up, which has four characters.
fn stem_of(line: &str) -> Option<&str> {
    let rest = line.strip_prefix(['\u{2502}', '|']).or_else(|| line.strip_prefix(STEMS))?;
    (0..3).try_fold(rest, |rest, _| rest.strip_prefix(STEMS))
}

fn is_mode(line: &str) -> bool {
    let mut bytes = line.bytes();
    bytes.next().is_some_and(|kind| b"-bcdlps".contains(&kind))
        && bytes.clone().count() >= 9
        && bytes.take(9).all(|mode| b"-rwxsStT".contains(&mode))
}

fn is_total(line: &str) -> bool {
    line.strip_prefix("total ").is_some_and(|rest| rest.starts_with(|character: char| character.is_ascii_digit()))
}

/// Return the path after a size.
fn sized(line: &str) -> Option<&str> {
    let line = line.trim_start_matches(BLANKS);
    let number = line.strip_prefix(|character: char| character.is_ascii_digit())?;
    let rest =
        number.trim_start_matches(|character: char| character.is_ascii_digit() || matches!(character, '.' | ','));
    let rest = rest.strip_prefix(['K', 'M', 'G', 'T']).unwrap_or(rest);
    let path = rest.trim_start_matches(BLANKS);
    (path.len() < rest.len() && !path.is_empty() && !path.contains(BLANKS)).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::read_listing;

    #[test]
    fn an_entry_comes_after_its_folder() {
        let lines = ["src", "src/a.py", "src/b1.o", "src/b2.o", "find: 'x': Permission denied"];
        assert_eq!(read_listing(&lines).map(|found| found.ranks), Some(vec![253, 252, 251, 53, 254]));
    }
}
