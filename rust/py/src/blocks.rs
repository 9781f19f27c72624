//! `extract_tool_blocks` through both doors, and `deduplicate_tools`.

use std::collections::HashMap;

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString, PyTuple};
use toolcarry::dedupe::Judging;
use toolcarry::dedupe::rules::RuleSet;
use toolcarry::formats::{call_needs_import, read_call, read_result, result_needs_import};
use toolcarry::input::messages::{Halt, List, Messages};
use toolcarry::input::{Conversation, room_for};
use toolcarry::json::value::Value;
use toolcarry::pairing::Walk;
use toolcarry::pairing::block::Entry;
use toolcarry::text::{OwnedText, Text};

use crate::arena::{Arena, Object};
use crate::bytes::ask_reference;
use crate::errors::{input_error, needs_import};
use crate::objects::python_of;
use crate::settings::Rules;
use crate::strings::string_of;

type Blocks<'py> = Vec<Bound<'py, PyAny>>;

/// Every block of a conversation, in the order of the calls.
#[pyfunction]
pub(crate) fn extract_tool_blocks<'py>(messages: &Bound<'py, PyAny>) -> PyResult<Blocks<'py>> {
    let py = messages.py();
    let arena = Arena::new(py);
    let list = List(arena.keep(messages.clone()));
    let wire = |object: Object<'_, 'py>| Ok(object.object.to_owned());
    match blocks_of(py, &list, &wire, &|| arena.check())? {
        Ok(blocks) => Ok(blocks),
        Err(halt) => Err(input_error(py, halt)),
    }
}

/// Every block of a conversation in bytes. Calls and results alone become Python's objects.
#[pyfunction]
pub(crate) fn extract_tool_blocks_body<'py>(body: &Bound<'py, PyBytes>) -> PyResult<Bound<'py, PyAny>> {
    let py = body.py();
    let room = room_for(body.as_bytes());
    if let Ok(conversation) = Conversation::open(body.as_bytes(), &room)
        && let Ok(blocks) = blocks_of(py, &conversation, &|value| python_of(py, value), &|| Ok(()))?
    {
        return blocks.into_pyobject(py);
    }
    ask_reference(py, "extract_tool_blocks_body", (body,))
}

/// Blocks, with calls and results as `wire` makes them; `check` tells of errors that were met on the way.
#[allow(clippy::type_complexity)] // an error of Python's, or one of the walk's
fn blocks_of<'a, 'py, M: Messages<'a>>(
    py: Python<'py>,
    messages: &M,
    wire: &dyn Fn(M::Item) -> PyResult<Bound<'py, PyAny>>,
    check: &dyn Fn() -> PyResult<()>,
) -> PyResult<Result<Blocks<'py>, Halt<M::Error>>> {
    let classes = Classes::import(py)?;
    let mut walk = Walk::new(messages);
    let judging = Judging::new(RuleSet::built_in());
    let mut blocks = Vec::new();
    loop {
        let next = walk.next_entry();
        check()?;
        let mut entry = match next {
            Ok(Some(entry)) => entry,
            Ok(None) => break,
            Err(halt) => return Ok(Err(halt)),
        };
        entry.age = blocks.len();
        entry.position = messages.number(entry.position);
        judging.prepare(&mut entry);
        check()?;
        let second = walk.second_results.get(&entry.order).map_or(&[][..], Vec::as_slice);
        blocks.push(classes.block(py, &entry, second, wire)?);
    }
    blocks.reverse();
    Ok(Ok(blocks))
}

/// The blocks that no other one supersedes, with what the rendering needs to know of the others.
#[pyfunction]
pub(crate) fn deduplicate_tools<'py>(blocks: &Bound<'py, PyAny>, rules: &Bound<'py, PyAny>) -> PyResult<Blocks<'py>> {
    let py = blocks.py();
    let rules = Rules::extract(rules)?;
    let arena = Arena::new(py);
    let classes = Classes::import(py)?;
    let (mut entries, _) = entries_of(&arena, blocks, false)?;
    let mut judging = Judging::new(rules.set());
    if rules.set().keeps_first {
        judging.find_firsts(&mut entries);
    }
    let mut earlier: HashMap<usize, Vec<usize>> = HashMap::new();
    let mut kept = Vec::new();
    for mut entry in entries {
        let judgement = judging.judge(&mut entry);
        if let Some(newest) = judgement.counted_by {
            earlier.entry(newest).or_default().push(entry.order);
        }
        if judgement.reason.is_none() {
            kept.push(entry);
        }
    }
    arena.check()?;
    let last = blocks.len()?.saturating_sub(1);
    let renew = |entry: &Entry<'_, Object<'_, 'py>>| {
        let ages = earlier.get(&entry.order).map_or(&[][..], Vec::as_slice);
        classes.renewed(&blocks.get_item(last - entry.order)?, entry, ages)
    };
    kept.iter().rev().map(renew).collect()
}

