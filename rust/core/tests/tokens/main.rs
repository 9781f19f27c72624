//! Counting and cutting by tokens.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)] // a test fails by panicking

mod characters;
mod cuts;
mod odd;
mod peer;
mod random;
mod same;
mod texts;
