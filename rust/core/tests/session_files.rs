//! Session files in bytes: their lines, what these say of their places, and the jobs that read all of them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)] // a test fails by panicking

mod wire;

use bumpalo::Bump;
use serde_json::{Value as Parsed, json};
use toolcarry::carry::carry;
use toolcarry::dialogue::dialogue;
use toolcarry::inspect::{Inspection, ToolSize, inspect};
use toolcarry::messages::{Halt, Messages, Record};
use toolcarry::pieces::Piece;
use toolcarry::rules::RuleSet;
use toolcarry::scan::{Conversation, Fault, Refused, Scanned};
use toolcarry::settings::Settings;
use toolcarry::text::Text;
use toolcarry::value::{Key, Value, names};
use wire::author::{Author, Tree, code_points, messages_of, open, parse, spellings, tree_of, with_result};
use wire::{Document, assistant, bash, call, failure, json_of, result, user};

// Lines

/// The numbers and the texts of `n` of the records of a file, and the lines that were skipped.
fn lines_of(data: &str) -> (Vec<(usize, String)>, Vec<usize>) {
    let document = Document::new(data);
    let messages = document.open();
    let text = |record: Scanned<'_>| record.get(Key::named(Text::ascii("n"))).and_then(Value::text).unwrap().to_utf8();
    let records = messages_of(&messages).unwrap();
    let found = records.into_iter().map(|(place, record)| (messages.number(place), text(record))).collect();
    (found, messages.skipped_lines())
}

fn numbered(expected: &[(usize, &str)]) -> Vec<(usize, String)> {
    expected.iter().map(|(number, text)| (*number, (*text).to_owned())).collect()
}

const A: &str = r#"{"n": "a"}"#;
const B: &str = r#"{"n": "b"}"#;
const C: &str = r#"{"n": "c"}"#;

#[test]
fn records_have_the_numbers_of_their_lines() {
    let files = [
        (format!("{A}\n{B}\n"), [0, 1]),
        (format!("{A}\n{B}"), [0, 1]),
        (format!("{A}\r\n{B}\r\n"), [0, 1]),
        (format!("\u{feff}{A}\n{B}\n"), [0, 1]),
        (format!("{A}\n\u{feff}{B}\n"), [0, 1]),
        (format!("\n{A}\n\n \t\r\n{B}\n\n\n"), [1, 4]),
        (format!("  {A}\t\n  {B}  "), [0, 1]),
    ];
    for (data, [first, second]) in files {
        assert_eq!(lines_of(&data), (numbered(&[(first, "a"), (second, "b")]), vec![]), "{data:?}");
    }
}

#[test]
fn numbers_are_the_same_once_the_records_were_looked_at() {
    for data in [format!("{A}\n\n{B}\nx\n{C}"), format!("\u{feff}\r\n{A}\r\n{B}\r\n\r\n{C}\r\n")] {
        let document = Document::new(data);
        let messages = document.open();
        let places: Vec<usize> = messages_of(&messages).unwrap().into_iter().map(|(place, _)| place).collect();
        let before: Vec<usize> = places.iter().map(|place| messages.number(*place)).collect();
        assert_eq!(messages.records(places[2]).unwrap().len(), before[2] + 1);
        let behind: Vec<usize> = places.iter().map(|place| messages.number(*place)).collect();
        assert_eq!(before, behind);
    }
}

#[test]
fn a_line_without_an_object_is_skipped_and_told() {
    for line in ["x", "3", "null", "[]", "[{\"n\": 1}]", "\"{}\"", "{\"n\": 1", "{} {}", "{\"n\": \"\u{1}\"}"] {
        let data = format!("{line}\n{A}\n{line}\n\n{B}\n{line}");
        assert_eq!(lines_of(&data), (numbered(&[(1, "a"), (4, "b")]), vec![1, 3, 6]), "{line:?}");
    }
    let data = [A.as_bytes(), b"\n\"\xFF\"\n", B.as_bytes()].concat();
    let document = Document::new(data);
    let messages = document.open();
    assert_eq!(messages_of(&messages).unwrap().len(), 2);
    assert_eq!(messages.skipped_lines(), [2]);
}

