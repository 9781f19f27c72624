//! Instances of Python's structs and named tuples, made by the names of their fields.
//!
//! `record!(py, "Mend" { kind: ..., position: ..., ... })` makes a struct of `toolcarry.types.values`, and `row!` a named
//! tuple of a module, with all of its fields in their order. The first use compares the names with those of the class, so
//! that no field is left unset or exchanged.

use pyo3::exceptions::PyImportError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyTuple, PyType};

/// A class, and the names of its fields in their order.
pub(crate) struct Record {
    module: &'static str,
    name: &'static str,
    fields: &'static [&'static str],
    class: PyOnceLock<Py<PyType>>,
}

impl Record {
    pub(crate) const fn new(module: &'static str, name: &'static str, fields: &'static [&'static str]) -> Self {
        Self { module, name, fields, class: PyOnceLock::new() }
    }

    /// Make an instance of the values of its fields. The first call imports the class.
    pub(crate) fn make<'py>(&self, py: Python<'py>, values: &[Bound<'py, PyAny>]) -> PyResult<Bound<'py, PyAny>> {
        let class = self.class.get_or_try_init(py, || self.find(py))?;
        class.bind(py).call1(PyTuple::new(py, values)?)
    }

    /// Import the class. Raise an error if it has other fields, as when the package was updated without the extension.
    fn find(&self, py: Python<'_>) -> PyResult<Py<PyType>> {
        let class = py.import(self.module)?.getattr(self.name)?.cast_into::<PyType>()?;
        let declared: Vec<String> = class.getattr("__match_args__")?.extract()?;
        if declared == self.fields {
            return Ok(class.unbind());
        }
        let (name, declared, fields) = (self.name, declared.join(", "), self.fields.join(", "));
        Err(PyImportError::new_err(format!("{name} has the fields {declared}, but the extension writes {fields}")))
    }
}

/// Make a struct of `toolcarry.types.values`: `record!(py, "Class" { field: value, ... })`.
macro_rules! record {
    ($py:expr, $class:literal { $($fields:tt)+ }) => {
        $crate::records::row!($py, "toolcarry.types.values", $class { $($fields)+ })
    };
}
pub(crate) use record;

/// Make an instance of another module's class: `row!(py, "module", "Class" { field: value, ... })`.
macro_rules! row {
    ($py:expr, $module:literal, $class:literal { $($field:ident: $value:expr),+ $(,)? }) => {{
        static RECORD: $crate::records::Record =
            $crate::records::Record::new($module, $class, &[$(stringify!($field)),+]);
        RECORD.make($py, &[$(pyo3::IntoPyObjectExt::into_bound_py_any($value, $py)?),+])?
    }};
}
pub(crate) use row;
