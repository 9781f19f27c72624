//! The difference of two texts, line by line, with removed lines next to those that replace them.
//!
//! Lines that occur exactly once in both texts, in the same order, are the anchors (the idea of patience diff, by Bram
//! Cohen). Between two anchors, equal lines at both ends are unchanged, and the rest was replaced. That takes n log n
//! steps.

use ahash::AHashMap;

use crate::text::grouped;

const CONTEXT: usize = 2;
/// The removed lines in a row that are shown, and how many of more: what is gone says little to one who goes on.
const MOST_REMOVED: usize = 8;
const SHOWN_REMOVED: usize = 3;

/// Return the lines of a difference, with `-`, `+` or a space before them; few of those that are unchanged.
pub(super) fn diff_lines(old: &str, new: &str) -> Vec<String> {
    // A line feed that only one text has at its end joins or parts lines.
    let ends = old.is_empty() || new.is_empty() || old.ends_with('\n') == new.ends_with('\n');
    let (before, after): (Vec<&str>, Vec<&str>) = (lines_in(old, ends).collect(), lines_in(new, ends).collect());
    let mut lines = Vec::new();
    let (mut at, mut start) = (0, 0);
    for (place, other) in anchors(&before, &after).into_iter().chain([(before.len(), after.len())]) {
        compare(before.get(at..place).unwrap_or_default(), after.get(start..other).unwrap_or_default(), &mut lines);
        if let Some(line) = before.get(place) {
            lines.push(format!(" {line}"));
        }
        (at, start) = (place + 1, other + 1);
    }
    near_changes(lines)
}

/// Return the lines of a text; none of an empty one. A line feed `ends` the last one, or an empty line follows it.
fn lines_in(text: &str, ends: bool) -> impl Iterator<Item = &str> {
    let lines = (!text.is_empty()).then(|| text.strip_suffix('\n').filter(|_| ends).unwrap_or(text).split('\n'));
    lines.into_iter().flatten()
}

/// Return the lines of a difference, in which only the first ones of many removed lines in a row are left.
pub(super) fn without_long_removals(lines: Vec<String>) -> Vec<String> {
    let mut found = Vec::with_capacity(lines.len());
    let mut removed = 0;
    let note = |removed: usize| format!("@@ {} more removed lines", grouped(removed - SHOWN_REMOVED));
    for line in lines {
        if line.starts_with('-') {
            removed += 1;
        } else {
            fold_removed(&mut found, removed, note);
            removed = 0;
        }
        found.push(line);
    }
    fold_removed(&mut found, removed, note);
    found
}

/// Put a note in the place of the removed lines at the end, if they are many.
fn fold_removed(found: &mut Vec<String>, removed: usize, note: impl Fn(usize) -> String) {
    if removed > MOST_REMOVED {
        found.truncate(found.len() - removed + SHOWN_REMOVED);
        found.push(note(removed));
    }
}

/// Return how many lines a difference removes, and how many it adds.
pub(super) fn counts(lines: &[String]) -> (usize, usize) {
    let count = |sign: char| lines.iter().filter(|line| line.starts_with(sign)).count();
    (count('-'), count('+'))
}

/// Return the places of lines that both texts have once, in the longest row in which they keep their order.
fn anchors(before: &[&str], after: &[&str]) -> Vec<(usize, usize)> {
    let mut once: AHashMap<&str, Option<usize>> = AHashMap::with_capacity(before.len());
    for (place, line) in before.iter().enumerate() {
        once.entry(line).and_modify(|known| *known = None).or_insert(Some(place));
    }
    let mut others: AHashMap<&str, Option<usize>> = AHashMap::new();
    for (place, line) in after.iter().enumerate() {
        if once.contains_key(line) {
            others.entry(line).and_modify(|known| *known = None).or_insert(Some(place));
        }
    }
    let pair = |(place, line): (usize, &&str)| {
        let other = others.get(line).copied().flatten()?;
        (once.get(line) == Some(&Some(place))).then_some((place, other))
    };
    let pairs: Vec<(usize, usize)> = before.iter().enumerate().filter_map(pair).collect();
    longest_row(&pairs)
}

/// Return the longest row of pairs in which the second places keep their order.
fn longest_row(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // The last place of each pile, and the number of the pair that has it.
    let mut piles: Vec<(usize, usize)> = Vec::new();
    let mut above: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (number, (_, other)) in pairs.iter().enumerate() {
        let pile = piles.partition_point(|(last, _)| last < other);
        above.push(pile.checked_sub(1).and_then(|before| piles.get(before)).map(|(_, number)| *number));
        match piles.get_mut(pile) {
            Some(top) => *top = (*other, number),
            None => piles.push((*other, number)),
        }
    }
    let mut found = Vec::new();
    let mut next = piles.last().map(|(_, number)| *number);
    while let Some(number) = next {
        found.extend(pairs.get(number));
        next = above.get(number).copied().flatten();
    }
    found.reverse();
    found
}

/// Add the difference of the lines between two anchors.
fn compare(old: &[&str], new: &[&str], lines: &mut Vec<String>) {
    let head = old.iter().zip(new).take_while(|(before, after)| before == after).count();
    let (old_rest, new_rest) = (old.get(head..).unwrap_or_default(), new.get(head..).unwrap_or_default());
    let tail = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(before, after)| before == after).count();
    let mut add = |sign: &str, part: &[&str]| lines.extend(part.iter().map(|line| format!("{sign}{line}")));
    add(" ", old.get(..head).unwrap_or_default());
    add("-", old_rest.get(..old_rest.len() - tail).unwrap_or_default());
    add("+", new_rest.get(..new_rest.len() - tail).unwrap_or_default());
    add(" ", old_rest.get(old_rest.len() - tail..).unwrap_or_default());
}

/// Return the lines that changed, with some around them, and a line for each gap between them.
fn near_changes(lines: Vec<String>) -> Vec<String> {
    let mut near = vec![false; lines.len()];
    for (place, line) in lines.iter().enumerate() {
        if !line.starts_with(' ') {
            let end = (place + CONTEXT + 1).min(lines.len());
            near.get_mut(place.saturating_sub(CONTEXT)..end).unwrap_or_default().fill(true);
        }
    }
    let mut found: Vec<String> = Vec::new();
    let mut was_near = true;
    for (line, is_near) in lines.into_iter().zip(near) {
        if is_near {
            if !was_near && !found.is_empty() {
                found.push("@@".to_owned());
            }
            found.push(line);
        }
        was_near = is_near;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{counts, diff_lines, without_long_removals};

    #[test]
    fn lines_stand_next_to_those_that_replace_them() {
        let found = diff_lines("a\nb\nc", "a\nB\nc");
        assert_eq!(found, [" a", "-b", "+B", " c"]);
        assert_eq!(counts(&found), (1, 1));
        let removed = without_long_removals(["-a"; 12].map(str::to_owned).to_vec());
        assert_eq!(removed, ["-a", "-a", "-a", "@@ 9 more removed lines"]);
        assert!(diff_lines("", "").is_empty());
    }

    #[test]
    fn lines_that_moved_are_removed_and_added() {
        assert_eq!(diff_lines("a\nb\nc\nd", "d\na\nb\nc"), ["+d", " a", " b", " c", "-d"]);
    }
}
