//! Calls with their results, newest first.
//!
//! The walk goes backwards through the messages and returns a block as soon as its order and its result are certain, so
//! that a job can stop when its budget is spent. The rules:
//!
//! - A result with an id belongs to the nearest earlier call with that id that has no result yet, otherwise to the only
//!   earlier call that has it as its other id.
//! - A result without an id is paired by its turn, the tool's name, and the order within the turn.
//! - A second result for a call goes into the block's notes, unless the first is a stand-in for an interrupted call,
//!   or says that it is not the last: then the second result replaces it.
//! - Within one message, calls come before results.

pub(crate) mod argument_names;
pub mod block;
mod pending;
mod provisional;
mod unread;

use std::cmp::Reverse;

use ahash::{AHashMap, AHashSet};

use self::block::Entry;
use self::pending::{OpenTurn, PendingResults};
use self::provisional::replaces;
use self::unread::{MOST_PLACES, keys_of};
use crate::formats::message::{MessageParts, ReadMessage};
use crate::formats::{USER, read_message, read_spoken, speaker_of};
use crate::input::messages::{Halt, Messages};
use crate::json::value::{Key, Value, names, text_or_empty};
use crate::session::Branch;
use crate::session::{Directories, Placed, Places};
use crate::text::Text;

pub use self::unread::Unread;

const TOOL_USE_RESULT: Key<'static> = Key::new("toolUseResult");
/// The beginning of a result of which Claude Code keeps the whole elsewhere.
const PREVIEW: &str = "<persisted-output>";

fn is_preview<'a, V: Value<'a>>(content: V) -> bool {
    match content.between_quotes() {
        Some(bytes) => bytes.starts_with(PREVIEW.as_bytes()),
        None => content.text().is_some_and(|text| text.starts_with(PREVIEW)),
    }
}

