//! The ids by which a provider pairs calls and results: those that it refuses are replaced, the same way each time.
//! The twin is `_pure/project/mend/ids.py`.

use ahash::{AHashMap, AHashSet};

use super::dialects::{Dialect, Form, IdAt};
use super::mends::Mends;
use super::pairs::Pairs;
use crate::pieces::Piece;
use crate::project::blocks::Block;
use crate::project::drafts::{Changed, Edit, Json, Members, Path};
use crate::project::material::Material;
use crate::read::read_result;
use crate::text::{OwnedText, Text, Width};
use crate::value::{Value, names, text_or_empty};

/// Of an id that is made of a refused one.
const LONGEST: usize = 32;
/// What an id begins with that is made of nothing.
const STEM: &str = "call";

/// The ids of calls, by the number of their block.
pub(crate) type GivenIds<'a> = AHashMap<usize, Piece<'a>>;

/// The ids of calls, in the order of the conversation, so that what comes later changes none of them.
struct Ids<'a> {
    dialect: &'static Dialect,
    taken: AHashSet<Piece<'a>>,
    numbers: AHashMap<OwnedTextKey, usize>,
    turn: Option<usize>,
}

/// The units of a text.
type OwnedTextKey = Vec<u32>;

impl<'a> Ids<'a> {
    /// The id of the next call.
    fn of(&mut self, call_id: Text<'a>, turn: usize) -> Piece<'a> {
        let given = Piece::Borrowed(call_id);
        if !self.dialect.has_ids || (call_id.is_empty() && self.dialect.takes_id(call_id)) {
            return given;
        }
        if !self.dialect.is_unique && self.turn != Some(turn) {
            self.taken.clear();
            self.numbers.clear();
            self.turn = Some(turn);
        }
        let new = if !self.dialect.takes_id(call_id) {
            self.free(&stem_of(call_id))
        } else if self.taken.contains(&given) {
            self.free(&narrow(call_id.slice(0, LONGEST)))
        } else {
            given
        };
        self.taken.insert(new.clone());
        new
    }

    /// `stem` with the first number behind it that is free.
    fn free(&mut self, stem: &OwnedText) -> Piece<'a> {
        let text = stem.as_text();
        let key = (0..text.len()).filter_map(|index| text.get(index)).collect();
        let number = self.numbers.entry(key).or_insert(1);
        loop {
            let mut new = stem.clone();
            new.push_ascii(&format!("_{number}"));
            let new = Piece::own(new);
            if !self.taken.contains(&new) {
                return new;
            }
            *number += 1;
        }
    }
}

/// A stem for an id that is refused.
fn stem_of(call_id: Text<'_>) -> OwnedText {
    let units = (0..call_id.len().min(LONGEST)).filter_map(|index| call_id.get(index));
    let plain = units.map(|unit| match u8::try_from(unit) {
        Ok(byte) if byte.is_ascii_alphanumeric() || byte == b'-' => char::from(byte),
        _ => '_',
    });
    let plain: String = plain.collect();
    let stem = plain.trim_matches('_');
    OwnedText::from_utf8(if stem.is_empty() { STEM } else { stem })
}

/// A part of a text in the narrowest units that hold it, so that equal texts are the same.
fn narrow(text: Text<'_>) -> OwnedText {
    let units = || (0..text.len()).filter_map(|index| text.get(index));
    match text.width() {
        Width::Ascii | Width::Latin1 => OwnedText::Latin1(units().filter_map(|unit| u8::try_from(unit).ok()).collect()),
        Width::Ucs2 => OwnedText::Ucs2(units().filter_map(|unit| u16::try_from(unit).ok()).collect()),
        Width::Ucs4 => OwnedText::Ucs4(units().collect()),
    }
}

/// Give each call, and its result, an id that the provider takes.
pub(crate) fn give_ids<'a, V: Value<'a>>(
    material: &mut Material<'a, '_, V>,
    dialect: &'static Dialect,
    pairs: &Pairs<'a>,
    mends: &mut Mends<'a>,
) -> GivenIds<'a> {
    let (taken, numbers) = (AHashSet::new(), AHashMap::new());
    let mut ids = Ids { dialect, taken, numbers, turn: None };
    let turns = turn_numbers(material.messages, dialect);
    let mut found = AHashMap::new();
    for (path, number) in pairs.calls() {
        let Some(block) = material.blocks.get(number) else { continue };
        let own = block.entry.call_id;
        let turn = turns.get(block.entry.position).copied().unwrap_or_default();
        let new = ids.of(own, turn);
        if new.text() != own {
            mends.add_with("renamed_id", Some(block.entry.position), own, new.clone());
            material.edit(path, id_member(dialect.call_id, block.entry.call, new.clone()));
        }
        if let Some(path) = pairs.result_of(number) {
            fit_result(material, dialect, (block, path), &new, mends);
        }
        found.insert(number, new);
    }
    found
}

/// Let a result say the id, and the name, of its call, as far as the provider looks at them.
fn fit_result<'a, V: Value<'a>>(
    material: &mut Material<'a, '_, V>,
    dialect: &Dialect,
    (block, path): (&Block<'a, V>, Path),
    call_id: &Piece<'a>,
    mends: &mut Mends<'a>,
) {
    let entry = &block.entry;
    let Some(result) = entry.result else { return };
    let said = read_result(result);
    let position = Some(entry.result_position);
    let is_needed = || !said.call_id.is_empty() || !dialect.takes_id(Text::ascii(""));
    if dialect.has_ids && said.call_id != call_id.text() && is_needed() {
        material.edit(path, id_member(dialect.result_id, Some(result), call_id.clone()));
        if call_id.text() == entry.call_id {
            mends.add_with("renamed_id", position, said.call_id, call_id.clone());
        }
    }
    if let Some(name) = dialect.name
        && !said.name.is_empty()
        && said.name != entry.tool_name
    {
        let own = Piece::Borrowed(entry.tool_name);
        mends.add_with("renamed_tool", position, entry.call_id, own.clone());
        material.edit(path, id_member(name, Some(result), own));
    }
}

/// The turn that each message is part of: where results are parts, messages of one role are one.
fn turn_numbers<'a, V: Value<'a>>(messages: &[V], dialect: &Dialect) -> Vec<usize> {
    if dialect.form != Form::Turns {
        return (0..messages.len()).collect();
    }
    let mut number = 0;
    let mut last = None;
    let mut next = |message: &V| {
        let role = text_or_empty(message.get(names::ROLE));
        number += usize::from(last != Some(role));
        last = Some(role);
        number
    };
    messages.iter().map(&mut next).collect()
}

/// The members by which a part says another id.
fn id_member<'a, V: Value<'a>>(place: IdAt, wire: Option<V>, new: Piece<'a>) -> Members<'a, V> {
    let members = vec![(place.key, Some(Edit::Made(Json::Text(new))))];
    let mut held = place.holders.iter().filter_map(|holder| Some((*holder, wire?.get(*holder)?.object()?)));
    match (held.next(), place.holders.first()) {
        (Some((holder, held)), _) => {
            vec![(holder, Some(Edit::Changed(Changed { path: None, of: Some(held), members })))]
        }
        (None, Some(holder)) => vec![(*holder, Some(Edit::Changed(Changed { path: None, of: None, members })))],
        (None, None) => members,
    }
}
