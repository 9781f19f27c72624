//! Passages of the current text of files: which files, and which lines of each.
//!
//! A file in work comes first: one that was changed, or read just before the hand-over. Of a file that does not fit, one run
//! of lines is shown, around what was edited last; never single lines. One that was only read is shown as it was read, or not.

use std::borrow::Cow;
use std::cmp::Reverse;

use super::chars::{after_slash, clean, inert_line, piece_of, size};
use super::files::{File, Files};
use super::outcomes::Lines;
use super::pieces::{Paper, Piece};
use super::replay::{Known, Passage, replay};
use super::steps::Step;
use crate::context::block::language_of;
use crate::context::fence::{longest_run_in, mark_of};
use crate::context::limits::{Limits, Measure, signed};
use crate::json::value::Value;
use crate::text::{Text, grouped};

const MOST_FILES: usize = 8;
/// The steps before the hand-over whose files may be in work if they were only read.
const READ_IN_WORK: usize = 12;
/// The fewest lines that are worth a passage, if the file has more.
const LEAST: usize = 8;
const TRIES: usize = 4;
const LONGEST_LINE: usize = 2_000;
/// The steps by which a change leads over a read, and a file that is named over others.
const LEAD: isize = 4;

/// The part of a file that is shown, and the section.
#[derive(Debug)]
pub(super) struct Shown<'f, 's, 'a, V> {
    pub(super) file: &'f File<'s, 'a, V>,
    pub(super) piece: Piece,
    pub(super) is_changed: bool,
}

/// Return the files that may be shown, the most important first: the first one is the file in work.
///
/// `words` are those of the plan and of the last request, which may name a file; a file is in work if it was changed in the
/// last `most_steps`.
pub(super) fn files_in_work<'f, 's, 'a, V: Value<'a>>(
    files: &'f Files<'s, 'a, V>,
    steps: &[Step<'a, V>],
    words: &str,
    most_steps: usize,
) -> Vec<&'f File<'s, 'a, V>> {
    let newest = steps.last().map_or(0, |step| step.number);
    let mut ranked: Vec<(isize, Reverse<usize>, &File<'s, 'a, V>)> = Vec::new();
    for file in &files.all {
        let last = file.last();
        let is_named = || words.contains(after_slash(&file.path));
        let last_edit = file.edits().next_back().map_or(0, |step| step.number);
        let is_in_work = last_edit + most_steps > newest || last + READ_IN_WORK > newest;
        if !is_in_work && !is_named() {
            continue;
        }
        // A change is worth a lead of some steps over a read.
        let newest_use = (signed(last) - LEAD).max(signed(last_edit));
        let age = signed(newest) - newest_use - if is_named() { LEAD } else { 0 };
        ranked.push((age, Reverse(last), file));
    }
    ranked.sort_by(|one, other| (one.0, one.1, one.2.key).cmp(&(other.0, other.1, other.2.key)));
    ranked.into_iter().take(MOST_FILES).map(|(_, _, file)| file).collect()
}

/// Return the current text of a file, or the passage of it that fits; `None` if it is not known, or has no room.
pub(super) fn show_file<'f, 's, 'a, V: Value<'a>>(
    (file, files): (&'f File<'s, 'a, V>, &Files<'s, 'a, V>),
    room: isize,
    paper: &Paper,
    lines: &Lines,
) -> Option<Shown<'f, 's, 'a, V>> {
    let known = replay(file, files);
    if known.is_gone {
        return None;
    }
    let passage = passage_in_work(&known)?;
    let region = region_of(&known, passage);
    let all_lines: Vec<&str> = passage.text.split('\n').collect();
    let language = language_of(piece_of(Cow::Borrowed(&*file.path)).text());
    let share = if paper.token > 1 { 1 } else { 3 };
    let sizes: Vec<isize> = all_lines.iter().map(|line| signed(size(line).min(LONGEST_LINE) / share + 1)).collect();
    let mut most = room - 16 * paper.token;
    for _ in 0..TRIES {
        if most <= 0 {
            return None;
        }
        let (first, last) = window(&sizes, region, most);
        if last - first < LEAST.min(all_lines.len()) {
            return None;
        }
        if known.regions.is_empty() && last - first < all_lines.len() {
            return None;
        }
        let head = heading(file, &known, passage, (first, last), lines);
        let body = all_lines.get(first..last).unwrap_or_default().join("\n");
        let body = clean(&body);
        let own = piece_of(Cow::Borrowed(&*body));
        let mark = mark_of(|character| longest_run_in(own.text(), character));
        let mark = mark.as_deref().unwrap_or("```");
        let mut piece = paper.piece(format!("{head}{mark}{language}\n{body}\n{mark}\n\n"));
        let own_limits = limits_on(own.text(), paper.limits);
        let measured = std::iter::once((piece.size, room)).chain(own_limits);
        let Some((over, limit)) = measured.into_iter().find(|(size, limit)| size > limit) else {
            piece.is_cut = last - first < all_lines.len() || !known.is_whole;
            return Some(Shown { file, piece, is_changed: file.is_changed() });
        };
        most = (most * limit).div_euclid(over) - 4 * paper.token;
    }
    None
}