/// Blocks as entries, newest first, and the ages that the heading of each counts. Their order is their age: by
/// their place, or by their notes.
#[allow(clippy::type_complexity)] // a pair of lists that belong together
pub(crate) fn entries_of<'a, 'py: 'a>(
    arena: &'a Arena<'py>,
    blocks: &Bound<'py, PyAny>,
    by_notes: bool,
) -> PyResult<(Vec<Entry<'a, Object<'a, 'py>>>, Vec<Vec<usize>>)> {
    let py = blocks.py();
    let mut entries = Vec::new();
    let mut earlier = Vec::new();
    for place in (0..blocks.len()?).rev() {
        let block = blocks.get_item(place)?;
        let member = |name: &Bound<'py, PyString>| block.getattr(name);
        let notes = member(intern!(py, "notes"))?;
        let wire = |name| Ok::<_, PyErr>(arena.keep(member(name)?).object());
        let (call, result) = (wire(intern!(py, "tool_use"))?, wire(intern!(py, "tool_result"))?);
        let scope = arena.keep(member(intern!(py, "scope"))?).text().unwrap_or(Text::ascii(""));
        let position = member(intern!(py, "position"))?.extract()?;
        let is_active = notes.getattr(intern!(py, "is_active"))?.is_truthy()?;
        let age = if by_notes { notes.getattr(intern!(py, "age"))?.extract()? } else { entries.len() };
        if call.is_some_and(call_needs_import) || result.is_some_and(result_needs_import) {
            return Err(needs_import(py));
        }
        let mut entry = Entry::new(call.map(read_call), result.map(read_result), (position, age), (scope, is_active));
        entry.age = age;
        if member(intern!(py, "is_error"))?.is_truthy()? {
            entry.set_error();
        }
        if by_notes {
            entry.is_stale = notes.getattr(intern!(py, "is_stale"))?.is_truthy()?;
            earlier.push(notes.getattr(intern!(py, "earlier"))?.extract()?);
        }
        arena.check()?;
        entries.push(entry);
    }
    Ok((entries, earlier))
}

/// The classes that blocks are made of.
struct Classes<'py> {
    block: Bound<'py, PyAny>,
    notes: Bound<'py, PyAny>,
}

impl<'py> Classes<'py> {
    fn import(py: Python<'py>) -> PyResult<Self> {
        let types = py.import(intern!(py, "toolcarry.types"))?;
        Ok(Self { block: types.getattr(intern!(py, "ToolBlock"))?, notes: types.getattr(intern!(py, "Notes"))? })
    }

    fn block<'a, V: Value<'a>>(
        &self,
        py: Python<'py>,
        entry: &Entry<'a, V>,
        second: &[V],
        wire: &dyn Fn(V) -> PyResult<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let second = second.iter().map(|result| wire(*result)).collect::<PyResult<Vec<_>>>()?;
        let second = PyTuple::new(py, second)?;
        let notes = self.notes.call1((entry.age, PyTuple::empty(py), false, entry.is_active, second))?;
        self.block.call1((
            entry.call.map(wire).transpose()?,
            entry.result.map(wire).transpose()?,
            string_of(py, entry.name())?,
            dedup_key(py, entry)?,
            string_of(py, entry.call_id)?,
            entry.is_error(),
            entry.position,
            string_of(py, entry.scope)?,
            notes,
        ))
    }

    /// `block` with the key and the notes of a judged entry.
    fn renewed(
        &self,
        block: &Bound<'py, PyAny>,
        entry: &Entry<'_, Object<'_, 'py>>,
        earlier: &[usize],
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = block.py();
        let second = block.getattr(intern!(py, "notes"))?.getattr(intern!(py, "second_results"))?;
        let notes = (entry.order, PyTuple::new(py, earlier)?, entry.is_stale, entry.is_active, second);
        self.block.call1((
            block.getattr(intern!(py, "tool_use"))?,
            block.getattr(intern!(py, "tool_result"))?,
            block.getattr(intern!(py, "tool_name"))?,
            dedup_key(py, entry)?,
            block.getattr(intern!(py, "call_id"))?,
            block.getattr(intern!(py, "is_error"))?,
            block.getattr(intern!(py, "position"))?,
            block.getattr(intern!(py, "scope"))?,
            self.notes.call1(notes)?,
        ))
    }
}

/// `read:/path`; `None` where nothing tells the block apart.
fn dedup_key<'py, V>(py: Python<'py>, entry: &Entry<'_, V>) -> PyResult<Option<Bound<'py, PyString>>> {
    let Some(value) = &entry.value else { return Ok(None) };
    let mut text = OwnedText::default();
    text.push_ascii(entry.kind.name());
    text.push_ascii(":");
    text.push(value.text());
    string_of(py, text.as_text()).map(Some)
}
