//! Python strings and bytes: borrowed without a copy, and created in exact allocations.

#![allow(unsafe_code)] // the memory of strings and bytes is read and written directly

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::string::PyStringData;
use pyo3::types::{PyBytes, PyString};
use toolcarry::context::output::Output;
use toolcarry::text::piece::Piece;
use toolcarry::text::{Text, Width};

/// Borrow the characters of a string, in the width that the string stores them in.
pub(crate) fn text_of<'a>(string: Borrowed<'a, '_, PyString>) -> Text<'a> {
    // SAFETY: a string's characters neither move nor change while the string lives, and it lives for 'a.
    unsafe {
        match string.data() {
            Ok(PyStringData::Ucs1(units)) => Text::Latin1(std::slice::from_raw_parts(units.as_ptr(), units.len())),
            Ok(PyStringData::Ucs2(units)) => Text::Ucs2(std::slice::from_raw_parts(units.as_ptr(), units.len())),
            Ok(PyStringData::Ucs4(units)) => Text::Ucs4(std::slice::from_raw_parts(units.as_ptr(), units.len())),
            Err(_) => Text::ascii(""), // a legacy string that CPython could not convert: it has no characters
        }
    }
}

/// Return true if a string is certainly ASCII: its characters follow its header, which all others extend.
pub(crate) fn is_ascii(string: Borrowed<'_, '_, PyString>) -> bool {
    let Text::Latin1(units) = text_of(string) else { return false };
    units.as_ptr().addr() == string.as_ptr().addr() + size_of::<ffi::PyASCIIObject>()
}

/// Create a string with exactly the size and the width of `output`.
pub(crate) fn new_string<'py>(py: Python<'py>, output: &Output<'_>) -> PyResult<Bound<'py, PyString>> {
    let (size, width) = (output.len(), output.width());
    let widest = match width {
        Width::Ascii => 0x7F,
        Width::Latin1 => 0xFF,
        Width::Ucs2 => 0xFFFF,
        Width::Ucs4 => 0x10_FFFF,
    };
    let length = isize::try_from(size)?;
    // SAFETY: nobody else has a reference to a new string until it is returned, and its data has room for `size` units
    // of its width. All of them are written, because `len` and `write` use the same pieces. The empty string is shared
    // and not written to.
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

/// Create a bytes object of `size` bytes. `write` must write all of them, because they are not zeroed first.
pub(crate) fn new_bytes(py: Python<'_>, size: usize, write: impl FnOnce(&mut [u8])) -> PyResult<Bound<'_, PyBytes>> {
    let length = isize::try_from(size)?;
    // SAFETY: nobody else has a reference to a new bytes object until it is returned, and all of it is written. The
    // empty one is shared and not written to.
    unsafe {
        let bytes = Bound::from_owned_ptr_or_err(py, ffi::PyBytes_FromStringAndSize(std::ptr::null(), length))?;
        if size > 0 {
            let data = ffi::PyBytes_AsString(bytes.as_ptr()).cast::<u8>();
            write(std::slice::from_raw_parts_mut(data, size));
        }
        Ok(bytes.cast_into_unchecked())
    }
}

/// Create a string with the characters of `text`.
pub(crate) fn string_of<'py>(py: Python<'py>, text: Text<'_>) -> PyResult<Bound<'py, PyString>> {
    let (kind, data) = match text {
        Text::Latin1(units) => (ffi::PyUnicode_1BYTE_KIND, units.as_ptr().cast()),
        Text::Ucs2(units) => (ffi::PyUnicode_2BYTE_KIND, units.as_ptr().cast()),
        Text::Ucs4(units) => (ffi::PyUnicode_4BYTE_KIND, units.as_ptr().cast()),
    };
    let (kind, length) = (kind.cast_signed(), isize::try_from(text.len())?);
    // SAFETY: the data has `length` units of this kind, which are code points of Python's strings.
    unsafe {
        let string = Bound::from_owned_ptr_or_err(py, ffi::PyUnicode_FromKindAndData(kind, data, length))?;
        Ok(string.cast_into_unchecked())
    }
}

/// Create a string from the head of a cut text, the marker, and the tail.
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
