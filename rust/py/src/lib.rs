//! The Python binding: extract, call, wrap. No logic.

mod arena;
mod blocks;
mod context;
mod errors;
mod settings;
mod strings;

use pyo3::prelude::*;

/// The kernels, under the names of `toolcarry._pure`.
#[pymodule]
mod _core {
    #[pymodule_export]
    use super::blocks::{deduplicate_tools, extract_tool_blocks, survey};
    #[pymodule_export]
    use super::context::{carry, explain, format_tool_context};
    #[pymodule_export]
    use super::strings::{has_side_effects, truncate};
}
