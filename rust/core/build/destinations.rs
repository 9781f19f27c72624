//! The records of destinations, and the struct of their rules.

use std::error::Error;
use std::ffi::OsStr;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use serde_json::{Map, Value};

use crate::shape::Shape::{
    self, Flag, Key, Keys, List, Map as Pairs, Maybe, Number, Record, Template, Text, Texts, Variant,
};
use crate::shape::constants_of;

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

/// The fields of a record that describe the form of calls and results. All others are rules.
const FORM: &[(&str, Shape)] = &[
    ("name", Text),
    ("shape", Text),
    ("form", Variant("Form")),
    ("key", Variant("PartsKey")),
    ("answering", Texts),
    ("model", Text),
    ("call_id", ID_AT),
    ("call_name", ID_AT),
    ("result_id", ID_AT),
    ("call_types", Texts),
    ("result_types", Texts),
    ("models", Texts),
    ("versions", Texts),
    ("has_telling_ids", Flag),
    ("name_paths", List(&Keys)),
    ("mark_paths", List(&Keys)),
    ("system_paths", List(&Keys)),
    ("thinking_edits", Keys),
    ("schema_paths", List(&Keys)),
    ("tool_lists", List(&Keys)),
    ("choice_paths", List(&Keys)),
    ("definition", Maybe(&Template)),
    ("text", Template),
    ("image", Maybe(&Template)),
    ("results", Pairs(&Maybe(&Template))),
];

/// The shapes of rules by their names in `rules.json`, with the functions that read values of users.
const RULE_SHAPES: &[(&str, Shape, &str)] = &[
    ("flag", Flag, "Value::is_true"),
    ("number", Number, "number"),
    ("members", Keys, "members"),
    ("members_by_type", Pairs(&Keys), "members_by_type"),
    ("texts", Texts, "texts"),
    ("places", List(&Keys), "places"),
    ("text", Text, "text"),
    ("place", Maybe(&ID_AT), ""),
    ("id", ID_RULE, "id_rule"),
    (
        "item_ids",
        Record(
            "ItemIds",
            &[
                ("at_least", Number),
                ("at_most", Number),
                ("starts", Pairs(&Text)),
                ("is_word", Flag),
                ("is_unique", Flag),
            ],
        ),
        "item_ids",
    ),
    ("arguments", ARGUMENTS_AT, ""),
    ("failure", Maybe(&Record("Failure", &[("key", Key), ("value", Text)])), ""),
];

/// Keep a value as long as the process: shapes hold references to others.
fn kept<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

/// A row of `rules.json`.
struct Rule {
    name: &'static str,
    shape: Shape,
    /// The function that reads the value that a user sets; empty if users cannot set it.
    reader: &'static str,
    /// What providers refuse.
    refused: String,
}

/// All rows of `rules.json`.
pub(crate) struct Rules(Vec<Rule>);

impl Rules {
    pub(crate) fn read(folder: &Path) -> Result<Self, Box<dyn Error>> {
        let path = folder.join("rules.json");
        println!("cargo::rerun-if-changed={}", path.display());
        let table: Map<String, Value> = serde_json::from_str(&fs::read_to_string(&path)?)?;
        let mut found = Vec::new();
        for (name, rule) in table.get("rules").and_then(Value::as_object).ok_or("rules.json has no rules")? {
            let text = |key: &str| rule.get(key).and_then(Value::as_str).ok_or_else(|| format!("{name}: no {key}"));
            let value = text("value")?;
            let (_, shape, reader) =
                RULE_SHAPES.iter().find(|(known, ..)| *known == value).ok_or_else(|| format!("{name}: {value}"))?;
            let is_free = rule.get("is_free").is_some_and(|flag| flag == true);
            if is_free && reader.is_empty() {
                return Err(format!("{name}: a rule with this value cannot be free").into());
            }
            let name: &'static str = kept(name.clone());
            let reader = if is_free { reader } else { "" };
            found.push(Rule { name, shape: *shape, reader, refused: text("refused")?.to_owned() });
        }
        Ok(Self(found))
    }

    fn shape(&self) -> Shape {
        Record("Rules", kept(self.0.iter().map(|rule| (rule.name, rule.shape)).collect::<Vec<_>>()))
    }

    /// Return the source of the struct of the rules, and of the method that replaces those that users may set.
    pub(crate) fn source(&self) -> Result<String, Box<dyn Error>> {
        let mut source =
            "/// The rules of a destination. One that is empty, zero or false does not apply.\n".to_owned();
        source += "#[derive(Clone, Copy, Debug)]\npub(crate) struct Rules {\n";
        for Rule { name, shape, refused, .. } in &self.0 {
            writeln!(source, "    /// {refused}.\n    pub(crate) {name}: {},", shape.kind().replace('&', "&'static "))?;
        }
        source += "}\n\nimpl Rules {\n    /// Return the rules with those that an object describes in their place.\n";
        source += "    #[allow(clippy::too_many_lines)] // three for each rule\n";
        source += "    pub(super) fn with<'a, V: Value<'a>>(mut self, given: V) -> Self {\n";
        for Rule { name, reader, .. } in self.0.iter().filter(|rule| !rule.reader.is_empty()) {
            writeln!(source, "        if let Some(rule) = given.get(Key::new({name:?})) {{")?;
            writeln!(source, "            self.{name} = {reader}(rule);\n        }}")?;
        }
        source += "        self\n    }\n}\n";
        Ok(source)
    }
}

/// Return the source of the constant with all destinations.
pub(crate) fn source(folder: &Path, rules: &Rules) -> Result<String, Box<dyn Error>> {
    let mut form = FORM.to_vec();
    form.push(("rules", rules.shape()));
    let records = Map::from_iter([("destinations".to_owned(), Value::Object(destinations(folder, rules)?))]);
    constants_of(records, &[("destinations", Pairs(kept(Record("Destination", kept(form)))))])
}

/// Return the records of the destinations by their names, each with its `name`, its `shape` and the fields of its base.
/// Its rules are in a member of their own.
fn destinations(folder: &Path, rules: &Rules) -> Result<Map<String, Value>, Box<dyn Error>> {
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
        let (held, mut record): (Map<_, _>, Map<_, _>) =
            record.into_iter().partition(|(field, _)| rules.0.iter().any(|rule| rule.name == field));
        record.insert("rules".to_owned(), Value::Object(held));
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
