//! The fingerprint of a result, which shows in a later request if a reference still belongs to the same result.
//!
//! If ids repeat or are missing, references are numbered by occurrence. As soon as a client drops its first turns, they
//! name other calls. A fingerprint is cheap: it is computed only for results with a decision, from the tool, the length
//! and a few characters at both ends of the texts. So two results of the same tool and length that differ only in the
//! middle are taken for the same, if their calls also differ only in the middle.

use std::borrow::Cow;

use ahash::AHashSet;
use crc32fast::Hasher;

use super::arguments::Input;
use super::blocks::Block;
use super::marker::{marker_of, stem_of_reference};
use super::policy::{Decision, DecisionKind, Previous, Sign};
use crate::content::Content;
use crate::json::value::Value;
use crate::pairing::block::Entry;
use crate::text::graphemes::CodePoint;
use crate::text::piece::Piece;
use crate::text::{Text, on_units};

/// The number of characters used from each end.
const END: usize = 32;

/// Return the fingerprint of a call: its tool, and the file, command or other value that distinguishes its calls.
fn call_sign<V>(entry: &Entry<'_, V>) -> u32 {
    let value = entry.value.as_ref().map_or(Text::ascii(""), Piece::text);
    [entry.tool_name, value].into_iter().fold(0, |start, text| {
        let size = text.len();
        checksum(text.slice(size.saturating_sub(END), size), checksum(text.slice(0, END), start))
    })
}

