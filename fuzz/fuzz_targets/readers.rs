//! Conversations in every format; see `reading.rs`.
//!
//! The first byte chooses the format that one of the messages must have, so that each reader has its own corpus; with
//! the first choice, any formats may be mixed.

#![no_main]

#[path = "../documents.rs"]
mod documents;
#[path = "../reading.rs"]
mod reading;

use libfuzzer_sys::Corpus;

/// The formats, by their names in reports. Add new ones at the end, because the corpus refers to them by number.
static FORMATS: &[&[&str]] =
    &[&[], &["anthropic"], &["bedrock"], &["openai-chat", "ollama"], &["codex"], &["gemini"], &["openai-responses"]];

libfuzzer_sys::fuzz_target!(|data: &[u8]| -> Corpus {
    let Some((choice, plan)) = data.split_first() else { return Corpus::Reject };
    reading::try_conversation(plan, FORMATS[usize::from(*choice) % FORMATS.len()])
});
