//! Jobs on bytes (request bodies and session files), without Python objects.
//!
//! If the scan refuses a body, Python decodes it: it raises the error with its position, or reads a body that the scan
//! can't (because it is too large, for example). The job is then done with objects: by the Python reference where there
//! is one ([`ask_reference`]), and by the core otherwise ([`decode`]).

use pyo3::IntoPyObjectExt;
use pyo3::call::PyCallArgs;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use toolcarry::input::body_spans::{BodySpans, split_body as split};
use toolcarry::input::value_count::has_many_values as exceeds;
use toolcarry::input::{Conversation, room_for};

use crate::errors::{Answer, NotDone};
use crate::py_text::string_of;

/// The size in bytes from which the interpreter is released during the work.
pub(crate) const LARGE: usize = 65_536;

/// Run `work` on data, and release the interpreter meanwhile if the data is large.
pub(crate) fn released<T: Send>(py: Python<'_>, data: &[u8], work: impl FnOnce() -> T + Send) -> T {
    if data.len() < LARGE { work() } else { py.detach(work) }
}

/// Run `work` on the conversation in a body.
pub(crate) fn in_body<T: Send>(
    py: Python<'_>,
    data: &[u8],
    work: impl FnOnce(&Conversation<'_>) -> Result<T, NotDone> + Send,
) -> Result<T, NotDone> {
    released(py, data, || work(&Conversation::open(data, &room_for(data))?))
}

/// Call the Python reference for a job that the core can't do.
pub(crate) fn ask_reference<'py>(py: Python<'py>, kernel: &str, arguments: impl PyCallArgs<'py>) -> Answer<'py> {
    let kernels = py.import(intern!(py, "toolcarry.fallback.kernels"))?;
    kernels.getattr(kernel)?.call1(arguments).map(Some)
}

/// Decode a body in Python; return its messages, and the numbers of the lines that hold no object. Raises the error of a
/// body that is not a conversation.
pub(crate) fn decode<'py>(body: &Bound<'py, PyBytes>) -> PyResult<(Bound<'py, PyAny>, Vec<usize>)> {
    let py = body.py();
    let document = py.import(intern!(py, "toolcarry._input.document"))?;
    document.getattr(intern!(py, "decode_messages"))?.call1((body,))?.extract()
}

/// Return true if a document has more values than are decoded.
#[pyfunction]
pub(crate) fn has_many_values(data: &Bound<'_, PyBytes>) -> bool {
    let bytes = data.as_bytes();
    released(data.py(), bytes, || exceeds(bytes))
}

/// Return the spans of the members of a body, the name of its list of messages, and their spans; `None` if it is not an
/// object.
#[pyfunction]
pub(crate) fn split_body<'py>(body: &Bound<'py, PyBytes>) -> Answer<'py> {
    let (py, data) = (body.py(), body.as_bytes());
    let work = || match split(data, &room_for(data)) {
        Ok(found) => Python::attach(|py| found.map(|found| spans_of(py, &found)).transpose().map(Ok)),
        Err(refused) => Ok(Err(refused)),
    };
    match released(py, data, work)? {
        Ok(found) => Ok(found.map(|found| found.into_bound(py))),
        Err(_) => ask_reference(py, "split_body", (body,)),
    }
}

fn spans_of(py: Python<'_>, found: &BodySpans<'_>) -> PyResult<Py<PyAny>> {
    let members = PyDict::new(py);
    for (name, span) in &found.members {
        members.set_item(string_of(py, *name)?, (span.start, span.end))?;
    }
    let items: Vec<_> = found.items.iter().map(|span| (span.start, span.end)).collect();
    (members, string_of(py, found.key)?, items).into_py_any(py)
}
