//! The whole request in a model's window: the oldest results go first, then the oldest tool loops as wholes.
//!
//! What the user said is never touched, nor is the last turn but for its results, which are cut when all else is gone.
//! Counted are the texts of the messages, thoughts too, what stands for images, and a few tokens a message for the
//! protocol; of a body also all else that it holds, as the system prompt and the tools.

use ahash::AHashSet;

use super::blocks::{Block, Proposal};
use super::decide::{cut_to, drop_all, is_enough};
use super::edits::{Door, Draft, Path};
use super::policy::{Counter, Decision, Fate, Settings};
use crate::content::Content;
use crate::context::limits::{Limits, room_of, signed};
use crate::formats::message::Said;
use crate::json::value::{Key, Value, names, objects};
use crate::tokens::messages::{MEDIA_TOKENS, count_media, tokens_of};

/// What the protocol takes for a message.
const MESSAGE_TOKENS: usize = 4;
const THINKING: Key<'static> = Key::new("thinking");
const SUMMARY: Key<'static> = Key::new("summary");
/// The members that hold what a model thought.
const THOUGHTS: [Key<'static>; 3] = [THINKING, Key::new("reasoning_content"), Key::new("reasoning")];

/// The number of tokens a request has, and what is taken out so that it fits.
pub(crate) struct Request<'s, 'r> {
    settings: &'s Settings<'r>,
    counter: Counter<'r>,
    limit: usize,
    frame: usize,
    sizes: Vec<usize>,
    /// The number of tokens the request had.
    pub(crate) before: usize,
    /// The number of tokens that it has by what was decided.
    pub(crate) tokens: isize,
    /// True if there was anything to take when it was last fitted.
    has_taken: bool,
}

impl<'s, 'r> Request<'s, 'r> {
    /// A request whose limit is `limit`; `frame` is what it takes beside its messages.
    pub(crate) fn new<'a, V: Value<'a>>(
        messages: &[V],
        (blocks, turns): (&[Block<'a, V>], &[Vec<usize>]),
        frame: usize,
        (settings, counter, limit): (&'s Settings<'r>, Counter<'r>, usize),
    ) -> Self {
        let sizes = request_tokens(messages.iter().copied(), counter);
        let before = frame + sizes.iter().sum::<usize>();
        let mut request =
            Self { settings, counter, limit, frame, sizes, before, tokens: signed(before), has_taken: false };
        request.tokens += blocks.iter().map(|block| request.growth(block)).sum::<isize>();
        for turn in turns.iter().filter(|turn| is_dropped(blocks, turn)) {
            request.forget(blocks, turn);
        }
        request
    }

    /// Count what came out, with what was mended in it. What stands as it did was counted before.
    pub(crate) fn count_anew<'a, D: Door<'a>>(&mut self, drafts: &[Draft<'a, D::Item>], door: &D) {
        let known = |draft: &Draft<'a, D::Item>| match draft {
            Draft::Kept(Path::Message(position), _) => self.sizes.get(*position),
            _ => None,
        };
        let as_it_was: usize = drafts.iter().filter_map(known).sum();
        let new = drafts.iter().filter(|draft| known(draft).is_none()).filter_map(|draft| door.build(draft));
        let new: usize = request_tokens(new, self.counter).into_iter().sum();
        self.tokens = signed(self.frame + as_it_was + new);
    }

    /// How much the request is over its limit.
    pub(crate) fn over(&self) -> usize {
        room_of(self.tokens - signed(self.limit))
    }

    /// Take out what is needed; whether there was anything to take.
    pub(crate) fn fit<'a, V: Value<'a>>(&mut self, blocks: &mut [Block<'a, V>], turns: &[Vec<usize>]) -> bool {
        self.has_taken = false;
        let Some((last, earlier)) = turns.split_last().filter(|_| self.over() > 0) else { return false };
        let older: Vec<&Vec<usize>> = earlier.iter().filter(|turn| !is_dropped(blocks, turn)).collect();
        self.clear(blocks, older.iter().copied().flatten());
        for turn in older {
            if self.over() > 0 && !of(blocks, turn).any(|block| block.is_kept) {
                self.forget(blocks, turn);
                drop_all(blocks, turn);
                self.has_taken = true;
            }
        }
        for number in last {
            let Some(block) = blocks.get_mut(*number).filter(|_| self.over() > 0) else { continue };
            let room = room_of(signed(self.counter.count(&block.new_text())) - signed(self.over()));
            let limits = Limits { tokens: Some((room, self.counter.encoding)), ..Limits::NONE };
            if let Some(proposal) = cut_to(block, limits, self.settings) {
                self.shrink(block, proposal);
            }
        }
        self.has_taken
    }

    /// Clear the oldest results, and enough of them at once.
    fn clear<'a, 't, V: Value<'a>>(&mut self, blocks: &mut [Block<'a, V>], numbers: impl Iterator<Item = &'t usize>) {
        let mut won = 0;
        for number in numbers {
            if self.over() == 0 && is_enough(won, self.settings) {
                return;
            }
            let Some(block) = blocks.get_mut(*number) else { continue };
            let saved = block.saved();
            self.shrink(block, block.propose(Decision::CLEARED));
            won += block.saved() - saved;
        }
    }

    fn shrink<'a, V: Value<'a>>(&mut self, block: &mut Block<'a, V>, proposal: Proposal<'a, V>) {
        let before = self.growth(block);
        self.has_taken |= block.decide(proposal);
        self.tokens += self.growth(block) - before;
    }

    /// The number of tokens by which its decision makes a result longer, mostly negative.
    fn growth<'a, V: Value<'a>>(&self, block: &Block<'a, V>) -> isize {
        let Some(decision) = &block.decision else { return 0 };
        let content = block.entry.content;
        let media = content.filter(|_| decision.fate != Fate::Cut).map_or(0, |content| count_media(content, 0));
        let old = self.counter.count(&block.entry.text) + MEDIA_TOKENS * media;
        signed(self.counter.count(&block.new_text())) - signed(old)
    }

    /// Count no more what a loop has by what was decided.
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

/// The blocks of a turn.
fn of<'b, 'a, V>(blocks: &'b [Block<'a, V>], turn: &'b [usize]) -> impl Iterator<Item = &'b Block<'a, V>> {
    turn.iter().filter_map(|number| blocks.get(*number))
}

/// Return whether a turn is dropped: it goes as a whole.
fn is_dropped<V>(blocks: &[Block<'_, V>], turn: &[usize]) -> bool {
    of(blocks, turn).next().is_some_and(|block| block.is_dropped)
}

/// What each message takes of a model's window.
fn request_tokens<'a, V: Value<'a>>(messages: impl Iterator<Item = V>, counter: Counter<'_>) -> Vec<usize> {
    let mut said = Said::default();
    let mut one = |message: V| {
        let own = THOUGHTS.iter().filter_map(|key| message.get(*key));
        let lists = [names::CONTENT, SUMMARY].map(|key| message.get(key));
        let parts = lists.into_iter().flat_map(objects).filter_map(|part| part.get(THINKING));
        let thoughts = own.chain(parts).filter(|text| text.text_len().is_some());
        let thinking: usize = thoughts.map(|text| counter.count(&Content::Value(text))).sum();
        said.clear();
        let tokens = tokens_of(message, message.get(names::ROLE), &mut said, |text| counter.count(&text));
        MESSAGE_TOKENS + thinking + tokens.unwrap_or(0) // the walk halted at what needs an importer
    };
    messages.map(&mut one).collect()
}
