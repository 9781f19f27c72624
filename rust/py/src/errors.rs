//! The one place where the core's errors become Python's.

use pyo3::prelude::*;
use toolcarry::pair::NotAnObject;

/// `InputError` with the position of the message.
pub(crate) fn input_error(py: Python<'_>, error: &NotAnObject) -> PyErr {
    let NotAnObject { position, type_name } = error;
    let message = format!("message {position} is not an object, but {type_name}");
    let made = py
        .import("toolcarry.errors")
        .and_then(|errors| errors.getattr("InputError"))
        .and_then(|class| class.call1((message, *position)));
    match made {
        Ok(error) => PyErr::from_value(error),
        Err(error) => error,
    }
}
