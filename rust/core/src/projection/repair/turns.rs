//! Providers whose results are parts of the user's turn: Anthropic, Bedrock and Gemini.
//!
//! Messages of one side that follow one another are one turn. The results for a turn's calls are the first parts of the
//! user's turn behind it, each once. The twin is `_pure/project/mend/turns.py`.

use std::ops::Range;

use ahash::{AHashMap, AHashSet};

use super::alone::tell_alone;
use super::message_parts::{
    Sheet, Side, drop_trailing_space, drop_trailing_thoughts, is_blank, is_models, merge, part_at, says_something,
};
use super::results::{clean_result, part_calls};
use super::runs::{Run, paths_of, runs_of, speaks_last};
use super::state::Repair;
use crate::content::has_no_word;
use crate::json::value::{Value, names, text_or_empty};
use crate::projection::edits::{Draft, Edit, Json, Path};
use crate::text::Text;

/// So many calls are looked through sooner than a set of them is made.
const FEW: usize = 8;

/// The turns of a conversation, mended one after the other.
pub(crate) struct Turns<'t, 'a, 'm, V> {
    repair: Repair<'t, 'a, 'm, V>,
    sheets: Vec<Sheet<'a, V>>,
    /// What has to stand behind the results, by the path of the one in which it stood.
    beside: AHashMap<Path, Vec<Draft<'a, V>>>,
}

