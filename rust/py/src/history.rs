//! Rows of the canonical history, proved and made.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyInt, PyList, PyString, PyTuple};
use toolcarry::history::{Place, Sealer, commit_hash};

/// How many of the first rows prove themselves.
#[pyfunction]
pub(crate) fn prove_rows(rows: &Bound<'_, PyList>, tenant: &str, conversation: &str) -> usize {
    let sealer = Sealer::new(tenant, conversation);
    rows.iter().take_while(|row| is_proved(row, &sealer).unwrap_or(false)).count()
}

/// Whether a row has the hash and the seal that its other columns make; an error where one is not of its type.
fn is_proved(row: &Bound<'_, PyAny>, sealer: &Sealer) -> PyResult<bool> {
    let row = row.cast::<PyTuple>()?.as_slice();
    let [sequence, found, parent, role, kind, content, metadata, tokens, created_at, seal, ..] = row else {
        return Ok(false);
    };
    let found = found.cast::<PyBytes>()?.as_bytes();
    let parent = if parent.is_none() { &[] } else { parent.cast::<PyBytes>()?.as_bytes() };
    let (role, content) = (role.cast::<PyString>()?.to_str()?, content.cast::<PyBytes>()?.as_bytes());
    if commit_hash(parent, role, content, metadata.cast::<PyBytes>()?.as_bytes()) != *found {
        return Ok(false);
    }
    let place = Place {
        sequence: sequence.cast::<PyInt>()?.extract()?,
        kind: kind.cast::<PyInt>()?.extract()?,
        token_count: tokens.cast::<PyInt>()?.extract()?,
        created_at: created_at.cast::<PyInt>()?.extract()?,
    };
    Ok(sealer.seal(place, found) == *seal.cast::<PyBytes>()?.as_bytes())
}

/// The role, the kind, the hash of the content, the metadata and the tokens of a commit to be.
type Part<'py> = (Bound<'py, PyString>, Bound<'py, PyInt>, Bound<'py, PyBytes>, Bound<'py, PyBytes>, Bound<'py, PyInt>);

/// The rows of commits that stand on a head, one on the other.
#[pyfunction]
pub(crate) fn link_rows<'py>(
    py: Python<'py>,
    parts: Vec<Part<'py>>,
    head: (u64, Option<Bound<'py, PyBytes>>),
    created_at: i64,
    tenant: &str,
    conversation: &str,
) -> PyResult<Bound<'py, PyList>> {
    let sealer = Sealer::new(tenant, conversation);
    let (mut sequence, mut parent) = head;
    let rows = PyList::empty(py);
    for (role, kind, content, metadata, tokens) in parts {
        sequence += 1;
        let before = parent.as_ref().map_or(&[][..], |parent| parent.as_bytes());
        let found = commit_hash(before, role.to_str()?, content.as_bytes(), metadata.as_bytes());
        let place = Place { sequence, kind: kind.extract()?, token_count: tokens.extract()?, created_at };
        let seal = sealer.seal(place, &found);
        let found = PyBytes::new(py, &found);
        let what = (role, kind, content, metadata, tokens);
        let seal = PyBytes::new(py, &seal);
        rows.append((sequence, &found, parent, what.0, what.1, what.2, what.3, what.4, created_at, seal))?;
        parent = Some(found);
    }
    Ok(rows)
}
