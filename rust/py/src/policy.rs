//! Extract policies and rules.

use std::sync::LazyLock;

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyString;
use toolcarry::context::limits::{Limits, Measure};
use toolcarry::context::policy::{Layout, NO_LIMIT, Settings};
use toolcarry::dedupe::rules::{KeepBlock, Rule, RuleKey, RuleSet};
use toolcarry::pairing::block::Kind;
use toolcarry::shorten::Kinds;
use toolcarry::text::OwnedText;
use toolcarry::text::truncate::Keep;

use crate::encodings::load;
use crate::py_text::text_of;

static DEFAULT_RULES: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
static CAREFUL: LazyLock<RuleSet> = LazyLock::new(|| RuleSet::new(Vec::new(), true));

/// Compiled rules: built-in rules, which are never freed, or the rules of one call.
pub(crate) enum Rules {
    Fixed(&'static RuleSet),
    Given(Box<RuleSet>),
}

impl Rules {
    pub(crate) fn set(&self) -> &RuleSet {
        match self {
            Self::Fixed(set) => set,
            Self::Given(set) => set,
        }
    }

    /// Extract a tuple of `Rule`, or `"careful"`.
    pub(crate) fn extract(rules: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = rules.py();
        let built_in = DEFAULT_RULES
            .get_or_try_init(py, || py.import("toolcarry.types.policy")?.getattr("DEFAULT_RULES").map(Bound::unbind))?;
        if rules.is(built_in) {
            return Ok(Self::Fixed(RuleSet::built_in()));
        }
        if rules.is_instance_of::<PyString>() {
            return Ok(Self::Fixed(&CAREFUL));
        }
        let given = rules.try_iter()?.map(|rule| extract_rule(&rule?)).collect::<PyResult<Vec<Rule>>>()?;
        Ok(Self::Given(Box::new(RuleSet::new(given, false))))
    }
}

fn extract_rule(rule: &Bound<'_, PyAny>) -> PyResult<Rule> {
    let py = rule.py();
    let kind: String = rule.getattr(intern!(py, "kind"))?.extract()?;
    let keep: String = rule.getattr(intern!(py, "keep"))?.extract()?;
    let tools = extract_names(&rule.getattr(intern!(py, "tools"))?)?;
    let key = extract_names(&rule.getattr(intern!(py, "key"))?)?;
    Ok(Rule {
        tools: tools.iter().map(|name| name.as_text().to_utf8()).collect(),
        kind: match kind.as_str() {
            "read" => Kind::Read,
            "edit" => Kind::Edit,
            "command" => Kind::Command,
            _ => Kind::Other,
        },
        key: key.iter().map(|name| RuleKey::new(name.as_text())).collect(),
        keep: match keep.as_str() {
            "all" => KeepBlock::All,
            "first" => KeepBlock::First,
            "none" => KeepBlock::None,
            _ => KeepBlock::Last,
        },
        max_result_chars: extract_limit(&rule.getattr(intern!(py, "max_result_chars"))?),
    })
}

/// Extract a tuple of names.
pub(crate) fn extract_names(names: &Bound<'_, PyAny>) -> PyResult<Vec<OwnedText>> {
    names.try_iter()?.map(|name| Ok(text_of(name?.cast::<PyString>()?.as_borrowed()).into())).collect()
}

/// Extract a limit; `None` for Python's `None`. A number too large for any text becomes `NO_LIMIT`.
pub(crate) fn extract_limit(limit: &Bound<'_, PyAny>) -> Option<usize> {
    (!limit.is_none()).then(|| limit.extract().unwrap_or(NO_LIMIT).min(NO_LIMIT))
}

/// Convert the name of the side that a cut keeps; `None` for `"auto"`.
pub(crate) fn extract_keep(keep: &str) -> Option<Keep> {
    match keep {
        "head" => Some(Keep::Head),
        "tail" => Some(Keep::Tail),
        "ends" => Some(Keep::Ends),
        _ => None,
    }
}

/// Extract the kinds of texts that are shortened by what they are.
pub(crate) fn extract_kinds(policy: &Bound<'_, PyAny>) -> PyResult<Kinds> {
    let content = policy.getattr(intern!(policy.py(), "content"))?;
    if let Ok(name) = content.cast::<PyString>() {
        return Ok(if name.to_str()? == "auto" { Kinds::ALL } else { Kinds::NONE });
    }
    let names: Vec<String> = content.extract()?;
    Ok(Kinds::of(names.iter().map(String::as_str)))
}

/// Extract a `CarryPolicy`, which has checked its values.
pub(crate) fn extract_settings(policy: &Bound<'_, PyAny>) -> PyResult<Settings> {
    let py = policy.py();
    let is_on = |name: &Bound<'_, PyString>| policy.getattr(name)?.is_truthy();
    let limit = |name: &Bound<'_, PyString>, default: usize| -> PyResult<usize> {
        Ok(extract_limit(&policy.getattr(name)?).unwrap_or(default))
    };
    let layout: Bound<'_, PyString> = policy.getattr(intern!(py, "layout"))?.cast_into()?;
    let keep: Bound<'_, PyString> = policy.getattr(intern!(py, "keep"))?.cast_into()?;
    let (tokens, result_tokens) = (intern!(py, "max_tokens"), intern!(py, "max_result_tokens"));
    let (counts_tokens, limits_tokens) =
        (!policy.getattr(tokens)?.is_none(), !policy.getattr(result_tokens)?.is_none());
    let encoding = if counts_tokens || limits_tokens {
        let name: Bound<'_, PyString> = policy.getattr(intern!(py, "encoding"))?.cast_into()?;
        Some(load(py, name.to_str()?)?)
    } else {
        None
    };
    let chars = limit(intern!(py, "max_chars"), Settings::default().total)?;
    let (total, measure) = match encoding {
        Some(encoding) if counts_tokens => (limit(tokens, NO_LIMIT)?, Measure::Tokens(encoding)),
        _ => (chars, Measure::Characters),
    };
    let result_limit = limit(result_tokens, NO_LIMIT)?;
    Ok(Settings {
        total,
        measure,
        limits: Limits {
            chars: limit(intern!(py, "max_result_chars"), NO_LIMIT)?,
            tokens: encoding
                .filter(|_| limits_tokens && result_limit < NO_LIMIT)
                .map(|encoding| (result_limit, encoding)),
            kinds: extract_kinds(policy)?.of_context(),
        },
        keep: extract_keep(keep.to_str()?),
        include_summary: is_on(intern!(py, "include_summary"))?,
        include_files: is_on(intern!(py, "include_files"))?,
        include_changes: is_on(intern!(py, "include_changes"))?,
        include_commands: is_on(intern!(py, "include_commands"))?,
        include_others: is_on(intern!(py, "include_others"))?,
        include_failed: is_on(intern!(py, "include_failed"))?,
        include_interrupted: is_on(intern!(py, "include_interrupted"))?,
        framing: is_on(intern!(py, "framing"))?,
        layout: match layout.to_str()? {
            "sections" => Layout::Sections,
            "handover" => Layout::Handover,
            _ => Layout::Auto,
        },
        references: is_on(intern!(py, "references"))?,
    })
}
