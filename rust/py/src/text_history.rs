//! The kernels `recount` and `recount_body`.

use std::convert::Infallible;

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString, PyTuple};
use toolcarry::context::limits::Measure;
use toolcarry::input::messages::{Halt, List};
use toolcarry::input::{Conversation, room_for};
use toolcarry::text_history as job;
use toolcarry::text_history::{Asked, Counts, Recounted};

use crate::bytes::{ask_reference, released};
use crate::context::reasons_dict;
use crate::errors::input_error;
use crate::py_text::{new_string, string_of, text_of};
use crate::py_value::Arena;
use crate::tokens::load;

/// Return the text history of a conversation, and its counts.
#[pyfunction]
pub(crate) fn recount<'py>(
    messages: &Bound<'py, PyAny>,
    records: &Bound<'py, PyAny>,
    turn_id: &Bound<'py, PyString>,
    max_result_length: usize,
    total: Option<usize>,
    encoding: Option<&str>,
) -> PyResult<(Bound<'py, PyList>, Bound<'py, PyTuple>)> {
    let py = messages.py();
    let total = extract_total(py, total, encoding)?;
    let asked = Asked { turn_id: text_of(turn_id.as_borrowed()), max_result_length, total };
    let arena = Arena::new(py);
    let records = arena.keep(records.clone());
    let found: Result<_, Halt<Infallible>> = job::recount(&List(arena.keep(messages.clone())), Some(records), asked);
    arena.check()?;
    history_of(py, &found.map_err(|halt| input_error(py, halt))?)
}

/// Return the text history of a conversation in bytes, its counts, and the numbers of the lines that are not objects.
#[pyfunction]
pub(crate) fn recount_body<'py>(
    body: &Bound<'py, PyBytes>,
    turn_id: &Bound<'py, PyString>,
    max_result_length: usize,
    total: Option<usize>,
    encoding: Option<&str>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = body.py();
    let data = body.as_bytes();
    let measured = extract_total(py, total, encoding)?;
    let asked = Asked { turn_id: text_of(turn_id.as_borrowed()), max_result_length, total: measured };
    let work = || {
        let bump = room_for(data);
        let conversation = Conversation::open(data, &bump).ok()?;
        let found = job::recount(&conversation, None, asked).ok()?;
        let lines = conversation.skipped_lines();
        Some(Python::attach(|py| -> PyResult<Py<PyAny>> {
            let (messages, counts) = history_of(py, &found)?;
            Ok((messages, counts, PyTuple::new(py, lines)?).into_pyobject(py)?.into_any().unbind())
        }))
    };
    match released(py, data, work) {
        Some(found) => Ok(found?.into_bound(py)),
        None => ask_reference(py, "recount_body", (body, turn_id, max_result_length, total, encoding)),
    }
}

fn extract_total(py: Python<'_>, total: Option<usize>, encoding: Option<&str>) -> PyResult<Option<(usize, Measure)>> {
    let measure = match encoding {
        Some(name) => Measure::Tokens(load(py, name)?),
        None => Measure::Characters,
    };
    Ok(total.map(|total| (total, measure)))
}

fn history_of<'py>(py: Python<'py>, found: &Recounted<'_>) -> PyResult<(Bound<'py, PyList>, Bound<'py, PyTuple>)> {
    let messages = PyList::empty(py);
    for (role, content) in &found.messages {
        let message = PyDict::new(py);
        message.set_item(intern!(py, "role"), string_of(py, *role)?)?;
        message.set_item(intern!(py, "content"), new_string(py, content)?)?;
        messages.append(message)?;
    }
    Ok((messages, counts_tuple(py, &found.counts)?))
}

fn counts_tuple<'py>(py: Python<'py>, counts: &Counts) -> PyResult<Bound<'py, PyTuple>> {
    let calls = (
        counts.messages,
        counts.calls,
        counts.cut,
        counts.cut_further,
        counts.shortened,
        counts.calls_left_out,
        counts.orphan_calls,
        counts.orphan_results,
        counts.duplicate_results,
        counts.repeated_records,
        counts.errors,
    );
    let messages = (
        reasons_dict(py, &counts.excluded)?,
        counts.inactive,
        counts.thinking,
        PyTuple::new(py, &counts.folded)?,
        PyTuple::new(py, &counts.silent)?,
        PyTuple::new(py, &counts.without_role)?,
        PyTuple::new(py, &counts.without_turn)?,
        PyTuple::new(py, &counts.left_out)?,
        counts.chars_before,
        counts.chars_after,
        counts.tokens_after,
        counts.budget_too_small,
    );
    let all = calls.into_pyobject(py)?.as_sequence().concat(messages.into_pyobject(py)?.as_sequence())?;
    Ok(all.cast_into()?)
}
