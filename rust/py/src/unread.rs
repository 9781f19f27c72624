//! The report about what no format knows, as Python's record.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use toolcarry::pairing::Unread;
use toolcarry::text::OwnedText;

use crate::py_text::string_of;
use crate::records::record;

/// Make an `Unread`.
pub(crate) fn unread_of<'py>(py: Python<'py>, unread: &Unread) -> PyResult<Bound<'py, PyAny>> {
    let places = unread.first.iter().map(|(position, keys)| place_of(py, *position, keys));
    Ok(record!(py, "Unread" {
        count: unread.count,
        total: unread.total,
        first: PyTuple::new(py, places.collect::<PyResult<Vec<_>>>()?)?,
        texts: 0, // only an import finds them
    }))
}

/// Make an `UnreadPlace`, which shows the keys as they may be shown.
fn place_of<'py>(py: Python<'py>, position: usize, keys: &[OwnedText]) -> PyResult<Bound<'py, PyAny>> {
    let class = py.import(intern!(py, "toolcarry.types.unread"))?.getattr(intern!(py, "UnreadPlace"))?;
    let keys = keys.iter().map(|key| string_of(py, key.as_text())).collect::<PyResult<Vec<_>>>()?;
    class.call_method1(intern!(py, "of"), (position, keys))
}
