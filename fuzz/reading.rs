//! Messages made of the words that the readers know. Every call and every result must be in exactly one block, each can
//! be read outside its message, and every job must have the same outcome on a body and on the list of its messages.
//!
//! The input is not JSON but a plan for it, so that almost every input is a conversation: a byte chooses the next value
//! (a word, a text, a list or an object). `seeds.py` encodes conversations in this form. Messages that need an importer
//! end every job, from a body and from a list. A list of whole conversations is refused.

use bumpalo::Bump;
use libfuzzer_sys::Corpus;
use toolcarry::content::result_text;
use toolcarry::context::carry;
use toolcarry::context::dialogue::dialogue;
use toolcarry::context::limits::Limits;
use toolcarry::context::policy::Settings;
use toolcarry::dedupe::rules::RuleSet;
use toolcarry::formats::message::MessageParts;
use toolcarry::formats::{read_call, read_message, read_result};
use toolcarry::input::Conversation;
use toolcarry::input::messages::{List, Messages};
use toolcarry::inspect::inspect;
use toolcarry::json::error::{Fault, Refused};
use toolcarry::json::scanned::Scanned;
use toolcarry::json::value::{Value, names};
use toolcarry::pairing::Walk;
use toolcarry::text::piece::Piece;

use crate::documents;

static WORDS: &str = include_str!("words.txt");
const DEEPEST: usize = 12;

/// Check the conversation of a plan. If `shapes` is not empty, a plan without a message of these shapes is rejected.
pub fn try_conversation(data: &[u8], shapes: &[&str]) -> Corpus {
    let words: Vec<&str> = WORDS.lines().collect();
    let mut plan = Plan { data, words: &words, json: vec![b'['] };
    while !plan.data.is_empty() {
        if plan.json.len() > 1 {
            plan.json.push(b',');
        }
        plan.value(0);
    }
    plan.json.push(b']');
    let bump = Bump::new();
    let list = Scanned::parse(&plan.json, &bump).unwrap();
    if !shapes.is_empty() && !has_shape(list, shapes) {
        return Corpus::Reject;
    }
    if documents::messages_of(list).is_none() {
        let refused = Conversation::open(&plan.json, &bump).err();
        assert_eq!(refused, Some(Refused { at: 0, fault: Fault::NoMessages }));
        return Corpus::Reject;
    }
    check(&plan.json, list);
    Corpus::Keep
}

/// Return true if a message has one of these shapes.
fn has_shape(list: Scanned<'_>, shapes: &[&str]) -> bool {
    let mut messages = (0..list.count()).filter_map(|index| list.item(index)).filter_map(Value::object);
    messages.any(|message| {
        let shape = read_message(message, message.get(names::ROLE), &mut MessageParts::default());
        shape.ok().flatten().is_some_and(|shape| shapes.contains(&shape))
    })
}

struct Plan<'a> {
    data: &'a [u8],
    words: &'a [&'a str],
    json: Vec<u8>,
}

impl Plan<'_> {
    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.data.split_first() else { return 0 };
        self.data = rest;
        *first
    }

    fn text(&mut self, text: &str) {
        self.json.extend(serde_json::to_vec(text).unwrap());
    }

    fn word(&mut self) {
        let number = usize::from(self.byte());
        self.text(self.words[number % self.words.len()]);
    }

    fn value(&mut self, depth: usize) {
        match self.byte() % 8 {
            _ if depth > DEEPEST => self.json.extend(b"null"),
            0 => self.json.extend(b"null"),
            1 => self.json.extend(b"true"),
            2 => self.json.extend(b"false"),
            3 => {
                let number = self.byte().to_string();
                self.json.extend(number.bytes());
            }
            4 => self.word(),
            5 => {
                let size = usize::from(self.byte() % 128).min(self.data.len());
                let (text, rest) = self.data.split_at(size);
                self.data = rest;
                self.text(&String::from_utf8_lossy(text));
            }
            kind => {
                let is_object = kind == 7;
                self.json.push(if is_object { b'{' } else { b'[' });
                for number in 0..self.byte() % 16 {
                    if number > 0 {
                        self.json.push(b',');
                    }
                    if is_object {
                        self.word();
                        self.json.push(b':');
                    }
                    self.value(depth + 1);
                }
                self.json.push(if is_object { b'}' } else { b']' });
            }
        }
    }
}

fn check(json: &[u8], list: Scanned<'_>) {
    let bump = Bump::new();
    let Ok(opened) = Conversation::open(json, &bump) else { panic!("no conversation") };
    let inside = [br#"{"model":"m","contents":"#, json, b"}"].concat();
    let Ok(body) = Conversation::open(&inside, &bump) else { panic!("no body") };
    let expected = jobs(&List(list));
    assert_eq!(jobs(&opened), expected);
    assert_eq!(jobs(&body), expected);
    if expected.is_some() {
        check_blocks(list);
    }
}

/// Return the outcome of every job; `None` if a message can't be read.
fn jobs<'a, M: Messages<'a>>(messages: &M) -> Option<[String; 3]> {
    let settings = Settings { total: 2_000, limits: Limits::of_chars(300), ..Settings::default() };
    let carried = carry(messages, &Piece::ascii(""), &settings, RuleSet::built_in(), true).ok()?;
    assert!(carried.output.len() <= 2_000);
    let survey = inspect(messages).ok()?;
    let said = dialogue(messages).ok()?;
    Some([format!("{}{:?}", carried.output.to_utf8(), carried.counts), format!("{survey:?}"), said.to_utf8()])
}

/// Check that every call and every result in the messages is in exactly one block.
fn check_blocks(list: Scanned<'_>) {
    let (mut calls, mut results) = (0, 0);
    for message in (0..list.count()).filter_map(|index| list.item(index)) {
        if message.has(names::UUID) || message.has(names::MESSAGE) {
            return; // session records: those of other branches may be skipped
        }
        let mut said = MessageParts::default();
        read_message(message, message.get(names::ROLE), &mut said).unwrap(); // otherwise the jobs would have failed
        for call in &said.calls {
            let _ = read_call(call.wire).arguments.map(Value::json);
        }
        for result in &said.results {
            let _ = result_text(read_result(result.wire).content).whole();
        }
        (calls, results) = (calls + said.calls.len(), results + said.results.len());
    }
    let mut walk = Walk::new(List(list));
    let (mut found_calls, mut found_results) = (0, 0);
    while let Ok(Some(entry)) = walk.next_entry() {
        found_calls += usize::from(entry.call.is_some());
        found_results += usize::from(entry.result.is_some());
    }
    found_results += walk.second_results.values().map(Vec::len).sum::<usize>();
    assert_eq!((found_calls, found_results), (calls, results));
}
