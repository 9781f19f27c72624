//! The latest steps, in time order: each call with its result, and the requests of the user at their places.
//!
//! Steps are taken from the newest backwards. Each may take a share of what is left, so that the newest ones have the most
//! room; where the share is too small for a step's text, its heading and one line about the result are shown.

use std::marker::PhantomData;

use ahash::AHashSet;

use super::kinds::StepKind;
use super::pieces::Piece;
use super::spoken::NumberedTurn;
use super::step_text::StepWriter;
use super::steps::Step;
use crate::context::limits::signed;
use crate::json::value::Value;
use crate::text::OwnedText;

/// The newest steps, of which each may take half of what is left if it is cut; an older one may take a third.
const NEWEST: usize = 5;
const MOST: usize = 60;
/// The tokens that every step may take, if they are left.
const FREE: isize = 140;
/// The hundredths of what is left that a step may take if it is whole then: one of the newest, and an older one.
const WHOLE_NEWEST: isize = 88;
const WHOLE: isize = 50;
/// The tokens below which no older step is tried.
const LEAST: isize = 24;
/// The newest steps whose changes are shown before the output of other steps, in at most three fifths of the room.
const CHANGES: usize = 10;
/// The older steps with one line about a result that has more. The next one ends the latest steps.
const MOST_OUTLINED: usize = 2;

/// The latest steps that fit, and the requests between them.
#[derive(Debug, Default)]
pub(super) struct Latest {
    /// The pieces with their places in time: the position of the message, and the number of the call.
    pub(super) pieces: Vec<(usize, usize, Piece)>,
    /// The numbers of the calls that are shown.
    pub(super) numbers: AHashSet<usize>,
    /// The numbers of the steps that are equal to the one after them, which stands for both.
    pub(super) merged: AHashSet<usize>,
    pub(super) turns: AHashSet<usize>,
    pub(super) size: isize,
}

impl Latest {
    fn add(&mut self, position: usize, number: usize, piece: Piece) {
        self.size += piece.size;
        self.pieces.push((position, number, piece));
    }

