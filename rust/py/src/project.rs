//! `project` and `project_body`.

use std::borrow::Cow;

use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMapping, PyString, PyTuple};
use toolcarry::context::limits::Limits;
use toolcarry::context::policy::NO_LIMIT;
use toolcarry::dedupe::rules::{KeepBlock, Rule, RuleSet};
use toolcarry::input::room_for;
use toolcarry::pairing::block::Kind;
use toolcarry::projection as job;
use toolcarry::projection::{Counter, Decision, Fate, Frame, Known, OwnMend, Previous, Settings, Sign};
use toolcarry::text::OwnedText;
use toolcarry::tokens::Encoding;

use crate::arena::{Arena, Object};
use crate::bytes::{ask_reference, released};
use crate::errors::input_error;
use crate::projected::{Objects, decisions_tuple, mends_tuple, messages_of, outcome_tuple};
use crate::settings::{Rules, extract_keep, extract_limit, extract_names};
use crate::strings::{new_bytes, text_of};
use crate::tokens::{MEMO, load};

/// A request's messages with what a policy makes of them; `None` where they stay as they are.
#[pyfunction]
#[pyo3(signature = (messages, policy, previous, known = None))]
pub(crate) fn project<'py>(
    messages: &Bound<'py, PyAny>,
    policy: &Bound<'py, PyAny>,
    previous: Option<&Bound<'py, PyAny>>,
    known: Option<Vec<(String, bool)>>,
) -> PyResult<Bound<'py, PyTuple>> {
    let py = messages.py();
    let asked = Asked::extract(policy)?;
    let previous = previous.map(extract_previous).transpose()?;
    let arena = Arena::new(py);
    let all =
        messages.try_iter()?.map(|message| Ok(arena.keep(message?))).collect::<PyResult<Vec<Object<'_, 'py>>>>()?;
    let door = Objects { arena: &arena, messages: &all };
    let known: Option<Vec<Known>> =
        known.map(|known| known.into_iter().map(|(reference, is_error)| Known { reference, is_error }).collect());
    let frame = Frame { known: known.as_deref(), ..Frame::default() };
    let found = job::plan((&all, &door), &asked.settings(), previous.as_ref(), frame);
    arena.check()?;
    let found = found.map_err(|halt| input_error(py, halt))?;
    if known.is_some_and(|known| known.len() != found.outcome.blocks) {
        return Err(PyValueError::new_err("something must be known of each call"));
    }
    let new = found.drafts.as_deref().map(|drafts| messages_of(py, drafts)).transpose()?;
    let mends = mends_tuple(py, &found.outcome.mends)?;
    let outcome = outcome_tuple(py, &found.outcome, &mends)?;
    let decisions = decisions_tuple(py, &found.decisions, mends)?;
    arena.check()?;
    (new.map(Bound::into_any), outcome, decisions).into_pyobject(py)
}

/// A request body with what a policy makes of its messages; `None` where it stays as it is.
#[pyfunction]
pub(crate) fn project_body<'py>(
    body: &Bound<'py, PyBytes>,
    policy: &Bound<'py, PyAny>,
    previous: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = body.py();
    let asked = Asked::extract(policy)?;
    let known = previous.map(extract_previous).transpose()?;
    let (data, settings) = (body.as_bytes(), asked.settings());
    let work = || match job::project_body(data, &settings, known.as_ref(), &room_for(data)) {
        Ok(projected) => Python::attach(|py| body_answer(py, &projected).map(|answer| Ok(answer.unbind()))),
        Err(unread) => Ok(Err(unread)),
    };
    match released(py, data, work)? {
        Ok(answer) => Ok(answer.into_bound(py).into_any()),
        Err(unread) => match unread.reason() {
            Some(reason) => untouched(py, &reason),
            None => ask_reference(py, "project_body", (body, policy, previous)),
        },
    }
}

fn body_answer<'py>(py: Python<'py>, projected: &job::Projected<'_>) -> PyResult<Bound<'py, PyTuple>> {
    let bytes = |body: &job::Written<'_>| new_bytes(py, body.len(), |room| body.write(room));
    let body = projected.body.as_ref().map(bytes).transpose()?;
    let mends = mends_tuple(py, &projected.outcome.mends)?;
    let outcome = outcome_tuple(py, &projected.outcome, &mends)?;
    (body, outcome, decisions_tuple(py, &projected.decisions, mends)?).into_pyobject(py)
}

/// The answer of a body that can't be read.
fn untouched<'py>(py: Python<'py>, reason: &str) -> PyResult<Bound<'py, PyAny>> {
    let nothing: Bound<'py, PyTuple> =
        py.import(intern!(py, "toolcarry.types"))?.getattr(intern!(py, "NO_OUTCOME"))?.cast_into()?;
    let outcome = nothing.as_sequence().concat((reason,).into_pyobject(py)?.as_sequence())?;
    Ok((py.None(), outcome, py.None()).into_pyobject(py)?.into_any())
}

/// A policy, as a projection asks for it.
struct Asked {
    rules: Rules,
    excluded: Option<RuleSet>,
    encoding: Option<&'static Encoding>,
    settings: Settings<'static>,
}