#[test]
fn lines_that_were_not_come_by_are_not_told() {
    let document = Document::new(format!("x\n{A}\ny\n{B}\nz\n"));
    let messages = document.open();
    assert!(messages.skipped_lines().is_empty());
    let (place, _) = messages.before(None).unwrap().unwrap();
    assert_eq!((messages.number(place), messages.skipped_lines()), (3, vec![5]));
    let (place, _) = messages.before(Some(place)).unwrap().unwrap();
    assert_eq!((messages.number(place), messages.skipped_lines()), (1, vec![3, 5]));
    assert!(messages.before(Some(place)).unwrap().is_none());
    assert_eq!(messages.skipped_lines(), [1, 3, 5]);
}

/// A line's white space is JSON's; anything else there makes it none.
#[test]
fn what_is_no_white_space_in_json_spoils_a_line() {
    for line in [format!("\u{b}{C}"), format!("{C}\u{c}"), format!(" \u{feff}{C}"), "\u{feff}".to_owned()] {
        let (records, skipped) = lines_of(&format!("{A}\n{line}\n{B}"));
        assert_eq!((records, skipped), (numbered(&[(0, "a"), (2, "b")]), vec![2]), "{line:?}");
    }
}

const REQUEST: &str = r#"{"messages": [{"n": "x"}, {"n": "y"}], "model": "m"}"#;

#[test]
fn a_request_alone_on_its_line_is_read() {
    for data in [format!("{REQUEST}\n"), format!("\n\u{feff}{REQUEST}\r\n\n"), format!("{REQUEST}{}", "\n".repeat(9))] {
        assert_eq!(lines_of(&data), (numbered(&[(0, "x"), (1, "y")]), vec![]), "{data:?}");
    }
    let among = format!("// log\n{REQUEST}\n3\n");
    assert_eq!(lines_of(&among), (numbered(&[(0, "x"), (1, "y")]), vec![1, 3]));
}

#[test]
fn a_request_among_records_is_refused() {
    for data in [format!("{A}\n{REQUEST}\n"), format!("{REQUEST}\n{REQUEST}\n"), format!("{A}\nx\n{REQUEST}\nx\n")] {
        let at = data.rfind(REQUEST).unwrap();
        assert_eq!(open(data.as_bytes()), Err(Refused { at, fault: Fault::Request }), "{data}");
    }
    let data = format!("{A}\n{REQUEST}\n{B}\n");
    let document = Document::new(data);
    let messages = document.open();
    let refused = Refused { at: A.len() + 1, fault: Fault::Request };
    let (last, _) = messages.before(None).unwrap().unwrap();
    assert_eq!(messages.before(Some(last)).unwrap_err(), refused);
    assert_eq!(messages.records(last).unwrap_err(), refused);
}

#[test]
fn a_mark_at_the_start_moves_no_offset() {
    for (data, fault) in
        [(format!("\u{feff}{A}\n{REQUEST}"), Fault::Request), (format!("\u{feff}[\n{A}\n{REQUEST}"), Fault::Unexpected)]
    {
        let at = data.rfind(REQUEST).unwrap();
        assert_eq!(open(data.as_bytes()), Err(Refused { at, fault }), "{data}");
    }
}

#[test]
fn what_holds_no_record_is_refused_as_a_document() {
    for (data, at) in
        [("x\ny\n", 0), ("1\n2\n", 2), ("[1]\n[2]\n", 4), ("\n\n", 2), ("\u{feff}", 3), ("{\"n\": }\n", 6)]
    {
        assert_eq!(open(data.as_bytes()), Err(Refused { at, fault: Fault::Unexpected }), "{data:?}");
    }
}

