//! The built-in rules: which tools read, edit and run commands, and by which argument they are told apart.
//! They are `_data/default_rules.json`; the twin is `toolcarry/rules.py`.

use super::rules::{KeepBlock, Rule, RuleKey};
use crate::pairing::block::Kind;
use crate::text::Text;

include!(concat!(env!("OUT_DIR"), "/default_rules.rs"));

/// A rule of the table.
pub(crate) struct BuiltIn {
    tools: &'static [&'static str],
    kind: Kind,
    key: &'static [&'static str],
    keep: KeepBlock,
}

/// The built-in rules.
#[must_use]
pub fn default_rules() -> Vec<Rule> {
    let rules = RULES.iter().map(|rule| Rule {
        tools: rule.tools.iter().map(|tool| (*tool).to_owned()).collect(),
        kind: rule.kind,
        key: rule.key.iter().map(|name| RuleKey::new(Text::ascii(name))).collect(),
        keep: rule.keep,
        max_result_chars: None,
    });
    rules.collect()
}
