//! The canonical history: verify and make rows, make commits of rows, and split session lines into parts.

use std::collections::BTreeMap;

use pyo3::exceptions::{PyArithmeticError, PyAttributeError, PyLookupError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyBytes, PyDelta, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple, PyType};
use pyo3::{IntoPyObjectExt, intern};
use toolcarry::history::hashing::{
    Place, Sealer, commit_hash, content_hash, has_cut_word as contains_cut_word, write_text,
};
use toolcarry::history::metadata_delta;
use toolcarry::history::metadata_delta::fold;
use toolcarry::history::session_lines::{Part, PartKind, Unread, read_line};
use toolcarry::input::room_for;
use toolcarry::text::OwnedText;

use crate::bytes::{LARGE, ask_reference};
use crate::py_text::{string_of, text_of};
use crate::records::{check_fields, row, set_field};
use crate::tokens::load;

/// The encoding of a content that is not compressed.
const PLAIN: u8 = 0;

/// The maximum depth of metadata; the reference handles deeper ones.
const DEEPEST: usize = 200;

/// Return true if the text contains a word that a mark of a cut uses.
#[pyfunction]
pub(crate) fn has_cut_word(text: &Bound<'_, PyString>) -> bool {
    contains_cut_word(text_of(text.as_borrowed()))
}

/// Return the hashes of contents. The interpreter is released if the contents are large in total.
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

/// A commit that is not written yet.
#[derive(FromPyObject)]
struct Draft<'py> {
    role: Bound<'py, PyString>,
    kind: u64,
    content: Bound<'py, PyBytes>,
    metadata: Bound<'py, PyAny>,
    token_count: Bound<'py, PyInt>,
    /// The metadata as canonical bytes, if they are already known.
    written: Option<Bound<'py, PyBytes>>,
}

/// Prepare drafts of commits: return the parts that don't depend on the head, the metadata in its stored form, and the
/// distinct contents. The interpreter is released if the drafts are large in total.
#[pyfunction]
pub(crate) fn prepare_parts<'py>(
    drafts: &Bound<'py, PyAny>,
    tenant: &Bound<'py, PyString>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = drafts.py();
    let kept: Vec<Draft<'_>> = drafts.extract()?;
    let mut all_written = Vec::with_capacity(kept.len());
    for draft in &kept {
        match draft.written.clone().or_else(|| written(&draft.metadata)) {
            Some(written) => all_written.push(written),
            None => return ask_reference(py, "prepare_parts", (drafts, tenant)),
        }
    }
    let pairs = kept.iter().zip(&all_written).map(|(draft, written)| (draft.content.as_bytes(), written.as_bytes()));
    let pairs: Vec<(&[u8], &[u8])> = pairs.collect();
    let prepare = || -> Vec<_> {
        pairs.iter().map(|(content, written)| (content_hash(content), fold(written, content))).collect()
    };
    let is_large = pairs.iter().map(|(content, written)| content.len() + written.len()).sum::<usize>() >= LARGE;
    let made = if is_large { py.detach(prepare) } else { prepare() };
    let (parts, stored) = (PyList::empty(py), PyList::empty(py));
    let mut contents = BTreeMap::new();
    for ((draft, written), (hash, folded)) in kept.iter().zip(&all_written).zip(made) {
        let found = PyBytes::new(py, &hash);
        parts.append(row!(py, "toolcarry._pure.history.hashing", "Part" {
            role: &draft.role,
            kind: draft.kind,
            content: &found,
            metadata: written,
            token_count: &draft.token_count,
        }))?;
        stored.append(folded.map_or_else(|| written.clone(), |folded| PyBytes::new(py, &folded)))?;
        contents.insert(hash, (found, &draft.content));
    }
    let rows = PyList::empty(py);
    for (found, content) in contents.into_values() {
        rows.append(row!(py, "toolcarry._pure.history.hashing", "ContentRow" {
            tenant: tenant,
            hash: found,
            size: content.as_bytes().len(),
            packing: PLAIN,
            data: content,
        }))?;
    }
    (parts, stored, rows).into_bound_py_any(py)
}

/// Return metadata as canonical bytes; `None` if it has a type that only the reference handles.
fn written<'py>(metadata: &Bound<'py, PyAny>) -> Option<Bound<'py, PyBytes>> {
    let mut written = Vec::new();
    let is_known = write(metadata, &mut written, DEEPEST).unwrap_or(false);
    is_known.then(|| PyBytes::new(metadata.py(), &written))
}

/// Write a value as JSON with sorted keys; return false if it has a type that only the reference handles.
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

/// Return true if the value is a float that JSON can represent.
fn is_finite(value: &Bound<'_, PyAny>) -> bool {
    value.cast_exact::<PyFloat>().is_ok_and(|number| number.value().is_finite())
}

