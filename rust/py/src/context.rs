//! The kernels that return a text: `carry`, `explain` and `dialogue` for a conversation in Python objects or in bytes,
//! `carry_files` for files, and `format_tool_context` for blocks.

use std::convert::Infallible;
use std::fs::{File, Metadata};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use pyo3::IntoPyObjectExt;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString, PyTuple};
use toolcarry::context::handover::NumberedCall;
use toolcarry::context::policy::{Fate, Reasons, Settings};
use toolcarry::context::{Carried, Counts};
use toolcarry::dedupe::rules::RuleSet;
use toolcarry::input::messages::{Halt, List};
use toolcarry::input::{Conversation, room_for};
use toolcarry::text::OwnedText;
use toolcarry::text::piece::Piece;
use toolcarry::{context as job, context::dialogue as speech};

use crate::blocks::entries_of;
use crate::bytes::{ask_reference, in_body, released};
use crate::errors::{Answer, NotDone, answer, readable};
use crate::policy::{Rules, extract_settings};
use crate::py_text::{new_bytes, new_string, string_of, text_of};
use crate::py_value::Arena;
use crate::records::{record, row};
use crate::unread::unread_of;

/// Run the job and pass its outcome to `then`, while everything that it borrows is alive.
fn with_carried<'py, T>(
    (messages, summary, policy): (&Bound<'py, PyAny>, &Bound<'py, PyString>, &Bound<'py, PyAny>),
    is_traced: bool,
    then: impl FnOnce(Carried<'_>) -> PyResult<T>,
) -> PyResult<Option<T>> {
    let py = messages.py();
    let settings = extract_settings(policy)?;
    let rules = Rules::extract(&policy.getattr("rules")?)?;
    let arena = Arena::new(py);
    let given = List(arena.keep(messages.clone()));
    let summary = Piece::Borrowed(text_of(summary.as_borrowed()));
    let carried = job::carry(given, &summary, &settings, rules.set(), is_traced);
    arena.check()?;
    readable(py, carried)?.map(then).transpose()
}

/// Return the context of a conversation, and its report: for messages as text, for bytes as bytes.
#[pyfunction]
pub(crate) fn carry<'py>(
    given: &Bound<'py, PyAny>,
    summary: &Bound<'py, PyString>,
    policy: &Bound<'py, PyAny>,
) -> Answer<'py> {
    let py = given.py();
    if let Ok(body) = given.cast::<PyBytes>() {
        return carry_body(body, summary, policy);
    }
    with_carried((given, summary, policy), false, |carried| {
        outcome_of(py, new_string(py, &carried.output)?.into_any(), report_of(py, &carried.counts, &[])?)
    })
}

/// Return the age, the fate and the reason of every block that `carry` reads.
#[pyfunction]
pub(crate) fn explain<'py>(
    messages: &Bound<'py, PyAny>,
    summary: &Bound<'py, PyString>,
    policy: &Bound<'py, PyAny>,
) -> Answer<'py> {
    let py = messages.py();
    with_carried((messages, summary, policy), true, |carried| {
        let walked = carried.trace.into_iter().map(|(age, fate, reason)| walked_block_of(py, age, fate, reason));
        walked.collect::<PyResult<Vec<_>>>()?.into_bound_py_any(py)
    })
}

/// Make a `CarryOutcome`.
fn outcome_of<'py>(
    py: Python<'py>,
    context: Bound<'py, PyAny>,
    report: Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    Ok(row!(py, "toolcarry.types.outcomes", "CarryOutcome" {
        context: context,
        report: report,
    }))
}

/// Make a `WalkedBlock`.
fn walked_block_of<'py>(py: Python<'py>, age: usize, fate: Fate, reason: &str) -> PyResult<Bound<'py, PyAny>> {
    Ok(row!(py, "toolcarry.types.outcomes", "WalkedBlock" {
        age: age,
        fate: fate.name(),
        reason: reason,
    }))
}

/// Return the context of blocks from `deduplicate_tools`.
#[pyfunction]
pub(crate) fn format_tool_context<'py>(
    blocks: &Bound<'py, PyAny>,
    summary: &Bound<'py, PyString>,
    policy: &Bound<'py, PyAny>,
) -> PyResult<Option<Bound<'py, PyString>>> {
    let py = blocks.py();
    let settings = extract_settings(policy)?;
    let rules = Rules::extract(&policy.getattr("rules")?)?;
    let arena = Arena::new(py);
    let Some((entries, earlier)) = entries_of(&arena, blocks, true)? else { return Ok(None) };
    let entries = entries.into_iter().zip(earlier).collect();
    let summary = Piece::Borrowed(text_of(summary.as_borrowed()));
    let output = job::format_tool_context(entries, &summary, &settings, rules.set());
    arena.check()?;
    new_string(py, &output).map(Some)
}

