//! The JSON scan compared with `serde_json`, and the methods of its values.

use crate::wire::author::Author;
use crate::wire::surrogates::{stand_in, without_lone_surrogates};
use crate::wire::trees::{Tree, open, parse};
use crate::wire::{Dice, Document};
use bumpalo::Bump;
use serde_json::Value as Parsed;
use toolcarry::json::error::{Fault, Refused};
use toolcarry::json::scanned::Scanned;
use toolcarry::json::value::{Key, Value, names};
use toolcarry::text::{OwnedText, Text};

// Compared with serde_json

fn is_text(ours: &[u32], theirs: &str) -> bool {
    ours.iter().map(|code_point| stand_in(*code_point)).eq(theirs.chars().map(u32::from))
}

fn is_number(ours: &str, theirs: &serde_json::Number) -> bool {
    if theirs.is_i64() || theirs.is_u64() {
        return ours == theirs.to_string();
    }
    let (ours, theirs) = (ours.parse::<f64>().unwrap(), theirs.as_f64().unwrap());
    (ours - theirs).abs() <= ours.abs() * 1e-15
}

fn is_same(ours: &Tree, theirs: &Parsed) -> bool {
    match (ours, theirs) {
        (Tree::Null, Parsed::Null) => true,
        (Tree::Bool(ours), Parsed::Bool(theirs)) => ours == theirs,
        (Tree::Number(ours), Parsed::Number(theirs)) => is_number(ours, theirs),
        (Tree::Text(ours), Parsed::String(theirs)) => is_text(ours, theirs),
        (Tree::List(ours), Parsed::Array(theirs)) => {
            ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(ours, theirs)| is_same(ours, theirs))
        }
        (Tree::Object(ours), Parsed::Object(theirs)) => {
            let is_member = |((name, value), (key, theirs)): (&(Vec<u32>, Tree), (&String, &Parsed))| {
                is_text(name, key) && is_same(value, theirs)
            };
            ours.len() == theirs.len() && ours.iter().zip(theirs).all(is_member)
        }
        _ => false,
    }
}

/// The messages of a well-formed document.
fn messages_in(document: &Tree) -> Option<Vec<Tree>> {
    match document {
        Tree::List(items) => Some(items.clone()),
        Tree::Object(members) => {
            let name: Vec<u32> = "messages".chars().map(u32::from).collect();
            match members.iter().find(|(known, _)| *known == name) {
                Some((_, Tree::List(items))) => Some(items.clone()),
                Some(_) => None,
                None => Some(vec![document.clone()]),
            }
        }
        _ => None,
    }
}

/// Return true if the first item of an array is a list of messages, so that the array is refused.
fn holds_conversation(first: Option<&Tree>) -> bool {
    matches!(first, Some(Tree::List(items)) if matches!(items.first(), None | Some(Tree::Object(_))))
}

/// Return true if the first item of an array is no message, and has a list that may be the messages of a request.
fn may_be_request(first: Option<&Tree>) -> bool {
    let role: Vec<u32> = "role".chars().map(u32::from).collect();
    matches!(first, Some(Tree::Object(members)) if members.iter().all(|(name, _)| *name != role)
        && members.iter().any(|(_, value)| matches!(value, Tree::List(_))))
}

/// Check that the same data is accepted as by `serde_json`, with the same values, both as a value and as a
/// conversation.
fn agree(data: &[u8]) -> Result<Tree, Refused> {
    let case = String::from_utf8_lossy(data);
    let ours = parse(data);
    match (&ours, serde_json::from_slice::<Parsed>(&without_lone_surrogates(data))) {
        (Ok(ours), Ok(theirs)) => assert!(is_same(ours, &theirs), "{ours:?}\n{theirs:?}\n{case}"),
        (Ok(_), Err(error)) => assert!(error.to_string().starts_with("number out of range"), "{error}: {case}"),
        (Err(refused), Ok(_)) => panic!("{refused:?}: {case}"),
        (Err(_), Err(_)) => {}
    }
    match &ours {
        Ok(tree) => {
            let expected = messages_in(tree).ok_or(Refused { at: 0, fault: Fault::NoMessages });
            let found = open(data);
            let refused = Err(Refused { at: 0, fault: Fault::NoMessages });
            match tree {
                Tree::List(items) if holds_conversation(items.first()) => assert_eq!(found, refused, "{case}"),
                Tree::List(items) if may_be_request(items.first()) => {
                    assert!(found == expected || found == refused, "{found:?}\n{case}");
                }
                _ => assert_eq!(found, expected, "{case}"),
            }
        }
        Err(refused) if !data.contains(&b'\n') => assert_eq!(open(data), Err(*refused), "{case}"),
        Err(_) => drop(open(data)), // it may be a session file
    }
    ours
}

#[test]
fn documents_have_the_values_that_were_written() {
    for (seed, spaces) in [(1, &[" ", "\t", "\r", "\n"][..]), (2, &[" ", "\t", "\r"])] {
        let mut author = Author::new(seed, spaces);
        for _ in 0..1_000 {
            let expected = author.document();
            let document = author.written.clone();
            assert_eq!(agree(&document), Ok(expected), "{}", String::from_utf8_lossy(&document));
        }
    }
}

