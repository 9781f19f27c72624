//! The kernels `project` and `project_body`. Unchanged messages in the output are the caller's objects; changed ones
//! are new dicts and lists.

use std::borrow::Cow;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyFrozenSet, PyInt, PyList, PyMapping, PyString, PyTuple};
use pyo3::{IntoPyObjectExt, intern};
use toolcarry::context::limits::Limits;
use toolcarry::context::output::Output;
use toolcarry::context::policy::NO_LIMIT;
use toolcarry::dedupe::rules::{KeepBlock, Rule, RuleSet};
use toolcarry::input::room_for;
use toolcarry::json::value::{Key, Value};
use toolcarry::pairing::block::Kind;
use toolcarry::projection as job;
use toolcarry::projection::{
    CallFacts, Changed, ClearInputs, Counter, Decision, DecisionKind, Decisions, Destination, Draft, Edit, Frame, Json,
    Mend, Outcome, OwnMend, Path, Previous, Projection, Replacement, RequestSource, Settings, Sign, TextPart, Unread,
};
use toolcarry::shorten::Kinds;
use toolcarry::text::{OwnedText, Text};
use toolcarry::tokens::Encoding;

use crate::bytes::released;
use crate::errors::{input_error, needs_import};
use crate::policy::{Rules, extract_keep, extract_kinds, extract_limit, extract_names};
use crate::py_text::{new_bytes, new_string, string_of, text_of};
use crate::py_value::{Arena, Object};
use crate::records::record;
use crate::tokens::{MEMO, load};
use crate::unread::unread_of;

/// Project a request's messages by a policy; the messages are `None` if nothing changes.
#[pyfunction]
#[pyo3(signature = (messages, policy, previous, known = None))]
pub(crate) fn project<'py>(
    messages: &Bound<'py, PyAny>,
    policy: &Bound<'py, PyAny>,
    previous: Option<&Bound<'py, PyAny>>,
    known: Option<Vec<(String, bool)>>,
) -> PyResult<Bound<'py, PyTuple>> {
    let py = messages.py();
    let asked = ProjectionOptions::extract(policy)?;
    let previous = previous.map(extract_previous).transpose()?;
    let arena = Arena::new(py);
    let all = kept_messages(&arena, messages)?;
    let request_source = Objects { arena: &arena, messages: &all, frame: None, sizes: None };
    let known = facts_of(known);
    let frame = Frame { known: known.as_deref(), ..Frame::default() };
    let found = planned(&all, &request_source, &asked.settings(), previous.as_ref(), frame)?;
    let new = found.drafts.as_deref().map(|drafts| messages_of(py, drafts)).transpose()?;
    let mends = mends_of(py, &found.outcome.mends)?;
    let report = report_of(py, &found.outcome, &mends, "")?;
    let decisions = decisions_of(py, &found.decisions, &mends)?;
    arena.check()?;
    (new.map(Bound::into_any), report, decisions).into_pyobject(py)
}

