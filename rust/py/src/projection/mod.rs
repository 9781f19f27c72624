//! The kernels `project` and `project_body`. Unchanged messages in the output are the caller's objects; changed ones
//! are new dicts and lists.

mod objects;
mod options;
mod report;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString, PyTuple};
use pyo3::{IntoPyObjectExt, intern};
use toolcarry::input::room_for;
use toolcarry::projection as job;
use toolcarry::projection::{CallFacts, Frame, Outcome, Path, Previous, Projection, Settings, Unread};

use self::objects::{Objects, edit_object, messages_of, name_of};
use self::options::{ProjectionOptions, extract_previous};
use self::report::{decisions_of, mends_of, report_of};
use crate::bytes::released;
use crate::errors::{Answer, readable};
use crate::py_text::new_bytes;
use crate::py_value::{Arena, Object};
use crate::records::row;

/// Project a request's messages by a policy; the messages are `None` if nothing changes.
#[pyfunction]
#[pyo3(signature = (messages, policy, previous, known = None))]
pub(crate) fn project<'py>(
    messages: &Bound<'py, PyAny>,
    policy: &Bound<'py, PyAny>,
    previous: Option<&Bound<'py, PyAny>>,
    known: Option<Vec<(String, bool)>>,
) -> Answer<'py> {
    let py = messages.py();
    let asked = ProjectionOptions::extract(policy)?;
    let previous = previous.map(extract_previous).transpose()?;
    let arena = Arena::new(py);
    let all = kept_messages(&arena, messages)?;
    let request_source = Objects { arena: &arena, messages: &all, frame: None, sizes: None };
    let known = facts_of(known);
    let frame = Frame { known: known.as_deref(), ..Frame::default() };
    let Some(found) = planned(&all, &request_source, &asked.settings(), previous.as_ref(), frame)? else {
        return Ok(None);
    };
    let new = found.drafts.as_deref().map(|drafts| messages_of(py, drafts)).transpose()?;
    let mends = mends_of(py, &found.outcome.mends)?;
    let report = report_of(py, &found.outcome, &mends, "")?;
    let decisions = decisions_of(py, &found.decisions, &mends)?;
    arena.check()?;
    Ok(Some(row!(py, "toolcarry.types.outcomes", "ProjectOutcome" {
        messages: new,
        report: report,
        decisions: decisions,
    })))
}

/// Project messages that were imported, of a request with these other members, if they are known. `sizes` are the bytes
/// of each original message.
#[pyfunction]
pub(crate) fn project_imported<'py>(
    messages: &Bound<'py, PyAny>,
    members: Option<&Bound<'py, PyDict>>,
    sizes: Vec<usize>,
    policy: &Bound<'py, PyAny>,
    previous: Option<&Bound<'py, PyAny>>,
    known: Option<Vec<(String, bool)>>,
    is_foreign: bool,
) -> Answer<'py> {
    let py = messages.py();
    let asked = ProjectionOptions::extract(policy)?;
    let settings = asked.settings();
    let previous = previous.map(extract_previous).transpose()?;
    let arena = Arena::new(py);
    let all = kept_messages(&arena, messages)?;
    let members = members.map(|members| arena.keep(members.clone().into_any()));
    let request_source = Objects { arena: &arena, messages: &all, frame: members, sizes: Some(sizes) };
    let known = facts_of(known);
    let frame = members.map_or_else(Frame::default, |members| job::frame_of(members, None, &settings));
    let frame = Frame { known: known.as_deref(), is_foreign, ..frame };
    let Some(found) = planned(&all, &request_source, &settings, previous.as_ref(), frame)? else { return Ok(None) };
    let new = found.drafts.as_deref().map(|drafts| messages_of(py, drafts)).transpose()?;
    let origins: Vec<_> = found.drafts.iter().flatten().map(|draft| draft.path().map(Path::position)).collect();
    let changed = PyDict::new(py);
    for (key, edit) in &found.frame {
        changed.set_item(name_of(py, *key), edit.as_ref().map(|edit| edit_object(py, edit)).transpose()?)?;
    }
    let mends = mends_of(py, &found.outcome.mends)?;
    let untouched = if is_foreign && found.outcome.is_fixed { "not projected" } else { "" };
    let report = report_of(py, &found.outcome, &mends, untouched)?;
    let decisions = decisions_of(py, &found.decisions, &mends)?;
    arena.check()?;
    Ok(Some(row!(py, "toolcarry.types.outcomes", "ImportedOutcome" {
        messages: new,
        origins: origins,
        members: changed,
        report: report,
        decisions: decisions,
    })))
}

fn facts_of(known: Option<Vec<(String, bool)>>) -> Option<Vec<CallFacts>> {
    known.map(|known| known.into_iter().map(|(reference, is_error)| CallFacts { reference, is_error }).collect())
}

