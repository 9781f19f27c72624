//! The memory allocated while a context is made of a body, counted to the byte.

#![allow(unsafe_code)] // an allocator that counts
#![allow(clippy::unwrap_used, clippy::indexing_slicing)] // a test fails by panicking

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::fmt::Write;

use toolcarry::context::carry;
use toolcarry::context::limits::Limits;
use toolcarry::context::policy::{self, Settings};
use toolcarry::dedupe::rules::RuleSet;
use toolcarry::input::{Conversation, room_for};
use toolcarry::text::piece::Piece;

thread_local! {
    /// The bytes that this thread has allocated now, and their maximum.
    static HELD: Cell<(isize, isize)> = const { Cell::new((0, 0)) };
}

struct Counting;

// SAFETY: every call is passed on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size().cast_signed());
        // SAFETY: the arguments are the caller's, who keeps the contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        count(-layout.size().cast_signed());
        // SAFETY: the arguments are the caller's, who keeps the contract.
        unsafe { System.dealloc(place, layout) }
    }
}

fn count(change: isize) {
    // The counter is no longer accessible while a thread ends.
    let _ = HELD.try_with(|held| {
        let now = held.get().0 + change;
        held.set((now, held.get().1.max(now)));
    });
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// A request body with `turns` turns, each a call and its result.
fn body(turns: usize) -> Vec<u8> {
    let mut text = String::from("{\"messages\":[");
    for turn in 0..turns {
        let comma = if turn > 0 { "," } else { "" };
        let lines = format!("line {turn} of the file, with \\\"quotes\\\"\\n").repeat(200);
        let path = format!("src/module_{turn}.py");
        let call = match turn % 8 {
            3 => format!(
                r#""Edit","input":{{"file_path":"{path}","old_string":"{old}","new_string":"{old}\\n"}}"#,
                old = &lines[..300]
            ),
            5 => format!(r#""Grep","input":{{"pattern":"def {turn}","path":"/home/user/project/{path}","limit":20}}"#),
            _ => format!(r#""Read","input":{{"file_path":"/home/user/project/{path}"}}"#),
        };
        write!(
            text,
            r#"{comma}{{"role":"assistant","content":[{{"type":"tool_use","id":"toolu_{turn:024}","name":{call}}}]}},{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"toolu_{turn:024}","content":"{lines}"}}]}}"#
        )
        .unwrap();
    }
    text.push_str("]}");
    text.into_bytes()
}

/// The bytes held while a context is made of a body.
struct Held {
    most: usize,
    context: usize,
}

fn held(data: &[u8], layout: policy::Layout) -> Held {
    let rules = RuleSet::built_in(); // made once and never freed
    let before = HELD.get().0;
    HELD.set((before, before));
    let room = room_for(data);
    let conversation = Conversation::open(data, &room).unwrap();
    let settings = Settings { total: 200_000, limits: Limits::of_chars(2_000), layout, ..Settings::default() };
    let carried = carry(&conversation, &Piece::ascii(""), &settings, rules, false).unwrap();
    let context = carried.output.to_bytes();
    Held { most: (HELD.get().1 - before).cast_unsigned(), context: context.len() }
}

#[test]
fn a_short_conversation_takes_its_context_and_a_quarter_of_its_body() {
    held(&body(10), policy::Layout::Sections); // tables are made once and never freed
    for turns in [10, 20, 60, 90] {
        let data = body(turns);
        let Held { most, context } = held(&data, policy::Layout::Sections);
        assert!(most < context + data.len() / 4, "{turns} turns: {most} bytes for {context}");
    }
}

#[test]
fn a_long_conversation_takes_little_more_than_its_context() {
    let turns = 4_000;
    let Held { most, context } = held(&body(turns), policy::Layout::Sections);
    let messages = 2 * turns;
    assert!(most < context + 512 * messages, "{most} bytes for {context}");
}

#[test]
fn a_hand_over_of_a_long_conversation_takes_two_thirds_of_its_body_at_most() {
    let data = body(4_000);
    let Held { most, context } = held(&data, policy::Layout::Auto);
    assert!(most < data.len() / 3 * 2, "{most} bytes for {context} of {}", data.len());
}
