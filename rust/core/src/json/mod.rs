//! JSON: the values that the readers see, and documents that are scanned into nodes.

pub(crate) mod base64;
mod compact;
pub(crate) mod document;
pub mod error;
pub mod grammar;
mod name;
pub(crate) mod nodes;
pub(crate) mod quote;
pub mod scanned;
pub(crate) mod short;
pub(crate) mod spans;
pub(crate) mod strings;
pub mod value;
pub mod write;
