//! Providers whose results are parts of a user turn: Anthropic, Bedrock and Gemini.
//!
//! Consecutive messages of one side are one turn. The results for the calls of a turn are the first parts of the user
//! turn after it, each once. Inside a result, providers refuse texts without a word, failures without content, and
//! calls. A call or result of a server tool, which the provider runs, is only reported if its counterpart is missing,
//! because only the provider knows the outcome.

use std::ops::Range;

use ahash::{AHashMap, AHashSet};

use super::destinations::Destination;
use super::ends::{is_last_turn_over, user_ends};
use super::message_parts::{
    MessageDraft, Side, drop_trailing_space, drop_trailing_thoughts, has_words_or_media, is_blank, is_models, merge,
    part_at, parts_of, value_of,
};
use super::pairs::Pairs;
use super::report::Mends;
use super::state::Repair;
use crate::content::has_no_word;
use crate::json::value::{Value, names, text_or_empty};
use crate::projection::blocks::Block;
use crate::projection::edits::{Changed, Draft, DraftList, Edit, Json, Parts, PartsKey, Path};
use crate::projection::request::EditedMessages;
use crate::text::Text;
use crate::text::constants::{FAILED, NO_OUTPUT};

/// Up to this number of calls, a linear search is faster than building a set.
const FEW: usize = 8;

/// The turns of a conversation, repaired one after the other.
pub(crate) struct Turns<'t, 'a, 'm, V> {
    repair: Repair<'t, 'a, 'm, V>,
    message_drafts: Vec<MessageDraft<'a, V>>,
    /// The parts that have to move out of a result and follow all results, by the path of the result.
    beside: AHashMap<Path, Vec<Draft<'a, V>>>,
}