    /// Spend what is left on the steps that were shortened, the newest first.
    pub(super) fn grow<'a, V: Value<'a>>(
        &mut self,
        steps: &[Step<'a, V>],
        writer: &StepWriter<'_, 'a, V>,
        mut room: isize,
        least: isize,
    ) {
        for (_, number, piece) in &mut self.pieces {
            if room < least {
                return;
            }
            let step = number.checked_sub(1).filter(|_| piece.is_cut).and_then(|place| steps.get(place));
            let grown = step.and_then(|step| writer.write(step, piece.size + room));
            if let Some(grown) = grown.filter(|grown| grown.size > piece.size) {
                room -= grown.size - piece.size;
                self.size += grown.size - piece.size;
                *piece = grown;
            }
        }
    }

    /// Return true if all of its steps came after so many requests.
    pub(super) fn begins_after<V>(&self, request: usize, steps: &[Step<'_, V>]) -> bool {
        let place = |number: &usize| number.checked_sub(1).and_then(|place| steps.get(place));
        self.numbers.iter().filter_map(place).all(|step| step.turn >= request)
    }

    /// Leave out a request that stands elsewhere, and is not paid for here.
    pub(super) fn drop_request(&mut self, place: usize) {
        self.pieces.retain(|(position, number, _)| (*position, *number) != (place, 0));
    }

    /// Return the pieces in time order.
    pub(super) fn text(&mut self) -> String {
        self.pieces.sort_by_key(|(position, number, _)| (*position, *number));
        self.pieces.iter().map(|(_, _, piece)| &*piece.text).collect()
    }
}

/// Return the number of the first of the steps up to this one that are equal, with their results.
fn first_equal<'a, V: Value<'a>>(steps: &[Step<'a, V>], last: &Step<'a, V>) -> usize {
    let before = steps.get(..last.number).unwrap_or_default();
    let pairs = before.windows(2).rev();
    let equal = pairs.take_while(|pair| matches!(pair, [one, other] if is_equal(one, other))).count();
    last.number - equal
}

/// Return true if two steps asked for the same and got the same.
fn is_equal<'a, V: Value<'a>>(one: &Step<'a, V>, other: &Step<'a, V>) -> bool {
    let key = |step: &Step<'a, V>| (step.state, step.turn, step.entry.text.len());
    one.entry.tool_name == other.entry.tool_name
        && key(one) == key(other)
        && one.directory == other.directory
        && one.given().zip(other.given()).is_some_and(|(one, other)| are_same(one, other))
        && one.text() == other.text()
}

/// Return true if two objects have the same members.
fn are_same<'a, V: Value<'a>>(one: V, other: V) -> bool {
    let members = |object: V| {
        let mut found: Vec<(String, OwnedText)> = Vec::with_capacity(object.size());
        object.members(&mut |name, value| {
            found.push((name.to_utf8(), value.json()));
            true
        });
        found.sort_by(|(one, _), (other, _)| one.cmp(other));
        found
    };
    one.size() == other.size() && members(one) == members(other)
}

/// Return the room that the newest changes of files need, as far as they fit, with the numbers of their steps.
///
/// A step is written whole if it has a `spare` room besides its size.
fn newest_changes<'a, V: Value<'a>>(
    steps: &[Step<'a, V>],
    writer: &StepWriter<'_, 'a, V>,
    (mut room, spare): (isize, isize),
) -> Vec<(usize, isize)> {
    let newest = steps.iter().rev().take(CHANGES).filter(|step| step.is_change() && step.has_succeeded());
    let mut found = Vec::new();
    for step in newest {
        let Some(piece) = writer.write(step, room).filter(|piece| !piece.is_outlined) else { break };
        found.push((step.number, piece.size + spare));
        room -= piece.size + spare;
    }
    found
}

/// Return the newest steps that fit into a room. `last_request` is paid for already.
///
/// The newest ones may take from the `spare` room, too, which is meant for something else.
pub(super) fn take_latest<'a, V: Value<'a>>(
    steps: &[Step<'a, V>],
    requests: &[NumberedTurn<'a>],
    last_request: Option<&Piece>,
    writer: &mut StepWriter<'_, 'a, V>,
    (room, spare): (isize, isize),
) -> Latest {
    let mut found = Latest::default();
    let paper = writer.paper;
    let mut turn = requests.len();
    if let (Some(request), Some(piece)) = (requests.last(), last_request) {
        found.add(request.position, 0, Piece { size: 0, ..piece.clone() });
        found.turns.insert(request.position);
        turn -= 1;
    }
    let (mut left, mut outlined) = (room, 0);
    let title = LEAST * paper.token;
    let kept = newest_changes(steps, writer, (room * 3 / 5, title));
    let mut after = steps.len() + 1;
    for step in steps.iter().rev() {
        if left < LEAST * paper.token || found.numbers.len() >= MOST {
            break;
        }
        if step.number >= after {
            continue;
        }
        if step.kind == StepKind::Plan && step.has_succeeded() {
            continue;
        }
        while turn > step.turn {
            turn -= 1;
            let Some(request) = requests.get(turn) else { continue };
            let asked = paper.spoken("User", &request.text, left.div_euclid(3), PhantomData::<V>);
            let asked = asked.unwrap_or_else(|| paper.spoken_in_short("User", &request.text));
            if asked.size > left {
                return found;
            }
            left -= asked.size;
            found.add(request.position, 0, asked);
            found.turns.insert(request.position);
        }
        let first = first_equal(steps, step);
        if first < step.number {
            writer.runs.insert(step.number, first);
        }
        let is_newest = found.numbers.len() < NEWEST;
        let changes = || kept.iter().filter(|(number, _)| *number < step.number);
        let between = changes().last().map_or(0, |(first, _)| step.number - first - changes().count());
        let older = changes().map(|(_, size)| size).sum::<isize>() + signed(between) * title;
        let free = (left - older).max(left.min(title));
        let part = free.div_euclid(if is_newest { 2 } else { 3 }).max(free.min(FREE * paper.token));
        let more = if older > 0 { 0 } else { spare };
        let whole = if is_newest { (free + more) * WHOLE_NEWEST } else { free * WHOLE }.div_euclid(100);
        let own = kept.iter().find(|(number, _)| *number == step.number).map_or(0, |(_, size)| left.min(*size));
        let part = part.max(own);
        let piece = writer.write(step, part.max(whole)).filter(|piece| !piece.is_cut);
        let Some(piece) = piece.or_else(|| writer.write(step, part)) else { break };
        if piece.is_outlined && found.numbers.len() >= NEWEST && older == 0 {
            outlined += 1;
            if outlined > MOST_OUTLINED {
                break; // a line of the ledger says as much
            }
        }
        left -= piece.size;
        found.numbers.insert(step.number);
        found.add(step.entry.position, step.number, piece);
        found.merged.extend(first..step.number);
        after = first;
        if older == 0 && own > 0 {
            // Nothing is kept any more: the newer steps get what it left.
            let size = found.size;
            found.grow(steps, writer, (left + spare) * 2 / 3, title);
            left -= found.size - size;
        }
    }
    found
}
