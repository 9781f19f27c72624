//! What a projection is asked for, as Python says it: a policy, and the decisions of the request before.

use std::borrow::Cow;

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyMapping, PyString};
use toolcarry::context::limits::Limits;
use toolcarry::context::policy::NO_LIMIT;
use toolcarry::dedupe::rules::{KeepBlock, Rule, RuleSet};
use toolcarry::pairing::block::Kind;
use toolcarry::projection::{
    ClearInputs, Counter, Decision, DecisionKind, Destination, FirstSight, OwnMend, Previous, Price, Savings, Settings,
    Sign,
};
use toolcarry::shorten::Kinds;
use toolcarry::text::OwnedText;
use toolcarry::tokens::Encoding;

use crate::encodings::{MEMO, load};
use crate::policy::{Rules, extract_keep, extract_kinds, extract_limit, extract_names};
use crate::py_text::text_of;

/// The fields of a policy that a projection needs.
pub(super) struct ProjectionOptions {
    rules: Rules,
    excluded: Option<RuleSet>,
    input_tools: Option<RuleSet>,
    counted: Option<&'static Encoding>,
    prices: Vec<Price>,
    settings: Settings<'static>,
}

impl ProjectionOptions {
    pub(super) fn extract(policy: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = policy.py();
        let limit = |name: &Bound<'_, PyString>| Ok::<_, PyErr>(extract_limit(&policy.getattr(name)?));
        let total_tokens = limit(intern!(py, "max_all_results_tokens"))?;
        let result_tokens = policy.getattr(intern!(py, "max_result_tokens"))?;
        let is_auto = result_tokens.is_instance_of::<PyString>();
        let window = limit(intern!(py, "window_tokens"))?;
        let first_sight = is_auto.then_some(FirstSight { window });
        let result_tokens = extract_limit(&result_tokens).filter(|_| !is_auto);
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
            first_sight,
            keep: extract_keep(keep.to_str()?),
            rules: RuleSet::built_in(),
            max_request_tokens,
            repair: policy.getattr(intern!(py, "repair"))?.is_truthy()?,
            destination: extract_destination(&policy.getattr(intern!(py, "destination"))?)?,
            clear_at_least: limit(intern!(py, "clear_at_least_tokens"))?,
            prices: &[],
            clear_inputs,
            input_tools: None,
            excluded: None,
            keep_last_results: limit(intern!(py, "keep_last_results"))?.unwrap_or(0),
            keep_last_turns: limit(intern!(py, "keep_last_turns"))?.unwrap_or(0),
            keep_images: limit(intern!(py, "keep_images"))?.filter(|keep| *keep < NO_LIMIT),
            content,
            references: policy.getattr(intern!(py, "references"))?.is_truthy()?,
            encoding,
            counter: None,
        };
        let rules = Rules::extract(&policy.getattr(intern!(py, "rules"))?)?;
        let excluded = extract_tools(&policy.getattr(intern!(py, "exclude_tools"))?)?;
        let prices: Vec<(isize, isize)> = policy.getattr(intern!(py, "price_bounds"))?.extract()?;
        let prices = prices.into_iter().map(|(write, read)| Price { write, read }).collect();
        Ok(Self { rules, excluded, input_tools, counted, prices, settings })
    }

    pub(super) fn settings(&self) -> Settings<'_> {
        Settings {
            rules: self.rules.set(),
            excluded: self.excluded.as_ref(),
            input_tools: self.input_tools.as_ref(),
            prices: &self.prices,
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
pub(super) fn extract_previous(previous: &Bound<'_, PyAny>) -> PyResult<Previous> {
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
    let excerpts = previous.getattr(intern!(py, "excerpts"))?;
    for item in excerpts.cast::<PyMapping>()?.items()? {
        let (reference, excerpt): (String, Bound<'_, PyBytes>) = item.extract()?;
        found.excerpts.insert(reference, excerpt.as_bytes().into());
    }
    for reference in previous.getattr(intern!(py, "dropped"))?.try_iter()? {
        found.dropped.insert(reference?.extract()?);
    }
    let signs = previous.getattr(intern!(py, "signs"))?;
    for item in signs.cast::<PyMapping>()?.items()? {
        let (reference, (call, size, ends)): (String, (u32, usize, u32)) = item.extract()?;
        found.signs.insert(reference, Sign { call, size, ends });
    }
    let (written, read) = previous.getattr(intern!(py, "savings"))?.extract()?;
    found.savings = Savings { written, read };
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
