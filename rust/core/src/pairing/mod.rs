//! Calls with their results, newest first.
//!
//! The walk goes backwards through the messages and hands out a block as soon as its order and its result are
//! certain, so that a job may stop when its budget is spent. The rules: ids decide, and a result belongs to the
//! nearest earlier unanswered call with its id; without an id, the turn, the tool's name and the order within the
//! turn decide; a second result for an answered call is kept aside, except that a real one replaces one that was
//! made up for an interrupted call. Within one message, calls come before results.

pub(crate) mod argument_names;
pub mod block;
mod pending;

use std::cmp::Reverse;

use ahash::AHashMap;

use self::block::Entry;
use self::pending::{Lane, Turn};
use crate::content::is_stand_in;
use crate::formats::message::Said;
use crate::formats::{USER, read_message, read_spoken, speaker_of};
use crate::input::messages::{Halt, Messages};
use crate::json::value::Value as _;
use crate::session::Branch;
use crate::session::{Placed, Places};
use crate::text::Text;

/// The backward walk.
#[derive(Debug)]
pub struct Walk<'a, M: Messages<'a>> {
    /// The number of results that came for a call that was answered.
    pub duplicate_results: usize,
    /// Those results, by the order of the entry of their call.
    pub second_results: AHashMap<usize, Vec<M::Item>>,
    /// Where these results stand.
    pub second_positions: Vec<usize>,
    messages: M,
    position: Option<usize>,
    is_settled: bool,
    said: Said<'a, M::Item>,
    /// The results of the calls that are added; empty else.
    nearest: Vec<Option<usize>>,
    places: Places<'a>,
    lanes: Vec<Lane<'a>>,
    lane_of: AHashMap<Text<'a>, usize>,
    held: Vec<Entry<'a, M::Item>>,
    ready: Vec<Entry<'a, M::Item>>,
    waiting: usize,
    order: usize,
}

