//! Pairs of calls and results: by id, by turn, repeated, and alone. The cases are those of `tests/test_pair.py`.

use crate::wire::{Document, assistant, call, failure, json_of, result, user};
use serde_json::{Value, json};
use toolcarry::content::result_text;
use toolcarry::input::messages::{Halt, List};
use toolcarry::json::scanned::Scanned;
use toolcarry::pairing::Walk;

/// A block in the form that tests compare: the tool's name, and the text of its result.
type Pair = (String, Option<String>);

/// The blocks of messages, oldest first, and the number of second results.
fn walk(messages: &[Value]) -> (Vec<Pair>, usize) {
    let messages = json_of(messages);
    let mut walk = Walk::new(messages.open());
    let mut found = Vec::new();
    while let Some(entry) = walk.next_entry().unwrap() {
        let content = entry.result.map(|_| result_text(entry.content).whole().text().to_utf8());
        found.push((entry.name().to_utf8(), content));
    }
    found.reverse();
    (found, walk.duplicate_results)
}

fn pairs(expected: &[(&str, Option<&str>)]) -> Vec<Pair> {
    expected.iter().map(|(name, content)| ((*name).to_owned(), content.map(str::to_owned))).collect()
}

fn check(messages: &[Value], expected: &[(&str, Option<&str>)]) {
    assert_eq!(walk(messages).0, pairs(expected));
}

/// A call of the tool with this name.
fn named(id: &str, name: &str) -> Value {
    call(id, name, &json!({}))
}

/// The positions of the blocks, oldest first.
fn positions(messages: &[Value]) -> Vec<usize> {
    let messages = json_of(messages);
    let mut walk = Walk::new(messages.open());
    let mut found = Vec::new();
    while let Some(entry) = walk.next_entry().unwrap() {
        found.insert(0, entry.position);
    }
    found
}

// Without ids, as Ollama writes them

fn calls(names: &[&str]) -> Value {
    let calls: Vec<Value> = names.iter().map(|name| json!({"function": {"name": name, "arguments": {}}})).collect();
    json!({"role": "assistant", "content": "", "tool_calls": calls})
}

fn answer(name: &str, content: &str) -> Value {
    json!({"role": "tool", "tool_name": name, "content": content})
}

// By id

#[test]
fn a_call_gets_the_result_with_its_id() {
    check(&[assistant(&[named("t1", "A")]), user(&[result("t1", "1")])], &[("A", Some("1"))]);
}

#[test]
fn ids_win_over_positions() {
    let messages = [assistant(&[named("a", "A"), named("b", "B")]), user(&[result("b", "of b"), result("a", "of a")])];
    check(&messages, &[("A", Some("of a")), ("B", Some("of b"))]);
}

#[test]
fn a_repeated_id_stays_with_its_turn() {
    let messages = [
        assistant(&[named("call_0", "A")]),
        user(&[result("call_0", "first")]),
        assistant(&[named("call_0", "B")]),
        user(&[result("call_0", "second")]),
    ];
    check(&messages, &[("A", Some("first")), ("B", Some("second"))]);
}

#[test]
fn a_repeated_id_goes_to_the_nearest_unanswered_call() {
    let open = [assistant(&[named("x", "A")]), assistant(&[named("x", "B")])];
    let answers = [user(&[result("x", "1")]), user(&[result("x", "2")])];
    check(&[open, answers].concat(), &[("A", Some("2")), ("B", Some("1"))]);
}

#[test]
fn a_reused_id_does_not_shadow_an_open_call() {
    let messages = [assistant(&[named("x", "A")]), assistant(&[named("x", "B")]), user(&[result("x", "of b")])];
    check(&messages, &[("A", None), ("B", Some("of b"))]);
}

#[test]
fn ids_may_have_wide_characters() {
    let messages = [
        assistant(&[named("\u{1f600}", "A"), named("\u{20ac}", "B")]),
        user(&[result("\u{20ac}", "2"), result("\u{1f600}", "1")]),
    ];
    check(&messages, &[("A", Some("1")), ("B", Some("2"))]);
}

