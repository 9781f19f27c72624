//! The kernels that don't return messages: `carry`, `explain`, `extract_tool_blocks`, `inspect`, `dialogue` and `unread`
//! for a conversation in Python objects or in bytes; `carry_files` for files; `deduplicate_tools` and
//! `format_tool_context` for blocks.

use std::convert::Infallible;
use std::fs::{File, Metadata};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString, PyTuple};
use toolcarry::context::handover::NumberedCall;
use toolcarry::context::policy::{Partial, Reasons, Settings};
use toolcarry::context::{Carried, Counts};
use toolcarry::dedupe::rules::RuleSet;
use toolcarry::input::messages::{Halt, List, Messages, NeedsImport};
use toolcarry::input::{Conversation, room_for};
use toolcarry::inspect::{Inspection, ToolSize};
use toolcarry::json::value::Value;
use toolcarry::pairing::block::Entry;
use toolcarry::pairing::find_unread;
use toolcarry::text::piece::Piece;
use toolcarry::text::{OwnedText, Text};
use toolcarry::{context as job, context::dialogue as speech, inspect as inspection};

use crate::bytes::{ask_reference, decode, released};
use crate::errors::{input_error, is_needs_import, known, needs_import};
use crate::from_json::python_of;
use crate::policy::{Rules, extract_settings};
use crate::py_text::{new_bytes, new_string, string_of, text_of};
use crate::py_value::{Arena, Object};
use crate::records::{record, row};
use crate::unread::unread_of;

/// Run the job and pass its outcome to `then`, while everything that it borrows is alive.
fn with_carried<'py, T>(
    (messages, summary, policy): (&Bound<'py, PyAny>, &Bound<'py, PyString>, &Bound<'py, PyAny>),
    is_traced: bool,
    then: impl FnOnce(Carried<'_>) -> PyResult<T>,
) -> PyResult<T> {
    let py = messages.py();
    let settings = extract_settings(policy)?;
    let rules = Rules::extract(&policy.getattr("rules")?)?;
    let arena = Arena::new(py);
    let given = List(arena.keep(messages.clone()));
    let summary = Piece::Borrowed(text_of(summary.as_borrowed()));
    let carried = job::carry(given, &summary, &settings, rules.set(), is_traced);
    arena.check()?;
    then(carried.map_err(|halt| input_error(py, halt))?)
}

/// Return the context of a conversation, and its report: for messages as text, for bytes as bytes.
#[pyfunction]
pub(crate) fn carry<'py>(
    given: &Bound<'py, PyAny>,
    summary: &Bound<'py, PyString>,
    policy: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = given.py();
    if let Ok(body) = given.cast::<PyBytes>() {
        return carry_body(body, summary, policy);
    }
    with_carried((given, summary, policy), false, |carried| {
        let answer = (new_string(py, &carried.output)?, report_of(py, &carried.counts, &[])?);
        Ok(answer.into_pyobject(py)?.into_any())
    })
}

/// Return the age, the fate and the reason of every block that `carry` reads.
#[pyfunction]
pub(crate) fn explain<'py>(
    messages: &Bound<'py, PyAny>,
    summary: &Bound<'py, PyString>,
    policy: &Bound<'py, PyAny>,
) -> PyResult<Vec<(usize, &'static str, &'static str)>> {
    with_carried((messages, summary, policy), true, |carried| {
        Ok(carried.trace.into_iter().map(|(age, fate, reason)| (age, fate.name(), reason)).collect())
    })
}

/// Return the context of blocks from `deduplicate_tools`.
#[pyfunction]
pub(crate) fn format_tool_context<'py>(
    blocks: &Bound<'py, PyAny>,
    summary: &Bound<'py, PyString>,
    policy: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyString>> {
    let py = blocks.py();
    let settings = extract_settings(policy)?;
    let rules = Rules::extract(&policy.getattr("rules")?)?;
    let arena = Arena::new(py);
    let (entries, earlier) = entries_of(&arena, blocks, true)?;
    let entries = entries.into_iter().zip(earlier).collect();
    let summary = Piece::Borrowed(text_of(summary.as_borrowed()));
    let output = job::format_tool_context(entries, &summary, &settings, rules.set());
    arena.check()?;
    new_string(py, &output)
}

