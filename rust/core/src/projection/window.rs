//! Fit the whole request into a model's window: clear arguments that hold nothing new, then shorten the oldest results,
//! then clear them, then drop the oldest turns as a whole.
//!
//! User messages are never changed. Neither is the last turn, except that its results are cut if everything else is not
//! enough. The count includes the texts of the messages, their thinking, an estimate for images, and a few tokens per
//! message for the protocol. For a body it also includes all other members, such as the system prompt and the tools.

use ahash::AHashSet;

use super::blocks::{Block, Proposal};
use super::decide::{cut_to, drop_all, open_inputs, shorten_old, target_of};
use super::edits::{Draft, Path, RequestSource};
use super::policy::{ClearInputs, Counter, Decision, Settings};
use super::request::is_guarded;
use crate::context::limits::{Limits, room_of, signed};
use crate::formats::message::MessageParts;
use crate::json::value::{Value, names};
use crate::shorten::Kinds;
use crate::text::Text;
use crate::tokens::messages::{MEDIA_TOKENS, count_media, tokens_of};

/// The estimated tokens per message for the protocol.
const MESSAGE_TOKENS: usize = 4;

/// The token count of a request, updated while the request is made to fit.
pub(crate) struct RequestSize<'s, 'r> {
    counter: Counter<'r>,
    limit: usize,
    /// True if arguments that hold nothing new are cleared first.
    clears_inputs: bool,
    /// The kinds of texts that are shortened by what they are.
    content: Kinds,
    /// True if results without a call stay.
    keeps_alone: bool,
    /// The positions of messages whose results may be shortened, but whose turns are not dropped.
    guard: &'s AHashSet<usize>,
    frame: usize,
    sizes: Vec<usize>,
    /// The tokens before the projection.
    pub(crate) before: usize,
    /// The tokens after the decisions made so far.
    pub(crate) tokens: isize,
    /// True if the last call of [`Request::fit`] found something to remove.
    has_taken: bool,
    /// True if the request is brought to the target even if it is within the limit: it was not before.
    pub(crate) is_clearing: bool,
}

