//! Any bytes as one JSON document: the scan and `serde_json` must accept the same documents, with the same values.
//!
//! The known differences: only the scan accepts escapes of lone surrogates; only `serde_json` accepts documents nested
//! deeper than 128, and integers of more than 4,300 digits. Numbers are compared as text, whatever their size. The
//! offset of an error is checked, too.

#![no_main]

use bumpalo::Bump;
use libfuzzer_sys::fuzz_target;
use serde_json::{Deserializer, Value as Parsed};
use toolcarry::json::error::{Fault, Refused};
use toolcarry::json::grammar::MAX_DEPTH;
use toolcarry::json::scanned::{Scanned, Written};
use toolcarry::json::value::{Key, Value};
use toolcarry::text::{Text, Width};

use surrogates::{stand_in, without_lone_surrogates};

#[path = "../../rust/core/tests/core/wire/surrogates.rs"]
mod surrogates;

const MOST_DIGITS: usize = 4_300;
/// The greatest depth of documents for `serde_json`, which reads them recursively.
const DEEPEST: usize = 1_000;
/// `serde_json` represents a number internally as an object with a member of this name.
const NUMBER_NAME: &str = "$serde_json::private::Number";

fuzz_target!(|data: &[u8]| {
    let bump = Bump::new();
    let Some(document) = agree(data, &bump) else { return };
    let mut sizes = Sizes(data.iter().fold(data.len() as u64, |sum, byte| sum.wrapping_mul(31) + u64::from(*byte)));
    check_parts(document, &mut sizes, &bump);
});

/// Check that the data is accepted or refused as by `serde_json`, with the same value.
fn agree<'a>(data: &'a [u8], bump: &'a Bump) -> Option<Scanned<'a>> {
    let outline = Outline::of(data);
    let ours = Scanned::parse(data, bump);
    if let Err(refused) = ours {
        check_place(data, refused);
    }
    if outline.depth > DEEPEST {
        assert!(ours.is_err());
        return None;
    }
    let plain = without_lone_surrogates(data);
    match (ours, read(&plain)) {
        (Ok(ours), Some(theirs)) => {
            assert!(outline.depth <= MAX_DEPTH && outline.digits <= MOST_DIGITS);
            if plain == data {
                assert!(is_same(ours, &theirs, as_it_is), "{theirs:?}");
            } else {
                assert!(
                    read(data).is_none() && (is_same(ours, &theirs, stand_in) || may_hold_stand_ins(data)),
                    "{theirs:?}"
                );
            }
            Some(ours)
        }
        (Ok(ours), None) => {
            assert!(holds_number_name(ours), "accepted, although it is not JSON");
            None
        }
        (Err(Refused { fault: Fault::TooDeep, .. }), Some(_)) => {
            assert!(outline.depth > MAX_DEPTH);
            None
        }
        (Err(Refused { fault: Fault::TooLong, .. }), Some(_)) => {
            assert!(outline.digits > MOST_DIGITS);
            None
        }
        (Err(refused), Some(theirs)) => panic!("{refused:?}, although it is JSON: {theirs:?}"),
        (Err(_), None) => None,
    }
}

/// Read one document of any depth with `serde_json`.
fn read(data: &[u8]) -> Option<Parsed> {
    let mut reader = Deserializer::from_slice(data);
    reader.disable_recursion_limit();
    let mut documents = reader.into_iter();
    let document = documents.next()?.ok()?;
    documents.next().is_none().then_some(document)
}

/// Check the offset of an error: the data before it is a document, or the beginning of one.
fn check_place(data: &[u8], refused: Refused) {
    let before = &data[..refused.at];
    if let Err(cut) = Scanned::parse(before, &Bump::new()) {
        assert_eq!(cut.at, refused.at, "{cut:?} for the data before {refused:?}");
    }
}

/// The depth of a document, and the number of digits of its longest integer, up to the first fault.
#[derive(Default)]
struct Outline {
    depth: usize,
    digits: usize,
}

impl Outline {
    fn of(data: &[u8]) -> Self {
        let mut found = Self::default();
        let (mut open, mut at) = (0_usize, 0);
        while let Some(byte) = data.get(at) {
            at += 1;
            match byte {
                b'"' => at = string_end(data, at),
                b'[' | b'{' => open += 1,
                b']' | b'}' => open = open.saturating_sub(1),
                b'-' | b'0'..=b'9' => {
                    let is_part = |byte: &&u8| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-');
                    let rest = data[at..].iter().take_while(is_part).count();
                    let number = &data[at - 1..at + rest];
                    if !number.iter().any(|byte| matches!(byte, b'.' | b'e' | b'E')) {
                        found.digits = found.digits.max(number.iter().filter(|byte| byte.is_ascii_digit()).count());
                    }
                    at += rest;
                }
                _ => {}
            }
            found.depth = found.depth.max(open);
        }
        found
    }
}

/// The offset after the string that begins at `at`.
fn string_end(data: &[u8], mut at: usize) -> usize {
    while let Some(byte) = data.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    data.len()
}

// Lone surrogates

fn as_it_is(code_point: u32) -> u32 {
    code_point
}

/// Return true if the document itself may contain the characters that replace surrogates: U+E000 to U+E7FF.
fn may_hold_stand_ins(data: &[u8]) -> bool {
    data.contains(&0xEE) || data.windows(3).any(|part| part.eq_ignore_ascii_case(b"\\ue"))
}

// Values

