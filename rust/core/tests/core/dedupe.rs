//! Blocks that newer ones supersede, and blocks that a rule keeps. The cases are those of `tests/test_dedupe.py`.

use crate::wire::{
    assistant, bash, call, edit, failed_bash, failed_turn, json_of, open_call, read, result, turn, user,
};
use serde_json::{Value, json};
use toolcarry::context;
use toolcarry::context::policy::Settings;
use toolcarry::dedupe::rules::{KeepBlock, Rule, RuleKey, RuleSet};
use toolcarry::dedupe::{Judging, Reason};
use toolcarry::pairing::Walk;
use toolcarry::pairing::block::Kind;
use toolcarry::text::Text;
use toolcarry::text::piece::Piece;

/// The id of each block, oldest first, with the reason why it is superseded.
fn judged(turns: &[Vec<Value>], rules: &RuleSet) -> Vec<(String, Option<Reason>)> {
    let messages = json_of(&turns.concat());
    let mut walk = Walk::new(messages.open());
    let mut entries = Vec::new();
    while let Some(entry) = walk.next_entry().unwrap() {
        entries.push(entry);
    }
    let mut judging = Judging::new(rules);
    judging.find_firsts(&mut entries);
    let judge = |mut entry| (judging.judge(&mut entry).reason, entry.call_id.to_utf8());
    let mut found: Vec<_> = entries.into_iter().map(judge).map(|(reason, id)| (id, reason)).collect();
    found.reverse();
    found
}

/// The ids of the blocks that are kept.
fn kept_by(rules: &RuleSet, turns: &[Vec<Value>]) -> Vec<String> {
    judged(turns, rules).into_iter().filter(|(_, reason)| reason.is_none()).map(|(id, _)| id).collect()
}

fn kept(turns: &[Vec<Value>]) -> Vec<String> {
    kept_by(RuleSet::built_in(), turns)
}

/// The context of turns under the built-in rules.
fn text_of(turns: &[Vec<Value>]) -> String {
    crate::wire::carry(&turns.concat(), "", &Settings::default()).0
}

fn ranged(id: &str, range: &Value) -> Vec<Value> {
    let mut input = json!({"file_path": "a.py"});
    for (name, value) in range.as_object().unwrap() {
        input[name] = value.clone();
    }
    turn(id, "Read", &input, id)
}

fn failed_read(id: &str) -> Vec<Value> {
    failed_turn(id, "Read", &json!({"file_path": "a.py"}))
}

fn failed_edit(id: &str) -> Vec<Value> {
    failed_turn(id, "Edit", &json!({"file_path": "a.py", "old_string": "x", "new_string": "y"}))
}

fn write(id: &str) -> Vec<Value> {
    turn(id, "Write", &json!({"file_path": "a.py", "content": "x"}), "done")
}

// Reads

#[test]
fn the_last_read_of_a_file_is_kept() {
    let turns = [read("r1", "a.py", "1"), read("r2", "b.py", "2"), read("r3", "a.py", "3")];
    assert_eq!(kept(&turns), ["r2", "r3"]);
    assert_eq!(judged(&turns, RuleSet::built_in())[0].1, Some(Reason::LaterRead));
}

#[test]
fn paths_are_compared_in_their_normal_form() {
    let turns = [read("r1", "a.py", "1"), read("r2", "./a.py", "2"), read("r3", "A.py", "3")];
    assert_eq!(kept(&turns), ["r2", "r3"]);
}

#[test]
fn wide_paths_are_compared_too() {
    let turns = [read("r1", "\u{20ac}.py", "1"), read("r2", "\u{1f600}.py", "2"), read("r3", "\u{20ac}.py", "3")];
    assert_eq!(kept(&turns), ["r2", "r3"]);
}

#[test]
fn a_range_is_superseded_by_a_read_that_covers_it() {
    let cases = [
        // the older range, the later one, and true if the later one covers it
        (json!({"offset": 10, "limit": 5}), json!({"offset": 10, "limit": 5}), true),
        (json!({"offset": 10, "limit": 5}), json!({"offset": 9, "limit": 10}), true),
        (json!({"offset": 10, "limit": 5}), json!({"offset": 10, "limit": 4}), false),
        (json!({"offset": 10, "limit": 5}), json!({"offset": 11, "limit": 10}), false),
        (json!({"offset": 10, "limit": 5}), json!({}), true),
        (json!({}), json!({"offset": 1, "limit": 2000}), true),
        (json!({}), json!({"offset": 1, "limit": 1999}), false),
        (json!({"offset": 1990, "limit": 12}), json!({}), false),
        (json!({"start_line": 10, "end_line": 20}), json!({"offset": 10, "limit": 11}), true),
        (json!({"start_line": 10, "end_line": 20}), json!({"start_line": 5, "end_line": 19}), false),
        (json!({"view_range": [10, -1]}), json!({"view_range": [9, -1]}), true),
        (json!({"view_range": [10, -1]}), json!({"view_range": [1, 5000]}), false),
        (json!({"offset": i64::MAX, "limit": i64::MAX}), json!({"offset": -1, "limit": 0.5}), false),
        (json!({"offset": "11", "limit": "5"}), json!({"offset": 10, "limit": 10}), true),
        (json!({"pages": "1-5"}), json!({"pages": "6-10"}), false),
        (json!({"pages": "1-5"}), json!({}), false),
    ];
    for (older, later, covers) in cases {
        let stay = kept(&[ranged("r1", &older), ranged("r2", &later)]);
        assert_eq!(stay.len(), if covers { 1 } else { 2 }, "{older} {later}");
        assert_eq!(stay.last().map(String::as_str), Some("r2"));
    }
}

