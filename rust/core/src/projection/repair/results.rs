//! What a provider refuses within a result: texts without a word, failures that say nothing, what they show, and calls.
//! The twin is `_pure/project/mend/results.py`.

use super::message_parts::{is_blank, part_at};
use super::state::Repair;
use crate::content::has_no_word;
use crate::json::value::{Value, items, names, text_or_empty};
use crate::projection::edits::{Changed, Draft, Edit, Home, Parts, Path};
use crate::projection::request::Material;
use crate::text::Text;
use crate::text::constants::FAILED;

/// Let a result hold what its provider takes there; what has to stand behind the results instead.
pub(crate) fn clean_result<'a, V: Value<'a>>(repair: &mut Repair<'_, 'a, '_, V>, path: Path) -> Vec<Draft<'a, V>> {
    let call_id = repair.call_id(repair.pairs.owner(path));
    let Repair { material, dialect, mends, .. } = repair;
    let part = part_at(material, path).filter(|_| dialect.refuses_blank && !material.is_gone(path));
    let Some(held) = part.and_then(|part| dialect.result_id.held(part)) else { return Vec::new() };
    let content = held.get(names::CONTENT);
    let Some(given) = parts_of(material, path, content) else { return Vec::new() };
    let (is_failure, count) = (dialect.is_failure(held), given.len());
    let (mut stay, mut beside) = (Vec::with_capacity(count), Vec::new());
    for item in given {
        let own = value_of(&item);
        if is_failure && dialect.fails_in_words && own.is_some_and(is_shown) {
            beside.push(item);
        } else if !own.is_some_and(|part| is_blank(dialect, part)) {
            stay.push(item);
        }
    }
    let position = Some(path.position());
    if stay.len() + beside.len() < count {
        mends.add("empty_text", position, Text::ascii(""));
    }
    if !beside.is_empty() {
        mends.add("moved_media", position, call_id);
    }
    if is_failure && stay.is_empty() {
        mends.add("empty_failure", position, call_id);
        stay.push(Draft::Made(dialect.text(Text::ascii(FAILED))));
    } else if stay.len() == count {
        return beside;
    }
    let of = content.and_then(Value::list).map(|list| (Home::Inner, list));
    let members = vec![(names::CONTENT, Some(Edit::Parts(Parts { of, items: stay })))];
    let members = match dialect.result_id.holders.first() {
        None => members,
        Some(holder) => vec![(*holder, Some(Edit::Changed(Changed { path: None, of: Some(held), members })))],
    };
    material.edit(path, members);
    beside
}

/// Let a part that is a call be no result as well.
pub(crate) fn part_calls<'a, V: Value<'a>>(repair: &mut Repair<'_, 'a, '_, V>) {
    let (pairs, dialect) = (repair.pairs, repair.dialect);
    for (path, number) in pairs.calls().filter(|_| dialect.may_be_both()) {
        if part_at(repair.material, path).is_some_and(|part| dialect.is_result(part)) {
            repair.material.edit(path, dialect.result_id.holders.iter().map(|holder| (*holder, None)).collect());
            let call_id = repair.call_id(Some(number));
            repair.mends.add("orphan_result", Some(path.position()), call_id);
        }
    }
}

/// The parts of a result, as far as they stay; none where it has no content, and `None` where that is something else.
fn parts_of<'a, V: Value<'a>>(
    material: &Material<'a, '_, V>,
    path: Path,
    content: Option<V>,
) -> Option<Vec<Draft<'a, V>>> {
    match material.new_content(path) {
        Some(Edit::Parts(parts)) => return Some(parts.items.clone()),
        Some(_) => return None,
        None => {}
    }
    let Some(content) = content.filter(|content| !has_no_word(*content)) else {
        return Some(Vec::new());
    };
    let parts = items(content.list()?).enumerate();
    Some(parts.map(|(index, part)| Draft::Kept(Path::Inner(index), part)).collect())
}

/// A part that stays as it is, where it is an object.
fn value_of<'a, V: Value<'a>>(item: &Draft<'a, V>) -> Option<V> {
    match item {
        Draft::Kept(_, part) => part.object(),
        _ => None,
    }
}

/// Whether a part is of a kind that is no text.
fn is_shown<'a, V: Value<'a>>(part: V) -> bool {
    let kind = text_or_empty(part.get(names::TYPE));
    !kind.is_empty() && !kind.is("text")
}
