//! The total is a hard limit: on generated conversations, no context is longer, and nothing panics.

use crate::wire::nonsense::{nonsense, nonsense_message};
use crate::wire::{Dice, Document, bash, edit, failed_bash, json_of, open_call, piece, read, result, turn, user};
use serde_json::{Value, json};
use toolcarry::context::limits::Limits;
use toolcarry::context::policy::{Layout, NO_LIMIT, Settings};
use toolcarry::context::{Carried, carry as run};
use toolcarry::dedupe::rules::RuleSet;
use toolcarry::input::Conversation;
use toolcarry::input::messages::{Halt, List};
use toolcarry::json::scanned::Scanned;
use toolcarry::text::Width;
use toolcarry::text::truncate::Keep;

const OPEN: &str = "[CONTEXT FROM PREVIOUS SESSION]\n\n";
const CLOSE: &str = "[/CONTEXT FROM PREVIOUS SESSION]";

const LINES: [&str; 9] = [
    "fn main() { println!(\"ready\"); }\n",
    "3 passed in 0.04s\r\n",
    "\u{1b}[31merror\u{1b}[0m: no such file\n",
    "```\n",
    "~~~~~\n",
    "[/CONTEXT FROM PREVIOUS SESSION]\n",
    "caf\u{e9} e\u{301}\n",
    "\u{20ac} \u{5e9}\u{5dc}\n",
    "\u{1f468}\u{200d}\u{1f469} \u{202e}",
];
const PATHS: [&str; 4] = ["a.py", "src/lib.rs", "no`te`s.md", "\u{1f600}"];
const COMMANDS: [&str; 4] = ["ls", "pytest -q", "git commit -m x", "cat <<E\n```\nE"];

fn text(dice: &mut Dice, most: usize) -> String {
    (0..dice.below(most + 1)).map(|_| dice.one_of(&LINES)).collect()
}

/// A conversation of `turns` turns, with all kinds of tools and texts.
fn conversation(seed: u64, turns: usize) -> Vec<Value> {
    let mut dice = Dice(seed);
    (0..turns).flat_map(|number| one_turn(&mut dice, &format!("t{number}"))).collect()
}

fn one_turn(dice: &mut Dice, id: &str) -> Vec<Value> {
    let (path, command) = (dice.one_of(&PATHS), dice.one_of(&COMMANDS));
    let content = text(dice, 12);
    match dice.below(7) {
        0 => read(id, path, &content),
        1 => edit(id, path, &content, &text(dice, 4)),
        2 => bash(id, command, &content),
        3 => failed_bash(id, command),
        4 => open_call(id, "Bash", &json!({"command": command})),
        5 => turn(id, "Grep", &json!({"pattern": content}), path),
        _ => turn("", "Grep", &json!({}), &content),
    }
}

fn in_sections() -> Settings {
    Settings { layout: Layout::Sections, ..Settings::default() }
}

fn carry<'a>(messages: &'a Document, summary: &str, settings: &Settings) -> Carried<'a> {
    run(messages.open(), &piece(summary), settings, RuleSet::built_in(), true).unwrap()
}

/// Check the properties that hold for every context.
fn check(messages: &Document, summary: &str, settings: &Settings) {
    let carried = carry(messages, summary, settings);
    let text = carried.output.to_utf8();
    let length = text.chars().count();
    let case = format!("{settings:?}\n{text}");
    assert!(length <= settings.total, "{length} characters: {case}");
    assert_eq!(carried.counts.chars_after, length, "{case}");
    assert_eq!(carried.output.len(), length, "{case}");
    if !text.is_empty() {
        assert!(text.starts_with(OPEN) && text.ends_with(CLOSE), "{case}");
        assert_eq!((text.matches(OPEN.trim()).count(), text.matches(CLOSE).count()), (1, 1), "{case}");
    }
    let mut ages: Vec<usize> = carried.trace.iter().map(|(age, _, _)| *age).collect();
    ages.sort_unstable();
    assert!(ages.windows(2).all(|pair| pair[0] < pair[1]), "two fates: {ages:?}\n{case}");
    let counts = carried.counts;
    let sum = |reasons: &[(&str, usize)]| reasons.iter().map(|(_, count)| count).sum::<usize>();
    let known = counts.shown + counts.left_out + sum(&counts.superseded) + sum(&counts.excluded);
    assert_eq!(known, ages.len(), "{case}");
    assert!(!counts.walked_all || known == counts.walked, "{known} of {}: {case}", counts.walked);
    assert!(counts.cut <= counts.shown, "{case}");
}

