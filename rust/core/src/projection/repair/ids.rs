//! The ids by which a provider pairs calls and results. An id that the provider refuses is replaced by one that no call
//! has yet, in the same way each time.

use ahash::{AHashMap, AHashSet};
use sha2::{Digest, Sha256};

use super::destinations::{Destination, Form};
use super::message_parts::is_models;
use super::pairs::Pairs;
use super::report::Mends;
use super::rules::{IdAt, LONGEST_STEM};
use crate::json::value::{Key, Value, items, names, text_or_empty};
use crate::pairing::block::Entry;
use crate::projection::blocks::Block;
use crate::projection::edits::{Changed, Draft, DraftList, Edit, Json, Members, Parts, Path};
use crate::projection::marker::plain_id;
use crate::projection::request::EditedMessages;
use crate::text::piece::Piece;
use crate::text::{OwnedText, Text, Width};

/// The details of a message's reasoning at gateways.
const DETAILS: Key<'static> = Key::new("reasoning_details");

/// The new ids of calls, by the number of their block.
pub(crate) type AssignedIds<'a> = AHashMap<usize, Piece<'a>>;

/// Assigns ids to calls in the order of the conversation, so that later calls don't change earlier ids.
struct Ids<'p, 'a> {
    destination: &'static Destination,
    pairs: &'p Pairs<'a>,
    free: FreeIds<'p, 'a>,
    turn: Option<usize>,
}

impl<'p, 'a> Ids<'p, 'a> {
    fn new(destination: &'static Destination, pairs: &'p Pairs<'a>) -> Self {
        Self {
            destination,
            pairs,
            free: FreeIds::new(pairs.foreign_ids.iter().copied(), &pairs.orphan_ids, destination.rules.id.short_len()),
            turn: None,
        }
    }

    /// Return the id of the next call.
    fn of(&mut self, call_id: Text<'a>, turn: usize, (name, number): (Text<'_>, usize)) -> Piece<'a> {
        let given = Piece::Borrowed(call_id);
        if self.destination.rules.refuses_ids {
            return Piece::default();
        }
        if call_id.is_empty() && self.destination.takes_id(call_id) {
            return given;
        }
        if !self.destination.rules.is_unique && self.turn != Some(turn) {
            *self = Self { turn: Some(turn), ..Self::new(self.destination, self.pairs) };
        }
        let template = self.destination.rules.id_template;
        if !template.is_empty() && (!is_like(call_id, template) || self.free.taken.contains(&given)) {
            let name = name.to_utf8();
            let made = |number: usize| template.replace("{name}", &name).replace("{number}", &number.to_string());
            let mut all = (number..).map(|number| Piece::own(made(number).into()));
            let new = all.find(|new| !self.free.taken.contains(new)).unwrap_or_default();
            self.free.taken.insert(new.clone());
            return new;
        }
        if !self.destination.takes_id(call_id) {
            return self.free.plain(call_id);
        }
        if self.free.taken.contains(&given) {
            return self.free.like(&given);
        }
        self.free.taken.insert(given.clone());
        given
    }
}

/// Return true if an id has the form of a template: what stands before the name of its tool, and digits at the end.
fn is_like(call_id: Text<'_>, template: &str) -> bool {
    let (begin, rest) = template.split_once("{name}").unwrap_or((template, ""));
    let mark = rest.trim_end_matches("{number}");
    let own = call_id.to_utf8();
    let end = own.strip_prefix(begin).and_then(|own| own.rsplit_once(mark));
    end.is_some_and(|(_, digits)| !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit()))
}

/// Give each call and its result an id that the provider accepts.
pub(crate) fn assign_ids<'a, V: Value<'a>>(
    edited: &mut EditedMessages<'a, '_, V>,
    destination: &'static Destination,
    pairs: &Pairs<'a>,
    mends: &mut Mends<'a>,
) -> AssignedIds<'a> {
    let mut ids = Ids::new(destination, pairs);
    ids.free.taken.reserve(if destination.rules.is_unique { edited.blocks.len() } else { 0 });
    let turns = turn_numbers(edited.messages, destination, pairs);
    let mixed = mixed_turns(pairs, edited.blocks, &turns);
    let mut found = AHashMap::with_capacity(edited.blocks.len());
    let mut renamed: Vec<(usize, Text<'a>, Piece<'a>)> = Vec::new();
    for (path, number) in pairs.calls() {
        let Some(block) = edited.blocks.get(number) else { continue };
        let own = block.entry.call_id;
        let turn = turns.get(block.entry.position).copied().unwrap_or_default();
        let name = pairs.name_of(number, block);
        let new = ids.of(own, turn, (name.text(), found.len()));
        if block.entry.call.is_some_and(|call| destination.call_id.text(call) != new.text()) {
            mends.add_with("renamed_id", Some(block.entry.position), own, new.clone());
            edited.edit(path, new_id(destination.call_id, block.entry.call, new.clone()));
            renamed.push((block.entry.position, own, new.clone()));
        }
        if let Some(path) = pairs.result_of(number) {
            let is_ambiguous = mixed.contains(&turn) && !destination.rules.refuses_ids;
            let needs_id = is_ambiguous || !destination.takes_id(Text::ascii(""));
            fit_result(edited, destination, (block, path, name), (&new, needs_id), mends);
        }
        found.insert(number, new);
    }
    rename_details(edited, destination, &renamed);
    found
}

