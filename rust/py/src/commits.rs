//! Commits of the canonical history, made of their rows.

#![allow(unsafe_code)] // the fields of a frozen value are set as `object.__setattr__` sets them

use pyo3::exceptions::{PyArithmeticError, PyAttributeError, PyLookupError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDelta, PyDict, PyInt, PyList, PyString, PyTuple, PyType};

const DAY: i64 = 86_400;
const MICROSECONDS: i64 = 1_000_000;

/// The fewest digits of an integer that may be beyond 64 bits.
const LONG_INTEGER: usize = 19;

static EPOCH: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
static LOADS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
static LOAD_METADATA: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// The commits of rows that are known to be what was written, up to the first that holds what never was.
#[pyfunction]
pub(crate) fn commits_of<'py>(
    rows: &Bound<'py, PyList>,
    conversation: &Bound<'py, PyString>,
    commit: &Bound<'py, PyType>,
    kinds: &Bound<'py, PyTuple>,
) -> PyResult<Bound<'py, PyList>> {
    let py = rows.py();
    let maker = Maker::new(conversation, commit, kinds)?;
    let found = PyList::empty(py);
    for row in rows.iter() {
        match maker.commit_of(&row) {
            Ok(commit) => found.append(commit)?,
            Err(error) if is_unreadable(py, &error) => break,
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

/// Whether an error says that a row holds what was never written.
fn is_unreadable(py: Python<'_>, error: &PyErr) -> bool {
    error.is_instance_of::<PyTypeError>(py)
        || error.is_instance_of::<PyValueError>(py)
        || error.is_instance_of::<PyLookupError>(py)
        || error.is_instance_of::<PyArithmeticError>(py)
        || error.is_instance_of::<PyAttributeError>(py)
}

/// What the commits of one conversation are made with.
struct Maker<'r, 'py> {
    conversation: &'r Bound<'py, PyString>,
    commit: &'r Bound<'py, PyType>,
    kinds: &'r Bound<'py, PyTuple>,
    new: Bound<'py, PyAny>,
    epoch: &'r Bound<'py, PyAny>,
    loads: &'r Bound<'py, PyAny>,
    load_metadata: &'r Bound<'py, PyAny>,
}

impl<'r, 'py> Maker<'r, 'py> {
    fn new(
        conversation: &'r Bound<'py, PyString>,
        commit: &'r Bound<'py, PyType>,
        kinds: &'r Bound<'py, PyTuple>,
    ) -> PyResult<Self> {
        let py = commit.py();
        Ok(Self {
            conversation,
            commit,
            kinds,
            new: commit.getattr(intern!(py, "__new__"))?,
            epoch: EPOCH.import(py, "toolcarry._pure.history.hashing", "EPOCH")?,
            loads: LOADS.import(py, "orjson", "loads")?,
            load_metadata: LOAD_METADATA.import(py, "toolcarry._pure.history.hashing", "load_metadata")?,
        })
    }

    /// The commit of one row. What a frozen value's own initializer does takes longer than all else.
    fn commit_of(&self, row: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = row.py();
        let row = row.cast::<PyTuple>()?.as_slice();
        let [sequence, found, parent, role, kind, content, metadata, tokens, created_at, ..] = row else {
            return Err(PyValueError::new_err("a row has more columns"));
        };
        let hex = |hash: &Bound<'py, PyAny>| hash.call_method0(intern!(py, "hex"));
        let parent = if parent.is_none() { parent.clone() } else { hex(parent)? };
        let commit = self.new.call1((self.commit,))?;
        let set = |name: &Bound<'py, PyString>, value: &Bound<'py, PyAny>| set_field(&commit, name, value);
        set(intern!(py, "commit_hash"), &hex(found)?)?;
        set(intern!(py, "parent_hash"), &parent)?;
        set(intern!(py, "conversation"), self.conversation.as_any())?;
        set(intern!(py, "sequence"), sequence)?;
        set(intern!(py, "role"), role)?;
        set(intern!(py, "kind"), &self.kinds.get_item(kind.extract()?)?)?;
        set(intern!(py, "content_hash"), &hex(content)?)?;
        set(intern!(py, "metadata"), &self.metadata(metadata.cast()?)?)?;
        set(intern!(py, "token_count"), tokens)?;
        set(intern!(py, "created_at"), &self.time(created_at.cast()?)?)?;
        Ok(commit)
    }

    /// Metadata from its canonical bytes, in which the reference reads long integers and lone surrogates.
    fn metadata(&self, written: &Bound<'py, PyBytes>) -> PyResult<Bound<'py, PyAny>> {
        if !has_long_integer(written.as_bytes())
            && let Ok(found) = self.loads.call1((written,))
            && found.is_exact_instance_of::<PyDict>()
        {
            return Ok(found);
        }
        self.load_metadata.call1((written,))
    }

    fn time(&self, created_at: &Bound<'py, PyInt>) -> PyResult<Bound<'py, PyAny>> {
        let created_at: i64 = created_at.extract()?;
        let (seconds, microseconds) = (created_at.div_euclid(MICROSECONDS), created_at.rem_euclid(MICROSECONDS));
        let (days, seconds) = (seconds.div_euclid(DAY), seconds.rem_euclid(DAY));
        let parts = (i32::try_from(days)?, i32::try_from(seconds)?, i32::try_from(microseconds)?);
        self.epoch.add(PyDelta::new(self.epoch.py(), parts.0, parts.1, parts.2, false)?)
    }
}

/// Set a field of a frozen value that nobody else has yet.
fn set_field<'py>(value: &Bound<'py, PyAny>, name: &Bound<'py, PyString>, to: &Bound<'py, PyAny>) -> PyResult<()> {
    // SAFETY: all three are objects that live until the call returns, which takes references of its own.
    let done = unsafe { ffi::PyObject_GenericSetAttr(value.as_ptr(), name.as_ptr(), to.as_ptr()) };
    if done == 0 { Ok(()) } else { Err(PyErr::fetch(value.py())) }
}

/// Whether so many digits stand in a row: then one of them is among the bytes that are looked at.
fn has_long_integer(written: &[u8]) -> bool {
    let is_digit = |byte: &&u8| byte.is_ascii_digit();
    (LONG_INTEGER - 1..written.len()).step_by(LONG_INTEGER).any(|place| {
        let (before, after) = written.split_at(place);
        let after = after.iter().take_while(is_digit).count();
        after > 0 && before.iter().rev().take_while(is_digit).count() + after >= LONG_INTEGER
    })
}
