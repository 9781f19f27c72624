//! The kernels that return blocks: `extract_tool_blocks` for a conversation, and `deduplicate_tools` for blocks.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString, PyTuple};
use toolcarry::context as job;
use toolcarry::input::messages::{Halt, List, Messages};
use toolcarry::input::{Conversation, room_for};
use toolcarry::json::value::Value;
use toolcarry::pairing::block::Entry;
use toolcarry::text::Text;

use crate::bytes::ask_reference;
use crate::errors::{Answer, NotDone, answer, readable};
use crate::from_json::python_of;
use crate::policy::Rules;
use crate::py_text::string_of;
use crate::py_value::{Arena, Object};
use crate::records::record;

type Blocks<'py> = Vec<Bound<'py, PyAny>>;

/// Return every block of a conversation, in the order of the calls.
#[pyfunction]
pub(crate) fn extract_tool_blocks<'py>(given: &Bound<'py, PyAny>) -> Answer<'py> {
    let py = given.py();
    if let Ok(body) = given.cast::<PyBytes>() {
        return blocks_in_body(body);
    }
    let arena = Arena::new(py);
    let list = List(arena.keep(given.clone()));
    let wire = |object: Object<'_, 'py>| Ok(object.object.to_owned());
    let blocks = readable(py, blocks_of(py, &list, &wire, &|| arena.check())?)?;
    blocks.map(|blocks| blocks.into_pyobject(py)).transpose()
}

/// Return every block of a conversation in bytes. Only calls and results become Python objects.
fn blocks_in_body<'py>(body: &Bound<'py, PyBytes>) -> Answer<'py> {
    let (py, data) = (body.py(), body.as_bytes());
    let room = room_for(data);
    let found = Conversation::open(data, &room)
        .map_err(NotDone::from)
        .and_then(|conversation| Ok(blocks_of(py, &conversation, &|value| python_of(py, value), &|| Ok(()))??));
    answer(found, |blocks| blocks.into_pyobject(py), || ask_reference(py, "extract_tool_blocks", (body,)))
}

/// Return blocks with the calls and results that `wire` makes; `check` returns errors that Python raised meanwhile.
#[allow(clippy::type_complexity)] // the outer error is Python's, the inner one is the walk's
fn blocks_of<'a, 'py, M: Messages<'a>>(
    py: Python<'py>,
    messages: &M,
    wire: &dyn Fn(M::Item) -> PyResult<Bound<'py, PyAny>>,
    check: &dyn Fn() -> PyResult<()>,
) -> PyResult<Result<Blocks<'py>, Halt<M::Error>>> {
    let mut blocks = Vec::new();
    let found = job::extract_tool_blocks(messages, |entry, second| {
        check()?;
        blocks.push(block_of(py, entry, second, wire)?);
        Ok::<_, PyErr>(())
    });
    check()?;
    match found {
        Ok(visited) => visited?,
        Err(halt) => return Ok(Err(halt)),
    }
    blocks.reverse();
    Ok(Ok(blocks))
}

/// Return the blocks that no other one supersedes, with the notes on the others that rendering needs.
#[pyfunction]
pub(crate) fn deduplicate_tools<'py>(
    blocks: &Bound<'py, PyAny>,
    rules: &Bound<'py, PyAny>,
) -> PyResult<Option<Blocks<'py>>> {
    let py = blocks.py();
    let rules = Rules::extract(rules)?;
    let arena = Arena::new(py);
    let Some((entries, _)) = entries_of(&arena, blocks, false)? else { return Ok(None) };
    let kept = job::deduplicate_tools(entries, rules.set());
    arena.check()?;
    let last = blocks.len()?.saturating_sub(1);
    let renew = |(entry, earlier): &(Entry<'_, Object<'_, 'py>>, Vec<usize>)| {
        renewed(&blocks.get_item(last - entry.order)?, entry, earlier)
    };
    kept.iter().rev().map(renew).collect::<PyResult<_>>().map(Some)
}

