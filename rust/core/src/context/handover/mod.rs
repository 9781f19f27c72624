//! The hand-over (`layout="handover"`): a context with which another model goes on with the work.
//!
//! The calls become numbered steps in time order ([`steps`]), by their kinds ([`kinds`]), with cleaned results ([`clean`]).
//! From them follow the plan ([`plan`]), the open failures ([`failures`]), the current text of files ([`files`],
//! [`passages`]), the ledger ([`ledger`]) and the latest steps ([`latest`]), among which [`layout`] divides the room.

use self::kinds::{StepKind, kind_of};
use self::layout::HandOver;
use self::steps::{Step, mark_pending};
use super::policy::{Fate, Settings, Trace};
use crate::dedupe::rules::Rule;
use crate::json::value::Value;
use crate::pairing::block::Entry;
use crate::text::piece::Piece;
use crate::text::{OwnedText, Text};

pub(crate) use self::clean::folded_output;
pub(crate) use self::kinds::asks_agent;
pub use self::layout::StepPlace;
pub(super) use self::plan::plan_section;
pub(crate) use self::spoken::{Spoken, spoken_in};

mod chars;
mod clean;
mod diff;
mod failures;
mod files;
mod kinds;
mod latest;
mod layout;
mod ledger;
mod listings;
mod other_changes;
mod outcomes;
mod passages;
mod patches;
mod pieces;
mod plan;
mod reads;
mod replay;
mod shell_reads;
mod spoken;
mod step_text;
mod steps;

/// A call of a hand-over, which calls it `#number`, and where it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumberedCall {
    /// The number, counted from 1 in the order of the calls.
    pub number: usize,
    /// The position of its message.
    pub position: usize,
    /// Its id.
    pub call_id: OwnedText,
    /// Where it is shown.
    pub place: StepPlace,
}

/// A hand-over, and the numbers of its report.
#[derive(Debug, Default)]
pub(super) struct HandedOver {
    pub(super) text: String,
    pub(super) shown: usize,
    pub(super) cut: usize,
    pub(super) left_out: usize,
    pub(super) merged: usize,
    pub(super) summary_cut: bool,
    pub(super) budget_too_small: bool,
    /// The tokens of the text, if the total counts tokens.
    pub(super) tokens: Option<usize>,
    pub(super) block_tokens: Vec<(usize, usize)>,
    pub(super) calls: Vec<NumberedCall>,
    pub(super) trace: Trace,
}

/// Return the hand-over of prepared entries, oldest first.
pub(super) fn hand_over<'a, V: Value<'a>>(
    found: Vec<(Entry<'a, V>, &Rule)>,
    spoken: &Spoken<'a>,
    summary: &Piece<'_>,
    settings: &Settings,
) -> HandedOver {
    let requests = &spoken.requests;
    let mut steps: Vec<Step<'a, V>> = Vec::with_capacity(found.len());
    let mut turn = 0;
    for (number, (entry, rule)) in found.into_iter().enumerate() {
        while requests.get(turn).is_some_and(|request| request.position <= entry.position) {
            turn += 1;
        }
        steps.push(Step::new(entry, number + 1, turn, rule));
    }
    mark_pending(&mut steps, requests.last().map(|request| request.position));
    let newest = steps.last().map(|step| step.entry.position);
    let answer = spoken.answer.as_ref().filter(|answer| newest.is_none_or(|newest| answer.position > newest));
    let mut writer = HandOver::new(settings, summary);
    let text = writer.write(&steps, requests, answer);
    let mut handed = HandedOver {
        summary_cut: writer.summary_cut,
        budget_too_small: writer.has_no_room || (text.is_empty() && !steps.is_empty()),
        ..HandedOver::default()
    };
    for (step, place) in steps.iter().zip(&writer.places) {
        let place = if text.is_empty() { StepPlace::LeftOut } else { *place };
        let is_cut = place == StepPlace::Step && writer.cut.contains(&step.number);
        let (fate, reason) = match place {
            StepPlace::Step if is_cut => (Fate::Cut, "total"),
            StepPlace::Step => (Fate::Shown, ""),
            StepPlace::Ledger => (Fate::Cut, "ledger"),
            StepPlace::File => (Fate::Cut, "file_text"),
            StepPlace::Merged => (Fate::Superseded, "merged"),
            StepPlace::LeftOut => (Fate::LeftOut, "budget"),
        };
        match fate {
            Fate::Shown => handed.shown += 1,
            Fate::Cut => (handed.shown, handed.cut) = (handed.shown + 1, handed.cut + 1),
            Fate::Superseded => handed.merged += 1,
            Fate::LeftOut | Fate::Excluded => handed.left_out += 1,
        }
        let entry = &step.entry;
        if place == StepPlace::Step && !settings.measure.is_characters() {
            let size = writer.sizes.get(&step.number).copied().unwrap_or_default();
            handed.block_tokens.push((entry.position, size.unsigned_abs()));
        }
        let call_id = own_text(entry.call_id);
        handed.calls.push(NumberedCall { number: step.number, position: entry.position, call_id, place });
        handed.trace.push((entry.age, fate, reason));
    }
    if !settings.measure.is_characters() {
        handed.tokens = Some(usize::try_from(writer.size).unwrap_or(0));
    }
    handed.text = text;
    handed
}

/// Return true if an entry is a call about a plan.
pub(super) fn is_about_plan<'a, V: Value<'a>>(entry: &Entry<'a, V>) -> bool {
    kind_of(entry) == StepKind::Plan
}

fn own_text(text: Text<'_>) -> OwnedText {
    OwnedText::from(text)
}
