//! Any bytes as a body: every job must have the same outcome on the body, which is read from its end, and on the list
//! of its messages.
//!
//! The settings follow the last byte 0xFF, which is in no UTF-8 text: flags, the total, the limit on one result, rules
//! and sides, and a summary.

#![no_main]

#[path = "../documents.rs"]
mod documents;

use std::fmt::Debug;
use std::sync::LazyLock;

use bumpalo::Bump;
use libfuzzer_sys::fuzz_target;
use toolcarry::content::result_text;
use toolcarry::context::carry;
use toolcarry::context::dialogue::dialogue;
use toolcarry::context::limits::Measure;
use toolcarry::context::output::Output;
use toolcarry::context::policy::Settings;
use toolcarry::dedupe::rules::{KeepBlock, Rule, RuleKey, RuleSet};
use toolcarry::input::Conversation;
use toolcarry::input::messages::{Halt, List, Messages};
use toolcarry::inspect::inspect;
use toolcarry::json::error::{Fault, Refused};
use toolcarry::json::scanned::Scanned;
use toolcarry::json::value::Value;
use toolcarry::pairing::Walk;
use toolcarry::pairing::block::Kind;
use toolcarry::text::piece::Piece;
use toolcarry::text::truncate::Keep;
use toolcarry::text::{OwnedText, Text};
use toolcarry::text_history;

const MARK: &[u8] = b"\xEF\xBB\xBF";

static CAREFUL: LazyLock<RuleSet> = LazyLock::new(|| RuleSet::new(Vec::new(), true));
static FIRST: LazyLock<RuleSet> = LazyLock::new(|| {
    let rule = |tools: &str, key: &[&str], keep| Rule {
        tools: vec![tools.to_owned()],
        kind: Kind::Other,
        key: key.iter().map(|name| RuleKey::new(OwnedText::from_utf8(name).as_text())).collect(),
        keep,
        max_result_chars: None,
    };
    let rules = vec![rule("Bash", &["command"], KeepBlock::First), rule("g*", &["value", "é"], KeepBlock::All)];
    RuleSet::new(rules, false)
});

fuzz_target!(|data: &[u8]| {
    let (body, asked) = Options::split(data);
    let bump = Bump::new();
    check(body, Conversation::open(body, &bump), &asked, &bump);
});

fn check<'a>(body: &'a [u8], opened: Result<Conversation<'a>, Refused>, asked: &Options<'_>, bump: &'a Bump) {
    let document = body.strip_prefix(MARK).unwrap_or(body);
    match Scanned::parse(document, &bump) {
        Ok(value) => match documents::messages_of(value) {
            None => assert_eq!(opened.err(), Some(Refused { at: 0, fault: Fault::NoMessages })),
            Some(None) => compare_with_array(&opened.unwrap(), &[document], asked),
            Some(Some(list)) => compare(&opened.unwrap(), List(list), asked),
        },
        Err(refused) => {
            let refused = Refused { at: refused.at + body.len() - document.len(), ..refused };
            check_lines(opened, document, refused, asked, &bump);
        }
    }
}

// Settings

struct Options<'a> {
    settings: Settings,
    rules: &'static RuleSet,
    is_traced: bool,
    summary: Piece<'a>,
}

