//! Session files in bytes: the lines that are records, and the files that are refused.

use crate::wire::Document;
use crate::wire::lines::{A, B, C, REQUEST};
use crate::wire::trees::{messages_of, open, parse};
use serde_json::json;
use toolcarry::input::messages::Messages;
use toolcarry::json::error::{Fault, Refused};
use toolcarry::json::scanned::Scanned;
use toolcarry::json::value::{Key, Value};
use toolcarry::text::Text;

/// The number and the member `n` of each record of a file, and the lines that were skipped.
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
fn numbers_are_the_same_after_all_records_were_read() {
    for data in [format!("{A}\n\n{B}\nx\n{C}"), format!("\u{feff}\r\n{A}\r\n{B}\r\n\r\n{C}\r\n")] {
        let document = Document::new(data);
        let messages = document.open();
        let places: Vec<usize> = messages_of(&messages).unwrap().into_iter().map(|(place, _)| place).collect();
        let before: Vec<usize> = places.iter().map(|place| messages.number(*place)).collect();
        assert_eq!(messages.records(places[2]).unwrap().len(), before[2] + 1);
        let after: Vec<usize> = places.iter().map(|place| messages.number(*place)).collect();
        assert_eq!(before, after);
    }
}

#[test]
fn a_line_without_an_object_is_skipped_and_reported() {
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
fn lines_that_were_not_read_are_not_reported() {
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

/// Only JSON's white space may surround a record; any other character makes the line malformed.
#[test]
fn white_space_that_is_not_in_json_makes_a_line_malformed() {
    for line in [format!("\u{b}{C}"), format!("{C}\u{c}"), format!(" \u{feff}{C}"), "\u{feff}".to_owned()] {
        let (records, skipped) = lines_of(&format!("{A}\n{line}\n{B}"));
        assert_eq!((records, skipped), (numbered(&[(0, "a"), (2, "b")]), vec![2]), "{line:?}");
    }
}

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
fn a_byte_order_mark_moves_no_offset() {
    for (data, fault) in
        [(format!("\u{feff}{A}\n{REQUEST}"), Fault::Request), (format!("\u{feff}[\n{A}\n{REQUEST}"), Fault::Unexpected)]
    {
        let at = data.rfind(REQUEST).unwrap();
        assert_eq!(open(data.as_bytes()), Err(Refused { at, fault }), "{data}");
    }
}

#[test]
fn a_file_without_records_is_refused_as_a_document() {
    for (data, at) in
        [("x\ny\n", 0), ("1\n2\n", 2), ("[1]\n[2]\n", 4), ("\n\n", 2), ("\u{feff}", 3), ("{\"n\": }\n", 6)]
    {
        assert_eq!(open(data.as_bytes()), Err(Refused { at, fault: Fault::Unexpected }), "{data:?}");
    }
}

#[test]
fn a_malformed_document_over_several_lines_is_not_a_session_file() {
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

#[test]
fn a_record_does_not_continue_on_the_next_line() {
    let data = format!("{A}\n{{\"n\":\n\"c\"}}\n{{\"n\": \"c\n\"}}\n{{\"n\": \"c\"\n}}\n{{\"n\": \"c\\\n\"}}\n{B}");
    assert_eq!(lines_of(&data), (numbered(&[(0, "a"), (9, "b")]), (2..10).collect()));
    let document = Document::new(data);
    let messages = document.open();
    let (last, _) = messages.before(None).unwrap().unwrap();
    let are_records: Vec<bool> = messages.records(last).unwrap().iter().map(Option::is_some).collect();
    assert_eq!(are_records, [[true].as_slice(), &[false; 8], &[true]].concat());
}
