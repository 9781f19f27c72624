//! Python objects as values of the core, read in place.
//!
//! The core borrows texts while a job runs. An [`Arena`] owns a reference to every object that it returns, so that no
//! code that runs meanwhile (the garbage collector, a `model_dump`) can free a borrowed text. Strings never change;
//! containers may, so they are read again on every access.

#![allow(unsafe_code)] // the arena keeps borrowed objects alive, which the compiler can't check

use std::cell::RefCell;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use toolcarry::json::value::{KNOWN, Key, Value};
use toolcarry::json::write::push_quoted;
use toolcarry::text::{OwnedText, Text};

use crate::py_text::{is_ascii, string_of, text_of};

static NAMES: PyOnceLock<Vec<Py<PyString>>> = PyOnceLock::new();

/// The owner of all objects that a job borrows, and of the first error that Python raised during the job.
pub(crate) struct Arena<'py> {
    py: Python<'py>,
    names: &'py [Py<PyString>],
    kept: RefCell<Vec<Py<PyAny>>>,
    error: RefCell<Option<PyErr>>,
}

impl<'py> Arena<'py> {
    pub(crate) fn new(py: Python<'py>) -> Self {
        let intern = || KNOWN.iter().map(|key| PyString::intern(py, &key.name.to_utf8()).unbind()).collect();
        Self {
            py,
            names: NAMES.get_or_init(py, intern),
            kept: RefCell::new(Vec::with_capacity(1_024)),
            error: RefCell::new(None),
        }
    }

    pub(crate) fn py(&self) -> Python<'py> {
        self.py
    }

    /// Keep an object alive as long as the arena.
    pub(crate) fn keep(&self, object: Bound<'py, PyAny>) -> Object<'_, 'py> {
        let pointer = object.as_ptr();
        self.kept.borrow_mut().push(object.unbind());
        // SAFETY: `kept` only grows, and owns a reference until the arena is dropped, which `&self` does not outlive.
        let object = unsafe { Borrowed::from_ptr(self.py, pointer) };
        Object { object, arena: self }
    }

    /// Return the first error that Python raised, if any.
    pub(crate) fn check(&self) -> PyResult<()> {
        self.error.borrow_mut().take().map_or(Ok(()), Err)
    }

    /// Return the value of a call into Python; an error is stored, and returned by [`Arena::check`].
    pub(crate) fn settle<T>(&self, result: PyResult<T>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                self.error.borrow_mut().get_or_insert(error);
                None
            }
        }
    }

    /// Return true if a text in the objects, or the name of a member, is refused, or if a number is NaN or an infinity. Texts
    /// of narrow characters are not asked about.
    ///
    /// Objects of SDKs are dumped at the end, so that no Python code runs as long as the others are walked.
    pub(crate) fn is_any_refused<'a>(
        &'a self,
        objects: impl Iterator<Item = &'a Object<'a, 'py>>,
        is_refused: fn(Text<'_>) -> bool,
    ) -> bool
    where
        'py: 'a,
    {
        let mut rest: Vec<*mut ffi::PyObject> = objects.map(|object| object.object.as_ptr()).collect();
        let mut others: Vec<Object<'a, 'py>> = Vec::new();
        loop {
            let Some(pointer) = rest.pop() else {
                let Some(other) = others.pop() else { return false };
                let made = self.call_shared("toolcarry._input.objects", "as_object", other.object);
                rest.extend(made.filter(|made| !made.is_none()).map(|made| self.keep(made).object.as_ptr()));
                continue;
            };
            // SAFETY: a container that is reachable from a kept object owns what it holds, and nothing changes a container
            // while Python does not run; it runs only where `rest` is empty.
            unsafe {
                if ffi::PyDict_Check(pointer) != 0 {
                    let (mut place, mut name, mut value) = (0, std::ptr::null_mut(), std::ptr::null_mut());
                    while ffi::PyDict_Next(pointer, &raw mut place, &raw mut name, &raw mut value) != 0 {
                        if self.is_wide(name, is_refused) || self.is_wide(value, is_refused) {
                            return true;
                        }
                        if ffi::PyUnicode_Check(value) == 0 {
                            rest.push(value);
                        }
                    }
                } else if ffi::PyList_Check(pointer) != 0 {
                    rest.extend((0..ffi::PyList_GET_SIZE(pointer)).map(|index| ffi::PyList_GET_ITEM(pointer, index)));
                } else if ffi::PyTuple_Check(pointer) != 0 {
                    rest.extend((0..ffi::PyTuple_GET_SIZE(pointer)).map(|index| ffi::PyTuple_GET_ITEM(pointer, index)));
                } else if ffi::PyUnicode_Check(pointer) != 0 {
                    if self.is_wide(pointer, is_refused) {
                        return true;
                    }
                } else if ffi::PyFloat_Check(pointer) != 0 {
                    if !ffi::PyFloat_AS_DOUBLE(pointer).is_finite() {
                        return true;
                    }
                } else if pointer != ffi::Py_None() && ffi::PyLong_Check(pointer) == 0 {
                    others.push(self.keep(Borrowed::from_ptr(self.py, pointer).to_owned()));
                }
            }
        }
    }

    /// Return true if an object is a text of wide characters that is wanted.
    ///
    /// # Safety
    ///
    /// The object must live as long as the call.
    unsafe fn is_wide(&self, pointer: *mut ffi::PyObject, is_refused: fn(Text<'_>) -> bool) -> bool {
        // SAFETY: the kind of a string is read, and its characters are borrowed for this call.
        unsafe {
            ffi::PyUnicode_Check(pointer) != 0
                && ffi::PyUnicode_KIND(pointer) != ffi::PyUnicode_1BYTE_KIND
                && is_refused(text_of(Borrowed::from_ptr(self.py, pointer).cast_unchecked()))
        }
    }

    /// Call a Python function that both backends share.
    pub(crate) fn call_shared(
        &self,
        module: &str,
        name: &str,
        argument: Borrowed<'_, 'py, PyAny>,
    ) -> Option<Bound<'py, PyAny>> {
        let function = self.py.import(module).and_then(|module| module.getattr(name));
        self.settle(function.and_then(|function| function.call1((argument,))))
    }
}

