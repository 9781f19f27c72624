//! The kernels that count and cut by tokens.

use std::convert::Infallible;

use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyAny, PyBytes, PyList, PyString};
use toolcarry::input::messages::{Halt, List};
use toolcarry::text::truncate::Keep;
use toolcarry::tokens::messages as job;

use crate::bytes::{LARGE, ask_reference, in_body};
use crate::encodings::{MEMO, load};
use crate::errors::{Answer, answer, readable};
use crate::policy::extract_keep;
use crate::py_text::{joined, text_of};
use crate::py_value::Arena;

/// Return the number of tokens in a string. The interpreter is released if the text is large, which is safe because its
/// characters never change.
#[pyfunction]
pub(crate) fn count_tokens(text: &Bound<'_, PyString>, encoding: &str) -> PyResult<usize> {
    let py = text.py();
    let encoding = load(py, encoding)?;
    let text = text_of(text.as_borrowed());
    let count = || encoding.count_tokens(text);
    Ok(if text.len() < LARGE { count() } else { py.detach(count) })
}

/// Return the number of tokens in each text. The interpreter is released if the texts are large in total.
#[pyfunction]
pub(crate) fn count_texts(texts: &Bound<'_, PyList>, encoding: &str) -> PyResult<Vec<usize>> {
    let py = texts.py();
    let encoding = load(py, encoding)?;
    let kept: Vec<Bound<'_, PyString>> = texts.extract()?;
    let texts: Vec<_> = kept.iter().map(|text| text_of(text.as_borrowed())).collect();
    let count = || texts.iter().map(|text| encoding.count_tokens(*text)).collect();
    Ok(if texts.iter().map(|text| text.len()).sum::<usize>() < LARGE { count() } else { py.detach(count) })
}

/// Return at most `limit` tokens of `text`, with the marker at the cut.
#[pyfunction]
#[pyo3(signature = (text, limit, *, keep, marker, encoding))]
pub(crate) fn truncate_tokens<'py>(
    text: &Bound<'py, PyString>,
    limit: usize,
    keep: &str,
    marker: &Bound<'py, PyString>,
    encoding: &str,
) -> PyResult<Bound<'py, PyString>> {
    let py = text.py();
    let encoding = load(py, encoding)?;
    let keep = extract_keep(keep).unwrap_or(Keep::Head);
    let (given, marker) = (text_of(text.as_borrowed()), text_of(marker.as_borrowed()));
    let cut = || encoding.cut(given, limit, keep, marker);
    let (head, tail) = if given.len().min(limit) < LARGE { cut() } else { py.detach(cut) };
    if head == tail { Ok(text.clone()) } else { joined(py, given, (head, tail), marker) }
}

/// Return the number of tokens in each message of a conversation.
#[pyfunction]
pub(crate) fn message_tokens<'py>(given: &Bound<'py, PyAny>, encoding: &str) -> Answer<'py> {
    let py = given.py();
    if let Ok(body) = given.cast::<PyBytes>() {
        return body_tokens(body, encoding);
    }
    let encoding = load(py, encoding)?;
    let arena = Arena::new(py);
    let found: Result<_, Halt<Infallible>> = job::message_tokens(&List(arena.keep(given.clone())), encoding, &MEMO);
    arena.check()?;
    readable(py, found)?.map(|counts| counts.into_bound_py_any(py)).transpose()
}

fn body_tokens<'py>(body: &Bound<'py, PyBytes>, name: &str) -> Answer<'py> {
    let py = body.py();
    let encoding = load(py, name)?;
    let found = in_body(py, body.as_bytes(), |conversation| Ok(job::message_tokens(conversation, encoding, &MEMO)?));
    answer(found, |counts| counts.into_bound_py_any(py), || ask_reference(py, "message_tokens", (body, name)))
}

/// Limit the memo of token counts to `size` bytes.
#[pyfunction]
pub(crate) fn resize_token_memo(size: usize) {
    MEMO.resize(size);
}
