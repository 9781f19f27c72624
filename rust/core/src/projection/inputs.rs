//! The arguments of old calls that hold nothing new: a marker may take their place.
//!
//! Their texts are in a later result, were written again, were replaced, or failed. Only texts are replaced, and only
//! those under the names of `_data/tool_arguments.json`, so that a call keeps its target, its members and their types. The
//! reference in the marker is that of the call's result and the name of the argument: `t1;content`.

use ahash::AHashSet;

use super::arguments::{Arguments, Input};
use super::blocks::Block;
use super::marker::{ARGUMENT, is_marker, may_hold_marker};
use super::policy::{ClearInputs, Previous, Settings};
use super::result_slot::Paths;
use crate::content::{Content, result_text};
use crate::dedupe::likeness::may_be_message;
use crate::dedupe::line_ranges::{DEFAULT_READ, line_range};
use crate::dedupe::writes_whole_file;
use crate::json::value::{Key, Value, names, text_or_empty};
use crate::pairing::argument_names::{
    ARGUMENT_MEMBERS, CALL_HOLDERS, CALL_TYPES, DIFF_KEYS, NEW_KEYS, OLD_KEYS, SOURCE_KEY, WHOLE_FILE_KEYS,
};
use crate::pairing::block::{Entry, Kind};
use crate::text::Text;
use crate::text::piece::Piece;

/// The last turns, whose arguments the model may still work with.
pub(crate) const KEPT_TURNS: usize = 3;

/// Return true if arguments may be replaced, or were.
pub(crate) fn are_wanted(settings: &Settings<'_>, previous: Option<&Previous>) -> bool {
    match settings.clear_inputs {
        ClearInputs::Always => true,
        ClearInputs::IfOver if settings.max_request_tokens.is_some() => true,
        _ => previous.is_some_and(|previous| previous.made.keys().any(|reference| reference.contains(ARGUMENT))),
    }
}

/// Find the arguments of each call that may be replaced.
pub(crate) fn read_inputs<'a, V: Value<'a>>(blocks: &mut [Block<'a, V>], messages: &[V], settings: &Settings<'_>) {
    let mut paths = Paths::new(messages);
    let mut later = Later::default();
    for block in blocks.iter_mut().rev() {
        let entry = &block.entry;
        let (reason, is_whole_call) = later.judge(entry);
        if entry.call.is_none() || entry.kind != Kind::Edit {
            continue;
        }
        let is_asked =
            settings.input_tools.is_none_or(|tools| tools.is_first(entry.tool_name, entry.server, entry.given));
        read(block, &mut paths, reason.filter(|_| is_asked), is_whole_call);
    }
}

/// The files that later calls read, or wrote as a whole, by scope, branch and key.
#[derive(Default)]
struct Later<'a> {
    read: AHashSet<(Text<'a>, bool, Piece<'a>)>,
    written: AHashSet<(Text<'a>, bool, Piece<'a>)>,
}

impl<'a> Later<'a> {
    /// Return why arguments of a call may be replaced, and true if all may; otherwise only the old text of an edit may.
    /// The calls come newest first.
    fn judge<V: Value<'a>>(&mut self, entry: &Entry<'a, V>) -> (Option<&'static str>, bool) {
        if entry.call.is_none() || entry.result.is_none() || !matches!(entry.kind, Kind::Read | Kind::Edit) {
            return (None, false);
        }
        if entry.is_failure() {
            return (Some("failed_input"), true);
        }
        let is_shortened = may_hold_marker(&result_text(entry.content));
        if entry.is_doubtful() || is_shortened || (entry.kind == Kind::Read && may_be_message(entry)) {
            return (None, false);
        }
        let file = entry.key.clone().map(|key| (entry.scope, entry.is_active, key));
        if entry.kind == Kind::Read {
            if entry.given.is_some_and(reads_whole_file) {
                self.read.extend(file);
            }
            return (None, false);
        }
        let is_whole = entry.given.is_some_and(writes_whole_file);
        let is_in = |files: &AHashSet<_>| file.as_ref().is_some_and(|file| files.contains(file));
        let (is_written, is_read) = (is_in(&self.written), is_in(&self.read));
        if is_whole {
            self.written.extend(file);
        }
        match () {
            () if is_written => (Some("later_write"), true),
            () if is_whole && is_read => (Some("read_again"), true),
            () => (Some("applied_edit"), false),
        }
    }
}

/// Return true for a read without a range, or with one that holds as much.
fn reads_whole_file<'a, V: Value<'a>>(given: V) -> bool {
    let lines = line_range(given).unwrap_or(DEFAULT_READ);
    lines.first <= DEFAULT_READ.first && lines.last >= DEFAULT_READ.last
}

/// Set the arguments of a call that may be replaced, unless they have no place of their own.
fn read<'a, V: Value<'a>>(
    block: &mut Block<'a, V>,
    paths: &mut Paths<'_, V>,
    reason: Option<&'static str>,
    is_whole_call: bool,
) {
    let entry = &block.entry;
    let (Some(call), Some(arguments), Some(given)) = (entry.call, entry.arguments, entry.given) else { return };
    let lists = [WHOLE_FILE_KEYS, &[SOURCE_KEY], OLD_KEYS, NEW_KEYS, DIFF_KEYS];
    let mut found = Vec::new();
    for key in lists.into_iter().flatten() {
        let Some(text) = given.get(*key).filter(|text| text.text_len().is_some()) else { continue };
        if !is_marker(&Content::Value(text)) {
            let reason = reason.filter(|_| is_whole_call || OLD_KEYS.contains(key));
            found.push(Input::new(*key, text, reason, (&block.reference, block.named_reference())));
        }
    }
    if found.is_empty() || has_surrogates(arguments) {
        return;
    }
    let (path, place) = (paths.only(entry.position, call), place_of(call, arguments));
    if let (Some(path), Some((holder, key))) = (path, place) {
        (block.inputs, block.arguments) = (found, Some(Arguments { path, holder, key, value: arguments }));
    }
}

/// Return true for JSON text that no bytes can hold.
fn has_surrogates<'a, V: Value<'a>>(arguments: V) -> bool {
    let is_one = |text: Text<'_>, index| text.get(index).is_some_and(|unit| char::from_u32(unit).is_none());
    arguments.text().is_some_and(|text| (0..text.len()).any(|index| is_one(text, index)))
}

/// The place of a call's arguments: the member that holds them, if the call itself does not, and their name.
type InputPlace<V> = (Option<(Key<'static>, V)>, Key<'static>);

/// Return the place of a call's arguments; `None` for a call of the provider's own tools.
fn place_of<'a, V: Value<'a>>(call: V, arguments: V) -> Option<InputPlace<V>> {
    if let Some(kind) = call.get(names::TYPE) {
        let kind = text_or_empty(Some(kind));
        if !kind.is_empty() && !CALL_TYPES.iter().any(|own| kind.is(own)) {
            return None;
        }
    }
    let held = CALL_HOLDERS.iter().filter_map(|holder| Some((*holder, call.get(*holder)?.object()?)));
    let mut places = std::iter::once(None).chain(held.map(Some));
    places.find_map(|holder| {
        let held = holder.map_or(call, |(_, held)| held);
        let is_own = |key: &&Key<'static>| held.get(**key).is_some_and(|own| own.identity() == arguments.identity());
        ARGUMENT_MEMBERS.iter().find(is_own).map(|key| (holder, *key))
    })
}