impl<'t, 'a, 'm, V: Value<'a>> Turns<'t, 'a, 'm, V> {
    pub(crate) fn new(repair: Repair<'t, 'a, 'm, V>) -> Self {
        Self { repair, message_drafts: Vec::new(), beside: AHashMap::new() }
    }

    /// Return the repaired messages.
    pub(crate) fn repaired(mut self) -> Vec<Draft<'a, V>> {
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
        let runs = runs_of(&self.repair);
        if self.repair.destination.server_pairs && !pairs.alone.is_empty() {
            self.leave_out_unpaired(&runs);
        }
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
        let Self { repair: Repair { edited, destination, mends, .. }, mut message_drafts, .. } = self;
        // If the user had the last word, the model's last message will not be the last.
        if !user_ends(edited, destination) {
            drop_trailing_thoughts(&mut message_drafts, (edited, destination), mends);
            drop_trailing_space(&mut message_drafts, (edited, destination), mends);
        }
        if !destination.server_pairs {
            report_unpaired(&message_drafts, (edited.blocks, pairs), mends);
        }
        if destination.merges {
            message_drafts = merge(message_drafts, mends);
        }
        message_drafts.into_iter().filter_map(|message_draft| message_draft.draft(edited, destination.key)).collect()
    }

    /// Remove calls of server tools that were not answered before their turn was over, and answers to no call.
    ///
    /// A turn that waits for the client's results is not over, and neither is the last one, unless a user message will
    /// be put after it.
    fn leave_out_unpaired(&mut self, runs: &[Run]) {
        let (pairs, blocks) = (self.repair.pairs, self.repair.edited.blocks);
        let callers: AHashSet<usize> = pairs.calls().map(|(path, _)| path.position()).collect();
        let is_over =
            |run: &&Run| run.side == Side::Model && !run.positions.clone().any(|position| callers.contains(&position));
        let is_all_over = is_last_turn_over(self.repair.edited, (self.repair.destination, pairs));
        let past = runs.split_last().map_or(&[][..], |(_, past)| if is_all_over { runs } else { past });
        let end = past.iter().rfind(is_over).map_or(0, |run| run.positions.end);
        for (number, path) in &pairs.alone {
            let Some((block, path)) = blocks.get(*number).zip(*path) else { continue };
            let entry = &block.entry;
            let is_gone = |path| self.repair.edited.is_gone(path);
            let is_waiting = entry.call.is_some() && entry.position >= end;
            if is_waiting || is_gone(path) || is_gone(Path::Message(path.position())) {
                continue;
            }
            self.repair.edited.take_out(path);
            if entry.call.is_none() {
                self.repair.report_stray(path, entry.call_id);
            } else {
                self.repair.mends.add("server_call", Some(entry.position), entry.call_id);
                self.repair.mends.gone_calls.insert(entry.order);
            }
        }
    }

    /// Leave out results without a call that are messages of their own. This happens if Chat results without calls are
    /// mixed with messages of another provider, recognised by their thinking.
    fn leave_out_messages(&mut self) {
        if self.repair.pairs.orphan_ids.is_empty() {
            return;
        }
        let blocks = self.repair.edited.blocks;
        for block in blocks.iter().filter(|block| block.entry.call.is_none()) {
            if let Some(path @ Path::Message(_)) = block.result_path.filter(|path| !self.repair.pairs.is_other(*path)) {
                self.repair.edited.take_out(path);
                self.repair.report_stray(path, block.entry.call_id);
            }
        }
    }

    /// Answer calls that no user turn follows.
    fn close(&mut self, open: &[usize]) {
        if !open.is_empty() {
            let items = Some(self.results_of(open, &[]));
            self.message_drafts.push(MessageDraft::new(None, Side::User, items));
        }
    }

    /// Add messages that stay, with their parts. They are no side's, so that nothing is joined to them.
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

    /// Add a model turn. Its calls are added to `open`, the calls without a result so far.
    fn add_model(&mut self, positions: Range<usize>, open: &mut Vec<usize>) {
        for position in positions {
            if self.is_left_out(position) {
                continue;
            }
            let (pairs, key) = (self.repair.pairs, self.repair.destination.key);
            open.extend(paths_of(self.repair.edited, position, key).filter_map(|path| pairs.call_at(path)));
            let mut stay = self.stay(position);
            let misplaced: Vec<_> = stay.iter().flatten().copied().filter(|path| self.is_result(*path)).collect();
            if let Some(stay) = stay.as_mut().filter(|_| !misplaced.is_empty()) {
                stay.retain(|path| !self.is_result(*path));
            }
            for path in misplaced {
                self.report_foreign(path);
            }
            let ends_with_text = stay.as_ref().is_some_and(|stay| ends_with_text(&self.repair, stay.iter().copied()));
            let stay = stay.map(|stay| if ends_with_text { self.calls_last(stay) } else { stay });
            self.add(position, Side::Model, stay, Vec::new());
            if !self.repair.edited.message_at(position).is_some_and(is_models) {
                let role = Some(Edit::NewValue(Json::ascii(self.repair.destination.model)));
                self.repair.edited.edit(Path::Message(position), vec![(names::ROLE, role)]);
                self.repair.mends.add("renamed_role", Some(position), self.repair.call_id(open.last().copied()));
            }
        }
    }

    fn is_left_out(&self, position: usize) -> bool {
        self.repair.edited.is_gone(Path::Message(position))
    }

    /// Move the calls of a message after its other parts. So server tool results stay before the text about them.
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

    /// Add a turn that is not the model's: first the results for the open calls, each once, and no results of other
    /// calls.
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
                    is_first &= own.len() == count && !(is_apart && self.repair.destination.answers_at_once);
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
            self.report_foreign(*path);
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

    /// Return a result for each open call, in the order of the calls, because results without ids are paired by order.
    /// Some come from this turn (`own`), some from elsewhere, and some are new. Parts that may not be inside a result
    /// follow.
    fn results_of(&mut self, open: &[usize], own: &[Path]) -> Vec<Draft<'a, V>> {
        let there: AHashSet<&Path> = own.iter().collect();
        let (mut drafts, mut beside) = (Vec::with_capacity(open.len()), Vec::new());
        for number in open {
            let Some(path) = self.repair.pairs.result_of(*number) else {
                drafts.extend(self.repair.answer(*number));
                continue;
            };
            drafts.extend(self.repair.edited.draft(path));
            beside.extend(self.beside.remove(&path).into_iter().flatten());
            let moved = self.repair.edited.blocks.get(*number).filter(|_| !there.contains(&path));
            if let Some(entry) = moved.map(|block| &block.entry) {
                self.repair.mends.add("moved_result", Some(entry.result_position), entry.call_id);
            }
        }
        drafts.extend(beside);
        drafts
    }

    fn is_result(&self, path: Path) -> bool {
        let Repair { edited, destination, pairs, .. } = &self.repair;
        if pairs.is_stray(path) {
            return true;
        }
        let Some(part) = part_at(edited, path) else { return false };
        if destination.is_result(part) {
            return !pairs.is_other(path) && pairs.call_at(path).is_none();
        }
        // If one server tool result names a call of the client, others would answer it in the next repair.
        pairs.has_strays() && pairs.is_misplaced(path, part)
    }

    /// Report a result that is removed. A result that is moved is reported at its new place.
    fn report_foreign(&mut self, path: Path) {
        if self.repair.pairs.owner(path).is_some() {
            return;
        }
        let part = part_at(self.repair.edited, path);
        let call_id = part.map_or(Text::ascii(""), |part| self.repair.destination.result_id.text(part));
        self.repair.report_stray(path, call_id);
    }

    /// Return the paths of the parts of a message that are not blank; `None` if it has no list of parts.
    fn stay(&mut self, position: usize) -> Option<Vec<Path>> {
        self.repair.edited.list(position, self.repair.destination.key)?;
        let mut stay = Vec::new();
        for path in paths_of(self.repair.edited, position, self.repair.destination.key)
            .filter(|path| !self.repair.edited.is_gone(*path))
        {
            if part_at(self.repair.edited, path).is_some_and(|part| is_blank(self.repair.destination, part)) {
                self.repair.mends.add("empty_text", Some(position), Text::ascii(""));
            } else {
                stay.push(path);
            }
        }
        Some(stay)
    }

    /// Add a message with the parts that stay, preceded by others.
    fn add(&mut self, position: usize, side: Side, stay: Option<Vec<Path>>, before: Vec<Draft<'a, V>>) {
        let Some(stay) = stay else { return self.add_plain(position, side, before) };
        let mut items = before;
        items.extend(stay.into_iter().filter_map(|path| self.repair.edited.draft(path)));
        if items.is_empty() {
            self.repair.mends.add("empty_message", Some(position), Text::ascii(""));
        } else {
            self.message_drafts.push(MessageDraft::new(Some(position), side, Some(items)));
        }
    }

    /// Add a message whose content is not a list. If the message has no content, results can't be added to it and get a
    /// message of their own before it.
    fn add_plain(&mut self, position: usize, side: Side, mut first: Vec<Draft<'a, V>>) {
        let key = self.repair.destination.key.key();
        let message = self.repair.edited.message_at(position);
        let content = message.and_then(|message| message.get(key));
        if !first.is_empty() && !message.is_some_and(|message| message.has(key)) {
            self.message_drafts.push(MessageDraft::new(None, Side::User, Some(std::mem::take(&mut first))));
        }
        let text = content.filter(|content| content.text_len().is_some() && !has_no_word(*content));
        let is_last = side == Side::Model && position + 1 == self.repair.edited.messages.len();
        let is_last_word =
            is_last && !message.is_some_and(|message| has_words_or_media(message, self.repair.destination.key));
        let mut items = None;
        if !first.is_empty() {
            let text = text.map(|text| Draft::NewValue(self.repair.destination.text(text_or_empty(Some(text)))));
            items = Some(first.into_iter().chain(text).collect());
        } else if text.is_none() && self.repair.destination.refuses_blank && !is_last_word {
            self.repair.mends.add("empty_message", Some(position), Text::ascii(""));
            return;
        }
        self.message_drafts.push(MessageDraft::new(Some(position), side, items));
    }
}

