//! The section of a summary, cut to the room.

use super::limits::{Cut, Limits, Measure, room_of, signed};
use super::summary::clean_summary;
use crate::text::OwnedText;
use crate::text::constants::{SUMMARY_HEADING, TRUNCATED};
use crate::text::piece::Piece;
use crate::text::truncate::Keep;

/// The section of a summary; empty where there is none, or no room for it.
#[derive(Debug, Default)]
pub(crate) struct FittedSummary {
    pub(crate) section: OwnedText,
    pub(crate) is_cut: bool,
    pub(crate) has_no_room: bool,
}

/// The section of a summary, cut to the room.
pub(crate) fn fit_summary(summary: &Piece<'_>, (room, measure): (isize, Measure)) -> FittedSummary {
    let text = clean_summary(summary);
    if text.as_text().is_empty() {
        return FittedSummary::default();
    }
    let fits = |section: &OwnedText| signed(measure.size(section.as_text())) <= room;
    let section = section_of(&text);
    if fits(&section) {
        return FittedSummary { section, ..FittedSummary::default() };
    }
    let rest = room - signed(measure.size(section_of(&OwnedText::default()).as_text()));
    let limit = room_of(if rest < 80 { rest.div_euclid(2) } else { rest - 40 });
    let section = section_of(&clean_summary(&shortened(Piece::own(text), Limits::NONE.within(limit, measure))));
    let has_no_room = !fits(&section);
    FittedSummary { section: if has_no_room { OwnedText::default() } else { section }, is_cut: true, has_no_room }
}

fn section_of(text: &OwnedText) -> OwnedText {
    let mut section = OwnedText::default();
    section.push_ascii(SUMMARY_HEADING);
    section.push(text.as_text());
    section.push_ascii("\n\n");
    section
}

/// A text within its limits, with a marker where it was cut.
fn shortened(text: Piece<'_>, limits: Limits) -> Piece<'_> {
    let Err(cut) = Cut::of(&text, limits, Keep::Head) else { return text };
    let mut short = OwnedText::default();
    short.push(cut.head.text());
    short.push_ascii(TRUNCATED);
    Piece::own(short)
}