/// An object that an arena keeps.
#[derive(Clone, Copy)]
pub(crate) struct Object<'a, 'py> {
    pub(crate) object: Borrowed<'a, 'py, PyAny>,
    arena: &'a Arena<'py>,
}

impl<'a, 'py> Object<'a, 'py> {
    fn member(self, key: Key<'_>) -> Option<Bound<'py, PyAny>> {
        let dict = self.object.cast::<PyDict>().ok()?;
        let found = match key.number.and_then(|number| self.arena.names.get(number)) {
            Some(name) => dict.get_item(name),
            None => string_of(self.arena.py, key.name).and_then(|name| dict.get_item(name)),
        };
        self.arena.settle(found)?
    }

    /// Return the text that a Python function of the package makes of the object.
    fn made_text(self, module: &str, name: &str) -> OwnedText {
        let made = self.arena.call_shared(module, name, self.object);
        made.and_then(|made| self.arena.keep(made).as_text()).map_or_else(OwnedText::default, OwnedText::from)
    }

    /// Return the JSON of an integer or a boolean. Like `flat_json`, it avoids a call into Python.
    fn scalar_json(self) -> Option<OwnedText> {
        let text = if let Ok(flag) = self.object.cast_exact::<PyBool>() {
            if flag.is_true() { "true" } else { "false" }.to_owned()
        } else {
            let number: i64 = self.object.cast_exact::<PyInt>().ok()?.extract().ok()?;
            number.to_string()
        };
        Some(OwnedText::Latin1(text.into_bytes()))
    }

    /// Return the JSON of the arguments that most calls have: a dict of Latin-1 texts, integers and booleans.
    fn flat_json(self) -> Option<OwnedText> {
        let push_text = |json: &mut OwnedText, value: &Bound<'py, PyAny>| {
            let text = text_of(value.cast_exact::<PyString>().ok()?.as_borrowed());
            matches!(text, Text::Latin1(_)).then(|| push_quoted(json, text))
        };
        let mut json = OwnedText::default();
        for (key, value) in self.object.cast_exact::<PyDict>().ok()?.iter() {
            json.push_ascii(if json.as_text().is_empty() { "{" } else { "," });
            push_text(&mut json, &key)?;
            json.push_ascii(":");
            if let Ok(flag) = value.cast_exact::<PyBool>() {
                json.push_ascii(if flag.is_true() { "true" } else { "false" });
            } else if value.is_exact_instance_of::<PyInt>() {
                json.push_ascii(&value.extract::<i64>().ok()?.to_string());
            } else {
                push_text(&mut json, &value)?;
            }
        }
        json.push_ascii(if json.as_text().is_empty() { "{}" } else { "}" });
        Some(json)
    }

    fn as_text(self) -> Option<Text<'a>> {
        // A borrowed string lives as long as its arena, and its characters never change.
        self.object.cast::<PyString>().ok().map(text_of)
    }
}

