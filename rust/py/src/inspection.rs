//! The kernels that say what a conversation holds: `inspect` and `unread`.

use std::convert::Infallible;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};
use toolcarry::input::messages::{Halt, List};
use toolcarry::inspect as inspection;
use toolcarry::inspect::{Inspection, ToolSize};
use toolcarry::pairing::find_unread;

use crate::bytes::{ask_reference, decode, in_body};
use crate::errors::{Answer, answer, readable};
use crate::py_text::string_of;
use crate::py_value::Arena;
use crate::records::{record, row};
use crate::unread::unread_of;

/// Return the survey of a conversation.
#[pyfunction]
pub(crate) fn inspect<'py>(given: &Bound<'py, PyAny>) -> Answer<'py> {
    match given.cast::<PyBytes>() {
        Ok(body) => inspect_body(body),
        Err(_) => inspect_objects(given, &[]),
    }
}

fn inspect_objects<'py>(messages: &Bound<'py, PyAny>, skipped_lines: &[usize]) -> Answer<'py> {
    let py = messages.py();
    let arena = Arena::new(py);
    let found: Result<_, Halt<Infallible>> = inspection::inspect(List(arena.keep(messages.clone())));
    arena.check()?;
    readable(py, found)?.map(|found| inspection_of(py, &found, skipped_lines)).transpose()
}

fn inspect_body<'py>(body: &Bound<'py, PyBytes>) -> Answer<'py> {
    let py = body.py();
    let found = in_body(py, body.as_bytes(), |conversation| {
        Ok((inspection::inspect(conversation)?, conversation.skipped_lines()))
    });
    let decoded = || decode(body).and_then(|(messages, lines)| inspect_objects(&messages, &lines));
    answer(found, |(found, lines)| inspection_of(py, &found, &lines), decoded)
}

/// Report the messages of a conversation in bytes whose structure no format knows.
#[pyfunction]
pub(crate) fn unread<'py>(body: &Bound<'py, PyBytes>) -> Answer<'py> {
    let py = body.py();
    let found = in_body(py, body.as_bytes(), |conversation| Ok(find_unread(conversation)?));
    answer(found, |unread| unread_of(py, &unread), || ask_reference(py, "unread", (body,)))
}

/// Make an `Inspection`.
fn inspection_of<'py>(py: Python<'py>, found: &Inspection, skipped_lines: &[usize]) -> PyResult<Bound<'py, PyAny>> {
    let tools = PyDict::new(py);
    for (name, size) in &found.tools {
        tools.set_item(string_of(py, name.as_text())?, size_of(py, size)?)?;
    }
    let asides = PyDict::new(py);
    for (kind, count) in &found.asides {
        asides.set_item(string_of(py, kind.as_text())?, count)?;
    }
    let all = found.total();
    Ok(row!(py, "toolcarry.types.results", "Inspection" {
        shape: found.shape,
        messages: found.messages,
        calls: all.calls,
        results: all.results + found.duplicate_results,
        errors: all.errors,
        orphan_calls: found.orphan_calls,
        orphan_results: found.orphan_results,
        duplicate_results: found.duplicate_results,
        repeated_records: found.repeated_records,
        duplicates: found.duplicates,
        stale_reads: found.stale_reads,
        side_chain_blocks: found.side_chain_blocks,
        other_branch_blocks: found.other_branch_blocks,
        bytes: all.bytes,
        chars: all.chars,
        tools: tools,
        skipped_lines: PyTuple::new(py, skipped_lines)?,
        unread: unread_of(py, &found.unread)?,
        context: py.None(),
        asides: asides,
    }))
}

/// Make a `ToolSize`.
fn size_of<'py>(py: Python<'py>, size: &ToolSize) -> PyResult<Bound<'py, PyAny>> {
    Ok(record!(py, "ToolSize" {
        calls: size.calls,
        results: size.results,
        errors: size.errors,
        bytes: size.bytes,
        chars: size.chars,
    }))
}
