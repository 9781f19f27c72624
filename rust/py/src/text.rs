//! The kernels that cut and judge a text.

use pyo3::prelude::*;
use pyo3::types::PyString;
use toolcarry::dedupe::shell;
use toolcarry::text::cut_words;
use toolcarry::text::truncate::Keep;

use crate::policy::extract_keep;
use crate::py_text::{joined, text_of};

/// Return at most `limit` characters of `text`, with the marker at the cut.
#[pyfunction]
#[pyo3(signature = (text, limit, *, keep, marker))]
pub(crate) fn truncate<'py>(
    text: &Bound<'py, PyString>,
    limit: usize,
    keep: &str,
    marker: &Bound<'py, PyString>,
) -> PyResult<Bound<'py, PyString>> {
    let given = text_of(text.as_borrowed());
    let (head, tail) = toolcarry::text::sanitize::cut_text(given, limit, extract_keep(keep).unwrap_or(Keep::Head));
    if head == tail {
        return Ok(text.clone());
    }
    joined(text.py(), given, (head, tail), text_of(marker.as_borrowed()))
}

/// Return true if the text contains a word that a mark of truncation uses.
#[pyfunction]
pub(crate) fn has_cut_word(text: &Bound<'_, PyString>) -> bool {
    cut_words::has_cut_word(text_of(text.as_borrowed()))
}

/// Return true if a shell command line writes.
#[pyfunction]
pub(crate) fn has_side_effects(command: &Bound<'_, PyString>) -> bool {
    shell::has_side_effects(&text_of(command.as_borrowed()).to_utf8())
}