#[test]
fn openai_pairs_by_tool_call_id() {
    let messages = [
        json!({"role": "assistant", "tool_calls": [{"id": "c1", "function": {"name": "f", "arguments": "{}"}}]}),
        json!({"role": "tool", "tool_call_id": "c1", "content": "42"}),
    ];
    check(&messages, &[("f", Some("42"))]);
}

#[test]
fn a_call_in_both_content_and_tool_calls_counts_once() {
    let both = json!({
        "role": "assistant",
        "content": [named("t1", "A")],
        "tool_calls": [{"id": "t1", "function": {"name": "A", "arguments": "{}"}}],
    });
    check(&[both, user(&[result("t1", "1")])], &[("A", Some("1"))]);
}

// By turn

#[test]
fn results_without_id_pair_by_name_within_the_turn() {
    let messages = [calls(&["f", "g"]), answer("g", "of g"), answer("f", "of f")];
    check(&messages, &[("f", Some("of f")), ("g", Some("of g"))]);
}

#[test]
fn results_without_id_pair_with_parallel_calls_of_one_name_in_order() {
    let messages = [calls(&["f", "f"]), answer("f", "1"), answer("f", "2")];
    check(&messages, &[("f", Some("1")), ("f", Some("2"))]);
}

#[test]
fn results_without_id_and_name_pair_with_any_call_in_order() {
    let messages =
        [calls(&["f", "g"]), json!({"role": "tool", "content": "1"}), json!({"role": "tool", "content": "2"})];
    check(&messages, &[("f", Some("1")), ("g", Some("2"))]);
}

#[test]
fn results_without_id_never_pair_across_turns() {
    let messages = [calls(&["f"]), calls(&["f"]), answer("f", "1"), calls(&["f"]), answer("f", "2"), answer("f", "3")];
    check(&messages, &[("f", Some("1")), ("f", None), ("f", Some("2")), ("f", Some("3"))]);
}

#[test]
fn a_result_without_id_stays_in_its_turn_when_the_call_there_has_an_id() {
    let messages = [
        calls(&["f", "f"]),
        answer("f", "first"),
        assistant(&[named("t1", "g")]),
        user(&[result("t1", "of g")]),
        answer("f", "second"),
    ];
    check(&messages, &[("f", Some("first")), ("f", None), ("g", Some("of g")), ("f", Some("second"))]);
}

#[test]
fn an_empty_id_is_no_id() {
    let messages = [assistant(&[named("", "A"), named("", "B")]), user(&[result("", "1")]), user(&[result("", "2")])];
    check(&messages, &[("A", Some("1")), ("B", Some("2"))]);
}

#[test]
fn the_legacy_function_call_pairs_by_name() {
    let messages = [
        json!({"role": "assistant", "content": null, "function_call": {"name": "f", "arguments": "{}"}}),
        json!({"role": "function", "name": "f", "content": "42"}),
    ];
    check(&messages, &[("f", Some("42"))]);
}

// Twice

#[test]
fn a_second_result_is_counted_and_the_first_is_kept() {
    let messages = [assistant(&[named("t1", "A")]), user(&[result("t1", "first")]), user(&[result("t1", "second")])];
    assert_eq!(walk(&messages), (pairs(&[("A", Some("first"))]), 1));
}

#[test]
fn a_real_result_replaces_a_stand_in() {
    for made_up in ["[Request interrupted by user for tool use]", "[Tool result missing", "[Tool use interrupted]"] {
        let messages = [
            assistant(&[named("t1", "A")]),
            user(&[failure("t1", made_up)]),
            user(&[result("t1", "real")]),
            user(&[result("t1", "late")]),
        ];
        assert_eq!(walk(&messages), (pairs(&[("A", Some("real"))]), 2));
        assert!(!Walk::new(json_of(&messages).open()).next_entry().unwrap().unwrap().is_error());
    }
}

