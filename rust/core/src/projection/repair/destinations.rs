//! The destinations of requests: how their calls and results are written, and what they refuse. Also the results that
//! are made up for calls without one.
//!
//! A destination is a provider, a gateway or a family of models. Its record is a file in `_data/destinations`, with the
//! source of each rule. A record with a `base` has the fields of that record, except for its own ones.

use super::media::data_url;
use super::rules::{ArgumentsAt, ArgumentsForm, Failure, IdAt, IdRule, ItemIds, Rules};
use crate::json::value::{Key, Value, names, text_or_empty};
use crate::projection::edits::{Json, PartsKey};
use crate::text::constants::INTERRUPTED;
use crate::text::piece::Piece;
use crate::text::surrogates::is_broken;
use crate::text::{OwnedText, Text};

include!(concat!(env!("OUT_DIR"), "/destinations.rs"));

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

/// The form of one provider's requests, and what it refuses.
#[derive(Clone, Copy, Debug)]
pub struct Destination {
    /// The name of its record.
    pub(super) name: &'static str,
    /// The name of the record without a base: the format of its messages.
    pub(crate) shape: &'static str,
    pub(crate) form: Form,
    /// The member that holds the parts of a message.
    pub(crate) key: PartsKey,
    /// The roles of the messages whose parts may be results. An empty string stands for a message without a role.
    pub(crate) answering: &'static [&'static str],
    /// The role of the messages that may contain calls.
    pub(crate) model: &'static str,
    pub(crate) call_id: IdAt,
    /// The place of a call's tool.
    pub(crate) call_name: IdAt,
    pub(crate) result_id: IdAt,
    /// The types of calls; empty if a holder identifies them, or if every entry is a call.
    pub(super) call_types: &'static [&'static str],
    /// The types of results that are parts without a holder.
    pub(super) result_types: &'static [&'static str],
    /// Parts of the names of the models that have these rules instead of those of their shape.
    pub(super) models: &'static [&'static str],
    /// The beginnings of the `anthropic_version` of a request without a model that has these rules.
    pub(super) versions: &'static [&'static str],
    /// True if a request has these rules if all of its calls have ids of this form.
    pub(super) has_telling_ids: bool,
    /// The places of tools' names in the frame; `*` stands for each item of a list.
    pub(crate) name_paths: &'static [&'static [Key<'static>]],
    /// The places of the parts of the frame that may have a mark for the prompt cache, in the order of the prefix.
    pub(crate) mark_paths: &'static [&'static [Key<'static>]],
    /// The places of the system prompt in the frame. One that is there is taken, else the first one whose holder is.
    pub(crate) system_paths: &'static [&'static [Key<'static>]],
    /// The place of the edits of the context, some of which need that setting.
    pub(crate) thinking_edits: &'static [Key<'static>],
    /// The places of the schemas of tools in the frame.
    pub(crate) schema_paths: &'static [&'static [Key<'static>]],
    /// The places of the lists of tools in the frame.
    pub(crate) tool_lists: &'static [&'static [Key<'static>]],
    /// The places of the choice of a tool in the frame, and of what belongs to it.
    pub(crate) choice_paths: &'static [&'static [Key<'static>]],
    /// The template of a definition that is made up.
    pub(crate) definition: Option<Template>,
    /// The template of a text part.
    pub(super) text: Template,
    /// The template of an image whose bytes are in the request.
    pub(super) image: Option<Template>,
    /// The result to make up if one is missing, by the type of the call; `None` if no result can be made.
    pub(super) results: &'static [(&'static str, Option<Template>)],
    pub(crate) rules: Rules,
}

impl Destination {
    /// Return the members of a type of parts; `None` if the destination takes any.
    pub(crate) fn known_members(&self, kind: Text<'_>) -> Option<&'static [Key<'static>]> {
        // The most frequent types are the last ones in the order of their names.
        self.rules.part_members.iter().rev().find(|(own, _)| kind.is(own)).map(|(_, known)| *known)
    }

    /// Return the destination with a name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        DESTINATIONS.iter().find(|(own, _)| *own == name).map(|(_, destination)| destination)
    }

    /// Return the destination whose name is that of a format of requests.
    pub(crate) fn of_shape(name: &str) -> Option<&'static Self> {
        Self::named(name).filter(|destination| destination.shape == name)
    }

    /// Return the destination of a request: the `wanted` one, or the one that the model, the version or the ids of calls
    /// tell of.
    ///
    /// One that is written in another format than the request is not taken.
    pub(crate) fn of<'a>(
        shape: &str,
        call_ids: &(impl Iterator<Item = Text<'a>> + Clone),
        (model, version): (Text<'_>, Text<'_>),
        wanted: Option<&'static Self>,
    ) -> Option<&'static Self> {
        let own = Self::of_shape(shape)?;
        if let Some(wanted) = wanted {
            return Some(if wanted.shape == shape { wanted } else { own });
        }
        let others = || DESTINATIONS.iter().map(|(_, other)| other).filter(|other| other.shape == shape);
        let named = models_named(model);
        // "deepseek-vl" tells more than "deepseek".
        let by_model = others().filter(|other| named(other) > 0).max_by_key(|other| named(other));
        let by_version = || others().find(|other| other.versions.iter().any(|begin| version.starts_with(begin)));
        let has_ids = call_ids.clone().next().is_some();
        let takes_all = |other: &&Self| call_ids.clone().all(|call_id| other.takes_id(call_id));
        let by_ids = || others().find(|other| has_ids && other.has_telling_ids && takes_all(other));
        Some(by_model.or_else(by_version).or_else(by_ids).unwrap_or(own))
    }

    /// Return true if the model or the version of a request tells that it is one of Anthropic's, even if nothing in its
    /// messages does: gateways have the names of its models in requests of other formats, but no version.
    pub(crate) fn is_anthropics(model: Text<'_>, version: Text<'_>) -> bool {
        let of_anthropic = || DESTINATIONS.iter().filter(|(_, other)| other.shape == "anthropic");
        let is_versioned =
            of_anthropic().any(|(_, other)| other.versions.iter().any(|begin| version.starts_with(begin)));
        is_versioned || model.to_utf8().contains("claude")
    }

    /// Return true if the model of a request tells that it is one of Chat, even if nothing in its messages does.
    pub(crate) fn is_chats(model: Text<'_>) -> bool {
        let named = models_named(model);
        DESTINATIONS.iter().any(|(_, other)| other.shape == "openai-chat" && named(other) > 0)
    }

    /// Return the most bytes of a request that every destination takes.
    pub(crate) fn least_bytes() -> usize {
        let limits = DESTINATIONS.iter().map(|(_, own)| own.rules.request_bytes);
        limits.filter(|limit| *limit > 0).min().unwrap_or(usize::MAX)
    }

    /// Return true if the parts of messages say what kind they are.
    pub(crate) fn has_types(&self) -> bool {
        matches!(&self.text, Template::Object(members) if members.iter().any(|(name, _)| *name == "type"))
    }

    /// Say that the destination does not take a format.
    pub(crate) fn refusal(&self, shape: &str) -> String {
        format!("{shape}: {} takes {}", self.name, self.shape)
    }

    /// Return true if the provider accepts an id.
    pub(crate) fn takes_id(&self, call_id: Text<'_>) -> bool {
        self.rules.id.takes_id(call_id) && self.takes_text(call_id)
    }

    /// Return true if the provider accepts the name of a tool.
    pub(crate) fn takes_name(&self, name: Text<'_>) -> bool {
        self.rules.tool_name.takes_id(name) && self.takes_text(name)
    }

    /// Return true if a text that tells calls or tools apart may stay: two that differ by a lone surrogate would become
    /// the same.
    fn takes_text(&self, text: Text<'_>) -> bool {
        !self.rules.refuses_surrogates || !is_broken(text)
    }

    /// Return true if a part or an item is a call that the client answers.
    pub(crate) fn is_call<'a, V: Value<'a>>(&self, part: V) -> bool {
        match self.call_id.holders {
            [] => self.call_types.is_empty() || is_of_type(part, self.call_types),
            holders => has_clients(part, holders),
        }
    }

    /// Return true if a part, a message or an item is a result.
    pub(crate) fn is_result<'a, V: Value<'a>>(&self, part: V) -> bool {
        match (self.form, self.result_id.holders) {
            (Form::Turns, []) => is_of_type(part, self.result_types),
            (Form::Turns, holders) => has_clients(part, holders),
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
        let Some(Failure { key, value }) = &self.rules.failure else { return false };
        match *value {
            "" => id_holder.get(*key).is_some_and(Value::is_true),
            value => text_or_empty(id_holder.get(*key)).is(value),
        }
    }
}

/// Return true if a part has one of the members for the client's calls or results.
///
/// A call that Bedrock answers itself, and its result, have a type: `server_tool_use`, `nova_grounding_result`.
fn has_clients<'a, V: Value<'a>>(part: V, holders: &[Key<'static>]) -> bool {
    // https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolUseBlock.html
    let is_clients = |holder: &Key<'static>| {
        let held = part.get(*holder).and_then(Value::object);
        part.has(*holder) && text_or_empty(held.and_then(|held| held.get(names::TYPE))).is_empty()
    };
    holders.iter().any(is_clients)
}

fn is_of_type<'a, V: Value<'a>>(part: V, types: &[&str]) -> bool {
    let own = text_or_empty(part.get(names::TYPE));
    types.iter().any(|name| own.is(name))
}

/// A JSON value with placeholders for the properties of a call.
#[derive(Clone, Copy, Debug)]
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
    /// The media type of an image.
    MediaType,
    /// The media type without its family: `png`.
    Format,
    /// The bytes of an image, in base64.
    Data,
    /// The bytes and the type of an image as a data URL.
    DataUrl,
}

