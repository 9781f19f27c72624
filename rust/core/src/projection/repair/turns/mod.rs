//! Providers whose results are parts of a user turn: Anthropic, Bedrock and Gemini.
//!
//! Consecutive messages of one side are one turn. The results for the calls of a turn are the first parts of the user
//! turn after it, each once. The messages are written turn by turn, with the calls that are *open*: those of the last
//! turn of the model, which the next turn of the user has to answer.
//!
//! ```text
//! given                                         repaired                                      mend
//! model  call a, call b                         model  call a, call b
//! user   text, result b                         user   result a "interrupted", result b, text  missing_result a, moved_result b
//! user   result z                                                                             orphan_result z, empty_message
//! model  call c                                 model  call c
//!                                               user   result c "interrupted"                 missing_result c
//! ```
//!
//! A turn that is right already stays as it is, so that a repair of repaired messages changes nothing.
//!
//! | file | job |
//! |---|---|
//! | `runs.rs` | splits the messages into turns |
//! | `parted.rs` | puts a message of the model between results and what follows them |
//! | `result_contents.rs` | corrects what is inside of a result |
//! | `strays.rs` | finds results that answer no call |
//! | `server_calls.rs` | treats calls that the provider runs itself |
//! | `mod.rs` | writes the turns |

mod parted;
mod result_contents;
mod runs;
mod server_calls;
mod strays;

pub(super) use self::strays::holds_more;

use std::ops::Range;

use ahash::{AHashMap, AHashSet};

use super::ends::{is_last_turn_over, user_ends};
use super::message_parts::{
    MessageDraft, Side, drop_trailing_space, drop_trailing_thoughts, has_words_or_media, is_blank, is_models, merge,
    part_at,
};
use super::state::Repair;
use super::turns::parted::parted;
use super::turns::result_contents::clean_result;
use super::turns::runs::{Run, has_text_after_calls, paths_of, runs_of};
use super::turns::server_calls::{leave_out_unpaired, report_unpaired};
use super::turns::strays::{free_parts, is_result, leave_out_messages, part_from_calls, report_foreign};
use crate::content::has_no_word;
use crate::json::value::{Value, names, text_or_empty};
use crate::projection::edits::{Draft, Edit, Json, Path};
use crate::text::Text;

/// Up to this number of calls, a linear search is faster than building a set.
const FEW: usize = 8;

/// The turns of a conversation, repaired one after the other.
pub(crate) struct Turns<'t, 'a, 'm, V> {
    repair: Repair<'t, 'a, 'm, V>,
    message_drafts: Vec<MessageDraft<'a, V>>,
    /// The parts that have to move out of a result and follow all results, by the path of the result.
    outside: AHashMap<Path, Vec<Draft<'a, V>>>,
    /// The parts that held more than a result without a call, and stay without it.
    freed: AHashSet<Path>,
    /// The positions at which turns begin whose results are a message of their own.
    apart: AHashSet<usize>,
}

/// A message of a turn, and the paths of its parts that stay; `None` if its content is not a list.
type Kept = (usize, Option<Vec<Path>>);

/// Return true if a message consists of results alone, or holds none.
fn is_of_one_kind((_, paths): &Kept, results: &[Path]) -> bool {
    let mut are_results = paths.iter().flatten().map(|path| results.contains(path));
    let first = are_results.next();
    are_results.all(|own| Some(own) == first)
}

/// The results in a turn that answers calls.
struct Answers {
    /// The results for the open calls.
    own: Vec<Path>,
    /// Any other results.
    foreign: Vec<Path>,
    /// True if the own results come before everything else, as the provider requires it.
    are_first: bool,
}