/// Make a `Report`.
fn report_of<'py>(py: Python<'py>, counts: &Counts, skipped_lines: &[usize]) -> PyResult<Bound<'py, PyAny>> {
    let partial = counts.partial.iter().map(|part| partial_of(py, part)).collect::<PyResult<Vec<_>>>()?;
    let steps = counts.steps.iter().map(|call| numbered_call_of(py, call)).collect::<PyResult<Vec<_>>>()?;
    Ok(record!(py, "Report" {
        walked: counts.walked,
        walked_all: counts.walked_all,
        shown: counts.shown,
        cut: counts.cut,
        left_out: counts.left_out,
        superseded: reasons_dict(py, &counts.superseded)?,
        excluded: reasons_dict(py, &counts.excluded)?,
        orphan_calls: counts.orphan_calls,
        orphan_results: counts.orphan_results,
        duplicate_results: counts.duplicate_results,
        repeated_records: counts.repeated_records,
        errors: counts.errors,
        chars_before: counts.chars_before,
        chars_after: counts.chars_after,
        summary_cut: counts.summary_cut,
        budget_too_small: counts.budget_too_small,
        tokens_after: counts.tokens_after,
        block_tokens: PyTuple::new(py, &counts.block_tokens)?,
        partial: PyTuple::new(py, partial)?,
        steps: PyTuple::new(py, steps)?,
        skipped_lines: PyTuple::new(py, skipped_lines)?,
        unread: unread_of(py, &counts.unread)?,
        remarks: PyTuple::empty(py),
    }))
}

/// Make a `NumberedCall`.
fn numbered_call_of<'py>(py: Python<'py>, call: &NumberedCall) -> PyResult<Bound<'py, PyAny>> {
    Ok(record!(py, "NumberedCall" {
        number: call.number,
        position: call.position,
        call_id: string_of(py, call.call_id.as_text())?,
        place: call.place.name(),
    }))
}

/// Make a `Partial`.
fn partial_of<'py>(py: Python<'py>, part: &Partial) -> PyResult<Bound<'py, PyAny>> {
    Ok(record!(py, "Partial" {
        position: part.position,
        call_id: string_of(py, part.call_id.as_text())?,
        is_result: part.is_result,
        lines: part.lines,
        shown: PyTuple::new(py, &part.shown)?,
    }))
}

pub(crate) fn reasons_dict<'py>(py: Python<'py>, reasons: &Reasons) -> PyResult<Bound<'py, PyAny>> {
    let dict = PyDict::new(py);
    for (reason, count) in reasons {
        dict.set_item(reason, count)?;
    }
    Ok(dict.into_any())
}

/// The outcome of `carry` for bytes.
pub(crate) struct CarriedBytes {
    context: Py<PyBytes>,
    counts: Counts,
    skipped_lines: Vec<usize>,
}

/// A context in UTF-8, and its report.
pub(crate) type Answer<'py> = (Bound<'py, PyBytes>, Bound<'py, PyAny>);

impl CarriedBytes {
    pub(crate) fn answer(self, py: Python<'_>) -> PyResult<Answer<'_>> {
        let report = report_of(py, &self.counts, &self.skipped_lines)?;
        Ok((self.context.into_bound(py), report))
    }
}

/// The arguments of `carry`, without Python objects.
pub(crate) struct Job<'r> {
    summary: OwnedText,
    settings: Settings,
    rules: &'r RuleSet,
}

impl<'r> Job<'r> {
    pub(crate) fn extract(
        summary: &Bound<'_, PyString>,
        policy: &Bound<'_, PyAny>,
        rules: &'r RuleSet,
    ) -> PyResult<Self> {
        let summary = OwnedText::from(text_of(summary.as_borrowed()));
        Ok(Self { summary, settings: extract_settings(policy)?, rules })
    }

    /// Return the context of a body; `None` if the core can't read it.
    pub(crate) fn run(&self, data: &[u8]) -> PyResult<Option<CarriedBytes>> {
        let bump = room_for(data);
        let Ok(conversation) = Conversation::open(data, &bump) else { return Ok(None) };
        let summary = Piece::Borrowed(self.summary.as_text());
        let carried = job::carry(&conversation, &summary, &self.settings, self.rules, false);
        let Some(Carried { output, counts, .. }) = known(carried)? else { return Ok(None) };
        let (size, write) = (output.utf8_len(), |room: &mut [u8]| output.write_utf8(room));
        let context = Python::attach(|py| new_bytes(py, size, write).map(Bound::unbind))?;
        Ok(Some(CarriedBytes { context, counts, skipped_lines: conversation.skipped_lines() }))
    }
}

