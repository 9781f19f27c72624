//! Benchmarks of the core crate: `cargo bench -p toolcarry --bench carry`.
//!
//! The conversations are generated, and the same in every run. Each benchmark has a `memcpy` of the bytes of the
//! context for comparison: no context can be made faster.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)] // it fails by panicking

use std::fmt;

use bumpalo::Bump;
use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use serde_json::{Value, json};
use toolcarry::context::limits::Limits;
use toolcarry::context::policy::{Layout, NO_LIMIT, Settings};
use toolcarry::context::{Carried, carry};
use toolcarry::dedupe::rules::RuleSet;
use toolcarry::dedupe::shell::has_side_effects;
use toolcarry::input::Conversation;
use toolcarry::text::Width;
use toolcarry::text::piece::Piece;
use toolcarry::text::truncate::{Keep, cut};

fn main() {
    divan::main();
}

// Conversations

/// A conversation of `messages` messages; every other one is a result of 2,000 to 50,000 characters.
#[derive(Clone, Copy)]
struct Case {
    messages: usize,
    is_ascii: bool,
}

const CASES: [Case; 6] =
    [case(20, true), case(200, true), case(2_000, true), case(20, false), case(200, false), case(2_000, false)];

const fn case(messages: usize, is_ascii: bool) -> Case {
    Case { messages, is_ascii }
}

impl fmt::Display for Case {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.messages, if self.is_ascii { "ascii" } else { "wide" })
    }
}

const LINES: [&str; 5] = [
    "    let words: Vec<&str> = line.split_whitespace().collect();\n",
    "test parse::empty_input ... ok\n",
    "warning: unused variable: `index`\n",
    "\n",
    "src/main.rs:41:9: error[E0308]: mismatched types\n",
];
const WIDE_LINE: &str = "// h\u{e4}lt die L\u{e4}nge \u{2264} 80 \u{2014} sonst \u{201e}zu lang\u{201c}\n";

/// Pseudo-random numbers that are the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end
    }

    /// Text of `size` characters, or up to a line more.
    fn text(&mut self, size: usize, is_ascii: bool) -> String {
        let mut text = String::with_capacity(size + 100);
        while text.len() < size {
            let line = self.below(LINES.len() + usize::from(!is_ascii));
            text.push_str(LINES.get(line).unwrap_or(&WIDE_LINE));
        }
        text
    }
}

fn message(role: &str, block: &Value) -> Value {
    json!({"role": role, "content": [block]})
}

/// A conversation in bytes.
fn conversation(case: Case) -> Vec<u8> {
    let mut dice = Dice(1);
    let mut messages = Vec::with_capacity(case.messages);
    for number in 0..case.messages / 2 {
        let id = format!("toolu_{number:04}");
        let path = format!("src/module_{}.rs", dice.below(case.messages));
        let (name, input) = match dice.below(4) {
            0 => ("Read", json!({"file_path": path})),
            1 => ("Edit", json!({"file_path": path, "old_string": "a\n", "new_string": "b\n"})),
            2 => ("Grep", json!({"pattern": path})),
            _ => ("Bash", json!({"command": format!("cat {path}")})),
        };
        let size = 2_000 + dice.below(48_000);
        let content = dice.text(size, case.is_ascii);
        let call = json!({"type": "tool_use", "id": id, "name": name, "input": input});
        let result = json!({"type": "tool_result", "tool_use_id": id, "content": content});
        messages.push(message("assistant", &call));
        messages.push(message("user", &result));
    }
    serde_json::to_vec(&messages).unwrap()
}

// Carry

/// 2,000 characters per result, 200,000 in total.
fn bounded() -> Settings {
    Settings { total: 200_000, limits: Limits::of_chars(2_000), layout: Layout::Sections, ..Settings::default() }
}

fn unlimited() -> Settings {
    Settings { total: NO_LIMIT, ..Settings::default() }
}

fn context<'a>(body: &'a [u8], bump: &'a Bump, settings: &Settings) -> Carried<'a> {
    let messages = Conversation::open(body, bump).unwrap();
    carry(messages, &Piece::ascii(""), settings, RuleSet::built_in(), false).unwrap()
}

/// A buffer for an output in units of its width.
enum Room {
    One(Vec<u8>),
    Two(Vec<u16>),
}

impl Room {
    fn of(carried: &Carried<'_>) -> Self {
        match carried.output.width() {
            Width::Ascii | Width::Latin1 => Self::One(vec![0; carried.output.len()]),
            Width::Ucs2 => Self::Two(vec![0; carried.output.len()]),
            Width::Ucs4 => panic!("no conversation of this benchmark needs 4-byte units"),
        }
    }

    fn bytes(&self) -> BytesCount {
        BytesCount::new(match self {
            Self::One(units) => size_of_val(units.as_slice()),
            Self::Two(units) => size_of_val(units.as_slice()),
        })
    }

    fn write(&mut self, carried: &Carried<'_>) {
        match self {
            Self::One(units) => carried.output.write(units),
            Self::Two(units) => carried.output.write(units),
        }
    }

