//! Choose lines by their rank, within a number of characters.

use crate::text::grouped;

/// The rank of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    /// Left out as a group.
    Folded,
    /// Shown if there is room.
    Plain,
    /// Next to an important line.
    Near,
    /// Shown first.
    Important,
}

/// Return the lines of the highest ranks that fit, in order, with a line for each gap; `None` without important ones.
///
/// Within a rank, lines are taken from both ends in turns. `label` names the folded lines.
pub(super) fn choose(lines: &[&str], ranks: &[Rank], room: usize, label: &str) -> Option<String> {
    let mut taken = vec![false; lines.len()];
    let gap = format!("... {} {label} lines\n", grouped(lines.len())).len();
    let mut left = room.checked_sub(gap)?;
    let mut has_important = false;
    for rank in [Rank::Important, Rank::Near, Rank::Plain] {
        let places: Vec<usize> = (0..lines.len()).filter(|place| ranks.get(*place) == Some(&rank)).collect();
        for place in both_ends(&places) {
            let is_open = |place: Option<usize>| place.and_then(|place| taken.get(place)) == Some(&false);
            let gaps = usize::from(is_open(place.checked_sub(1))) + usize::from(is_open(Some(place + 1)));
            // A line that closes a gap gives its room back.
            let size = lines.get(place)?.chars().count() + 1 + gap * gaps;
            if size <= left + gap {
                *taken.get_mut(place)? = true;
                left = left + gap - size;
                has_important |= rank == Rank::Important;
            }
        }
    }
    has_important.then(|| shown(lines, ranks, &taken, label))
}

/// Return places in the order first, last, second, and so on.
fn both_ends(places: &[usize]) -> impl Iterator<Item = usize> {
    let (first, last) = places.split_at(places.len().div_ceil(2));
    let last = last.iter().rev().copied().map(Some).chain([None]);
    first.iter().copied().zip(last).flat_map(|(first, last)| [Some(first), last]).flatten()
}

fn shown(lines: &[&str], ranks: &[Rank], taken: &[bool], label: &str) -> String {
    let mut shown: Vec<String> = Vec::new();
    let mut start = 0;
    for place in 0..=lines.len() {
        let line = lines.get(place);
        if line.is_some() && taken.get(place) == Some(&false) {
            continue;
        }
        let count = place - start;
        let is_blank = lines.get(start..place).is_some_and(|gap| gap.iter().all(|line| line.is_empty()));
        if count > 0 && is_blank {
            shown.push(String::new());
        } else if count > 0 {
            let is_folded = ranks.get(start..place).is_some_and(|gap| gap.iter().all(|rank| *rank == Rank::Folded));
            let name = if is_folded { format!(" {label}") } else { String::new() };
            let plural = if count > 1 { "s" } else { "" };
            shown.push(format!("... {}{name} line{plural}", grouped(count)));
        }
        shown.extend(line.map(|line| (*line).to_owned()));
        start = place + 1;
    }
    shown.join("\n")
}

#[cfg(test)]
mod tests {
    use super::Rank::{Folded, Important};
    use super::{both_ends, choose};

    #[test]
    fn places_come_from_both_ends() {
        assert_eq!(both_ends(&[1, 2, 3, 4, 5]).collect::<Vec<_>>(), [1, 5, 2, 4, 3]);
        assert_eq!(both_ends(&[1, 2]).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(both_ends(&[]).count(), 0);
    }

    #[test]
    fn folded_lines_are_counted() {
        let lines = ["aaaa", "b", "c", "e"];
        let found = choose(&lines, &[Important, Folded, Folded, Important], 60, "passing");
        assert_eq!(found.as_deref(), Some("aaaa\n... 2 passing lines\ne"));
        assert_eq!(choose(&lines, &[Folded; 4], 60, "passing"), None);
    }
}
