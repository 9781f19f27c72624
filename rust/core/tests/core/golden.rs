//! Whole contexts: each `tests/cases/golden/*.json` is a conversation, and the `.md` next to it is its context.
//! The Python tests compare the same files with both backends; here the core reads their bytes.

use std::fs;
use std::path::{Path, PathBuf};

use bumpalo::Bump;
use toolcarry::context::carry;
use toolcarry::context::policy::{Layout, NO_LIMIT, Settings};
use toolcarry::dedupe::rules::RuleSet;
use toolcarry::input::Conversation;
use toolcarry::input::messages::{List, Messages};
use toolcarry::json::scanned::Scanned;
use toolcarry::json::value::{Key, Value, names};
use toolcarry::text::Text;
use toolcarry::text::piece::Piece;
use toolcarry::text::truncate::Keep;

fn cases() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases/golden");
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|end| end == "json")).collect();
    paths.sort();
    paths
}

/// The settings of a case's policy. An unknown setting fails the test.
fn settings_of(policy: Option<Scanned<'_>>) -> Settings {
    let mut settings = Settings::default();
    if let Some(policy) = policy {
        policy.members(&mut |name, value| {
            set(&mut settings, &name.to_utf8(), value);
            true
        });
    }
    settings
}

fn set(settings: &mut Settings, name: &str, value: Scanned<'_>) {
    let number = || value.integer().map_or(NO_LIMIT, |number| usize::try_from(number).unwrap());
    match name {
        "max_chars" => settings.total = number(),
        "max_result_chars" => settings.limits.chars = number(),
        "layout" => settings.layout = layout_of(&value.text().unwrap().to_utf8()),
        "keep" => settings.keep = keep_of(&value.text().unwrap().to_utf8()),
        "include_summary" => settings.include_summary = value.is_true(),
        "include_files" => settings.include_files = value.is_true(),
        "include_changes" => settings.include_changes = value.is_true(),
        "include_commands" => settings.include_commands = value.is_true(),
        "include_others" => settings.include_others = value.is_true(),
        "include_failed" => settings.include_failed = value.is_true(),
        "include_interrupted" => settings.include_interrupted = value.is_true(),
        "framing" => settings.framing = value.is_true(),
        _ => panic!("unknown setting: {name}"),
    }
}

fn layout_of(name: &str) -> Layout {
    match name {
        "auto" => Layout::Auto,
        "sections" => Layout::Sections,
        "handover" => Layout::Handover,
        _ => panic!("unknown layout: {name}"),
    }
}

fn keep_of(name: &str) -> Option<Keep> {
    match name {
        "auto" => None,
        "head" => Some(Keep::Head),
        "tail" => Some(Keep::Tail),
        "ends" => Some(Keep::Ends),
        _ => panic!("unknown side: {name}"),
    }
}

/// The context of a case's messages.
fn context_of<'a>(case: Scanned<'a>, messages: impl Messages<'a, Error: std::fmt::Debug>) -> String {
    let summary =
        case.get(Key::named(Text::ascii("summary"))).and_then(Value::text).map_or(Piece::ascii(""), Piece::Borrowed);
    let settings = settings_of(case.get(Key::named(Text::ascii("policy"))));
    carry(messages, &summary, &settings, RuleSet::built_in(), false).unwrap().output.to_utf8()
}

/// A case is a request, so its messages can be read without changes.
#[test]
fn every_case_has_the_context_of_its_markdown_file() {
    for path in cases() {
        let expected = fs::read_to_string(path.with_extension("md")).unwrap();
        let (bytes, bump) = (fs::read(&path).unwrap(), Bump::new());
        let case = Scanned::parse(&bytes, &bump).unwrap();
        let list = List(case.get(names::MESSAGES).unwrap());
        let conversation = Conversation::open(&bytes, &bump).unwrap();
        assert_eq!(context_of(case, &conversation) + "\n", expected, "{}", path.display());
        assert_eq!(context_of(case, list) + "\n", expected, "{}", path.display());
    }
}

#[test]
fn there_are_cases() {
    assert!(cases().len() >= 8, "only {} cases", cases().len());
}