/// Return the size of a text in the unit of each limit on one result, with the limit.
fn limits_on(body: Text<'_>, limits: Limits) -> impl Iterator<Item = (isize, isize)> {
    let in_tokens = limits.tokens.map(|(limit, encoding)| (Measure::Tokens(encoding).size(body), limit));
    let sizes = std::iter::once((body.len(), limits.chars)).chain(in_tokens);
    sizes.map(|(size, limit)| (signed(size), signed(limit)))
}

/// Return the passage with the newest edit, or the longest one.
fn passage_in_work(known: &Known) -> Option<&Passage> {
    let newest = known.regions.last().map(|(line, _)| *line);
    let edited =
        newest.and_then(|line| known.passages.iter().find(|passage| passage.first <= line && line <= passage.last()));
    edited.or_else(|| {
        let longest = known.passages.iter().map(|passage| passage.count).max()?;
        known.passages.iter().find(|passage| passage.count == longest)
    })
}

/// Return the lines of the passage, from 0, around which it is shown: those of the newest edit.
fn region_of(known: &Known, passage: &Passage) -> (usize, usize) {
    let inside = known.regions.iter().rev().find(|(first, last)| passage.first <= *first && *last <= passage.last());
    let place = |line: isize| usize::try_from(line - passage.first).unwrap_or(0);
    inside.map_or((0, 0), |(first, last)| (place(*first), place(last + 1)))
}

/// Return the run of lines around a region that takes at most a size: first its own lines, then lines on both sides.
fn window(sizes: &[isize], region: (usize, usize), most: isize) -> (usize, usize) {
    let (mut first, mut last) = (region.0, region.0);
    let mut left = most;
    let mut take = |place: usize| {
        let fits = sizes.get(place).is_some_and(|size| *size <= left);
        if fits {
            left -= sizes.get(place).copied().unwrap_or_default();
        }
        fits
    };
    while last < region.1 && take(last) {
        last += 1;
    }
    if last < region.1 {
        return (first, last);
    }
    let (mut is_open_before, mut is_open_after) = (true, true);
    while is_open_before || is_open_after {
        is_open_before = is_open_before && first.checked_sub(1).is_some_and(&mut take);
        first -= usize::from(is_open_before);
        is_open_after = is_open_after && take(last);
        last += usize::from(is_open_after);
    }
    (first, last)
}

/// Return the heading: the path, which lines are shown of how many, and who changed it.
fn heading<'a, V: Value<'a>>(
    file: &File<'_, 'a, V>,
    known: &Known,
    passage: &Passage,
    window: (usize, usize),
    lines: &Lines,
) -> String {
    let (first, last) = (passage.first + signed(window.0), passage.first + signed(window.1) - 1);
    let total = known.total();
    let number = || grouped(usize::try_from(total).unwrap_or(0));
    let shown = match () {
        () if known.is_whole && (first, last) == (1, total) => {
            format!("whole, {} line{}", number(), if total > 1 { "s" } else { "" })
        }
        () if known.is_whole => format!("lines {first}-{last} of {}", number()),
        () if (first, last) == (passage.first, passage.last()) => {
            format!("lines {first}-{last}; the rest is not known")
        }
        () => format!("lines {first}-{last}; known are {}-{}", passage.first, passage.last()),
    };
    let mut edits: Vec<String> = file.edits().map(|step| format!("#{}", step.number)).collect();
    edits.dedup();
    let by = match edits.get(edits.len().saturating_sub(3)..).unwrap_or_default() {
        [] => format!("read by #{}", file.last()),
        last if last.len() == edits.len() => format!("changed by {}", last.join(", ")),
        last => format!("changed by {} and {} more", last.join(", "), edits.len() - last.len()),
    };
    let unseen = file.unseen.last().filter(|unseen| **unseen > file.last());
    let unseen = unseen.map(|unseen| format!("may be changed by #{unseen}, whose result was not seen"));
    let notes = [shown, by].into_iter().chain(unseen).collect::<Vec<_>>().join("; ");
    format!("### {} ({notes})\n", inert_line(lines.path(&file.path), 150))
}
