//! What is allocated while a context is made of a body, counted to the byte.

#![allow(unsafe_code)] // an allocator that counts
#![allow(clippy::unwrap_used, clippy::indexing_slicing)] // a test fails by panicking

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::fmt::Write;

use toolcarry::carry::carry;
use toolcarry::limits::Limits;
use toolcarry::pieces::Piece;
use toolcarry::rules::RuleSet;
use toolcarry::scan::{Conversation, Recipe, room_for};
use toolcarry::settings::Settings;

thread_local! {
    /// What this thread has allocated, and the most that it had.
    static HELD: Cell<(isize, isize)> = const { Cell::new((0, 0)) };
}

struct Counting;

// SAFETY: the system's allocator does all of it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size().cast_signed());
        // SAFETY: as it was asked for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        count(-layout.size().cast_signed());
        // SAFETY: as it was asked for.
        unsafe { System.dealloc(place, layout) }
    }
}

fn count(change: isize) {
    // While a thread ends there is nothing to count with.
    let _ = HELD.try_with(|held| {
        let now = held.get().0 + change;
        held.set((now, held.get().1.max(now)));
    });
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// A request body with so many turns of a call and its result.
fn body(turns: usize) -> Vec<u8> {
    let mut text = String::from("{\"messages\":[");
    for turn in 0..turns {
        let comma = if turn > 0 { "," } else { "" };
        let lines = format!("line {turn} of the file, with \\\"quotes\\\"\\n").repeat(200);
        write!(
            text,
            r#"{comma}{{"role":"assistant","content":[{{"type":"tool_use","id":"t{turn}","name":"Read","input":{{"file_path":"src/module_{turn}.py"}}}}]}},{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t{turn}","content":"{lines}"}}]}}"#
        )
        .unwrap();
    }
    text.push_str("]}");
    text.into_bytes()
}

/// The most that is held until there is a recipe, what is held then, and how long the context is.
fn held(data: &[u8]) -> (usize, usize, usize) {
    let rules = RuleSet::built_in(); // made once, and kept
    let before = HELD.get().0;
    HELD.set((before, before));
    let recipe = {
        let room = room_for(data);
        let conversation = Conversation::open(data, &room).unwrap();
        let settings = Settings { total: 200_000, limits: Limits::of_chars(2_000), ..Settings::default() };
        let carried = carry(&conversation, &Piece::ascii(""), &settings, rules, false).unwrap();
        Recipe::of(&carried.output, data)
    };
    let (now, most) = HELD.get();
    ((most - before).cast_unsigned(), (now - before).cast_unsigned(), recipe.len())
}

#[test]
fn little_is_held_while_a_context_is_written() {
    for turns in [10, 20, 60, 90] {
        let (_, left, size) = held(&body(turns));
        assert!(left < size / 10, "{turns} turns: {left} bytes beside {size}");
    }
}

#[test]
fn what_a_context_is_made_with_is_in_proportion_to_it() {
    for turns in [10, 20, 60, 90] {
        let (most, _, size) = held(&body(turns));
        assert!(most < size * 3 / 2, "{turns} turns: {most} bytes for {size}");
    }
}

#[test]
fn of_a_long_conversation_little_is_held_that_is_not_shown() {
    let turns = 4_000;
    let (most, _, size) = held(&body(turns));
    let messages = 2 * turns;
    assert!(most < size + 32 * messages, "{most} bytes for {size}");
}