#[test]
fn a_document_over_several_lines_that_is_broken_is_no_session_file() {
    let record = json!({"n": {"m": [{"a": 1}, {"b": 2}]}, "o": 1});
    for whole in [serde_json::to_string_pretty(&record).unwrap(), serde_json::to_string_pretty(&[&record]).unwrap()] {
        for end in (3..whole.len()).filter(|end| whole[..*end].contains("\n ")) {
            let cut = &whole[..end];
            assert_eq!(open(cut.as_bytes()), Err(parse(cut.as_bytes()).unwrap_err()), "{cut}");
        }
    }
    let listed = format!("[\n{A},\n{B}");
    assert_eq!(open(listed.as_bytes()), Err(Refused { at: listed.len(), fault: Fault::Unexpected }));
}

#[test]
fn a_document_over_several_lines_is_read() {
    let messages = [json!({"n": "a"}), json!({"n": "b", "m": ["\n"]})];
    let data = serde_json::to_string_pretty(&messages).unwrap().replace('\n', "\r\n");
    assert_eq!(lines_of(&format!("\u{feff}{data}\r\n")), (numbered(&[(0, "a"), (1, "b")]), vec![]));
}

// What a line says of its place

type Place = (Option<Vec<u32>>, Vec<u32>, bool, Vec<u32>, Option<Vec<u32>>);

fn place_of(record: Record<'_>) -> Place {
    let Record { uuid, parent, is_sidechain, agent, message_id } = record;
    (uuid.map(code_points), code_points(parent), is_sidechain, code_points(agent), message_id.map(code_points))
}

/// What is read of a line is what its value says.
#[test]
fn lines_say_as_records_what_their_values_say() {
    let mut author = Author::new(7, &[" ", "\t"]);
    for _ in 0..4_000 {
        author.document();
        let line = author.written.clone();
        let data = [A.as_bytes(), b"\n", &line, b"\n", B.as_bytes()].concat();
        let bump = Bump::new();
        let value = Scanned::parse(&line, &bump).unwrap();
        let messages = Conversation::open(&data, &bump).unwrap();
        let is_request = value.get(names::MESSAGES).and_then(Value::list).is_some();
        let case = String::from_utf8_lossy(&line);
        match messages.records(A.len() + 1) {
            Ok(records) => {
                assert!(!is_request, "{case}");
                let found = records.into_iter().map(|record| record.map(place_of)).next_back().unwrap();
                assert_eq!(found, Record::of(value).map(place_of), "{case}");
            }
            Err(refused) => {
                assert_eq!(refused, Refused { at: A.len() + 1, fault: Fault::Request }, "{case}");
                assert!(is_request, "{case}");
            }
        }
    }
}