impl<'a> Options<'a> {
    /// Split data into the body and the settings after it.
    fn split(data: &'a [u8]) -> (&'a [u8], Self) {
        let end = data.iter().rposition(|byte| *byte == 0xFF).unwrap_or(data.len());
        let tail = data.get(end + 1..).unwrap_or_default();
        let byte = |index: usize| tail.get(index).copied().map(usize::from);
        let is_set = |bit: usize| byte(0).is_none_or(|flags| flags >> bit & 1 == 0);
        let number = |index: usize| Some(byte(index)? << 8 | byte(index + 1)?);
        let mut settings = Settings {
            keep: [None, Some(Keep::Head), Some(Keep::Tail), Some(Keep::Ends)][byte(5).unwrap_or(0) & 3],
            include_files: is_set(0),
            include_changes: is_set(1),
            include_commands: is_set(2),
            include_others: is_set(3),
            include_failed: is_set(4),
            include_interrupted: is_set(5),
            framing: is_set(6),
            ..Settings::default()
        };
        settings.total = number(1).unwrap_or(settings.total);
        settings.limits.chars = number(3).unwrap_or(settings.limits.chars);
        let rules = match byte(5).unwrap_or(0) >> 2 & 3 {
            0 | 1 => RuleSet::built_in(),
            2 => &CAREFUL,
            _ => &FIRST,
        };
        let summary = Piece::own(OwnedText::from_utf8(&String::from_utf8_lossy(tail.get(6..).unwrap_or_default())));
        let body = &data[..end];
        (body, Self { settings, rules, is_traced: !is_set(7), summary })
    }
}

// Comparison

/// Compare records, or a document, with an array of them. The array is one level deeper, and may be too deep.
fn compare_with_array(found: &Conversation<'_>, items: &[&[u8]], asked: &Options<'_>) {
    let array = [b"[", items.join(&b","[..]).as_slice(), b"]"].concat();
    let bump = Bump::new();
    match Scanned::parse(&array, &bump) {
        Ok(list) => compare(found, List(list), asked),
        Err(refused) => assert_eq!(refused.fault, Fault::TooDeep),
    }
}

/// Check that every job has the same outcome on a conversation and on a list.
fn compare(found: &Conversation<'_>, expected: List<Scanned<'_>>, asked: &Options<'_>) {
    assert_eq!(carried(found, asked), carried(&expected, asked));
    assert_eq!(plain(inspect(found)), plain(inspect(&expected)));
    assert_eq!(plain(dialogue(found).map(written)), plain(dialogue(&expected).map(written)));
    assert_eq!(walked(found, asked), walked(&expected, asked));
    assert_eq!(recounted(found, asked), recounted(&expected, asked));
}

/// The outcome of a job, or its error as text.
fn plain<T, E: Debug>(found: Result<T, Halt<E>>) -> Result<T, String> {
    found.map_err(|halt| format!("{halt:?}"))
}

/// An output in UTF-8; checks that its length is right.
fn written(output: Output<'_>) -> String {
    let text = output.to_utf8();
    assert_eq!(output.len(), text.chars().count(), "{text}");
    text
}

fn carried<'a, M: Messages<'a, Error: Debug>>(messages: M, asked: &Options<'_>) -> Result<(String, String), String> {
    let found = plain(carry(messages, &asked.summary, &asked.settings, asked.rules, asked.is_traced))?;
    assert!(found.output.len() <= asked.settings.total);
    assert_eq!(found.output.len(), found.counts.chars_after);
    Ok((written(found.output), format!("{:?} {:?}", found.counts, found.trace)))
}

/// The text history; checks that it is within its total.
fn recounted<'a, M: Messages<'a, Error: Debug>>(
    messages: &M,
    asked: &Options<'_>,
) -> Result<(Vec<String>, String), String> {
    let Settings { total, limits, .. } = asked.settings;
    let total = Some((total, Measure::Characters));
    let asked = text_history::RecountOptions { turn_id: Text::ascii("id"), max_result_length: limits.chars, total };
    let found = plain(text_history::recount(messages, None, asked))?;
    assert!(found.counts.chars_after <= asked.total.map_or(usize::MAX, |(total, _)| total));
    let line = |(role, content): (Text<'_>, Output<'_>)| format!("{}: {}", role.to_utf8(), written(content));
    Ok((found.messages.into_iter().map(line).collect(), format!("{:?}", found.counts)))
}

fn json<'a, V: Value<'a>>(value: Option<V>) -> String {
    value.map_or_else(String::new, |value| value.json().as_text().to_utf8())
}

