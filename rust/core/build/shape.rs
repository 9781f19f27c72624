//! The shapes of values in tables and records, and the constant expressions that are made of such values.

use std::error::Error;
use std::fmt::Write;

use serde_json::{Map, Value};

use Shape::{Flag, Key, Keys, List, Map as Pairs, Maybe, Number, Record, Template, Text, Texts, Variant};

/// The members of a file or a record that are notes for its readers.
pub(crate) const NOTES: [&str; 2] = ["comment", "source"];

/// The shape of a value, and so the type of its constant.
#[derive(Clone, Copy)]
pub(crate) enum Shape {
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

/// Return the source of a table's constants.
pub(crate) fn constants_of(mut table: Map<String, Value>, members: &[(&str, Shape)]) -> Result<String, Box<dyn Error>> {
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
    pub(crate) fn kind(self) -> String {
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
            Number => grouped(value.as_u64().ok_or_else(wrong)?),
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

/// Return a number as Rust source, with `_` between each three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let is_end = |index: usize| index > 0 && (digits.len() - index).is_multiple_of(3);
    let mark = |(index, digit)| [is_end(index).then_some('_'), Some(digit)];
    digits.chars().enumerate().flat_map(mark).flatten().collect()
}

/// Return a template as a constant expression.
fn template(value: &Value) -> Result<String, Box<dyn Error>> {
    let variant = match value {
        Value::String(text) => match text.as_str() {
            "{id}" => "Id".to_owned(),
            "{id?}" => "IdIfAny".to_owned(),
            "{name}" => "Name".to_owned(),
            "{text}" => "Words".to_owned(),
            "{media_type}" => "MediaType".to_owned(),
            "{format}" => "Format".to_owned(),
            "{data}" => "Data".to_owned(),
            "{data_url}" => "DataUrl".to_owned(),
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
