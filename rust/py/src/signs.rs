//! The signs of the importers, which are in Python.

use pyo3::intern;
use pyo3::prelude::*;
use toolcarry::formats::Signs;

/// Return the signs of all importers, which are loaded now; none if they can't be loaded, which Python reports.
pub(crate) fn signs() -> Signs {
    Python::attach(|py| {
        read(py).unwrap_or_else(|error| {
            error.write_unraisable(py, None);
            Signs::default()
        })
    })
}

fn read(py: Python<'_>) -> PyResult<Signs> {
    let foreign = py.import(intern!(py, "toolcarry.model.formats.foreign"))?;
    let (keys, types) = foreign.getattr(intern!(py, "signs"))?.call0()?.extract()?;
    Ok(Signs::new(keys, types))
}
