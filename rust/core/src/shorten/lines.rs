//! Choose lines by their rank, within a number of characters.

use std::borrow::Cow;

use ahash::AHashSet;

use crate::text::grouped;

/// The rank of a line: left out as a group, shown if there is room, next to an important line, or shown first.
pub(super) type Rank = u8;

pub(super) const FOLDED: Rank = 0;
pub(super) const PLAIN: Rank = 1;
pub(super) const NEAR: Rank = 2;
pub(super) const IMPORTANT: Rank = 3;
/// The highest rank of a line of a text whose lines belong to files or folders.
pub(super) const HIGHEST: Rank = Rank::MAX;

/// The lines at the beginning of a text that tell if it is worth reading.
const FIRST: usize = 16;

/// Return true if at least half of the first lines that are not empty are known.
pub(super) fn is_promising(lines: &[&str], is_known: impl Fn(&str) -> bool) -> bool {
    let first = || lines.iter().filter(|line| !line.is_empty()).take(FIRST);
    2 * first().filter(|line| is_known(line)).count() >= first().count()
}

/// The rank of each line. Those of rank 0 are never shown.
#[derive(Clone, Debug)]
pub(super) struct Ranking {
    pub(super) ranks: Vec<Rank>,
    /// The name of the lines of a gap if all are of rank 0, or of one group.
    pub(super) label: &'static str,
    /// The lowest rank that counts: without a line of it or of a higher one, nothing is shown.
    pub(super) least: Rank,
    /// The numbers of the files or folders that the lines belong to.
    pub(super) groups: Vec<usize>,
    pub(super) unit: &'static str,
    /// For each line the one that must be shown with it, such as its header, or its own place. Empty if there are none.
    pub(super) above: Vec<usize>,
}

impl Ranking {
    /// Return the line for lines that are left out, `count` of which are not empty.
    fn gap(&self, start: usize, end: usize, count: usize) -> String {
        let owners: AHashSet<usize> = self.groups.get(start..end).unwrap_or_default().iter().copied().collect();
        let is_named = match owners.len() {
            0 => self.ranks.get(start..end).is_some_and(|gap| gap.iter().all(|rank| *rank == FOLDED)),
            owners => owners == 1,
        };
        let name = if is_named { format!(" {}", self.label) } else { String::new() };
        let plural = if count > 1 { "s" } else { "" };
        let mut gap = format!("... {}{name} line{plural}", grouped(count));
        if owners.len() > 1 {
            gap.extend([" of ", &grouped(owners.len()), " ", self.unit]);
        }
        gap
    }
}

/// Return the lines of the highest ranks that fit, in order, with a line for each gap; `None` without important ones.
///
/// Within a rank, lines are taken from both ends in turns.
pub(super) fn choose(lines: &[&str], ranking: &Ranking, room: usize) -> Option<String> {
    let mut taken = vec![false; lines.len()];
    let most = grouped(lines.len());
    let mut gap = format!("... {most} {} lines\n", ranking.label).len();
    if !ranking.unit.is_empty() {
        gap = gap.max(format!("... {most} lines of {most} {}\n", ranking.unit).len());
    }
    let mut left = room.checked_sub(gap)?;
    let mut is_enough = false;
    let mut own = Vec::new();
    let mut places = vec![Vec::new(); usize::from(HIGHEST) + 1];
    for (place, rank) in ranking.ranks.iter().enumerate() {
        places.get_mut(usize::from(*rank))?.push(place);
    }
    for (rank, places) in places.iter().enumerate().skip(1).rev() {
        for mut place in both_ends(places) {
            own.clear();
            let mut size = 0;
            let mut freed = 0;
            while taken.get(place) == Some(&false) {
                let is_open = |place: Option<usize>| place.and_then(|place| taken.get(place)) == Some(&false);
                let gaps = usize::from(is_open(place.checked_sub(1))) + usize::from(is_open(Some(place + 1)));
                // A line that closes a gap gives its room back.
                size += lines.get(place)?.chars().count() + 1 + gap * gaps;
                freed += gap;
                *taken.get_mut(place)? = true;
                own.push(place);
                place = ranking.above.get(place).copied().unwrap_or(place);
            }
            if size <= left + freed {
                left = left + freed - size;
                is_enough |= rank >= usize::from(ranking.least);
            } else {
                for place in &own {
                    *taken.get_mut(*place)? = false;
                }
            }
        }
    }
    is_enough.then(|| shown(lines, ranking, &taken))
}

/// Return places in the order first, last, second, and so on.
pub(crate) fn both_ends(places: &[usize]) -> impl Iterator<Item = usize> {
    let (first, last) = places.split_at(places.len().div_ceil(2));
    let last = last.iter().rev().copied().map(Some).chain([None]);
    first.iter().copied().zip(last).flat_map(|(first, last)| [Some(first), last]).flatten()
}

fn shown(lines: &[&str], ranking: &Ranking, taken: &[bool]) -> String {
    let mut shown: Vec<Cow<'_, str>> = Vec::new();
    let mut start = 0;
    for place in 0..=lines.len() {
        let line = lines.get(place);
        if line.is_some() && taken.get(place) == Some(&false) {
            continue;
        }
        if start < place {
            let left_out = lines.get(start..place).unwrap_or_default();
            let count = left_out.iter().filter(|line| !line.is_empty()).count();
            shown.push(Cow::Owned(if count == 0 { String::new() } else { ranking.gap(start, place, count) }));
        }
        shown.extend(line.map(|line| Cow::Borrowed(*line)));
        start = place + 1;
    }
    shown.join("\n")
}

#[cfg(test)]
mod tests {
    use super::{FOLDED, IMPORTANT, Ranking, both_ends, choose};

    #[test]
    fn places_come_from_both_ends() {
        assert_eq!(both_ends(&[1, 2, 3, 4, 5]).collect::<Vec<_>>(), [1, 5, 2, 4, 3]);
        assert_eq!(both_ends(&[1, 2]).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(both_ends(&[]).count(), 0);
    }

    #[test]
    fn folded_lines_are_counted() {
        let lines = ["aaaa", "b", "c", "e"];
        let ranking = |ranks: [u8; 4]| Ranking {
            ranks: ranks.to_vec(),
            label: "passing",
            least: IMPORTANT,
            groups: Vec::new(),
            unit: "",
            above: Vec::new(),
        };
        let found = choose(&lines, &ranking([IMPORTANT, FOLDED, FOLDED, IMPORTANT]), 60);
        assert_eq!(found.as_deref(), Some("aaaa\n... 2 passing lines\ne"));
        assert_eq!(choose(&lines, &ranking([FOLDED; 4]), 60), None);
    }
}
