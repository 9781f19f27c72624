//! Python's strings and bytes: borrowed as they are stored, and made in exact allocations.

#![allow(unsafe_code)] // strings and bytes are read and written as they are stored

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::string::PyStringData;
use pyo3::types::{PyBytes, PyString};
use toolcarry::context::output::Output;
use toolcarry::dedupe::shell;
use toolcarry::text::piece::Piece;
use toolcarry::text::truncate::Keep;
use toolcarry::text::{Text, Width};

use crate::policy::extract_keep;

/// The characters of a string, as they are stored.
pub(crate) fn text_of<'a>(string: Borrowed<'a, '_, PyString>) -> Text<'a> {
    // SAFETY: a string's characters neither move nor change while it lives, which 'a promises.
    unsafe {
        match string.data() {
            Ok(PyStringData::Ucs1(units)) => Text::Latin1(std::slice::from_raw_parts(units.as_ptr(), units.len())),
            Ok(PyStringData::Ucs2(units)) => Text::Ucs2(std::slice::from_raw_parts(units.as_ptr(), units.len())),
            Ok(PyStringData::Ucs4(units)) => Text::Ucs4(std::slice::from_raw_parts(units.as_ptr(), units.len())),
            Err(_) => Text::ascii(""), // a string that could not be made ready: it has no characters
        }
    }
}

/// A new string of exactly the size and the width of `output`.
pub(crate) fn new_string<'py>(py: Python<'py>, output: &Output<'_>) -> PyResult<Bound<'py, PyString>> {
    let (size, width) = (output.len(), output.width());
    let widest = match width {
        Width::Ascii => 0x7F,
        Width::Latin1 => 0xFF,
        Width::Ucs2 => 0xFFFF,
        Width::Ucs4 => 0x10_FFFF,
    };
    let length = isize::try_from(size)?;
    // SAFETY: a new string of some size is ours alone until it is returned, and its data holds `size` units of its
    // kind, all of which are written: `len` and `write` count the same pieces. The empty string is shared, and is
    // not written to.
    unsafe {
        let string = Bound::from_owned_ptr_or_err(py, ffi::PyUnicode_New(length, widest))?;
        let data = ffi::PyUnicode_DATA(string.as_ptr());
        if size > 0 {
            match width {
                Width::Ascii | Width::Latin1 => output.write(std::slice::from_raw_parts_mut(data.cast::<u8>(), size)),
                Width::Ucs2 => output.write(std::slice::from_raw_parts_mut(data.cast::<u16>(), size)),
                Width::Ucs4 => output.write(std::slice::from_raw_parts_mut(data.cast::<u32>(), size)),
            }
        }
        Ok(string.cast_into_unchecked())
    }
}

/// New bytes, so many, all of which `write` writes: they are not filled with zeros before.
pub(crate) fn new_bytes(py: Python<'_>, size: usize, write: impl FnOnce(&mut [u8])) -> PyResult<Bound<'_, PyBytes>> {
    let length = isize::try_from(size)?;
    // SAFETY: new bytes of some size are ours alone until they are returned; all are written. The empty ones are
    // shared, and are not written to.
    unsafe {
        let bytes = Bound::from_owned_ptr_or_err(py, ffi::PyBytes_FromStringAndSize(std::ptr::null(), length))?;
        if size > 0 {
            let data = ffi::PyBytes_AsString(bytes.as_ptr()).cast::<u8>();
            write(std::slice::from_raw_parts_mut(data, size));
        }
        Ok(bytes.cast_into_unchecked())
    }
}

/// A new string with the characters of `text`.
pub(crate) fn string_of<'py>(py: Python<'py>, text: Text<'_>) -> PyResult<Bound<'py, PyString>> {
    let mut output = Output::default();
    output.push(Piece::Borrowed(text));
    new_string(py, &output)
}

/// At most `limit` characters of `text`, then the marker where text was cut.
#[pyfunction]
#[pyo3(signature = (text, limit, *, keep = "head", marker = None))]
pub(crate) fn truncate<'py>(
    text: &Bound<'py, PyString>,
    limit: usize,
    keep: &str,
    marker: Option<&Bound<'py, PyString>>,
) -> PyResult<Bound<'py, PyString>> {
    let given = text_of(text.as_borrowed());
    let (head, tail) = toolcarry::text::sanitize::cut_text(given, limit, extract_keep(keep).unwrap_or(Keep::Head));
    if head == tail {
        return Ok(text.clone());
    }
    let marker = marker.map_or(Text::ascii("... [truncated]"), |marker| text_of(marker.as_borrowed()));
    joined(text.py(), given, (head, tail), marker)
}

/// A new string of what a cut leaves of `text`: its head, the marker, its tail.
pub(crate) fn joined<'py>(
    py: Python<'py>,
    text: Text<'_>,
    (head, tail): (usize, usize),
    marker: Text<'_>,
) -> PyResult<Bound<'py, PyString>> {
    let mut output = Output::default();
    output.push(Piece::Borrowed(text.slice(0, head)));
    output.push(Piece::Borrowed(marker));
    output.push(Piece::Borrowed(text.slice(tail, text.len())));
    new_string(py, &output)
}

/// Return whether a shell command line writes.
#[pyfunction]
pub(crate) fn has_side_effects(command: &Bound<'_, PyString>) -> bool {
    shell::has_side_effects(&text_of(command.as_borrowed()).to_utf8())
}
