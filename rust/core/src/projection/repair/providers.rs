//! The providers: how they write calls and results, and what they refuse (`_data/providers.json`, which says what the
//! fields mean); and the results that are made up for calls that have none.

use crate::json::value::{Key, Value, names, text_or_empty};
use crate::projection::edits::{Json, PartsKey};
use crate::text::constants::INTERRUPTED;
use crate::text::piece::Piece;
use crate::text::{OwnedText, Text};

include!(concat!(env!("OUT_DIR"), "/providers.rs"));

/// The end of the types of results that are items.
const CALL_OUTPUT: &str = "_call_output";

/// Where results stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// They are parts of the user's turn.
    Turns,
    /// They are messages of their own.
    Chat,
    /// They are items.
    Items,
}

/// Where an id stands: the member that holds it (of several names the first that is there; none: the part itself), and
/// its key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IdAt {
    pub(crate) holders: &'static [Key<'static>],
    pub(crate) key: Key<'static>,
}

impl IdAt {
    /// What holds it.
    pub(crate) fn held<'a, V: Value<'a>>(self, part: V) -> Option<V> {
        match self.holders {
            [] => Some(part),
            holders => holders.iter().find_map(|holder| part.get(*holder)?.object()),
        }
    }

    /// The id; empty where there is none.
    pub(crate) fn text<'a, V: Value<'a>>(self, part: V) -> Text<'a> {
        text_or_empty(self.held(part).and_then(|held| held.get(self.key)))
    }
}

/// How one provider's requests are written.
#[derive(Debug)]
pub(crate) struct Dialect {
    pub(crate) form: Form,
    /// Where the parts of a message stand.
    pub(crate) key: PartsKey,
    /// The roles of the messages whose parts may be results; empty for one that has none.
    pub(crate) answering: &'static [&'static str],
    /// The role of the messages that may call.
    pub(crate) model: &'static str,
    pub(crate) call_id: IdAt,
    pub(crate) result_id: IdAt,
    /// Where a result says its tool's name, if that has to be the call's.
    pub(crate) name: Option<IdAt>,
    /// The types of calls; empty where a holder tells them, or where all that stands there is a call.
    pub(super) call_types: &'static [&'static str],
    /// The types of results that are parts without a holder.
    pub(super) result_types: &'static [&'static str],
    pub(super) id: IdRule,
    /// True if an id may stand once only in all of the request; else once in a turn.
    pub(crate) is_unique: bool,
    /// True if a text part without a word is refused, and white space in which the model's last words end.
    pub(crate) refuses_blank: bool,
    /// One without content is refused.
    pub(super) failure: Option<Failure>,
    /// True if a failure may hold nothing but texts.
    pub(crate) fails_in_words: bool,
    /// True if a text behind the calls of a turn is refused, and an answer of the provider's own behind one of them.
    pub(crate) ends_in_calls: bool,
    /// True if the results of a turn have to stand in one message.
    pub(crate) answers_at_once: bool,
    /// True if messages of one role may not follow one another.
    pub(crate) merges: bool,
    /// A text part.
    pub(super) text: Template,
    /// What stands for a result that is missing, by the type of its call.
    pub(super) results: &'static [(&'static str, Option<Template>)],
}

/// What an id may be.
#[derive(Debug)]
pub(crate) struct IdRule {
    at_least: usize,
    /// None: any number.
    at_most: usize,
    /// True if it is made of ASCII letters, digits and `marks`.
    is_word: bool,
    marks: &'static str,
}

/// How a result says that it failed.
#[derive(Debug)]
pub(crate) struct Failure {
    key: Key<'static>,
    /// Empty: true.
    value: &'static str,
}

impl Dialect {
    /// The dialect of a shape.
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        DIALECTS.iter().find(|(own, _)| *own == name).map(|(_, dialect)| dialect)
    }

    /// Return whether the provider takes an id.
    pub(crate) fn takes_id(&self, call_id: Text<'_>) -> bool {
        let IdRule { at_least, at_most, is_word, marks } = self.id;
        let is_of_word = |unit: &u8| unit.is_ascii_alphanumeric() || marks.as_bytes().contains(unit);
        let size = call_id.len();
        size >= at_least
            && (at_most == 0 || size <= at_most)
            && (!is_word || matches!(call_id, Text::Latin1(units) if units.iter().all(is_of_word)))
    }

    /// Return whether a part, or an item, is a call that the client answers.
    pub(crate) fn is_call<'a, V: Value<'a>>(&self, part: V) -> bool {
        match self.call_id.holders {
            [] => self.call_types.is_empty() || is_of_type(part, self.call_types),
            holders => holders.iter().any(|holder| part.has(*holder)),
        }
    }

    /// Return whether a part, a message or an item is a result.
    pub(crate) fn is_result<'a, V: Value<'a>>(&self, part: V) -> bool {
        match (self.form, self.result_id.holders) {
            (Form::Turns, []) => is_of_type(part, self.result_types),
            (Form::Turns, holders) => holders.iter().any(|holder| part.has(*holder)),
            (Form::Chat, _) => text_or_empty(part.get(names::ROLE)).is("tool"),
            (Form::Items, _) => text_or_empty(part.get(names::TYPE)).ends_with(CALL_OUTPUT),
        }
    }

    /// Return whether one part may hold a call and a result: where a member tells what a part is, and not its type.
    pub(crate) fn may_be_both(&self) -> bool {
        self.form == Form::Turns && !self.result_id.holders.is_empty()
    }

    /// Return whether what holds a result says that it failed, so that one without content is refused.
    pub(crate) fn is_failure<'a, V: Value<'a>>(&self, held: V) -> bool {
        let Some(Failure { key, value }) = &self.failure else { return false };
        match *value {
            "" => held.get(*key).is_some_and(Value::is_true),
            value => text_or_empty(held.get(*key)).is(value),
        }
    }
}

fn is_of_type<'a, V: Value<'a>>(part: V, types: &[&str]) -> bool {
    let own = text_or_empty(part.get(names::TYPE));
    types.iter().any(|name| own.is(name))
}

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
