//! `inspect` and `dialogue`, through both doors.

use std::convert::Infallible;

use bumpalo::Bump;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString, PyTuple};
use toolcarry::dialogue as saying;
use toolcarry::inspect::{self as job, Inspection};
use toolcarry::messages::{Halt, List};
use toolcarry::scan::Conversation;

use crate::arena::Arena;
use crate::bytes::ask_reference;
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
    let bump = Bump::new();
    if let Ok(conversation) = Conversation::open(body.as_bytes(), &bump)
        && let Ok(found) = job::inspect(&conversation)
    {
        let skipped_lines = PyTuple::new(py, conversation.skipped_lines())?;
        return Ok((survey_tuple(py, &found)?, skipped_lines).into_pyobject(py)?.into_any());
    }
    ask_reference(py, "inspect_body", (body,))
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
    let bump = Bump::new();
    if let Ok(conversation) = Conversation::open(body.as_bytes(), &bump)
        && let Ok(output) = saying::dialogue(&conversation)
    {
        return Ok(new_string(body.py(), &output)?.into_any());
    }
    ask_reference(body.py(), "dialogue_body", (body,))
}

fn survey_tuple<'py>(py: Python<'py>, found: &Inspection<'_>) -> PyResult<Bound<'py, PyTuple>> {
    let class = py.import(intern!(py, "toolcarry.types"))?.getattr(intern!(py, "ToolSize"))?;
    let tools = PyDict::new(py);
    for (name, size) in &found.tools {
        let size = class.call1((size.calls, size.results, size.errors, size.bytes, size.chars))?;
        tools.set_item(string_of(py, *name)?, size)?;
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