/// Return blocks as entries, newest first, and for each the ages of the earlier blocks that its heading counts. The age
/// of an entry, which is also its order, comes from the block's place, or with `by_notes` from its notes. `None` if an
/// importer has to read one of them.
#[allow(clippy::type_complexity)] // two lists of the same length
pub(crate) fn entries_of<'a, 'py: 'a>(
    arena: &'a Arena<'py>,
    blocks: &Bound<'py, PyAny>,
    by_notes: bool,
) -> PyResult<Option<(Vec<Entry<'a, Object<'a, 'py>>>, Vec<Vec<usize>>)>> {
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
        let Ok(mut entry) = Entry::read(call, result, (position, age), (scope, is_active)) else { return Ok(None) };
        entry.age = age;
        entry.directory = arena.keep(notes.getattr(intern!(py, "directory"))?).text().unwrap_or(Text::ascii(""));
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
    Ok(Some((entries, earlier)))
}

/// Make a `ToolBlock` of an entry, with the call and the results that `wire` makes.
fn block_of<'a, 'py, V: Value<'a>>(
    py: Python<'py>,
    entry: &Entry<'a, V>,
    second: &[V],
    wire: &dyn Fn(V) -> PyResult<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let second = second.iter().map(|result| wire(*result)).collect::<PyResult<Vec<_>>>()?;
    let notes = record!(py, "Notes" {
        age: entry.age,
        earlier: PyTuple::empty(py),
        is_stale: false,
        is_active: entry.is_active,
        second_results: PyTuple::new(py, second)?,
        directory: string_of(py, entry.directory)?,
    });
    Ok(record!(py, "ToolBlock" {
        tool_use: entry.call.map(wire).transpose()?,
        tool_result: entry.result.map(wire).transpose()?,
        tool_name: string_of(py, entry.name())?,
        dedup_key: dedup_key(py, entry)?,
        call_id: string_of(py, entry.call_id)?,
        is_error: entry.is_error(),
        position: entry.position,
        scope: string_of(py, entry.scope)?,
        notes: notes,
    }))
}

/// Return a `ToolBlock` with the key and the notes of its judged entry; the same one if it has them.
fn renewed<'py>(
    block: &Bound<'py, PyAny>,
    entry: &Entry<'_, Object<'_, 'py>>,
    earlier: &[usize],
) -> PyResult<Bound<'py, PyAny>> {
    let py = block.py();
    if has_notes(block, entry, earlier)? {
        return Ok(block.clone());
    }
    let notes = record!(py, "Notes" {
        age: entry.order,
        earlier: PyTuple::new(py, earlier)?,
        is_stale: entry.is_stale,
        is_active: entry.is_active,
        second_results: block.getattr(intern!(py, "notes"))?.getattr(intern!(py, "second_results"))?,
        directory: string_of(py, entry.directory)?,
    });
    Ok(record!(py, "ToolBlock" {
        tool_use: block.getattr(intern!(py, "tool_use"))?,
        tool_result: block.getattr(intern!(py, "tool_result"))?,
        tool_name: block.getattr(intern!(py, "tool_name"))?,
        dedup_key: dedup_key(py, entry)?,
        call_id: block.getattr(intern!(py, "call_id"))?,
        is_error: block.getattr(intern!(py, "is_error"))?,
        position: block.getattr(intern!(py, "position"))?,
        scope: block.getattr(intern!(py, "scope"))?,
        notes: notes,
    }))
}

/// Return true if a `ToolBlock` has the key and the notes of its judged entry.
fn has_notes<V>(block: &Bound<'_, PyAny>, entry: &Entry<'_, V>, earlier: &[usize]) -> PyResult<bool> {
    let py = block.py();
    let notes = block.getattr(intern!(py, "notes"))?;
    Ok(notes.getattr(intern!(py, "age"))?.eq(entry.order)?
        && notes.getattr(intern!(py, "is_stale"))?.eq(entry.is_stale)?
        && notes.getattr(intern!(py, "earlier"))?.eq(PyTuple::new(py, earlier)?)?
        && block.getattr(intern!(py, "dedup_key"))?.eq(dedup_key(py, entry)?)?)
}

fn dedup_key<'py, V>(py: Python<'py>, entry: &Entry<'_, V>) -> PyResult<Option<Bound<'py, PyString>>> {
    job::dedup_key(entry).map(|key| string_of(py, key.as_text())).transpose()
}