/// Return the fingerprints of the calls with a place among the calls: how many of the same follow, and which call then.
///
/// If calls have the same id, or none, the call after a dropped turn takes over the reference of that turn when a client
/// keeps the projected request. Even if it is the same call, it has another place.
fn placed_signs<V>(blocks: &[Block<'_, V>]) -> Vec<u32> {
    let mut signs = vec![0; blocks.len()];
    let (mut before, mut other, mut count) = (0, 0, 0);
    for (block, place) in blocks.iter().zip(&mut signs).rev() {
        let own = call_sign(&block.entry);
        (other, count) = if own == before { (other, count + 1) } else { (before, 0) };
        before = own;
        // Not a checksum of checksums, in which the differences of two calls that follow each other cancel out.
        *place = [other, count].into_iter().fold(own, |sum: u32, part| sum.wrapping_mul(31).wrapping_add(part));
    }
    signs
}

/// Return the references of dropped calls that other calls may take over.
fn loose_references<'b, V>(blocks: &'b [Block<'_, V>]) -> AHashSet<&'b str> {
    let references = || blocks.iter().map(|block| &*block.reference);
    let stems: AHashSet<&str> = references().filter(|name| name.contains('#')).map(stem_of_reference).collect();
    let dropped = blocks.iter().filter(|block| block.is_dropped).map(|block| &*block.reference);
    dropped.filter(|name| stems.contains(stem_of_reference(name))).collect()
}

/// Return the checksum of both ends of a result.
fn ends_of<'a, V: Value<'a>>(text: &Content<'a, V>) -> u32 {
    let last = text.end(END); // at least that many
    let size = last.len();
    checksum(last.text().slice(size.saturating_sub(END), size), checksum(text.start(END).text(), 0))
}

/// Return the CRC-32 of a text, in UTF-32 if it is not ASCII.
fn checksum(text: Text<'_>, start: u32) -> u32 {
    let mut hasher = Hasher::new_with_initial(start);
    match text {
        Text::Latin1(units) if units.is_ascii() => hasher.update(units),
        _ => on_units!(text, units => {
            let is_ascii = units.iter().all(|unit| unit.code_point() < 0x80);
            let size = if is_ascii { 1 } else { 4 };
            for unit in units {
                hasher.update(unit.code_point().to_le_bytes().get(..size).unwrap_or_default());
            }
        }),
    }
    hasher.finalize()
}

/// Mark the blocks whose result is still the same. Return the references of the calls that are the same, and the number
/// of messages before the first one that differs.
///
/// A call that had no result, or an empty one, is recognised by the call alone. From the first message that differs, a
/// prompt cache holds nothing.
pub(crate) fn recognize<'a, 'p, V: Value<'a>>(
    blocks: &mut [Block<'a, V>],
    previous: &'p Previous,
) -> (AHashSet<&'p str>, usize) {
    let mut calls = AHashSet::new();
    let mut standing = previous.messages;
    if previous.signs.is_empty() {
        return (calls, standing);
    }
    let placed = if previous.dropped.is_empty() { Vec::new() } else { placed_signs(blocks) };
    for (number, block) in blocks.iter_mut().enumerate() {
        let call = if block.inputs.is_empty() { 0 } else { call_sign(&block.entry) };
        for each in &mut block.inputs {
            let sign = previous.signs.get(&each.reference);
            each.is_known = sign.is_some_and(|sign| *sign == input_sign(call, each));
            if sign.is_some() && !each.is_known {
                standing = standing.min(block.entry.position);
            }
        }
        let Some((reference, sign)) = previous.signs.get_key_value(&*block.reference) else { continue };
        let is_dropped = previous.dropped.contains(&*block.reference);
        let is_placed = is_dropped && placed.get(number) == Some(&sign.call);
        if sign.call != call_sign(&block.entry) && !is_placed {
            standing = standing.min(block.entry.position);
            continue;
        }
        calls.insert(reference.as_str());
        let may_have_grown = sign.size == 0 && !is_placed;
        block.is_known = may_have_grown || (sign.size == block.size && sign.ends == ends_of(&block.text));
        if !block.is_known && !matches_decision(block, previous.made.get(reference), sign.size) {
            standing = standing.min(block.entry.result_position);
        }
    }
    (calls, standing)
}

/// Return true if a result is already the replacement that a decision made from a result of `size` characters, because
/// a client may keep the projected request.
fn matches_decision<'a, V: Value<'a>>(block: &Block<'a, V>, decision: Option<&Decision<'_>>, size: usize) -> bool {
    let Some(decision) = decision.filter(|_| !block.is_fixed()) else { return block.is_fixed() };
    let kept = match decision.fate {
        DecisionKind::Terminal => return block.size == decision.tail,
        DecisionKind::Cut => {
            let ends = [decision.head, size.saturating_sub(decision.tail)];
            ends.into_iter().filter(|count| *count > 0).map(|count| count + 1).sum()
        }
        DecisionKind::Shortened => decision.tail,
        _ => 0,
    };
    block.size == marker_of(decision, size, block.named_reference()).as_text().len() + kept
}

/// Return the fingerprint of an argument.
fn input_sign<'a, V: Value<'a>>(call: u32, each: &Input<'a, V>) -> Sign {
    Sign { call, size: each.text.len(), ends: ends_of(&each.text) }
}

/// Return the fingerprints of the results with a decision, and of the calls that supersede others.
pub(crate) fn signs_of<'a, V: Value<'a>>(blocks: &[Block<'a, V>]) -> Vec<(Cow<'a, str>, Sign)> {
    let decided = blocks.iter().filter_map(|block| block.decision.as_ref());
    let superseding: AHashSet<&str> =
        decided.filter(|decision| decision.fate == DecisionKind::Superseded).map(|decision| &*decision.by).collect();
    let mut signs = Vec::new();
    let loose = loose_references(blocks);
    let placed = if loose.is_empty() { Vec::new() } else { placed_signs(blocks) };
    for (number, block) in blocks.iter().enumerate() {
        let is_loose = || block.is_dropped && loose.contains(&*block.reference);
        let place = placed.get(number).filter(|_| is_loose());
        let call = || place.copied().unwrap_or_else(|| call_sign(&block.entry));
        if block.decision.is_some() || block.is_dropped {
            let sign = Sign { call: call(), size: block.size, ends: ends_of(&block.text) };
            signs.push((block.reference.clone(), sign));
        } else if !superseding.is_empty() && superseding.contains(&*block.reference) {
            signs.push((block.reference.clone(), Sign { call: call(), ..Sign::default() }));
        }
        let cleared = block.cleared();
        signs.extend(cleared.iter().map(|each| (Cow::Owned(each.reference.clone()), input_sign(call(), each))));
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