/// Consecutive messages of one side. Messages between them may be left out.
pub(crate) struct Run {
    pub(crate) side: Side,
    pub(crate) positions: Range<usize>,
}

/// Split the messages into turns. If the model speaks after its calls, that begins a new turn. A message with calls is
/// the model's, whatever its role. Messages that a repair leaves alone are runs of their own.
pub(crate) fn runs_of<'a, V: Value<'a>>(repair: &Repair<'_, 'a, '_, V>) -> Vec<Run> {
    let (destination, pairs) = (repair.destination, repair.pairs);
    let mut runs: Vec<Run> = Vec::new();
    let mut is_after_calls = false;
    for (position, message) in repair.edited.messages.iter().enumerate() {
        if repair.edited.is_gone(Path::Message(position)) {
            continue;
        }
        let paths = || paths_of(repair.edited, position, destination.key);
        let has_calls = paths().any(|path| pairs.call_at(path).is_some());
        let is_guarded = repair.edited.guard.contains(&position);
        let side = match has_calls {
            _ if is_guarded => Side::Other,
            true => Side::Model,
            false if repair.edited.users.contains(&position) => Side::User,
            false => side_of(*message, destination),
        };
        let first = Path::Part(position, destination.key, 0);
        let starts = || pairs.call_at(first).is_none() || ends_with_text(repair, paths());
        let is_next = side == Side::Model && is_after_calls && starts();
        is_after_calls = has_calls;
        let is_same = |run: &Run| repair.edited.guard.contains(&run.positions.start) == is_guarded;
        match runs.last_mut().filter(|run| run.side == side && !is_next && is_same(run)) {
            Some(run) => run.positions.end = position + 1,
            None => runs.push(Run { side, positions: position..position + 1 }),
        }
    }
    runs
}