/// Make a `Report`.
fn report_of<'py>(py: Python<'py>, counts: &Counts, skipped_lines: &[usize]) -> PyResult<Bound<'py, PyAny>> {
    let steps = counts.steps.iter().map(|call| numbered_call_of(py, call)).collect::<PyResult<Vec<_>>>()?;
    Ok(record!(py, "Report" {
        walked: counts.walked,
        walked_all: counts.walked_all,
        shown: counts.shown,
        cut: counts.cut,
        left_out: counts.left_out,
        superseded: reasons_dict(py, &counts.superseded)?,
        excluded: reasons_dict(py, &counts.excluded)?,
        orphan_calls: counts.orphan_calls,
        orphan_results: counts.orphan_results,
        duplicate_results: counts.duplicate_results,
        repeated_records: counts.repeated_records,
        errors: counts.errors,
        chars_before: counts.chars_before,
        chars_after: counts.chars_after,
        summary_cut: counts.summary_cut,
        budget_too_small: counts.budget_too_small,
        tokens_after: counts.tokens_after,
        block_tokens: PyTuple::new(py, &counts.block_tokens)?,
        steps: PyTuple::new(py, steps)?,
        skipped_lines: PyTuple::new(py, skipped_lines)?,
        unread: unread_of(py, &counts.unread)?,
        remarks: PyTuple::empty(py),
    }))
}

/// Make a `NumberedCall`.
fn numbered_call_of<'py>(py: Python<'py>, call: &NumberedCall) -> PyResult<Bound<'py, PyAny>> {
    Ok(record!(py, "NumberedCall" {
        number: call.number,
        position: call.position,
        call_id: string_of(py, call.call_id.as_text())?,
        place: call.place.name(),
    }))
}

pub(crate) fn reasons_dict<'py>(py: Python<'py>, reasons: &Reasons) -> PyResult<Bound<'py, PyAny>> {
    let dict = PyDict::new(py);
    for (reason, count) in reasons {
        dict.set_item(reason, count)?;
    }
    Ok(dict.into_any())
}

/// The outcome of `carry` for bytes.
pub(crate) struct CarriedBytes {
    context: Py<PyBytes>,
    counts: Counts,
    skipped_lines: Vec<usize>,
}

impl CarriedBytes {
    fn object(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        let report = report_of(py, &self.counts, &self.skipped_lines)?;
        outcome_of(py, self.context.into_bound(py).into_any(), report)
    }
}

/// The arguments of `carry`, without Python objects.
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

    /// Return the context of a conversation.
    fn run(&self, conversation: &Conversation<'_>) -> Result<CarriedBytes, NotDone> {
        let summary = Piece::Borrowed(self.summary.as_text());
        let Carried { output, counts, .. } = job::carry(conversation, &summary, &self.settings, self.rules, false)?;
        let (size, write) = (output.utf8_len(), |room: &mut [u8]| output.write_utf8(room));
        let context = Python::attach(|py| new_bytes(py, size, write).map(Bound::unbind))?;
        Ok(CarriedBytes { context, counts, skipped_lines: conversation.skipped_lines() })
    }
}

fn carry_body<'py>(
    body: &Bound<'py, PyBytes>,
    summary: &Bound<'py, PyString>,
    policy: &Bound<'py, PyAny>,
) -> Answer<'py> {
    let py = body.py();
    let rules = Rules::extract(&policy.getattr("rules")?)?;
    let job = Job::extract(summary, policy, rules.set())?;
    let found = in_body(py, body.as_bytes(), |conversation| job.run(conversation));
    answer(found, |carried| carried.object(py), || ask_reference(py, "carry", (body, summary, policy)))
}

/// The outcome of one file.
type Found = Result<CarriedBytes, NotDone>;

