//! What a projection says: its report, corrections and decisions, as Python classes.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyFrozenSet, PyString, PyTuple};
use toolcarry::projection::{Decisions, Mend, OlderImage, Outcome, Replacement};
use toolcarry::text::Text;

use crate::py_text::string_of;
use crate::records::record;
use crate::unread::unread_of;

/// Make a `Mend` of each correction.
pub(super) fn mends_of<'py>(py: Python<'py>, mends: &[Mend<'_>]) -> PyResult<Bound<'py, PyTuple>> {
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
pub(super) fn report_of<'py>(
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
    let images = outcome.older_images.iter().map(|found| image_of(py, found)).collect::<PyResult<Vec<_>>>()?;
    let [written, read, unchanged] = outcome.paid_tokens;
    Ok(record!(py, "ProjectReport" {
        blocks: outcome.blocks,
        replacements: PyTuple::new(py, replacements)?,
        older_images: PyTuple::new(py, images)?,
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
        written_tokens: written,
        read_tokens: read,
        unchanged_tokens: unchanged,
        write_tokens_saved: outcome.saved_tokens.0,
        read_tokens_saved: outcome.saved_tokens.1,
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

/// Make an `OlderImage`.
fn image_of<'py>(py: Python<'py>, found: &OlderImage<'_>) -> PyResult<Bound<'py, PyAny>> {
    Ok(record!(py, "OlderImage" {
        position: found.position,
        reference: &*found.reference,
        line: string_of(py, found.line.text())?,
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
pub(super) fn decisions_of<'py>(
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
    let excerpts = PyDict::new(py);
    for (reference, excerpt) in &decisions.excerpts {
        excerpts.set_item(&**reference, PyBytes::new(py, excerpt))?;
    }
    Ok(record!(py, "Decisions" {
        messages: decisions.messages,
        made: made,
        excerpts: excerpts,
        dropped: PyFrozenSet::new(py, decisions.dropped.iter().map(|reference| &**reference))?,
        mends: PyFrozenSet::new(py, mends)?,
        signs: signs,
        savings: (decisions.savings.written, decisions.savings.read),
    }))
}
