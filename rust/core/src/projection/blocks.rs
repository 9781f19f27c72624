//! The blocks of a request, oldest first, each with its reference and the text that replaces its result.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::convert::Infallible;

use memchr::memmem;

use super::arguments::{Arguments, Input, LEAST_SAVED, has_tokens};
use super::early::join_early;
use super::edits::Path;
use super::marker::{References, Substitute, is_marker, longest_marker, may_hold_marker, plain_id, slack, widest};
use super::media::{Media, media_of};
use super::policy::{Counter, Decision, DecisionKind, Settings};
use super::repair::destinations::Destination;
use super::result_slot::{Paths, ResultSlot};
use crate::content::Content;
use crate::content::terminal::last_state;
use crate::context::limits::signed;
use crate::context::policy::NO_LIMIT;
use crate::dedupe::rules::is_named;
use crate::dedupe::{Judgement, Judging, Reason};
use crate::formats::is_only_text;
use crate::formats::message::ReadMessage;
use crate::input::messages::{Halt, Slice};
use crate::json::value::{Spelling, Value};
use crate::pairing::block::{Entry, Kind};
use crate::pairing::{Unread, Walk};
use crate::shorten::{Kinds, was_drawn};
use crate::text::constants::RETRIEVAL_TOOL;
use crate::text::piece::Piece;
use crate::text::truncate::Keep;
use crate::text::{OwnedText, on_units};
use crate::tokens::Encoding;
use crate::tokens::words::has_many_words;

/// The estimated number of bytes per token of an image.
const MEDIA_BYTES: usize = 4;

/// Facts about a call that the caller supplies in addition to the messages.
#[derive(Clone, Debug)]
pub struct CallFacts {
    /// The reference of its result in the whole conversation. The messages may be only a part of it.
    pub reference: String,
    /// True if it failed. Some formats can't express that.
    pub is_error: bool,
}

/// A call with its result and the decision about the result.
#[derive(Clone, Debug)]
pub(crate) struct Block<'a, V> {
    pub(crate) entry: Entry<'a, V>,
    /// The encoding in which replacements are measured.
    pub(crate) encoding: &'static Encoding,
    /// The kinds of texts that are shortened by what they are. In a file all lines matter alike.
    pub(crate) kinds: Kinds,
    /// True if the result was made for a terminal, found on demand.
    is_drawn: OnceCell<bool>,
    /// The limit on the result when it is first sent, in characters.
    pub(crate) first_limit: usize,
    /// The part of a result that stays. A command's output keeps both ends, because an error comes last.
    pub(crate) side: Keep,
    /// True if the result is in the projection, or another text in its place.
    pub(crate) has_result: bool,
    /// The text that the repair puts in place of the result, or of a missing one.
    pub(crate) made_up: Option<&'static str>,
    /// The paths of further results of the call.
    pub(crate) second_paths: Vec<Path>,
    /// The reason if another block or a rule supersedes it.
    pub(crate) reason: Option<Reason>,
    /// The order of the entry that supersedes it.
    pub(crate) by: Option<usize>,
    pub(crate) result_path: Option<Path>,
    pub(crate) slot: Option<ResultSlot<V>>,
    /// The media of the result, found on demand.
    media: OnceCell<Media<'a>>,
    pub(crate) reference: Cow<'a, str>,
    /// The length of all ids after a repair for the named destination, if that takes short ones alone; else 0.
    repaired_len: usize,
    /// True if markers name the reference.
    has_reference: bool,
    /// The arguments that may be replaced, if the settings ask for that.
    pub(crate) inputs: Vec<Input<'a, V>>,
    /// The place of these arguments.
    pub(crate) arguments: Option<Arguments<V>>,
    /// True if arguments of the call may be replaced.
    pub(crate) is_open: bool,
    pub(crate) decision: Option<Decision<'a>>,
    pub(crate) text: Content<'a, V>,
    /// The number of characters of `text`.
    pub(crate) size: usize,
    /// The number of bytes of `text`, computed on demand.
    bytes: OnceCell<usize>,
    /// The replacement for `text` that follows from the decision.
    pub(crate) new: Option<Substitute<'a, V>>,
    /// The number of bytes that the replacement saves, computed on demand.
    saved: OnceCell<isize>,
    /// True if the policy protects the result.
    pub(crate) is_kept: bool,
    /// True if the result is dropped together with its call.
    pub(crate) is_dropped: bool,
    /// True if this is the result that the previous projection decided about.
    pub(crate) is_known: bool,
    /// True if the result can't be replaced, computed on demand.
    is_fixed: OnceCell<bool>,
}

