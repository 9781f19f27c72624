//! `inspect` and `dialogue`, through both doors.

use std::convert::Infallible;

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString, PyTuple};
use toolcarry::dialogue as saying;
use toolcarry::input::messages::{Halt, List};
use toolcarry::input::{Conversation, room_for};
use toolcarry::inspect as job;
use toolcarry::inspect::Inspection;

use crate::arena::Arena;
use crate::bytes::{ask_reference, released};
use crate::errors::input_error;
use crate::strings::{new_string, string_of};

/// The survey of a conversation.
#[pyfunction]
pub(crate) fn inspect<'py>(messages: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyTuple>> {
    let py = messages.py();
    let arena = Arena::new(py);
    let found: Result<_, Halt<Infallible>> = job::inspect(List(arena.keep(messages.clone())));
    arena.check()?;
    survey_tuple(py, &found.map_err(|halt| input_error(py, halt))?)
}

/// The survey of a conversation in bytes, and the numbers of the lines that hold no object.
#[pyfunction]
pub(crate) fn inspect_body<'py>(body: &Bound<'py, PyBytes>) -> PyResult<Bound<'py, PyAny>> {
    let py = body.py();
    let data = body.as_bytes();
    let survey = || {
        let bump = room_for(data);
        let conversation = Conversation::open(data, &bump).ok()?;
        let found = job::inspect(&conversation).ok()?;
        Some((found, conversation.skipped_lines()))
    };
    match released(py, data, survey) {
        Some((found, lines)) => Ok((survey_tuple(py, &found)?, PyTuple::new(py, lines)?).into_pyobject(py)?.into_any()),
        None => ask_reference(py, "inspect_body", (body,)),
    }
}

/// What was said in a conversation.
#[pyfunction]
pub(crate) fn dialogue<'py>(messages: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyString>> {
    let py = messages.py();
    let arena = Arena::new(py);
    let found: Result<_, Halt<Infallible>> = saying::dialogue(&List(arena.keep(messages.clone())));
    arena.check()?;
    new_string(py, &found.map_err(|halt| input_error(py, halt))?)
}

/// What was said in a conversation in bytes.
#[pyfunction]
pub(crate) fn dialogue_body<'py>(body: &Bound<'py, PyBytes>) -> PyResult<Bound<'py, PyAny>> {
    let py = body.py();
    let data = body.as_bytes();
    let say = || {
        let bump = room_for(data);
        let conversation = Conversation::open(data, &bump).ok()?;
        saying::dialogue(&conversation).ok().map(|output| output.to_utf8())
    };
    match released(py, data, say) {
        Some(said) => Ok(PyString::new(py, &said).into_any()),
        None => ask_reference(py, "dialogue_body", (body,)),
    }
}

fn survey_tuple<'py>(py: Python<'py>, found: &Inspection) -> PyResult<Bound<'py, PyTuple>> {
    let class = py.import(intern!(py, "toolcarry.types"))?.getattr(intern!(py, "ToolSize"))?;
    let tools = PyDict::new(py);
    for (name, size) in &found.tools {
        let size = class.call1((size.calls, size.results, size.errors, size.bytes, size.chars))?;
        tools.set_item(string_of(py, name.as_text())?, size)?;
    }
    let counts = (
        found.shape,
        found.messages,
        found.orphan_calls,
        found.orphan_results,
        found.duplicate_results,
        found.repeated_records,
        found.duplicates,
        found.stale_reads,
        found.side_chain_blocks,
        found.other_branch_blocks,
        tools,
    );
    counts.into_pyobject(py)
}
