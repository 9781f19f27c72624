//! The parts of a stored history: [`hashing`] of messages, the lines of session files ([`session_lines`]), and deltas
//! of metadata ([`metadata_delta`]).

pub mod hashing;
pub mod metadata_delta;
pub mod session_lines;
