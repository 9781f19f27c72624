//! Make Rust constants of the tables that both backends use, `python/toolcarry/_data/*.json`, and of the records of
//! destinations, `python/toolcarry/_data/destinations/*.toml`; and a struct of the rules in `python/toolcarry/_data/rules.json`.
//!
//! Each table becomes a file of constants, which the module that uses it includes (`include!(concat!(env!("OUT_DIR"),
//! "/shell.rs"))`). A table therefore costs nothing at run time, it can be used in patterns and other constants, and
//! data of the wrong shape fail the build instead of a user's program. Parsing the files at first use would need a lock
//! and an error path for every table, and the readers use some tables for every part of a message.

mod destinations;
mod shape;

use std::env;
use std::error::Error;
use std::fs;
use std::path::Path;

use serde_json::{Map, Value};

use destinations::Rules;
use shape::Shape::{self, Flag, Key, Keys, List, Map as Pairs, Number, Record, Text, Texts, Variant};
use shape::constants_of;

const FOLDER: &str = "../../python/toolcarry/_data";

/// The options of a program.
const SPEC: Shape =
    Record("Spec", &[("valued", Text), ("attached", Text), ("names", Texts), ("groups", Texts), ("files", Texts)]);

/// The words by which a line is recognised.
const WORDS: Shape = Record("Words", &[("starts", Texts), ("ends", Texts), ("parts", Texts)]);

/// The text before and after an exit code or a message.
const FRAME: Shape = Record("Frame", &[("start", Text), ("end", Text)]);

/// The headings of a hand-over's sections, and what stands for an answer that is missing.
const HEADINGS: Shape =
    Record("Headings", &[("plan", Text), ("failures", Text), ("ledger", Text), ("steps", Text), ("unanswered", Text)]);

/// The beginning of a message.
const START: Shape = Record("Start", &[("start", Text)]);

