//! Messages that are Python objects: what they weigh, and the objects of changed ones.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use pyo3::{IntoPyObjectExt, intern};
use toolcarry::context::output::Output;
use toolcarry::json::value::{Key, Value};
use toolcarry::projection::{Changed, Draft, Edit, Json, RequestSource, TextPart, is_broken};

use crate::py_text::{new_string, string_of, text_of};
use crate::py_value::{Arena, Object};

/// Messages that are Python objects.
pub(super) struct Objects<'a, 'py> {
    pub(super) arena: &'a Arena<'py>,
    pub(super) messages: &'a [Object<'a, 'py>],
    /// The other members of the request, if they are known.
    pub(super) frame: Option<Object<'a, 'py>>,
    /// The bytes of each message, if they are not those of its texts.
    pub(super) sizes: Option<Vec<usize>>,
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

    fn may_be_broken(&self) -> bool {
        self.arena.is_any_refused(self.messages.iter().chain(&self.frame), is_broken)
    }

    fn size(&self) -> usize {
        self.weigh(0, self.messages.len())
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
pub(super) fn messages_of<'py>(py: Python<'py>, drafts: &[Draft<'_, Object<'_, 'py>>]) -> PyResult<Bound<'py, PyList>> {
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

pub(super) fn edit_object<'py>(py: Python<'py>, edit: &Edit<'_, Object<'_, 'py>>) -> PyResult<Bound<'py, PyAny>> {
    match edit {
        Edit::NewValue(value) => json_object(py, value),
        Edit::Parts(parts) => messages_of(py, &parts.items).map(Bound::into_any),
        Edit::Changed(changed) => changed_object(py, changed),
    }
}

pub(super) fn name_of<'py>(py: Python<'py>, key: Key<'_>) -> Bound<'py, PyString> {
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
