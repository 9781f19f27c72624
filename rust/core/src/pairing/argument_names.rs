//! The names of tool arguments, from `_data/tool_arguments.json`, for the steps that compare and show edits.

use crate::json::value::Key;

include!(concat!(env!("OUT_DIR"), "/tool_arguments.rs"));
