//! Ids that no call has yet, made of those that a provider refuses. The twin is `_pure/free_ids.py`.

use ahash::{AHashMap, AHashSet};

use crate::text::piece::Piece;
use crate::text::{OwnedText, Text, Width};

/// Of an id that is made of another.
const LONGEST: usize = 32;
/// What an id is made of that is made of nothing.
const STEM: &str = "call";

/// The ids that are taken, and others that none is made to be. What is made of an id is the same each time.
pub(crate) struct FreeIds<'p, 'a> {
    pub(crate) taken: AHashSet<Piece<'a>>,
    avoided: &'p AHashSet<Text<'a>>,
    /// The next number for each id that several have.
    numbers: AHashMap<Piece<'a>, usize>,
}

impl<'p, 'a> FreeIds<'p, 'a> {
    pub(crate) fn new(taken: impl Iterator<Item = Text<'a>>, avoided: &'p AHashSet<Text<'a>>) -> Self {
        Self { taken: taken.map(Piece::Borrowed).collect(), avoided, numbers: AHashMap::new() }
    }

    /// A free id of the characters that every provider takes.
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

    /// `call_id` where it is free, else with the first number behind it that is.
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

/// A part of a text in the narrowest units that hold it, so that equal texts are the same.
fn narrow(text: Text<'_>) -> OwnedText {
    let units = || (0..text.len()).filter_map(|index| text.get(index));
    match text.width() {
        Width::Ascii | Width::Latin1 => OwnedText::Latin1(units().filter_map(|unit| u8::try_from(unit).ok()).collect()),
        Width::Ucs2 => OwnedText::Ucs2(units().filter_map(|unit| u16::try_from(unit).ok()).collect()),
        Width::Ucs4 => OwnedText::Ucs4(units().collect()),
    }
}
