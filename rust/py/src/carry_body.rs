//! `carry` for bytes.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString, PyTuple};
use toolcarry::context::policy::Settings;
use toolcarry::context::{Carried, Counts, carry};
use toolcarry::dedupe::rules::RuleSet;
use toolcarry::input::{Conversation, room_for};
use toolcarry::text::OwnedText;
use toolcarry::text::piece::Piece;

use crate::bytes::{ask_reference, released};
use crate::context::counts_tuple;
use crate::settings::{Rules, extract_settings};
use crate::strings::{new_bytes, text_of};

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