fn planned<'a, 'py>(
    messages: &[Object<'a, 'py>],
    request_source: &Objects<'a, 'py>,
    settings: &Settings<'_>,
    previous: Option<&Previous>,
    frame: Frame<'_>,
) -> PyResult<Option<Projection<'a, Object<'a, 'py>>>> {
    let found = job::plan((messages, request_source), settings, previous, frame);
    request_source.arena.check()?;
    let found = readable(request_source.arena.py(), found)?;
    let blocks = found.as_ref().map(|found| found.outcome.blocks);
    if frame.known.is_some_and(|known| blocks.is_some_and(|blocks| known.len() != blocks)) {
        return Err(PyValueError::new_err("known must have an entry for each block"));
    }
    Ok(found)
}

fn kept_messages<'a, 'py>(arena: &'a Arena<'py>, messages: &Bound<'py, PyAny>) -> PyResult<Vec<Object<'a, 'py>>> {
    messages.try_iter()?.map(|message| Ok(arena.keep(message?))).collect()
}

/// Return true if the messages, and their parts, are dicts or text.
#[pyfunction]
pub(crate) fn are_plain(messages: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = messages.py();
    let names = [intern!(py, "content"), intern!(py, "parts"), intern!(py, "tool_calls")];
    for message in messages.try_iter()? {
        if !has_plain_parts(&message?, &names)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn has_plain_parts(message: &Bound<'_, PyAny>, names: &[&Bound<'_, PyString>]) -> PyResult<bool> {
    let Ok(message) = message.cast::<PyDict>() else { return Ok(false) };
    let is_plain = |part: &Bound<'_, PyAny>| part.is_instance_of::<PyDict>() || part.is_instance_of::<PyString>();
    for &name in names {
        let Some(parts) = message.get_item(name)? else { continue };
        if !(parts.is_instance_of::<PyList>() || parts.is_instance_of::<PyTuple>()) {
            continue;
        }
        for part in parts.try_iter()? {
            let part = part?;
            if !is_plain(&part) {
                return Ok(false);
            }
            let Ok(part) = part.cast::<PyDict>() else { continue };
            if let Some(inner) = part.get_item(intern!(part.py(), "content"))?
                && let Ok(inner) = inner.cast::<PyList>()
                && !inner.iter().all(|item| is_plain(&item))
            {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// Project a request body by a policy; the body is `None` if nothing changes.
#[pyfunction]
pub(crate) fn project_body<'py>(
    body: &Bound<'py, PyBytes>,
    policy: &Bound<'py, PyAny>,
    previous: Option<&Bound<'py, PyAny>>,
) -> Answer<'py> {
    let py = body.py();
    let asked = ProjectionOptions::extract(policy)?;
    let known = previous.map(extract_previous).transpose()?;
    let (data, settings) = (body.as_bytes(), asked.settings());
    let work = || match job::project_body(data, &settings, known.as_ref(), &room_for(data)) {
        Ok(projected) => Python::attach(|py| projected_outcome(py, &projected).map(|outcome| Ok(outcome.unbind()))),
        Err(unread) => Ok(Err(unread)),
    };
    match released(py, data, work)? {
        Ok(outcome) => Ok(Some(outcome.into_bound(py))),
        Err(Unread::NeedsImport) => Ok(None),
        Err(unread) => {
            let reason = unread.reason().map_or_else(|| refusal(body), Ok)?;
            let report = report_of(py, &Outcome::default(), &PyTuple::empty(py), &reason)?;
            body_outcome(py, py.None().into_bound(py), report, py.None().into_bound(py)).map(Some)
        }
    }
}

/// Ask Python's decoder why it refuses a body.
fn refusal(body: &Bound<'_, PyBytes>) -> PyResult<String> {
    let py = body.py();
    py.import(intern!(py, "toolcarry._input.json"))?.getattr(intern!(py, "refusal"))?.call1((body,))?.extract()
}

fn projected_outcome<'py>(py: Python<'py>, projected: &job::ProjectedBytes<'_>) -> PyResult<Bound<'py, PyAny>> {
    let bytes = |body: &job::Written<'_>| new_bytes(py, body.len(), |room| body.write(room));
    let body = projected.body.as_ref().map(bytes).transpose()?;
    let mends = mends_of(py, &projected.outcome.mends)?;
    let report = report_of(py, &projected.outcome, &mends, "")?;
    body_outcome(py, body.into_bound_py_any(py)?, report, decisions_of(py, &projected.decisions, &mends)?)
}

/// Make a `BodyOutcome`.
fn body_outcome<'py>(
    py: Python<'py>,
    body: Bound<'py, PyAny>,
    report: Bound<'py, PyAny>,
    decisions: Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    Ok(row!(py, "toolcarry.types.outcomes", "BodyOutcome" {
        body: body,
        report: report,
        decisions: decisions,
    }))
}
