//! `carry_files`: many files, in Rust's threads.

#![allow(unsafe_code)] // files are mapped

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use memmap2::Mmap;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use crate::bytes::{CarriedBytes, Job, ask_reference, released};
use crate::settings::Rules;

/// So many files stay mapped until the threads are done. To let go of one takes a word with each processor that a thread
/// runs on, which for many a file is longer than to read it.
const MOST_MAPPED: usize = 1_024;

/// What a thread made of a file; nothing where the reference has to be asked.
type Found = PyResult<Option<CarriedBytes>>;

/// The context of each file, or the error for one that can't be read or holds no conversation.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)] // an argument as it is extracted
pub(crate) fn carry_files<'py>(
    py: Python<'py>,
    paths: Vec<PathBuf>,
    summary: &Bound<'py, PyString>,
    policy: &Bound<'py, PyAny>,
    threads: usize,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let rules = Rules::extract(&policy.getattr(intern!(py, "rules"))?)?;
    let job = Job::extract(summary, policy, rules.set())?;
    let found = py.detach(|| run_all(&job, &paths, threads))?;
    let mut answers = Vec::with_capacity(paths.len());
    for (path, found) in paths.iter().zip(found) {
        answers.push(match found? {
            Some(carried) => carried.answer(py)?.into_pyobject(py)?.into_any(),
            None => match run_packed(py, &job, path)? {
                Some(carried) => carried.answer(py)?.into_pyobject(py)?.into_any(),
                None => ask_reference(py, "carry_files", ([path], summary, policy, 1))?.get_item(0)?,
            },
        });
    }
    Ok(answers)
}

/// Let the threads take one file after the other. Between its own, this thread looks whether it was interrupted.
#[allow(clippy::redundant_closure_for_method_calls)] // the method by itself is not general enough
fn run_all(job: &Job<'_>, paths: &[PathBuf], threads: usize) -> PyResult<Vec<Found>> {
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<Found>> = Mutex::new(paths.iter().map(|_| Ok(None)).collect());
    let mapped: Mutex<Vec<Mmap>> = Mutex::default(); // outlives the threads, as what they found does
    let take_one = || {
        let number = next.fetch_add(1, Ordering::Relaxed);
        let Some(path) = paths.get(number) else { return false };
        let data = map(path);
        let found = data.as_ref().map_or(Ok(None), |data| job.run(data));
        keep_mapped(&mapped, data);
        let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(slot) = done.get_mut(number) {
            *slot = found;
        }
        true
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.min(paths.len()) {
            scope.spawn(|| while take_one() {});
        }
        while take_one() {
            Python::attach(|py| py.check_signals()).inspect_err(|_| next.store(paths.len(), Ordering::Relaxed))?;
        }
        Ok::<_, PyErr>(())
    })?;
    Ok(done.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// Keep a file mapped, and let go of those before where they are too many. The others need not wait for that.
fn keep_mapped(mapped: &Mutex<Vec<Mmap>>, data: Option<Mmap>) {
    let mut kept = mapped.lock().unwrap_or_else(PoisonError::into_inner);
    let too_many = if kept.len() < MOST_MAPPED { Vec::new() } else { std::mem::take(&mut *kept) };
    kept.extend(data);
    drop(kept);
    drop(too_many);
}

/// What is packed, or a folder of events; nothing where it is neither, or can't be read.
fn run_packed(py: Python<'_>, job: &Job<'_>, path: &Path) -> Found {
    let unpack = py.import(intern!(py, "toolcarry._input.archive"))?;
    let read = unpack.getattr(intern!(py, "read_packed"))?.call1((path,))?;
    let Ok(data) = read.cast::<PyBytes>() else { return Ok(None) };
    let data = data.as_bytes();
    released(py, data, || job.run(data))
}

/// The data of a file. What is no file, is empty, or can't be opened is left to the reference.
fn map(path: &Path) -> Option<Mmap> {
    let is_file = path.metadata().is_ok_and(|data| data.is_file() && data.len() > 0);
    let file = is_file.then(|| File::open(path).ok()).flatten()?;
    // SAFETY: the file must not become shorter while it is mapped, which the documentation asks of the caller; what
    // is written to it meanwhile is at worst read half, and refused like any other line.
    unsafe { Mmap::map(&file) }.ok()
}