/// Return the number of leading rows whose hash and seal are right.
#[pyfunction]
pub(crate) fn prove_rows(rows: &Bound<'_, PyList>, tenant: &str, conversation: &str) -> usize {
    let sealer = Sealer::new(tenant, conversation);
    rows.iter().take_while(|row| is_proved(row, &sealer).unwrap_or(false)).count()
}

/// Return true if the hash and the seal of a row fit its other columns; an error if a column has the wrong type.
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

/// A commit without its place in the log. Its content is a hash.
#[derive(FromPyObject)]
pub(crate) struct Prepared<'py> {
    role: Bound<'py, PyString>,
    kind: Bound<'py, PyInt>,
    content: Bound<'py, PyBytes>,
    metadata: Bound<'py, PyBytes>,
    token_count: Bound<'py, PyInt>,
}

/// Return the rows of commits that follow a head, each the parent of the next.
#[pyfunction]
pub(crate) fn link_rows<'py>(
    py: Python<'py>,
    parts: Vec<Prepared<'py>>,
    head: (u64, Option<Bound<'py, PyBytes>>),
    created_at: i64,
    tenant: &str,
    conversation: &str,
) -> PyResult<Bound<'py, PyList>> {
    let sealer = Sealer::new(tenant, conversation);
    let (mut sequence, mut parent) = head;
    let rows = PyList::empty(py);
    for Prepared { role, kind, content, metadata, token_count } in parts {
        sequence += 1;
        let before = parent.as_ref().map_or(&[][..], |parent| parent.as_bytes());
        let found = commit_hash(before, role.to_str()?, content.as_bytes(), metadata.as_bytes());
        let place = Place { sequence, kind: kind.extract()?, token_count: token_count.extract()?, created_at };
        let seal = sealer.seal(place, &found);
        let found = PyBytes::new(py, &found);
        let seal = PyBytes::new(py, &seal);
        rows.append(row!(py, "toolcarry._pure.history.hashing", "CommitRow" {
            sequence: sequence,
            hash: &found,
            parent: parent,
            role: role,
            kind: kind,
            content: content,
            metadata: metadata,
            token_count: token_count,
            created_at: created_at,
            seal: seal,
        }))?;
        parent = Some(found);
    }
    Ok(rows)
}

const DAY: i64 = 86_400;
const MICROSECONDS: i64 = 1_000_000;

/// The minimum number of digits of an integer that may be beyond 64 bits.
const LONG_INTEGER: usize = 19;