fn carry_body<'py>(
    body: &Bound<'py, PyBytes>,
    summary: &Bound<'py, PyString>,
    policy: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = body.py();
    let rules = Rules::extract(&policy.getattr("rules")?)?;
    let job = Job::extract(summary, policy, rules.set())?;
    let data = body.as_bytes();
    match released(py, data, || job.run(data))? {
        Some(carried) => Ok(carried.answer(py)?.into_pyobject(py)?.into_any()),
        None => ask_reference(py, "carry", (body, summary, policy)),
    }
}

/// The outcome of one file; `None` if it is left to the fallback.
type Found = PyResult<Option<CarriedBytes>>;

/// Return the context of each file, or the error for a file that can't be read or is not a conversation.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)] // PyO3 passes extracted arguments by value
pub(crate) fn carry_files<'py>(
    py: Python<'py>,
    paths: Vec<PathBuf>,
    summary: &Bound<'py, PyString>,
    policy: &Bound<'py, PyAny>,
    threads: usize,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let rules = Rules::extract(&policy.getattr(intern!(py, "rules"))?)?;
    let job = Job::extract(summary, policy, rules.set())?;
    let found = py.detach(|| run_all(&job, &paths, threads))?;
    let mut answers = Vec::with_capacity(paths.len());
    for (path, found) in paths.iter().zip(found) {
        answers.push(match file_answer(py, found)? {
            Some(answer) => answer,
            None => match file_answer(py, run_packed(py, &job, path))? {
                Some(answer) => answer,
                None => ask_reference(py, "carry_files", ([path], summary, policy, 1))?.get_item(0)?,
            },
        });
    }
    Ok(answers)
}

/// Return the outcome of one file: its context, or the `NeedsImport` for one that an importer has to read.
fn file_answer(py: Python<'_>, found: Found) -> PyResult<Option<Bound<'_, PyAny>>> {
    match found {
        Ok(Some(carried)) => Ok(Some(carried.answer(py)?.into_pyobject(py)?.into_any())),
        Ok(None) => Ok(None),
        Err(error) if is_needs_import(py, &error) => Ok(Some(error.into_value(py).into_bound(py).into_any())),
        Err(error) => Err(error),
    }
}

/// Run the job on all files, with threads that take one file after the other. The calling thread checks for signals
/// between its files.
#[allow(clippy::redundant_closure_for_method_calls)] // the path of the method is not general enough over lifetimes
fn run_all(job: &Job<'_>, paths: &[PathBuf], threads: usize) -> PyResult<Vec<Found>> {
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<Found>> = Mutex::new(paths.iter().map(|_| Ok(None)).collect());
    let take_one = |buffer: &mut Vec<u8>| {
        let number = next.fetch_add(1, Ordering::Relaxed);
        let Some(path) = paths.get(number) else { return false };
        let found = if read(path, buffer) { job.run(buffer) } else { Ok(None) };
        let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(slot) = done.get_mut(number) {
            *slot = found;
        }
        true
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.min(paths.len()) {
            scope.spawn(|| {
                let mut buffer = Vec::new();
                while take_one(&mut buffer) {}
            });
        }
        let mut buffer = Vec::new();
        while take_one(&mut buffer) {
            Python::attach(|py| py.check_signals()).inspect_err(|_| next.store(paths.len(), Ordering::Relaxed))?;
        }
        Ok::<_, PyErr>(())
    })?;
    Ok(done.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// Run the job on a packed file or a folder of events; `None` if it is neither or can't be read.
fn run_packed(py: Python<'_>, job: &Job<'_>, path: &Path) -> Found {
    let unpack = py.import(intern!(py, "toolcarry._input.archive"))?;
    let read = unpack.getattr(intern!(py, "read_packed"))?.call1((path,))?;
    let Ok(data) = read.cast::<PyBytes>() else { return Ok(None) };
    let data = data.as_bytes();
    released(py, data, || job.run(data))
}

/// Read a file into `buffer`, up to the size that it has now. Return false, which leaves it to the
/// reference, if it is empty, can't be read, or is not a file. It is not mapped: the process would end with SIGBUS if
/// another one truncated it meanwhile.
fn read(path: &Path, buffer: &mut Vec<u8>) -> bool {
    buffer.clear();
    let Some(metadata) = path.metadata().ok().filter(Metadata::is_file) else { return false };
    File::open(path).and_then(|file| file.take(metadata.len()).read_to_end(buffer)).is_ok_and(|size| size > 0)
}

type Blocks<'py> = Vec<Bound<'py, PyAny>>;

/// Return every block of a conversation, in the order of the calls.
#[pyfunction]
pub(crate) fn extract_tool_blocks<'py>(given: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = given.py();
    if let Ok(body) = given.cast::<PyBytes>() {
        return blocks_in_body(body);
    }
    let arena = Arena::new(py);
    let list = List(arena.keep(given.clone()));
    let wire = |object: Object<'_, 'py>| Ok(object.object.to_owned());
    match blocks_of(py, &list, &wire, &|| arena.check())? {
        Ok(blocks) => blocks.into_pyobject(py),
        Err(halt) => Err(input_error(py, halt)),
    }
}

/// Return every block of a conversation in bytes. Only calls and results become Python objects.
fn blocks_in_body<'py>(body: &Bound<'py, PyBytes>) -> PyResult<Bound<'py, PyAny>> {
    let py = body.py();
    let room = room_for(body.as_bytes());
    if let Ok(conversation) = Conversation::open(body.as_bytes(), &room)
        && let Some(blocks) = known(blocks_of(py, &conversation, &|value| python_of(py, value), &|| Ok(()))?)?
    {
        return blocks.into_pyobject(py);
    }
    ask_reference(py, "extract_tool_blocks", (body,))
}