impl<'s, 'r> RequestSize<'s, 'r> {
    /// Count a request with a limit of `limit` tokens. `frame` is the tokens of everything but the messages.
    pub(crate) fn new<'a, V: Value<'a>>(
        messages: &[V],
        (blocks, turns, guard): (&[Block<'a, V>], &[Vec<usize>], &'s AHashSet<usize>),
        frame: usize,
        (counter, limit): (Counter<'r>, usize),
        settings: &Settings<'_>,
    ) -> Self {
        let sizes = request_tokens(messages.iter().copied(), counter);
        let before = frame + sizes.iter().sum::<usize>();
        let tokens = signed(before);
        let mut request = Self {
            counter,
            limit,
            clears_inputs: settings.clear_inputs != ClearInputs::Never,
            content: settings.content,
            keeps_alone: !settings.repair,
            guard,
            frame,
            sizes,
            before,
            tokens,
            has_taken: false,
            is_clearing: false,
        };
        request.tokens += blocks.iter().map(|block| request.growth(block)).sum::<isize>();
        for turn in turns.iter().filter(|turn| is_dropped(blocks, turn)) {
            request.forget(blocks, turn);
        }
        request
    }

    /// Count the new messages, including corrections. The counts of unchanged messages are reused.
    ///
    /// The messages at the positions `moved` are in the system prompt, and need their room there.
    pub(crate) fn count_again<'a, D: RequestSource<'a>>(
        &mut self,
        drafts: &[Draft<'a, D::Item>],
        moved: &[usize],
        request_source: &D,
    ) {
        let known = |draft: &Draft<'a, D::Item>| match draft {
            Draft::Original(Path::Message(position), _) => self.sizes.get(*position),
            _ => None,
        };
        let as_it_was: usize = drafts.iter().filter_map(known).sum();
        let new = drafts.iter().filter(|draft| known(draft).is_none()).filter_map(|draft| request_source.build(draft));
        let new: usize = request_tokens(new, self.counter).into_iter().sum();
        let moved: usize = moved.iter().filter_map(|position| self.sizes.get(*position)).sum();
        self.tokens = signed(self.frame + moved + as_it_was + new);
    }

    /// Return the excess of the request over its limit.
    pub(crate) fn over(&self) -> usize {
        room_of(self.tokens - signed(self.limit))
    }

    /// Remove as much as needed. Return true if anything was removed.
    pub(crate) fn fit<'a, V: Value<'a>>(&mut self, blocks: &mut [Block<'a, V>], turns: &[Vec<usize>]) -> bool {
        self.has_taken = false;
        let is_wanted = self.is_clearing || self.over() > 0;
        let Some((last, earlier)) = turns.split_last().filter(|_| is_wanted) else { return false };
        let older: Vec<&Vec<usize>> = earlier.iter().filter(|turn| !is_dropped(blocks, turn)).collect();
        if self.clears_inputs {
            self.clear_inputs(blocks, older.iter().copied().flatten());
        }
        self.shorten(blocks, older.iter().copied().flatten());
        self.clear(blocks, older.iter().copied().flatten());
        if self.over() > 0 {
            self.drop_oldest(blocks, &older);
        }
        for number in last {
            let Some(block) = blocks.get_mut(*number).filter(|_| self.over() > 0) else { continue };
            let room = room_of(signed(block.size_in(Some(self.counter))) - signed(self.over()));
            let limits = Limits { tokens: Some((room, self.counter.encoding)), ..Limits::NONE };
            if let Some(proposal) = cut_to(block, limits) {
                self.shrink(block, proposal);
            }
        }
        self.has_taken
    }

    /// Return true if the request is as small as a removal makes it at once.
    fn is_at_target(&self) -> bool {
        self.tokens <= signed(target_of(self.limit))
    }

    /// Clear the oldest arguments that hold nothing new, down to the target.
    fn clear_inputs<'a, 't, V: Value<'a>>(
        &mut self,
        blocks: &mut [Block<'a, V>],
        numbers: impl Iterator<Item = &'t usize>,
    ) {
        for (number, input) in open_inputs(blocks, numbers.copied()) {
            if self.is_at_target() {
                return;
            }
            let Some(block) = blocks.get_mut(number) else { continue };
            let before = self.growth(block);
            let has_cleared = block.inputs.get_mut(input).is_some_and(|each| each.clear(self.counter.encoding));
            self.has_taken |= has_cleared;
            self.tokens += self.growth(block) - before;
        }
    }

    /// Shorten the oldest results down to the target.
    fn shorten<'a, 't, V: Value<'a>>(&mut self, blocks: &mut [Block<'a, V>], numbers: impl Iterator<Item = &'t usize>) {
        for number in numbers {
            if self.is_at_target() {
                return;
            }
            let Some(block) = blocks.get_mut(*number) else { continue };
            if let Some(proposal) = shorten_old(block, self.content, Some(self.counter)) {
                self.shrink(block, proposal);
            }
        }
    }

    /// Clear the oldest results down to the target.
    fn clear<'a, 't, V: Value<'a>>(&mut self, blocks: &mut [Block<'a, V>], numbers: impl Iterator<Item = &'t usize>) {
        for number in numbers {
            if self.is_at_target() {
                return;
            }
            let Some(block) = blocks.get_mut(*number) else { continue };
            self.shrink(block, block.propose(Decision::CLEARED));
        }
    }

    /// Drop the oldest turns down to the target, except those with results that stay. A result without a call may have the id
    /// of a turn: without that, it would be read as the result of an earlier call.
    fn drop_oldest<'a, V: Value<'a>>(&mut self, blocks: &mut [Block<'a, V>], turns: &[&Vec<usize>]) {
        let alone = blocks.iter().filter(|block| self.keeps_alone && block.entry.call.is_none());
        let alone: AHashSet<Text<'a>> = alone.map(|block| block.entry.call_id).collect();
        for turn in turns {
            if self.is_at_target() {
                return;
            }
            let stays = |block: &Block<'a, V>| {
                block.is_kept || is_guarded(block, self.guard) || alone.contains(&block.entry.call_id)
            };
            if !of(blocks, turn).any(stays) {
                self.forget(blocks, turn);
                drop_all(blocks, turn);
                self.has_taken = true;
            }
        }
    }

    fn shrink<'a, V: Value<'a>>(&mut self, block: &mut Block<'a, V>, proposal: Proposal<'a, V>) {
        let before = self.growth(block);
        self.has_taken |= block.decide(proposal);
        self.tokens += self.growth(block) - before;
    }

    /// Return the change in tokens that the decisions about a call and its result make; mostly negative.
    fn growth<'a, V: Value<'a>>(&self, block: &Block<'a, V>) -> isize {
        let cleared = block.cleared();
        let arguments = block.arguments.filter(|_| !cleared.is_empty());
        let own = arguments.map_or(0, |arguments| arguments.growth(&cleared, self.counter));
        let Some(decision) = &block.decision else { return own };
        let content = block.entry.content;
        let media = content.filter(|_| !decision.fate.is_partial()).map_or(0, |content| count_media(content, 0));
        let old = self.counter.count(&block.entry.text) + MEDIA_TOKENS * media;
        own + signed(self.counter.count(&block.new_text())) - signed(old)
    }

    /// Subtract the tokens that a turn still has after the decisions made so far.
    fn forget<'a, V: Value<'a>>(&mut self, blocks: &[Block<'a, V>], turn: &[usize]) {
        let positions: AHashSet<usize> = of(blocks, turn).map(|block| block.entry.position).collect();
        let sizes = positions.iter().filter_map(|position| self.sizes.get(*position));
        self.tokens -= signed(sizes.sum::<usize>());
        for block in of(blocks, turn) {
            let entry = &block.entry;
            self.tokens -= self.growth(block);
            if entry.result.is_none() || entry.result_position == entry.position {
                continue;
            }
            let media = entry.content.map_or(0, |content| count_media(content, 0));
            self.tokens -= signed(self.counter.count(&entry.text) + MEDIA_TOKENS * media);
        }
    }
}

/// Return the blocks of a turn.
fn of<'b, 'a, V>(blocks: &'b [Block<'a, V>], turn: &'b [usize]) -> impl Iterator<Item = &'b Block<'a, V>> {
    turn.iter().filter_map(|number| blocks.get(*number))
}

/// Return true if a turn is dropped. Turns are dropped only as a whole.
fn is_dropped<V>(blocks: &[Block<'_, V>], turn: &[usize]) -> bool {
    of(blocks, turn).next().is_some_and(|block| block.is_dropped)
}

/// Return the tokens of each message.
fn request_tokens<'a, V: Value<'a>>(messages: impl Iterator<Item = V>, counter: Counter<'_>) -> Vec<usize> {
    let mut message_parts = MessageParts::default();
    let mut one = |message: V| {
        message_parts.clear();
        let tokens = tokens_of(message, message.get(names::ROLE), &mut message_parts, |text| counter.count(&text));
        MESSAGE_TOKENS + tokens.unwrap_or(0) // the walk halted at a message that needs an importer
    };
    messages.map(&mut one).collect()
}
