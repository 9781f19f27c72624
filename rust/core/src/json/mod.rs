//! JSON: the values that the readers see, and documents that are scanned into nodes.

pub(crate) mod base64;
pub mod error;
pub mod grammar;
pub(crate) mod nodes;
pub mod scanned;
pub(crate) mod strings;
pub mod value;
pub mod write;