/// Return blocks with the calls and results that `wire` makes; `check` returns errors that Python raised meanwhile.
#[allow(clippy::type_complexity)] // the outer error is Python's, the inner one is the walk's
fn blocks_of<'a, 'py, M: Messages<'a>>(
    py: Python<'py>,
    messages: &M,
    wire: &dyn Fn(M::Item) -> PyResult<Bound<'py, PyAny>>,
    check: &dyn Fn() -> PyResult<()>,
) -> PyResult<Result<Blocks<'py>, Halt<M::Error>>> {
    let mut blocks = Vec::new();
    let found = job::extract_tool_blocks(messages, |entry, second| {
        check()?;
        blocks.push(block_of(py, entry, second, wire)?);
        Ok::<_, PyErr>(())
    });
    check()?;
    match found {
        Ok(visited) => visited?,
        Err(halt) => return Ok(Err(halt)),
    }
    blocks.reverse();
    Ok(Ok(blocks))
}

/// Return the blocks that no other one supersedes, with the notes on the others that rendering needs.
#[pyfunction]
pub(crate) fn deduplicate_tools<'py>(blocks: &Bound<'py, PyAny>, rules: &Bound<'py, PyAny>) -> PyResult<Blocks<'py>> {
    let py = blocks.py();
    let rules = Rules::extract(rules)?;
    let arena = Arena::new(py);
    let (entries, _) = entries_of(&arena, blocks, false)?;
    let kept = job::deduplicate_tools(entries, rules.set());
    arena.check()?;
    let last = blocks.len()?.saturating_sub(1);
    let renew = |(entry, earlier): &(Entry<'_, Object<'_, 'py>>, Vec<usize>)| {
        renewed(&blocks.get_item(last - entry.order)?, entry, earlier)
    };
    kept.iter().rev().map(renew).collect()
}

/// Return blocks as entries, newest first, and for each the ages of the earlier blocks that its heading counts. The age
/// of an entry, which is also its order, comes from the block's place, or with `by_notes` from its notes.
#[allow(clippy::type_complexity)] // two lists of the same length
pub(crate) fn entries_of<'a, 'py: 'a>(
    arena: &'a Arena<'py>,
    blocks: &Bound<'py, PyAny>,
    by_notes: bool,
) -> PyResult<(Vec<Entry<'a, Object<'a, 'py>>>, Vec<Vec<usize>>)> {
    let py = blocks.py();
    let mut entries = Vec::new();
    let mut earlier = Vec::new();
    for place in (0..blocks.len()?).rev() {
        let block = blocks.get_item(place)?;
        let member = |name: &Bound<'py, PyString>| block.getattr(name);
        let notes = member(intern!(py, "notes"))?;
        let wire = |name| Ok::<_, PyErr>(arena.keep(member(name)?).object());
        let (call, result) = (wire(intern!(py, "tool_use"))?, wire(intern!(py, "tool_result"))?);
        let scope = arena.keep(member(intern!(py, "scope"))?).text().unwrap_or(Text::ascii(""));
        let position = member(intern!(py, "position"))?.extract()?;
        let is_active = notes.getattr(intern!(py, "is_active"))?.is_truthy()?;
        let age = if by_notes { notes.getattr(intern!(py, "age"))?.extract()? } else { entries.len() };
        let entry = Entry::read(call, result, (position, age), (scope, is_active));
        let mut entry = entry.map_err(|NeedsImport| needs_import(py))?;
        entry.age = age;
        entry.directory = arena.keep(notes.getattr(intern!(py, "directory"))?).text().unwrap_or(Text::ascii(""));
        if member(intern!(py, "is_error"))?.is_truthy()? {
            entry.set_error();
        }
        if by_notes {
            entry.is_stale = notes.getattr(intern!(py, "is_stale"))?.is_truthy()?;
            earlier.push(notes.getattr(intern!(py, "earlier"))?.extract()?);
        }
        arena.check()?;
        entries.push(entry);
    }
    Ok((entries, earlier))
}

