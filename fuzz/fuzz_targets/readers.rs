//! Conversations in every format; see `reading.rs`.
//!
//! The first byte chooses the format that one of the messages must have, so that each reader has a corpus of its own;
//! with the first choice, any formats stand beside each other.

#![no_main]

#[path = "../reading.rs"]
mod reading;

use libfuzzer_sys::Corpus;

/// The formats by the names of their reports. A new one is a line at the end: the corpus goes by the numbers.
static FORMATS: &[&[&str]] =
    &[&[], &["anthropic"], &["bedrock"], &["openai-chat", "ollama"], &["codex"], &["gemini"], &["openai-responses"]];

libfuzzer_sys::fuzz_target!(|data: &[u8]| -> Corpus {
    let Some((choice, plan)) = data.split_first() else { return Corpus::Reject };
    reading::try_conversation(plan, FORMATS[usize::from(*choice) % FORMATS.len()])
});
