//! The fields of session lines that place a record: its own id, its parent's id, and its message's id.

use crate::wire::Document;
use crate::wire::author::Author;
use crate::wire::lines::{A, B};
use crate::wire::trees::{Tree, code_points, messages_of, open, parse, tree_of};
use bumpalo::Bump;
use toolcarry::input::Conversation;
use toolcarry::input::messages::{Messages, Record};
use toolcarry::json::error::{Fault, Refused};
use toolcarry::json::scanned::Scanned;
use toolcarry::json::value::{Value, names};
use toolcarry::text::Text;

type RecordPlace = ((Option<Vec<u32>>, Option<Vec<u32>>), Vec<u32>, bool, Vec<u32>, bool);

fn place_of(record: Record<'_>) -> RecordPlace {
    let Record { uuid, parent, is_sidechain, agent, message_id, follows } = record;
    let ids = (uuid.map(code_points), message_id.map(code_points));
    (ids, code_points(parent), is_sidechain, code_points(agent), follows)
}

/// The record read from a line equals the record made of the line's value.
#[test]
fn records_of_lines_equal_records_of_values() {
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
fn a_records_message_has_the_last_id_written_in_it() {
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

/// Lines of all kinds are the same, read from the last one on, whether or not `records` has read all of them before.
#[test]
fn lines_are_the_same_after_records_has_read_them() {
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
        let mut expected: Vec<Option<RecordPlace>> = vec![None; records.len()];
        for (place, item) in found {
            expected[fresh.number(place)] = Record::of(item).map(place_of);
        }
        assert_eq!(records.into_iter().map(|record| record.map(place_of)).collect::<Vec<_>>(), expected);
    }
}
