//! The Python binding: extract, call, wrap. No logic.

mod arena;
mod blocks;
mod bytes;
mod carry_body;
mod commits;
mod context;
mod errors;
mod files;
mod folding;
mod history;
mod objects;
mod parts;
mod project;
mod projected;
mod recount;
mod settings;
mod strings;
mod survey;
mod tokens;

use pyo3::prelude::*;

/// The kernels, under the names of `toolcarry._pure.kernels`.
#[pymodule]
mod _core {
    #[pymodule_export]
    use super::blocks::{deduplicate_tools, extract_tool_blocks, extract_tool_blocks_body};
    #[pymodule_export]
    use super::carry_body::carry_body;
    #[pymodule_export]
    use super::commits::commits_of;
    #[pymodule_export]
    use super::context::{carry, explain, format_tool_context};
    #[pymodule_export]
    use super::files::carry_files;
    #[pymodule_export]
    use super::folding::unfold;
    #[pymodule_export]
    use super::history::{has_cut_word, hash_contents, link_rows, prepare_parts, prove_rows};
    #[pymodule_export]
    use super::parts::read_lines;
    #[pymodule_export]
    use super::project::{project, project_body};
    #[pymodule_export]
    use super::recount::{recount, recount_body};
    #[pymodule_export]
    use super::strings::{has_side_effects, truncate};
    #[pymodule_export]
    use super::survey::{dialogue, dialogue_body, inspect, inspect_body};
    #[pymodule_export]
    use super::tokens::{
        count_texts, count_tokens, message_tokens, message_tokens_body, resize_token_memo, truncate_tokens,
    };
}
