//! The jobs that read a whole session (`inspect` and `dialogue`), and the errors that end every job.

use crate::wire::lines::{A, B, REQUEST};
use crate::wire::spellings::{spellings, with_result};
use crate::wire::{Document, assistant, bash, call, failure, json_of, result, user};
use serde_json::{Value as Parsed, json};
use toolcarry::context::carry;
use toolcarry::context::dialogue::dialogue;
use toolcarry::context::policy::Settings;
use toolcarry::dedupe::rules::RuleSet;
use toolcarry::input::messages::Halt;
use toolcarry::inspect::{Inspection, ToolSize, inspect};
use toolcarry::json::error::{Fault, Refused};
use toolcarry::pairing::Unread;
use toolcarry::text::Text;
use toolcarry::text::piece::Piece;

fn record(uuid: &str, parent: &str, message: &Parsed) -> Parsed {
    json!({"uuid": uuid, "parentUuid": parent, "type": message["role"], "message": message})
}

fn said(role: &str, text: &str) -> Parsed {
    json!({"role": role, "content": text})
}

/// A question, an abandoned branch and the active one, a record that is written twice, and a line that is not a record.
fn session() -> Document {
    let read = |id: &str| call(id, "Read", &json!({"file_path": "a.py"}));
    let records = [
        record("1", "", &said("user", "Look.\n[/USER]\u{20ac}")),
        record("2", "1", &assistant(&[read("left")])),
        record("3", "1", &assistant(&[json!({"type": "text", "text": "\nI do."}), read("r1")])),
        record("4", "3", &user(&[result("r1", "caf\u{e9}")])),
        record("4", "3", &user(&[result("r1", "caf\u{e9}")])),
        record("5", "4", &assistant(&[read("r2"), call("b1", "Bash", &json!({"command": "ls"}))])),
        record("6", "5", &user(&[result("r2", "\u{1f600}!"), failure("b1", "no")])),
        record("7", "6", &said("assistant", "Done.")),
        record("8", "7", &said("user", " \n")),
    ];
    let mut lines: Vec<String> = records.iter().map(Parsed::to_string).collect();
    lines.insert(2, "a line that broke".to_owned());
    Document::new(lines.join("\n"))
}

#[test]
fn inspect_surveys_a_session() {
    let document = session();
    let messages = document.open();
    let found = inspect(&messages).unwrap();
    let bash = ToolSize { calls: 1, results: 1, errors: 1, bytes: 2, chars: 2 };
    let read = ToolSize { calls: 3, results: 2, errors: 0, bytes: 10, chars: 6 };
    let expected = Inspection {
        shape: "claude-code",
        messages: 9,
        orphan_calls: 1,
        repeated_records: 1,
        duplicates: 1,
        other_branch_blocks: 1,
        unread: Unread { total: 9, ..Unread::default() },
        tools: vec![(Text::ascii("Read").into(), read), (Text::ascii("Bash").into(), bash)],
        ..Inspection::default()
    };
    assert_eq!(found, expected);
    assert_eq!(messages.skipped_lines(), [3]);
}

#[test]
fn inspect_reports_the_shape_of_a_body() {
    let anthropic = bash("t1", "ls", "x");
    let openai = vec![json!({"role": "tool", "tool_call_id": "c1", "content": "x"})];
    let ollama = vec![json!({"role": "tool", "tool_name": "f", "content": "x"})];
    let mixed = [anthropic.clone(), openai.clone()].concat();
    let cases = [
        (anthropic, "anthropic", 2),
        (openai, "openai-chat", 1),
        (ollama, "ollama", 1),
        (mixed, "mixed", 3),
        (vec![said("user", "hi")], "unknown", 1),
        (vec![], "unknown", 0),
    ];
    for (messages, shape, count) in cases {
        let document = json_of(&messages);
        let found = inspect(document.open()).unwrap();
        assert_eq!((found.shape, found.messages), (shape, count));
    }
}

#[test]
fn inspect_reports_the_size_of_texts_in_bytes() {
    let text = "\u{e9}\u{20ac}\u{1f600}\"\n".repeat(100);
    for written in spellings(&text) {
        let document = Document::new(with_result(&written));
        let found = inspect(document.open()).unwrap();
        let size = ToolSize { calls: 1, results: 1, errors: 0, bytes: text.len(), chars: 500 };
        assert_eq!(found.tools, [(Text::ascii("Bash").into(), size)]);
    }
}

#[test]
fn dialogue_has_the_texts_of_the_active_branch() {
    let document = session();
    let messages = document.open();
    let expected = "[USER]\nLook.\n[\\/USER]\u{20ac}\n[/USER]\n\n\
                    [ASSISTANT]\nI do.\n[/ASSISTANT]\n\n\
                    [ASSISTANT]\nDone.\n[/ASSISTANT]";
    assert_eq!(dialogue(&messages).unwrap().to_utf8(), expected);
    assert_eq!(messages.skipped_lines(), [3]);
}

#[test]
fn a_message_that_is_not_an_object_ends_every_job() {
    let document = Document::new("[3, {}]");
    let messages = document.open();
    let halt = Halt::NotAnObject { number: 0, type_name: "int".to_owned() };
    assert_eq!(dialogue(&messages).unwrap_err(), halt);
    assert_eq!(inspect(&messages).unwrap_err(), halt);
    let carried = carry(&messages, &Piece::ascii(""), &Settings::default(), RuleSet::built_in(), false);
    assert_eq!(carried.unwrap_err(), halt);
}

#[test]
fn a_request_among_records_ends_every_job() {
    let document = Document::new(format!("{A}\n{REQUEST}\n{B}"));
    let messages = document.open();
    let halt = Halt::Source(Refused { at: A.len() + 1, fault: Fault::Request });
    assert_eq!(dialogue(&messages).unwrap_err(), halt);
    assert_eq!(inspect(&messages).unwrap_err(), halt);
}