static EPOCH: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
static LOADS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
static LOAD_METADATA: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// Return the commits of verified rows, up to the first row with a value that this library never writes.
#[pyfunction]
pub(crate) fn commits_of<'py>(
    rows: &Bound<'py, PyList>,
    conversation: &Bound<'py, PyString>,
    commit: &Bound<'py, PyType>,
    kinds: &Bound<'py, PyTuple>,
) -> PyResult<Bound<'py, PyList>> {
    let py = rows.py();
    let maker = Maker::new(conversation, commit, kinds)?;
    let found = PyList::empty(py);
    for row in rows.iter() {
        match maker.commit_of(&row) {
            Ok(commit) => found.append(commit)?,
            Err(error) if is_unreadable(py, &error) => break,
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

/// Return true if an error shows that a row has a value that this library never writes.
fn is_unreadable(py: Python<'_>, error: &PyErr) -> bool {
    error.is_instance_of::<PyTypeError>(py)
        || error.is_instance_of::<PyValueError>(py)
        || error.is_instance_of::<PyLookupError>(py)
        || error.is_instance_of::<PyArithmeticError>(py)
        || error.is_instance_of::<PyAttributeError>(py)
}

/// The fields of a commit, each of which `Maker::commit_of` sets.
const COMMIT_FIELDS: [&str; 10] = [
    "commit_hash",
    "parent_hash",
    "conversation",
    "sequence",
    "role",
    "kind",
    "content_hash",
    "metadata",
    "token_count",
    "created_at",
];

/// The objects needed to make the commits of one conversation.
struct Maker<'r, 'py> {
    conversation: &'r Bound<'py, PyString>,
    commit: &'r Bound<'py, PyType>,
    kinds: &'r Bound<'py, PyTuple>,
    new: Bound<'py, PyAny>,
    epoch: &'r Bound<'py, PyAny>,
    loads: &'r Bound<'py, PyAny>,
    load_metadata: &'r Bound<'py, PyAny>,
}

impl<'r, 'py> Maker<'r, 'py> {
    fn new(
        conversation: &'r Bound<'py, PyString>,
        commit: &'r Bound<'py, PyType>,
        kinds: &'r Bound<'py, PyTuple>,
    ) -> PyResult<Self> {
        static CHECKED: PyOnceLock<()> = PyOnceLock::new();
        let py = commit.py();
        CHECKED.get_or_try_init(py, || check_fields(commit, &COMMIT_FIELDS))?;
        Ok(Self {
            conversation,
            commit,
            kinds,
            new: commit.getattr(intern!(py, "__new__"))?,
            epoch: EPOCH.import(py, "toolcarry._pure.history.hashing", "EPOCH")?,
            loads: LOADS.import(py, "orjson", "loads")?,
            load_metadata: LOAD_METADATA.import(py, "toolcarry._pure.history.hashing", "load_metadata")?,
        })
    }

    /// Make the commit of one row. Its fields are set directly, because the initializer of a frozen dataclass takes
    /// longer than everything else here.
    fn commit_of(&self, row: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = row.py();
        let row = row.cast::<PyTuple>()?.as_slice();
        let [sequence, found, parent, role, kind, content, metadata, tokens, created_at, ..] = row else {
            return Err(PyValueError::new_err("a row has too few columns"));
        };
        let hex = |hash: &Bound<'py, PyAny>| hash.call_method0(intern!(py, "hex"));
        let parent = if parent.is_none() { parent.clone() } else { hex(parent)? };
        let commit = self.new.call1((self.commit,))?;
        let set = |name: &Bound<'py, PyString>, value: &Bound<'py, PyAny>| set_field(&commit, name, value);
        set(intern!(py, "commit_hash"), &hex(found)?)?;
        set(intern!(py, "parent_hash"), &parent)?;
        set(intern!(py, "conversation"), self.conversation.as_any())?;
        set(intern!(py, "sequence"), sequence)?;
        set(intern!(py, "role"), role)?;
        set(intern!(py, "kind"), &self.kinds.get_item(kind.extract()?)?)?;
        set(intern!(py, "content_hash"), &hex(content)?)?;
        set(intern!(py, "metadata"), &self.metadata(metadata.cast()?)?)?;
        set(intern!(py, "token_count"), tokens)?;
        set(intern!(py, "created_at"), &self.time(created_at.cast()?)?)?;
        Ok(commit)
    }

    /// Read metadata from canonical bytes; the reference reads those with long integers or lone surrogates.
    fn metadata(&self, written: &Bound<'py, PyBytes>) -> PyResult<Bound<'py, PyAny>> {
        if !has_long_integer(written.as_bytes())
            && let Ok(found) = self.loads.call1((written,))
            && found.is_exact_instance_of::<PyDict>()
        {
            return Ok(found);
        }
        self.load_metadata.call1((written,))
    }

    fn time(&self, created_at: &Bound<'py, PyInt>) -> PyResult<Bound<'py, PyAny>> {
        let created_at: i64 = created_at.extract()?;
        let (seconds, microseconds) = (created_at.div_euclid(MICROSECONDS), created_at.rem_euclid(MICROSECONDS));
        let (days, seconds) = (seconds.div_euclid(DAY), seconds.rem_euclid(DAY));
        let parts = (i32::try_from(days)?, i32::try_from(seconds)?, i32::try_from(microseconds)?);
        self.epoch.add(PyDelta::new(self.epoch.py(), parts.0, parts.1, parts.2, false)?)
    }
}

/// Return true if there is a run of `LONG_INTEGER` digits. Such a run contains one of the bytes that are tested.
fn has_long_integer(written: &[u8]) -> bool {
    let is_digit = |byte: &&u8| byte.is_ascii_digit();
    (LONG_INTEGER - 1..written.len()).step_by(LONG_INTEGER).any(|place| {
        let (before, after) = written.split_at(place);
        let after = after.iter().take_while(is_digit).count();
        after > 0 && before.iter().rev().take_while(is_digit).count() + after >= LONG_INTEGER
    })
}

/// Return the parts of session lines; lines that the core can't read go to the reference. The interpreter is released
/// if the lines are large in total.
#[pyfunction]
pub(crate) fn read_lines<'py>(lines: &Bound<'py, PyList>) -> PyResult<Bound<'py, PyList>> {
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
            Err(Unread) => found.append(ask_reference(py, "read_lines", (vec![line],))?.get_item(0)?)?,
        }
    }
    Ok(found)
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
    Ok(row!(py, "toolcarry._pure.history.session_lines", "LinePart" {
        kind: kind,
        role: role,
        token_count: part.tokens,
        calls: calls,
        names: PyTuple::new(py, names)?,
        result: result,
        suspect: suspect,
    }))
}

/// Return stored metadata in its original form; if it can't be unfolded, the reference raises the error.
#[pyfunction]
pub(crate) fn unfold<'py>(stored: &Bound<'py, PyBytes>, content: &Bound<'py, PyBytes>) -> PyResult<Bound<'py, PyAny>> {
    if !metadata_delta::is_folded(stored.as_bytes()) {
        return Ok(stored.clone().into_any());
    }
    match metadata_delta::unfold(stored.as_bytes(), content.as_bytes()) {
        Some(metadata) => Ok(PyBytes::new(stored.py(), &metadata).into_any()),
        None => ask_reference(stored.py(), "unfold", (stored, content)),
    }
}