#[test]
fn a_records_place_is_read_past_nulls_doubles_and_escapes() {
    let cases = [
        (r#"{"uuid": "u", "parentUuid": "p", "logicalParentUuid": "l"}"#, "u", "p"),
        (r#"{"uuid": "u", "parentUuid": null, "logicalParentUuid": "l"}"#, "u", "l"),
        (r#"{"logicalParentUuid": "l", "parentUuid": "", "uuid": "u"}"#, "u", "l"),
        (r#"{"uuid": "x", "uuid": "u", "parentUuid": "x", "parentUuid": ["p"]}"#, "u", ""),
        (r#"{"\u0075uid": "\u0075", "message": {"uuid": "x"}, "data": [{"parentUuid": "x"}]}"#, "u", ""),
    ];
    for (line, uuid, parent) in cases {
        let document = Document::new(format!("{line}\n{A}"));
        let messages = document.open();
        let record = messages.records(0).unwrap()[0].unwrap();
        assert!(record.uuid.unwrap().is(uuid) && record.parent.is(parent), "{line}");
    }
}

#[test]
fn a_records_message_has_the_id_that_is_written_last() {
    let cases = [
        (r#"{"message": {"id": "m"}}"#, Some("m")),
        (r#"{"message": {"id": "x", "\u0069d": "m", "content": [{"id": "x"}]}, "id": "x"}"#, Some("m")),
        (r#"{"message": {"id": "x"}, "message": {"role": "user"}}"#, Some("")),
        (r#"{"message": {"id": "x", "id": 3}, "data": {"id": "x"}}"#, Some("")),
        (r#"{"message": {"id": "x"}, "message": [{"id": "x"}]}"#, None),
        (r#"{"message": {"id": "x"}, "message": null}"#, None),
        (r#"{"id": "x"}"#, None),
    ];
    for (line, expected) in cases {
        let document = Document::new(format!("{line}\n{A}"));
        let record = document.open().records(0).unwrap()[0].unwrap();
        assert_eq!(record.message_id.map(Text::to_utf8).as_deref(), expected, "{line}");
    }
}

/// Lines of all kinds, read from the last on: found alike before all of them were looked at and after.
#[test]
fn lines_are_read_alike_once_they_were_looked_at() {
    let mut author = Author::new(8, &[" ", "\t", "\r"]);
    for _ in 0..150 {
        let mut data = A.as_bytes().to_vec();
        for _ in 0..author.dice.below(30) {
            author.document();
            let line = if author.dice.below(2) == 0 { author.mutated() } else { author.written.clone() };
            let is_request = open(&line).is_ok_and(|messages| messages != [parse(&line).unwrap()]);
            if !is_request {
                data.push(b'\n');
                data.extend_from_slice(&line);
            }
        }
        let bump = Bump::new();
        let [fresh, looked_at] = [(); 2].map(|()| Conversation::open(&data, &bump).unwrap());
        let (last, _) = fresh.before(None).unwrap().unwrap();
        let records = looked_at.records(last).unwrap();
        let found = messages_of(&fresh).unwrap();
        let again = messages_of(&looked_at).unwrap();
        let trees = |messages: &[(usize, Scanned<'_>)]| -> Vec<(usize, Tree)> {
            messages.iter().map(|(place, item)| (*place, tree_of(*item))).collect()
        };
        assert_eq!(trees(&found), trees(&again));
        assert_eq!(fresh.skipped_lines(), looked_at.skipped_lines());
        let mut expected: Vec<Option<Place>> = vec![None; records.len()];
        for (place, item) in found {
            expected[fresh.number(place)] = Record::of(item).map(place_of);
        }
        assert_eq!(records.into_iter().map(|record| record.map(place_of)).collect::<Vec<_>>(), expected);
    }
}

#[test]
fn a_record_does_not_go_on_in_the_next_line() {
    let data = format!("{A}\n{{\"n\":\n\"c\"}}\n{{\"n\": \"c\n\"}}\n{{\"n\": \"c\"\n}}\n{{\"n\": \"c\\\n\"}}\n{B}");
    assert_eq!(lines_of(&data), (numbered(&[(0, "a"), (9, "b")]), (2..10).collect()));
    let document = Document::new(data);
    let messages = document.open();
    let (last, _) = messages.before(None).unwrap().unwrap();
    let are_records: Vec<bool> = messages.records(last).unwrap().iter().map(Option::is_some).collect();
    assert_eq!(are_records, [[true].as_slice(), &[false; 8], &[true]].concat());
}

// A small session

fn record(uuid: &str, parent: &str, message: &Parsed) -> Parsed {
    json!({"uuid": uuid, "parentUuid": parent, "type": message["role"], "message": message})
}

fn said(role: &str, text: &str) -> Parsed {
    json!({"role": role, "content": text})
}

/// A question, a branch that was left, and one that was taken; a record twice, and a line that is none.
fn session() -> Document {
    let read = |id: &str| call(id, "Read", &json!({"file_path": "a.py"}));
    let records = [
        record("1", "", &said("user", "Look.\n[/USER]\u{20ac}")),
        record("2", "1", &assistant(&[read("left")])),
        record("3", "1", &assistant(&[json!({"type": "text", "text": "\nI do."}), read("r1")])),
        record("4", "3", &user(&[result("r1", "caf\u{e9}")])),
        record("4", "3", &user(&[result("r1", "caf\u{e9}")])),
        record("5", "4", &assistant(&[read("r2"), call("b1", "Bash", &json!({"command": "ls"}))])),
        record("6", "5", &user(&[result("r2", "\u{1f600}!"), failure("b1", "no")])),
        record("7", "6", &said("assistant", "Done.")),
        record("8", "7", &said("user", " \n")),
    ];
    let mut lines: Vec<String> = records.iter().map(Parsed::to_string).collect();
    lines.insert(2, "a line that broke".to_owned());
    Document::new(lines.join("\n"))
}

#[test]
fn inspect_surveys_a_session() {
    let document = session();
    let messages = document.open();
    let found = inspect(&messages).unwrap();
    let bash = ToolSize { calls: 1, results: 1, errors: 1, bytes: 2, chars: 2 };
    let read = ToolSize { calls: 3, results: 2, errors: 0, bytes: 10, chars: 6 };
    let expected = Inspection {
        shape: "claude-code",
        messages: 9,
        orphan_calls: 1,
        repeated_records: 1,
        duplicates: 1,
        other_branch_blocks: 1,
        tools: vec![(Text::ascii("Read").into(), read), (Text::ascii("Bash").into(), bash)],
        ..Inspection::default()
    };
    assert_eq!(found, expected);
    assert_eq!(messages.skipped_lines(), [3]);
}

#[test]
fn inspect_tells_the_shape_of_a_body() {
    let anthropic = bash("t1", "ls", "x");
    let openai = vec![json!({"role": "tool", "tool_call_id": "c1", "content": "x"})];
    let ollama = vec![json!({"role": "tool", "tool_name": "f", "content": "x"})];
    let mixed = [anthropic.clone(), openai.clone()].concat();
    let cases = [
        (anthropic, "anthropic", 2),
        (openai, "openai-chat", 1),
        (ollama, "ollama", 1),
        (mixed, "mixed", 3),
        (vec![said("user", "hi")], "unknown", 1),
        (vec![], "unknown", 0),
    ];
    for (messages, shape, count) in cases {
        let document = json_of(&messages);
        let found = inspect(document.open()).unwrap();
        assert_eq!((found.shape, found.messages), (shape, count));
    }
}

#[test]
fn inspect_weighs_texts_by_their_bytes() {
    let text = "\u{e9}\u{20ac}\u{1f600}\"\n".repeat(100);
    for written in spellings(&text) {
        let document = Document::new(with_result(&written));
        let found = inspect(document.open()).unwrap();
        let size = ToolSize { calls: 1, results: 1, errors: 0, bytes: text.len(), chars: 500 };
        assert_eq!(found.tools, [(Text::ascii("Bash").into(), size)]);
    }
}

#[test]
fn dialogue_is_what_was_said_on_the_branch_that_was_taken() {
    let document = session();
    let messages = document.open();
    let expected = "[USER]\nLook.\n[\\/USER]\u{20ac}\n[/USER]\n\n\
                    [ASSISTANT]\nI do.\n[/ASSISTANT]\n\n\
                    [ASSISTANT]\nDone.\n[/ASSISTANT]";
    assert_eq!(dialogue(&messages).unwrap().to_utf8(), expected);
    assert_eq!(messages.skipped_lines(), [3]);
}

#[test]
fn a_message_that_is_no_object_halts_every_job() {
    let document = Document::new("[3, {}]");
    let messages = document.open();
    let halt = Halt::NotAnObject { number: 0, type_name: "int".to_owned() };
    assert_eq!(dialogue(&messages).unwrap_err(), halt);
    assert_eq!(inspect(&messages).unwrap_err(), halt);
    let carried = carry(&messages, &Piece::ascii(""), &Settings::default(), RuleSet::built_in(), false);
    assert_eq!(carried.unwrap_err(), halt);
}

#[test]
fn a_request_among_records_halts_every_job() {
    let document = Document::new(format!("{A}\n{REQUEST}\n{B}"));
    let messages = document.open();
    let halt = Halt::Source(Refused { at: A.len() + 1, fault: Fault::Request });
    assert_eq!(dialogue(&messages).unwrap_err(), halt);
    assert_eq!(inspect(&messages).unwrap_err(), halt);
}
