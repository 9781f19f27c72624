//! What a history of conversations is stored by: hashes of messages, the lines of session files, deltas of metadata.

pub mod hashing;
pub mod metadata_delta;
pub mod session_lines;
