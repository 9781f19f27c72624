//! Decide which results are replaced: those that newer ones supersede, those over a limit, and those that a total has
//! no room for. Arguments of old calls that hold nothing new are replaced in the same way (`inputs`).
//!
//! A decision made for an earlier request of the same conversation is repeated as long as the result is the same. A
//! later decision may go further (a cut result may be superseded or cleared), but never back. A change to a message
//! that was sent before invalidates the prompt cache from there on, so such decisions are made only if they save enough
//! at once. Changes to messages that were not sent yet cost nothing.

use std::borrow::Cow;

use super::blocks::{Block, Proposal, place_of, turns_of};
use super::fingerprint::recognize;
use super::inputs::KEPT_TURNS;
use super::marker::{Substitute, marker_of};

use super::policy::{ClearInputs, Counter, Decision, DecisionKind, Previous, Settings};
use super::price::{Change, Sent, start_of_changes};
use crate::content::Content;
use crate::content::client_blocks::{around_blocks, may_have_blocks};
use crate::context::limits::cut;
use crate::context::limits::{Cut, Limits, room_of, signed};
use crate::context::policy::NO_LIMIT;
use crate::dedupe::Reason;
use crate::json::value::Value;
use crate::shorten::Kinds;
use crate::text::OwnedText;
use crate::text::truncate::Keep;

/// The tokens to which a total shortens each old result, before it clears any.
const OLD_TOKENS: usize = 400;

/// The bytes per token for estimating savings. The hot path counts no tokens.
pub(crate) const BYTES_PER_TOKEN: usize = 4;

/// Return the size to which a total over its limit is cleared at once: 60 % of the limit.
///
/// A total that is cleared just below its limit is over it again with the next result, and each clearing costs the
/// prompt cache.
pub(crate) const fn target_of(limit: usize) -> usize {
    limit - limit / 5 * 2
}