impl Asked {
    fn extract(policy: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = policy.py();
        let limit = |name: &Bound<'_, PyString>| Ok::<_, PyErr>(extract_limit(&policy.getattr(name)?));
        let total_tokens = limit(intern!(py, "max_tool_context_tokens"))?;
        let result_tokens = limit(intern!(py, "max_tool_result_tokens"))?;
        let max_request_tokens = limit(intern!(py, "max_request_tokens"))?;
        let encoding = if total_tokens.or(result_tokens).or(max_request_tokens).is_some() {
            let name: Bound<'_, PyString> = policy.getattr(intern!(py, "encoding"))?.cast_into()?;
            Some(load(py, name.to_str()?)?)
        } else {
            None
        };
        let keep: Bound<'_, PyString> = policy.getattr(intern!(py, "keep"))?.cast_into()?;
        let settings = Settings {
            total: total_tokens.or(limit(intern!(py, "max_tool_context_chars"))?),
            total_in_tokens: total_tokens.is_some(),
            limits: Limits {
                chars: limit(intern!(py, "max_tool_result_chars"))?.unwrap_or(NO_LIMIT),
                tokens: result_tokens.filter(|limit| *limit < NO_LIMIT).zip(encoding),
            },
            keep: extract_keep(keep.to_str()?),
            rules: RuleSet::built_in(),
            max_request_tokens,
            repair: policy.getattr(intern!(py, "repair"))?.is_truthy()?,
            clear_at_least: limit(intern!(py, "clear_at_least"))?.unwrap_or(0),
            excluded: None,
            keep_last_results: limit(intern!(py, "keep_last_results"))?.unwrap_or(0),
            keep_last_turns: limit(intern!(py, "keep_last_turns"))?.unwrap_or(0),
            counter: None,
        };
        let rules = Rules::extract(&policy.getattr(intern!(py, "rules"))?)?;
        let excluded = extract_excluded(&policy.getattr(intern!(py, "exclude_tools"))?)?;
        Ok(Self { rules, excluded, encoding, settings })
    }

    fn settings(&self) -> Settings<'_> {
        Settings {
            rules: self.rules.set(),
            excluded: self.excluded.as_ref(),
            counter: self.encoding.map(|encoding| Counter { encoding, memo: &MEMO }),
            ..self.settings
        }
    }
}

/// Rules of which the first is that of the tools that are never touched.
fn extract_excluded(names: &Bound<'_, PyAny>) -> PyResult<Option<RuleSet>> {
    let tools: Vec<String> = extract_names(names)?.iter().map(|name| name.as_text().to_utf8()).collect();
    if tools.is_empty() {
        return Ok(None);
    }
    let rule = Rule { tools, kind: Kind::Other, key: Vec::new(), keep: KeepBlock::Last, max_result_chars: None };
    Ok(Some(RuleSet::new(vec![rule], false)))
}

/// From `Decisions`.
fn extract_previous(previous: &Bound<'_, PyAny>) -> PyResult<Previous> {
    let py = previous.py();
    let mut found = Previous {
        messages: extract_limit(&previous.getattr(intern!(py, "messages"))?).unwrap_or(0),
        ..Previous::default()
    };
    let made = previous.getattr(intern!(py, "made"))?;
    for item in made.cast::<PyMapping>()?.items()? {
        let (reference, decision): (String, Bound<'_, PyAny>) = item.extract()?;
        found.made.insert(reference, extract_decision(&decision)?);
    }
    for reference in previous.getattr(intern!(py, "dropped"))?.try_iter()? {
        found.dropped.insert(reference?.extract()?);
    }
    let signs = previous.getattr(intern!(py, "signs"))?;
    for item in signs.cast::<PyMapping>()?.items()? {
        let (reference, (call, size, ends)): (String, (u32, usize, u32)) = item.extract()?;
        found.signs.insert(reference, Sign { call, size, ends });
    }
    for mend in previous.getattr(intern!(py, "mends"))?.try_iter()? {
        found.mends.push(extract_mend(&mend?)?);
    }
    Ok(found)
}

fn extract_decision(decision: &Bound<'_, PyAny>) -> PyResult<Decision<'static>> {
    type Fields<'py> = (String, String, Bound<'py, PyAny>, Bound<'py, PyAny>);
    let (fate, by, head, tail): Fields<'_> = decision.extract()?;
    let at = |number: &Bound<'_, PyAny>| extract_limit(number).unwrap_or(0);
    Ok(Decision { fate: Fate::named(&fate), by: Cow::Owned(by), head: at(&head), tail: at(&tail) })
}

/// From a `Mend`.
fn extract_mend(mend: &Bound<'_, PyAny>) -> PyResult<OwnMend> {
    let py = mend.py();
    let text = |name: &Bound<'_, PyString>| -> PyResult<OwnedText> {
        Ok(text_of(mend.getattr(name)?.cast::<PyString>()?.as_borrowed()).into())
    };
    Ok(OwnMend {
        kind: mend.getattr(intern!(py, "kind"))?.extract()?,
        position: extract_limit(&mend.getattr(intern!(py, "position"))?),
        call_id: text(intern!(py, "call_id"))?,
        detail: text(intern!(py, "detail"))?,
    })
}
