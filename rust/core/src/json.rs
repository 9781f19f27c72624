//! Parsed JSON as input: the door for programs in Rust.

use std::sync::OnceLock;

use serde_json::Value as Parsed;

use crate::text::{OwnedText, Text};
use crate::value::{Key, Value};

/// A JSON document whose texts stand in canonical units.
#[derive(Clone, Debug)]
pub enum Json {
    /// `null`
    Null,
    /// `true`, `false`
    Bool(bool),
    /// A number, as it is written.
    Number(serde_json::Number),
    /// A text; and, once a call's arguments were asked for, what it holds as JSON.
    Text(OwnedText, OnceLock<Box<Json>>),
    /// An array.
    List(Vec<Json>),
    /// An object, in the order of its keys.
    Object(Vec<(OwnedText, Json)>),
}

static EMPTY: Json = Json::Object(Vec::new());

impl Json {
    /// Parse a document.
    pub fn parse(document: &str) -> serde_json::Result<Self> {
        serde_json::from_str::<Parsed>(document).map(Self::from)
    }

    fn to_parsed(&self) -> Parsed {
        match self {
            Self::Null => Parsed::Null,
            Self::Bool(value) => Parsed::Bool(*value),
            Self::Number(value) => Parsed::Number(value.clone()),
            Self::Text(value, _) => Parsed::String(value.as_text().to_utf8()),
            Self::List(items) => items.iter().map(Self::to_parsed).collect(),
            Self::Object(members) => Parsed::Object(
                members.iter().map(|(key, value)| (key.as_text().to_utf8(), value.to_parsed())).collect(),
            ),
        }
    }

    fn member(&self, key: Key<'_>) -> Option<&Self> {
        let Self::Object(members) = self else { return None };
        members.iter().find(|(name, _)| name.as_text().is(key.name)).map(|(_, value)| value)
    }
}

impl From<Parsed> for Json {
    fn from(parsed: Parsed) -> Self {
        match parsed {
            Parsed::Null => Self::Null,
            Parsed::Bool(value) => Self::Bool(value),
            Parsed::Number(value) => Self::Number(value),
            Parsed::String(value) => Self::Text(OwnedText::from_utf8(&value), OnceLock::new()),
            Parsed::Array(items) => Self::List(items.into_iter().map(Self::from).collect()),
            Parsed::Object(members) => Self::Object(
                members.into_iter().map(|(key, value)| (OwnedText::from_utf8(&key), Self::from(value))).collect(),
            ),
        }
    }
}

/// Arguments as an object: parsed, or as they stand under `arguments`.
fn parse_arguments(text: &OwnedText) -> Json {
    match Json::parse(&text.as_text().to_utf8()) {
        Ok(object @ Json::Object(_)) => object,
        Ok(other) => under_arguments(other),
        Err(_) => under_arguments(Json::Text(text.clone(), OnceLock::new())),
    }
}

fn under_arguments(value: Json) -> Json {
    Json::Object(vec![(OwnedText::from_utf8("arguments"), value)])
}

impl<'a> Value<'a> for &'a Json {
    fn get(self, key: Key<'_>) -> Option<Self> {
        self.member(key).filter(|value| !matches!(value, Json::Null))
    }

    fn has(self, key: Key<'_>) -> bool {
        self.member(key).is_some()
    }

    fn text(self) -> Option<Text<'a>> {
        match self {
            Json::Text(text, _) => Some(text.as_text()),
            _ => None,
        }
    }

    fn object(self) -> Option<Self> {
        matches!(self, Json::Object(_)).then_some(self)
    }

    fn list(self) -> Option<Self> {
        matches!(self, Json::List(_)).then_some(self)
    }

    fn count(self) -> usize {
        match self {
            Json::List(items) => items.len(),
            _ => 0,
        }
    }

    fn item(self, index: usize) -> Option<Self> {
        match self {
            Json::List(items) => items.get(index),
            _ => None,
        }
    }

    fn is_true(self) -> bool {
        matches!(self, Json::Bool(true))
    }

    fn integer(self) -> Option<i64> {
        match self {
            Json::Number(number) => number.as_i64(),
            _ => None,
        }
    }

    fn size(self) -> usize {
        match self {
            Json::Object(members) => members.len(),
            _ => 0,
        }
    }

    fn members(self, visit: &mut dyn FnMut(Text<'a>, Self) -> bool) {
        if let Json::Object(members) = self {
            let _ = members.iter().all(|(key, value)| visit(key.as_text(), value));
        }
    }

    fn json(self) -> OwnedText {
        OwnedText::from_utf8(&self.to_parsed().to_string())
    }

    fn arguments(self) -> Self {
        match self {
            Json::Text(text, _) if text.as_text().is_empty() => &EMPTY,
            Json::Text(text, parsed) => parsed.get_or_init(|| Box::new(parse_arguments(text))),
            _ => &EMPTY,
        }
    }

    fn empty(self) -> Self {
        &EMPTY
    }

    fn type_name(self) -> String {
        match self {
            Json::Null => "null",
            Json::Bool(_) => "bool",
            Json::Number(_) => "number",
            Json::Text(..) => "text",
            Json::List(_) => "list",
            Json::Object(_) => "object",
        }
        .to_owned()
    }
}
