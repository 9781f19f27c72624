//! Metadata without what it repeats of its content.

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use toolcarry::history::metadata_delta;

use crate::bytes::ask_reference;

/// Metadata as it was before it was folded; the reference says what is wrong with what was not.
#[pyfunction]
pub(crate) fn unfold<'py>(stored: &Bound<'py, PyBytes>, content: &Bound<'py, PyBytes>) -> PyResult<Bound<'py, PyAny>> {
    if !metadata_delta::is_folded(stored.as_bytes()) {
        return Ok(stored.clone().into_any());
    }
    match metadata_delta::unfold(stored.as_bytes(), content.as_bytes()) {
        Some(metadata) => Ok(PyBytes::new(stored.py(), &metadata).into_any()),
        None => ask_reference(stored.py(), "unfold", (stored, content)),
    }
}