/// The blocks with all their fields.
fn walked<'a, M: Messages<'a, Error: Debug>>(messages: M, asked: &Options<'_>) -> Result<Vec<String>, String> {
    let mut walk = Walk::new(messages);
    let mut found = Vec::new();
    while let Some(entry) = plain(walk.next_entry())? {
        let content = result_text(entry.content);
        let ends = [content.start(asked.settings.limits.chars), content.end(asked.settings.limits.chars)];
        let ends = ends.map(|end| end.text().to_utf8());
        found.push(format!(
            "{} {} {} {} {} {} {}",
            walk.messages().number(entry.position),
            entry.order,
            entry.is_active,
            entry.is_error(),
            entry.is_failure(),
            content.len(),
            content.utf8_len(),
        ));
        found.extend([entry.call_id, entry.scope, entry.name(), content.whole().text()].map(Text::to_utf8));
        found.extend([json(entry.call), json(entry.result)].into_iter().chain(ends));
    }
    let mut second: Vec<_> = walk.second_results.iter().collect();
    second.sort_by_key(|(order, _)| **order);
    let second = second.into_iter().flat_map(|(order, results)| results.iter().map(move |result| (order, *result)));
    found.extend(second.map(|(order, result)| format!("{order} {}", json(Some(result)))));
    found.push(format!("{} {}", walk.duplicate_results, walk.repeated_records()));
    Ok(found)
}

// JSONL

/// The object in a line, if there is one.
fn object_in<'a>(line: &'a [u8], bump: &'a Bump) -> Option<Scanned<'a>> {
    Scanned::parse(line.strip_prefix(MARK).unwrap_or(line), bump).ok()?.object()
}

/// Check a body that is not a document: each of its lines is a record or is skipped. `refused` is its error as a
/// document.
fn check_lines<'a>(
    opened: Result<Conversation<'a>, Refused>,
    data: &'a [u8],
    refused: Refused,
    asked: &Options<'_>,
    bump: &'a Bump,
) {
    let lines: Vec<&[u8]> = data.split(|byte| *byte == b'\n').collect();
    let objects: Vec<Option<Scanned<'_>>> = lines.iter().map(|line| object_in(line, bump)).collect();
    let records: Vec<Scanned<'_>> = objects.iter().copied().flatten().collect();
    let request_of = |record: &Scanned<'a>| documents::request_list(*record);
    let Some(last) = records.last() else {
        assert_eq!(opened.err(), Some(refused));
        return;
    };
    let found = match opened {
        Ok(found) => found,
        Err(Refused { fault: Fault::Request, .. }) => {
            assert!(records.len() > 1 && request_of(last).is_some());
            return;
        }
        Err(other) => {
            assert_eq!(other, refused); // it looks like a document
            return;
        }
    };
    let is_blank = |line: &[u8]| line.iter().all(|byte| matches!(byte, b' ' | 0x09..=0x0D));
    let is_skipped = |number: &usize| objects[*number].is_none() && !is_blank(lines[*number]);
    let skipped: Vec<usize> = (0..lines.len()).filter(is_skipped).map(|number| number + 1).collect();
    if let Some(messages) = request_of(last) {
        assert!(records.len() == 1 && found.skipped_lines() == skipped);
        compare(&found, List(messages), asked);
        return;
    }
    let given = lines.iter().zip(&objects);
    let given: Vec<&[u8]> = given
        .map(|(line, object)| if object.is_some() { line.strip_prefix(MARK).unwrap_or(line) } else { b"{}" })
        .collect();
    if records.iter().any(|record| request_of(record).is_some()) {
        let is_request = |halt| matches!(halt, Halt::Source(Refused { fault: Fault::Request, .. }));
        assert!(inspect(&found).err().is_some_and(is_request));
        assert!(dialogue(&found).err().is_some_and(is_request));
        let _ = carried(&found, asked);
        return;
    }
    let early = Conversation::open([MARK, data].concat().as_slice(), &Bump::new()).map(|found| {
        let _ = carried(&found, asked);
        found.skipped_lines()
    });
    assert!(early.is_ok_and(|early| early.iter().all(|number| skipped.contains(number))));
    compare_with_array(&found, &given, asked);
    assert_eq!(found.skipped_lines(), skipped);
}