/// Give the details of reasoning, which name a call of their message, the new id of the call.
///
/// Gemini's signatures stand in them: <https://openrouter.ai/docs/guides/best-practices/reasoning-tokens>,
/// <https://github.com/UKGovernmentBEIS/inspect_ai/issues/3986>
fn rename_details<'a, V: Value<'a>>(
    edited: &mut EditedMessages<'a, '_, V>,
    destination: &Destination,
    renamed: &[(usize, Text<'a>, Piece<'a>)],
) {
    if destination.rules.refused_members.contains(&DETAILS) {
        return;
    }
    for calls in renamed.chunk_by(|(one, ..), (other, ..)| one == other) {
        let Some((position, ..)) = calls.first() else { continue };
        let list = edited.message_at(*position).and_then(|message| message.get(DETAILS)?.list());
        let new_id = |detail: V| {
            let own = text_or_empty(detail.object()?.get(names::ID));
            calls.iter().find(|(_, call_id, _)| *call_id == own).map(|(.., new)| new.clone())
        };
        let Some(list) = list.filter(|list| items(*list).any(|detail| new_id(detail).is_some())) else { continue };
        let draft = |(index, detail)| match new_id(detail) {
            None => Draft::Original(Path::Inner(index), detail),
            Some(new) => {
                let members = vec![(names::ID, Some(Edit::NewValue(Json::Text(new))))];
                Draft::Changed(Changed { path: Some(Path::Inner(index)), of: Some(detail), members })
            }
        };
        let drafts = items(list).enumerate().map(draft).collect();
        let details = Edit::Parts(Parts { of: Some((DraftList::Inner, list)), items: drafts });
        edited.edit(Path::Message(*position), vec![(DETAILS, Some(details))]);
    }
}

/// Make a result carry the tool name and the id of its call. A result without an id gets one only if `needs_id`.
fn fit_result<'a, V: Value<'a>>(
    edited: &mut EditedMessages<'a, '_, V>,
    destination: &Destination,
    (block, path, tool_name): (&Block<'a, V>, Path, Piece<'a>),
    (call_id, needs_id): (&Piece<'a>, bool),
    mends: &mut Mends<'a>,
) {
    let entry = &block.entry;
    let Some(result) = entry.result else { return };
    let own = destination.result_id.text(result);
    let position = Some(entry.result_position);
    if own != call_id.text() && (needs_id || !own.is_empty()) {
        edited.edit(path, new_id(destination.result_id, Some(result), call_id.clone()));
        if call_id.text() == entry.call_id {
            mends.add_with("renamed_id", position, own, call_id.clone());
        }
    }
    if let Some(name) = destination.rules.result_name
        && !is_named(destination, name.text(result), tool_name.text())
    {
        if name.text(result) != entry.tool_name {
            // Otherwise its call has a new name, and is reported.
            mends.add_with("renamed_tool", position, entry.call_id, tool_name.clone());
        }
        edited.edit(path, id_member(name, Some(result), tool_name));
    }
}

/// Return true if a result has the tool name of its call. If results are messages of their own, the name is optional.
fn is_named(destination: &Destination, name: Text<'_>, tool_name: Text<'_>) -> bool {
    name == tool_name || (name.is_empty() && destination.form == Form::Chat)
}

/// Return the turns in which a result without an id would be ambiguous: some calls have ids, and others don't or are
/// only in the content, so that their results are removed.
fn mixed_turns<'a, V: Value<'a>>(pairs: &Pairs<'a>, blocks: &[Block<'a, V>], turns: &[usize]) -> AHashSet<usize> {
    let calls = || pairs.calls().filter_map(|(_, number)| blocks.get(number)).map(|block| &block.entry);
    let turn = |entry: &Entry<'a, V>| turns.get(entry.position).copied();
    let lone = pairs.lone.iter().filter_map(|position| turns.get(*position).copied());
    let without = calls().filter(|entry| entry.call_id.is_empty()).filter_map(turn).chain(lone);
    let without: AHashSet<usize> = without.collect();
    if without.is_empty() {
        return without;
    }
    let with: AHashSet<usize> = calls().filter(|entry| !entry.call_id.is_empty()).filter_map(turn).collect();
    with.intersection(&without).copied().collect()
}

/// Return the turn number of each message. If results are parts, consecutive messages of one side are one turn.
fn turn_numbers<'a, V: Value<'a>>(messages: &[V], destination: &Destination, pairs: &Pairs<'a>) -> Vec<usize> {
    if destination.form != Form::Turns {
        return (0..messages.len()).collect();
    }
    let with_calls: AHashSet<usize> = pairs.calls().map(|(path, _)| path.position()).collect();
    let (mut number, mut side) = (0, None);
    let mut next = |(position, message): (usize, &V)| {
        let own = is_models(*message) || with_calls.contains(&position);
        number += usize::from(side != Some(own));
        side = Some(own);
        number
    };
    messages.iter().enumerate().map(&mut next).collect()
}

