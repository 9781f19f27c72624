//! JSON: the values that all readers see, and documents that are scanned into them.
//!
//! A document is checked to the letter once, from end to end ([`grammar`], [`strings`], with the masks of `simd`). Its
//! [`nodes`] are made meanwhile; a [`scanned`] value decodes a text when it is asked for.

pub(crate) mod base64;
pub mod error;
pub mod grammar;
pub(crate) mod nodes;
pub mod scanned;
pub(crate) mod strings;
pub mod value;
pub mod write;