    fn copy_from(&mut self, other: &Self) {
        match (self, other) {
            (Self::One(to), Self::One(from)) => to.copy_from_slice(from),
            (Self::Two(to), Self::Two(from)) => to.copy_from_slice(from),
            _ => panic!("units of two widths"),
        }
    }

    fn to_utf8(&self) -> String {
        match self {
            Self::One(units) => units.iter().map(|unit| char::from(*unit)).collect(),
            Self::Two(units) => String::from_utf16(units).unwrap(),
        }
    }
}

/// Time the plan of a context: everything except writing it, including the scan of the bytes.
fn bench_plan(bencher: Bencher<'_, '_>, case: Case, settings: &Settings) {
    let body = conversation(case);
    let mut bump = Bump::new();
    let bytes = Room::of(&context(&body, &bump, settings)).bytes();
    bencher.counter(bytes).bench_local(|| {
        bump.reset();
        context(black_box(&body), &bump, settings).counts
    });
}

/// Time the writing of a context into an existing buffer.
fn bench_write(bencher: Bencher<'_, '_>, case: Case, settings: &Settings) {
    let (body, bump) = (conversation(case), Bump::new());
    let carried = context(&body, &bump, settings);
    let mut room = Room::of(&carried);
    room.write(&carried);
    assert_eq!(room.to_utf8(), carried.output.to_utf8());
    bencher.counter(room.bytes()).bench_local(|| black_box(&mut room).write(black_box(&carried)));
}

/// Time a copy of the same number of bytes.
fn bench_memcpy(bencher: Bencher<'_, '_>, case: Case, settings: &Settings) {
    let (body, bump) = (conversation(case), Bump::new());
    let carried = context(&body, &bump, settings);
    let (mut from, mut to) = (Room::of(&carried), Room::of(&carried));
    from.write(&carried);
    to.copy_from(&from);
    assert_eq!(to.to_utf8(), carried.output.to_utf8());
    bencher.counter(from.bytes()).bench_local(|| black_box(&mut to).copy_from(black_box(&from)));
}

#[divan::bench_group]
mod within_2_000_of_200_000 {
    use super::{Bencher, CASES, Case, bench_memcpy, bench_plan, bench_write, bounded};

    #[divan::bench(args = CASES)]
    fn plan(bencher: Bencher<'_, '_>, case: Case) {
        bench_plan(bencher, case, &bounded());
    }

    #[divan::bench(args = CASES)]
    fn write(bencher: Bencher<'_, '_>, case: Case) {
        bench_write(bencher, case, &bounded());
    }

    #[divan::bench(args = CASES)]
    fn memcpy(bencher: Bencher<'_, '_>, case: Case) {
        bench_memcpy(bencher, case, &bounded());
    }
}

#[divan::bench_group]
mod without_limits {
    use super::{Bencher, CASES, Case, bench_memcpy, bench_plan, bench_write, unlimited};

    #[divan::bench(args = CASES)]
    fn plan(bencher: Bencher<'_, '_>, case: Case) {
        bench_plan(bencher, case, &unlimited());
    }

    #[divan::bench(args = CASES)]
    fn write(bencher: Bencher<'_, '_>, case: Case) {
        bench_write(bencher, case, &unlimited());
    }

    #[divan::bench(args = CASES)]
    fn memcpy(bencher: Bencher<'_, '_>, case: Case) {
        bench_memcpy(bencher, case, &unlimited());
    }
}

// Steps

/// The check of a whole document: the part of a plan whose time grows with the document.
#[divan::bench(args = CASES)]
fn scan(bencher: Bencher<'_, '_>, case: Case) {
    let (body, bump) = (conversation(case), Bump::new());
    bencher.counter(BytesCount::of_slice(&body)).bench_local(|| Conversation::open(black_box(&body), &bump).is_ok());
}

/// Command lines from a single word to nested scripts.
const COMMANDS: [&str; 4] = [
    "ls",
    "git diff HEAD~1 | head -120",
    "cd /home/user/project && CI=1 cargo test --all -- --nocapture 2>&1 | tail -n 50",
    "bash -lc 'for f in src/*.py; do grep -n TODO \"$f\" || true; done'",
];

#[divan::bench(args = COMMANDS)]
fn side_effects(command: &str) -> bool {
    has_side_effects(black_box(command))
}

const SIDES: [Keep; 3] = [Keep::Head, Keep::Tail, Keep::Ends];

#[divan::bench(args = SIDES)]
fn cut_ascii(bencher: Bencher<'_, '_>, side: Keep) {
    let text = Dice(2).text(50_000, true).into_bytes();
    bencher.bench_local(|| cut(black_box(&text), 2_000, side));
}

/// A cut between clusters of several code points.
#[divan::bench(args = SIDES)]
fn cut_clusters(bencher: Bencher<'_, '_>, side: Keep) {
    let text: Vec<u16> = "e\u{301}\u{20ac}\r\n".repeat(10_000).encode_utf16().collect();
    bencher.bench_local(|| cut(black_box(&text), 2_011, side));
}
