//! The built-in rules: which tools read, edit and run commands, and by which argument they are told apart.
//! The twin is `toolcarry/rules.py`.

use crate::rules::{KeepBlock, Kind, Rule, RuleKey};
use crate::text::Text;

const READ_TOOLS: [&str; 9] = [
    "read",
    "read_file",
    "readfile",
    "view",
    "open_file",
    "cat_file",
    "notebookread",
    "str_replace_based_edit_tool:view",
    "str_replace_editor:view",
];
const EDIT_TOOLS: [&str; 16] = [
    "edit",
    "multiedit",
    "write",
    "write_file",
    "write_to_file",
    "create_file",
    "edit_file",
    "replace_in_file",
    "apply_diff",
    "notebookedit",
    "str_replace_based_edit_tool:create",
    "str_replace_based_edit_tool:str_replace",
    "str_replace_based_edit_tool:insert",
    "str_replace_editor:create",
    "str_replace_editor:str_replace",
    "str_replace_editor:insert",
];
const COMMAND_TOOLS: [&str; 9] = [
    "bash",
    "shell",
    "execute_bash",
    "execute_command",
    "run_terminal_cmd",
    "run_shell_command",
    "exec_command",
    "local_shell",
    "terminal",
];

/// The built-in rules.
#[must_use]
pub fn default_rules() -> Vec<Rule> {
    let rule = |tools: &[&str], kind, key: &[&str]| Rule {
        tools: tools.iter().map(|tool| (*tool).to_owned()).collect(),
        kind,
        key: key.iter().map(|name| RuleKey::new(Text::ascii(name))).collect(),
        keep: KeepBlock::Last,
        max_result_chars: None,
    };
    let path = ["file_path", "path", "filePath", "target_file", "notebook_path", "filename"];
    vec![
        rule(&READ_TOOLS, Kind::Read, &path),
        rule(&EDIT_TOOLS, Kind::Edit, &path),
        rule(&COMMAND_TOOLS, Kind::Command, &["command", "cmd"]),
    ]
}
