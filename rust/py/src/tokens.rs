//! `count_tokens` and `truncate_tokens`, over the vocabularies that are data of the package.

use std::path::PathBuf;
use std::sync::OnceLock;

use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyString;
use toolcarry::tokens::{Encoding, EncodingName};
use toolcarry::truncate::Keep;

use crate::bytes::LARGE;
use crate::settings::extract_keep;
use crate::strings::{joined, text_of};

static O200K_BASE: OnceLock<Encoding> = OnceLock::new();
static CL100K_BASE: OnceLock<Encoding> = OnceLock::new();

/// How many tokens a text has. Of a large one the interpreter is released: its characters never change.
#[pyfunction]
pub(crate) fn count_tokens(text: &Bound<'_, PyString>, encoding: &str) -> PyResult<usize> {
    let py = text.py();
    let encoding = load(py, encoding)?;
    let text = text_of(text.as_borrowed());
    let count = || encoding.count_text(text);
    Ok(if text.len() < LARGE { count() } else { py.detach(count) })
}

/// At most `limit` tokens of `text`, then the marker where text was cut.
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

/// The encoding of this name; its vocabulary is read once.
pub(crate) fn load(py: Python<'_>, name: &str) -> PyResult<&'static Encoding> {
    let bad = |reason: String| PyValueError::new_err(format!("{name}: {reason}"));
    let (known, slot) = match EncodingName::parse(name) {
        Some(known @ EncodingName::O200kBase) => (known, &O200K_BASE),
        Some(known @ EncodingName::Cl100kBase) => (known, &CL100K_BASE),
        None => return Err(bad("no known encoding".to_owned())),
    };
    if let Some(encoding) = slot.get() {
        return Ok(encoding);
    }
    let folder: PathBuf =
        py.import(intern!(py, "toolcarry.tokens"))?.getattr(intern!(py, "VOCABULARIES"))?.extract()?;
    let packed = std::fs::read(folder.join(format!("{name}.bpe")))?;
    let encoding = Encoding::parse(known, &packed).map_err(|error| bad(error.to_string()))?;
    Ok(slot.get_or_init(|| encoding))
}