#[test]
fn one_later_read_must_cover_it() {
    let [first, second] = [(1, 10), (11, 10)].map(|(offset, limit)| json!({"offset": offset, "limit": limit}));
    let halves = [ranged("r2", &first), ranged("r3", &second)];
    let across = [vec![ranged("r1", &json!({"offset": 5, "limit": 10}))], halves.to_vec()].concat();
    assert_eq!(kept(&across), ["r1", "r2", "r3"]);
    let within = [vec![ranged("r1", &json!({"offset": 5, "limit": 6}))], halves.to_vec()].concat();
    assert_eq!(kept(&within), ["r2", "r3"]);
}

#[test]
fn a_failed_read_covers_nothing_that_succeeded() {
    assert_eq!(kept(&[read("r1", "a.py", "1"), failed_read("r2")]), ["r1", "r2"]);
}

#[test]
fn a_failed_read_is_superseded_by_any_later_one() {
    let interrupted = open_call("r1", "Read", &json!({"file_path": "a.py"}));
    for older in [failed_read("r1"), interrupted] {
        for later in [failed_read("r2"), ranged("r2", &json!({"offset": 9, "limit": 1}))] {
            assert_eq!(kept(&[older.clone(), later]), ["r2"]);
        }
    }
}

#[test]
fn a_read_before_an_edit_is_kept_with_a_note() {
    let turns = [read("r1", "a.py", "old"), edit("e1", "a.py", "x", "y")];
    assert_eq!(kept(&turns), ["r1", "e1"]);
    assert!(text_of(&turns).contains("### a.py (edited after this read)\n"));
    let other_way = [edit("e1", "a.py", "x", "y"), read("r1", "a.py", "new")];
    assert!(!text_of(&other_way).contains("edited after"));
}

// Edits

#[test]
fn the_last_edit_of_a_file_is_kept_with_a_count() {
    let turns = [edit("e1", "a.py", "1", "2"), write("e2"), edit("e3", "a.py", "3", "4")];
    assert_eq!(kept(&turns), ["e3"]);
    assert!(text_of(&turns).contains("### a.py (3 edits, last shown)\n"));
}

#[test]
fn a_failed_edit_supersedes_nothing() {
    assert_eq!(kept(&[edit("e1", "a.py", "1", "2"), failed_edit("e2"), failed_edit("e3")]), ["e1", "e2", "e3"]);
}

#[test]
fn a_failed_edit_is_superseded_by_a_later_success() {
    let turns = [failed_edit("e1"), edit("e2", "a.py", "1", "2")];
    assert_eq!(kept(&turns), ["e2"]);
    assert!(!text_of(&turns).contains("edits"));
}

// Commands

#[test]
fn the_last_run_of_a_command_is_kept_with_a_count() {
    let turns = [bash("c1", "pytest", "1 failed"), bash("c2", "ls", "a"), bash("c3", "pytest", "2 passed")];
    assert_eq!(kept(&turns), ["c2", "c3"]);
    assert_eq!(judged(&turns, RuleSet::built_in())[0].1, Some(Reason::LaterRun));
    assert!(text_of(&turns).contains("### pytest (latest of 2 runs)\n"));
}

#[test]
fn every_run_of_a_command_with_side_effects_is_kept() {
    for command in ["git commit -m x", "rm -f a && ls", "echo x > f", "X=1 sudo tee f"] {
        assert_eq!(kept(&[bash("c1", command, "1"), bash("c2", command, "2")]), ["c1", "c2"], "{command}");
    }
}

#[test]
fn the_last_failure_and_the_last_success_are_kept() {
    let runs = [bash("c1", "pytest", "old"), bash("c2", "pytest", "good"), failed_bash("c3", "pytest")];
    assert_eq!(kept(&[runs.to_vec(), vec![failed_bash("c4", "pytest")]].concat()), ["c2", "c4"]);
    assert_eq!(kept(&[failed_bash("c1", "pytest"), bash("c2", "pytest", "good")]), ["c2"]);
}

