//! The block that supersedes another one, the positions of results, and the identity of objects.

use crate::wire::{assistant, bash, call, edit, failed_bash, failed_turn, json_of, read, result, turn, user};
use bumpalo::Bump;
use serde_json::{Value as Json, json};
use toolcarry::dedupe::Judging;
use toolcarry::dedupe::rules::{KeepBlock, Rule, RuleKey, RuleSet};
use toolcarry::input::messages::List;
use toolcarry::json::scanned::Scanned;
use toolcarry::json::value::{Value, names};
use toolcarry::pairing::Walk;
use toolcarry::pairing::block::Kind;
use toolcarry::text::Text;

/// Each superseded block with the block that supersedes it, by their ids, oldest first.
fn superseded_by(rules: &RuleSet, turns: &[Vec<Json>]) -> Vec<(String, String)> {
    let messages = json_of(&turns.concat());
    let mut walk = Walk::new(messages.open());
    let mut entries = Vec::new();
    while let Some(entry) = walk.next_entry().unwrap() {
        entries.push(entry);
    }
    let ids: Vec<(usize, String)> = entries.iter().map(|entry| (entry.order, entry.call_id.to_utf8())).collect();
    let id_of = |order: usize| ids.iter().find(|(own, _)| *own == order).unwrap().1.clone();
    let mut judging = Judging::new(rules);
    judging.find_firsts(&mut entries);
    let mut found = Vec::new();
    for mut entry in entries {
        let judgement = judging.judge(&mut entry);
        if judgement.reason.is_some() {
            found.insert(0, (id_of(entry.order), id_of(judgement.by.unwrap())));
        }
    }
    found
}

fn check(rules: &RuleSet, turns: &[Vec<Json>], expected: &[(&str, &str)]) {
    let found = superseded_by(rules, turns);
    let found: Vec<(&str, &str)> = found.iter().map(|(own, by)| (own.as_str(), by.as_str())).collect();
    assert_eq!(found, expected);
}

fn built_in(turns: &[Vec<Json>], expected: &[(&str, &str)]) {
    check(RuleSet::built_in(), turns, expected);
}

fn careful(turns: &[Vec<Json>], expected: &[(&str, &str)]) {
    check(&RuleSet::new(Vec::new(), true), turns, expected);
}

fn ranged(id: &str, offset: usize, limit: usize) -> Vec<Json> {
    turn(id, "Read", &json!({"file_path": "a.py", "offset": offset, "limit": limit}), id)
}

fn failed_read(id: &str) -> Vec<Json> {
    failed_turn(id, "Read", &json!({"file_path": "a.py"}))
}

fn failed_edit(id: &str) -> Vec<Json> {
    failed_turn(id, "Edit", &json!({"file_path": "a.py", "old_string": "x", "new_string": "y"}))
}

fn changed(id: &str) -> Vec<Json> {
    edit(id, "a.py", "x", "y")
}

fn written(id: &str) -> Vec<Json> {
    turn(id, "Write", &json!({"file_path": "a.py", "content": "x"}), "done")
}

fn whole(id: &str) -> Vec<Json> {
    read(id, "a.py", id)
}

#[test]
fn a_read_is_superseded_by_the_newest_whole_read() {
    built_in(&[whole("1"), whole("2"), whole("3")], &[("1", "3"), ("2", "3")]);
    built_in(&[ranged("1", 5, 9), whole("2"), ranged("3", 5, 9)], &[("1", "2")]);
    built_in(&[whole("1"), ranged("2", 1, 2_000), ranged("3", 1, 5_000)], &[("1", "3"), ("2", "3")]);
}

#[test]
fn a_range_is_superseded_by_the_read_that_contains_it() {
    built_in(&[ranged("1", 5, 9), ranged("2", 1, 20), ranged("3", 50, 20)], &[("1", "2")]);
    built_in(&[ranged("1", 3_000, 5), whole("2"), ranged("3", 2_990, 20), whole("4")], &[("1", "3"), ("2", "4")]);
    // A range that a newer one contains is not remembered; a newer one that it contains is forgotten.
    built_in(&[ranged("1", 5, 9), ranged("2", 4, 15), ranged("3", 1, 20)], &[("1", "3"), ("2", "3")]);
    built_in(&[ranged("1", 6, 2), ranged("2", 1, 20), ranged("3", 5, 9)], &[("1", "2")]);
}

#[test]
fn a_failed_read_is_superseded_by_the_newest_read() {
    built_in(&[failed_read("1"), whole("2"), ranged("3", 7, 1)], &[("1", "3")]);
    built_in(&[failed_read("1"), whole("2"), failed_read("3")], &[("1", "3")]);
    let pages = turn("3", "Read", &json!({"file_path": "a.py", "pages": "1-5"}), "x");
    built_in(&[whole("1"), failed_read("2"), pages], &[("2", "3")]);
    built_in(&[whole("1"), failed_read("2"), whole("3"), failed_read("4")], &[("1", "3"), ("2", "4")]);
}

