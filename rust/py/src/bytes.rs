//! Work on bytes: request bodies and session files, without Python's objects.
//!
//! Where the scan refuses a body, the reference is asked: it raises the error with its position, or, for what is too
//! large to be scanned, does the job with objects.

use pyo3::call::PyCallArgs;
use pyo3::intern;
use pyo3::prelude::*;

/// From so many bytes on, other threads may run meanwhile.
pub(crate) const LARGE: usize = 65_536;

/// Work on some data; other threads may run meanwhile where it is large.
pub(crate) fn released<T: Send>(py: Python<'_>, data: &[u8], work: impl FnOnce() -> T + Send) -> T {
    if data.len() < LARGE { work() } else { py.detach(work) }
}

/// Let the reference do what the scan refuses.
pub(crate) fn ask_reference<'py>(
    py: Python<'py>,
    kernel: &str,
    arguments: impl PyCallArgs<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    py.import(intern!(py, "toolcarry._pure.kernels"))?.getattr(kernel)?.call1(arguments)
}
