//! The lines of a session file as the parts that commits are made of.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString, PyTuple};
use toolcarry::history::session_lines::{Part, Unread, What, read_line};
use toolcarry::input::room_for;
use toolcarry::text::OwnedText;

use crate::bytes::{LARGE, ask_reference};
use crate::strings::string_of;
use crate::tokens::load;

/// The parts of lines; the reference reads what only it can. The interpreter is released where they are large together.
#[pyfunction]
pub(crate) fn read_lines<'py>(lines: &Bound<'py, PyList>, ends: usize) -> PyResult<Bound<'py, PyList>> {
    let py = lines.py();
    let encoding = load(py, "o200k_base")?;
    let kept: Vec<Bound<'_, PyBytes>> = lines.extract()?;
    let data: Vec<&[u8]> = kept.iter().map(PyBytesMethods::as_bytes).collect();
    let read = || -> Vec<Result<Option<Vec<Part>>, Unread>> {
        data.iter().map(|line| read_line(line, ends, encoding, &room_for(line))).collect()
    };
    let is_large = data.iter().map(|line| line.len()).sum::<usize>() >= LARGE;
    let read = if is_large { py.detach(read) } else { read() };
    let found = PyList::empty(py);
    for (line, parts) in kept.into_iter().zip(read) {
        match parts {
            Ok(None) => found.append(py.None())?,
            Ok(Some(parts)) => {
                let parts = parts.iter().map(|part| tuple_of(py, part)).collect::<PyResult<Vec<_>>>()?;
                found.append(parts)?;
            }
            Err(Unread) => found.append(ask_reference(py, "read_lines", (vec![line], ends))?.get_item(0)?)?,
        }
    }
    Ok(found)
}

/// A part as `LinePart` has it.
fn tuple_of<'py>(py: Python<'py>, part: &Part) -> PyResult<Bound<'py, PyTuple>> {
    let text = |text: &OwnedText| -> PyResult<Bound<'py, PyString>> { string_of(py, text.as_text()) };
    let (mut kind, mut calls, mut names, mut result, mut suspect) = (0, None, Vec::new(), None, None);
    match &part.what {
        What::Message => {}
        What::Calls(known, written) => {
            kind = 1;
            for [call_id, name] in known {
                names.push((text(call_id)?, text(name)?));
            }
            calls = Some(PyBytes::new(py, written));
        }
        What::Result { call_id, name, is_error, suspect: found } => {
            kind = 2;
            result = Some((text(call_id)?, text(name)?, *is_error));
            suspect = found.as_ref().map(text).transpose()?;
        }
    }
    let role = match part.role {
        "tool" => intern!(py, "tool"),
        "assistant" => intern!(py, "assistant"),
        "user" => intern!(py, "user"),
        _ => intern!(py, "system"),
    };
    (kind, role, part.tokens, calls, names, result, suspect).into_pyobject(py)
}
