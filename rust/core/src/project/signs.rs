//! By what a result is known again in a later request, where another one may have its reference.
//!
//! Where ids repeat or are missing, references number what is there: as soon as a client lets go of its first turns, they
//! name other calls. A sign is cheap, since it is asked for only of what is decided: no more of a text is looked at than a
//! little of both ends. So two results of one tool and one length that differ in the middle alone are taken for one, if
//! their calls differ no more than that.
//! The twin is `_pure/project/signs.py`.

use std::borrow::Cow;

use ahash::AHashSet;

use super::blocks::Block;
use super::settings::{Fate, Previous, Sign};
use crate::content::Content;
use crate::entry::Entry;
use crate::graphemes::CodePoint;
use crate::pieces::Piece;
use crate::text::{Text, Width, on_units};
use crate::value::Value;

/// How many characters of each end are looked at.
const END: usize = 32;

/// The sign of a call: its tool, and the file, the command, or what else tells calls of the tool apart.
fn call_sign<V>(entry: &Entry<'_, V>) -> u32 {
    let value = entry.value.as_ref().map_or(Text::ascii(""), Piece::text);
    [entry.tool_name, value].into_iter().fold(0, |start, text| {
        let size = text.len();
        checksum(text.slice(size.saturating_sub(END), size), checksum(text.slice(0, END), start))
    })
}

/// The checksum of both ends of a result.
fn ends_of<'a, V: Value<'a>>(text: &Content<'a, V>) -> u32 {
    let last = text.end(END); // that, or more
    let size = last.len();
    checksum(last.text().slice(size.saturating_sub(END), size), checksum(text.start(END).text(), 0))
}

/// The CRC-32 of a text, in UTF-32 where it is not ASCII.
fn checksum(text: Text<'_>, start: u32) -> u32 {
    let is_ascii = text.width() == Width::Ascii;
    !on_units!(text, units => units.iter().fold(!start, |all, unit| {
        let [first, rest @ ..] = unit.code_point().to_le_bytes();
        let all = add(all, first);
        if is_ascii { all } else { rest.into_iter().fold(all, add) }
    }))
}

fn add(all: u32, byte: u8) -> u32 {
    let [low, ..] = all.to_le_bytes();
    TABLE.get(usize::from(low ^ byte)).map_or(all, |of_byte| of_byte ^ (all >> 8))
}

/// What each byte makes of the checksum.
#[allow(clippy::indexing_slicing)] // in a constant, a wrong index doesn't compile
static TABLE: [u32; 256] = {
    const POLYNOMIAL: u32 = 0xEDB8_8320;
    let mut table = [0; 256];
    let mut index = 0;
    let mut byte: u32 = 0;
    while index < table.len() {
        let mut value = byte;
        let mut bit = 0;
        while bit < 8 {
            value = if value & 1 == 1 { POLYNOMIAL ^ (value >> 1) } else { value >> 1 };
            bit += 1;
        }
        table[index] = value;
        index += 1;
        byte += 1;
    }
    table
};

/// Find the results that have their signs still; the references of the calls that do.
///
/// A call that had no result then, or an empty one, is known by itself.
pub(crate) fn recognize<'a, 'p, V: Value<'a>>(
    blocks: &mut [Block<'a, V>],
    previous: &'p Previous,
) -> AHashSet<&'p str> {
    let mut calls = AHashSet::new();
    if previous.signs.is_empty() {
        return calls;
    }
    for block in blocks {
        let Some((reference, sign)) = previous.signs.get_key_value(&*block.reference) else { continue };
        if sign.call != call_sign(&block.entry) {
            continue;
        }
        calls.insert(reference.as_str());
        block.is_known = sign.size == 0 || (sign.size == block.size && sign.ends == ends_of(&block.text));
    }
    calls
}

/// The signs of what is decided about, and of the calls that supersede.
pub(crate) fn signs_of<'a, V: Value<'a>>(blocks: &[Block<'a, V>]) -> Vec<(Cow<'a, str>, Sign)> {
    let decided = blocks.iter().filter_map(|block| block.decision.as_ref());
    let superseding: AHashSet<&str> =
        decided.filter(|decision| decision.fate == Fate::Superseded).map(|decision| &*decision.by).collect();
    let mut signs = Vec::new();
    for block in blocks {
        let call = || call_sign(&block.entry);
        let sign = if block.decision.is_some() || block.is_dropped {
            Sign { call: call(), size: block.size, ends: ends_of(&block.text) }
        } else if !superseding.is_empty() && superseding.contains(&*block.reference) {
            Sign { call: call(), ..Sign::default() }
        } else {
            continue;
        };
        signs.push((block.reference.clone(), sign));
    }
    signs
}

#[cfg(test)]
mod tests {
    use super::checksum;
    use crate::text::Text;

    #[test]
    fn the_checksum_is_that_of_zlib() {
        assert_eq!(checksum(Text::ascii("123456789"), 0), 0xCBF4_3926);
        assert_eq!(checksum(Text::ascii("56789"), checksum(Text::ascii("1234"), 0)), 0xCBF4_3926);
    }
}
