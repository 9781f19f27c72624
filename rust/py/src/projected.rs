//! What came of a projection, as Python's objects: the caller's own where nothing changes, else new dicts and lists.

use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use toolcarry::context::output::Output;
use toolcarry::json::value::{Key, Value};
use toolcarry::projection::{Changed, Decisions, Door, Draft, Edit, Json, Mend, Outcome, Replacement, TextPart};
use toolcarry::text::Text;

use crate::arena::{Arena, Object};
use crate::strings::{new_string, string_of, text_of};

/// Messages that are Python's objects.
pub(crate) struct Objects<'a, 'py> {
    pub(crate) arena: &'a Arena<'py>,
    pub(crate) messages: &'a [Object<'a, 'py>],
}

impl<'a, 'py: 'a> Door<'a> for Objects<'a, 'py> {
    type Item = Object<'a, 'py>;

    fn build(&self, draft: &Draft<'a, Object<'a, 'py>>) -> Option<Object<'a, 'py>> {
        if let Draft::Kept(_, value) = draft {
            return Some(*value);
        }
        self.arena.settle(draft_object(self.arena.py(), draft)).map(|made| self.arena.keep(made))
    }

    fn weigh(&self, start: usize, end: usize) -> usize {
        let messages = self.messages.iter().take(end).skip(start);
        self.text_bytes(messages.map(|message| message.object.to_owned()).collect())
    }
}

impl<'py> Objects<'_, 'py> {
    /// The UTF-8 bytes of all texts in values, at any depth.
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

/// The messages that drafts describe.
pub(crate) fn messages_of<'py>(py: Python<'py>, drafts: &[Draft<'_, Object<'_, 'py>>]) -> PyResult<Bound<'py, PyList>> {
    PyList::new(py, drafts.iter().map(|draft| draft_object(py, draft)).collect::<PyResult<Vec<_>>>()?)
}

fn draft_object<'py>(py: Python<'py>, draft: &Draft<'_, Object<'_, 'py>>) -> PyResult<Bound<'py, PyAny>> {
    match draft {
        Draft::Kept(_, value) => Ok(value.object.to_owned()),
        Draft::Changed(changed) => changed_object(py, changed),
        Draft::Made(value) => json_object(py, value),
    }
}

/// A copy of an object with some members replaced, removed or added.
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
        Edit::Made(value) => json_object(py, value),
        Edit::Parts(parts) => messages_of(py, &parts.items).map(Bound::into_any),
        Edit::Changed(changed) => changed_object(py, changed),
    }
}

fn name_of<'py>(py: Python<'py>, key: Key<'_>) -> Bound<'py, PyString> {
    PyString::intern(py, &key.name.to_utf8())
}

/// A new value.
fn json_object<'py>(py: Python<'py>, value: &Json<'_>) -> PyResult<Bound<'py, PyAny>> {
    match value {
        Json::Text(text) => string_of(py, text.text()).map(Bound::into_any),
        Json::Joined(parts) => joined_string(py, parts).map(Bound::into_any),
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

/// A new text of parts. None of them is written as JSON: objects hold text.
fn joined_string<'py>(py: Python<'py>, parts: &[TextPart<'_>]) -> PyResult<Bound<'py, PyString>> {
    let mut output = Output::default();
    for part in parts {
        if let TextPart::Text(text) = part {
            output.push(text.clone());
        }
    }
    new_string(py, &output)
}

/// The fields of mends.
pub(crate) fn mends_tuple<'py>(py: Python<'py>, mends: &[Mend<'_>]) -> PyResult<Bound<'py, PyTuple>> {
    let fields = |mend: &Mend<'_>| {
        let texts = (string_of(py, mend.call_id.text())?, string_of(py, mend.detail.text())?);
        (&*mend.kind, mend.position, texts.0, texts.1).into_pyobject(py)
    };
    PyTuple::new(py, mends.iter().map(fields).collect::<PyResult<Vec<_>>>()?)
}

/// The fields of a report.
pub(crate) fn outcome_tuple<'py>(
    py: Python<'py>,
    outcome: &Outcome<'_>,
    mends: &Bound<'py, PyTuple>,
) -> PyResult<Bound<'py, PyTuple>> {
    let mut words = Words::default();
    let replacements = outcome.replacements.iter().map(|found| replacement_tuple(py, found, &mut words));
    let (before, after) = outcome.tokens.unzip();
    let first = (
        outcome.blocks,
        PyTuple::new(py, replacements.collect::<PyResult<Vec<_>>>()?)?,
        mends,
        outcome.orphan_calls,
        outcome.orphan_results,
        outcome.duplicate_results,
        outcome.errors,
        outcome.chars_before,
        outcome.chars_after,
    );
    let last = (
        before,
        after,
        outcome.over_budget,
        outcome.over_request,
        &outcome.not_repaired,
        outcome.stable_prefix_tokens,
        outcome.cache_break_tokens,
        "",
    );
    let all = first.into_pyobject(py)?.as_sequence().concat(last.into_pyobject(py)?.as_sequence())?;
    Ok(all.cast_into()?)
}

fn replacement_tuple<'t, 'py>(
    py: Python<'py>,
    found: &'t Replacement<'_>,
    words: &mut Words<'t, 'py>,
) -> PyResult<Bound<'py, PyTuple>> {
    let (name, reason) = (words.of(py, found.name)?, words.of(py, Text::ascii(found.reason))?);
    let ((before, after), (start, end)) = (found.sizes, found.range);
    (found.position, &*found.reference, name, reason, before, after, start, end).into_pyobject(py)
}

/// Words that come many times, and few of them: each is one string.
#[derive(Default)]
struct Words<'t, 'py>(Vec<(Text<'t>, Bound<'py, PyString>)>);

impl<'t, 'py> Words<'t, 'py> {
    const MOST: usize = 16;

    fn of(&mut self, py: Python<'py>, word: Text<'t>) -> PyResult<Bound<'py, PyString>> {
        if let Some((_, known)) = self.0.iter().find(|(own, _)| *own == word) {
            return Ok(known.clone());
        }
        let string = string_of(py, word)?;
        if self.0.len() < Self::MOST {
            self.0.push((word, string.clone()));
        }
        Ok(string)
    }
}

/// The fields of decisions.
pub(crate) fn decisions_tuple<'py>(
    py: Python<'py>,
    decisions: &Decisions<'_>,
    mends: Bound<'py, PyTuple>,
) -> PyResult<Bound<'py, PyTuple>> {
    let made = PyDict::new(py);
    let mut words = Words::default();
    for (reference, decision) in &decisions.made {
        let fate = words.of(py, Text::ascii(decision.fate.name()))?;
        made.set_item(&**reference, (fate, &*decision.by, decision.head, decision.tail))?;
    }
    let dropped = PyTuple::new(py, decisions.dropped.iter().map(|reference| &**reference))?;
    let signs = PyDict::new(py);
    for (reference, sign) in &decisions.signs {
        signs.set_item(&**reference, (sign.call, sign.size, sign.ends))?;
    }
    (decisions.messages, made, dropped, mends, signs).into_pyobject(py)
}
