//! Rows of the canonical history, proved and made.

use std::collections::BTreeMap;

use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use toolcarry::history::hashing::{Place, Sealer, commit_hash, content_hash, write_text};
use toolcarry::history::metadata_delta::fold;
use toolcarry::history::session_lines::is_suspect;

use crate::bytes::{LARGE, ask_reference};
use crate::strings::text_of;

/// A content that is not packed.
const PLAIN: u8 = 0;

/// Metadata in metadata, beyond which the reference is asked.
const DEEPEST: usize = 200;

/// Whether a word that says of a text that it was cut stands near its ends.
#[pyfunction]
pub(crate) fn has_cut_word(text: &Bound<'_, PyString>, ends: usize) -> bool {
    is_suspect(text_of(text.as_borrowed()), ends)
}

/// The addresses of contents. The interpreter is released where they are large together.
#[pyfunction]
pub(crate) fn hash_contents<'py>(contents: &Bound<'py, PyList>) -> PyResult<Vec<Bound<'py, PyBytes>>> {
    let py = contents.py();
    let kept: Vec<Bound<'_, PyBytes>> = contents.extract()?;
    let contents: Vec<&[u8]> = kept.iter().map(PyBytesMethods::as_bytes).collect();
    let hash = || -> Vec<[u8; 32]> { contents.iter().map(|content| content_hash(content)).collect() };
    let is_large = contents.iter().map(|content| content.len()).sum::<usize>() >= LARGE;
    let hashes = if is_large { py.detach(hash) } else { hash() };
    Ok(hashes.iter().map(|found| PyBytes::new(py, found)).collect())
}

/// The role, the kind, the content, the metadata and the tokens of a commit to be; and the metadata as it is written,
/// where it is.
type Draft<'py> =
    (Bound<'py, PyString>, u64, Bound<'py, PyBytes>, Bound<'py, PyAny>, Bound<'py, PyInt>, Option<Bound<'py, PyBytes>>);

/// Commits to be, hashed as far as they can be, their metadata as it is stored, and their contents, each once. The
/// interpreter is released where they are large together.
#[pyfunction]
pub(crate) fn prepare_parts<'py>(
    drafts: &Bound<'py, PyAny>,
    tenant: &Bound<'py, PyString>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = drafts.py();
    let kept: Vec<Draft<'_>> = drafts.extract()?;
    let mut all_written = Vec::with_capacity(kept.len());
    for (_, _, _, metadata, _, known) in &kept {
        match known.clone().or_else(|| written(metadata)) {
            Some(written) => all_written.push(written),
            None => return ask_reference(py, "prepare_parts", (drafts, tenant)),
        }
    }
    let pairs = kept.iter().zip(&all_written).map(|(draft, written)| (draft.2.as_bytes(), written.as_bytes()));
    let pairs: Vec<(&[u8], &[u8])> = pairs.collect();
    let prepare = || -> Vec<_> {
        pairs.iter().map(|(content, written)| (content_hash(content), fold(written, content))).collect()
    };
    let is_large = pairs.iter().map(|(content, written)| content.len() + written.len()).sum::<usize>() >= LARGE;
    let made = if is_large { py.detach(prepare) } else { prepare() };
    let (parts, stored) = (PyList::empty(py), PyList::empty(py));
    let mut contents = BTreeMap::new();
    for (((role, kind, content, _, tokens, _), written), (hash, folded)) in kept.iter().zip(&all_written).zip(made) {
        let found = PyBytes::new(py, &hash);
        parts.append((role, kind, &found, written, tokens))?;
        stored.append(folded.map_or_else(|| written.clone(), |folded| PyBytes::new(py, &folded)))?;
        contents.insert(hash, (tenant, found, content.as_bytes().len(), PLAIN, content));
    }
    (parts, stored, PyList::new(py, contents.into_values())?).into_bound_py_any(py)
}

/// Metadata as canonical bytes; nothing where it is of types that the reference is to be asked about.
fn written<'py>(metadata: &Bound<'py, PyAny>) -> Option<Bound<'py, PyBytes>> {
    let mut written = Vec::new();
    let is_known = write(metadata, &mut written, DEEPEST).unwrap_or(false);
    is_known.then(|| PyBytes::new(metadata.py(), &written))
}

/// Write a value as JSON, keys in order. Whether it was of the types that are known here.
fn write(value: &Bound<'_, PyAny>, to: &mut Vec<u8>, depth: usize) -> PyResult<bool> {
    if let Ok(text) = value.cast_exact::<PyString>() {
        write_text(text_of(text.as_borrowed()), to);
    } else if let Ok(dict) = value.cast_exact::<PyDict>() {
        let mut members = Vec::with_capacity(dict.len());
        for (key, value) in dict.iter() {
            members.push((key.cast_into_exact::<PyString>()?, value));
        }
        let mut places = Vec::with_capacity(members.len());
        for (key, value) in &members {
            places.push((key.to_str()?, key, value));
        }
        places.sort_unstable_by_key(|(name, _, _)| *name);
        to.push(b'{');
        for (place, (_, key, value)) in places.into_iter().enumerate() {
            to.extend((place > 0).then_some(b','));
            write_text(text_of(key.as_borrowed()), to);
            to.push(b':');
            if depth == 0 || !write(value, to, depth - 1)? {
                return Ok(false);
            }
        }
        to.push(b'}');
    } else if let Ok(list) = value.cast_exact::<PyList>() {
        to.push(b'[');
        for (place, item) in list.iter().enumerate() {
            to.extend((place > 0).then_some(b','));
            if depth == 0 || !write(&item, to, depth - 1)? {
                return Ok(false);
            }
        }
        to.push(b']');
    } else if let Ok(truth) = value.cast_exact::<PyBool>() {
        to.extend_from_slice(if truth.is_true() { b"true" } else { b"false" });
    } else if value.is_none() {
        to.extend_from_slice(b"null");
    } else if value.is_exact_instance_of::<PyInt>() || is_finite(value) {
        to.extend_from_slice(value.repr()?.to_str()?.as_bytes());
    } else {
        return Ok(false);
    }
    Ok(true)
}

/// Whether it is a float that JSON has.
fn is_finite(value: &Bound<'_, PyAny>) -> bool {
    value.cast_exact::<PyFloat>().is_ok_and(|number| number.value().is_finite())
}

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
