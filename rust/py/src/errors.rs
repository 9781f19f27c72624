//! Convert the core's errors to Python's. No other file does this.

use std::convert::Infallible;

use pyo3::prelude::*;
use toolcarry::input::messages::Halt;

/// Return an `InputError` with the number of the message, or a `NeedsImport`.
pub(crate) fn input_error(py: Python<'_>, halt: Halt<Infallible>) -> PyErr {
    let (number, type_name) = match halt {
        Halt::NotAnObject { number, type_name } => (number, type_name),
        Halt::NeedsImport => return needs_import(py),
        Halt::Source(never) => match never {},
    };
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

/// Return what the core made of a body; `None` if Python has to read it. Raises `NeedsImport` if an importer has to.
pub(crate) fn known<T, E>(found: Result<T, Halt<E>>) -> PyResult<Option<T>> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(Halt::NeedsImport) => Err(Python::attach(needs_import)),
        Err(_) => Ok(None),
    }
}

/// Return true if an error is a `NeedsImport`.
pub(crate) fn is_needs_import(py: Python<'_>, error: &PyErr) -> bool {
    let class = py.import("toolcarry.errors").and_then(|errors| errors.getattr("NeedsImport"));
    class.is_ok_and(|class| error.matches(py, class).unwrap_or(false))
}

/// Return a `NeedsImport`: the caller imports the messages and calls the kernel again.
pub(crate) fn needs_import(py: Python<'_>) -> PyErr {
    let made =
        py.import("toolcarry.errors").and_then(|errors| errors.getattr("NeedsImport")).and_then(|class| class.call0());
    match made {
        Ok(error) => PyErr::from_value(error),
        Err(error) => error,
    }
}
