//! The lines of session files, split into the parts that become commits of the history.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString, PyTuple};
use toolcarry::input::room_for;
use toolcarry::session_lines::{Part, PartKind, Unread, read_line};
use toolcarry::text::OwnedText;

use crate::bytes::{LARGE, ask_reference};
use crate::encodings::load;
use crate::py_text::string_of;
use crate::records::row;

/// Return the parts of session lines; lines that the core can't read go to the fallback. The interpreter is released
/// if the lines are large in total. Returns `None` if an importer has to read one of them.
#[pyfunction]
pub(crate) fn read_lines<'py>(lines: &Bound<'py, PyList>) -> PyResult<Option<Bound<'py, PyList>>> {
    let py = lines.py();
    let encoding = load(py, "o200k_base")?;
    let kept: Vec<Bound<'_, PyBytes>> = lines.extract()?;
    let data: Vec<&[u8]> = kept.iter().map(PyBytesMethods::as_bytes).collect();
    let read = || -> Vec<Result<Option<Vec<Part>>, Unread>> {
        data.iter().map(|line| read_line(line, encoding, &room_for(line))).collect()
    };
    let is_large = data.iter().map(|line| line.len()).sum::<usize>() >= LARGE;
    let read = if is_large { py.detach(read) } else { read() };
    let found = PyList::empty(py);
    for (line, parts) in kept.into_iter().zip(read) {
        match parts {
            Ok(None) => found.append(py.None())?,
            Ok(Some(parts)) => {
                let parts = parts.iter().map(|part| line_part(py, part)).collect::<PyResult<Vec<_>>>()?;
                found.append(parts)?;
            }
            Err(Unread) => match ask_reference(py, "read_lines", (vec![line],))?.filter(|read| !read.is_none()) {
                Some(read) => found.append(read.get_item(0)?)?,
                None => return Ok(None),
            },
        }
    }
    Ok(Some(found))
}

/// Make a `LinePart`.
fn line_part<'py>(py: Python<'py>, part: &Part) -> PyResult<Bound<'py, PyAny>> {
    let text = |text: &OwnedText| -> PyResult<Bound<'py, PyString>> { string_of(py, text.as_text()) };
    let (mut kind, mut calls, mut names, mut result, mut suspect) = (0, None, Vec::new(), None, None);
    match &part.what {
        PartKind::Message => {}
        PartKind::Calls(known, written) => {
            kind = 1;
            for [call_id, name] in known {
                names.push((text(call_id)?, text(name)?));
            }
            calls = Some(PyBytes::new(py, written));
        }
        PartKind::Result { call_id, name, is_error, suspect: found } => {
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
    Ok(row!(py, "toolcarry.model.session_lines", "LinePart" {
        kind: kind,
        role: role,
        token_count: part.tokens,
        calls: calls,
        names: PyTuple::new(py, names)?,
        result: result,
        suspect: suspect,
    }))
}
