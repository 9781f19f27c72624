//! What the providers ask of calls and results: where their ids stand, what an id may be, and what they refuse.
//! The twin is `_pure/project/mend/dialects.py`.

use super::made::SHOWN;
use crate::project::drafts::PartsKey;
use crate::text::Text;
use crate::value::{Key, Value, names, text_or_empty};

/// The calls of Responses that the client answers.
const ANSWERED: [&str; 6] =
    ["function_call", "custom_tool_call", "local_shell_call", "shell_call", "apply_patch_call", SHOWN];

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

/// A provider's own way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    Anthropic,
    Bedrock,
    Gemini,
    Chat,
    Ollama,
    Responses,
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
    pub(super) family: Family,
    pub(crate) form: Form,
    /// Where the parts of a message stand.
    pub(crate) key: PartsKey,
    /// The roles of the messages whose parts may be results; empty for one that has none.
    pub(crate) answering: &'static [&'static str],
    pub(crate) call_id: IdAt,
    pub(crate) result_id: IdAt,
    /// Where a result says its tool's name, if that has to be the call's.
    pub(crate) name: Option<IdAt>,
    /// Whether an id may stand once only in all of the request; else once in a turn.
    pub(crate) is_unique: bool,
    /// Whether a text part without a word is refused, and white space in which the model's last words end.
    pub(crate) refuses_blank: bool,
    /// Whether a failure may hold nothing but texts.
    pub(crate) fails_in_words: bool,
    /// Whether a text behind the calls of a turn is refused, and an answer of the provider's own behind one of them.
    pub(crate) ends_in_calls: bool,
    /// Whether the results of a turn have to stand in one message.
    pub(crate) answers_at_once: bool,
    /// Whether messages of one role may not follow one another.
    pub(crate) merges: bool,
    /// The role of the messages that may call.
    pub(crate) model: &'static str,
}

const fn within(holders: &'static [Key<'static>], key: Key<'static>) -> IdAt {
    IdAt { holders, key }
}

const fn own(key: Key<'static>) -> IdAt {
    within(&[], key)
}

const RESPONSE_HOLDERS: &[Key<'static>] = &[names::FUNCTION_RESPONSE_CAMEL, names::FUNCTION_RESPONSE];

const CHAT: Dialect = Dialect {
    family: Family::Chat,
    form: Form::Chat,
    key: PartsKey::ToolCalls,
    answering: &[],
    call_id: own(names::ID),
    result_id: own(names::TOOL_CALL_ID),
    name: None,
    is_unique: false,
    refuses_blank: false,
    fails_in_words: false,
    ends_in_calls: false,
    answers_at_once: false,
    merges: false,
    model: "assistant",
};

/// By the name that the readers give to a shape. What else is recognised is no request, and is never mended.
static DIALECTS: [(&str, Dialect); 6] = [
    (
        "anthropic",
        Dialect {
            family: Family::Anthropic,
            form: Form::Turns,
            key: PartsKey::Content,
            answering: &["user"],
            result_id: own(names::TOOL_USE_ID),
            is_unique: true,
            refuses_blank: true,
            fails_in_words: true,
            ends_in_calls: true,
            ..CHAT
        },
    ),
    (
        "bedrock",
        Dialect {
            family: Family::Bedrock,
            form: Form::Turns,
            key: PartsKey::Content,
            answering: &["user"],
            call_id: within(&[names::TOOL_USE_CAMEL], names::TOOL_USE_ID_CAMEL),
            result_id: within(&[names::TOOL_RESULT_CAMEL], names::TOOL_USE_ID_CAMEL),
            is_unique: true,
            refuses_blank: true,
            merges: true,
            ..CHAT
        },
    ),
    (
        "gemini",
        Dialect {
            family: Family::Gemini,
            form: Form::Turns,
            key: PartsKey::Parts,
            answering: &["user", "function", ""],
            call_id: within(&[names::FUNCTION_CALL_CAMEL, names::FUNCTION_CALL], names::ID),
            result_id: within(RESPONSE_HOLDERS, names::ID),
            name: Some(within(RESPONSE_HOLDERS, names::NAME)),
            answers_at_once: true,
            model: "model",
            ..CHAT
        },
    ),
    ("openai-chat", CHAT),
    ("ollama", Dialect { family: Family::Ollama, name: Some(own(names::TOOL_NAME)), ..CHAT }),
    (
        "openai-responses",
        Dialect {
            family: Family::Responses,
            form: Form::Items,
            call_id: own(names::CALL_ID),
            result_id: own(names::CALL_ID),
            is_unique: true,
            ..CHAT
        },
    ),
];

impl Dialect {
    /// The dialect of a shape.
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        DIALECTS.iter().find(|(own, _)| *own == name).map(|(_, dialect)| dialect)
    }

    /// Whether the provider takes an id.
    pub(crate) fn takes_id(&self, call_id: Text<'_>) -> bool {
        let size = call_id.len();
        let is_word = |others: &[u8]| {
            let Text::Latin1(units) = call_id else { return false };
            units.iter().all(|unit| unit.is_ascii_alphanumeric() || others.contains(unit))
        };
        match self.family {
            Family::Anthropic => size > 0 && is_word(b"_-"),
            Family::Bedrock => (1..=64).contains(&size) && is_word(b"_.:-"),
            Family::Gemini | Family::Ollama => true,
            Family::Chat => (1..=40).contains(&size),
            Family::Responses => (1..=64).contains(&size),
        }
    }

    /// Whether a part, or an item, is a call that the client answers.
    pub(crate) fn is_call<'a, V: Value<'a>>(&self, part: V) -> bool {
        match self.family {
            Family::Anthropic => text_or_empty(part.get(names::TYPE)).is("tool_use"),
            Family::Bedrock => part.has(names::TOOL_USE_CAMEL),
            Family::Gemini => part.has(names::FUNCTION_CALL_CAMEL) || part.has(names::FUNCTION_CALL),
            Family::Chat | Family::Ollama => true,
            Family::Responses => {
                let kind = text_or_empty(part.get(names::TYPE));
                ANSWERED.iter().any(|name| kind.is(name))
            }
        }
    }

    /// Whether a part, a message or an item is a result.
    pub(crate) fn is_result<'a, V: Value<'a>>(&self, part: V) -> bool {
        match self.family {
            Family::Anthropic => text_or_empty(part.get(names::TYPE)).is("tool_result"),
            Family::Bedrock => part.has(names::TOOL_RESULT_CAMEL),
            Family::Gemini => RESPONSE_HOLDERS.iter().any(|holder| part.has(*holder)),
            Family::Chat | Family::Ollama => text_or_empty(part.get(names::ROLE)).is("tool"),
            Family::Responses => text_or_empty(part.get(names::TYPE)).ends_with("_call_output"),
        }
    }

    /// Whether one part may hold a call and a result: where a member tells what a part is, and not its type.
    pub(crate) fn may_be_both(&self) -> bool {
        self.form == Form::Turns && !self.result_id.holders.is_empty()
    }

    /// Of what holds a result: whether it says that it failed, so that one without content is refused.
    pub(crate) fn is_failure<'a, V: Value<'a>>(&self, held: V) -> bool {
        match self.family {
            Family::Anthropic => held.get(names::IS_ERROR).is_some_and(Value::is_true),
            Family::Bedrock => text_or_empty(held.get(names::STATUS)).is("error"),
            _ => false,
        }
    }
}
