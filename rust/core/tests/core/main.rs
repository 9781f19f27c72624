//! Tests of the core's public functions, in one program: it is linked once. `memory` replaces the allocator, so it is another.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)] // a test fails by panicking

mod budget;
mod clean;
mod dedupe;
mod faults;
mod fences;
mod golden;
mod jobs;
mod pair;
mod records;
mod scan;
mod session_files;
mod summary;
mod superseded_by;
mod text;
mod windows;
mod wire;