/// Project messages that were imported, of a request with these other members. `sizes` are the bytes of each original
/// message.
///
/// Return the new messages (`None` if nothing changes), the position of the message that each of them was made from, and
/// the new values of the other members, where `None` removes one; then the report and the decisions.
#[pyfunction]
pub(crate) fn project_imported<'py>(
    messages: &Bound<'py, PyAny>,
    members: &Bound<'py, PyDict>,
    sizes: Vec<usize>,
    policy: &Bound<'py, PyAny>,
    previous: Option<&Bound<'py, PyAny>>,
    known: Option<Vec<(String, bool)>>,
    is_foreign: bool,
) -> PyResult<Bound<'py, PyTuple>> {
    let py = messages.py();
    let asked = ProjectionOptions::extract(policy)?;
    let settings = asked.settings();
    let previous = previous.map(extract_previous).transpose()?;
    let arena = Arena::new(py);
    let all = kept_messages(&arena, messages)?;
    let members = arena.keep(members.clone().into_any());
    let request_source = Objects { arena: &arena, messages: &all, frame: Some(members), sizes: Some(sizes) };
    let known = facts_of(known);
    let frame = Frame { known: known.as_deref(), is_foreign, ..job::frame_of(members, None, &settings) };
    let found = planned(&all, &request_source, &settings, previous.as_ref(), frame)?;
    let new = found.drafts.as_deref().map(|drafts| messages_of(py, drafts)).transpose()?;
    let origins: Vec<_> = found.drafts.iter().flatten().map(|draft| draft.path().map(Path::position)).collect();
    let changed = PyDict::new(py);
    for (key, edit) in &found.frame {
        changed.set_item(name_of(py, *key), edit.as_ref().map(|edit| edit_object(py, edit)).transpose()?)?;
    }
    let mends = mends_of(py, &found.outcome.mends)?;
    let report = report_of(py, &found.outcome, &mends, "")?;
    let decisions = decisions_of(py, &found.decisions, &mends)?;
    arena.check()?;
    (new, origins, changed, report, decisions).into_pyobject(py)
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
) -> PyResult<Projection<'a, Object<'a, 'py>>> {
    let found = job::plan((messages, request_source), settings, previous, frame);
    request_source.arena.check()?;
    let found = found.map_err(|halt| input_error(request_source.arena.py(), halt))?;
    if frame.known.is_some_and(|known| known.len() != found.outcome.blocks) {
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
) -> PyResult<Bound<'py, PyAny>> {
    let py = body.py();
    let asked = ProjectionOptions::extract(policy)?;
    let known = previous.map(extract_previous).transpose()?;
    let (data, settings) = (body.as_bytes(), asked.settings());
    let work = || match job::project_body(data, &settings, known.as_ref(), &room_for(data)) {
        Ok(projected) => Python::attach(|py| body_answer(py, &projected).map(|answer| Ok(answer.unbind()))),
        Err(unread) => Ok(Err(unread)),
    };
    match released(py, data, work)? {
        Ok(answer) => Ok(answer.into_bound(py).into_any()),
        Err(Unread::NeedsImport) => Err(needs_import(py)),
        Err(unread) => {
            let reason = unread.reason().map_or_else(|| refusal(body), Ok)?;
            let report = report_of(py, &Outcome::default(), &PyTuple::empty(py), &reason)?;
            Ok((py.None(), report, py.None()).into_pyobject(py)?.into_any())
        }
    }
}

/// Ask Python's decoder why it refuses a body.
fn refusal(body: &Bound<'_, PyBytes>) -> PyResult<String> {
    let py = body.py();
    py.import(intern!(py, "toolcarry._input.json"))?.getattr(intern!(py, "refusal"))?.call1((body,))?.extract()
}

fn body_answer<'py>(py: Python<'py>, projected: &job::ProjectedBytes<'_>) -> PyResult<Bound<'py, PyTuple>> {
    let bytes = |body: &job::Written<'_>| new_bytes(py, body.len(), |room| body.write(room));
    let body = projected.body.as_ref().map(bytes).transpose()?;
    let mends = mends_of(py, &projected.outcome.mends)?;
    let report = report_of(py, &projected.outcome, &mends, "")?;
    (body, report, decisions_of(py, &projected.decisions, &mends)?).into_pyobject(py)
}

/// The fields of a policy that a projection needs.
struct ProjectionOptions {
    rules: Rules,
    excluded: Option<RuleSet>,
    input_tools: Option<RuleSet>,
    counted: Option<&'static Encoding>,
    settings: Settings<'static>,
}

impl ProjectionOptions {
    fn extract(policy: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = policy.py();
        let limit = |name: &Bound<'_, PyString>| Ok::<_, PyErr>(extract_limit(&policy.getattr(name)?));
        let total_tokens = limit(intern!(py, "max_all_results_tokens"))?;
        let result_tokens = limit(intern!(py, "max_result_tokens"))?;
        let max_request_tokens = limit(intern!(py, "max_request_tokens"))?;
        let name: Bound<'_, PyString> = policy.getattr(intern!(py, "encoding"))?.cast_into()?;
        let encoding = load(py, name.to_str()?)?;
        let counted = total_tokens.or(result_tokens).or(max_request_tokens).map(|_| encoding);
        let content = extract_kinds(policy)?;
        let keep: Bound<'_, PyString> = policy.getattr(intern!(py, "keep"))?.cast_into()?;
        let (clear_inputs, input_tools) = extract_inputs(&policy.getattr(intern!(py, "clear_tool_inputs"))?)?;
        let settings = Settings {
            total: total_tokens.or(limit(intern!(py, "max_all_results_chars"))?),
            total_in_tokens: total_tokens.is_some(),
            limits: Limits {
                chars: limit(intern!(py, "max_result_chars"))?.unwrap_or(NO_LIMIT),
                tokens: result_tokens.filter(|limit| *limit < NO_LIMIT).map(|limit| (limit, encoding)),
                kinds: Kinds::NONE,
            },
            keep: extract_keep(keep.to_str()?),
            rules: RuleSet::built_in(),
            max_request_tokens,
            repair: policy.getattr(intern!(py, "repair"))?.is_truthy()?,
            destination: extract_destination(&policy.getattr(intern!(py, "destination"))?)?,
            clear_at_least: limit(intern!(py, "clear_at_least_tokens"))?.unwrap_or(0),
            clear_inputs,
            input_tools: None,
            excluded: None,
            keep_last_results: limit(intern!(py, "keep_last_results"))?.unwrap_or(0),
            keep_last_turns: limit(intern!(py, "keep_last_turns"))?.unwrap_or(0),
            content,
            encoding,
            counter: None,
        };
        let rules = Rules::extract(&policy.getattr(intern!(py, "rules"))?)?;
        let excluded = extract_tools(&policy.getattr(intern!(py, "exclude_tools"))?)?;
        Ok(Self { rules, excluded, input_tools, counted, settings })
    }

