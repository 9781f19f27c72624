//! The ledger: one line for each call that is shown nowhere else, and for each earlier request of the user.
//!
//! Equal calls share a line, with all of their numbers. Lines that are worth most are taken first, and stand in time order.

use std::cell::OnceCell;
use std::cmp::Reverse;

use ahash::{AHashMap, AHashSet};

use super::chars::{head, in_one_line, inert_line, short_line};
use super::files::Files;
use super::kinds::{HEADINGS, LASTING, StepKind};
use super::outcomes::{Lines, is_item, lines_of_change};
use super::pieces::{Paper, Piece};
use super::spoken::NumberedTurn;
use super::steps::{State, Step};
use crate::dedupe::shell::has_side_effects;
use crate::json::value::Value;
use crate::text::grouped;

/// The requests that come before all calls; older ones come with the calls of the current request.
const NEWEST_REQUESTS: usize = 8;
const RANK_OF_OLDER_REQUESTS: usize = 3;
/// The lines that do not fit after which no other one is tried.
const MOST_MISSES: usize = 8;
const MOST_NUMBERS: usize = 6;
const LONGEST_TITLE: usize = 100;
/// The characters of a command of which it is asked if it changes anything.
const LONGEST_COMMAND: usize = 400;

/// A line of the ledger: where it stands, and the calls that it is about.
#[derive(Clone, Debug)]
struct Line {
    position: usize,
    order: usize,
    text: String,
    /// Its size, and the size that it may have in the end.
    size: isize,
    most: isize,
    numbers: Vec<usize>,
}

/// The section, the numbers of calls with a line of their own, and of those in the line of another one.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    pub(super) piece: Piece,
    pub(super) listed: AHashSet<usize>,
    pub(super) merged: AHashSet<usize>,
    /// True if the last request of the user stands in it, before the calls that came after it.
    pub(super) has_request: bool,
}

/// The facts that all steps of one line share: the request, the outcome, and the topic, with the directory of a command.
type Sign<'w> = (usize, StepKind, State, &'w str, &'w str);

/// A line that may be taken, by what it is about.
enum Candidate<'g, 's, 'a, V> {
    Request(&'s NumberedTurn<'a>),
    Calls(&'g [&'s Step<'a, V>]),
}

/// The ranks of lines: 0 is worth most.
const RANKS: std::ops::RangeInclusive<usize> = 0..=4;
/// No line is smaller.
const LEAST: isize = 5;

/// Writes the ledger. Lines are made once, when they are first wanted.
pub(super) struct LedgerWriter<'s, 'a, V> {
    steps: &'s [Step<'a, V>],
    requests: &'s [NumberedTurn<'a>],
    resolved: &'s AHashMap<usize, usize>,
    files: &'s Files<'s, 'a, V>,
    lines: &'s Lines,
    paper: Paper,
    longest: usize,
    signs: Vec<OnceCell<Box<str>>>,
    lasting: Vec<OnceCell<bool>>,
    /// The lines that were written, by the last number of each and the count of its calls.
    written: AHashMap<(usize, usize), Line>,
}

