//! The Python binding: it extracts arguments, calls the core, and wraps the outcome. It has no logic of its own.
//! A module imports only from those declared before it (`.ci/rust_layers`).

mod records;
mod py_text;
mod py_value;
mod encodings;
mod policy;
mod errors;
mod bytes;
mod from_json;
mod unread;
mod text;
mod tokens;
mod blocks;
mod context;
mod inspection;
mod projection;
mod session_lines;
mod signs;
mod text_history;

use pyo3::prelude::*;

/// The kernels, with the names that they have in `toolcarry.fallback.kernels`.
#[pymodule]
mod _core {
    use pyo3::prelude::*;

    #[pymodule_init]
    #[allow(clippy::unnecessary_wraps)] // PyO3 asks for a result
    fn start(_module: &Bound<'_, PyModule>) -> PyResult<()> {
        toolcarry::formats::ask_for_signs(super::signs::signs);
        Ok(())
    }

    #[pymodule_export]
    use super::blocks::{deduplicate_tools, extract_tool_blocks};
    #[pymodule_export]
    use super::bytes::{has_many_values, split_body};
    #[pymodule_export]
    use super::context::{carry, carry_files, dialogue, explain, format_tool_context};
    #[pymodule_export]
    use super::inspection::{inspect, unread};
    #[pymodule_export]
    use super::projection::{are_plain, project, project_body, project_imported};
    #[pymodule_export]
    use super::session_lines::read_lines;
    #[pymodule_export]
    use super::text::{has_cut_word, has_side_effects, truncate};
    #[pymodule_export]
    use super::text_history::recount;
    #[pymodule_export]
    use super::tokens::{count_texts, count_tokens, message_tokens, resize_token_memo, truncate_tokens};
}
