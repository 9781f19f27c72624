//! `carry`, `explain` and `format_tool_context`.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};
use toolcarry::context as job;
use toolcarry::context::policy::Reasons;
use toolcarry::context::{Carried, Counts};
use toolcarry::input::messages::List;
use toolcarry::text::piece::Piece;

use crate::arena::Arena;
use crate::blocks::entries_of;
use crate::errors::input_error;
use crate::settings::{Rules, extract_settings};
use crate::strings::{new_string, text_of};

/// Run the job and hand what it found to `then`, while all that it borrows is alive.
fn with_carried<'py, T>(
    (messages, summary, policy): (&Bound<'py, PyAny>, &Bound<'py, PyString>, &Bound<'py, PyAny>),
    is_traced: bool,
    then: impl FnOnce(Carried<'_>) -> PyResult<T>,
) -> PyResult<T> {
    let py = messages.py();
    let settings = extract_settings(policy)?;
    let rules = Rules::extract(&policy.getattr("rules")?)?;
    let arena = Arena::new(py);
    let given = List(arena.keep(messages.clone()));
    let summary = Piece::Borrowed(text_of(summary.as_borrowed()));
    let carried = job::carry(given, &summary, &settings, rules.set(), is_traced);
    arena.check()?;
    then(carried.map_err(|halt| input_error(py, halt))?)
}

/// The context of a conversation, and the counts of what became of every block that was walked.
#[pyfunction]
pub(crate) fn carry<'py>(
    messages: &Bound<'py, PyAny>,
    summary: &Bound<'py, PyString>,
    policy: &Bound<'py, PyAny>,
) -> PyResult<(Bound<'py, PyString>, Bound<'py, PyTuple>)> {
    let py = messages.py();
    with_carried((messages, summary, policy), false, |carried| {
        Ok((new_string(py, &carried.output)?, counts_tuple(py, &carried.counts)?))
    })
}

/// The age, the fate and the reason of every block that `carry` walks.
#[pyfunction]
pub(crate) fn explain<'py>(
    messages: &Bound<'py, PyAny>,
    summary: &Bound<'py, PyString>,
    policy: &Bound<'py, PyAny>,
) -> PyResult<Vec<(usize, &'static str, &'static str)>> {
    with_carried((messages, summary, policy), true, |carried| {
        Ok(carried.trace.into_iter().map(|(age, fate, reason)| (age, fate.name(), reason)).collect())
    })
}

/// The context of blocks that were deduplicated before.
#[pyfunction]
pub(crate) fn format_tool_context<'py>(
    blocks: &Bound<'py, PyAny>,
    summary: &Bound<'py, PyString>,
    policy: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyString>> {
    let py = blocks.py();
    let settings = extract_settings(policy)?;
    let rules = Rules::extract(&policy.getattr("rules")?)?;
    let arena = Arena::new(py);
    let (entries, earlier) = entries_of(&arena, blocks, true)?;
    let entries = entries.into_iter().zip(earlier).collect();
    let summary = Piece::Borrowed(text_of(summary.as_borrowed()));
    let output = job::format(entries, &summary, &settings, rules.set());
    arena.check()?;
    new_string(py, &output)
}

pub(crate) fn counts_tuple<'py>(py: Python<'py>, counts: &Counts) -> PyResult<Bound<'py, PyTuple>> {
    let blocks = (
        counts.walked,
        counts.walked_all,
        counts.shown,
        counts.cut,
        counts.left_out,
        reasons_dict(py, &counts.superseded)?,
        reasons_dict(py, &counts.excluded)?,
    );
    let found = (
        counts.orphan_calls,
        counts.orphan_results,
        counts.duplicate_results,
        counts.repeated_records,
        counts.errors,
        counts.chars_before,
        counts.chars_after,
        counts.summary_cut,
        counts.budget_too_small,
        counts.tokens_after,
        PyTuple::new(py, &counts.block_tokens)?,
    );
    let all = blocks.into_pyobject(py)?.as_sequence().concat(found.into_pyobject(py)?.as_sequence())?;
    Ok(all.cast_into()?)
}

pub(crate) fn reasons_dict<'py>(py: Python<'py>, reasons: &Reasons) -> PyResult<Bound<'py, PyAny>> {
    let dict = PyDict::new(py);
    for (reason, count) in reasons {
        dict.set_item(reason, count)?;
    }
    Ok(dict.into_any())
}
