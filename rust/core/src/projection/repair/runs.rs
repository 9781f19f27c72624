//! Who speaks in turn: messages of one side that follow one another, and where the model's turns end behind their calls.
//! The twin is `_pure/project/mend/runs.py`.

use std::ops::Range;

use super::message_parts::{Side, is_blank, is_models, part_at};
use super::providers::Dialect;
use super::state::Repair;
use crate::json::value::{Value, names, text_or_empty};
use crate::projection::edits::{PartsKey, Path};
use crate::projection::request::Material;

/// Messages of one side that follow one another; between them there may be some that are left out.
pub(crate) struct Run {
    pub(crate) side: Side,
    pub(crate) positions: Range<usize>,
}

/// The turns; what the model says behind its calls is one of its own. A message with calls is the model's, whatever its
/// role.
pub(crate) fn runs_of<'a, V: Value<'a>>(repair: &Repair<'_, 'a, '_, V>) -> Vec<Run> {
    let (dialect, pairs) = (repair.dialect, repair.pairs);
    let mut runs: Vec<Run> = Vec::new();
    let mut is_behind_calls = false;
    for (position, message) in repair.material.messages.iter().enumerate() {
        if repair.material.is_gone(Path::Message(position)) {
            continue;
        }
        let paths = || paths_of(repair.material, position, dialect.key);
        let has_calls = paths().any(|path| pairs.call_at(path).is_some());
        let side = if has_calls { Side::Model } else { side_of(*message, dialect) };
        let first = Path::Part(position, dialect.key, 0);
        let starts = || pairs.call_at(first).is_none() || speaks_last(repair, paths());
        let is_next = side == Side::Model && is_behind_calls && starts();
        is_behind_calls = has_calls;
        match runs.last_mut().filter(|run| run.side == side && !is_next) {
            Some(run) => run.positions.end = position + 1,
            None => runs.push(Run { side, positions: position..position + 1 }),
        }
    }
    runs
}

/// Who says a message without calls.
fn side_of<'a, V: Value<'a>>(message: V, dialect: &Dialect) -> Side {
    let role = text_or_empty(message.get(names::ROLE));
    if is_models(message) {
        Side::Model
    } else if dialect.answering.iter().any(|own| role.is(own)) {
        Side::User
    } else {
        Side::Other
    }
}

/// The parts of a message.
pub(crate) fn paths_of<'a, V: Value<'a>>(
    material: &Material<'a, '_, V>,
    position: usize,
    key: PartsKey,
) -> impl Iterator<Item = Path> + use<V> {
    let count = material.list(position, key).map_or(0, Value::count);
    (0..count).map(move |index| Path::Part(position, key, index))
}

/// Whether a text stands behind the calls, or an answer of the provider's own behind one: some providers refuse it.
pub(crate) fn speaks_last<'a, V: Value<'a>>(repair: &Repair<'_, 'a, '_, V>, paths: impl Iterator<Item = Path>) -> bool {
    let Repair { material, dialect, pairs, .. } = repair;
    let (mut is_behind, mut has_text) = (false, false);
    for path in paths.take_while(|_| dialect.ends_in_calls) {
        let part = part_at(material, path);
        let kind = text_or_empty(part.and_then(|part| part.get(names::TYPE)));
        if pairs.call_at(path).is_some() {
            (is_behind, has_text) = (true, false);
        } else if is_behind && kind.ends_with("_tool_result") {
            return true;
        }
        has_text |= is_behind && kind.is("text") && !part.is_some_and(|part| is_blank(dialect, part));
    }
    has_text
}