#[test]
fn a_stand_in_does_not_replace_a_real_result() {
    let made_up = result("t1", "[Request interrupted by user for tool use]");
    let messages = [assistant(&[named("t1", "A")]), user(&[result("t1", "real")]), user(&[made_up])];
    assert_eq!(walk(&messages), (pairs(&[("A", Some("real"))]), 1));
}

#[test]
fn a_repeated_record_counts_once() {
    let record =
        |uuid: &str, parent: &str, message: &Value| json!({"uuid": uuid, "parentUuid": parent, "message": message});
    let called = record("1", "", &assistant(&[named("t1", "A")]));
    let answered = record("2", "1", &user(&[result("t1", "1")]));
    let messages = json_of(&[called, answered.clone(), answered]);
    let mut walk = Walk::new(messages.open());
    assert!(walk.next_entry().unwrap().is_some());
    assert!(walk.next_entry().unwrap().is_none());
    assert_eq!((walk.repeated_records(), walk.duplicate_results), (1, 0));
}

// Alone

#[test]
fn a_call_without_a_result_is_interrupted() {
    let messages = [assistant(&[named("t1", "A"), named("t2", "B")]), user(&[result("t2", "ok")])];
    check(&messages, &[("A", None), ("B", Some("ok"))]);
}

#[test]
fn a_result_without_a_call_has_its_own_name_or_is_unknown() {
    let messages =
        [user(&[result("gone", "1")]), json!({"role": "tool", "tool_call_id": "x", "name": "f", "content": "2"})];
    check(&messages, &[("unknown", Some("1")), ("f", Some("2"))]);
}

#[test]
fn a_result_before_its_call_answers_nothing() {
    let messages = [user(&[result("t1", "early")]), assistant(&[named("t1", "A")])];
    check(&messages, &[("unknown", Some("early")), ("A", None)]);
}

// The walk

#[test]
fn blocks_are_in_the_order_of_their_calls() {
    let messages = [
        assistant(&[named("a", "A"), named("b", "B")]),
        user(&[result("gone", "orphan"), result("b", "2"), result("a", "1")]),
        assistant(&[named("c", "C")]),
    ];
    check(&messages, &[("A", Some("1")), ("B", Some("2")), ("unknown", Some("orphan")), ("C", None)]);
    assert_eq!(positions(&messages), [0, 0, 1, 2]);
}

#[test]
fn side_chains_do_not_share_ids() {
    let main = |uuid: &str, message: &Value| json!({"uuid": uuid, "parentUuid": null, "message": message});
    let side = |uuid: &str, message: &Value| json!({"uuid": uuid, "parentUuid": null, "isSidechain": true, "agentId": "a", "message": message});
    let messages = [
        main("1", &assistant(&[named("x", "Main")])),
        side("2", &assistant(&[named("x", "Side")])),
        main("3", &user(&[result("x", "of main")])),
        side("4", &user(&[result("x", "of side")])),
    ];
    check(&messages, &[("Main", Some("of main")), ("Side", Some("of side"))]);
}

#[test]
fn a_block_is_returned_before_older_messages_are_read() {
    let messages = json_of(&[json!("no message"), assistant(&[named("t1", "A")]), user(&[result("t1", "1")])]);
    let mut walk = Walk::new(messages.open());
    assert!(walk.next_entry().unwrap().is_some());
    let error = walk.next_entry().unwrap_err();
    assert_eq!(error, Halt::NotAnObject { number: 0, type_name: "str".to_owned() });
}

#[test]
fn an_empty_object_is_a_line_that_was_skipped() {
    let messages = [assistant(&[named("t1", "A")]), json!({}), user(&[result("t1", "1")])];
    check(&messages, &[("A", Some("1"))]);
}

#[test]
fn json_that_is_not_a_list_of_messages_has_no_blocks() {
    for text in ["{}", "null", "3", "\"text\"", "[]", "[{}]", r#"[{"content": 3, "tool_calls": {}}]"#] {
        let document = Document::new(text);
        let messages = List(Scanned::parse(&document.bytes, &document.bump).unwrap());
        assert!(Walk::new(messages).next_entry().unwrap().is_none(), "{text}");
    }
}
