//! Conversations with Anthropic's blocks; see `reading.rs`.

#![no_main]

#[path = "../reading.rs"]
mod reading;

libfuzzer_sys::fuzz_target!(|data: &[u8]| -> libfuzzer_sys::Corpus { reading::try_conversation(data, &["anthropic"]) });