    fn settings(&self) -> Settings<'_> {
        Settings {
            rules: self.rules.set(),
            excluded: self.excluded.as_ref(),
            input_tools: self.input_tools.as_ref(),
            counter: self.counted.map(|encoding| Counter { encoding, memo: &MEMO }),
            ..self.settings
        }
    }
}

/// Extract the name of a destination, or a `Destination` that a user defined.
fn extract_destination(destination: &Bound<'_, PyAny>) -> PyResult<Option<&'static Destination>> {
    if destination.is_none() {
        return Ok(None);
    }
    if let Ok(name) = destination.cast::<PyString>() {
        return Ok(Destination::named(name.to_str()?));
    }
    let written: String = destination.getattr(intern!(destination.py(), "written"))?.extract()?;
    Ok(Destination::own(&written))
}

/// Extract the cases in which arguments are cleared, and rules whose first one matches the tools named.
fn extract_inputs(value: &Bound<'_, PyAny>) -> PyResult<(ClearInputs, Option<RuleSet>)> {
    if value.is_none() {
        return Ok((ClearInputs::IfOver, None));
    }
    if let Ok(is_on) = value.cast::<PyBool>() {
        return Ok((if is_on.is_true() { ClearInputs::Always } else { ClearInputs::Never }, None));
    }
    let tools = extract_tools(value)?;
    Ok(if tools.is_none() { (ClearInputs::Never, None) } else { (ClearInputs::Always, tools) })
}

/// Compile rules whose first one matches the named tools; `None` without names.
fn extract_tools(names: &Bound<'_, PyAny>) -> PyResult<Option<RuleSet>> {
    let tools: Vec<String> = extract_names(names)?.iter().map(|name| name.as_text().to_utf8()).collect();
    if tools.is_empty() {
        return Ok(None);
    }
    let rule = Rule { tools, kind: Kind::Other, key: Vec::new(), keep: KeepBlock::Last, max_result_chars: None };
    Ok(Some(RuleSet::new(vec![rule], false)))
}

/// Extract a `Decisions`.
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
    Ok(Decision { fate: DecisionKind::named(&fate), by: Cow::Owned(by), head: at(&head), tail: at(&tail) })
}

/// Extract a `Mend`.
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

/// Messages that are Python objects.
pub(crate) struct Objects<'a, 'py> {
    pub(crate) arena: &'a Arena<'py>,
    pub(crate) messages: &'a [Object<'a, 'py>],
    /// The other members of the request, if they are known.
    pub(crate) frame: Option<Object<'a, 'py>>,
    /// The bytes of each message, if they are not those of its texts.
    pub(crate) sizes: Option<Vec<usize>>,
}

impl<'a, 'py: 'a> RequestSource<'a> for Objects<'a, 'py> {
    type Item = Object<'a, 'py>;

    fn build(&self, draft: &Draft<'a, Object<'a, 'py>>) -> Option<Object<'a, 'py>> {
        if let Draft::Original(_, value) = draft {
            return Some(*value);
        }
        self.arena.settle(draft_object(self.arena.py(), draft)).map(|made| self.arena.keep(made))
    }

    fn frame(&self) -> Option<Object<'a, 'py>> {
        self.frame
    }

    fn weigh(&self, start: usize, end: usize) -> usize {
        if let Some(sizes) = &self.sizes {
            return sizes.iter().take(end).skip(start).sum();
        }
        let messages = self.messages.iter().take(end).skip(start);
        self.text_bytes(messages.map(|message| message.object.to_owned()).collect())
    }
}