/// Protect the results that the policy keeps: the last results, those of the last turns, and those of excluded tools.
///
/// No argument of their calls is replaced, nor one of the very last turns.
pub(crate) fn protect<'a, V: Value<'a>>(blocks: &mut [Block<'a, V>], turns: &[Vec<usize>], settings: &Settings<'_>) {
    let answered = blocks.iter_mut().rev().filter(|block| block.has_result);
    answered.take(settings.keep_last_results).for_each(|block| block.is_kept = true);
    for number in turns.iter().rev().take(settings.keep_last_turns).flatten() {
        if let Some(block) = blocks.get_mut(*number) {
            block.is_kept = true;
        }
    }
    for block in blocks.iter_mut() {
        if let Some(excluded) = settings.excluded {
            let given = block.entry.given.filter(|_| block.entry.call.is_some());
            block.is_kept |= excluded.is_first(block.entry.tool_name, block.entry.server, given);
        }
        block.is_open = !block.is_kept;
    }
    for number in turns.iter().rev().take(KEPT_TURNS).flatten() {
        if let Some(block) = blocks.get_mut(*number) {
            block.is_open = false;
        }
    }
}

/// Repeat the previous decisions, except for references that belong to other calls or results now.
///
/// Return the number of messages at the beginning that are as they were sent, as far as the results show.
pub(crate) fn repeat<'a, V: Value<'a>>(
    blocks: &mut [Block<'a, V>],
    turns: &[Vec<usize>],
    previous: &Previous,
) -> usize {
    let (calls, standing) = recognize(blocks, previous);
    for block in blocks.iter_mut() {
        let known = block.inputs.iter_mut().filter(|each| each.is_known && previous.made.contains_key(&each.reference));
        for each in known {
            each.clear(block.encoding);
        }
    }
    for block in blocks.iter_mut().filter(|block| block.is_known) {
        let decision = previous.made.get(&*block.reference);
        let stands =
            |decision: &&Decision<'_>| decision.fate != DecisionKind::Superseded || calls.contains(&*decision.by);
        if let Some(decision) = decision.filter(stands) {
            block.decide(block.repeat(decision.clone(), previous.excerpts.get(&*block.reference)));
        }
    }
    if previous.dropped.is_empty() {
        return standing;
    }
    for turn in turns.split_last().map_or(&[][..], |(_, earlier)| earlier) {
        let own = turn.iter().filter_map(|number| blocks.get(*number));
        let mut gone = own.filter(|block| previous.dropped.contains(&*block.reference)).peekable();
        if gone.peek().is_some() && gone.all(|block| block.is_known) {
            drop_all(blocks, turn);
        }
    }
    standing
}

/// Drop the results of the blocks with these numbers together with their calls.
pub(crate) fn drop_all<'a, V: Value<'a>>(blocks: &mut [Block<'a, V>], numbers: &[usize]) {
    for number in numbers {
        if let Some(block) = blocks.get_mut(*number) {
            block.drop();
        }
    }
}

/// Replace superseded results and results over their limit, and arguments that hold nothing new if the settings say so.
/// What was sent before is replaced only if that saves enough.
pub(crate) fn replace<'a, V: Value<'a>>(blocks: &mut [Block<'a, V>], settings: &Settings<'_>, sent: &Sent<'_>) {
    let (mut waiting, mut waiting_inputs, mut changes) = (Vec::new(), Vec::new(), Vec::new());
    let numbers = if settings.clear_inputs == ClearInputs::Always { 0..blocks.len() } else { 0..0 };
    for (number, input) in open_inputs(blocks, numbers) {
        let Some(block) = blocks.get_mut(number) else { continue };
        let position = block.entry.position;
        let Some(each) = block.inputs.get_mut(input) else { continue };
        if position >= sent.messages {
            each.clear(settings.encoding);
        } else if each.is_worth(settings.encoding) {
            changes.push(Change { position, saved: each.saved() });
            waiting_inputs.push((number, input));
        }
    }
    for number in 0..blocks.len() {
        let Some(proposal) = wanted(blocks, number, settings) else { continue };
        let Some(block) = blocks.get_mut(number).filter(|block| !block.is_settled()) else { continue };
        if block.entry.result_position >= sent.messages {
            block.decide(proposal);
            continue;
        }
        let saved = block.would_save(&proposal) - block.saved();
        if saved > 0 {
            changes.push(Change { position: block.entry.position, saved });
            waiting.push((number, proposal));
        }
    }
    let start = match settings.clear_at_least {
        Some(least) => {
            let won: isize = changes.iter().map(|change| change.saved).sum();
            (won >= signed(least.saturating_mul(BYTES_PER_TOKEN))).then_some(0)
        }
        None if changes.is_empty() => None,
        None => {
            let requests = turns_of(blocks).len();
            start_of_changes(sent, (settings.prices, requests), &mut made_so_far(blocks), &mut changes)
        }
    };
    let Some(start) = start else { return };
    for (number, proposal) in waiting {
        if let Some(block) = blocks.get_mut(number).filter(|block| block.entry.position >= start) {
            block.decide(proposal);
        }
    }
    for (number, input) in waiting_inputs {
        let block = blocks.get_mut(number).filter(|block| block.entry.position >= start);
        if let Some(each) = block.and_then(|block| block.inputs.get_mut(input)) {
            each.clear(settings.encoding);
        }
    }
}

/// Return the replacements that were decided.
fn made_so_far<'a, V: Value<'a>>(blocks: &[Block<'a, V>]) -> Vec<Change> {
    let mut made = Vec::new();
    for block in blocks {
        let inputs = block.cleared().into_iter();
        made.extend(inputs.map(|each| Change { position: block.entry.position, saved: each.saved() }));
        if block.decision.is_some() {
            made.push(Change { position: block.entry.result_position, saved: block.saved() });
        }
    }
    made
}

/// Return the numbers of the blocks and of their arguments that may be replaced now, oldest call first.
pub(crate) fn open_inputs<'a, V: Value<'a>>(
    blocks: &[Block<'a, V>],
    numbers: impl Iterator<Item = usize>,
) -> Vec<(usize, usize)> {
    let mut open = Vec::new();
    for number in numbers {
        let Some(block) = blocks.get(number).filter(|block| block.is_open && !block.is_dropped) else { continue };
        let inputs = block.inputs.iter().enumerate().filter(|(_, each)| !each.is_cleared);
        open.extend(inputs.map(|(input, _)| (number, input)));
    }
    open
}

/// Return the decision that the policy asks for; `None` if the result stays unchanged.
fn wanted<'a, V: Value<'a>>(
    blocks: &[Block<'a, V>],
    number: usize,
    settings: &Settings<'_>,
) -> Option<Proposal<'a, V>> {
    let block = blocks.get(number)?;
    match (block.reason, block.by) {
        (Some(Reason::Rule), _) => return Some(block.propose(Decision::RULED_OUT)),
        (Some(_), Some(by)) => {
            let by = reference_of(blocks, by)?;
            let proposal = block.propose(Decision { fate: DecisionKind::Superseded, by, head: 0, tail: 0 });
            if block.would_save(&proposal) > 0 {
                return Some(proposal);
            }
        }
        _ => {}
    }
    if block.decision.is_some() {
        return None;
    }
    cut_to(block, settings.limits.by_rule(block.entry.max_chars))
        .or_else(|| cut_at_first(block))
        .or_else(|| block.last_state().map(|last| block.settled(&last)))
}

/// Cut a result to its limit when it is first sent. A part of it always stays, and a limit of its rule comes first.
fn cut_at_first<'a, V: Value<'a>>(block: &Block<'a, V>) -> Option<Proposal<'a, V>> {
    let limit = Some(block.first_limit).filter(|limit| *limit < NO_LIMIT && block.entry.max_chars.is_none())?;
    cut_to(block, Limits::of_chars(limit)).filter(|proposal| proposal.decision.fate != DecisionKind::Cleared)
}

/// Return the reference of the entry with an order.
fn reference_of<'a, V>(blocks: &[Block<'a, V>], order: usize) -> Option<Cow<'a, str>> {
    blocks.get(place_of(blocks, order)?).map(|block| block.reference.clone())
}

/// Cut a result to limits that include the marker; `None` if it is already within them.
///
/// No more is cut than necessary: what a terminal shows in the end may be within them.
pub(crate) fn cut_to<'a, V: Value<'a>>(block: &Block<'a, V>, limits: Limits) -> Option<Proposal<'a, V>> {
    let size = block.size;
    let limits = beside(limits, block);
    let is_long = size > limits.chars;
    // A token has at least one byte.
    let may_have_many = limits.tokens.is_some_and(|(most, _)| block.utf8_len() > most);
    if !is_long && !may_have_many {
        return None;
    }
    let keep = block.side;
    if !is_long && Cut::of(&block.text.brief(), limits, keep).is_ok() {
        return None;
    }
    if block.media().is_whole {
        return Some(block.propose(Decision::CLEARED));
    }
    if let Some(last) = block.last_state().filter(|last| Cut::of(last, limits, keep).is_ok()) {
        return Some(block.settled(&last));
    }
    if let Some(proposal) = shorten_to(block, limits) {
        return Some(proposal);
    }
    let longest = |reference: &str| marker_of(&Decision::cut(size, size), size, reference);
    let reference = block.named_reference();
    let widest = block.widest_reference();
    let longest_len = longest(&widest).as_text().len();
    let chars = if limits.chars == NO_LIMIT { isize::MAX } else { signed(limits.chars) - signed(longest_len) - 2 };
    let mut tokens = limits.tokens.map(|(most, encoding)| {
        let own = encoding.count_tokens(longest(&widest).as_text());
        (signed(most) - signed(own) - 2, encoding)
    });
    while chars > 0 && tokens.is_none_or(|(room, _)| room > 0) {
        let left = tokens.map(|(room, encoding)| (room_of(room), encoding));
        let room = Limits { chars: room_of(chars), tokens: left, ..limits };
        let Some([head, tail]) = ends_within(block, room, keep) else { break };
        if head.is_empty() && tail.is_empty() {
            break;
        }
        let decision = Decision::cut(head.len(), size - tail.len());
        let substitute = |reference: &str| Substitute::cut([head.clone(), tail.clone()], &decision, size, reference);
        let over = limits.tokens.map_or(0, |(most, encoding)| {
            signed(encoding.count_tokens(substitute(&widest).text().text())) - signed(most)
        });
        if over <= 0 {
            let new = substitute(reference);
            return Some(Proposal { decision, new });
        }
        tokens = tokens.map(|(room, encoding)| (room - over, encoding));
    }
    Some(block.propose(Decision::CLEARED))
}

/// Shorten an old result for a total, with a counter or else in characters; `None` if it can only be cleared.
pub(crate) fn shorten_old<'a, V: Value<'a>>(
    block: &Block<'a, V>,
    content: Kinds,
    counter: Option<Counter<'_>>,
) -> Option<Proposal<'a, V>> {
    let is_partial = block.decision.as_ref().is_none_or(|decision| decision.fate.is_partial());
    if block.is_settled() || !is_partial || content == Kinds::NONE {
        return None;
    }
    let limits = limits_of(counter, if counter.is_none() { BYTES_PER_TOKEN * OLD_TOKENS } else { OLD_TOKENS });
    cut_to(block, limits).filter(|proposal| proposal.decision.fate != DecisionKind::Cleared)
}

/// Return the limits on a result that is measured by a counter, or else in characters.
fn limits_of(counter: Option<Counter<'_>>, room: usize) -> Limits {
    match counter {
        None => Limits::of_chars(room),
        Some(counter) => Limits { tokens: Some((room, counter.encoding)), ..Limits::NONE },
    }
}

/// Shorten a result by what it is, to limits that include the marker; `None` if it can only be cut.
fn shorten_to<'a, V: Value<'a>>(block: &Block<'a, V>, limits: Limits) -> Option<Proposal<'a, V>> {
    let marker = marker_of(&Decision::SHORTENED, block.size, &block.widest_reference());
    let room = limits.chars.min(block.size).checked_sub(marker.as_text().len())?;
    block.shortened(room, limits.tokens)
}

/// Return the limits that are left for a text next to media.
fn beside<'a, V: Value<'a>>(limits: Limits, block: &Block<'a, V>) -> Limits {
    let media = block.media();
    let mut lines = OwnedText::default();
    if !media.beside.is_empty() {
        lines.push_ascii("\n");
        lines.push(media.beside.text());
    }
    let is_limited = limits.chars != NO_LIMIT;
    let chars =
        if is_limited { limits.chars.saturating_sub(lines.as_text().len() + media.url_chars) } else { NO_LIMIT };
    let tokens = limits.tokens.map(|(most, encoding)| {
        (most.saturating_sub(encoding.count_tokens(lines.as_text()) + media.url_tokens), encoding)
    });
    Limits { chars, tokens, ..limits }
}

/// Return the ends of a result that fit limits; `None` if all of it fits.
fn ends_within<'a, V: Value<'a>>(block: &Block<'a, V>, limits: Limits, keep: Keep) -> Option<[Content<'a, V>; 2]> {
    let text = &block.text;
    let [head, tail] = if limits.tokens.is_some() {
        let Cut { head, tail, .. } = Cut::of(&text.brief(), limits, keep).err()?;
        [text.first(head.len()), text.last(tail.len())]
    } else {
        (block.size > limits.chars).then(|| cut(text, limits.chars, keep))?
    };
    if !may_have_blocks(text.spelling()) {
        return Some([head, tail]);
    }
    let (head, tail) = around_blocks(text.brief().text(), head.len(), block.size - tail.len());
    Some([text.first(head), text.last(block.size - tail)])
}

/// The limit on all results together, in characters or tokens.
pub(crate) struct Total<'s, 'r> {
    settings: &'s Settings<'r>,
    /// The token counter; `None` if the total counts characters.
    counter: Option<Counter<'r>>,
    /// The rest of the limit; negative if it is exceeded.
    left: isize,
    /// The rest of the limit that a clearing leaves.
    room: isize,
    /// True if the results are brought to the target even if they are within the limit: they were not before.
    pub(crate) is_clearing: bool,
}

impl<'s, 'r> Total<'s, 'r> {
    pub(crate) fn new<'a, V: Value<'a>>(blocks: &[Block<'a, V>], settings: &'s Settings<'r>) -> Self {
        let counter = settings.counter.filter(|_| settings.total_in_tokens);
        let room = settings.total.map_or(0, |limit| signed(limit - target_of(limit)));
        let mut total = Self { settings, counter, left: 0, room, is_clearing: false };
        total.count_again(blocks.iter());
        total
    }

    /// Count the results again, with their replacements.
    pub(crate) fn count_again<'a, 'b, V: Value<'a> + 'b>(&mut self, blocks: impl Iterator<Item = &'b Block<'a, V>>)
    where
        'a: 'b,
    {
        if let Some(limit) = self.settings.total.filter(|limit| *limit != NO_LIMIT) {
            self.left = signed(limit) - blocks.map(|block| self.size(block)).sum::<isize>();
        }
    }

    /// Return the excess of the results over the limit.
    pub(crate) fn over(&self) -> usize {
        room_of(self.left.saturating_neg())
    }

    /// Shorten the oldest results down to the target, if the limit is exceeded, and then clear the oldest ones. The
    /// results of the last turn (`last`) are cut, and only if the others don't suffice.
    pub(crate) fn clear<'a, V: Value<'a>>(&mut self, blocks: &mut [Block<'a, V>], last: &[usize]) {
        if self.over() == 0 && !self.is_clearing {
            return;
        }
        for is_clearing in [false, true] {
            let mut spared = last.iter().copied().peekable();
            for (number, block) in blocks.iter_mut().enumerate() {
                if self.left >= self.room {
                    return;
                }
                if spared.next_if_eq(&number).is_some() {
                    continue;
                }
                let proposal = if is_clearing {
                    Some(block.propose(Decision::CLEARED))
                } else {
                    shorten_old(block, self.settings.content, self.counter)
                };
                if let Some(proposal) = proposal {
                    self.shrink(block, proposal);
                }
            }
        }
        for number in last {
            let Some(block) = blocks.get_mut(*number).filter(|_| self.over() > 0) else { continue };
            let room = room_of(self.size(block) - signed(self.over()));
            let proposal = cut_to(block, limits_of(self.counter, room));
            self.shrink(block, proposal.unwrap_or_else(|| block.propose(Decision::CLEARED)));
        }
    }

    /// Replace a result.
    fn shrink<'a, V: Value<'a>>(&mut self, block: &mut Block<'a, V>, proposal: Proposal<'a, V>) {
        let size = self.size(block);
        block.decide(proposal);
        self.left += size - self.size(block);
    }

    fn size<'a, V: Value<'a>>(&self, block: &Block<'a, V>) -> isize {
        signed(block.size_in(self.counter))
    }
}
