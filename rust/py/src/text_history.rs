//! The kernels `recount` and `recount_body`.

use std::convert::Infallible;

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString, PyTuple};
use toolcarry::context::limits::Measure;
use toolcarry::input::messages::{Halt, List};
use toolcarry::input::{Conversation, room_for};
use toolcarry::text_history as job;
use toolcarry::text_history::{RecountCounts, RecountOptions, Recounted};

use crate::bytes::{decode, released};
use crate::context::reasons_dict;
use crate::errors::{input_error, known};
use crate::py_text::{new_string, string_of, text_of};
use crate::py_value::Arena;
use crate::records::record;
use crate::tokens::load;
use crate::unread::unread_of;

/// A text history, and its report.
type History<'py> = (Bound<'py, PyList>, Bound<'py, PyAny>);

/// Return the text history of a conversation, and its report.
#[pyfunction]
pub(crate) fn recount<'py>(
    messages: &Bound<'py, PyAny>,
    records: &Bound<'py, PyAny>,
    turn_id: &Bound<'py, PyString>,
    max_result_length: usize,
    total: Option<usize>,
    encoding: Option<&str>,
) -> PyResult<History<'py>> {
    let total = extract_total(messages.py(), total, encoding)?;
    let asked = RecountOptions { turn_id: text_of(turn_id.as_borrowed()), max_result_length, total };
    recount_objects(messages, Some(records), asked, &[])
}

fn recount_objects<'py>(
    messages: &Bound<'py, PyAny>,
    records: Option<&Bound<'py, PyAny>>,
    asked: RecountOptions<'_>,
    skipped_lines: &[usize],
) -> PyResult<History<'py>> {
    let py = messages.py();
    let arena = Arena::new(py);
    let records = records.map(|records| arena.keep(records.clone()));
    let found: Result<_, Halt<Infallible>> = job::recount(&List(arena.keep(messages.clone())), records, asked);
    arena.check()?;
    history_of(py, &found.map_err(|halt| input_error(py, halt))?, skipped_lines)
}

/// Return the text history of a conversation in bytes, and its report.
#[pyfunction]
pub(crate) fn recount_body<'py>(
    body: &Bound<'py, PyBytes>,
    turn_id: &Bound<'py, PyString>,
    max_result_length: usize,
    total: Option<usize>,
    encoding: Option<&str>,
) -> PyResult<History<'py>> {
    let py = body.py();
    let data = body.as_bytes();
    let total = extract_total(py, total, encoding)?;
    let asked = RecountOptions { turn_id: text_of(turn_id.as_borrowed()), max_result_length, total };
    let work = || {
        let bump = room_for(data);
        let Ok(conversation) = Conversation::open(data, &bump) else { return Ok(None) };
        let Some(found) = known(job::recount(&conversation, None, asked))? else { return Ok(None) };
        let lines = conversation.skipped_lines();
        Python::attach(|py| -> PyResult<_> {
            let (messages, report) = history_of(py, &found, &lines)?;
            Ok(Some((messages.unbind(), report.unbind())))
        })
    };
    if let Some((messages, report)) = released(py, data, work)? {
        return Ok((messages.into_bound(py), report.into_bound(py)));
    }
    let (messages, lines) = decode(body)?;
    recount_objects(&messages, None, asked, &lines)
}

fn extract_total(py: Python<'_>, total: Option<usize>, encoding: Option<&str>) -> PyResult<Option<(usize, Measure)>> {
    let measure = match encoding {
        Some(name) => Measure::Tokens(load(py, name)?),
        None => Measure::Characters,
    };
    Ok(total.map(|total| (total, measure)))
}

fn history_of<'py>(py: Python<'py>, found: &Recounted<'_>, skipped_lines: &[usize]) -> PyResult<History<'py>> {
    let messages = PyList::empty(py);
    for (role, content) in &found.messages {
        let message = PyDict::new(py);
        message.set_item(intern!(py, "role"), string_of(py, *role)?)?;
        message.set_item(intern!(py, "content"), new_string(py, content)?)?;
        messages.append(message)?;
    }
    Ok((messages, report_of(py, &found.counts, skipped_lines)?))
}

/// Make a `RecountReport`.
fn report_of<'py>(py: Python<'py>, counts: &RecountCounts, skipped_lines: &[usize]) -> PyResult<Bound<'py, PyAny>> {
    Ok(record!(py, "RecountReport" {
        messages: counts.messages,
        calls: counts.calls,
        cut: counts.cut,
        cut_further: counts.cut_further,
        shortened: counts.shortened,
        calls_left_out: counts.calls_left_out,
        orphan_calls: counts.orphan_calls,
        orphan_results: counts.orphan_results,
        duplicate_results: counts.duplicate_results,
        repeated_records: counts.repeated_records,
        errors: counts.errors,
        excluded: reasons_dict(py, &counts.excluded)?,
        inactive: counts.inactive,
        thinking: counts.thinking,
        client: counts.client,
        folded: PyTuple::new(py, &counts.folded)?,
        silent: PyTuple::new(py, &counts.silent)?,
        without_role: PyTuple::new(py, &counts.without_role)?,
        without_turn: PyTuple::new(py, &counts.without_turn)?,
        left_out: PyTuple::new(py, &counts.left_out)?,
        chars_before: counts.chars_before,
        chars_after: counts.chars_after,
        tokens_after: counts.tokens_after,
        budget_too_small: counts.budget_too_small,
        skipped_lines: PyTuple::new(py, skipped_lines)?,
        unread: unread_of(py, &counts.unread)?,
    }))
}