fn code_points(text: Text<'_>) -> impl Iterator<Item = u32> {
    (0..text.len()).filter_map(move |index| text.get(index))
}

type Units = fn(u32) -> u32;

fn is_text(ours: Text<'_>, theirs: &str, units: Units) -> bool {
    code_points(ours).map(units).eq(theirs.chars().map(u32::from))
}

fn is_same(ours: Scanned<'_>, theirs: &Parsed, units: Units) -> bool {
    match (ours.written(), theirs) {
        (Written::Null, Parsed::Null) => true,
        (Written::Bool(ours), Parsed::Bool(theirs)) => ours == *theirs,
        (Written::Number(digits), Parsed::Number(theirs)) => spelled(digits) == theirs.as_str(),
        (Written::Text, Parsed::String(theirs)) => is_text(ours.text().unwrap(), theirs, units),
        (Written::List, Parsed::Array(theirs)) => {
            let is_item = |(index, theirs)| ours.item(index).is_some_and(|item| is_same(item, theirs, units));
            ours.count() == theirs.len() && theirs.iter().enumerate().all(is_item)
        }
        (Written::Object, Parsed::Object(theirs)) => {
            let mut members = theirs.iter();
            let mut are_same = true;
            ours.members(&mut |name, value| {
                let member = members.next();
                are_same &=
                    member.is_some_and(|(key, theirs)| is_text(name, key, units) && is_same(value, theirs, units));
                are_same
            });
            are_same && ours.size() == theirs.len()
        }
        _ => false,
    }
}

/// A number in the spelling of `serde_json`, which normalises only the exponent's letter and sign.
fn spelled(digits: &[u8]) -> String {
    let digits = String::from_utf8(digits.to_ascii_lowercase()).unwrap();
    match digits.split_once('e') {
        Some((number, exponent)) if exponent.starts_with(['+', '-']) => format!("{number}e{exponent}"),
        Some((number, exponent)) => format!("{number}e+{exponent}"),
        None => digits,
    }
}

fn holds_number_name(value: Scanned<'_>) -> bool {
    let mut is_found = false;
    value.members(&mut |name, inner| {
        is_found |= name.is(NUMBER_NAME) || holds_number_name(inner);
        !is_found
    });
    is_found || (0..value.count()).any(|index| value.item(index).is_some_and(holds_number_name))
}

/// Pseudo-random sizes, seeded by the data.
struct Sizes(u64);

impl Sizes {
    /// A size smaller than `limit`.
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }
}

/// Check that the parts of a value agree with the whole value.
fn check_parts<'a>(value: Scanned<'a>, sizes: &mut Sizes, bump: &'a Bump) {
    match value.written() {
        Written::Text => {
            let whole = value.text().unwrap();
            check_ends(value, whole, sizes);
            check_arguments(value, whole, bump);
        }
        Written::List => {
            assert!(value.item(value.count()).is_none());
            (0..value.count()).for_each(|index| check_parts(value.item(index).unwrap(), sizes, bump));
        }
        Written::Object => value.members(&mut |name, inner| {
            check_member(value, name, inner);
            check_parts(inner, sizes, bump);
            true
        }),
        Written::Null | Written::Bool(_) | Written::Number(_) => assert!(value.text_len().is_none()),
    }
}

fn check_ends(value: Scanned<'_>, whole: Text<'_>, sizes: &mut Sizes) {
    let size = whole.len();
    assert_eq!(value.text_len(), Some(size));
    assert_eq!(value.utf8_len(), Some(whole.utf8_len()));
    let narrowest = match whole.width() {
        Width::Ascii | Width::Latin1 => matches!(whole, Text::Latin1(_)),
        Width::Ucs2 => matches!(whole, Text::Ucs2(_)),
        Width::Ucs4 => matches!(whole, Text::Ucs4(_)),
    };
    assert!(narrowest, "{whole:?}");
    for count in [sizes.below(size + 2), sizes.below(size + 2), sizes.below(80)] {
        let start = value.text_start(count).unwrap();
        assert!(code_points(start).eq(code_points(whole.slice(0, count))), "the first {count}: {start:?}");
        let end = value.text_end(count).unwrap();
        assert!((count.min(size)..=size).contains(&end.len()), "the last {count}: {end:?}");
        assert!(code_points(end).eq(code_points(whole.slice(size - end.len(), size))), "the last {count}: {end:?}");
    }
}

fn check_member(object: Scanned<'_>, name: Text<'_>, value: Scanned<'_>) {
    let key = Key::named(name);
    let found = object.get(key).map(Scanned::written);
    assert!(object.has_name(key), "{name:?}");
    assert_eq!(found, Some(value.written()).filter(|written| *written != Written::Null), "{name:?}");
}

/// Check that the arguments in a text equal the text read as a document.
fn check_arguments<'a>(value: Scanned<'a>, whole: Text<'_>, bump: &'a Bump) {
    let is_surrogate = |code_point: u32| (0xD800..0xE000).contains(&code_point);
    if whole.is_empty() || code_points(whole).any(is_surrogate) {
        return;
    }
    let text = bump.alloc_str(&whole.to_utf8()).as_bytes();
    agree(text, bump);
    let inner = Scanned::parse(text, bump).unwrap_or(value);
    let mut expected = inner.json().as_text().to_utf8();
    if inner.object().is_none() {
        expected = format!("{{\"arguments\":{expected}}}");
    }
    assert_eq!(value.arguments().json().as_text().to_utf8(), expected);
}
