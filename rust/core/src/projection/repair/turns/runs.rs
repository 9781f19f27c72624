//! The turns of a conversation, and the paths of the parts in them.

use std::ops::Range;

use crate::json::value::{Value, names, text_or_empty};
use crate::projection::edits::{PartsKey, Path};
use crate::projection::repair::destinations::Destination;
use crate::projection::repair::message_parts::{Side, is_blank, is_models, is_text, part_at};
use crate::projection::repair::state::Repair;
use crate::projection::request::EditedMessages;

/// Consecutive messages of one side. Messages between them may be left out.
pub(super) struct Run {
    pub(super) side: Side,
    pub(super) positions: Range<usize>,
}

/// Split the messages into turns. If the model speaks again after its calls, that begins a new turn. Messages that a
/// repair leaves alone are runs of their own.
pub(super) fn runs_of<'a, V: Value<'a>>(repair: &Repair<'_, 'a, '_, V>) -> Vec<Run> {
    let Repair { edited, destination, pairs, .. } = repair;
    let mut runs: Vec<Run> = Vec::new();
    let mut is_after_calls = false;
    for (position, message) in edited.messages.iter().enumerate() {
        if edited.is_gone(Path::Message(position)) {
            continue;
        }
        let paths = || paths_of(edited, position, destination.key);
        let has_calls = paths().any(|path| pairs.call_at(path).is_some());
        let is_guarded = edited.guard.contains(&position);
        let side = if is_guarded {
            Side::Other
        } else if has_calls {
            Side::Model // whatever its role
        } else if edited.users.contains(&position) {
            Side::User
        } else {
            side_of(*message, destination)
        };
        let begins_with_call = pairs.call_at(Path::Part(position, destination.key, 0)).is_some();
        let speaks_again = || !begins_with_call || has_text_after_calls(repair, paths());
        let is_new_turn = side == Side::Model && is_after_calls && speaks_again();
        is_after_calls = has_calls;
        let goes_on = |run: &Run| {
            let is_alike = edited.guard.contains(&run.positions.start) == is_guarded;
            run.side == side && is_alike && !is_new_turn
        };
        match runs.last_mut() {
            Some(run) if goes_on(run) => run.positions.end = position + 1,
            _ => runs.push(Run { side, positions: position..position + 1 }),
        }
    }
    runs
}

/// Return the side of a message without calls.
fn side_of<'a, V: Value<'a>>(message: V, destination: &Destination) -> Side {
    let role = text_or_empty(message.get(names::ROLE));
    if is_models(message) {
        Side::Model
    } else if destination.answering.iter().any(|own| role.is(own)) {
        Side::User
    } else {
        Side::Other
    }
}

/// Return the paths of the parts of a message.
pub(super) fn paths_of<'a, V: Value<'a>>(
    edited: &EditedMessages<'a, '_, V>,
    position: usize,
    key: PartsKey,
) -> impl Iterator<Item = Path> + use<V> {
    let count = edited.list(position, key).map_or(0, Value::count);
    (0..count).map(move |index| Path::Part(position, key, index))
}

/// Return true if a text follows the last call, or a server tool result follows any call, and the provider refuses that.
pub(super) fn has_text_after_calls<'a, V: Value<'a>>(
    repair: &Repair<'_, 'a, '_, V>,
    paths: impl Iterator<Item = Path>,
) -> bool {
    let Repair { edited, destination, pairs, .. } = repair;
    if !destination.rules.ends_in_calls {
        return false;
    }
    let (mut is_after_call, mut has_text) = (false, false);
    for path in paths {
        if pairs.call_at(path).is_some() {
            (is_after_call, has_text) = (true, false);
            continue;
        }
        if !is_after_call {
            continue;
        }
        let Some(part) = part_at(edited, path) else { continue };
        if text_or_empty(part.get(names::TYPE)).ends_with("_tool_result") {
            return true;
        }
        has_text |= edited.is_text_now(path) || (is_text(part) && !is_blank(destination, part));
    }
    has_text
}
