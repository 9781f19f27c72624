//! Results that are made up for calls that have none, and texts, as `_data/providers.json` has them for each provider.
//! The twin is `_pure/project/mend/made.py`.

use super::providers::Dialect;
use crate::json::value::{Value, names, text_or_empty};
use crate::projection::edits::Json;
use crate::text::constants::INTERRUPTED;
use crate::text::piece::Piece;
use crate::text::{OwnedText, Text};

/// JSON with places for what is known of a call.
#[derive(Debug)]
pub(crate) enum Template {
    Text(&'static str),
    Number(i64),
    True,
    List(&'static [Template]),
    Object(&'static [(&'static str, Template)]),
    /// The id.
    Id,
    /// The id: a member that is left out if there is none.
    IdIfAny,
    /// The tool's name.
    Name,
    /// The type of the call, and this behind it.
    TypeAnd(&'static str),
    /// The text.
    Words,
}

/// What stands in the places of a template.
#[derive(Default)]
struct Places<'a> {
    call_id: Piece<'a>,
    name: Piece<'a>,
    call_type: Piece<'a>,
    words: Piece<'a>,
}

impl Dialect {
    /// A result for a call: of an id and a tool's name, and the call itself; nothing where none can be made.
    pub(crate) fn make<'a, V: Value<'a>>(
        &self,
        call_id: &Piece<'a>,
        name: Text<'a>,
        call: Option<V>,
    ) -> Option<Json<'a>> {
        let call_type = text_or_empty(call.and_then(|call| call.get(names::TYPE)));
        let of_type = |name: &str| self.results.iter().find(|(own, _)| *own == name);
        let own = self.results.iter().find(|(own, _)| call_type.is(own)).or_else(|| of_type("*"));
        let places = Places {
            call_id: call_id.clone(),
            name: Piece::Borrowed(name),
            call_type: Piece::Borrowed(call_type),
            words: Piece::ascii(INTERRUPTED),
        };
        own?.1.as_ref().map(|template| template.filled(&places))
    }

    /// A text part.
    pub(crate) fn text<'a>(&self, text: Text<'a>) -> Json<'a> {
        self.text.filled(&Places { words: Piece::Borrowed(text), ..Places::default() })
    }
}

impl Template {
    fn filled<'a>(&self, places: &Places<'a>) -> Json<'a> {
        match self {
            Self::Text(text) => Json::ascii(text),
            Self::Number(number) => Json::Number(*number),
            Self::True => Json::True,
            Self::List(items) => Json::List(items.iter().map(|item| item.filled(places)).collect()),
            Self::Object(members) => {
                let is_there = |member: &Self| !matches!(member, Self::IdIfAny) || !places.call_id.is_empty();
                let members = members.iter().filter(|(_, member)| is_there(member));
                Json::Object(members.map(|(name, member)| (Piece::ascii(name), member.filled(places))).collect())
            }
            Self::Id | Self::IdIfAny => Json::Text(places.call_id.clone()),
            Self::Name => Json::Text(places.name.clone()),
            Self::Words => Json::Text(places.words.clone()),
            Self::TypeAnd(end) => {
                let mut text = OwnedText::from(places.call_type.text());
                text.push_ascii(end);
                Json::Text(Piece::own(text))
            }
        }
    }
}
