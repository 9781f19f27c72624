//! The calls that the client answers, each with the result that the provider accepts for it.

use ahash::{AHashMap, AHashSet};

use super::destinations::{Destination, Form};
use crate::formats::{FOUND_TOOLS, SEARCHING_CALL, read_call, read_result};
use crate::json::value::{Key, Value, items, names, text_or_empty};
use crate::projection::blocks::Block;
use crate::projection::edits::{PartsKey, Path};
use crate::projection::request::{EditedMessages, is_guarded};
use crate::projection::result_slot::Paths;
use crate::text::Text;
use crate::text::piece::Piece;

/// The suffix of a result's type, after the type of its call.
const OUTPUT: &str = "_output";
const EXECUTION: Key<'static> = Key::new("execution");

/// Calls and results by their paths, in order. Blocks are named by their number.
#[derive(Debug, Default)]
pub(crate) struct Pairs<'a> {
    calls: Vec<(Path, usize)>,
    places: AHashMap<Path, usize>,
    /// The paths of results, in the order of the blocks.
    pub(crate) results: Vec<Path>,
    owners: AHashMap<Path, usize>,
    by_block: AHashMap<usize, Path>,
    /// The tool names of calls that are both in the content and in `tool_calls`, taken from the copy that stays.
    names: AHashMap<usize, Piece<'a>>,
    /// The paths of results for calls that the client does not answer. They stay.
    others: AHashSet<Path>,
    /// The paths of results for calls of the client whose type can't answer them.
    strays: AHashSet<Path>,
    /// The ids of the calls that the client does not answer.
    pub(crate) foreign_ids: AHashSet<Text<'a>>,
    /// True if a tool search that the client should make has no result yet.
    pub(crate) is_searching: bool,
    /// The positions of Chat messages with a call in the content that is not in `tool_calls`.
    pub(crate) lone: AHashSet<usize>,
    /// The blocks of server tools without a call or without a result, if results are parts of turns, with the path of
    /// the other part.
    pub(crate) alone: Vec<(usize, Option<Path>)>,
    /// The ids of results without a call.
    pub(crate) orphan_ids: AHashSet<Text<'a>>,
    /// The ids of the calls.
    pub(crate) ids: AHashSet<Text<'a>>,
}

/// Return true if a result may answer a call that the client does not answer. A client result can't, except an item
/// with an id, because among items the client also answers other calls.
fn may_answer<'a, V: Value<'a>>(result: Option<V>, destination: &Destination) -> bool {
    let Some(result) = result.filter(|result| destination.is_result(*result)) else { return true };
    destination.form == Form::Items && !read_result(result).call_id.is_empty()
}

/// Return true if a call is a tool search that the client should make and has not answered.
fn is_open_search<'a, V: Value<'a>>(block: &Block<'a, V>) -> bool {
    let says = |wire: Option<V>, key, text| text_or_empty(wire.and_then(|wire| wire.get(key))).is(text);
    let (call, result) = (block.entry.call, block.entry.result);
    let is_clients = || says(call, EXECUTION, "client") && !block.is_dropped;
    says(call, names::TYPE, SEARCHING_CALL) && is_clients() && !says(result, names::TYPE, FOUND_TOOLS)
}

/// Return the calls that are both in the content and in `tool_calls`, as pairs of indices in the order of the content.
///
/// The copies have the same id. Calls without an id are matched in order, because their results could belong to either.
pub(super) fn duplicate_calls<'a, V: Value<'a>>(message: V) -> Vec<(usize, usize)> {
    let list = |key| message.get(key).and_then(Value::list);
    let (Some(calls), Some(content)) = (list(names::TOOL_CALLS), list(names::CONTENT)) else { return Vec::new() };
    let mut places = AHashMap::new();
    let mut nameless = Vec::new();
    for (index, call) in items(calls).enumerate() {
        match id_of(call) {
            id if !id.is_empty() => _ = places.insert(id, index),
            _ => nameless.push(index),
        }
    }
    let mut nameless = nameless.iter().copied().peekable();
    let mut place_of = |part: V| {
        let id = id_of(part);
        if let Some(index) = places.get(&id) {
            return Some(*index);
        }
        let is_nameless = id.is_empty() && text_or_empty(part.object()?.get(names::TYPE)).is("tool_use");
        let index = *nameless.peek().filter(|_| is_nameless)?;
        if nameless.len() > 1 {
            nameless.next();
        }
        Some(index)
    };
    items(content).enumerate().filter_map(|(index, part)| Some((index, place_of(part)?))).collect()
}