impl<'py> Objects<'_, 'py> {
    /// Count the UTF-8 bytes of all texts in the values, at any depth.
    fn text_bytes(&self, values: Vec<Bound<'py, PyAny>>) -> usize {
        let mut rest = values;
        let mut total = 0;
        while let Some(value) = rest.pop() {
            if let Ok(text) = value.cast::<PyString>() {
                total += text_of(text.as_borrowed()).utf8_len();
            } else if let Ok(dict) = value.cast::<PyDict>() {
                rest.extend(dict.iter().map(|(_, value)| value));
            } else if let Ok(list) = value.cast::<PyList>() {
                rest.extend(list.iter());
            } else if let Ok(tuple) = value.cast::<PyTuple>() {
                rest.extend(tuple.iter());
            } else if !value.is_none() && !value.is_instance_of::<PyInt>() && !value.is_instance_of::<PyFloat>() {
                let found = self.arena.call_shared("toolcarry._input.objects", "as_object", value.as_borrowed());
                rest.extend(found.filter(|found| !found.is_none()));
            }
        }
        total
    }
}

/// Make the messages that drafts describe.
pub(crate) fn messages_of<'py>(py: Python<'py>, drafts: &[Draft<'_, Object<'_, 'py>>]) -> PyResult<Bound<'py, PyList>> {
    PyList::new(py, drafts.iter().map(|draft| draft_object(py, draft)).collect::<PyResult<Vec<_>>>()?)
}

fn draft_object<'py>(py: Python<'py>, draft: &Draft<'_, Object<'_, 'py>>) -> PyResult<Bound<'py, PyAny>> {
    match draft {
        Draft::Original(_, value) => Ok(value.object.to_owned()),
        Draft::Changed(changed) => changed_object(py, changed),
        Draft::NewValue(value) => json_object(py, value),
    }
}

/// Copy an object, with some members replaced, removed or added.
fn changed_object<'py>(py: Python<'py>, changed: &Changed<'_, Object<'_, 'py>>) -> PyResult<Bound<'py, PyAny>> {
    let known = changed.of.and_then(Value::object);
    let new = match known.as_ref().map(|known| known.object.cast::<PyDict>()) {
        Some(Ok(known)) => known.copy()?,
        _ => PyDict::new(py),
    };
    for (key, edit) in &changed.members {
        let name = name_of(py, *key);
        match edit {
            Some(edit) => new.set_item(name, edit_object(py, edit)?)?,
            None if new.contains(&name)? => new.del_item(name)?,
            None => {}
        }
    }
    Ok(new.into_any())
}

fn edit_object<'py>(py: Python<'py>, edit: &Edit<'_, Object<'_, 'py>>) -> PyResult<Bound<'py, PyAny>> {
    match edit {
        Edit::NewValue(value) => json_object(py, value),
        Edit::Parts(parts) => messages_of(py, &parts.items).map(Bound::into_any),
        Edit::Changed(changed) => changed_object(py, changed),
    }
}

fn name_of<'py>(py: Python<'py>, key: Key<'_>) -> Bound<'py, PyString> {
    PyString::intern(py, &key.name.to_utf8())
}

/// Make a new value.
fn json_object<'py>(py: Python<'py>, value: &Json<'_>) -> PyResult<Bound<'py, PyAny>> {
    match value {
        Json::Text(text) => string_of(py, text.text()).map(Bound::into_any),
        Json::Joined(parts) => joined_string(py, parts).map(Bound::into_any),
        Json::Source(text) => {
            let decode = py.import(intern!(py, "toolcarry._input.json_slowly"))?.getattr(intern!(py, "loads_text"))?;
            decode.call1((string_of(py, text.text())?,))
        }
        Json::Number(number) => number.into_bound_py_any(py),
        Json::True => true.into_bound_py_any(py),
        Json::List(items) => {
            let items = items.iter().map(|item| json_object(py, item)).collect::<PyResult<Vec<_>>>()?;
            Ok(PyList::new(py, items)?.into_any())
        }
        Json::Object(members) => {
            let dict = PyDict::new(py);
            for (name, value) in members {
                dict.set_item(string_of(py, name.text())?, json_object(py, value)?)?;
            }
            Ok(dict.into_any())
        }
    }
}

/// Join parts to a new string. None of them is JSON-escaped, because objects hold decoded text.
fn joined_string<'py>(py: Python<'py>, parts: &[TextPart<'_>]) -> PyResult<Bound<'py, PyString>> {
    let mut output = Output::default();
    for part in parts {
        if let TextPart::Text(text) = part {
            output.push(text.clone());
        }
    }
    new_string(py, &output)
}

/// Make a `Mend` of each correction.
fn mends_of<'py>(py: Python<'py>, mends: &[Mend<'_>]) -> PyResult<Bound<'py, PyTuple>> {
    let mut found = Vec::with_capacity(mends.len());
    for mend in mends {
        found.push(record!(py, "Mend" {
            kind: &*mend.kind,
            position: mend.position,
            call_id: string_of(py, mend.call_id.text())?,
            detail: string_of(py, mend.detail.text())?,
        }));
    }
    PyTuple::new(py, found)
}

/// Make a `ProjectReport`.
fn report_of<'py>(
    py: Python<'py>,
    outcome: &Outcome<'_>,
    mends: &Bound<'py, PyTuple>,
    untouched: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let mut words = Words::default();
    let replacements = outcome.replacements.iter().map(|found| replacement_of(py, found, &mut words));
    let replacements = replacements.collect::<PyResult<Vec<_>>>()?;
    let (tokens_before, tokens_after) = outcome.tokens.unzip();
    let names = PyDict::new(py);
    for (new, old) in &outcome.names {
        names.set_item(string_of(py, new.text())?, string_of(py, *old)?)?;
    }
    Ok(record!(py, "ProjectReport" {
        blocks: outcome.blocks,
        replacements: PyTuple::new(py, replacements)?,
        mends: mends,
        orphan_calls: outcome.orphan_calls,
        orphan_results: outcome.orphan_results,
        duplicate_results: outcome.duplicate_results,
        errors: outcome.errors,
        chars_before: outcome.chars_before,
        chars_after: outcome.chars_after,
        tokens_before: tokens_before,
        tokens_after: tokens_after,
        over_budget: outcome.over_budget,
        over_request: outcome.over_request,
        not_repaired: &outcome.not_repaired,
        stable_prefix_tokens: outcome.stable_prefix_tokens,
        cache_break_tokens: outcome.cache_break_tokens,
        untouched: untouched,
        unread: unread_of(py, &outcome.unread)?,
        names: names,
    }))
}

/// Make a `Replacement`.
fn replacement_of<'t, 'py>(
    py: Python<'py>,
    found: &'t Replacement<'_>,
    words: &mut Words<'t, 'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let ((chars_before, chars_after), (start, end)) = (found.sizes, found.range);
    Ok(record!(py, "Replacement" {
        position: found.position,
        reference: &*found.reference,
        tool_name: words.of(py, found.name)?,
        reason: words.of(py, Text::ascii(found.reason))?,
        chars_before: chars_before,
        chars_after: chars_after,
        start: start,
        end: end,
    }))
}

/// Strings of words that occur many times: each word becomes one string, up to `MOST` words.
#[derive(Default)]
struct Words<'t, 'py>(Vec<(Text<'t>, Bound<'py, PyString>)>);

impl<'t, 'py> Words<'t, 'py> {
    const MOST: usize = 16;

    fn of(&mut self, py: Python<'py>, word: Text<'t>) -> PyResult<Bound<'py, PyString>> {
        if let Some((_, known)) = self.0.iter().find(|(other, _)| *other == word) {
            return Ok(known.clone());
        }
        let string = string_of(py, word)?;
        if self.0.len() < Self::MOST {
            self.0.push((word, string.clone()));
        }
        Ok(string)
    }
}

/// Make a `Decisions`.
fn decisions_of<'py>(
    py: Python<'py>,
    decisions: &Decisions<'_>,
    mends: &Bound<'py, PyTuple>,
) -> PyResult<Bound<'py, PyAny>> {
    let made = PyDict::new(py);
    let mut words = Words::default();
    for (reference, decision) in &decisions.made {
        let fate = words.of(py, Text::ascii(decision.fate.name()))?;
        made.set_item(&**reference, (fate, &*decision.by, decision.head, decision.tail))?;
    }
    let signs = PyDict::new(py);
    for (reference, sign) in &decisions.signs {
        signs.set_item(&**reference, (sign.call, sign.size, sign.ends))?;
    }
    Ok(record!(py, "Decisions" {
        messages: decisions.messages,
        made: made,
        dropped: PyFrozenSet::new(py, decisions.dropped.iter().map(|reference| &**reference))?,
        mends: PyFrozenSet::new(py, mends)?,
        signs: signs,
    }))
}