/// Return the side of a message without calls.
fn side_of<'a, V: Value<'a>>(message: V, destination: &Destination) -> Side {
    let role = text_or_empty(message.get(names::ROLE));
    if is_models(message) {
        Side::Model
    } else if destination.answering.iter().any(|own| role.is(own)) {
        Side::User
    } else {
        Side::Other
    }
}

/// Return the paths of the parts of a message.
fn paths_of<'a, V: Value<'a>>(
    edited: &EditedMessages<'a, '_, V>,
    position: usize,
    key: PartsKey,
) -> impl Iterator<Item = Path> + use<V> {
    let count = edited.list(position, key).map_or(0, Value::count);
    (0..count).map(move |index| Path::Part(position, key, index))
}

/// Return true if a text follows the calls, or a server tool result follows one of them, and the provider refuses that.
pub(crate) fn ends_with_text<'a, V: Value<'a>>(
    repair: &Repair<'_, 'a, '_, V>,
    paths: impl Iterator<Item = Path>,
) -> bool {
    let Repair { edited, destination, pairs, .. } = repair;
    let (mut is_after, mut has_text) = (false, false);
    for path in paths.take_while(|_| destination.ends_in_calls) {
        let part = part_at(edited, path);
        let kind = text_or_empty(part.and_then(|part| part.get(names::TYPE)));
        if pairs.call_at(path).is_some() {
            (is_after, has_text) = (true, false);
        } else if is_after && kind.ends_with("_tool_result") {
            return true;
        }
        has_text |= is_after && kind.is("text") && !part.is_some_and(|part| is_blank(destination, part));
    }
    has_text
}