impl<'a, M: Messages<'a>> Walk<'a, M> {
    /// A walk through these messages.
    pub fn new(messages: M) -> Self {
        Self::with(messages, Places::default())
    }

    /// A walk that follows the active branch upward; it ends where the branch is lost, see [`Walk::is_sure`].
    pub fn following(messages: M) -> Self {
        Self::with(messages, Places::following())
    }

    fn with(messages: M, places: Places<'a>) -> Self {
        Self {
            duplicate_results: 0,
            second_results: AHashMap::new(),
            second_positions: Vec::new(),
            messages,
            position: None,
            is_settled: false,
            said: Said::default(),
            nearest: Vec::new(),
            places,
            lanes: vec![Lane::default()], // the main conversation's
            lane_of: AHashMap::new(),
            held: Vec::new(),
            ready: Vec::new(),
            waiting: 0,
            order: 0,
        }
    }

    /// The next block, newest first; `None` at the beginning of the conversation.
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
                for lane in 0..self.lanes.len() {
                    self.close_turn(lane);
                }
                self.settle_rest();
                self.flush();
            }
        }
    }

    /// Return whether all places that were told are right, however the records before go on.
    pub fn is_sure(&self) -> bool {
        self.places.branch().is_none_or(Branch::is_sure)
    }

    /// The number of records that came by that are written again later.
    pub fn repeated_records(&self) -> usize {
        self.places.repeated_records
    }

    /// The source of the messages.
    pub fn messages(&self) -> &M {
        &self.messages
    }

    fn read(&mut self, position: usize, item: M::Item) -> Result<(), Halt<M::Error>> {
        let Some(Placed { message, role, scope, is_active }) = self.places.place(&self.messages, position, item)?
        else {
            return Ok(());
        };
        self.said.clear();
        read_message(message, role, &mut self.said)?;
        let lane = self.lane(scope);
        if self.said.is_empty() {
            let has_turn = self.lanes.get(lane).is_some_and(|lane| lane.turn.is_some());
            if has_turn && speaker_of(read_spoken(message).speaker) == Some(USER) {
                self.part_turn(lane);
                if self.waiting == 0 {
                    self.flush();
                }
            }
            return Ok(());
        }
        let place = (scope, is_active);
        if !self.said.results.is_empty() {
            self.add_results(lane, position, place);
        }
        if !self.said.calls.is_empty() {
            self.add_calls(lane, position, place);
            if self.waiting == 0 {
                self.flush();
            }
        }
        Ok(())
    }

    fn lane(&mut self, scope: Text<'a>) -> usize {
        if scope.is_empty() {
            return 0;
        }
        let next = self.lanes.len();
        let lane = *self.lane_of.entry(scope).or_insert(next);
        if lane == next {
            self.lanes.push(Lane::default());
        }
        lane
    }

    fn add_results(&mut self, lane: usize, position: usize, place: (Text<'a>, bool)) {
        let is_behind = self.lanes.get(lane).and_then(|lane| lane.turn.as_ref()).is_some_and(|turn| turn.has_calls);
        if is_behind {
            self.close_turn(lane);
            if self.waiting == 0 {
                self.flush();
            }
        }
        let Some(lane) = self.lanes.get_mut(lane) else { return };
        for result in self.said.results.drain(..).rev() {
            self.order += 1;
            self.waiting += 1;
            let held = self.held.len();
            let mut behind = None;
            let call_id = result.call_id;
            if let Some(content) = result.content {
                content.fetch(); // it is looked at as soon as its call is found
            }
            if call_id.is_empty() {
                lane.turn.get_or_insert_default().results.push(held);
            } else {
                behind = lane.pending.insert(call_id, held);
            }
            let mut entry = Entry::new(None, Some(result), (position, self.order), place);
            entry.behind = behind;
            self.held.push(entry);
        }
    }

    fn add_calls(&mut self, lane: usize, position: usize, (scope, is_active): (Text<'a>, bool)) {
        let Some(lane) = self.lanes.get_mut(lane) else { return };
        if let Some(turn) = &mut lane.turn {
            turn.has_calls = true;
        }
        // Calls of one message are equally near to their results: where an id repeats in it, their order decides.
        let nearest = self.said.calls.iter().map(|call| lane.nearest_result(call.call_id, &self.held));
        self.nearest.extend(nearest);
        for (call, nearest) in self.said.calls.drain(..).rev().zip(self.nearest.drain(..).rev()) {
            self.order += 1;
            if let Some(entry) = nearest.and_then(|held| self.held.get_mut(held)) {
                self.waiting -= 1;
                entry.add_call(call, (position, self.order), is_active);
                continue;
            }
            let has_id = !call.call_id.is_empty();
            if lane.turn.is_none() && !has_id {
                lane.turn = Some(Turn { has_calls: true, ..Turn::default() });
            }
            if let Some(turn) = &mut lane.turn
                && (!has_id || !turn.results.is_empty())
            {
                turn.calls.push(self.held.len());
                self.waiting += 1;
            }
            self.held.push(Entry::new(Some(call), None, (position, self.order), (scope, is_active)));
        }
    }

    fn close_turn(&mut self, lane: usize) -> Option<Turn> {
        let turn = self.lanes.get_mut(lane)?.turn.take()?;
        self.waiting -= turn.calls.len() + turn.results.len();
        turn.pair(&mut self.held);
        Some(turn)
    }

    /// What the user said parts a turn: the calls behind it come first, those before it get what they left.
    fn part_turn(&mut self, lane: usize) {
        if self.lanes.get(lane).and_then(|lane| lane.turn.as_ref()).is_none_or(|turn| turn.calls.is_empty()) {
            return;
        }
        let rest = self.close_turn(lane).and_then(|turn| turn.rest(&self.held));
        self.waiting += rest.as_ref().map_or(0, |rest| rest.results.len());
        if let Some(lane) = self.lanes.get_mut(lane) {
            lane.turn = rest;
        }
    }

    /// At the beginning of the conversation: a result that still waits is a second one, or has no call.
    fn settle_rest(&mut self) {
        let mut answered: AHashMap<(Text<'a>, Text<'a>), usize> = AHashMap::new();
        self.held.sort_by_key(|entry| entry.order);
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

    fn settle_duplicate(&mut self, first: usize, second: usize) {
        self.duplicate_results += 1;
        let Ok([entry, late]) = self.held.get_disjoint_mut([first, second]) else { return };
        let (mut kept, mut position) = (late.result, late.result_position);
        if is_stand_in(&entry.text) && !is_stand_in(&late.text) {
            (kept, position) = (entry.result, entry.result_position);
            entry.take_over(late);
        }
        self.second_positions.push(position);
        self.second_results.entry(entry.order).or_default().extend(kept);
        late.result = None;
    }

    /// Hand out what is held. An entry that holds nothing gave its result to a call.
    fn flush(&mut self) {
        let mut held = std::mem::take(&mut self.held);
        if held.len() > 1 {
            held.retain(|entry| entry.call.is_some() || entry.result.is_some());
            held.sort_by_key(|entry| Reverse(entry.order));
        }
        if self.ready.is_empty() {
            std::mem::swap(&mut self.ready, &mut held);
            self.held = held; // an empty list whose room is used again
        } else {
            self.ready.splice(0..0, held);
        }
    }
}
