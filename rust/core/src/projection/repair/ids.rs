//! The ids by which a provider pairs calls and results. An id that the provider refuses is replaced by one that no call
//! has yet, in the same way each time.

use ahash::{AHashMap, AHashSet};

use super::message_parts::is_models;
use super::pairs::Pairs;
use super::providers::{Dialect, Form, IdAt};
use super::report::Mends;
use crate::json::value::Value;
use crate::pairing::block::Entry;
use crate::projection::blocks::Block;
use crate::projection::edits::{Changed, Edit, Json, Members, Path};
use crate::projection::request::EditedMessages;
use crate::text::piece::Piece;
use crate::text::{OwnedText, Text, Width};

/// The new ids of calls, by the number of their block.
pub(crate) type AssignedIds<'a> = AHashMap<usize, Piece<'a>>;

/// Assigns ids to calls in the order of the conversation, so that later calls don't change earlier ids.
struct Ids<'p, 'a> {
    dialect: &'static Dialect,
    pairs: &'p Pairs<'a>,
    free: FreeIds<'p, 'a>,
    turn: Option<usize>,
}

impl<'p, 'a> Ids<'p, 'a> {
    fn new(dialect: &'static Dialect, pairs: &'p Pairs<'a>) -> Self {
        Self { dialect, pairs, free: FreeIds::new(pairs.foreign_ids.iter().copied(), &pairs.orphan_ids), turn: None }
    }

    /// Return the id of the next call.
    fn of(&mut self, call_id: Text<'a>, turn: usize) -> Piece<'a> {
        let given = Piece::Borrowed(call_id);
        if call_id.is_empty() && self.dialect.takes_id(call_id) {
            return given;
        }
        if !self.dialect.is_unique && self.turn != Some(turn) {
            *self = Self { turn: Some(turn), ..Self::new(self.dialect, self.pairs) };
        }
        if !self.dialect.takes_id(call_id) {
            return self.free.plain(call_id);
        }
        if self.free.taken.contains(&given) {
            return self.free.like(&given);
        }
        self.free.taken.insert(given.clone());
        given
    }
}

/// Give each call and its result an id that the provider accepts.
pub(crate) fn assign_ids<'a, V: Value<'a>>(
    edited: &mut EditedMessages<'a, '_, V>,
    dialect: &'static Dialect,
    pairs: &Pairs<'a>,
    mends: &mut Mends<'a>,
) -> AssignedIds<'a> {
    let mut ids = Ids::new(dialect, pairs);
    ids.free.taken.reserve(if dialect.is_unique { edited.blocks.len() } else { 0 });
    let turns = turn_numbers(edited.messages, dialect, pairs);
    let mixed = mixed_turns(pairs, edited.blocks, &turns);
    let mut found = AHashMap::with_capacity(edited.blocks.len());
    for (path, number) in pairs.calls() {
        let Some(block) = edited.blocks.get(number) else { continue };
        let own = block.entry.call_id;
        let turn = turns.get(block.entry.position).copied().unwrap_or_default();
        let new = ids.of(own, turn);
        if block.entry.call.is_some_and(|call| dialect.call_id.text(call) != new.text()) {
            mends.add_with("renamed_id", Some(block.entry.position), own, new.clone());
            edited.edit(path, id_member(dialect.call_id, block.entry.call, new.clone()));
        }
        if let Some(path) = pairs.result_of(number) {
            let needs_id = mixed.contains(&turn) || !dialect.takes_id(Text::ascii(""));
            let name = pairs.name_of(number, block);
            fit_result(edited, dialect, (block, path, name), (&new, needs_id), mends);
        }
        found.insert(number, new);
    }
    found
}

