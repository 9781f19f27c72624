//! The calls that the client answers, each with the result that the provider takes for it.

use ahash::{AHashMap, AHashSet};

use super::providers::{Dialect, Form};
use crate::formats::{read_call, read_result};
use crate::json::value::{Key, Value, items, names, text_or_empty};
use crate::projection::blocks::Block;
use crate::projection::edits::{PartsKey, Path};
use crate::projection::result_slot::Paths;
use crate::text::Text;

/// The end that the type of a result has after that of its call.
const OUTPUT: &str = "_output";
/// The call of Responses whose result is a list of tools: of one that a client did not make, none is made up, since an empty
/// one would be believed, too.
pub(super) const SEARCHED: &str = "tool_search_call";
/// Its result, which answers no other call.
pub(super) const FOUND: &str = "tool_search_output";
const EXECUTION: Key<'static> = Key::new("execution");

/// Calls and results by where they stand, in their order. Blocks are named by their number.
#[derive(Debug, Default)]
pub(crate) struct Pairs<'a> {
    calls: Vec<(Path, usize)>,
    places: AHashMap<Path, usize>,
    /// Where results stand, in the order of the blocks.
    pub(crate) results: Vec<Path>,
    owners: AHashMap<Path, usize>,
    by_block: AHashMap<usize, Path>,
    /// The tools of calls that are given in both ways, as those say that stay.
    names: AHashMap<usize, Text<'a>>,
    /// Where results stand of calls that the client does not answer: they stay.
    others: AHashSet<Path>,
    /// Where results stand of the client's calls that are of a kind which answers none of them.
    strays: AHashSet<Path>,
    /// The ids of the calls that the client does not answer.
    pub(crate) foreign_ids: AHashSet<Text<'a>>,
    /// True if a search that the client was to make has found nothing yet.
    pub(crate) is_searching: bool,
    /// The positions of messages of Chat's in whose content a call stands that is none of their calls.
    pub(crate) lone: AHashSet<usize>,
    /// The calls of the provider's own that it did not answer, where these stand in turns, and its answers without a call.
    pub(crate) alone: Vec<usize>,
    /// The ids of results without call.
    pub(crate) orphan_ids: AHashSet<Text<'a>>,
    /// The ids of the calls.
    pub(crate) ids: AHashSet<Text<'a>>,
}

/// Return whether the result of a call that the client does not answer is no stray one. It is one where it is of the
/// client's kind, but for an item that has an id: there, the client answers other calls, too.
fn may_answer<'a, V: Value<'a>>(result: Option<V>, dialect: &Dialect) -> bool {
    let Some(result) = result.filter(|result| dialect.is_result(*result)) else { return true };
    dialect.form == Form::Items && !read_result(result).call_id.is_empty()
}

/// Return whether a call is a search for tools that the client makes, and that it did not answer.
fn is_open_search<'a, V: Value<'a>>(block: &Block<'a, V>) -> bool {
    let says = |wire: Option<V>, key, text| text_or_empty(wire.and_then(|wire| wire.get(key))).is(text);
    let (call, result) = (block.entry.call, block.entry.result);
    let is_clients = || says(call, EXECUTION, "client") && !block.is_dropped;
    says(call, names::TYPE, SEARCHED) && is_clients() && !says(result, names::TYPE, FOUND)
}

/// The calls that stand in the content and in `tool_calls`: their places in both, in the order of the content.
///
/// They have the same id. Those without one are the same in their order: of two such lists, results could be either's.
pub(super) fn given_twice<'a, V: Value<'a>>(message: V) -> Vec<(usize, usize)> {
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

/// The id that a call says; empty where it says none.
pub(super) fn id_of<'a, V: Value<'a>>(call: V) -> Text<'a> {
    text_or_empty(call.object().and_then(|call| call.get(names::ID)))
}

/// The calls that are given twice, by the positions of the messages in which one was looked for.
#[derive(Default)]
struct Doubles(AHashMap<usize, Vec<(usize, usize)>>);

impl Doubles {
    /// Where a call that was found in the content stands in `tool_calls`, and its tool, as it says there.
    fn find<'a, V: Value<'a>>(&mut self, messages: &[V], position: usize, index: usize) -> Option<(Path, Text<'a>)> {
        let message = *messages.get(position)?;
        let places = self.0.entry(position).or_insert_with(|| given_twice(message));
        let (_, place) = places.get(places.binary_search_by_key(&index, |(index, _)| *index).ok()?)?;
        let call = message.get(names::TOOL_CALLS)?.list()?.item(*place)?;
        let name = call.object().map_or(Text::ascii(""), |call| read_call(call).name);
        Some((Path::Part(position, PartsKey::ToolCalls, *place), name))
    }
}