/// Make a `ToolBlock` of an entry, with the call and the results that `wire` makes.
fn block_of<'a, 'py, V: Value<'a>>(
    py: Python<'py>,
    entry: &Entry<'a, V>,
    second: &[V],
    wire: &dyn Fn(V) -> PyResult<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let second = second.iter().map(|result| wire(*result)).collect::<PyResult<Vec<_>>>()?;
    let notes = record!(py, "Notes" {
        age: entry.age,
        earlier: PyTuple::empty(py),
        is_stale: false,
        is_active: entry.is_active,
        second_results: PyTuple::new(py, second)?,
        directory: string_of(py, entry.directory)?,
    });
    Ok(record!(py, "ToolBlock" {
        tool_use: entry.call.map(wire).transpose()?,
        tool_result: entry.result.map(wire).transpose()?,
        tool_name: string_of(py, entry.name())?,
        dedup_key: dedup_key(py, entry)?,
        call_id: string_of(py, entry.call_id)?,
        is_error: entry.is_error(),
        position: entry.position,
        scope: string_of(py, entry.scope)?,
        notes: notes,
    }))
}

/// Return a `ToolBlock` with the key and the notes of its judged entry; the same one if it has them.
fn renewed<'py>(
    block: &Bound<'py, PyAny>,
    entry: &Entry<'_, Object<'_, 'py>>,
    earlier: &[usize],
) -> PyResult<Bound<'py, PyAny>> {
    let py = block.py();
    if has_notes(block, entry, earlier)? {
        return Ok(block.clone());
    }
    let notes = record!(py, "Notes" {
        age: entry.order,
        earlier: PyTuple::new(py, earlier)?,
        is_stale: entry.is_stale,
        is_active: entry.is_active,
        second_results: block.getattr(intern!(py, "notes"))?.getattr(intern!(py, "second_results"))?,
        directory: string_of(py, entry.directory)?,
    });
    Ok(record!(py, "ToolBlock" {
        tool_use: block.getattr(intern!(py, "tool_use"))?,
        tool_result: block.getattr(intern!(py, "tool_result"))?,
        tool_name: block.getattr(intern!(py, "tool_name"))?,
        dedup_key: dedup_key(py, entry)?,
        call_id: block.getattr(intern!(py, "call_id"))?,
        is_error: block.getattr(intern!(py, "is_error"))?,
        position: block.getattr(intern!(py, "position"))?,
        scope: block.getattr(intern!(py, "scope"))?,
        notes: notes,
    }))
}

/// Return true if a `ToolBlock` has the key and the notes of its judged entry.
fn has_notes<V>(block: &Bound<'_, PyAny>, entry: &Entry<'_, V>, earlier: &[usize]) -> PyResult<bool> {
    let py = block.py();
    let notes = block.getattr(intern!(py, "notes"))?;
    Ok(notes.getattr(intern!(py, "age"))?.eq(entry.order)?
        && notes.getattr(intern!(py, "is_stale"))?.eq(entry.is_stale)?
        && notes.getattr(intern!(py, "earlier"))?.eq(PyTuple::new(py, earlier)?)?
        && block.getattr(intern!(py, "dedup_key"))?.eq(dedup_key(py, entry)?)?)
}

fn dedup_key<'py, V>(py: Python<'py>, entry: &Entry<'_, V>) -> PyResult<Option<Bound<'py, PyString>>> {
    job::dedup_key(entry).map(|key| string_of(py, key.as_text())).transpose()
}

/// Return the survey of a conversation.
#[pyfunction]
pub(crate) fn inspect<'py>(given: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    match given.cast::<PyBytes>() {
        Ok(body) => inspect_body(body),
        Err(_) => inspect_objects(given, &[]),
    }
}