/// Correct the content of a result. Return the parts that have to follow the results instead.
pub(crate) fn clean_result<'a, V: Value<'a>>(repair: &mut Repair<'_, 'a, '_, V>, path: Path) -> Vec<Draft<'a, V>> {
    let owner = repair.pairs.owner(path);
    let call_id = repair.call_id(owner);
    let Repair { edited, destination, mends, .. } = repair;
    let part = part_at(edited, path).filter(|_| destination.refuses_blank && !edited.is_gone(path));
    let Some(held) = part.and_then(|part| destination.result_id.id_holder(part)) else { return Vec::new() };
    let content = held.get(names::CONTENT);
    let Some(given) = parts_of(edited, path, (names::CONTENT, content)) else { return Vec::new() };
    let (is_failure, count) = (destination.is_failure(held), given.len());
    let (mut stay, mut beside) = (Vec::with_capacity(count), Vec::new());
    for item in given {
        let own = value_of(&item);
        if is_failure && destination.fails_in_words && own.is_some_and(is_shown) {
            beside.push(item);
        } else if !own.is_some_and(|part| is_blank(destination, part)) {
            stay.push(item);
        }
    }
    let position = Some(path.position());
    if stay.len() + beside.len() < count {
        mends.add("empty_text", position, Text::ascii(""));
    }
    if !beside.is_empty() {
        mends.add("moved_media", position, call_id);
    }
    if stay.is_empty() && (is_failure || destination.refuses_empty) {
        let (kind, text) = if is_failure { ("empty_failure", FAILED) } else { ("empty_result", NO_OUTPUT) };
        mends.add(kind, position, call_id);
        let entry = owner.and_then(|owner| edited.blocks.get(owner)).map(|block| &block.entry);
        mends.texts.extend(entry.map(|entry| (entry.order, text)));
        stay.push(Draft::NewValue(destination.text(Text::ascii(text))));
    } else if stay.len() == count {
        return beside;
    }
    let of = content.and_then(Value::list).map(|list| (DraftList::Inner, list));
    let members = vec![(names::CONTENT, Some(Edit::Parts(Parts { of, items: stay })))];
    let members = match destination.result_id.holders.first() {
        None => members,
        Some(holder) => vec![(*holder, Some(Edit::Changed(Changed { path: None, of: Some(held), members })))],
    };
    edited.edit(path, members);
    beside
}

/// Remove the result from a part that is also a call.
pub(crate) fn part_calls<'a, V: Value<'a>>(repair: &mut Repair<'_, 'a, '_, V>) {
    let (pairs, destination) = (repair.pairs, repair.destination);
    for (path, number) in pairs.calls().filter(|_| destination.can_be_call_and_result()) {
        if part_at(repair.edited, path).is_some_and(|part| destination.is_result(part)) {
            repair.edited.edit(path, destination.result_id.holders.iter().map(|holder| (*holder, None)).collect());
            let call_id = repair.call_id(Some(number));
            repair.mends.add("orphan_result", Some(path.position()), call_id);
        }
    }
}

/// Return true if the type of a part is something other than text.
fn is_shown<'a, V: Value<'a>>(part: V) -> bool {
    let kind = text_or_empty(part.get(names::TYPE));
    !kind.is_empty() && !kind.is("text")
}

/// Report server tool calls that have no result although their turn is over, and server tool results without a call.
pub(crate) fn report_unpaired<'a, V>(
    message_drafts: &[MessageDraft<'a, V>],
    (blocks, pairs): (&[Block<'a, V>], &Pairs<'a>),
    mends: &mut Mends<'a>,
) {
    if pairs.alone.is_empty() {
        return;
    }
    let end = end_of(message_drafts, pairs);
    let alone = pairs.alone.iter().filter_map(|(number, _)| blocks.get(*number));
    for block in alone.filter(|block| !block.is_dropped) {
        let (position, result_position) = (block.entry.position, block.entry.result_position);
        if block.entry.call.is_none() && !mends.is_left_out(block.result_path) {
            mends.open_kinds.insert(format!("server_tool_result in message {result_position}").into());
        } else if block.entry.call.is_some() && end.is_some_and(|end| position <= end) {
            mends.open_kinds.insert(format!("server_tool_use in message {position}").into());
        }
    }
}

/// Return the position at which the last finished model turn ends. A turn that waits for results of the client is not
/// finished, and neither is the last turn.
fn end_of<V>(message_drafts: &[MessageDraft<'_, V>], pairs: &Pairs<'_>) -> Option<usize> {
    let callers: AHashSet<usize> = pairs.calls().map(|(path, _)| path.position()).collect();
    let mut turns = message_drafts.chunk_by(|one, other| one.side == other.side);
    turns.next_back();
    let is_over = |turn: &[MessageDraft<'_, V>]| {
        turn.first().is_some_and(|message_draft| message_draft.side == Side::Model)
            && !turn
                .iter()
                .filter_map(|message_draft| message_draft.position)
                .any(|position| callers.contains(&position))
    };
    turns.rfind(|turn| is_over(turn))?.iter().rev().find_map(|message_draft| message_draft.position)
}
