//! JSON values, as all readers see them, and the scanner that makes them from documents.
//!
//! A document is checked strictly and once, from end to end ([`grammar`], [`strings`], with the masks of `simd`). The
//! same pass ([`parse`]) builds its [`nodes`]; a [`scanned`] value decodes a string when it is asked for.

pub(crate) mod base64;
pub mod error;
pub mod grammar;
pub(crate) mod nodes;
pub(crate) mod parse;
pub mod scanned;
pub(crate) mod strings;
pub mod value;
pub mod write;