/// Return the context of each file, or the error for a file that can't be read or is not a conversation.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)] // PyO3 passes extracted arguments by value
pub(crate) fn carry_files<'py>(
    py: Python<'py>,
    paths: Vec<PathBuf>,
    summary: &Bound<'py, PyString>,
    policy: &Bound<'py, PyAny>,
    threads: usize,
) -> PyResult<Vec<Option<Bound<'py, PyAny>>>> {
    let rules = Rules::extract(&policy.getattr(intern!(py, "rules"))?)?;
    let job = Job::extract(summary, policy, rules.set())?;
    let found = py.detach(|| run_all(&job, &paths, threads))?;
    let mut answers = Vec::with_capacity(paths.len());
    for (path, found) in paths.iter().zip(found) {
        let found = if matches!(found, Err(NotDone::ForPython)) { run_packed(py, &job, path) } else { found };
        let reference = || {
            let found = ask_reference(py, "carry_files", ([path], summary, policy, 1))?;
            found.map(|found| found.get_item(0)).transpose()
        };
        answers.push(answer(found, |carried| carried.object(py), reference)?);
    }
    Ok(answers)
}

/// Run the job on all files, with threads that take one file after the other. The calling thread checks for signals
/// between its files.
#[allow(clippy::redundant_closure_for_method_calls)] // the path of the method is not general enough over lifetimes
fn run_all(job: &Job<'_>, paths: &[PathBuf], threads: usize) -> PyResult<Vec<Found>> {
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<Found>> = Mutex::new(paths.iter().map(|_| Err(NotDone::ForPython)).collect());
    let take_one = |buffer: &mut Vec<u8>| {
        let number = next.fetch_add(1, Ordering::Relaxed);
        let Some(path) = paths.get(number) else { return false };
        let found = if read(path, buffer) { run_bytes(job, buffer) } else { Err(NotDone::ForPython) };
        let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(slot) = done.get_mut(number) {
            *slot = found;
        }
        true
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.min(paths.len()) {
            scope.spawn(|| {
                let mut buffer = Vec::new();
                while take_one(&mut buffer) {}
            });
        }
        let mut buffer = Vec::new();
        while take_one(&mut buffer) {
            Python::attach(|py| py.check_signals()).inspect_err(|_| next.store(paths.len(), Ordering::Relaxed))?;
        }
        Ok::<_, PyErr>(())
    })?;
    Ok(done.into_inner().unwrap_or_else(PoisonError::into_inner))
}

fn run_bytes(job: &Job<'_>, data: &[u8]) -> Found {
    job.run(&Conversation::open(data, &room_for(data))?)
}

/// Run the job on a packed file or a folder of events. What is neither, or can't be read, is left to Python.
fn run_packed(py: Python<'_>, job: &Job<'_>, path: &Path) -> Found {
    let unpack = py.import(intern!(py, "toolcarry._input.archive"))?;
    let read = unpack.getattr(intern!(py, "read_packed"))?.call1((path,))?;
    let Ok(data) = read.cast::<PyBytes>() else { return Err(NotDone::ForPython) };
    let data = data.as_bytes();
    released(py, data, || run_bytes(job, data))
}

/// Read a file into `buffer`, up to the size that it has now. Return false, which leaves it to the
/// reference, if it is empty, can't be read, or is not a file. It is not mapped: the process would end with SIGBUS if
/// another one truncated it meanwhile.
fn read(path: &Path, buffer: &mut Vec<u8>) -> bool {
    buffer.clear();
    let Some(metadata) = path.metadata().ok().filter(Metadata::is_file) else { return false };
    File::open(path).and_then(|file| file.take(metadata.len()).read_to_end(buffer)).is_ok_and(|size| size > 0)
}

/// Return the dialogue of a conversation.
#[pyfunction]
pub(crate) fn dialogue<'py>(given: &Bound<'py, PyAny>) -> Answer<'py> {
    let py = given.py();
    if let Ok(body) = given.cast::<PyBytes>() {
        return dialogue_of_body(body);
    }
    let arena = Arena::new(py);
    let found: Result<_, Halt<Infallible>> = speech::dialogue(&List(arena.keep(given.clone())));
    arena.check()?;
    readable(py, found)?.map(|text| Ok(new_string(py, &text)?.into_any())).transpose()
}

fn dialogue_of_body<'py>(body: &Bound<'py, PyBytes>) -> Answer<'py> {
    let py = body.py();
    let found = in_body(py, body.as_bytes(), |conversation| Ok(speech::dialogue(conversation)?.to_utf8()));
    answer(found, |text| Ok(PyString::new(py, &text).into_any()), || ask_reference(py, "dialogue", (body,)))
}
