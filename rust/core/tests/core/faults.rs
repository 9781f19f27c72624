//! Bytes that are refused, with the offset of the fault: invalid JSON, no conversation, too much nesting.

use crate::wire::Document;
use crate::wire::trees::{Tree, open, parse};
use serde_json::json;
use toolcarry::json::error::{Fault, Refused};
use toolcarry::json::grammar::{MAX_DEPTH, MAX_VALUES};
use toolcarry::json::scanned::Scanned;
use toolcarry::json::value::{Key, Value, names};
use toolcarry::text::Text;

fn check_fault(data: impl AsRef<[u8]>, at: usize, fault: Fault) {
    let data = data.as_ref();
    let case = String::from_utf8_lossy(data);
    assert_eq!(parse(data), Err(Refused { at, fault }), "{case}");
    assert_eq!(open(data), Err(Refused { at, fault }), "{case}");
}

#[test]
fn an_unexpected_byte_is_reported_with_its_offset() {
    let cases: [(&str, usize); 44] = [
        ("", 0),
        ("  ", 2),
        ("[", 1),
        ("[1", 2),
        ("[1,", 3),
        ("[1,]", 3),
        ("[,1]", 1),
        ("[1 2]", 3),
        ("[1}", 2),
        ("[}", 1),
        ("{", 1),
        ("{]", 1),
        ("{1:2}", 1),
        ("{a:1}", 1),
        ("{\"a\"", 4),
        ("{\"a\" 1}", 5),
        ("{\"a\":", 5),
        ("{\"a\":}", 5),
        ("{\"a\":1", 6),
        ("{\"a\":1,}", 7),
        ("{\"a\":1 \"b\":2}", 7),
        ("{\"a\":1]", 6),
        ("1 2", 2),
        ("[1]]", 3),
        ("{}{}", 2),
        ("[] x", 3),
        ("tru", 0),
        ("[nul]", 1),
        ("True", 0),
        ("NaN", 0),
        ("-Infinity", 1),
        ("'a'", 0),
        ("[1/*x*/]", 2),
        ("-", 1),
        ("+1", 0),
        (".5", 0),
        ("01", 0),
        ("-01", 1),
        ("[00]", 1),
        ("1.", 2),
        ("1.e5", 2),
        ("1e", 2),
        ("1e+", 3),
        ("\u{a0}1", 0),
    ];
    for (data, at) in cases {
        check_fault(data, at, Fault::Unexpected);
    }
}

#[test]
fn a_fault_in_a_string_is_reported_with_its_offset() {
    let cases: [(&[u8], usize, Fault); 19] = [
        (b"\"", 1, Fault::Unterminated),
        (b"\"a", 2, Fault::Unterminated),
        (b"\"a\\", 3, Fault::Unterminated),
        (b"\"a\\\"", 4, Fault::Unterminated),
        (b"{\"a", 3, Fault::Unterminated),
        (b"\"\\x\"", 1, Fault::Escape),
        (b"\"a\\u12\"", 2, Fault::Escape),
        (b"\"\\u12g4\"", 1, Fault::Escape),
        (b"\"\\u+123\"", 1, Fault::Escape),
        (b"\"\\U0041\"", 1, Fault::Escape),
        (b"[\"a\tb\"]", 3, Fault::Control),
        (b"\"\x1f\"", 1, Fault::Control),
        (b"\"\0\"", 1, Fault::Control),
        (b"\"\xFF\"", 1, Fault::NotUtf8),
        (b"\"ab\xED\xA0\x80\"", 3, Fault::NotUtf8),
        (b"\"\xC0\xAF\"", 1, Fault::NotUtf8),
        (b"\"\xE2\x82\"", 1, Fault::NotUtf8),
        (b"\"\xF4\x90\x80\x80\"", 1, Fault::NotUtf8),
        (b"{\"\x80\":1}", 2, Fault::NotUtf8),
    ];
    for (data, at, fault) in cases {
        check_fault(data, at, fault);
    }
    check_fault(b"\xFF", 0, Fault::Unexpected);
}

#[test]
fn every_allowed_character_of_a_string_is_accepted() {
    assert_eq!(
        parse("\"\u{7f}\u{2028}\u{feff}\u{fffe}/\"".as_bytes()).map(|tree| matches!(tree, Tree::Text(_))),
        Ok(true)
    );
}

