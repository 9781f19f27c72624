//! Make Rust constants of the tables that both backends use, `python/toolcarry/_data/*.json`, and of the records of
//! destinations, `python/toolcarry/_data/destinations/*.toml`.
//!
//! Each table becomes a file of constants, which the module that uses it includes (`include!(concat!(env!("OUT_DIR"),
//! "/shell.rs"))`). A table therefore costs nothing at run time, it can be used in patterns and other constants, and
//! data of the wrong shape fail the build instead of a user's program. Parsing the files at first use would need a lock
//! and an error path for every table, and the readers use some tables for every part of a message.

use std::env;
use std::error::Error;
use std::ffi::OsStr;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use serde_json::{Map, Value};

const FOLDER: &str = "../../python/toolcarry/_data";
/// The members of a file or a record that are notes for its readers.
const NOTES: [&str; 2] = ["comment", "source"];

/// The shape of a value, and so the type of its constant.
#[derive(Clone, Copy)]
enum Shape {
    /// `&str`
    Text,
    /// `&[&str]`
    Texts,
    /// `Key`: the name of a member.
    Key,
    /// `&[Key]`
    Keys,
    /// `&[(&str, _)]`, sorted by the names.
    Map(&'static Shape),
    /// `&[_]`
    List(&'static Shape),
    /// A struct of this name with these fields; a missing field is empty.
    Record(&'static str, &'static [(&'static str, Shape)]),
    /// A variant of this enum.
    Variant(&'static str),
    /// `bool`
    Flag,
    /// `usize`
    Number,
    /// `Option<_>`: `None` if it is null or missing.
    Maybe(&'static Shape),
    /// A `Template`: JSON with placeholders for the id, the name and the text of a call.
    Template,
}

use Shape::{Flag, Key, Keys, List, Map as Pairs, Maybe, Number, Record, Template, Text, Texts, Variant};

/// The options of a program.
const SPEC: Shape = Record("Spec", &[("valued", Text), ("attached", Text), ("names", Texts), ("groups", Texts)]);

/// The words by which a line is recognised.
const WORDS: Shape = Record("Words", &[("starts", Texts), ("ends", Texts), ("parts", Texts)]);

/// The path of an id in a message part.
const ID_AT: Shape = Record("IdAt", &[("holders", Keys), ("key", Key)]);

/// The rule for ids, or for names.
const ID_RULE: Shape = Record(
    "IdRule",
    &[("at_least", Number), ("at_most", Number), ("is_word", Flag), ("marks", Text), ("begins_as_word", Flag)],
);

/// The place and the form of a call's arguments.
const ARGUMENTS_AT: Shape = Record(
    "ArgumentsAt",
    &[("holders", Keys), ("key", Key), ("form", Variant("ArgumentsForm")), ("types", Texts), ("is_optional", Flag)],
);

/// The form in which a destination wants calls and results, and what it refuses.
const DESTINATION: Shape = Record(
    "Destination",
    &[
        ("name", Text),
        ("shape", Text),
        ("form", Variant("Form")),
        ("key", Variant("PartsKey")),
        ("answering", Texts),
        ("model", Text),
        ("call_id", ID_AT),
        ("call_name", ID_AT),
        ("arguments", ARGUMENTS_AT),
        ("result_id", ID_AT),
        ("result_name", Maybe(&ID_AT)),
        ("call_types", Texts),
        ("result_types", Texts),
        ("id", ID_RULE),
        ("tool_name", ID_RULE),
        ("is_unique", Flag),
        ("refuses_blank", Flag),
        ("failure", Maybe(&Record("Failure", &[("key", Key), ("value", Text)]))),
        ("refuses_empty", Flag),
        ("refuses_system", Flag),
        ("refuses_developer", Flag),
        ("system_begins", Flag),
        ("signed_thoughts", Flag),
        ("signed_calls", Flag),
        ("server_pairs", Flag),
        ("user_begins", Flag),
        ("fails_in_words", Flag),
        ("ends_in_calls", Flag),
        ("answers_at_once", Flag),
        ("merges", Flag),
        ("models", Texts),
        ("has_telling_ids", Flag),
        ("typed_calls", Flag),
        ("user_speaks", Flag),
        ("user_ends", Flag),
        ("model_follows_results", Flag),
        ("refuses_media", Flag),
        ("refused_members", Keys),
        ("cache_marks", Number),
        ("item_ids", Record("ItemIds", &[("at_most", Number), ("starts", Pairs(&Text))])),
        ("needs_summary", Flag),
        ("texts_by_role", Flag),
        ("refused_marks", List(&Keys)),
        ("shared_members", Keys),
        ("name_paths", List(&Keys)),
        ("mark_paths", List(&Keys)),
        ("system_paths", List(&Keys)),
        ("thinking", Keys),
        ("thinking_edits", Keys),
        ("needs_definitions", Keys),
        ("definition", Maybe(&Template)),
        ("text", Template),
        ("results", Pairs(&Maybe(&Template))),
    ],
);

/// The text before and after an exit code or a message.
const FRAME: Shape = Record("Frame", &[("start", Text), ("end", Text)]);

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
            ("failures", Texts),
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
            ("continued_keys", Keys),
            ("model_keys", Keys),
            ("imported_whole", List(&Record("DocumentSign", &[("key", Key), ("value", Text)]))),
        ],
    ),
    (
        "importers",
        &[
            ("foreign_keys", Keys),
            ("foreign_types", Texts),
            ("unread_keys", Keys),
            ("unread_types", Texts),
            ("imported", Key),
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
            ("starts", List(&START)),
            ("status_key", Key),
            ("statuses", Texts),
            ("traceback", Text),
            ("true_keys", Keys),
            ("wrappers", List(&FRAME)),
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
            ("held_parts", Texts),
            ("named_parts", Texts),
            ("text_parts", Texts),
            ("thinking_parts", Texts),
            ("thinking_keys", Keys),
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
            ("empty_keys", Keys),
            ("foreign_calls", Keys),
            ("part_keys", Keys),
            ("parts", Texts),
            ("server_call_parts", Texts),
            ("records", Pairs(&Keys)),
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
    println!("cargo::rerun-if-changed=build.rs");
    for (name, members) in TABLES {
        let path = folder.join(name).with_extension("json");
        println!("cargo::rerun-if-changed={}", path.display());
        let table: Map<String, Value> = serde_json::from_str(&fs::read_to_string(&path)?)?;
        let constants = constants_of(table, members).map_err(|error| format!("{}: {error}", path.display()))?;
        fs::write(Path::new(&out).join(name).with_extension("rs"), constants)?;
    }
    let records = Map::from_iter([("destinations".to_owned(), Value::Object(destinations(&folder)?))]);
    let constants = constants_of(records, &[("destinations", Pairs(&DESTINATION))])?;
    fs::write(Path::new(&out).join("destinations.rs"), constants)?;
    Ok(())
}

/// Return the records of the destinations by their names, each with its `name`, its `shape` and the fields of its base.
fn destinations(folder: &Path) -> Result<Map<String, Value>, Box<dyn Error>> {
    let folder = folder.join("destinations");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut own: Map<String, Value> = Map::new();
    for entry in fs::read_dir(&folder)? {
        let path = entry?.path();
        if let (Some("toml"), Some(name)) = (path.extension().and_then(OsStr::to_str), path.file_stem()) {
            let record: Map<String, Value> =
                toml::from_str(&fs::read_to_string(&path)?).map_err(|error| format!("{}: {error}", path.display()))?;
            own.insert(name.to_string_lossy().into_owned(), Value::Object(record));
        }
    }
    let mut all = Map::new();
    for name in own.keys() {
        let mut record = with_base(&own, name)?;
        record.insert("name".to_owned(), name.as_str().into());
        all.insert(name.clone(), Value::Object(record));
    }
    Ok(all)
}

/// Return a record with the fields of its base. Its `shape` is the name of the record without a base.
fn with_base(own: &Map<String, Value>, name: &str) -> Result<Map<String, Value>, Box<dyn Error>> {
    let mut record = own.get(name).and_then(Value::as_object).ok_or_else(|| format!("{name}: no such record"))?.clone();
    let Some(base) = record.remove("base") else {
        record.insert("shape".to_owned(), name.into());
        return Ok(record);
    };
    let mut all = with_base(own, base.as_str().ok_or_else(|| format!("{name}: base must be a name"))?)?;
    all.extend(record);
    Ok(all)
}

/// Return the source of a table's constants.
fn constants_of(mut table: Map<String, Value>, members: &[(&str, Shape)]) -> Result<String, Box<dyn Error>> {
    let mut constants = String::new();
    for (name, shape) in members {
        let value = table.remove(*name).ok_or_else(|| format!("{name} is missing"))?;
        let (upper, kind) = (name.to_uppercase(), shape.kind());
        let value = shape.expression(&value).map_err(|error| format!("{name}: {error}"))?;
        writeln!(constants, "pub(crate) const {upper}: {kind} = {value};")?;
    }
    match table.keys().find(|name| !NOTES.contains(&name.as_str())) {
        Some(name) => Err(format!("{name} is not a member of the table").into()),
        None => Ok(constants),
    }
}

impl Shape {
    /// Return the Rust type.
    fn kind(self) -> String {
        match self {
            Text => "&str".to_owned(),
            Texts => "&[&str]".to_owned(),
            Key => "Key<'static>".to_owned(),
            Keys => "&[Key<'static>]".to_owned(),
            Pairs(item) => format!("&[(&str, {})]", item.kind()),
            List(item) => format!("&[{}]", item.kind()),
            Record(name, _) | Variant(name) => name.to_owned(),
            Flag => "bool".to_owned(),
            Number => "usize".to_owned(),
            Maybe(shape) => format!("Option<{}>", shape.kind()),
            Template => "Template".to_owned(),
        }
    }

    /// Return the value as a constant expression.
    fn expression(self, value: &Value) -> Result<String, Box<dyn Error>> {
        let wrong = || format!("{value} is not {}", self.kind());
        let object = || value.as_object().ok_or_else(wrong);
        let list = |item: Shape| -> Result<String, Box<dyn Error>> {
            let items = value.as_array().ok_or_else(wrong)?;
            let items: Result<Vec<String>, _> = items.iter().map(|value| item.expression(value)).collect();
            Ok(format!("&[{}]", items?.join(", ")))
        };
        Ok(match self {
            Text => format!("{:?}", value.as_str().ok_or_else(wrong)?),
            Texts => list(Text)?,
            Key => format!("Key::of({:?})", value.as_str().ok_or_else(wrong)?),
            Keys => list(Key)?,
            List(item) => list(*item)?,
            Pairs(item) => {
                let mut pairs = Vec::new();
                for (name, value) in object()? {
                    pairs.push((name, item.expression(value)?));
                }
                pairs.sort();
                let pairs: Vec<String> = pairs.iter().map(|(name, value)| format!("({name:?}, {value})")).collect();
                format!("&[{}]", pairs.join(", "))
            }
            Record(name, fields) => {
                let (mut written, mut left) = (String::new(), object()?.clone());
                for (field, shape) in fields {
                    let value = left.remove(*field).map_or_else(|| shape.empty(), |value| shape.expression(&value))?;
                    write!(written, "{field}: {value}, ")?;
                }
                match left.keys().find(|field| !NOTES.contains(&field.as_str())) {
                    Some(field) => return Err(format!("{name} has no field {field}").into()),
                    None => format!("{name} {{ {written}}}"),
                }
            }
            Variant(kind) => {
                let mut name = String::new();
                for word in value.as_str().ok_or_else(wrong)?.split('_') {
                    let (first, rest) = word.split_at_checked(1).ok_or_else(wrong)?;
                    write!(name, "{}{rest}", first.to_uppercase())?;
                }
                format!("{kind}::{name}")
            }
            Flag => value.as_bool().ok_or_else(wrong)?.to_string(),
            Number => value.as_u64().ok_or_else(wrong)?.to_string(),
            Maybe(_) if value.is_null() || value == false => "None".to_owned(),
            Maybe(shape) => format!("Some({})", shape.expression(value)?),
            Template => template(value)?,
        })
    }

    /// Return the constant expression of a missing field.
    fn empty(self) -> Result<String, Box<dyn Error>> {
        match self {
            Text => Ok("\"\"".to_owned()),
            Texts | Keys | List(_) | Pairs(_) => Ok("&[]".to_owned()),
            Flag => Ok("false".to_owned()),
            Number => Ok("0".to_owned()),
            Maybe(_) => Ok("None".to_owned()),
            Record(..) => self.expression(&Value::Object(Map::new())),
            Key | Variant(_) | Template => Err(format!("{} cannot be left out", self.kind()).into()),
        }
    }
}

/// Return a template as a constant expression.
fn template(value: &Value) -> Result<String, Box<dyn Error>> {
    let variant = match value {
        Value::String(text) => match text.as_str() {
            "{id}" => "Id".to_owned(),
            "{id?}" => "IdIfAny".to_owned(),
            "{name}" => "Name".to_owned(),
            "{text}" => "Words".to_owned(),
            text => match text.strip_prefix("{type}") {
                Some(end) => format!("TypeAnd({end:?})"),
                None if text.contains('{') => return Err(format!("{text}: no such place").into()),
                None => format!("Text({text:?})"),
            },
        },
        Value::Number(number) => format!("Number({number})"),
        Value::Bool(true) => "True".to_owned(),
        Value::Array(items) => {
            let items: Result<Vec<String>, _> = items.iter().map(template).collect();
            format!("List(&[{}])", items?.join(", "))
        }
        Value::Object(members) => {
            let mut written = String::new();
            for (name, member) in members {
                write!(written, "({name:?}, {}), ", template(member)?)?;
            }
            format!("Object(&[{written}])")
        }
        Value::Null | Value::Bool(false) => return Err(format!("{value} cannot be in a template").into()),
    };
    Ok(format!("Template::{variant}"))
}
