//! The formats of a request, and whose it is if its messages are texts alone.

use super::policy::Settings;
use super::repair::destinations::{Destination, Form};
use super::repair::formats_of;
use super::repair::prompt::is_systems;
use crate::formats::message::ReadMessage;
use crate::json::value::{Key, Value, names, text_or_empty};
use crate::text::Text;

/// The member of Anthropic's requests to other clouds, which name their model elsewhere.
pub(super) const VERSION: Key<'static> = Key::new("anthropic_version");
const MAX_TOKENS: Key<'static> = Key::new("max_tokens");

/// Return true if a request of plain texts is one of Anthropic's: by its version, or by its model and `max_tokens`, which
/// is mandatory there, if no message is the system's, which is not allowed there.
pub(super) fn speaks_to_anthropic<'a, V: Value<'a>>(messages: &[V], frame: Option<V>, model: Option<Text<'_>>) -> bool {
    let Some(frame) = frame else { return false };
    let version = frame.get(VERSION).and_then(Value::text);
    let model = model.filter(|_| frame.has(MAX_TOKENS)).unwrap_or(Text::ascii(""));
    let is_plain = |message: &V| {
        let role = text_or_empty(message.get(names::ROLE));
        message.get(names::CONTENT).is_some_and(|content| content.text_len().is_some())
            && (role.is("user") || role.is("assistant"))
            && message.size() == 2
    };
    (version.is_some() || messages.iter().all(is_plain))
        && Destination::is_anthropics(model, version.unwrap_or(Text::ascii("")))
}

/// Return true if a request of plain messages is one of Chat: by its model, if a message is the system's, which other
/// formats have elsewhere.
pub(super) fn speaks_chat<'a, V: Value<'a>>(messages: &[V], model: Option<Text<'_>>) -> bool {
    let is_plain = |message: &V| !text_or_empty(message.get(names::ROLE)).is_empty() && message.has(names::CONTENT);
    messages.iter().any(|message| is_systems(*message))
        && messages.iter().all(is_plain)
        && model.is_some_and(Destination::is_chats)
}

/// Return the formats of messages; that of the wanted destination if the messages tell of none. `known` is what was read of
/// the messages before.
///
/// Chat and Ollama differ in members of calls that a repair writes, so that each of both is the other one's as well.
pub(super) fn shapes_of<'a, V: Value<'a>>(
    messages: impl Iterator<Item = V>,
    known: &[Option<ReadMessage>],
    settings: &Settings<'_>,
) -> Vec<&'static str> {
    let shapes = formats_of(messages, known, settings.destination);
    let Some(wanted) = settings.destination else { return shapes };
    let is_chat = wanted.form == Form::Chat && form_of(&shapes).is_some_and(|own| own.form == Form::Chat);
    if shapes.is_empty() || is_chat { vec![wanted.shape] } else { shapes }
}

/// Return the destination of the only format of a request; `None` if there are more, or it is no provider's.
pub(super) fn form_of(shapes: &[&str]) -> Option<&'static Destination> {
    let [shape] = shapes else { return None };
    Destination::of_shape(shape)
}

/// Return true if a request has calls or results of several providers, so that none of them can be served.
pub(super) fn is_mixed(shapes: &[&str]) -> bool {
    shapes.len() > 1
}