#[test]
fn the_first_of_two_faults_is_reported() {
    for (data, at, fault) in [
        (&b"\"\\x\t\""[..], 1, Fault::Escape),
        (b"\"\t\\x\"", 1, Fault::Control),
        (b"\"\\x", 1, Fault::Escape),
        (b"\"\t", 1, Fault::Control),
        (b"\"\xFF\\x\"", 1, Fault::NotUtf8),
        (b"\"\xFF\t\"", 1, Fault::NotUtf8),
        (b"\"\xFF", 1, Fault::NotUtf8),
    ] {
        check_fault(data, at, fault);
    }
}

#[test]
fn an_integer_has_at_most_4_300_digits() {
    let digits = "9".repeat(4_300);
    for accepted in [digits.clone(), format!("-{digits}"), format!("{digits}9.0"), format!("{digits}9e1")] {
        assert_eq!(parse(accepted.as_bytes()), Ok(Tree::Number(accepted)));
    }
    check_fault(format!("{digits}9"), 0, Fault::TooLong);
    check_fault(format!("[-{digits}9]"), 1, Fault::TooLong);
}

#[test]
fn more_values_than_fit_into_memory_are_refused() {
    let values = "0,".repeat(MAX_VALUES);
    let refused = open(format!("{{\"messages\": [{{\"role\": \"user\", \"content\": [{values}0]}}]}}").as_bytes());
    assert_eq!(refused.map_err(|refused| refused.fault), Err(Fault::TooLong));
}

#[test]
fn a_document_without_messages_is_reported() {
    for data in ["null", "3", "\"text\"", " true ", "{\"messages\": 3}", "{\"messages\": [], \"messages\": {}}"] {
        assert_eq!(open(data.as_bytes()), Err(Refused { at: 0, fault: Fault::NoMessages }), "{data}");
    }
}

// Nesting

fn nested(depth: usize) -> [String; 3] {
    let lists = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let objects = format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth));
    let both = format!("{}{}", "[{\"a\":".repeat(depth / 2), "}]".repeat(depth / 2));
    [lists, objects, both.replace(":}", ":0}")]
}

#[test]
fn nesting_of_128_is_accepted() {
    for data in nested(MAX_DEPTH) {
        assert!(parse(data.as_bytes()).is_ok(), "{data}");
        assert!(open(data.as_bytes()).is_ok(), "{data}");
    }
    let [lists, ..] = nested(MAX_DEPTH - 1);
    assert_eq!(open(format!("{{\"messages\": {lists}, \"x\": {lists}}}").as_bytes()).unwrap().len(), 1);
}

#[test]
fn nesting_of_129_is_refused_at_its_bracket() {
    let [lists, objects, _] = nested(MAX_DEPTH + 1);
    check_fault(&lists, MAX_DEPTH, Fault::TooDeep);
    check_fault(&objects, MAX_DEPTH * 5, Fault::TooDeep);
    let [lists, ..] = nested(MAX_DEPTH);
    check_fault(format!("[{lists}]"), MAX_DEPTH, Fault::TooDeep);
    check_fault(format!("{{\"messages\": {lists}}}"), 13 + MAX_DEPTH - 1, Fault::TooDeep);
    check_fault(format!("{{\"x\": {lists}}}"), 6 + MAX_DEPTH - 1, Fault::TooDeep);
}

#[test]
fn a_million_brackets_are_refused() {
    for bracket in ["[", "{\"a\":", "[{\"messages\":"] {
        let refused = open(bracket.repeat(1_000_000).as_bytes()).unwrap_err();
        assert_eq!(refused.fault, Fault::TooDeep, "{bracket}");
    }
}

/// The depth of arguments is counted from their own start; arguments that are too deep remain text.
#[test]
fn arguments_nest_as_deep_as_documents() {
    for (depth, is_parsed) in [(MAX_DEPTH, true), (MAX_DEPTH + 1, false)] {
        let [_, objects, _] = nested(depth);
        let document = Document::new(json!(objects).to_string());
        let arguments = Scanned::parse(&document.bytes, &document.bump).unwrap().arguments();
        assert_eq!(arguments.has(Key::named(Text::ascii("a"))), is_parsed);
        assert_eq!(arguments.has(names::ARGUMENTS), !is_parsed);
    }
}