/// The members of all tables, with their shapes.
const TABLES: &[(&str, &[(&str, Shape)])] = &[
    ("languages", &[("extensions", Pairs(&Text))]),
    (
        "default_rules",
        &[(
            "rules",
            List(&Record(
                "BuiltIn",
                &[("tools", Texts), ("kind", Variant("Kind")), ("key", Texts), ("keep", Variant("KeepBlock"))],
            )),
        )],
    ),
    (
        "shorten",
        &[
            ("errors", Texts),
            ("read_by_code", Texts),
            ("diff_headers", Texts),
            ("searches", Texts),
            ("listings", Texts),
            (
                "kinds",
                List(&Record(
                    "TextKind",
                    &[
                        ("name", Text),
                        ("signs", Texts),
                        ("commands", Texts),
                        ("weak_signs", Texts),
                        ("folded", WORDS),
                        ("important", WORDS),
                        ("next", WORDS),
                        ("before", Number),
                        ("after", Number),
                        ("is_similar", Flag),
                        ("label", Text),
                    ],
                )),
            ),
        ],
    ),
    (
        "documents",
        &[
            ("lists", Keys),
            ("request_lists", Keys),
            ("message_keys", Keys),
            ("message_records", Texts),
            ("answer_keys", Keys),
            ("continued_paths", List(&Keys)),
            ("model_keys", Keys),
            ("imported_whole", List(&Record("DocumentSign", &[("key", Key), ("value", Text)]))),
        ],
    ),
    (
        "failures",
        &[
            ("asides", Texts),
            ("code_keys", Keys),
            ("error_keys", Keys),
            ("exits", List(&FRAME)),
            ("explaining_keys", Texts),
            ("false_keys", Keys),
            ("labels", List(&START)),
            ("mark", Text),
            ("reasons", Texts),
            ("shell_endings", Texts),
            ("shell_starts", Texts),
            ("shells", Texts),
            ("silences", Texts),
            ("starts", List(&START)),
            ("status_key", Key),
            ("statuses", Texts),
            ("traceback", Text),
            ("true_keys", Keys),
            ("wrappers", List(&FRAME)),
        ],
    ),
    (
        "hand_over",
        &[
            ("headings", HEADINGS),
            ("tools", Pairs(&Texts)),
            ("item_texts", Keys),
            ("item_states", Keys),
            ("done", Texts),
            ("active", Texts),
            ("dropped", Texts),
            ("parts_of_plan", Texts),
            ("path_keys", Keys),
            ("old_keys", Keys),
            ("new_keys", Keys),
            ("file_text_keys", Keys),
            ("text_keys", Keys),
            ("command_keys", Keys),
            ("query_keys", Keys),
            ("filter_keys", Keys),
            ("everywhere_keys", Keys),
            ("line_keys", Keys),
            ("rejections", Texts),
            ("said_after", Texts),
            ("said_before", Texts),
            ("interruptions", Texts),
            ("acknowledged", Texts),
            ("wrappers", List(&Texts)),
            ("envelope_texts", Keys),
            ("envelope_asides", Texts),
            ("verdicts", Texts),
            ("part_keys", Keys),
            ("exit_keys", Keys),
            ("client_texts", Texts),
            ("user_tags", Texts),
            ("command_tags", Texts),
            ("controls", Texts),
            ("client_lines", Texts),
            ("progress", Texts),
            ("noise", Texts),
            ("headers", Texts),
            ("closings", Texts),
            ("own_folders", Texts),
            ("more_notes", Texts),
            ("footers", Texts),
            ("rules", Texts),
            ("moving", Texts),
            ("records", Texts),
            ("remote", Texts),
            ("resets", Texts),
            ("new_branch", Texts),
            ("listed", Texts),
            ("unnamed", Texts),
            ("writers", Texts),
            ("terminal_keys", Texts),
            ("homes", Texts),
            ("redirections", Texts),
            ("counted", Texts),
            ("search_marks", Texts),
            ("replace_marks", Texts),
            ("task_keys", Keys),
            ("probes", Texts),
            ("listers", Texts),
            ("file_listers", Texts),
            ("folder_marks", Texts),
            ("changing", Texts),
            ("checkouts", Texts),
            ("viewers", Texts),
            ("views", Texts),
            ("unchanged", Texts),
            ("formatters", Texts),
            ("rewritten", Texts),
            ("with_subcommands", Texts),
            ("interpreters", Texts),
            ("runners", Texts),
            ("single", Texts),
            ("misuses", Texts),
            ("compiling", Texts),
            ("running", Texts),
            ("locators", Texts),
            ("separators", Texts),
            ("script_runners", Texts),
            ("git_values", Texts),
            ("prefixes", Texts),
            ("lasting", Texts),
            ("failures", Texts),
            ("parse_errors", Texts),
            ("errors", Texts),
            ("error_starts", Texts),
            ("asides", Texts),
            ("passes", Texts),
            ("outline", Texts),
        ],
    ),
    (
        "media",
        &[
            ("data_keys", Keys),
            ("file_keys", Keys),
            ("file_parts", Texts),
            ("files", Keys),
            ("labels", Texts),
            ("media_parts", Texts),
            ("media_type_keys", Keys),
            ("opaque_keys", Keys),
            ("signatures", Pairs(&Text)),
            ("untyped_media", Keys),
            ("url_keys", Keys),
        ],
    ),
    (
        "parts",
        &[
            ("answer_keys", Keys),
            ("aside_keys", Keys),
            ("attached_parts", Texts),
            ("client_blocks", Texts),
            ("held_parts", Texts),
            ("named_parts", Texts),
            ("text_parts", Texts),
            ("thinking_parts", Texts),
            ("thinking_keys", Keys),
            ("thinking_lists", Keys),
            ("thinking_texts", Pairs(&Key)),
            ("encrypted_thinking", Pairs(&Key)),
            ("silent_parts", Texts),
            ("part_lists", Keys),
            ("response_keys", Keys),
            ("response_answers", Keys),
            ("word_keys", Keys),
        ],
    ),
    ("provisional", &[("continue_keys", Keys), ("status_key", Key), ("statuses", Texts), ("no_answers", Texts)]),
    (
        "responses",
        &[
            ("calls", Texts),
            ("outputs", Pairs(&Text)),
            ("programs", Texts),
            ("text_arguments", Pairs(&Key)),
            ("unnamed_calls", Texts),
            ("no_calls", Texts),
            ("server_calls", Pairs(&Record("ServerCall", &[("arguments", Key), ("result", Key)]))),
            ("server_names", Pairs(&Key)),
            ("wrapped_arguments", Keys),
            ("text_outputs", Texts),
            ("codex_records", Texts),
            ("directory_records", Texts),
            ("searching_call", Text),
            ("found_tools", Text),
        ],
    ),
    (
        "roles",
        &[
            ("user_roles", Texts),
            ("assistant_roles", Texts),
            ("system_roles", Texts),
            ("tool_roles", Texts),
            ("request_model_roles", Texts),
            ("request_user_roles", Texts),
            ("client_texts", Texts),
        ],
    ),
    (
        "shell",
        &[
            ("curl_options", SPEC),
            ("curl_writing", Texts),
            ("devices", Texts),
            ("find_running", Texts),
            ("git_branch_options", SPEC),
            ("git_branch_writing", Texts),
            ("git_options", SPEC),
            ("git_tag_deleting", Texts),
            ("git_tag_listing", Texts),
            ("git_tag_options", SPEC),
            ("git_writing", Texts),
            ("make_options", SPEC),
            ("make_writing", Texts),
            ("operators", Texts),
            ("managers", Pairs(&SPEC)),
            ("package_short", Texts),
            ("package_shortening", Texts),
            ("package_writing", Texts),
            ("packagers", Pairs(&SPEC)),
            ("perl_options", SPEC),
            ("perl_writing", Texts),
            ("python_options", SPEC),
            ("reading", Texts),
            ("reading_stems", Texts),
            ("reserved", Texts),
            ("sed_options", SPEC),
            ("sed_writing", Texts),
            ("sending", Texts),
            ("shell_options", SPEC),
            ("shells", Texts),
            ("ssh_options", SPEC),
            ("sql_client_writing", Texts),
            ("sql_clients", Pairs(&SPEC)),
            ("sql_writing", Texts),
            ("stdin", Texts),
            ("versioned", Texts),
            ("wget_options", SPEC),
            ("wget_sending", Texts),
            ("wrappers", Pairs(&SPEC)),
            ("writers", Texts),
        ],
    ),
    (
        "structures",
        &[
            ("call_elements", Texts),
            ("call_headings", Texts),
            ("empty_keys", Keys),
            ("failed_flags", Keys),
            ("foreign_calls", Keys),
            ("object_keys", Keys),
            ("part_keys", Keys),
            ("parts", Texts),
            ("server_call_parts", Texts),
            ("text_kinds", Texts),
            ("records", Pairs(&Keys)),
            ("result_elements", Texts),
            ("result_starts", Texts),
            ("roles", Texts),
            ("untyped_records", Keys),
        ],
    ),
    (
        "texts",
        &[
            ("added", Pairs(&Text)),
            ("changes_heading", Text),
            ("close_marker", Text),
            ("commands_heading", Text),
            ("cut_words", Texts),
            ("earlier_results", Text),
            ("failed", Text),
            ("files_heading", Text),
            ("frame_mends", Texts),
            ("framing", Text),
            ("interrupted", Text),
            ("left_out", Pairs(&Text)),
            ("left_out_heading", Text),
            ("marker_start", Text),
            ("marker_whole", Text),
            ("no_output", Text),
            ("open_marker", Text),
            ("others_heading", Text),
            ("retrieval_tool", Text),
            ("stand_ins", Texts),
            ("summary_heading", Text),
            ("tool_line", Text),
            ("truncated", Text),
            ("unsigned_call", Text),
        ],
    ),
    (
        "tool_arguments",
        &[
            ("argument_members", Keys),
            ("call_holders", Keys),
            ("call_types", Texts),
            ("diff_keys", Keys),
            ("new_keys", Keys),
            ("old_keys", Keys),
            ("place_keys", Pairs(&Texts)),
            ("file_parts", Texts),
            ("absent_values", Texts),
            ("range_keys", Keys),
            ("source_key", Key),
            ("whole_file_keys", Keys),
        ],
    ),
];

fn main() -> Result<(), Box<dyn Error>> {
    let folder = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join(FOLDER);
    let out = env::var("OUT_DIR")?;
    println!("cargo::rerun-if-changed=build");
    for (name, members) in TABLES {
        let path = folder.join(name).with_extension("json");
        println!("cargo::rerun-if-changed={}", path.display());
        let table: Map<String, Value> = serde_json::from_str(&fs::read_to_string(&path)?)?;
        let constants = constants_of(table, members).map_err(|error| format!("{}: {error}", path.display()))?;
        fs::write(Path::new(&out).join(name).with_extension("rs"), constants)?;
    }
    let out = Path::new(&out);
    let rules = Rules::read(&folder)?;
    fs::write(out.join("rules.rs"), rules.source()?)?;
    fs::write(out.join("destinations.rs"), destinations::source(&folder, &rules)?)?;
    Ok(())
}
