//! The bytes door: jobs on request bodies and session files, without Python's objects.
//!
//! Where the scan refuses a body, the reference is asked: it raises the error with its position, or, for what is too
//! large to be scanned, does the job with objects.

use pyo3::call::PyCallArgs;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString, PyTuple};
use toolcarry::context::policy::Settings;
use toolcarry::context::{Carried, Counts, carry};
use toolcarry::dedupe::rules::RuleSet;
use toolcarry::input::{Conversation, room_for};
use toolcarry::text::OwnedText;
use toolcarry::text::piece::Piece;

use crate::context::counts_tuple;
use crate::settings::{Rules, extract_settings};
use crate::strings::{new_bytes, text_of};

/// From so many bytes on, other threads may run meanwhile.
pub(crate) const LARGE: usize = 65_536;

/// Work on some data; other threads may run meanwhile where it is large.
pub(crate) fn released<T: Send>(py: Python<'_>, data: &[u8], work: impl FnOnce() -> T + Send) -> T {
    if data.len() < LARGE { work() } else { py.detach(work) }
}

/// What `carry` makes of bytes.
pub(crate) struct CarriedBytes {
    context: Py<PyBytes>,
    counts: Counts,
    skipped_lines: Vec<usize>,
}

/// A context in UTF-8, the counts, and the numbers of the lines that were skipped.
pub(crate) type Answer<'py> = (Bound<'py, PyBytes>, Bound<'py, PyTuple>, Bound<'py, PyTuple>);

impl CarriedBytes {
    pub(crate) fn answer(self, py: Python<'_>) -> PyResult<Answer<'_>> {
        let skipped_lines = PyTuple::new(py, self.skipped_lines)?;
        Ok((self.context.into_bound(py), counts_tuple(py, &self.counts)?, skipped_lines))
    }
}

/// What is asked of `carry`, without Python's objects.
pub(crate) struct Job<'r> {
    summary: OwnedText,
    settings: Settings,
    rules: &'r RuleSet,
}

impl<'r> Job<'r> {
    pub(crate) fn extract(
        summary: &Bound<'_, PyString>,
        policy: &Bound<'_, PyAny>,
        rules: &'r RuleSet,
    ) -> PyResult<Self> {
        let summary = OwnedText::from(text_of(summary.as_borrowed()));
        Ok(Self { summary, settings: extract_settings(policy)?, rules })
    }

    /// The context of some bytes; `None` if the scan refuses them.
    pub(crate) fn run(&self, data: &[u8]) -> PyResult<Option<CarriedBytes>> {
        let bump = room_for(data);
        let Ok(conversation) = Conversation::open(data, &bump) else { return Ok(None) };
        let summary = Piece::Borrowed(self.summary.as_text());
        let carried = carry(&conversation, &summary, &self.settings, self.rules, false);
        let Ok(Carried { output, counts, .. }) = carried else { return Ok(None) };
        let (size, write) = (output.utf8_len(), |room: &mut [u8]| output.write_utf8(room));
        let context = Python::attach(|py| new_bytes(py, size, write).map(Bound::unbind))?;
        Ok(Some(CarriedBytes { context, counts, skipped_lines: conversation.skipped_lines() }))
    }
}

/// The context of a conversation in bytes.
#[pyfunction]
pub(crate) fn carry_body<'py>(
    body: &Bound<'py, PyBytes>,
    summary: &Bound<'py, PyString>,
    policy: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = body.py();
    let rules = Rules::extract(&policy.getattr("rules")?)?;
    let job = Job::extract(summary, policy, rules.set())?;
    let data = body.as_bytes();
    match released(py, data, || job.run(data))? {
        Some(carried) => Ok(carried.answer(py)?.into_pyobject(py)?.into_any()),
        None => ask_reference(py, "carry_body", (body, summary, policy)),
    }
}

/// Let the reference do what the scan refuses.
pub(crate) fn ask_reference<'py>(
    py: Python<'py>,
    kernel: &str,
    arguments: impl PyCallArgs<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    py.import(intern!(py, "toolcarry._pure.kernels"))?.getattr(kernel)?.call1(arguments)
}
