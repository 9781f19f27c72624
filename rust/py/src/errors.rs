//! Convert the errors of the core to Python's, and say who has to read a conversation that it could not. No other file does
//! this.
//!
//! A kernel returns `None` for what only an importer can read; `toolcarry.importers.kernels` then imports it.

use std::convert::Infallible;

use pyo3::prelude::*;
use toolcarry::input::messages::Halt;
use toolcarry::json::error::Refused;

/// Return what the core made of a list of messages; `None` if an importer has to read it. Raises an `InputError` with the
/// number of a message that is not an object.
pub(crate) fn readable<T>(py: Python<'_>, found: Result<T, Halt<Infallible>>) -> PyResult<Option<T>> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(Halt::NeedsImport) => Ok(None),
        Err(Halt::NotAnObject { number, type_name }) => Err(input_error(py, number, &type_name)),
        Err(Halt::Source(never)) => match never {},
    }
}

fn input_error(py: Python<'_>, number: usize, type_name: &str) -> PyErr {
    let message = format!("message {number} is not an object, but {type_name}");
    let made = py
        .import("toolcarry.errors")
        .and_then(|errors| errors.getattr("InputError"))
        .and_then(|class| class.call1((message, number)));
    match made {
        Ok(error) => PyErr::from_value(error),
        Err(error) => error,
    }
}

/// The object that a kernel returns; `None` if only an importer can read the conversation.
pub(crate) type Answer<'py> = PyResult<Option<Bound<'py, PyAny>>>;

/// The reason why the core did not do a job on a body.
pub(crate) enum NotDone {
    /// An importer has to read the body.
    ForImporter,
    /// Python has to read it, which also finds the place where it is wrong.
    ForPython,
    /// Python raised an error.
    Raised(PyErr),
}

impl<E> From<Halt<E>> for NotDone {
    fn from(halt: Halt<E>) -> Self {
        if matches!(halt, Halt::NeedsImport) { Self::ForImporter } else { Self::ForPython }
    }
}

impl From<Refused> for NotDone {
    fn from(_: Refused) -> Self {
        Self::ForPython
    }
}

impl From<PyErr> for NotDone {
    fn from(error: PyErr) -> Self {
        Self::Raised(error)
    }
}

/// Return the object that `make` makes of a job's outcome, or `in_python`, if Python has to read the body.
pub(crate) fn answer<'py, T>(
    found: Result<T, NotDone>,
    make: impl FnOnce(T) -> PyResult<Bound<'py, PyAny>>,
    in_python: impl FnOnce() -> Answer<'py>,
) -> Answer<'py> {
    match found {
        Ok(found) => make(found).map(Some),
        Err(NotDone::ForImporter) => Ok(None),
        Err(NotDone::ForPython) => in_python(),
        Err(NotDone::Raised(error)) => Err(error),
    }
}