#[test]
fn a_list_of_words_is_a_command() {
    let words = |id: &str, words: Value| turn(id, "shell", &json!({"command": words}), id);
    let script = words("c1", json!(["bash", "-lc", "ls -l"]));
    assert_eq!(kept(&[script, words("c2", json!(["ls", "-l"])), bash("c3", "ls -l", "3")]), ["c3"]);
}

// Other tools, results without a call, scopes

#[test]
fn other_tools_are_never_superseded() {
    let same = json!({"pattern": "x"});
    assert_eq!(kept(&[turn("g1", "Grep", &same, "1"), turn("g2", "Grep", &same, "1")]), ["g1", "g2"]);
}

#[test]
fn results_without_a_call_are_never_superseded() {
    assert_eq!(kept(&[vec![user(&[result("x", "1")])], vec![user(&[result("y", "1")])]]), ["x", "y"]);
}

#[test]
fn side_chains_supersede_nothing_outside() {
    let record = |uuid: &str, is_side: bool, id: &str| {
        let message = assistant(&[call(id, "Read", &json!({"file_path": "a.py"}))]);
        json!({"uuid": uuid, "parentUuid": null, "isSidechain": is_side, "message": message})
    };
    assert_eq!(kept(&[vec![record("1", false, "r1"), record("2", true, "r2")]]), ["r1", "r2"]);
}

// Rules

fn rule(kind: Kind, keep: KeepBlock) -> RuleSet {
    let tools = vec!["f".to_owned()];
    let key = vec![RuleKey::new(Text::ascii("q"))];
    RuleSet::new(vec![Rule { tools, kind, key, keep, max_result_chars: None }], false)
}

#[test]
fn a_rule_keeps_the_blocks_it_names() {
    let turns = ["a", "b", "c"].map(|id| turn(id, "f", &json!({"q": "same"}), id));
    for kind in [Kind::Read, Kind::Edit, Kind::Command, Kind::Other] {
        assert_eq!(kept_by(&rule(kind, KeepBlock::Last), &turns), ["c"], "{kind:?}");
        assert_eq!(kept_by(&rule(kind, KeepBlock::First), &turns), ["a"], "{kind:?}");
        assert_eq!(kept_by(&rule(kind, KeepBlock::All), &turns), ["a", "b", "c"], "{kind:?}");
        assert!(kept_by(&rule(kind, KeepBlock::None), &turns).is_empty(), "{kind:?}");
    }
}

#[test]
fn the_reasons_of_a_rule() {
    let turns = ["a", "b"].map(|id| turn(id, "f", &json!({"q": "same"}), id));
    let reasons = [
        (KeepBlock::Last, 0, Reason::LaterCall),
        (KeepBlock::First, 1, Reason::EarlierCall),
        (KeepBlock::None, 0, Reason::Rule),
    ];
    for (keep, place, reason) in reasons {
        assert_eq!(judged(&turns, &rule(Kind::Other, keep))[place].1, Some(reason), "{keep:?}");
    }
}

#[test]
fn a_rule_that_keeps_nothing_excludes_its_tools() {
    let messages = json_of(&turn("t1", "f", &json!({"q": "x"}), "SECRET"));
    let rules = rule(Kind::Other, KeepBlock::None);
    let carried = context::carry(messages.open(), &Piece::ascii(""), &Settings::default(), &rules, false).unwrap();
    assert_eq!(carried.output.to_utf8(), "");
    assert_eq!(carried.counts.excluded, [("rule", 1)]);
}

#[test]
fn careful_rules_keep_edits_until_the_file_is_read_or_written() {
    let careful = RuleSet::new(Vec::new(), true);
    let edits = [edit("e1", "a.py", "1", "2"), edit("e2", "a.py", "2", "3")];
    assert_eq!(kept_by(&careful, &edits), ["e1", "e2"]);
    assert_eq!(kept_by(&careful, &[edits.to_vec(), vec![write("e3")]].concat()), ["e3"]);
    assert_eq!(kept_by(&careful, &[edits.to_vec(), vec![read("r1", "a.py", "3")]].concat()), ["r1"]);
    let range = ranged("r1", &json!({"offset": 1, "limit": 2}));
    assert_eq!(kept_by(&careful, &[edits.to_vec(), vec![range]].concat()), ["e1", "e2", "r1"]);
}

#[test]
fn a_rule_matches_a_tool_of_an_mcp_server() {
    let turns = ["mcp__files__read_file", "READ", "str_replace_editor"]
        .map(|name| turn(name, name, &json!({"path": "a.py", "command": "view"}), "x"));
    assert_eq!(kept(&turns), ["mcp__files__read_file", "str_replace_editor"]);
}