#[test]
fn documents_with_one_changed_byte_are_read_as_by_serde_json() {
    for (seed, spaces) in [(3, &[" ", "\t", "\r", "\n"][..]), (4, &[" ", "\t", "\r"])] {
        let mut author = Author::new(seed, spaces);
        let (mut accepted, mut refused) = (0, 0);
        for _ in 0..1_500 {
            author.document();
            for _ in 0..3 {
                let data = author.mutated();
                *if agree(&data).is_ok() { &mut accepted } else { &mut refused } += 1;
            }
        }
        assert!(accepted > 500 && refused > 1_000, "{accepted} accepted, {refused} refused");
    }
}

#[test]
fn random_tokens_are_read_as_by_serde_json() {
    const TOKENS: [&str; 24] = [
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        "\"",
        "\"a\"",
        "\"\\",
        "u",
        "0041",
        "1",
        "0",
        "-",
        ".",
        "e",
        "+",
        "true",
        "false",
        "null",
        " ",
        "\t",
        "\"messages\"",
        "\\\\\"",
    ];
    let mut dice = Dice(5);
    for _ in 0..30_000 {
        let data: String = (0..dice.below(9)).map(|_| dice.one_of(&TOKENS)).collect();
        let _ = agree(data.as_bytes());
    }
}

/// Each string is tried after a prefix of every length, so that its parts fall on all positions in a block.
#[test]
fn strings_at_every_offset_are_read_as_by_serde_json() {
    let strings = [
        r#""\\\\\\\"\\" "#,
        r#""\ud83d\ude00\ud83d\ud83d\ude00\ude00""#,
        r#""\\ud83d\ude00""#,
        r#""\\\"\b\u00e9\\""#,
        "\"\u{e9}\u{20ac}\u{1f600}\\n\"",
        r#""\"#,
        r#""\\\""#,
        r#""\u12"#,
        r#""\u12g4""#,
        r#""\x""#,
        "\"\t\"",
        "\"\0",
        "\"",
    ];
    for string in strings {
        for place in 0..140 {
            let _ = agree(format!("{}{string}", " ".repeat(place)).as_bytes());
            let _ = agree(format!("\"{}{}", "x".repeat(place), &string[1..]).as_bytes());
        }
    }
}

// Values

#[test]
fn arguments_are_objects() {
    let cases = [
        (r#""""#, "{}"),
        (r#""{\"a\": 1}""#, r#"{"a":1}"#),
        (r#""{\"a\": \"\\ud83d\", \"b\": \"\\ud83d\\ude00\"}""#, "{\"a\":\"\u{fffd}\",\"b\":\"\u{1f600}\"}"),
        (r#""[1, 2]""#, r#"{"arguments":[1,2]}"#),
        (r#""{\"a\": ""#, r#"{"arguments":"{\"a\": "}"#),
        (r#""\ud800""#, "{\"arguments\":\"\u{fffd}\"}"),
        (r#""\"\ud800\"""#, "{\"arguments\":\"\u{fffd}\"}"),
        ("3", r#"{"arguments":3}"#),
        ("[1]", r#"{"arguments":[1]}"#),
        ("null", "{}"),
    ];
    for (written, expected) in cases {
        let document = Document::new(written);
        let value = Scanned::parse(&document.bytes, &document.bump).unwrap();
        assert_eq!(value.arguments().json().as_text().to_utf8(), expected, "{written}");
    }
}

#[test]
fn json_is_compact() {
    let cases = [
        (" [ 1 , -0 , 1.50, 1e2 ,true,null ] ", "[1,0,1.5,100.0,true,null]"),
        (r#"{"b": {}, "a": [], "b": 2}"#, r#"{"b":2,"a":[]}"#),
        (r#""\u0041\/\"\\\n\u0000\u007f""#, "\"A/\\\"\\\\\\n\\u0000\u{7f}\""),
        ("18446744073709551615", "18446744073709551615"),
        ("18446744073709551616", "1.8446744073709552e+19"),
        ("1e999", "null"),
    ];
    for (written, expected) in cases {
        let document = Document::new(written);
        let value = Scanned::parse(&document.bytes, &document.bump).unwrap();
        assert_eq!(value.json().as_text().to_utf8(), expected, "{written}");
    }
}

#[test]
fn the_last_of_two_members_with_one_name_counts() {
    let document = Document::new(r#"{"id": "first", "\u0069d": "last", "text": "x", "text": null}"#);
    let value = Scanned::parse(&document.bytes, &document.bump).unwrap();
    assert!(value.get(names::ID).and_then(Value::text).unwrap().is("last"));
    assert!(value.has_name(names::TEXT) && value.get(names::TEXT).is_none());
    assert_eq!(value.size(), 2);
}

#[test]
fn members_are_found_by_name_with_and_without_escapes() {
    for (written, name) in [
        (r#"{"\u00e9":1}"#, "é"),
        (r#"{"é":1}"#, "é"),
        (r#"{"\u20ac":1}"#, "€"),
        (r#"{"\ud83d\ude00":1}"#, "😀"),
        (r#"{"a\u00e9":1,"e\u0301":1,"\u00e9a":2}"#, "éa"),
        (r#"{"\u0061":1}"#, "a"),
    ] {
        let bump = Bump::new();
        let object = Scanned::parse(written.as_bytes(), &bump).unwrap();
        let found = |name: &str| object.has_name(Key::named(OwnedText::from_utf8(name).as_text()));
        assert!(found(name) && !found("\u{fffd}") && !found(&format!("{name}{name}")), "{written}");
    }
    let bump = Bump::new();
    let object = Scanned::parse(br#"{"\ud800":1}"#, &bump).unwrap();
    assert!(object.has_name(Key::named(Text::Ucs2(&[0xD800]))) && !object.has_name(Key::named(Text::Ucs2(&[0xFFFD]))));
}