/// A possible decision about a result, and the replacement that follows from it.
#[derive(Clone, Debug)]
pub(crate) struct Proposal<'a, V> {
    pub(crate) decision: Decision<'a>,
    pub(crate) new: Substitute<'a, V>,
}

impl<'a, V: Value<'a>> Block<'a, V> {
    fn new(entry: Entry<'a, V>, paths: &mut Paths<'_, V>, judgement: Judgement, settings: &Settings<'_>) -> Self {
        let result_path = entry.result.and_then(|result| paths.of(entry.result_position, result));
        let slot = result_path.zip(entry.result).and_then(|(path, result)| ResultSlot::at(path, result));
        let text = slot.map_or_else(|| Content::Piece(Piece::default()), |slot| slot.text());
        let chars = text.len();
        Self {
            has_result: entry.result.is_some(),
            made_up: None,
            second_paths: Vec::new(),
            media: OnceCell::new(),
            encoding: settings.encoding,
            kinds: if matches!(entry.kind, Kind::Read | Kind::Edit) {
                settings.content.of_file()
            } else {
                settings.content
            },
            is_drawn: OnceCell::new(),
            first_limit: NO_LIMIT,
            side: settings.keep.unwrap_or(if entry.kind == Kind::Command { Keep::Ends } else { Keep::Head }),
            repaired_len: settings
                .destination
                .map_or(0, |destination| destination.rules.made_len(entry.tool_name.len())),
            entry,
            reason: judgement.reason,
            by: judgement.by,
            result_path,
            slot,
            reference: Cow::Borrowed(""),
            has_reference: settings.references,
            inputs: Vec::new(),
            arguments: None,
            is_open: false,
            decision: None,
            text,
            size: chars,
            bytes: OnceCell::new(),
            new: None,
            saved: OnceCell::new(),
            is_kept: false,
            is_dropped: false,
            is_known: false,
            is_fixed: OnceCell::new(),
        }
    }

    /// Give the result its own path if the same object occurs several times in a message.
    fn place(&mut self, paths: &mut Paths<'_, V>) {
        let place = |result| paths.next_of(self.entry.result_position, result);
        if let Some(path) = self.entry.result.filter(|_| self.result_path.is_some()).and_then(place) {
            self.result_path = Some(path);
            self.slot.iter_mut().for_each(|slot| slot.path = path);
        }
    }

    /// Return the reference for markers, which is empty if they name none.
    pub(crate) fn named_reference(&self) -> &str {
        if self.has_reference { &self.reference } else { "" }
    }

    /// Return the longest reference that the result may get in later projections, which read the id that repair gives.
    pub(crate) fn widest_reference(&self) -> String {
        let reference = self.named_reference();
        if self.repaired_len > 0 && !reference.is_empty() {
            return widest(&"0".repeat(self.repaired_len));
        }
        if reference.starts_with('#') { widest(&plain_id(self.entry.call_id)) } else { widest(reference) }
    }

    /// Return true if the result can't be replaced.
    pub(crate) fn is_fixed(&self) -> bool {
        *self.is_fixed.get_or_init(|| {
            self.size == 0
                || is_named(self.entry.tool_name, RETRIEVAL_TOOL)
                || is_marker(&self.text)
                || self.slot.is_none_or(|slot| !slot.is_replaceable())
        })
    }

    /// Return true if no decision can change the result any more.
    pub(crate) fn is_settled(&self) -> bool {
        self.is_kept || self.is_dropped || self.is_fixed()
    }

    /// Return the number of characters after the decision.
    pub(crate) fn new_len(&self) -> usize {
        self.new.as_ref().map_or(self.size, Substitute::len)
    }

    /// Count another text in place of the result, which the repair puts there; empty if it leaves the result out.
    pub(crate) fn stand_in(&mut self, text: &'static str) {
        (self.made_up, self.has_result, self.is_fixed) = (Some(text), !text.is_empty(), OnceCell::from(true));
    }

    /// Return true if the result stays since it has more cache marks than a replacement could take.
    pub(crate) fn has_many_marks(&self) -> bool {
        self.made_up.is_none() && self.slot.is_some_and(|slot| !slot.is_replaceable())
    }

    /// Let the result be replaced: a repair leaves out the cache marks that it would lose.
    pub(crate) fn free(&mut self) {
        self.is_fixed = OnceCell::from(false);
        self.slot.iter_mut().for_each(|slot| slot.is_freed = true);
    }

    /// Return the media of the result.
    pub(crate) fn media(&self) -> &Media<'a> {
        self.media.get_or_init(|| media_of(self.slot))
    }

    /// Return the lines of the media that stay next to the text; `None` without such lines.
    fn shown_media(&self) -> Option<&Piece<'a>> {
        let is_text = self.decision.as_ref().is_none_or(|decision| decision.fate.is_partial());
        let beside = &self.media().beside;
        (is_text && !self.is_dropped && !beside.is_empty()).then_some(beside)
    }

    /// Return the number of characters of the result in the projection, with the lines of the media next to it.
    pub(crate) fn sent_len(&self) -> usize {
        let len = || self.new_len() + self.shown_media().map_or(0, |lines| lines.len() + 1);
        self.made_up.map_or_else(len, str::len)
    }

    /// Return the text of the result in the projection, with the lines of the media next to it.
    fn sent_text(&self) -> Content<'a, V> {
        if let Some(text) = self.made_up {
            return Content::Piece(Piece::ascii(text));
        }
        let Some(lines) = self.shown_media() else { return self.new_text() };
        let mut text = OwnedText::from(self.new_text().whole().text());
        text.push_ascii("\n");
        text.push(lines.text());
        Content::Piece(Piece::own(text))
    }

    /// Return the size of the result in the projection, in tokens or, without a counter, in characters.
    pub(crate) fn size_in(&self, counter: Option<Counter<'_>>) -> usize {
        let size = counter.map_or_else(|| self.sent_len(), |counter| counter.count(&self.sent_text()));
        let is_text = self.decision.as_ref().is_none_or(|decision| decision.fate.is_partial());
        if self.made_up.is_some() || self.is_dropped || !is_text {
            return size;
        }
        let media = self.media();
        size + if counter.is_none() { media.url_chars } else { media.url_tokens }
    }

    /// Return the number of bytes of the result in UTF-8.
    pub(crate) fn utf8_len(&self) -> usize {
        *self.bytes.get_or_init(|| self.text.utf8_len())
    }

    /// Return the text after the decision.
    pub(crate) fn new_text(&self) -> Content<'a, V> {
        self.new.as_ref().map_or_else(|| self.text.clone(), |new| Content::Piece(new.text()))
    }

    /// Return the number of bytes that the decision saves.
    pub(crate) fn saved(&self) -> isize {
        let Some((decision, new)) = self.decision.as_ref().zip(self.new.as_ref()) else { return 0 };
        *self.saved.get_or_init(|| self.won_by(decision, new)) // a decision that was accepted is worth it
    }

    /// Combine a decision with the replacement that follows from it.
    pub(crate) fn propose(&self, decision: Decision<'a>) -> Proposal<'a, V> {
        if decision.fate == DecisionKind::Shortened {
            let found = self.shortened(decision.head, None).filter(|found| found.decision.tail == decision.tail);
            // Without it, the policy is another one now, and the whole text is no replacement.
            return found.unwrap_or_else(|| Proposal { decision, new: Substitute::new(self.text.whole()) });
        }
        if decision.fate == DecisionKind::Terminal {
            let last = self.last_state().filter(|last| last.len() == decision.tail); // likewise
            let whole = || Proposal { decision, new: Substitute::new(self.text.whole()) };
            return last.map_or_else(whole, |last| self.settled(&last));
        }
        let is_cleared = decision.fate == DecisionKind::Cleared;
        let cleared = if is_cleared { self.media().cleared(self.size) } else { String::new() };
        let new = Substitute::of((&self.text, self.size), &decision, self.named_reference(), &cleared);
        Proposal { decision, new }
    }

    /// Return what a terminal shows of the result in the end; `None` if no terminal showed it.
    pub(crate) fn last_state(&self) -> Option<Piece<'a>> {
        self.is_drawn().then(|| last_state(&self.text)).flatten()
    }

    pub(crate) fn is_drawn(&self) -> bool {
        *self.is_drawn.get_or_init(|| was_drawn(&self.text, self.kinds))
    }

    /// Return the number of bytes that a proposal would save.
    pub(crate) fn would_save(&self, Proposal { decision, new }: &Proposal<'a, V>) -> isize {
        self.saved_by(decision, new)
    }

    /// Accept a proposal if it makes the result smaller than it is now. Return true if it was accepted.
    pub(crate) fn decide(&mut self, Proposal { decision, new }: Proposal<'a, V>) -> bool {
        if self.is_settled() {
            return false;
        }
        // As long as the text is still whole, fewer characters mean fewer bytes, because a marker is ASCII. Then the
        // bytes need not be counted.
        let is_plain = self.decision.is_none() && decision.by.is_ascii() && self.media_tokens(&decision) == 0;
        let is_smaller =
            if is_plain { self.is_worth(&decision, &new) } else { self.saved_by(&decision, &new) > self.saved() };
        if is_smaller {
            (self.decision, self.new, self.saved) = (Some(decision), Some(new), OnceCell::new());
        }
        is_smaller
    }

    /// Return the arguments that markers replace.
    pub(crate) fn cleared(&self) -> Vec<&Input<'a, V>> {
        self.inputs.iter().filter(|each| each.is_cleared && !self.is_dropped).collect()
    }

    /// Drop the result together with its call, without a replacement.
    pub(crate) fn drop(&mut self) {
        self.is_dropped = true;
        (self.decision, self.new, self.saved) = (None, Some(Substitute::NONE), OnceCell::new());
        self.made_up = None;
    }

    /// Return the estimated tokens of the images and documents that a decision removes.
    fn media_tokens(&self, decision: &Decision<'a>) -> usize {
        self.slot.filter(|_| !decision.fate.is_partial()).map_or(0, |slot| slot.media_tokens())
    }

    /// Return true if a replacement is shorter and saves tokens, also with the longest references.
    pub(crate) fn is_worth(&self, decision: &Decision<'a>, new: &Substitute<'a, V>) -> bool {
        if new.excerpt().is_some() {
            return true;
        }
        let media = self.media_tokens(decision);
        if self.longest(decision, new) >= self.size && media == 0 {
            return false;
        }
        let (start, end) =
            if decision.fate == DecisionKind::Cut { decision.ends_in(self.size) } else { (0, self.size) };
        // A text has at most as many tokens as bytes. Most replacements are decided by this, without a longer marker.
        let most = new.marker_len() + self.marker_slack(decision);
        if self.surely_has(start, end, most + LEAST_SAVED) {
            return true;
        }
        let marker = match decision.fate {
            DecisionKind::Shortened | DecisionKind::Terminal => new.text(),
            DecisionKind::Cut => Piece::own(longest_marker(decision, self.size, &self.widest_reference(), "")),
            _ => Piece::own(longest_marker(
                decision,
                self.size,
                &self.widest_reference(),
                &self.media().cleared(self.size),
            )),
        };
        let least = (self.encoding.count_tokens(marker.text()) + LEAST_SAVED).saturating_sub(media);
        least == 0
            || self.surely_has(start, end, least)
            || has_tokens(&self.text.first(end).last(end - start), least, self.encoding)
    }

    /// Return true if the text between two places certainly has at least `least` tokens, because it is so long, or has as
    /// many words. This is much faster than counting tokens.
    fn surely_has(&self, start: usize, end: usize, least: usize) -> bool {
        if end - start >= least * LONGEST_TOKEN {
            return true;
        }
        let size = (least * PER_WORD).min(end - start);
        let part = self.text.first(start + size).last(size);
        match part.spelling() {
            Spelling::Text(text) => on_units!(text, units => has_many_words(units, least)),
            Spelling::Json(bytes) if memmem::find(bytes, b"\\u").is_none() => has_many_words(bytes, least),
            Spelling::Json(_) => on_units!(part.brief().text(), units => has_many_words(units, least)),
        }
    }

    /// Return the number of characters of the replacement if its references had their greatest length.
    fn longest(&self, decision: &Decision<'a>, new: &Substitute<'a, V>) -> usize {
        new.len() + self.marker_slack(decision)
    }

    /// Return the number of characters by which the references in a marker may grow.
    fn marker_slack(&self, decision: &Decision<'a>) -> usize {
        if decision.fate == DecisionKind::Terminal {
            return 0; // it has no marker
        }
        let own = self.widest_reference().len().saturating_sub(self.named_reference().len());
        own + if decision.by.is_empty() { 0 } else { slack(&decision.by) }
    }

    /// Return the number of bytes that a decision saves; 0 if it is not worth it.
    fn saved_by(&self, decision: &Decision<'a>, new: &Substitute<'a, V>) -> isize {
        if self.is_worth(decision, new) { self.won_by(decision, new) } else { 0 }
    }

    fn won_by(&self, decision: &Decision<'a>, new: &Substitute<'a, V>) -> isize {
        signed(self.utf8_len() + MEDIA_BYTES * self.media_tokens(decision)) - signed(new.utf8_len())
    }
}