impl<'t, 'a, 'm, V: Value<'a>> Turns<'t, 'a, 'm, V> {
    pub(crate) fn new(repair: Repair<'t, 'a, 'm, V>) -> Self {
        Self {
            repair,
            message_drafts: Vec::new(),
            outside: AHashMap::new(),
            freed: AHashSet::new(),
            apart: AHashSet::new(),
        }
    }

    /// Return the repaired messages.
    pub(crate) fn repaired(mut self) -> Vec<Draft<'a, V>> {
        let pairs = self.repair.pairs;
        for path in &pairs.results {
            let outside = clean_result(&mut self.repair, *path);
            if !outside.is_empty() {
                self.outside.insert(*path, outside);
            }
        }
        leave_out_messages(&mut self.repair);
        part_from_calls(&mut self.repair);
        self.freed = free_parts(&mut self.repair);
        let runs = runs_of(&self.repair);
        if self.repair.destination.rules.server_pairs {
            self.apart = leave_out_unpaired(&mut self.repair, &runs, &self.outside);
        }
        self.write(runs);
        self.finished()
    }

    /// Write the turns, each with the results that the calls of the turn before it need.
    fn write(&mut self, runs: Vec<Run>) {
        let mut open = Vec::new();
        for Run { side, positions } in runs {
            if side != Side::User {
                self.close(&open);
                open.clear();
            }
            if self.repair.edited.guard.contains(&positions.start) {
                self.keep(positions);
            } else if side == Side::Model {
                self.add_model(positions, &mut open);
            } else {
                self.add_answers(side, positions, &open);
                open.clear();
            }
        }
        self.close(&open);
    }

    /// Correct what depends on the neighbours of a message, and return the messages.
    fn finished(self) -> Vec<Draft<'a, V>> {
        let Self { repair: Repair { edited, destination, pairs, mends, .. }, mut message_drafts, .. } = self;
        // If the user had the last word, the model's last message will not be the last.
        if !user_ends(edited, destination) {
            if !edited.keeps_thoughts {
                drop_trailing_thoughts(&mut message_drafts, (edited, destination), mends);
            }
            drop_trailing_space(&mut message_drafts, (edited, destination), mends);
        }
        if !destination.rules.server_pairs {
            report_unpaired(&message_drafts, (edited.blocks, pairs), mends);
        }
        if destination.rules.merges {
            message_drafts = merge(message_drafts, mends);
        }
        if destination.rules.model_follows_results {
            message_drafts = message_drafts.into_iter().flat_map(|each| parted(each, destination, mends)).collect();
        }
        message_drafts.into_iter().filter_map(|message_draft| message_draft.draft(edited, destination)).collect()
    }

    /// Answer open calls that no user turn follows.
    fn close(&mut self, open: &[usize]) {
        if !open.is_empty() {
            let items = Some(self.results_of(open, &[]));
            self.message_drafts.push(MessageDraft::new(None, Side::User, items));
        }
    }

    /// Add messages that the repair leaves alone, with their parts. They are no side's, so that nothing is joined to them.
    fn keep(&mut self, positions: Range<usize>) {
        let (edited, key) = (&mut *self.repair.edited, self.repair.destination.key);
        for position in positions {
            if edited.is_gone(Path::Message(position)) {
                continue;
            }
            let paths: Vec<Path> = paths_of(edited, position, key).filter(|path| !edited.is_gone(*path)).collect();
            let items =
                edited.list(position, key).map(|_| paths.into_iter().filter_map(|path| edited.draft(path)).collect());
            self.message_drafts.push(MessageDraft::new(Some(position), Side::Other, items));
        }
    }

    /// Add a model turn. Its calls are added to `open`.
    fn add_model(&mut self, positions: Range<usize>, open: &mut Vec<usize>) {
        for position in positions {
            if self.is_left_out(position) {
                continue;
            }
            let (pairs, key) = (self.repair.pairs, self.repair.destination.key);
            open.extend(paths_of(self.repair.edited, position, key).filter_map(|path| pairs.call_at(path)));
            let kept = self.kept_parts(position).map(|paths| self.models_own(paths));
            self.add(position, Side::Model, kept, Vec::new());
            if !self.repair.edited.message_at(position).is_some_and(is_models) {
                let role = Some(Edit::NewValue(Json::ascii(self.repair.destination.model)));
                self.repair.edited.edit(Path::Message(position), vec![(names::ROLE, role)]);
                self.repair.mends.add("renamed_role", Some(position), self.repair.call_id(open.last().copied()));
            }
        }
    }

    /// Return the parts of a model message without results, and with its calls last if the provider asks for that.
    fn models_own(&mut self, mut paths: Vec<Path>) -> Vec<Path> {
        let misplaced: Vec<Path> = paths.iter().copied().filter(|path| self.is_result(*path)).collect();
        if !misplaced.is_empty() {
            paths.retain(|path| !self.is_result(*path));
        }
        for path in misplaced {
            report_foreign(&mut self.repair, path);
        }
        if has_text_after_calls(&self.repair, paths.iter().copied()) { self.calls_last(paths) } else { paths }
    }

    /// Move the calls of a message after its other parts. So server tool results stay before the text about them.
    fn calls_last(&mut self, paths: Vec<Path>) -> Vec<Path> {
        let pairs = self.repair.pairs;
        let (calls, mut parts): (Vec<_>, Vec<_>) = paths.into_iter().partition(|path| pairs.call_at(*path).is_some());
        for path in &calls {
            let call_id = self.repair.call_id(pairs.call_at(*path));
            self.repair.mends.add("moved_call", Some(path.position()), call_id);
        }
        parts.extend(calls);
        parts
    }

    /// Add a turn that is not the model's: first the results for the open calls, each once, and no results of other
    /// calls.
    fn add_answers(&mut self, side: Side, positions: Range<usize>, open: &[usize]) {
        let starts_apart = self.apart.contains(&positions.start);
        let mut kept: Vec<Kept> = Vec::with_capacity(positions.len());
        for position in positions {
            if !self.is_left_out(position) {
                kept.push((position, self.kept_parts(position)));
            }
        }
        let Answers { own, foreign, are_first } = self.answers_in(&kept, open);
        let are_all = own.len() == open.len() && !own.iter().any(|path| self.outside.contains_key(path));
        let is_apart = starts_apart && !(are_all && are_first && kept.iter().all(|each| is_of_one_kind(each, &own)));
        if are_all && are_first && foreign.is_empty() && !is_apart {
            for (position, paths) in kept {
                self.add(position, side, paths, Vec::new());
            }
            return;
        }
        for path in &foreign {
            report_foreign(&mut self.repair, *path);
        }
        if let Some(first) = own.first().filter(|_| !are_first) {
            let call_id = self.repair.call_id(self.repair.pairs.owner(*first));
            self.repair.mends.add("moved_result", Some(first.position()), call_id);
        }
        let mut first_parts = self.results_of(open, if is_apart { &[] } else { &own });
        if is_apart && !first_parts.is_empty() {
            let results = std::mem::take(&mut first_parts);
            self.message_drafts.push(MessageDraft::new(None, Side::User, Some(results)));
        }
        let taken: AHashSet<Path> = own.into_iter().chain(foreign).collect();
        for (position, paths) in kept {
            let rest = paths.map(|paths| paths.into_iter().filter(|path| !taken.contains(path)).collect());
            self.add(position, side, rest, std::mem::take(&mut first_parts));
        }
    }

    /// Find the results in a turn. A message whose content is not a list may be a result itself.
    fn answers_in(&self, kept: &[Kept], open: &[usize]) -> Answers {
        let many = (open.len() > FEW).then(|| open.iter().copied().collect::<AHashSet<_>>());
        let is_open = |number| many.as_ref().map_or_else(|| open.contains(&number), |many| many.contains(&number));
        let mut found = Answers { own: Vec::new(), foreign: Vec::new(), are_first: true };
        let rules = &self.repair.destination.rules;
        let (mut count, mut last) = (0, None);
        for (position, paths) in kept {
            let whole = [Path::Message(*position)];
            let paths = paths.as_deref().filter(|paths| !paths.is_empty()).unwrap_or(&whole);
            for path in paths {
                if let Some(number) = self.repair.pairs.owner(*path).filter(|number| is_open(*number)) {
                    let is_apart = found.own.last().is_some_and(|last| last.position() != *position);
                    let is_split = is_apart && rules.answers_at_once;
                    // Without ids, the order tells which call a result answers.
                    let is_late = rules.refuses_ids && last.is_some_and(|last| last > number);
                    last = Some(number);
                    found.are_first &= found.own.len() == count && !is_split && !is_late;
                    found.own.push(*path);
                } else if self.is_result(*path) {
                    found.foreign.push(*path);
                }
                count += 1;
            }
        }
        found
    }

    /// Return a result for each open call, in the order of the calls, because results without ids are paired by order.
    /// Some come from this turn (`own`), some from elsewhere, and some are new. Parts that may not be inside a result
    /// follow.
    fn results_of(&mut self, open: &[usize], own: &[Path]) -> Vec<Draft<'a, V>> {
        let there: AHashSet<&Path> = own.iter().collect();
        let (mut drafts, mut outside) = (Vec::with_capacity(open.len()), Vec::new());
        for number in open {
            let Some(path) = self.repair.pairs.result_of(*number) else {
                drafts.extend(self.repair.answer(*number));
                continue;
            };
            drafts.extend(self.repair.edited.draft(path));
            outside.extend(self.outside.remove(&path).into_iter().flatten());
            let moved = self.repair.edited.blocks.get(*number).filter(|_| !there.contains(&path));
            if let Some(entry) = moved.map(|block| &block.entry) {
                self.repair.mends.add("moved_result", Some(entry.result_position), entry.call_id);
            }
        }
        drafts.extend(outside);
        drafts
    }

    /// Return true if there is a result at a path, and it stays there.
    fn is_result(&self, path: Path) -> bool {
        !self.freed.contains(&path) && is_result(&self.repair, path)
    }

    fn is_left_out(&self, position: usize) -> bool {
        self.repair.edited.is_gone(Path::Message(position))
    }

    /// Return the paths of the parts of a message that are not blank; `None` if it has no list of parts.
    fn kept_parts(&mut self, position: usize) -> Option<Vec<Path>> {
        let Repair { edited, destination, mends, .. } = &mut self.repair;
        edited.list(position, destination.key)?;
        let mut kept = Vec::new();
        for path in paths_of(edited, position, destination.key).filter(|path| !edited.is_gone(*path)) {
            if part_at(edited, path).is_some_and(|part| is_blank(destination, part)) {
                mends.add("empty_text", Some(position), Text::ascii(""));
            } else {
                kept.push(path);
            }
        }
        Some(kept)
    }

    /// Add a message with the parts that stay, preceded by others.
    fn add(&mut self, position: usize, side: Side, kept: Option<Vec<Path>>, before: Vec<Draft<'a, V>>) {
        let Some(kept) = kept else { return self.add_plain(position, side, before) };
        let mut items = before;
        items.extend(kept.into_iter().filter_map(|path| self.repair.edited.draft(path)));
        if items.is_empty() {
            self.repair.mends.add("empty_message", Some(position), Text::ascii(""));
        } else {
            self.message_drafts.push(MessageDraft::new(Some(position), side, Some(items)));
        }
    }

    /// Add a message whose content is not a list, preceded by parts. If the message has no content, these can't be added
    /// to it and get a message of their own before it.
    fn add_plain(&mut self, position: usize, side: Side, mut before: Vec<Draft<'a, V>>) {
        let Repair { edited, destination, pairs, mends, .. } = &mut self.repair;
        let key = destination.key.key();
        let message = edited.message_at(position);
        let content = message.and_then(|message| message.get(key));
        let text = content.filter(|content| content.text_len().is_some() && !has_no_word(*content));
        if !before.is_empty() && !message.is_some_and(|message| message.has_name(key)) {
            self.message_drafts.push(MessageDraft::new(None, Side::User, Some(std::mem::take(&mut before))));
        }
        let mut items = None;
        if !before.is_empty() {
            let text = text.map(|text| Draft::NewValue(destination.text(text_or_empty(Some(text)))));
            items = Some(before.into_iter().chain(text).collect());
        } else if text.is_none() && destination.rules.refuses_blank {
            let is_last = side == Side::Model && position + 1 == edited.messages.len();
            let has_words = || message.is_some_and(|message| has_words_or_media(message, destination.key));
            if !is_last || has_words() || is_last_turn_over(edited, (destination, pairs)) {
                mends.add("empty_message", Some(position), Text::ascii(""));
                return;
            }
        }
        self.message_drafts.push(MessageDraft::new(Some(position), side, items));
    }
}