impl<'a, 'py: 'a> Value<'a> for Object<'a, 'py> {
    fn get(self, key: Key<'_>) -> Option<Self> {
        self.member(key).filter(|value| !value.is_none()).map(|value| self.arena.keep(value))
    }

    fn has(self, key: Key<'_>) -> bool {
        self.member(key).is_some_and(|value| !value.is_none())
    }

    fn has_name(self, key: Key<'_>) -> bool {
        self.member(key).is_some()
    }

    fn text(self) -> Option<Text<'a>> {
        self.as_text()
    }

    fn utf8_len(self) -> Option<usize> {
        let string = self.object.cast::<PyString>().ok()?;
        let text = text_of(string);
        Some(if is_ascii(string) { text.len() } else { text.utf8_len() })
    }

    fn object(self) -> Option<Self> {
        if self.object.is_instance_of::<PyDict>() {
            return Some(self);
        }
        if self.object.is_none() || self.object.is_exact_instance_of::<PyString>() || self.list().is_some() {
            return None;
        }
        let found = self.arena.call_shared("toolcarry._input.objects", "as_object", self.object)?;
        (!found.is_none()).then(|| self.arena.keep(found))
    }

    fn list(self) -> Option<Self> {
        (self.object.is_instance_of::<PyList>() || self.object.is_instance_of::<PyTuple>()).then_some(self)
    }

    fn count(self) -> usize {
        if let Ok(list) = self.object.cast::<PyList>() {
            return list.len();
        }
        self.object.cast::<PyTuple>().map_or(0, |tuple| tuple.len())
    }

    fn item(self, index: usize) -> Option<Self> {
        let found = match self.object.cast::<PyList>() {
            Ok(list) => list.get_item(index).ok(),
            Err(_) => self.object.cast::<PyTuple>().ok().and_then(|tuple| tuple.get_item(index).ok()),
        };
        found.map(|item| self.arena.keep(item))
    }

    fn is_true(self) -> bool {
        self.object.is(PyBool::new(self.arena.py, true))
    }

    fn integer(self) -> Option<i64> {
        let is_number = self.object.is_instance_of::<PyInt>() && !self.object.is_instance_of::<PyBool>();
        is_number.then(|| self.object.extract().ok()).flatten()
    }

    fn size(self) -> usize {
        self.object.cast::<PyDict>().map_or(0, |dict| dict.len())
    }

    fn is_null(self) -> bool {
        self.object.is_none()
    }

    fn is_not_finite(self) -> bool {
        self.object.cast::<PyFloat>().is_ok_and(|number| !number.value().is_finite())
    }

    fn size_without_nulls(self) -> usize {
        let dict = self.object.cast::<PyDict>();
        dict.map_or(0, |dict| dict.values().iter().filter(|value| !value.is_none()).count())
    }

    fn members(self, visit: &mut dyn FnMut(Text<'a>, Self) -> bool) {
        let Ok(dict) = self.object.cast::<PyDict>() else { return };
        let members: Vec<_> = dict.iter().collect(); // a visitor may run code that changes the dict
        for (key, value) in members {
            let is_text = key.is_exact_instance_of::<PyString>();
            let Some(name) = (if is_text { Some(key) } else { self.arena.settle(key.str()).map(Bound::into_any) })
            else {
                return;
            };
            let Some(name) = self.arena.keep(name).as_text() else { return };
            if !visit(name, self.arena.keep(value)) {
                return;
            }
        }
    }

    fn json(self) -> OwnedText {
        self.scalar_json()
            .or_else(|| self.flat_json())
            .unwrap_or_else(|| self.made_text("toolcarry._input.json", "compact_json"))
    }

    fn answer_json(self) -> OwnedText {
        self.made_text("toolcarry.model.content", "answer_json")
    }

    fn arguments(self) -> Self {
        match self.arena.call_shared("toolcarry._input.json", "loads_arguments", self.object) {
            Some(found) => self.arena.keep(found),
            None => self.empty(),
        }
    }

    fn empty(self) -> Self {
        self.arena.keep(PyDict::new(self.arena.py).into_any())
    }

    fn under(self, key: Key<'static>) -> Self {
        let dict = PyDict::new(self.arena.py);
        let done = string_of(self.arena.py, key.name).and_then(|name| dict.set_item(name, self.object));
        self.arena.settle(done);
        self.arena.keep(dict.into_any())
    }

    fn type_name(self) -> String {
        self.object.get_type().name().map_or_else(|_| "object".to_owned(), |name| name.to_string())
    }

    fn identity(self) -> usize {
        self.object.as_ptr().addr() // the arena keeps the object, so no other object can have this address
    }
}