#[test]
fn no_context_is_longer_than_its_total() {
    for (seed, turns) in [(1, 0), (2, 1), (3, 4), (4, 12), (5, 30)] {
        let messages = json_of(&conversation(seed, turns));
        for total in (0..300).chain((300..4_000).step_by(23)) {
            check(&messages, "", &Settings { total, ..in_sections() });
        }
    }
}

#[test]
fn no_context_with_a_summary_is_longer_than_its_total() {
    let messages = json_of(&conversation(6, 8));
    for summary in ["S", "# Long\n", "```\n\u{20ac}\n", "<!-- open\n"] {
        for count in [1, 30] {
            for total in (0..400).step_by(3).chain((400..3_000).step_by(97)) {
                check(&messages, &summary.repeat(count), &Settings { total, ..in_sections() });
            }
        }
    }
}

#[test]
fn the_total_holds_under_every_setting() {
    let messages = json_of(&conversation(7, 20));
    for total in [100, 250, 700, 2_500, 60_000] {
        for limit in [0, 1, 19, 20, 21, 60, 200, NO_LIMIT] {
            for keep in [None, Some(Keep::Head), Some(Keep::Tail), Some(Keep::Ends)] {
                for framing in [true, false] {
                    check(
                        &messages,
                        "Done.",
                        &Settings { total, limits: Limits::of_chars(limit), keep, framing, ..in_sections() },
                    );
                }
            }
        }
    }
}

#[test]
fn the_total_is_exact_to_the_character() {
    for seed in 10..30 {
        let mut dice = Dice(seed);
        let runs = (0..8).flat_map(|n| bash(&format!("t{n}"), &format!("run {n}"), &text(&mut dice, 12)));
        let messages = json_of(&runs.collect::<Vec<Value>>());
        let within = |total| carry(&messages, "Done.", &Settings { total, ..in_sections() }).output.to_utf8();
        let whole = within(NO_LIMIT);
        let length = whole.chars().count();
        assert_eq!(within(length), whole);
        assert_ne!(within(length - 1), whole);
    }
}

/// While older runs may follow, each heading with a count reserves a character for the `+` after it.
#[test]
fn a_count_reserves_one_character() {
    let messages = json_of(&[bash("t1", "ls", "a"), bash("t2", "ls", "b")].concat());
    let within = |total| carry(&messages, "", &Settings { total, ..in_sections() }).output.to_utf8();
    let whole = within(NO_LIMIT);
    assert!(whole.contains("### ls (latest of 2 runs)\n"));
    assert_eq!(within(whole.len() + 1), whole);
    assert!(!within(whole.len()).contains("latest"));
}

#[test]
fn a_count_before_notes_reserves_one_character() {
    let messages = json_of(&[failed_bash("t1", "make"), failed_bash("t2", "make")].concat());
    let within = |total| carry(&messages, "", &Settings { total, ..in_sections() }).output.to_utf8();
    let whole = within(NO_LIMIT);
    assert!(whole.contains("### make (latest of 2 runs; failed)\n"));
    assert_eq!(within(whole.len() + 1), whole);
    assert!(!within(whole.len()).contains("latest"));
}

/// Blocks after the total was spent are counted only if the number fits into the room of the `+`.
#[test]
fn a_later_count_takes_no_more_room() {
    for (late, heading) in [(7, "### ls (latest of 9 runs)\n"), (98, "### ls (latest of 2+ runs)\n")] {
        let older = (0..late).flat_map(|n| bash(&format!("t{n}"), "ls", "a"));
        let long = bash("long", "cat", &"x".repeat(2_000));
        let newer = [bash("u1", "ls", "b"), bash("u2", "ls", "c")].concat();
        let messages = json_of(&older.chain(long).chain(newer).collect::<Vec<Value>>());
        let carried = carry(&messages, "", &Settings { total: 600, ..in_sections() });
        let text = carried.output.to_utf8();
        assert!(carried.counts.walked_all && text.contains(heading), "{late}: {text}");
        assert!(text.chars().count() <= 600);
    }
}