#[test]
fn an_edit_is_superseded_by_the_newest_successful_edit() {
    built_in(&[changed("1"), failed_edit("2"), changed("3"), failed_edit("4")], &[("1", "3"), ("2", "3")]);
    built_in(&[changed("1"), written("2"), changed("3"), whole("4")], &[("1", "3"), ("2", "3")]);
}

#[test]
fn under_careful_rules_an_edit_is_superseded_by_the_next_whole_read_or_write() {
    careful(&[changed("1"), written("2"), changed("3")], &[("1", "2")]);
    careful(&[changed("1"), whole("2"), changed("3"), written("4"), changed("5")], &[("1", "4"), ("3", "4")]);
    careful(&[changed("1"), failed_edit("2"), whole("3"), failed_read("4")], &[("1", "3"), ("2", "3")]);
    careful(&[changed("1"), whole("2"), whole("3")], &[("1", "3"), ("2", "3")]);
}

#[test]
fn a_run_is_superseded_by_the_newest_run_even_if_that_failed() {
    let run = |id: &str| bash(id, "pytest", id);
    let failed = |id: &str| failed_bash(id, "pytest");
    built_in(&[run("1"), failed("2"), run("3")], &[("1", "3"), ("2", "3")]);
    built_in(&[failed("1"), run("2"), run("3"), failed("4")], &[("1", "4"), ("2", "4")]);
}

#[test]
fn the_superseding_block_follows_the_rule() {
    let rule = |keep| {
        let (tools, key) = (vec!["f".to_owned()], vec![RuleKey::new(Text::ascii("q"))]);
        RuleSet::new(vec![Rule { tools, kind: Kind::Other, key, keep, max_result_chars: None }], false)
    };
    let called = |id: &str| turn(id, "f", &json!({"q": "same"}), id);
    let failed = |id: &str| failed_turn(id, "f", &json!({"q": "same"}));
    check(&rule(KeepBlock::Last), &[called("1"), failed("2"), called("3")], &[("1", "3"), ("2", "3")]);
    let turns = [failed("1"), called("2"), failed("3"), called("4")];
    check(&rule(KeepBlock::First), &turns, &[("3", "2"), ("4", "2")]);
    check(&rule(KeepBlock::First), &[failed("1"), failed("2")], &[]);
}

/// The position of each call and of its result, oldest first.
fn places(messages: &[Json]) -> Vec<(usize, usize)> {
    let messages = json_of(messages);
    let mut walk = Walk::new(messages.open());
    let mut found = Vec::new();
    while let Some(entry) = walk.next_entry().unwrap() {
        found.insert(0, (entry.position, entry.result_position));
    }
    found
}

#[test]
fn a_result_has_a_position_of_its_own() {
    let asked = |id: &str| assistant(&[call(id, "f", &json!({}))]);
    let told = |id: &str, content: &str| user(&[result(id, content)]);
    let said = json!({"role": "user", "content": "x"});
    assert_eq!(places(&[asked("a"), told("a", "x")]), [(0, 1)]);
    assert_eq!(places(&[asked("a"), said.clone(), asked("b"), told("b", "x"), told("a", "x")]), [(0, 4), (2, 3)]);
    assert_eq!(places(&[asked("a"), said, told("b", "x")]), [(0, 0), (2, 2)]);
    // A real result replaces a stand-in.
    let made_up = told("a", "[Tool use interrupted]");
    assert_eq!(places(&[asked("a"), made_up, told("a", "x")]), [(0, 2)]);
    assert_eq!(places(&[asked("a"), told("a", "x"), told("a", "y")]), [(0, 1)]);
}

/// The identities of calls and results are those of the parts of their messages.
#[test]
fn equal_objects_have_different_identities() {
    let asked = assistant(&[call("a", "f", &json!({})), call("a", "f", &json!({}))]);
    let told = user(&[result("a", "x"), result("a", "x")]);
    let document = json_of(&[asked, told]);
    let bump = Bump::new();
    let messages = List(Scanned::parse(&document.bytes, &bump).unwrap());
    let part = |message: usize, index| {
        let parts = messages.0.item(message).and_then(|message| message.get(names::CONTENT));
        parts.and_then(|parts| parts.item(index)).map(Value::identity)
    };
    let mut walk = Walk::new(messages);
    for index in [1, 0] {
        let entry = walk.next_entry().unwrap().unwrap();
        assert_eq!(entry.call.map(Value::identity), part(0, index));
        assert_eq!(entry.result.map(Value::identity), part(1, index));
    }
    let all = [part(0, 0), part(0, 1), part(1, 0), part(1, 1)];
    assert!(all.iter().enumerate().all(|(number, part)| part.is_some() && !all[..number].contains(part)));
}

#[test]
fn a_result_without_id_has_its_position() {
    let asked = json!({"role": "assistant", "tool_calls": [
        {"function": {"name": "f", "arguments": {}}}, {"function": {"name": "g", "arguments": {}}},
    ]});
    let told = |name: &str| json!({"role": "tool", "tool_name": name, "content": "x"});
    assert_eq!(places(&[asked.clone(), told("g"), told("f")]), [(0, 2), (0, 1)]);
    assert_eq!(places(&[asked, told("g")]), [(0, 0), (0, 1)]);
}
