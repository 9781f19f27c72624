//! The texts of a block in what is left of the total: whole, or as much of them as has room.

use super::fence::{Fenced, Source, fence, fence_into};
use super::limits::{Limits, Measure, room_of, signed};
use super::output::Output;
use crate::json::value::Value;

/// The texts of a block.
pub(crate) type Sources<'a, V> = [Option<Source<'a, V>>; 2];

/// What a block's texts take, and whether one of them is cut.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Fitted {
    pub(crate) size: usize,
    pub(crate) is_cut: bool,
}

impl Fitted {
    fn add(&mut self, fenced: Fenced) {
        self.size += fenced.size;
        self.is_cut |= fenced.is_cut;
    }
}

/// Let `out` keep a block's texts, each fenced and up to the limits on one result; `None`, and nothing is kept, where
/// there is no room for that.
pub(crate) fn fit_whole<'a, V: Value<'a>>(
    sources: &Sources<'a, V>,
    own: Limits,
    (room, measure): (isize, Measure),
    out: &mut Output<'a>,
) -> Option<Fitted> {
    let (start, mut left, mut fitted) = (out.end(), room, Fitted::default());
    for (source, end) in with_ends(sources) {
        let limits = limits_on(source, own);
        // Tokens of a part are not simply fewer than those of the whole: there is no shorter way to see what is too long.
        let tight = if measure.is_characters() { limits.within(room_of(left), measure) } else { limits };
        let found = (left >= 0).then(|| fence(source, tight, measure, end, out));
        let Some(found) = found.filter(|found| !(found.is_cut && tight.chars < limits.chars)) else {
            left = -1;
            break;
        };
        left -= signed(found.size);
        fitted.add(found);
    }
    if left < 0 {
        out.go_back(start);
    }
    (left >= 0).then_some(fitted)
}

/// Let `out` keep a block's texts, each fenced and cut to the room; `None`, and nothing is kept, where too little of
/// them would be shown.
pub(crate) fn fit_part<'a, V: Value<'a>>(
    sources: &Sources<'a, V>,
    own: Limits,
    (room, measure): (isize, Measure),
    out: &mut Output<'a>,
) -> Option<Fitted> {
    let (start, mut left, mut fitted) = (out.end(), room, Fitted::default());
    for (source, end) in with_ends(sources) {
        let share = if end.is_empty() { (left - 1).div_euclid(2) } else { left };
        let found = usize::try_from(share)
            .ok()
            .and_then(|share| fence_into(source, limits_on(source, own), (share, measure), end, out));
        let Some(found) = found else {
            out.go_back(start);
            return None;
        };
        left -= signed(found.size);
        fitted.add(found);
    }
    (out.end() != start).then_some(fitted)
}

/// The limits on one text: a command is shown whole.
fn limits_on<V>(source: &Source<'_, V>, own: Limits) -> Limits {
    if source.is_exempt { Limits::NONE } else { own }
}

/// The texts of a block, each with what stands behind its fence: behind the last one the line that ends the block.
fn with_ends<'s, 'a, V>(sources: &'s Sources<'a, V>) -> impl Iterator<Item = (&'s Source<'a, V>, &'static str)> {
    let count = sources.iter().flatten().count();
    let sources = sources.iter().flatten().enumerate();
    sources.map(move |(number, source)| (source, if number + 1 == count { "\n" } else { "" }))
}
