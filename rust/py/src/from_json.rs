//! Convert scanned JSON to the Python objects that the shared decoder would make.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyList, PyString};
use toolcarry::json::scanned::{Scanned, Written};
use toolcarry::json::value::Value;

use crate::py_text::string_of;

/// Convert a value to an object. The scan limits the depth, so recursion is safe.
pub(crate) fn python_of<'py>(py: Python<'py>, value: Scanned<'_>) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value.written() {
        Written::Null => py.None().into_bound(py),
        Written::Bool(is_true) => PyBool::new(py, is_true).to_owned().into_any(),
        Written::Number(digits) => number_of(py, digits)?,
        Written::Text => {
            let text = value.brief_text().unwrap_or_default(); // decoded text is not kept next to the string
            string_of(py, text.text())?.into_any()
        }
        Written::List => {
            let items = (0..value.count()).filter_map(|index| value.item(index));
            PyList::new(py, items.map(|item| python_of(py, item)).collect::<PyResult<Vec<_>>>()?)?.into_any()
        }
        Written::Object => {
            let dict = PyDict::new(py);
            let mut done = Ok(());
            value.members(&mut |name, value| {
                let key: PyResult<Bound<'py, PyString>> = string_of(py, name);
                done = key.and_then(|key| dict.set_item(key, python_of(py, value)?));
                done.is_ok()
            });
            done?;
            dict.into_any()
        }
    })
}

/// Convert a number: to a float if it has a point or an exponent; long integers are left to the shared decoder.
fn number_of<'py>(py: Python<'py>, digits: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    let text = std::str::from_utf8(digits).unwrap_or_default();
    if let Ok(number) = text.parse::<i64>() {
        return Ok(number.into_pyobject(py)?.into_any());
    }
    if text.contains(['.', 'e', 'E']) {
        return Ok(PyFloat::new(py, text.parse()?).into_any());
    }
    let decode = py.import(intern!(py, "toolcarry._input.json_slowly"))?;
    decode.getattr(intern!(py, "parse_integer"))?.call1((text,))
}
