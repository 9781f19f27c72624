//! The rules of the providers: the syntax of calls and results, and the errors to avoid (`_data/providers.json`
//! explains the fields). Also the results that are made up for calls without one.

use crate::json::value::{Key, Value, names, text_or_empty};
use crate::projection::edits::{Json, PartsKey};
use crate::text::constants::INTERRUPTED;
use crate::text::piece::Piece;
use crate::text::{OwnedText, Text};

include!(concat!(env!("OUT_DIR"), "/providers.rs"));

/// The suffix of the types of results that are items.
const CALL_OUTPUT: &str = "_call_output";

/// The place of results in a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// They are parts of a user turn.
    Turns,
    /// They are messages of their own.
    Chat,
    /// They are items.
    Items,
}

/// The place of an id: its key, and the object that holds it. That is the first of `holders` that exists or, without
/// holders, the part itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IdAt {
    pub(crate) holders: &'static [Key<'static>],
    pub(crate) key: Key<'static>,
}

impl IdAt {
    /// Return the object that holds the id.
    pub(crate) fn id_holder<'a, V: Value<'a>>(self, part: V) -> Option<V> {
        match self.holders {
            [] => Some(part),
            holders => holders.iter().find_map(|holder| part.get(*holder)?.object()),
        }
    }

    /// Return the id; empty if it is missing.
    pub(crate) fn text<'a, V: Value<'a>>(self, part: V) -> Text<'a> {
        text_or_empty(self.id_holder(part).and_then(|id_holder| id_holder.get(self.key)))
    }
}

/// The syntax and the rules of one provider's requests.
#[derive(Debug)]
pub(crate) struct Dialect {
    pub(crate) form: Form,
    /// The member that holds the parts of a message.
    pub(crate) key: PartsKey,
    /// The roles of the messages whose parts may be results. An empty string stands for a message without a role.
    pub(crate) answering: &'static [&'static str],
    /// The role of the messages that may contain calls.
    pub(crate) model: &'static str,
    pub(crate) call_id: IdAt,
    pub(crate) result_id: IdAt,
    /// The place of a result's tool name, if it has to match the call.
    pub(crate) name: Option<IdAt>,
    /// The types of calls; empty if a holder identifies them, or if every entry is a call.
    pub(super) call_types: &'static [&'static str],
    /// The types of results that are parts without a holder.
    pub(super) result_types: &'static [&'static str],
    pub(super) id: IdRule,
    /// True if ids must be unique in the request; otherwise they must be unique in a turn.
    pub(crate) is_unique: bool,
    /// True if the provider refuses text parts without a word, and white space at the end of the last model text.
    pub(crate) refuses_blank: bool,
    /// The mark of a failed result. A failed result without content is refused.
    pub(super) failure: Option<Failure>,
    /// True if any result without content is refused.
    pub(crate) refuses_empty: bool,
    /// True if a conversation that begins with the model is refused.
    pub(crate) user_begins: bool,
    /// True if a failed result may contain nothing but text.
    pub(crate) fails_in_words: bool,
    /// True if the provider refuses a text after the calls of a turn, and a server tool result after one of them.
    pub(crate) ends_in_calls: bool,
    /// True if the results of a turn have to be in one message.
    pub(crate) answers_at_once: bool,
    /// True if consecutive messages may not have the same role.
    pub(crate) merges: bool,
    /// The template of a text part.
    pub(super) text: Template,
    /// The result to make up if one is missing, by the type of the call; `None` if no result can be made.
    pub(super) results: &'static [(&'static str, Option<Template>)],
}

/// The rule for valid ids.
#[derive(Debug)]
pub(crate) struct IdRule {
    at_least: usize,
    /// The maximum length; 0 means no limit.
    at_most: usize,
    /// True if an id consists of ASCII letters, digits and `marks`.
    is_word: bool,
    marks: &'static str,
}

/// The member by which a result says that it failed.
#[derive(Debug)]
pub(crate) struct Failure {
    key: Key<'static>,
    /// The value that means failure; empty for `true`.
    value: &'static str,
}

impl Dialect {
    /// Return the dialect of a format.
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        DIALECTS.iter().find(|(own, _)| *own == name).map(|(_, dialect)| dialect)
    }

    /// Return true if the provider accepts an id.
    pub(crate) fn takes_id(&self, call_id: Text<'_>) -> bool {
        let IdRule { at_least, at_most, is_word, marks } = self.id;
        let is_of_word = |unit: &u8| unit.is_ascii_alphanumeric() || marks.as_bytes().contains(unit);
        let size = call_id.len();
        size >= at_least
            && (at_most == 0 || size <= at_most)
            && (!is_word || matches!(call_id, Text::Latin1(units) if units.iter().all(is_of_word)))
    }

    /// Return true if a part or an item is a call that the client answers.
    pub(crate) fn is_call<'a, V: Value<'a>>(&self, part: V) -> bool {
        match self.call_id.holders {
            [] => self.call_types.is_empty() || is_of_type(part, self.call_types),
            holders => holders.iter().any(|holder| part.has(*holder)),
        }
    }

    /// Return true if a part, a message or an item is a result.
    pub(crate) fn is_result<'a, V: Value<'a>>(&self, part: V) -> bool {
        match (self.form, self.result_id.holders) {
            (Form::Turns, []) => is_of_type(part, self.result_types),
            (Form::Turns, holders) => holders.iter().any(|holder| part.has(*holder)),
            (Form::Chat, _) => text_or_empty(part.get(names::ROLE)).is("tool"),
            (Form::Items, _) => text_or_empty(part.get(names::TYPE)).ends_with(CALL_OUTPUT),
        }
    }

    /// Return true if one part may be both a call and a result, because members and not a type identify them.
    pub(crate) fn can_be_call_and_result(&self) -> bool {
        self.form == Form::Turns && !self.result_id.holders.is_empty()
    }

    /// Return true if the object that holds a result says that it failed.
    pub(crate) fn is_failure<'a, V: Value<'a>>(&self, id_holder: V) -> bool {
        let Some(Failure { key, value }) = &self.failure else { return false };
        match *value {
            "" => id_holder.get(*key).is_some_and(Value::is_true),
            value => text_or_empty(id_holder.get(*key)).is(value),
        }
    }
}

fn is_of_type<'a, V: Value<'a>>(part: V, types: &[&str]) -> bool {
    let own = text_or_empty(part.get(names::TYPE));
    types.iter().any(|name| own.is(name))
}

/// A JSON value with placeholders for the properties of a call.
#[derive(Debug)]
pub(crate) enum Template {
    Text(&'static str),
    Number(i64),
    True,
    List(&'static [Template]),
    Object(&'static [(&'static str, Template)]),
    /// The id.
    Id,
    /// The id, in a member that is left out if the id is empty.
    IdIfAny,
    /// The tool's name.
    Name,
    /// The type of the call with a suffix.
    TypeAnd(&'static str),
    /// The text.
    Words,
}

/// The values for the placeholders of a template.
#[derive(Default)]
struct Places<'a> {
    call_id: Piece<'a>,
    name: Piece<'a>,
    call_type: Piece<'a>,
    words: Piece<'a>,
}

impl Dialect {
    /// Make a result for a call; `None` if that is impossible for the type of the call.
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

    /// Make a text part.
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