/// Return the changed members that give a part a new id.
pub(crate) fn id_member<'a, V: Value<'a>>(place: IdAt, wire: Option<V>, new: Piece<'a>) -> Members<'a, V> {
    member_at(place, wire, Some(Edit::NewValue(Json::Text(new))))
}

/// Return the changed members that give a part a new id, or none if it is empty.
fn new_id<'a, V: Value<'a>>(place: IdAt, wire: Option<V>, new: Piece<'a>) -> Members<'a, V> {
    if new.is_empty() { member_at(place, wire, None) } else { id_member(place, wire, new) }
}

/// Return the changed members that give a member of a part another value, or remove it (`None`).
fn member_at<'a, V: Value<'a>>(place: IdAt, wire: Option<V>, new: Option<Edit<'a, V>>) -> Members<'a, V> {
    let members = vec![(place.key, new)];
    let mut held = place.holders.iter().filter_map(|holder| Some((*holder, wire?.get(*holder)?.object()?)));
    match (held.next(), place.holders.first()) {
        (Some((holder, held)), _) => {
            vec![(holder, Some(Edit::Changed(Changed { path: None, of: Some(held), members })))]
        }
        (None, Some(holder)) => vec![(*holder, Some(Edit::Changed(Changed { path: None, of: None, members })))],
        (None, None) => members,
    }
}

/// The ids in use and the ids to avoid. New ids are made from old ones in the same way each time.
pub(crate) struct FreeIds<'p, 'a> {
    pub(crate) taken: AHashSet<Piece<'a>>,
    avoided: &'p AHashSet<Text<'a>>,
    /// The next number for each repeated id.
    numbers: AHashMap<Piece<'a>, usize>,
    /// The number of characters of all ids that the destination takes, if they are short; otherwise 0.
    at_most: usize,
}

impl<'p, 'a> FreeIds<'p, 'a> {
    pub(crate) fn new(taken: impl Iterator<Item = Text<'a>>, avoided: &'p AHashSet<Text<'a>>, at_most: usize) -> Self {
        Self { taken: taken.map(Piece::Borrowed).collect(), avoided, numbers: AHashMap::new(), at_most }
    }

    /// Return a free id made of characters that every provider accepts.
    pub(crate) fn plain(&mut self, call_id: Text<'a>) -> Piece<'a> {
        if self.at_most > 0 {
            return self.short(call_id);
        }
        self.like(&Piece::own_ascii(plain_id(call_id)))
    }

    /// Return `call_id` if it is free, otherwise append the first number that makes it free.
    pub(crate) fn like(&mut self, call_id: &Piece<'a>) -> Piece<'a> {
        if self.at_most > 0 {
            return self.short(call_id.text());
        }
        let stem = narrow(call_id.slice(0, LONGEST_STEM).text());
        let mut new = Piece::own(stem.clone());
        let number = self.numbers.entry(new.clone()).or_insert(2);
        while self.taken.contains(&new) || self.avoided.contains(&new.text()) {
            let mut numbered = stem.clone();
            numbered.push_ascii(&format!("_{number}"));
            new = Piece::own(numbered);
            *number += 1;
        }
        self.taken.insert(new.clone());
        new
    }
}

impl<'a> FreeIds<'_, 'a> {
    /// Return a free id that is too short to show the old one: digits of its hash.
    fn short(&mut self, call_id: Text<'_>) -> Piece<'a> {
        let mut hasher = Sha256::new();
        for unit in (0..call_id.len()).filter_map(|index| call_id.get(index)) {
            hasher.update(unit.to_le_bytes());
        }
        let mut number = 1;
        loop {
            let digest = hasher.clone().chain_update(format!("#{number}")).finalize();
            let digits = digest.iter().flat_map(|byte| [u32::from(byte >> 4), u32::from(byte & 15)]);
            let new: String = digits.take(self.at_most).filter_map(|digit| char::from_digit(digit, 16)).collect();
            let new = Piece::own_ascii(new);
            if !self.taken.contains(&new) && !self.avoided.contains(&new.text()) {
                self.taken.insert(new.clone());
                return new;
            }
            number += 1;
        }
    }
}

/// Copy a text into the narrowest units that can hold it, so that equal texts compare equal.
fn narrow(text: Text<'_>) -> OwnedText {
    let units = || (0..text.len()).filter_map(|index| text.get(index));
    match text.width() {
        Width::Ascii | Width::Latin1 => OwnedText::Latin1(units().filter_map(|unit| u8::try_from(unit).ok()).collect()),
        Width::Ucs2 => OwnedText::Ucs2(units().filter_map(|unit| u16::try_from(unit).ok()).collect()),
        Width::Ucs4 => OwnedText::Ucs4(units().collect()),
    }
}
