//! The names of tools. One that a destination refuses is replaced, always in the same way.

use ahash::AHashSet;

use super::destinations::Destination;
use super::rules::{IdRule, begins_word};
use crate::text::Text;
use crate::text::piece::Piece;

/// Return the names that a destination refuses, each with another one. Equal names stay equal, and different ones
/// different.
pub(crate) fn new_names<'a>(names: &[Text<'a>], destination: &Destination) -> Vec<(Text<'a>, Piece<'a>)> {
    let rule = &destination.rules.tool_name;
    let is_refused = |name: &&Text<'_>| !name.is_empty() && !destination.takes_name(**name);
    if !names.iter().any(|name| is_refused(&name)) {
        return Vec::new();
    }
    let mut taken: AHashSet<Piece<'a>> =
        names.iter().filter(|name| !is_refused(name)).map(|name| Piece::Borrowed(*name)).collect();
    let mut seen = AHashSet::new();
    let mut found = Vec::new();
    for name in names.iter().filter(is_refused).copied().filter(|name| seen.insert(*name)) {
        let new = new_name(name, rule, &taken);
        taken.insert(new.clone());
        found.push((name, new));
    }
    found
}

/// Return a name that a rule allows and that is not taken: refused characters become `_`.
pub(crate) fn new_name<'a>(name: Text<'_>, rule: &IdRule, taken: &AHashSet<Piece<'a>>) -> Piece<'a> {
    let most = if rule.at_most == 0 { usize::MAX } else { rule.at_most };
    let is_begun = !rule.begins_as_word || name.get(0).is_some_and(|unit| begins_word(unit) || !is_of_names(unit));
    let start = if is_begun { "" } else { "_" };
    let units = (0..name.len()).filter_map(|index| name.get(index));
    let units = start.bytes().map(u32::from).chain(units).take(most);
    let plain: String = units
        .map(|unit| match u8::try_from(unit) {
            Ok(byte) if is_of_names(unit) => char::from(byte),
            _ => '_',
        })
        .collect();
    let (mut new, mut number) = (Piece::own_ascii(plain.clone()), 2);
    while taken.contains(&new) {
        let end = format!("_{number}");
        let room = if rule.at_most == 0 { plain.len() } else { rule.at_most.saturating_sub(end.len()) };
        new = Piece::own_ascii(format!("{plain:.room$}{end}"));
        number += 1;
    }
    new
}

/// Return true if names have a character everywhere, but perhaps not at the beginning. Others become `_`.
fn is_of_names(unit: u32) -> bool {
    u8::try_from(unit).is_ok_and(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}
