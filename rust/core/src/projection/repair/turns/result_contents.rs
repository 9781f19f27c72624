//! The contents of results: texts without a word, failures without content, and media in failures are refused.

use crate::json::value::{Value, names};
use crate::projection::edits::{Changed, Draft, DraftList, Edit, Parts, Path};
use crate::projection::repair::message_parts::{is_blank, kind_of, part_at, parts_of, value_of};
use crate::projection::repair::state::Repair;
use crate::text::Text;
use crate::text::constants::{FAILED, NO_OUTPUT};

/// Correct the content of a result. Return the parts that may not be inside of it, and have to follow all results.
pub(super) fn clean_result<'a, V: Value<'a>>(repair: &mut Repair<'_, 'a, '_, V>, path: Path) -> Vec<Draft<'a, V>> {
    let owner = repair.pairs.owner(path);
    let call_id = repair.call_id(owner);
    let Repair { edited, destination, mends, .. } = repair;
    if !destination.rules.refuses_blank || edited.is_gone(path) {
        return Vec::new();
    }
    let holder = part_at(edited, path).and_then(|part| destination.result_id.id_holder(part));
    let Some(result) = holder else { return Vec::new() };
    let content = result.get(names::CONTENT);
    let Some(given) = parts_of(edited, path, (names::CONTENT, content)) else { return Vec::new() };
    let (is_failure, count) = (destination.is_failure(result), given.len());
    let (mut inside, mut outside) = (Vec::with_capacity(count), Vec::new());
    for item in given {
        let part = value_of(&item);
        if is_failure && destination.rules.fails_in_words && is_no_text(kind_of(&item).text()) {
            outside.push(item);
        } else if !part.is_some_and(|part| is_blank(destination, part)) {
            inside.push(item);
        }
    }
    let position = Some(path.position());
    if inside.len() + outside.len() < count {
        mends.add("empty_text", position, Text::ascii(""));
    }
    if !outside.is_empty() {
        mends.add("moved_media", position, call_id);
    }
    if inside.is_empty() && (is_failure || destination.rules.refuses_empty) {
        let (kind, text) = if is_failure { ("empty_failure", FAILED) } else { ("empty_result", NO_OUTPUT) };
        mends.add(kind, position, call_id);
        let block = owner.and_then(|owner| edited.blocks.get(owner));
        mends.texts.extend(block.map(|block| (block.entry.order, text)));
        inside.push(Draft::NewValue(destination.text(Text::ascii(text))));
    } else if inside.len() == count {
        return outside; // nothing was left out
    }
    let of = content.and_then(Value::list).map(|list| (DraftList::Inner, list));
    let members = vec![(names::CONTENT, Some(Edit::Parts(Parts { of, items: inside })))];
    let members = match destination.result_id.holders.first() {
        None => members,
        Some(holder) => vec![(*holder, Some(Edit::Changed(Changed { path: None, of: Some(result), members })))],
    };
    edited.edit(path, members);
    outside
}

/// Return true if a part has this type, and it is not that of a text.
fn is_no_text(kind: Text<'_>) -> bool {
    !kind.is_empty() && !kind.is("text")
}
