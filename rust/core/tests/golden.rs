//! Whole contexts: each `tests/cases/golden/*.json` is a conversation, the `.md` beside it what is carried.
//! Python compares the same files with both backends; here the core reads them through its own door.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)] // a test fails by panicking

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use serde_json::Value;
use toolcarry::carry::carry;
use toolcarry::json::Json;
use toolcarry::pieces::Piece;
use toolcarry::rules::RuleSet;
use toolcarry::settings::{NO_LIMIT, Settings};
use toolcarry::text::OwnedText;
use toolcarry::truncate::Keep;

/// Stands for a lone surrogate while `serde_json` reads, which refuses one.
const STAND_IN: u16 = 0xE000;
const SURROGATE: u16 = 0xD800;

fn cases() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases/golden");
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|end| end == "json")).collect();
    paths.sort();
    paths
}

/// The settings of a case's policy; a setting that is not known here fails the test.
fn settings_of(policy: &Value) -> Settings {
    let mut settings = Settings::default();
    for (name, value) in policy.as_object().into_iter().flatten() {
        let number = || value.as_u64().map_or(NO_LIMIT, |number| usize::try_from(number).unwrap());
        let is_on = || value.as_bool().unwrap();
        match name.as_str() {
            "max_tool_context_chars" => settings.total = number(),
            "max_tool_result_chars" => settings.limit = number(),
            "keep" => settings.keep = keep_of(value.as_str().unwrap()),
            "include_summary" => settings.include_summary = is_on(),
            "include_files" => settings.include_files = is_on(),
            "include_changes" => settings.include_changes = is_on(),
            "include_commands" => settings.include_commands = is_on(),
            "include_others" => settings.include_others = is_on(),
            "include_failed" => settings.include_failed = is_on(),
            "include_interrupted" => settings.include_interrupted = is_on(),
            "framing" => settings.framing = is_on(),
            _ => panic!("a setting that this test does not know: {name}"),
        }
    }
    settings
}

fn keep_of(name: &str) -> Option<Keep> {
    match name {
        "auto" => None,
        "head" => Some(Keep::Head),
        "tail" => Some(Keep::Tail),
        "ends" => Some(Keep::Ends),
        _ => panic!("no side: {name}"),
    }
}

/// `json` with lone surrogates where their stand-ins are.
fn with_surrogates(json: Json) -> Json {
    match json {
        Json::Text(OwnedText::Ucs2(units), _) => {
            let units = units.into_iter().map(|unit| if unit == STAND_IN { SURROGATE } else { unit }).collect();
            Json::Text(OwnedText::Ucs2(units), OnceLock::new())
        }
        Json::List(items) => Json::List(items.into_iter().map(with_surrogates).collect()),
        Json::Object(members) => {
            Json::Object(members.into_iter().map(|(key, value)| (key, with_surrogates(value))).collect())
        }
        other => other,
    }
}

/// What is carried of a case.
fn context_of(path: &Path) -> String {
    let document = fs::read_to_string(path).unwrap().replace("\\ud800 ", "\\ue000 ");
    let mut case: Value = serde_json::from_str(&document).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let messages = with_surrogates(Json::from(case["messages"].take()));
    let summary = Piece::own(OwnedText::from_utf8(case["summary"].as_str().unwrap_or_default()));
    let settings = settings_of(&case["policy"]);
    carry(&messages, &summary, &settings, RuleSet::built_in(), false).unwrap().output.to_utf8()
}

#[test]
fn every_case_is_carried_as_its_markdown_says() {
    for path in cases() {
        let expected = fs::read_to_string(path.with_extension("md")).unwrap();
        assert_eq!(context_of(&path) + "\n", expected, "{}", path.display());
    }
}

#[test]
fn there_are_cases() {
    assert!(cases().len() >= 8, "only {} cases", cases().len());
}