impl<'a> Pairs<'a> {
    pub(crate) fn new<V: Value<'a>>(messages: &[V], blocks: &[Block<'a, V>], dialect: &Dialect) -> Self {
        let mut pairs = Self::with_room(blocks.len());
        let mut doubles = Doubles::default();
        let mut paths = Paths::new(messages);
        for (number, block) in blocks.iter().enumerate() {
            let entry = &block.entry;
            let Some(call) = entry.call else {
                pairs.orphan_ids.insert(entry.call_id);
                let is_own = entry.result.is_some_and(|result| !dialect.is_result(result));
                pairs.alone.extend((dialect.form == Form::Turns && is_own).then_some(number));
                continue;
            };
            let path = match paths.next_of(entry.position, call) {
                path if dialect.form != Form::Chat => path,
                Some(Path::Part(position, PartsKey::Content, index)) => {
                    let found = doubles.find(messages, position, index);
                    pairs.names.extend(found.map(|(_, name)| (number, name)));
                    found.map(|(path, _)| path)
                }
                path => path.filter(|path| matches!(path, Path::Part(_, PartsKey::ToolCalls, _))),
            };
            let Some(path) = path.filter(|_| dialect.is_call(call)) else {
                pairs.foreign_ids.insert(entry.call_id);
                pairs.is_searching |= dialect.form == Form::Items && is_open_search(block);
                pairs.lone.extend((dialect.form == Form::Chat).then_some(entry.position));
                match block.result_path.filter(|_| may_answer(entry.result, dialect)) {
                    Some(path) => _ = pairs.others.insert(path),
                    None => pairs.alone.extend((dialect.form == Form::Turns).then_some(number)),
                }
                continue;
            };
            if pairs.call_at(path).is_some_and(|known| pairs.result_of(known).is_some()) {
                // Given in both ways without an id, it is one call, and its first result is the one.
                pairs.strays.extend(block.result_path);
                continue;
            }
            pairs.add_call(path, number);
            let (Some(result), Some(path)) = (entry.result, block.result_path) else { continue };
            if dialect.may_be_both() && dialect.is_call(result) {
                continue;
            }
            if !dialect.is_result(result) && !is_old_answer(result, path, dialect) {
                pairs.strays.insert(path);
                continue;
            }
            let kind = |wire: V| text_or_empty(wire.get(names::TYPE));
            if dialect.form != Form::Items || is_of_kind(kind(call), kind(result)) {
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

    /// Room for what so many blocks have.
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

    /// The calls, in the order of the blocks.
    pub(crate) fn calls(&self) -> impl Iterator<Item = (Path, usize)> {
        self.calls.iter().copied()
    }

    /// The block whose call stands at a path.
    pub(crate) fn call_at(&self, path: Path) -> Option<usize> {
        let place = self.places.get(&path)?;
        self.calls.get(*place).map(|(_, number)| *number)
    }

    /// The block whose result stands at a path.
    pub(crate) fn owner(&self, path: Path) -> Option<usize> {
        self.owners.get(&path).copied()
    }

    /// Return whether the result at a path belongs to a call.
    pub(crate) fn has_result(&self, path: Path) -> bool {
        self.owners.contains_key(&path) || self.is_other(path)
    }

    /// Return whether the result at a path is one of a call that the client does not answer.
    pub(crate) fn is_other(&self, path: Path) -> bool {
        self.others.contains(&path)
    }

    /// Return whether the result at a path is of a kind that answers no call of the client's, and yet names one.
    pub(crate) fn is_stray(&self, path: Path) -> bool {
        self.strays.contains(&path)
    }

    /// Return whether there is one of those.
    pub(crate) fn has_strays(&self) -> bool {
        !self.strays.is_empty()
    }

    /// Return whether a part of the model's message names a call of the client's, or none, as if it answered that.
    pub(crate) fn is_misplaced<V: Value<'a>>(&self, path: Path, part: V) -> bool {
        if !text_or_empty(part.get(names::TYPE)).ends_with("tool_result") || self.is_other(path) {
            return false;
        }
        let call_id = read_result(part).call_id;
        call_id.is_empty() || self.ids.contains(&call_id)
    }

    /// The tool of a block's call, as the call says that stays where it was given in both ways.
    pub(crate) fn name_of<V: Value<'a>>(&self, number: usize, block: &Block<'a, V>) -> Text<'a> {
        self.names.get(&number).copied().unwrap_or(block.entry.tool_name)
    }

    /// Where the result of a block's call stands.
    pub(crate) fn result_of(&self, number: usize) -> Option<Path> {
        self.by_block.get(&number).copied()
    }
}

/// Return whether a result of Chat's is a message as those were answered by that came before `tool_calls`.
fn is_old_answer<'a, V: Value<'a>>(result: V, path: Path, dialect: &Dialect) -> bool {
    let is_message = dialect.form == Form::Chat && matches!(path, Path::Message(_));
    is_message && text_or_empty(result.get(names::ROLE)).is("function")
}

/// Return whether an item of Responses answers calls of a type.
fn is_of_kind(call: Text<'_>, result: Text<'_>) -> bool {
    let is_function = call.is("local_shell_call") && result.is("function_call_output");
    is_function || (result.ends_with(OUTPUT) && result.slice(0, result.len() - OUTPUT.len()) == call)
}
