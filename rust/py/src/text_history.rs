//! The kernel `recount`.

use std::convert::Infallible;

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString, PyTuple};
use toolcarry::context::limits::Measure;
use toolcarry::input::messages::{Halt, List};
use toolcarry::text_history as job;
use toolcarry::text_history::{RecountCounts, RecountOptions, Recounted};

use crate::bytes::{decode, in_body};
use crate::context::reasons_dict;
use crate::encodings::load;
use crate::errors::{Answer, answer, readable};
use crate::py_text::{new_string, string_of, text_of};
use crate::py_value::Arena;
use crate::records::{record, row};
use crate::unread::unread_of;

/// Return the text history of a conversation, with its report.
#[pyfunction]
pub(crate) fn recount<'py>(
    given: &Bound<'py, PyAny>,
    records: &Bound<'py, PyAny>,
    turn_id: &Bound<'py, PyString>,
    max_result_length: usize,
    total: Option<usize>,
    encoding: Option<&str>,
) -> Answer<'py> {
    let total = extract_total(given.py(), total, encoding)?;
    let asked = RecountOptions { turn_id: text_of(turn_id.as_borrowed()), max_result_length, total };
    let Ok(body) = given.cast::<PyBytes>() else {
        return recount_objects(given, records, asked, &[]);
    };
    let decoded = || decode(body).and_then(|(messages, lines)| recount_objects(&messages, records, asked, &lines));
    if records.len()? > 0 {
        return decoded();
    }
    let py = body.py();
    let found = in_body(py, body.as_bytes(), |conversation| {
        let found = job::recount(conversation, None, asked)?;
        let lines = conversation.skipped_lines();
        Ok(Python::attach(|py| recounted(py, &found, &lines).map(Bound::unbind))?)
    });
    answer(found, |made| Ok(made.into_bound(py)), decoded)
}

fn recount_objects<'py>(
    messages: &Bound<'py, PyAny>,
    records: &Bound<'py, PyAny>,
    asked: RecountOptions<'_>,
    skipped_lines: &[usize],
) -> Answer<'py> {
    let py = messages.py();
    let arena = Arena::new(py);
    let records = Some(arena.keep(records.clone()));
    let found: Result<_, Halt<Infallible>> = job::recount(&List(arena.keep(messages.clone())), records, asked);
    arena.check()?;
    readable(py, found)?.map(|found| recounted(py, &found, skipped_lines)).transpose()
}

fn extract_total(py: Python<'_>, total: Option<usize>, encoding: Option<&str>) -> PyResult<Option<(usize, Measure)>> {
    let measure = match encoding {
        Some(name) => Measure::Tokens(load(py, name)?),
        None => Measure::Characters,
    };
    Ok(total.map(|total| (total, measure)))
}

/// Make a `Recounted`.
fn recounted<'py>(py: Python<'py>, found: &Recounted<'_>, skipped_lines: &[usize]) -> PyResult<Bound<'py, PyAny>> {
    let messages = PyList::empty(py);
    for (role, content) in &found.messages {
        let message = PyDict::new(py);
        message.set_item(intern!(py, "role"), string_of(py, *role)?)?;
        message.set_item(intern!(py, "content"), new_string(py, content)?)?;
        messages.append(message)?;
    }
    Ok(row!(py, "toolcarry.types.results", "Recounted" {
        messages: messages,
        report: report_of(py, &found.counts, skipped_lines)?,
    }))
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