/// Return the id of a call; empty if it has none.
pub(super) fn id_of<'a, V: Value<'a>>(call: V) -> Text<'a> {
    text_or_empty(call.object().and_then(|call| call.get(names::ID)))
}

/// The calls that are given twice, by the position of their message; filled on demand.
#[derive(Default)]
struct Doubles(AHashMap<usize, Vec<(usize, usize)>>);

impl Doubles {
    /// Find the copy in `tool_calls` of a call in the content. Return its path and its tool name.
    fn find<'a, V: Value<'a>>(&mut self, messages: &[V], position: usize, index: usize) -> Option<(Path, Text<'a>)> {
        let message = *messages.get(position)?;
        let places = self.0.entry(position).or_insert_with(|| duplicate_calls(message));
        let (_, place) = places.get(places.binary_search_by_key(&index, |(index, _)| *index).ok()?)?;
        let call = message.get(names::TOOL_CALLS)?.list()?.item(*place)?;
        let name = call.object().map_or(Text::ascii(""), |call| read_call(call).name);
        Some((Path::Part(position, PartsKey::ToolCalls, *place), name))
    }
}

impl<'a> Pairs<'a> {
    pub(crate) fn new<V: Value<'a>>(edited: &EditedMessages<'a, '_, V>, destination: &Destination) -> Self {
        let (messages, blocks) = (edited.messages, edited.blocks);
        let mut pairs = Self::with_room(blocks.len());
        let mut doubles = Doubles::default();
        let mut paths = Paths::new(messages);
        for (number, block) in blocks.iter().enumerate() {
            let entry = &block.entry;
            if is_guarded(block, edited.guard) {
                pairs.foreign_ids.insert(entry.call_id);
                pairs.others.extend(block.result_path);
                continue;
            }
            let Some(call) = entry.call else {
                pairs.orphan_ids.insert(entry.call_id);
                let is_own = entry.result.is_some_and(|result| !destination.is_result(result));
                let is_alone = destination.form == Form::Turns && is_own;
                pairs.alone.extend(is_alone.then_some((number, block.result_path)));
                continue;
            };
            let found = paths.next_of(entry.position, call);
            let path = match found {
                path if destination.form != Form::Chat => path,
                Some(Path::Part(position, PartsKey::Content, index)) => {
                    let found = doubles.find(messages, position, index);
                    pairs.names.extend(found.map(|(_, name)| (number, Piece::Borrowed(name))));
                    found.map(|(path, _)| path)
                }
                path => path.filter(|path| matches!(path, Path::Part(_, PartsKey::ToolCalls, _))),
            };
            let Some(path) = path.filter(|_| destination.is_call(call)) else {
                pairs.foreign_ids.insert(entry.call_id);
                pairs.is_searching |= destination.form == Form::Items && is_open_search(block);
                pairs.lone.extend((destination.form == Form::Chat).then_some(entry.position));
                match block.result_path.filter(|_| may_answer(entry.result, destination)) {
                    Some(path) => _ = pairs.others.insert(path),
                    None => pairs.alone.extend((destination.form == Form::Turns).then_some((number, found))),
                }
                continue;
            };
            if pairs.call_at(path).is_some_and(|known| pairs.result_of(known).is_some()) {
                // Two copies without an id are one call, and its first result counts.
                pairs.strays.extend(block.result_path);
                continue;
            }
            pairs.add_call(path, number);
            let (Some(result), Some(path)) = (entry.result, block.result_path) else { continue };
            if destination.can_be_call_and_result() && destination.is_call(result) {
                continue;
            }
            if !destination.is_result(result) && !is_old_answer(result, path, destination) {
                pairs.strays.insert(path);
                continue;
            }
            let kind = |wire: V| text_or_empty(wire.get(names::TYPE));
            if destination.form != Form::Items || is_of_kind(kind(call), kind(result)) {
                if pairs.owners.insert(path, number).is_none() {
                    pairs.results.push(path);
                }
                pairs.by_block.insert(number, path);
            }
        }
        let called = pairs.calls.iter().filter_map(|(_, number)| blocks.get(*number));
        pairs.ids.extend(called.map(|block| block.entry.call_id));
        pairs
    }

    /// Create empty pairs with room for a number of blocks.
    fn with_room(blocks: usize) -> Self {
        Self {
            calls: Vec::with_capacity(blocks),
            places: AHashMap::with_capacity(blocks),
            results: Vec::with_capacity(blocks),
            owners: AHashMap::with_capacity(blocks),
            by_block: AHashMap::with_capacity(blocks),
            ids: AHashSet::with_capacity(blocks),
            ..Self::default()
        }
    }

    fn add_call(&mut self, path: Path, number: usize) {
        let place = *self.places.entry(path).or_insert(self.calls.len());
        match self.calls.get_mut(place) {
            Some(known) => known.1 = number,
            None => self.calls.push((path, number)),
        }
    }

    /// Return the calls, in the order of the blocks.
    pub(crate) fn calls(&self) -> impl Iterator<Item = (Path, usize)> {
        self.calls.iter().copied()
    }

    /// Return the block whose call is at a path.
    pub(crate) fn call_at(&self, path: Path) -> Option<usize> {
        let place = self.places.get(&path)?;
        self.calls.get(*place).map(|(_, number)| *number)
    }

    /// Return the block whose result is at a path.
    pub(crate) fn owner(&self, path: Path) -> Option<usize> {
        self.owners.get(&path).copied()
    }

    /// Return true if the result at a path belongs to a call.
    pub(crate) fn has_result(&self, path: Path) -> bool {
        self.owners.contains_key(&path) || self.is_other(path)
    }

    /// Return true if the result at a path belongs to a call that the client does not answer.
    pub(crate) fn is_other(&self, path: Path) -> bool {
        self.others.contains(&path)
    }

    /// Return true if the result at a path names a call of the client, but its type can't answer it.
    pub(crate) fn is_stray(&self, path: Path) -> bool {
        self.strays.contains(&path)
    }

    /// Return true if there are such results.
    pub(crate) fn has_strays(&self) -> bool {
        !self.strays.is_empty()
    }

    /// Return true if a part of a model message is a result that names a call of the client, or no call.
    pub(crate) fn is_misplaced<V: Value<'a>>(&self, path: Path, part: V) -> bool {
        if !text_or_empty(part.get(names::TYPE)).ends_with("tool_result") || self.is_other(path) {
            return false;
        }
        let call_id = read_result(part).call_id;
        call_id.is_empty() || self.ids.contains(&call_id)
    }

    /// Return the tool name of a block's call. If the call was given twice, the copy that stays decides.
    pub(crate) fn name_of<V: Value<'a>>(&self, number: usize, block: &Block<'a, V>) -> Piece<'a> {
        self.names.get(&number).cloned().unwrap_or(Piece::Borrowed(block.entry.tool_name))
    }

    /// Give the tool of a block's call another name.
    pub(crate) fn rename(&mut self, number: usize, name: Piece<'a>) {
        self.names.insert(number, name);
    }

    /// Return the path of the result for a block's call.
    pub(crate) fn result_of(&self, number: usize) -> Option<Path> {
        self.by_block.get(&number).copied()
    }
}

/// Return true if a result is a Chat message with the role `function`, which predates `tool_calls`.
fn is_old_answer<'a, V: Value<'a>>(result: V, path: Path, destination: &Destination) -> bool {
    let is_message = destination.form == Form::Chat && matches!(path, Path::Message(_));
    is_message && text_or_empty(result.get(names::ROLE)).is("function")
}

/// Return true if a Responses result of one type answers calls of another.
fn is_of_kind(call: Text<'_>, result: Text<'_>) -> bool {
    let is_function = call.is("local_shell_call") && result.is("function_call_output");
    is_function || (result.ends_with(OUTPUT) && result.slice(0, result.len() - OUTPUT.len()) == call)
}
