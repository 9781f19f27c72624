//! Instances of Python's dataclasses and named tuples, made by the names of their fields.
//!
//! `record!(py, "Mend" { kind: ..., position: ..., ... })` makes a dataclass of `toolcarry.types.values`. Its fields are
//! set directly, because the initializer of a frozen dataclass takes several times as long. `row!` makes a named tuple
//! of a module. The first use compares the names with those of the class, so that no field is left unset or exchanged.

#![allow(unsafe_code)] // instances are created, and their fields set, without their initializer

use std::ptr::null_mut;

use pyo3::exceptions::PyImportError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

/// A class, and the names of its fields in their order.
pub(crate) struct Record {
    module: &'static str,
    name: &'static str,
    fields: &'static [&'static str],
    class: PyOnceLock<Py<PyType>>,
    slots: PyOnceLock<Vec<Py<PyAny>>>,
}

impl Record {
    pub(crate) const fn new(module: &'static str, name: &'static str, fields: &'static [&'static str]) -> Self {
        Self { module, name, fields, class: PyOnceLock::new(), slots: PyOnceLock::new() }
    }

    /// Return the class. The first call imports it, and compares its fields.
    pub(crate) fn class<'py>(&self, py: Python<'py>) -> PyResult<&Bound<'py, PyType>> {
        let import = || {
            let class = py.import(self.module)?.getattr(self.name)?.cast_into::<PyType>()?;
            check_fields(&class, self.fields)?;
            Ok::<_, PyErr>(class.unbind())
        };
        Ok(self.class.get_or_try_init(py, import)?.bind(py))
    }

    /// Make an instance of a dataclass with slots. The descriptor of each slot sets its field, which is what
    /// `object.__setattr__` would find after some look-ups.
    pub(crate) fn make<'py>(&self, py: Python<'py>, values: &[Bound<'py, PyAny>]) -> PyResult<Bound<'py, PyAny>> {
        let class = self.class(py)?;
        let find = || self.fields.iter().map(|field| class.getattr(*field).map(Bound::unbind)).collect();
        let slots = self.slots.get_or_try_init(py, find)?;
        // SAFETY: the class is a live type, and its instances are valid without any of their fields.
        let made = unsafe {
            let made = ffi::PyType_GenericNew(class.as_type_ptr(), null_mut(), null_mut());
            Bound::from_owned_ptr_or_err(py, made)?
        };
        for (slot, value) in slots.iter().zip(values) {
            // SAFETY: a type lives as long as its instances, and all three objects until the call returns, which takes
            // its own references.
            let done = unsafe {
                let set = (*ffi::Py_TYPE(slot.as_ptr())).tp_descr_set;
                set.map(|set| set(slot.as_ptr(), made.as_ptr(), value.as_ptr()))
            };
            match done {
                Some(0) => {}
                Some(_) => return Err(PyErr::fetch(py)),
                None => return Err(PyImportError::new_err(format!("{} has no slots", self.name))),
            }
        }
        Ok(made)
    }
}

/// Raise an error if a class has other fields, as when the package was updated without the extension.
fn check_fields(class: &Bound<'_, PyType>, fields: &[&str]) -> PyResult<()> {
    let declared: Vec<String> = class.getattr("__match_args__")?.extract()?;
    if declared == fields {
        return Ok(());
    }
    let (name, declared, fields) = (class.name()?, declared.join(", "), fields.join(", "));
    Err(PyImportError::new_err(format!("{name} has the fields {declared}, but the extension writes {fields}")))
}

/// Make a dataclass of `toolcarry.types.values`: `record!(py, "Class" { field: value, ... })`, with all of its fields.
macro_rules! record {
    ($py:expr, $class:literal { $($field:ident: $value:expr),+ $(,)? }) => {{
        static RECORD: $crate::records::Record =
            $crate::records::Record::new("toolcarry.types.values", $class, &[$(stringify!($field)),+]);
        RECORD.make($py, &[$(pyo3::IntoPyObjectExt::into_bound_py_any($value, $py)?),+])?
    }};
}
pub(crate) use record;

/// Make a named tuple: `row!(py, "module", "Class" { field: value, ... })`, with all of its fields in their order.
macro_rules! row {
    ($py:expr, $module:literal, $class:literal { $($field:ident: $value:expr),+ $(,)? }) => {{
        static ROW: $crate::records::Record =
            $crate::records::Record::new($module, $class, &[$(stringify!($field)),+]);
        ROW.class($py)?.call1(($($value,)+))?
    }};
}
pub(crate) use row;