/// Make a result carry the tool name and the id of its call. A result without an id gets one only if `needs_id`.
fn fit_result<'a, V: Value<'a>>(
    edited: &mut EditedMessages<'a, '_, V>,
    dialect: &Dialect,
    (block, path, tool_name): (&Block<'a, V>, Path, Text<'a>),
    (call_id, needs_id): (&Piece<'a>, bool),
    mends: &mut Mends<'a>,
) {
    let entry = &block.entry;
    let Some(result) = entry.result else { return };
    let own = dialect.result_id.text(result);
    let position = Some(entry.result_position);
    if own != call_id.text() && (needs_id || !own.is_empty()) {
        edited.edit(path, id_member(dialect.result_id, Some(result), call_id.clone()));
        if call_id.text() == entry.call_id {
            mends.add_with("renamed_id", position, own, call_id.clone());
        }
    }
    if let Some(name) = dialect.name
        && !is_named(dialect, name.text(result), tool_name)
    {
        let own = Piece::Borrowed(tool_name);
        mends.add_with("renamed_tool", position, entry.call_id, own.clone());
        edited.edit(path, id_member(name, Some(result), own));
    }
}

/// Return true if a result has the tool name of its call. If results are messages of their own, the name is optional.
fn is_named(dialect: &Dialect, name: Text<'_>, tool_name: Text<'_>) -> bool {
    name == tool_name || (name.is_empty() && dialect.form == Form::Chat)
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
fn turn_numbers<'a, V: Value<'a>>(messages: &[V], dialect: &Dialect, pairs: &Pairs<'a>) -> Vec<usize> {
    if dialect.form != Form::Turns {
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
fn id_member<'a, V: Value<'a>>(place: IdAt, wire: Option<V>, new: Piece<'a>) -> Members<'a, V> {
    let members = vec![(place.key, Some(Edit::NewValue(Json::Text(new))))];
    let mut held = place.holders.iter().filter_map(|holder| Some((*holder, wire?.get(*holder)?.object()?)));
    match (held.next(), place.holders.first()) {
        (Some((holder, held)), _) => {
            vec![(holder, Some(Edit::Changed(Changed { path: None, of: Some(held), members })))]
        }
        (None, Some(holder)) => vec![(*holder, Some(Edit::Changed(Changed { path: None, of: None, members })))],
        (None, None) => members,
    }
}

/// The most characters that a new id takes from an old one.
const LONGEST: usize = 32;
/// The stem of a new id if the old id has no usable characters.
const STEM: &str = "call";

/// The ids in use and the ids to avoid. New ids are made from old ones in the same way each time.
pub(crate) struct FreeIds<'p, 'a> {
    pub(crate) taken: AHashSet<Piece<'a>>,
    avoided: &'p AHashSet<Text<'a>>,
    /// The next number for each repeated id.
    numbers: AHashMap<Piece<'a>, usize>,
}

impl<'p, 'a> FreeIds<'p, 'a> {
    pub(crate) fn new(taken: impl Iterator<Item = Text<'a>>, avoided: &'p AHashSet<Text<'a>>) -> Self {
        Self { taken: taken.map(Piece::Borrowed).collect(), avoided, numbers: AHashMap::new() }
    }

    /// Return a free id made of characters that every provider accepts.
    pub(crate) fn plain(&mut self, call_id: Text<'a>) -> Piece<'a> {
        let units = (0..call_id.len().min(LONGEST)).filter_map(|index| call_id.get(index));
        let plain = units.map(|unit| match u8::try_from(unit) {
            Ok(byte) if byte.is_ascii_alphanumeric() || byte == b'-' => char::from(byte),
            _ => '_',
        });
        let plain: String = plain.collect();
        let stem = plain.trim_matches('_');
        self.like(&Piece::own_ascii(if stem.is_empty() { STEM } else { stem }.to_owned()))
    }

    /// Return `call_id` if it is free, otherwise append the first number that makes it free.
    pub(crate) fn like(&mut self, call_id: &Piece<'a>) -> Piece<'a> {
        let stem = narrow(call_id.slice(0, LONGEST).text());
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

/// Copy a text into the narrowest units that can hold it, so that equal texts compare equal.
fn narrow(text: Text<'_>) -> OwnedText {
    let units = || (0..text.len()).filter_map(|index| text.get(index));
    match text.width() {
        Width::Ascii | Width::Latin1 => OwnedText::Latin1(units().filter_map(|unit| u8::try_from(unit).ok()).collect()),
        Width::Ucs2 => OwnedText::Ucs2(units().filter_map(|unit| u16::try_from(unit).ok()).collect()),
        Width::Ucs4 => OwnedText::Ucs4(units().collect()),
    }
}