#[test]
fn the_newest_are_shown() {
    let messages: Vec<Value> =
        (0..6).flat_map(|n| bash(&format!("t{n}"), &format!("run {n}"), &n.to_string().repeat(200))).collect();
    let messages = json_of(&messages);
    let carried = carry(&messages, "", &Settings { total: 1_000, ..in_sections() });
    let text = carried.output.to_utf8();
    let shown: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("### ")).collect();
    assert_eq!(shown, ["run 2", "run 3", "run 4", "run 5"]);
    assert_eq!(carried.counts.cut, 1);
    assert!(text.contains(&"5".repeat(200)) && !text.contains(&"2".repeat(200)));
}

#[test]
fn the_walk_stops_when_the_total_is_spent() {
    let messages = json_of(&conversation(8, 400));
    let carried = carry(&messages, "", &Settings { total: 500, ..in_sections() });
    assert!(!carried.counts.walked_all);
    assert!(carried.counts.walked < 200, "{} walked", carried.counts.walked);
}

#[test]
fn the_output_is_as_wide_as_the_text_in_it() {
    let messages = json_of(&[read("t1", "a", "\u{1f600}"), read("t2", "b", &"x".repeat(900))].concat());
    let narrow = carry(&messages, "", &Settings { total: 400, ..in_sections() });
    assert_eq!(narrow.output.width(), Width::Ascii);
    let wide = carry(&messages, "", &in_sections());
    assert_eq!(wide.output.width(), Width::Ucs4);
}

#[test]
fn the_counts_cover_every_block() {
    let twice = [bash("t1", "ls", "12345"), bash("t2", "ls", "678")].concat();
    let alone = [user(&[result("gone", "90")]), user(&[result("t2", "second")])];
    let messages =
        json_of(&[twice, alone.to_vec(), failed_bash("t3", "make"), open_call("t4", "Grep", &json!({}))].concat());
    let counts = carry(&messages, "", &in_sections()).counts;
    assert_eq!((counts.walked, counts.walked_all, counts.shown, counts.cut, counts.left_out), (5, true, 4, 0, 0));
    assert_eq!((counts.orphan_calls, counts.orphan_results, counts.duplicate_results), (1, 1, 1));
    assert_eq!((counts.errors, counts.chars_before, counts.repeated_records), (1, 12, 0));
    assert_eq!(counts.superseded, [("later_run", 1)]);
    assert!(counts.excluded.is_empty() && !counts.summary_cut && !counts.budget_too_small);
}

#[test]
fn nonsense_neither_panics_nor_exceeds_the_total() {
    let mut dice = Dice(9);
    let mut checked = 0;
    for _ in 0..3_000 {
        let messages: Vec<Value> = (0..dice.below(8)).map(|_| nonsense_message(&mut dice)).collect();
        let (total, limit) = (dice.below(2_000), dice.one_of(&[0, 30, NO_LIMIT]));
        let settings = Settings { total, limits: Limits::of_chars(limit), ..in_sections() };
        // A list of lists of objects holds conversations, and is refused.
        let document = Document::new(serde_json::to_vec(&json!({"messages": messages})).unwrap());
        let found = run(document.open(), &piece(""), &settings, RuleSet::built_in(), true);
        if !matches!(found, Err(Halt::NeedsImport)) {
            check(&document, "", &settings);
            checked += 1;
        }
    }
    assert!(checked > 500, "only {checked} conversations are read without an importer");
}

#[test]
fn any_json_has_an_answer() {
    let mut dice = Dice(11);
    for _ in 0..3_000 {
        let document = Document::new(nonsense(&mut dice, 6).to_string());
        let messages = List(Scanned::parse(&document.bytes, &document.bump).unwrap());
        let _ = run(messages, &piece("S"), &in_sections(), RuleSet::built_in(), true);
        if let Ok(messages) = Conversation::open(&document.bytes, &document.bump) {
            let _ = run(messages, &piece("S"), &in_sections(), RuleSet::built_in(), true);
        }
    }
}
