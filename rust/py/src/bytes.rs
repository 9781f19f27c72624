//! Jobs on bytes (request bodies and session files), without Python objects.
//!
//! If the scan refuses a body, the Python reference is called: it raises the error with its position, or does the job
//! with objects if the body is too large to be scanned.

use pyo3::call::PyCallArgs;
use pyo3::intern;
use pyo3::prelude::*;

/// The size in bytes from which the interpreter is released during the work.
pub(crate) const LARGE: usize = 65_536;

/// Run `work` on data, and release the interpreter meanwhile if the data is large.
pub(crate) fn released<T: Send>(py: Python<'_>, data: &[u8], work: impl FnOnce() -> T + Send) -> T {
    if data.len() < LARGE { work() } else { py.detach(work) }
}

/// Call the Python reference for a job that the core can't do.
pub(crate) fn ask_reference<'py>(
    py: Python<'py>,
    kernel: &str,
    arguments: impl PyCallArgs<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    py.import(intern!(py, "toolcarry._pure.kernels"))?.getattr(kernel)?.call1(arguments)
}