/// The characters in which each wanted word of a text is looked for.
const PER_WORD: usize = 64;
/// The bytes of the longest token of both encodings.
const LONGEST_TOKEN: usize = 128;

/// The blocks of a conversation.
pub(crate) struct Blocks<'a, V> {
    /// All blocks, oldest first.
    pub(crate) all: Vec<Block<'a, V>>,
    /// The number of results for calls that already have one.
    pub(crate) duplicate_results: usize,
    /// The positions of these results.
    pub(crate) second_positions: Vec<usize>,
    /// The positions of the messages that could not be read.
    pub(crate) unread_positions: BTreeSet<usize>,
    /// The report about them.
    pub(crate) unread: Unread,
    /// What was read of each message, for a repair.
    pub(crate) read_messages: Vec<Option<ReadMessage>>,
}

/// Read the blocks of a conversation and judge them by the policy's rules.
///
/// References and failures come from `known`, if given. Otherwise references are generated, and only results that say
/// so are failures. With `early`, results of its form that stand before their calls are theirs.
pub(crate) fn read_blocks<'a, V: Value<'a>>(
    messages: &[V],
    settings: &Settings<'_>,
    known: Option<&[CallFacts]>,
    early: Option<&Destination>,
) -> Result<Blocks<'a, V>, Halt<Infallible>> {
    let mut walk = Walk::new(Slice(messages));
    if settings.repair {
        walk.read_messages.resize(messages.len(), None);
    }
    let mut judging = Judging::with_room(settings.rules, messages.len() / 2);
    let mut paths = Paths::new(messages);
    let mut all = Vec::with_capacity(messages.len());
    let mut newest_first = known.unwrap_or_default().iter().rev();
    let mut next_entry = || {
        let mut entry = walk.next_entry()?;
        if let Some((entry, known)) = entry.as_mut().zip(newest_first.next())
            && known.is_error
        {
            entry.set_error();
        }
        Ok::<_, Halt<Infallible>>(entry)
    };
    let mut add = |judging: &mut Judging<'a, '_>, mut entry: Entry<'a, V>| {
        let judgement = judging.judge(&mut entry);
        all.push(Block::new(entry, &mut paths, judgement, settings));
    };
    if settings.rules.keeps_first || early.is_some() {
        let mut entries = Vec::new();
        while let Some(entry) = next_entry()? {
            entries.push(entry);
        }
        if let Some(destination) = early {
            join_early(&mut entries, destination);
        }
        if settings.rules.keeps_first {
            judging.find_firsts(&mut entries);
        }
        for entry in entries {
            add(&mut judging, entry);
        }
    } else {
        while let Some(entry) = next_entry()? {
            add(&mut judging, entry);
        }
    }
    all.reverse();
    unless_shortened(&mut all);
    for block in all.iter_mut().filter(|_| !walk.second_results.is_empty()) {
        let order = block.entry.order;
        let places = walk.second_places.get(&order).into_iter().flatten();
        let wires = walk.second_results.get(&order).into_iter().flatten();
        block.second_paths.extend(places.zip(wires).filter_map(|(position, wire)| paths.of(*position, *wire)));
    }
    if paths.has_repeated() {
        for block in &mut all {
            block.place(&mut paths);
        }
    }
    if let Some(known) = known {
        for (block, known) in all.iter_mut().zip(known) {
            block.reference = Cow::Owned(known.reference.clone());
        }
    } else {
        let mut names = References::with_room(all.len());
        for block in &mut all {
            block.reference = names.add(block.entry.call_id);
        }
    }
    Ok(Blocks {
        all,
        duplicate_results: walk.duplicate_results,
        unread: walk.unread_report(),
        read_messages: std::mem::take(&mut walk.read_messages),
        unread_positions: walk
            .unread
            .iter()
            .filter(|(_, wire)| !is_only_text(*wire))
            .map(|(position, _)| *position)
            .collect(),
        second_positions: walk.second_positions,
    })
}