/// Return the ids of a call by which no result should name it.
fn other_ids<'a, V: Value<'a>>(entry: &Entry<'a, V>) -> impl Iterator<Item = Text<'a>> {
    let [id, call_id] = [names::ID, names::CALL_ID].map(|key| text_or_empty(entry.call.and_then(|call| call.get(key))));
    let second = Some(call_id).filter(|call_id| *call_id != id);
    let own = entry.call_id;
    second.into_iter().chain([id]).filter(move |id| !id.is_empty() && *id != own)
}

/// Return the whole text of a result, which the record has next to the message.
fn whole_of<'a, V: Value<'a>>(record: V) -> Option<V> {
    let held = record.get(TOOL_USE_RESULT)?;
    let whole = match held.object() {
        Some(held) => [names::STDOUT, names::CONTENT, names::RESULT].into_iter().find_map(|key| held.get(key))?,
        None => held.list()?, // a text is a message about the call
    };
    let has_text = |value: V| value.text_len().is_some_and(|length| length > 0);
    let first = || whole.list()?.item(0)?.object()?.get(names::TEXT);
    (has_text(whole) || first().is_some_and(has_text)).then_some(whole)
}

/// The backward walk.
#[derive(Debug)]
pub struct Walk<'a, M: Messages<'a>> {
    /// The number of results for calls that already have one.
    pub duplicate_results: usize,
    /// Those results, by the `order` of the call's entry.
    pub second_results: AHashMap<usize, Vec<M::Item>>,
    /// The positions of those results, by the same orders.
    pub(crate) second_places: AHashMap<usize, Vec<usize>>,
    /// The positions of the messages with these results.
    pub second_positions: Vec<usize>,
    /// The unknown structures in the walked messages: the position of each such message, and its first part,
    /// call or record of unknown structure, newest first.
    pub unread: Vec<(usize, M::Item)>,
    /// A place for each message, filled if it is no record; empty if nobody asks for them.
    pub(crate) read_messages: Vec<Option<ReadMessage>>,
    messages: M,
    position: Option<usize>,
    is_settled: bool,
    message_parts: MessageParts<'a, M::Item>,
    /// Scratch space of `add_calls`: the index of each call's result. Empty between calls.
    nearest: Vec<Option<usize>>,
    places: Places<'a>,
    directories: Directories<'a>,
    pending_by_scope: Vec<PendingResults<'a>>,
    scope_numbers: AHashMap<Text<'a>, usize>,
    held: Vec<Entry<'a, M::Item>>,
    ready: Vec<Entry<'a, M::Item>>,
    waiting: usize,
    order: usize,
}

impl<'a, M: Messages<'a>> Walk<'a, M> {
    /// Create a walk through these messages.
    pub fn new(messages: M) -> Self {
        Self::with(messages, Places::default())
    }

    /// Create a walk that follows the active branch to its root. It ends if the branch is lost; see [`Walk::is_sure`].
    pub fn following(messages: M) -> Self {
        Self::with(messages, Places::following())
    }

    fn with(messages: M, places: Places<'a>) -> Self {
        Self {
            duplicate_results: 0,
            second_results: AHashMap::new(),
            second_places: AHashMap::new(),
            second_positions: Vec::new(),
            unread: Vec::new(),
            read_messages: Vec::new(),
            messages,
            position: None,
            is_settled: false,
            message_parts: MessageParts::default(),
            nearest: Vec::new(),
            places,
            directories: Directories::default(),
            pending_by_scope: vec![PendingResults::default()], // the main conversation's
            scope_numbers: AHashMap::new(),
            held: Vec::new(),
            ready: Vec::new(),
            waiting: 0,
            order: 0,
        }
    }

    /// Return the next block, newest first; `None` at the beginning of the conversation.
    pub fn next_entry(&mut self) -> Result<Option<Entry<'a, M::Item>>, Halt<M::Error>> {
        loop {
            if let Some(entry) = self.ready.pop() {
                return Ok(Some(entry));
            }
            if self.is_settled || self.places.branch().is_some_and(Branch::is_lost) {
                return Ok(None);
            }
            if let Some((position, item)) = self.messages.before(self.position).map_err(Halt::Source)? {
                self.position = Some(position);
                self.read(position, item)?;
            } else {
                self.is_settled = true;
                for number in 0..self.pending_by_scope.len() {
                    self.close_turn(number);
                }
                self.settle_rest();
                self.flush();
            }
        }
    }

    /// Return true if the branches of all blocks returned so far are right, whatever the earlier records are.
    pub fn is_sure(&self) -> bool {
        self.places.branch().is_none_or(Branch::is_sure)
    }

    /// The number of records skipped because a later copy exists.
    pub fn repeated_records(&self) -> usize {
        self.places.repeated_records
    }

    /// Report what no format knows.
    pub fn unread_report(&self) -> Unread {
        let first = self.unread.iter().rev().take(MOST_PLACES);
        Unread {
            count: self.unread.len(),
            total: self.places.walked,
            first: first.map(|(position, unread)| (self.messages.number(*position), keys_of(*unread))).collect(),
        }
    }

    /// The source of the messages.
    pub fn messages(&self) -> &M {
        &self.messages
    }

    fn read(&mut self, position: usize, item: M::Item) -> Result<(), Halt<M::Error>> {
        let Some(Placed { record, message, role, scope, is_active }) =
            self.places.place(&self.messages, position, item)?
        else {
            return Ok(());
        };
        self.message_parts.clear();
        let shape = read_message(message, role, &mut self.message_parts)?;
        if let Some(place) = self.read_messages.get_mut(position)
            && message.identity() == record.identity()
        {
            *place = Some(ReadMessage::new(shape, &self.message_parts));
        }
        self.unread.extend(self.message_parts.unread.take().map(|unread| (position, unread)));
        let number = self.scope_number(scope);
        if self.message_parts.is_empty() {
            let has_turn = self.pending_by_scope.get(number).is_some_and(|pending| pending.turn.is_some());
            if has_turn && is_users(message) {
                self.part_turn(number);
                if self.waiting == 0 {
                    self.flush();
                }
            }
            return Ok(());
        }
        let place = (scope, is_active);
        if !self.message_parts.results.is_empty() {
            if let [result] = self.message_parts.results.as_mut_slice() {
                // the record holds the output of one call
                if result.content.is_some_and(is_preview) {
                    result.content = whole_of(record).or(result.content);
                }
            }
            self.add_results(number, position, place);
        }
        if !self.message_parts.calls.is_empty() {
            let directory = self.directories.at(&self.messages, position, record)?;
            self.add_calls(number, position, place, directory);
            if self.waiting == 0 {
                self.flush();
            }
        }
        Ok(())
    }

    fn scope_number(&mut self, scope: Text<'a>) -> usize {
        if scope.is_empty() {
            return 0;
        }
        let next = self.pending_by_scope.len();
        let number = *self.scope_numbers.entry(scope).or_insert(next);
        if number == next {
            self.pending_by_scope.push(PendingResults::default());
        }
        number
    }

    fn add_results(&mut self, number: usize, position: usize, place: (Text<'a>, bool)) {
        let is_earlier_turn = self
            .pending_by_scope
            .get(number)
            .and_then(|pending| pending.turn.as_ref())
            .is_some_and(|turn| turn.has_calls);
        if is_earlier_turn {
            self.close_turn(number);
            if self.waiting == 0 {
                self.flush();
            }
        }
        let Some(pending) = self.pending_by_scope.get_mut(number) else { return };
        for result in self.message_parts.results.drain(..).rev() {
            self.order += 1;
            self.waiting += 1;
            let held = self.held.len();
            let mut next_waiting = None;
            let call_id = result.call_id;
            if let Some(content) = result.content {
                content.fetch(); // it is read as soon as its call is found
            }
            if call_id.is_empty() {
                pending.turn.get_or_insert_default().results.push(held);
            } else {
                next_waiting = pending.pending.insert(call_id, held);
            }
            let mut entry = Entry::new(None, Some(result), (position, self.order), place);
            entry.next_waiting = next_waiting;
            self.held.push(entry);
        }
    }

    fn add_calls(&mut self, number: usize, position: usize, (scope, is_active): (Text<'a>, bool), directory: Text<'a>) {
        let Some(pending) = self.pending_by_scope.get_mut(number) else { return };
        if let Some(turn) = &mut pending.turn {
            turn.has_calls = true;
        }
        // All calls of a message are equally near to their results, so if an id repeats, the order of the calls
        // decides.
        let nearest = self.message_parts.calls.iter().map(|call| pending.nearest_result(call.call_id, &self.held));
        self.nearest.extend(nearest);
        for (call, nearest) in self.message_parts.calls.drain(..).rev().zip(self.nearest.drain(..).rev()) {
            self.order += 1;
            if let Some(entry) = nearest.and_then(|held| self.held.get_mut(held)) {
                self.waiting -= 1;
                entry.add_call(call, (position, self.order), is_active, directory);
                continue;
            }
            let has_id = !call.call_id.is_empty();
            if pending.turn.is_none() && !has_id {
                pending.turn = Some(OpenTurn { has_calls: true, ..OpenTurn::default() });
            }
            if let Some(turn) = &mut pending.turn
                && (!has_id || !turn.results.is_empty())
            {
                turn.calls.push(self.held.len());
                self.waiting += 1;
            }
            let mut entry = Entry::new(Some(call), None, (position, self.order), (scope, is_active));
            entry.directory = directory;
            self.held.push(entry);
        }
    }

    fn close_turn(&mut self, number: usize) -> Option<OpenTurn> {
        let turn = self.pending_by_scope.get_mut(number)?.turn.take()?;
        self.waiting -= turn.calls.len() + turn.results.len();
        turn.pair(&mut self.held);
        Some(turn)
    }

    /// Split a turn at a user message: the calls after it are paired first, and those before it get the remaining
    /// results.
    fn part_turn(&mut self, number: usize) {
        if self
            .pending_by_scope
            .get(number)
            .and_then(|pending| pending.turn.as_ref())
            .is_none_or(|turn| turn.calls.is_empty())
        {
            return;
        }
        let rest = self.close_turn(number).and_then(|turn| turn.rest(&self.held));
        self.waiting += rest.as_ref().map_or(0, |rest| rest.results.len());
        if let Some(pending) = self.pending_by_scope.get_mut(number) {
            pending.turn = rest;
        }
    }

    /// At the beginning of the conversation, note each result that still waits and whose call has another result.
    fn settle_rest(&mut self) {
        self.held.sort_by_key(|entry| entry.order);
        self.pair_by_other_ids();
        let mut answered: AHashMap<(Text<'a>, Text<'a>), usize> = AHashMap::new();
        for held in (0..self.held.len()).rev() {
            let Some(entry) = self.held.get(held) else { continue };
            let key = (entry.scope, entry.call_id);
            if key.1.is_empty() {
                continue;
            }
            if entry.call.is_some() {
                answered.insert(key, held);
            } else if entry.result.is_some()
                && let Some(first) = answered.get(&key)
            {
                self.settle_duplicate(*first, held);
            }
        }
    }

    /// Pair results with the only call before them that has their id as its other id.
    ///
    /// Calls of Responses have two: `call_id`, which results name, and the `id` of the item.
    fn pair_by_other_ids(&mut self) {
        let mut others: AHashMap<(Text<'a>, Text<'a>), Vec<usize>> = AHashMap::new();
        for (number, entry) in self.held.iter().enumerate() {
            for other in other_ids(entry) {
                others.entry((entry.scope, other)).or_default().push(number);
            }
        }
        if others.is_empty() {
            return;
        }
        let callers = self.held.iter().filter(|entry| entry.call.is_some());
        let own: AHashSet<(Text<'a>, Text<'a>)> = callers.map(|entry| (entry.scope, entry.call_id)).collect();
        for late in (0..self.held.len()).rev() {
            let Some(entry) = self.held.get(late).filter(|entry| entry.call.is_none()) else { continue };
            let (key, place) = ((entry.scope, entry.call_id), entry.result_position);
            let Some([number]) = others.get(&key).filter(|_| !own.contains(&key)).map(Vec::as_slice) else { continue };
            let Ok([call, result]) = self.held.get_disjoint_mut([*number, late]) else { continue };
            if call.position > place {
                continue;
            }
            if call.result.is_some() {
                self.settle_duplicate(*number, late);
            } else {
                call.take_over(result);
                result.result = None;
            }
        }
    }

    fn settle_duplicate(&mut self, first: usize, second: usize) {
        self.duplicate_results += 1;
        let Ok([entry, late]) = self.held.get_disjoint_mut([first, second]) else { return };
        let (mut kept, mut position) = (late.result, late.result_position);
        if replaces(late, entry) {
            (kept, position) = (entry.result, entry.result_position);
            entry.take_over(late);
        }
        self.second_positions.push(position);
        if let Some(kept) = kept {
            self.second_results.entry(entry.order).or_default().push(kept);
            self.second_places.entry(entry.order).or_default().push(position);
        }
        late.result = None;
    }

    /// Move all held entries to `ready`, except those whose result was given to a call.
    fn flush(&mut self) {
        let mut held = std::mem::take(&mut self.held);
        if held.len() > 1 {
            held.retain(|entry| entry.call.is_some() || entry.result.is_some());
            held.sort_by_key(|entry| Reverse(entry.order));
        }
        if self.ready.is_empty() {
            std::mem::swap(&mut self.ready, &mut held);
            self.held = held; // an empty list whose allocation is reused
        } else {
            self.ready.splice(0..0, held);
        }
    }
}

/// Return true if a message is from the user.
pub(crate) fn is_users<'a, V: Value<'a>>(message: V) -> bool {
    speaker_of(read_spoken(message).speaker) == Some(USER)
}

/// Report the messages whose structure no format knows.
pub fn find_unread<'a, M: Messages<'a>>(messages: M) -> Result<Unread, Halt<M::Error>> {
    let mut walk = Walk::new(messages);
    while walk.next_entry()?.is_some() {}
    Ok(walk.unread_report())
}