fn inspect_objects<'py>(messages: &Bound<'py, PyAny>, skipped_lines: &[usize]) -> PyResult<Bound<'py, PyAny>> {
    let py = messages.py();
    let arena = Arena::new(py);
    let found: Result<_, Halt<Infallible>> = inspection::inspect(List(arena.keep(messages.clone())));
    arena.check()?;
    inspection_of(py, &found.map_err(|halt| input_error(py, halt))?, skipped_lines)
}

fn inspect_body<'py>(body: &Bound<'py, PyBytes>) -> PyResult<Bound<'py, PyAny>> {
    let py = body.py();
    let data = body.as_bytes();
    let survey = || {
        let bump = room_for(data);
        let Ok(conversation) = Conversation::open(data, &bump) else { return Ok(None) };
        let found = known(inspection::inspect(&conversation))?;
        Ok::<_, PyErr>(found.map(|found| (found, conversation.skipped_lines())))
    };
    if let Some((found, lines)) = released(py, data, survey)? {
        return inspection_of(py, &found, &lines);
    }
    let (messages, lines) = decode(body)?;
    inspect_objects(&messages, &lines)
}

/// Report the messages of a conversation in bytes whose structure no format knows.
#[pyfunction]
pub(crate) fn unread<'py>(body: &Bound<'py, PyBytes>) -> PyResult<Bound<'py, PyAny>> {
    let py = body.py();
    let data = body.as_bytes();
    let walk = || {
        let bump = room_for(data);
        let Ok(conversation) = Conversation::open(data, &bump) else { return Ok(None) };
        known(find_unread(&conversation))
    };
    match released(py, data, walk)? {
        Some(unread) => unread_of(py, &unread),
        None => ask_reference(py, "unread", (body,)),
    }
}

/// Return the dialogue of a conversation.
#[pyfunction]
pub(crate) fn dialogue<'py>(given: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = given.py();
    if let Ok(body) = given.cast::<PyBytes>() {
        return dialogue_of_body(body);
    }
    let arena = Arena::new(py);
    let found: Result<_, Halt<Infallible>> = speech::dialogue(&List(arena.keep(given.clone())));
    arena.check()?;
    Ok(new_string(py, &found.map_err(|halt| input_error(py, halt))?)?.into_any())
}

fn dialogue_of_body<'py>(body: &Bound<'py, PyBytes>) -> PyResult<Bound<'py, PyAny>> {
    let py = body.py();
    let data = body.as_bytes();
    let work = || {
        let bump = room_for(data);
        let Ok(conversation) = Conversation::open(data, &bump) else { return Ok(None) };
        Ok::<_, PyErr>(known(speech::dialogue(&conversation))?.map(|output| output.to_utf8()))
    };
    match released(py, data, work)? {
        Some(text) => Ok(PyString::new(py, &text).into_any()),
        None => ask_reference(py, "dialogue", (body,)),
    }
}

/// Make an `Inspection`.
fn inspection_of<'py>(py: Python<'py>, found: &Inspection, skipped_lines: &[usize]) -> PyResult<Bound<'py, PyAny>> {
    let tools = PyDict::new(py);
    for (name, size) in &found.tools {
        tools.set_item(string_of(py, name.as_text())?, size_of(py, size)?)?;
    }
    let all = found.total();
    Ok(row!(py, "toolcarry.types.results", "Inspection" {
        shape: found.shape,
        messages: found.messages,
        calls: all.calls,
        results: all.results + found.duplicate_results,
        errors: all.errors,
        orphan_calls: found.orphan_calls,
        orphan_results: found.orphan_results,
        duplicate_results: found.duplicate_results,
        repeated_records: found.repeated_records,
        duplicates: found.duplicates,
        stale_reads: found.stale_reads,
        side_chain_blocks: found.side_chain_blocks,
        other_branch_blocks: found.other_branch_blocks,
        bytes: all.bytes,
        chars: all.chars,
        tools: tools,
        skipped_lines: PyTuple::new(py, skipped_lines)?,
        unread: unread_of(py, &found.unread)?,
        context: py.None(),
    }))
}

/// Make a `ToolSize`.
fn size_of<'py>(py: Python<'py>, size: &ToolSize) -> PyResult<Bound<'py, PyAny>> {
    Ok(record!(py, "ToolSize" {
        calls: size.calls,
        results: size.results,
        errors: size.errors,
        bytes: size.bytes,
        chars: size.chars,
    }))
}