impl<'s, 'a, V: Value<'a>> LedgerWriter<'s, 'a, V> {
    pub(super) fn new(
        steps: &'s [Step<'a, V>],
        requests: &'s [NumberedTurn<'a>],
        resolved: &'s AHashMap<usize, usize>,
        files: &'s Files<'s, 'a, V>,
        lines: &'s Lines,
        (paper, longest): (Paper, usize),
    ) -> Self {
        let signs = steps.iter().map(|_| OnceCell::new()).collect();
        let lasting = steps.iter().map(|_| OnceCell::new()).collect();
        Self { steps, requests, resolved, files, lines, paper, longest, signs, lasting, written: AHashMap::new() }
    }

    /// Return the ledger of all calls but those that are shown elsewhere. `asked` is the last request, which is paid for
    /// already, and stands before the calls that came after it.
    pub(super) fn write(
        &mut self,
        is_shown: impl Fn(usize) -> bool,
        shown_turns: &AHashSet<usize>,
        mut room: isize,
        asked: Option<&Piece>,
    ) -> Ledger {
        let mut groups = self.groups(is_shown);
        groups.sort_by_key(|group| Reverse(group.last().map(|last| last.number)));
        room -= self.paper.size(HEADINGS.ledger) + self.paper.line_size(&more_line(self.steps.len()));
        let mut taken: Vec<Line> = Vec::new();
        let mut misses = 0;
        // What a line is worth is only looked up as long as there is room.
        'ranks: for rank in RANKS {
            let mut requests: Vec<&'s NumberedTurn<'a>> = Vec::new();
            let (older, newest) = self.requests.split_at(self.requests.len().saturating_sub(NEWEST_REQUESTS));
            let own = match rank {
                0 => newest,
                RANK_OF_OLDER_REQUESTS => older,
                _ => &[],
            };
            requests.extend(own.iter().filter(|turn| !shown_turns.contains(&turn.position)));
            let mut place = 0;
            while let Some(each) = self.next(rank, &mut requests, &groups, &mut place) {
                if room < LEAST || misses == MOST_MISSES {
                    break 'ranks;
                }
                let line = match each {
                    Candidate::Request(turn) => self.request(turn),
                    Candidate::Calls(group) => self.line(group),
                };
                if line.most > room {
                    misses += 1;
                    continue;
                }
                room -= line.most;
                taken.push(line);
            }
        }
        self.assemble(taken, groups.iter().map(Vec::len).sum(), asked)
    }

    /// Return the next line of a rank, the newest first. `requests` are those that are left, and `place` is that of the next
    /// group.
    fn next<'g>(
        &self,
        rank: usize,
        requests: &mut Vec<&'s NumberedTurn<'a>>,
        groups: &'g [Vec<&'s Step<'a, V>>],
        place: &mut usize,
    ) -> Option<Candidate<'g, 's, 'a, V>> {
        loop {
            let Some((group, last)) = groups.get(*place).and_then(|group| Some((group, group.last()?))) else {
                return requests.pop().map(Candidate::Request);
            };
            if self.has_rank(last, rank) {
                if let Some(request) = requests.pop_if(|request| request.number >= last.number) {
                    return Some(Candidate::Request(request));
                }
                *place += 1;
                return Some(Candidate::Calls(group));
            }
            *place += 1;
        }
    }

    fn assemble(&self, mut taken: Vec<Line>, count: usize, asked: Option<&Piece>) -> Ledger {
        taken.sort_by_key(|line| (line.position, line.order));
        let left_out = count - taken.iter().map(|line| line.numbers.len()).sum::<usize>();
        if taken.is_empty() {
            return Ledger::default();
        }
        let mut texts: Vec<(&str, isize)> = taken.iter().map(|line| (&*line.text, line.size)).collect();
        let more = more_line(left_out);
        texts.extend((left_out > 0).then_some((&*more, 0)));
        let since = asked.and(self.requests.last()).map(|request| (request.position, 0));
        let is_before = |line: &&Line| since.is_none_or(|since| (line.position, line.order) < since);
        let before = taken.iter().take_while(is_before).count();
        let has_request = before < taken.len();
        let mut text = HEADINGS.ledger.to_owned();
        let mut size = self.paper.size(HEADINGS.ledger);
        for (place, (line, own)) in texts.iter().enumerate() {
            if has_request && place == before {
                text.push_str(asked.map_or("", |asked| &asked.text));
            }
            text.push_str(line);
            if place + 1 == texts.len() || (has_request && place + 1 == before) {
                text.push('\n');
                size += self.paper.size(&format!("{line}\n"));
            } else {
                size += own;
            }
        }
        let (mut listed, mut merged) = (AHashSet::new(), AHashSet::new());
        for line in &taken {
            if let Some((last, others)) = line.numbers.split_last() {
                listed.insert(*last);
                merged.extend(others);
            }
        }
        Ledger { piece: Piece { text, size, ..Piece::default() }, listed, merged, has_request }
    }

    /// Return the steps that are not shown, those about the same thing together.
    fn groups(&self, is_shown: impl Fn(usize) -> bool) -> Vec<Vec<&'s Step<'a, V>>> {
        let mut groups: Vec<Vec<&'s Step<'a, V>>> = Vec::new();
        let mut places: AHashMap<Sign<'_>, usize> = AHashMap::new();
        for step in self.steps.iter().filter(|step| !is_shown(step.number)) {
            let place = *places.entry(self.sign(step)).or_insert(groups.len());
            match groups.get_mut(place) {
                Some(group) => group.push(step),
                None => groups.push(vec![step]),
            }
        }
        groups
    }

    fn sign(&self, step: &'s Step<'a, V>) -> Sign<'_> {
        let own = |about: &dyn Fn() -> String| {
            self.signs.get(step.number - 1).map_or("", |own| &**own.get_or_init(|| about().into_boxed_str()))
        };
        let name = || step.entry.tool_name.as_utf8();
        let (folder, about): (&str, &str) = match step.keys.as_slice() {
            _ if step.kind == StepKind::Command => (&step.directory, &step.command),
            [key] => ("", key),
            [] if step.kind == StepKind::Plan && step.has_succeeded() => ("", own(&|| name().into_owned())),
            [] if step.entry.call.is_none() => ("", own(&|| format!("{}\n{}", name(), step.text()))),
            [] => ("", own(&|| format!("{}\n{}", name(), written(step)))),
            keys => ("", own(&|| keys.join("\n"))),
        };
        (step.turn, step.kind, step.state, folder, about)
    }

    /// Return true if the line of a step is worth this much; 0 is most.
    fn has_rank(&self, step: &Step<'a, V>, rank: usize) -> bool {
        if matches!(step.state, State::Rejected | State::Interrupted) || step.kind == StepKind::Question {
            return rank == 0;
        }
        let is_old = usize::from(self.steps.last().is_some_and(|last| last.turn != step.turn));
        match () {
            () if step.kind == StepKind::Plan && step.has_succeeded() => rank == 4,
            () if step.state == State::Failed && is_old == 0 => rank == 2,
            () if !step.has_succeeded() => rank == 3 + is_old,
            () if step.is_change() => rank == 1 + is_old,
            () if step.kind != StepKind::Command => rank == 3 + is_old,
            () if rank == 1 + is_old => self.is_lasting(step),
            () => rank == 3 + is_old && !self.is_lasting(step),
        }
    }

    /// Return true if what a command did stays.
    fn is_lasting(&self, step: &Step<'a, V>) -> bool {
        let find = || {
            let command = head(&step.command, LONGEST_COMMAND);
            LASTING.iter().any(|word| command.contains(word)) || has_side_effects(command)
        };
        self.lasting.get(step.number - 1).is_some_and(|lasting| *lasting.get_or_init(find))
    }

    fn request(&self, turn: &NumberedTurn<'a>) -> Line {
        let said = in_one_line(&turn.text);
        let text = format!("- **User:** {}\n", inert_line(&said, self.longest));
        self.measured(text, (turn.position, 0), Vec::new())
    }

    fn measured(&self, text: String, (position, order): (usize, usize), numbers: Vec<usize>) -> Line {
        let size = self.paper.size(&text);
        let most = size.max(self.paper.size(&format!("{text}\n")));
        Line { position, order, text, size, most, numbers }
    }

    fn line(&mut self, group: &[&Step<'a, V>]) -> Line {
        let Some(step) = group.last() else { return self.measured(String::new(), (0, 0), Vec::new()) };
        let place = (step.number, group.len());
        if let Some(known) = self.written.get(&place) {
            return known.clone();
        }
        let numbers: Vec<usize> = group.iter().map(|each| each.number).collect();
        let last = numbers.iter().skip(numbers.len().saturating_sub(MOST_NUMBERS));
        let mut listed = last.map(|number| format!("#{number}")).collect::<Vec<_>>().join(", ");
        if numbers.len() > MOST_NUMBERS {
            listed = format!("{} times, last {listed}", numbers.len());
        }
        let mut notes = self.lines.notes(step);
        notes.extend(self.resolved.get(&step.number).map(|later| format!("see #{later}")));
        notes.extend(Some(self.files.changed_since(step).to_owned()).filter(|note| !note.is_empty()));
        let said = if notes.is_empty() { String::new() } else { format!(" ({})", notes.join("; ")) };
        let outcome = self.outcome(group, step);
        let outcome = if outcome.is_empty() { outcome } else { format!(" → {outcome}") };
        let title = self.lines.title(step, LONGEST_TITLE) + &said;
        let title = inert_line(&title, LONGEST_TITLE + 200);
        let text = format!("- {listed} {title}{}\n", inert_line(&outcome, 4 * self.longest));
        let line = self.measured(text, (step.entry.position, step.number), numbers);
        self.written.insert(place, line.clone());
        line
    }

    fn outcome(&self, group: &[&Step<'a, V>], step: &Step<'a, V>) -> String {
        if group.len() > 1 && step.kind == StepKind::Edit && step.has_succeeded() {
            let counted: Vec<(usize, usize)> = group.iter().map(|each| lines_of_change(each)).collect();
            if counted.contains(&(0, 0)) {
                return format!("{} edits", group.len());
            }
            let (removed, added) = counted.iter().fold((0, 0), |all, each| (all.0 + each.0, all.1 + each.1));
            let mut replacements = group.iter().flat_map(|each| &each.changes).flat_map(|change| &change.replacements);
            let is_everywhere = replacements.any(|each| each.is_everywhere);
            let total = if is_everywhere { "in all, some in each place" } else { "in all" };
            return format!("{} edits, -{removed} +{added} lines {total}", group.len());
        }
        if group.len() > 1 && is_item(step) {
            let items: Vec<String> = group.iter().map(|each| self.lines.outcome(each, self.longest)).collect();
            return short_line(&items.join("; "), 2 * self.longest).into_owned();
        }
        let outcome = self.lines.outcome(step, self.longest);
        let is_last = group.len() > 1 && !outcome.is_empty();
        if is_last { format!("last: {outcome}") } else { outcome }
    }
}

/// Return the arguments of a call as a text that only equal ones have.
fn written<'a, V: Value<'a>>(step: &Step<'a, V>) -> String {
    let mut members: Vec<String> = Vec::new();
    if let Some(given) = step.given() {
        given.members(&mut |name, value| {
            members.push(match value.text() {
                Some(text) => format!("{}\"{}", name.as_utf8(), text.as_utf8()),
                None => format!("{} {}", name.as_utf8(), value.json().as_text().as_utf8()),
            });
            true
        });
    }
    members.sort_unstable();
    members.join("\n")
}

fn more_line(count: usize) -> String {
    format!("- … {} more call{}, not listed\n", grouped(count), if count > 1 { "s" } else { "" })
}