/// Let a result that was shortened before supersede no other one, since the sign of a failure may be gone.
fn unless_shortened<'a, V: Value<'a>>(blocks: &mut [Block<'a, V>]) {
    let by = |block: &Block<'a, V>| block.by.and_then(|order| place_of(blocks, order)).and_then(|by| blocks.get(by));
    let is_shortened = |block: &Block<'a, V>| by(block).is_some_and(|by| may_hold_marker(&by.text));
    let found: Vec<usize> =
        blocks.iter().enumerate().filter(|(_, block)| is_shortened(block)).map(|(number, _)| number).collect();
    for number in found {
        if let Some(block) = blocks.get_mut(number) {
            (block.reason, block.by) = (None, None);
        }
    }
}

/// Return the number of the block of an entry with an order. The walk numbers entries from the newest to the oldest.
pub(crate) fn place_of<V>(blocks: &[Block<'_, V>], order: usize) -> Option<usize> {
    blocks.binary_search_by(|block| order.cmp(&block.entry.order)).ok()
}

/// Group the numbers of the blocks by turn. A turn is the calls that were made before the first of their results.
pub(crate) fn turns_of<V>(blocks: &[Block<'_, V>]) -> Vec<Vec<usize>> {
    let mut turns: Vec<Vec<usize>> = Vec::new();
    let mut end = 0;
    for (number, block) in blocks.iter().enumerate() {
        let entry = &block.entry;
        if entry.call.is_none() {
            continue;
        }
        let result_position = entry.result.as_ref().map(|_| entry.result_position);
        if let Some(turn) = turns.last_mut().filter(|_| entry.position <= end) {
            turn.push(number);
            end = result_position.map_or(end, |position| end.min(position));
        } else {
            turns.push(vec![number]);
            end = result_position.unwrap_or(entry.position);
        }
    }
    turns
}