impl<'t, 'a, 'm, V: Value<'a>> Turns<'t, 'a, 'm, V> {
    pub(crate) fn new(repair: Repair<'t, 'a, 'm, V>) -> Self {
        Self { repair, sheets: Vec::new(), beside: AHashMap::new() }
    }

    /// The messages, so that the provider takes them.
    pub(crate) fn mended(mut self) -> Vec<Draft<'a, V>> {
        let pairs = self.repair.pairs;
        for path in &pairs.results {
            let beside = clean_result(&mut self.repair, *path);
            if !beside.is_empty() {
                self.beside.insert(*path, beside);
            }
        }
        self.leave_out_messages();
        part_calls(&mut self.repair);
        let mut open = Vec::new();
        for Run { side, positions } in runs_of(&self.repair) {
            if side != Side::User {
                self.close(&open);
                open.clear();
            }
            if side == Side::Model {
                self.add_model(positions, &mut open);
            } else {
                self.add_answers(side, positions, &open);
                open.clear();
            }
        }
        self.close(&open);
        let Self { repair: Repair { material, dialect, mends, .. }, mut sheets, .. } = self;
        drop_trailing_thoughts(&mut sheets, (material, dialect), mends);
        drop_trailing_space(&mut sheets, (material, dialect), mends);
        tell_alone(&sheets, (material.blocks, pairs), mends);
        if dialect.merges {
            sheets = merge(sheets, mends);
        }
        sheets.into_iter().filter_map(|sheet| sheet.draft(material, dialect.key)).collect()
    }

    /// Leave out results without call that are messages of their own, as Chat's are beside another's thoughts.
    fn leave_out_messages(&mut self) {
        if self.repair.pairs.orphan_ids.is_empty() {
            return;
        }
        let blocks = self.repair.material.blocks;
        for block in blocks.iter().filter(|block| block.entry.call.is_none()) {
            if let Some(path @ Path::Message(_)) = block.result_path {
                self.repair.material.take_out(path);
                self.repair.tell_stray(path, block.entry.call_id);
            }
        }
    }

    /// Answer calls that no turn of the user's follows.
    fn close(&mut self, open: &[usize]) {
        if !open.is_empty() {
            let items = Some(self.results_of(open, &[]));
            self.sheets.push(Sheet::new(None, Side::User, items));
        }
    }

    /// Take over a turn of the model's; its calls are added to those that wait for their results.
    fn add_model(&mut self, positions: Range<usize>, open: &mut Vec<usize>) {
        for position in positions {
            if self.is_left_out(position) {
                continue;
            }
            let (pairs, key) = (self.repair.pairs, self.repair.dialect.key);
            open.extend(paths_of(self.repair.material, position, key).filter_map(|path| pairs.call_at(path)));
            let mut stay = self.stay(position);
            let misplaced: Vec<_> = stay.iter().flatten().copied().filter(|path| self.is_result(*path)).collect();
            if let Some(stay) = stay.as_mut().filter(|_| !misplaced.is_empty()) {
                stay.retain(|path| !self.is_result(*path));
            }
            for path in misplaced {
                self.tell_foreign(path);
            }
            let speaks_last = stay.as_ref().is_some_and(|stay| speaks_last(&self.repair, stay.iter().copied()));
            let stay = stay.map(|stay| if speaks_last { self.calls_last(stay) } else { stay });
            self.add(position, Side::Model, stay, Vec::new());
            if !self.repair.material.message_at(position).is_some_and(is_models) {
                let role = Some(Edit::Made(Json::ascii(self.repair.dialect.model)));
                self.repair.material.edit(Path::Message(position), vec![(names::ROLE, role)]);
                self.repair.mends.add("renamed_role", Some(position), self.repair.call_id(open.last().copied()));
            }
        }
    }

    fn is_left_out(&self, position: usize) -> bool {
        self.repair.material.is_gone(Path::Message(position))
    }

    /// The parts of a message with its calls behind them. So what the provider answered itself keeps its place before the
    /// text about it.
    fn calls_last(&mut self, stay: Vec<Path>) -> Vec<Path> {
        let pairs = self.repair.pairs;
        let (calls, mut parts): (Vec<_>, Vec<_>) = stay.into_iter().partition(|path| pairs.call_at(*path).is_some());
        for path in &calls {
            let call_id = self.repair.call_id(pairs.call_at(*path));
            self.repair.mends.add("moved_call", Some(path.position()), call_id);
        }
        parts.extend(calls);
        parts
    }

    /// Take over a turn that is not the model's: the results first, each once, and none that belongs elsewhere.
    fn add_answers(&mut self, side: Side, positions: Range<usize>, open: &[usize]) {
        let wanted = (open.len() > FEW).then(|| open.iter().copied().collect::<AHashSet<_>>());
        let is_wanted =
            |number| wanted.as_ref().map_or_else(|| open.contains(&number), |wanted| wanted.contains(&number));
        let mut stay = Vec::with_capacity(positions.len());
        for position in positions {
            if !self.is_left_out(position) {
                stay.push((position, self.stay(position)));
            }
        }
        let belongs = |path: &Path| self.repair.pairs.owner(*path).is_some_and(is_wanted);
        let (mut own, mut foreign, mut count, mut is_first) = (Vec::new(), Vec::new(), 0, true);
        for (position, stay) in &stay {
            let plain = [Path::Message(*position)];
            let paths = stay.as_deref().filter(|paths| !paths.is_empty()).unwrap_or(&plain);
            for path in paths {
                if belongs(path) {
                    let is_apart = own.last().is_some_and(|last: &Path| last.position() != *position);
                    is_first &= own.len() == count && !(is_apart && self.repair.dialect.answers_at_once);
                    own.push(*path);
                } else if self.is_result(*path) {
                    foreign.push(*path);
                }
                count += 1;
            }
        }
        let is_whole = own.len() == open.len() && !own.iter().any(|path| self.beside.contains_key(path));
        if is_whole && is_first && foreign.is_empty() {
            for (position, stay) in stay {
                self.add(position, side, stay, Vec::new());
            }
            return;
        }
        for path in &foreign {
            self.tell_foreign(*path);
        }
        if let Some(first) = own.first().filter(|_| !is_first) {
            let call_id = self.repair.call_id(self.repair.pairs.owner(*first));
            self.repair.mends.add("moved_result", Some(first.position()), call_id);
        }
        let mut first_parts = self.results_of(open, &own);
        let taken: AHashSet<Path> = own.into_iter().chain(foreign).collect();
        for (position, stay) in stay {
            let rest = stay.map(|paths| paths.into_iter().filter(|path| !taken.contains(path)).collect());
            self.add(position, side, rest, std::mem::take(&mut first_parts));
        }
    }

    /// A result for each call, in their order, by which those without ids are paired: some stand in the turn, some elsewhere,
    /// some are new. What must not stand within them comes behind.
    fn results_of(&mut self, open: &[usize], own: &[Path]) -> Vec<Draft<'a, V>> {
        let there: AHashSet<&Path> = own.iter().collect();
        let (mut drafts, mut beside) = (Vec::with_capacity(open.len()), Vec::new());
        for number in open {
            let Some(path) = self.repair.pairs.result_of(*number) else {
                drafts.extend(self.repair.answer(*number));
                continue;
            };
            drafts.extend(self.repair.material.draft(path));
            beside.extend(self.beside.remove(&path).into_iter().flatten());
            let moved = self.repair.material.blocks.get(*number).filter(|_| !there.contains(&path));
            if let Some(entry) = moved.map(|block| &block.entry) {
                self.repair.mends.add("moved_result", Some(entry.result_position), entry.call_id);
            }
        }
        drafts.extend(beside);
        drafts
    }

    fn is_result(&self, path: Path) -> bool {
        let Repair { material, dialect, pairs, .. } = &self.repair;
        if pairs.is_stray(path) {
            return true;
        }
        let Some(part) = part_at(material, path) else { return false };
        if dialect.is_result(part) {
            return !pairs.is_other(path) && pairs.call_at(path).is_none();
        }
        // Where one of the provider's own answers a call of the client's, others would the next time.
        pairs.has_strays() && pairs.is_misplaced(path, part)
    }

    /// Tell of a result that is taken out where it stands; one that is moved is told of where it goes.
    fn tell_foreign(&mut self, path: Path) {
        if self.repair.pairs.owner(path).is_some() {
            return;
        }
        let part = part_at(self.repair.material, path);
        let call_id = part.map_or(Text::ascii(""), |part| self.repair.dialect.result_id.text(part));
        self.repair.tell_stray(path, call_id);
    }

    /// The parts of a message that are not blank; `None` where it has no list of parts.
    fn stay(&mut self, position: usize) -> Option<Vec<Path>> {
        self.repair.material.list(position, self.repair.dialect.key)?;
        let mut stay = Vec::new();
        for path in paths_of(self.repair.material, position, self.repair.dialect.key)
            .filter(|path| !self.repair.material.is_gone(*path))
        {
            if part_at(self.repair.material, path).is_some_and(|part| is_blank(self.repair.dialect, part)) {
                self.repair.mends.add("empty_text", Some(position), Text::ascii(""));
            } else {
                stay.push(path);
            }
        }
        Some(stay)
    }

    /// Add a message with the parts that stay, and some before them.
    fn add(&mut self, position: usize, side: Side, stay: Option<Vec<Path>>, before: Vec<Draft<'a, V>>) {
        let Some(stay) = stay else { return self.add_plain(position, side, before) };
        let mut items = before;
        items.extend(stay.into_iter().filter_map(|path| self.repair.material.draft(path)));
        if items.is_empty() {
            self.repair.mends.add("empty_message", Some(position), Text::ascii(""));
        } else {
            self.sheets.push(Sheet::new(Some(position), side, Some(items)));
        }
    }

    /// Add a message whose content is a text. What has no content can't take results: they stand before it.
    fn add_plain(&mut self, position: usize, side: Side, mut first: Vec<Draft<'a, V>>) {
        let key = self.repair.dialect.key.key();
        let message = self.repair.material.message_at(position);
        let content = message.and_then(|message| message.get(key));
        if !first.is_empty() && !message.is_some_and(|message| message.has(key)) {
            self.sheets.push(Sheet::new(None, Side::User, Some(std::mem::take(&mut first))));
        }
        let text = content.filter(|content| content.text_len().is_some() && !has_no_word(*content));
        let is_last = side == Side::Model && position + 1 == self.repair.material.messages.len();
        let is_last_word = is_last && !message.is_some_and(|message| says_something(message, self.repair.dialect.key));
        let mut items = None;
        if !first.is_empty() {
            let text = text.map(|text| Draft::Made(self.repair.dialect.text(text_or_empty(Some(text)))));
            items = Some(first.into_iter().chain(text).collect());
        } else if text.is_none() && self.repair.dialect.refuses_blank && !is_last_word {
            self.repair.mends.add("empty_message", Some(position), Text::ascii(""));
            return;
        }
        self.sheets.push(Sheet::new(Some(position), side, items));
    }
}