/// Return a function that says how much of a model's name tells of a destination, in characters.
fn models_named(model: Text<'_>) -> impl Fn(&Destination) -> usize {
    // Gateways write `claude-opus-4.6`: microsoft/vscode#305670, caozhiyuan/copilot-api#305
    let model = model.to_utf8().to_ascii_lowercase();
    let dashed = model.replace('.', "-");
    move |other| {
        let named = other.models.iter().filter(|name| model.contains(**name) || dashed.contains(**name));
        named.map(|name| name.len()).max().unwrap_or(0)
    }
}

/// The values for the placeholders of a template.
#[derive(Default)]
struct Placeholders<'a> {
    call_id: Piece<'a>,
    name: Piece<'a>,
    call_type: Piece<'a>,
    words: Piece<'a>,
    media_type: Piece<'a>,
    data: Piece<'a>,
}

impl Destination {
    /// Make a result for a call; `None` if that is impossible for the type of the call.
    pub(crate) fn make<'a, V: Value<'a>>(
        &self,
        call_id: &Piece<'a>,
        name: Piece<'a>,
        call: Option<V>,
    ) -> Option<Json<'a>> {
        let call_type = text_or_empty(call.and_then(|call| call.get(names::TYPE)));
        let of_type = |name: &str| self.results.iter().find(|(own, _)| *own == name);
        let own = self.results.iter().find(|(own, _)| call_type.is(own)).or_else(|| of_type("*"));
        let places = Placeholders {
            call_id: call_id.clone(),
            name,
            call_type: Piece::Borrowed(call_type),
            words: Piece::ascii(INTERRUPTED),
            ..Placeholders::default()
        };
        own?.1.as_ref().map(|template| template.filled(&places))
    }

    /// Make a text part.
    pub(crate) fn text<'a>(&self, text: Text<'a>) -> Json<'a> {
        self.text.filled(&Placeholders { words: Piece::Borrowed(text), ..Placeholders::default() })
    }

    /// Make an image of its bytes; `None` if the destination takes none.
    pub(crate) fn image<'a>(&self, media_type: &'static str, data: Text<'a>) -> Option<Json<'a>> {
        let (media_type, data) = (Piece::ascii(media_type), Piece::Borrowed(data));
        self.image.as_ref().map(|image| image.filled(&Placeholders { media_type, data, ..Placeholders::default() }))
    }
}

impl Template {
    /// Make the definition of a tool of which nothing but the name is known.
    pub(crate) fn define<'a>(&self, name: Piece<'a>) -> Json<'a> {
        self.filled(&Placeholders { name, ..Placeholders::default() })
    }

    fn filled<'a>(&self, places: &Placeholders<'a>) -> Json<'a> {
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
            Self::MediaType => Json::Text(places.media_type.clone()),
            Self::Format => Json::Text(places.media_type.slice("image/".len(), places.media_type.len())),
            Self::Data => Json::Text(places.data.clone()),
            Self::DataUrl => data_url(places.media_type.clone(), places.data.clone()),
            Self::TypeAnd(end) => {
                let mut text = OwnedText::from(places.call_type.text());
                text.push_ascii(end);
                Json::Text(Piece::own(text))
            }
        }
    }
}
