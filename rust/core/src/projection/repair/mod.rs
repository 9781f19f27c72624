//! The repair of a request: each call gets one result in its place, no result remains without a call, and the ids
//! match.
//!
//! Anything that the provider accepts is unchanged. Repairing a repaired request changes nothing.

mod cache_marks;
mod calls;
mod chat;
mod contents;
mod ends;
pub(crate) mod frame;
pub(crate) mod guard;
mod ids;
mod items;
mod members;
mod message_parts;
mod own;
mod pairs;
mod prompt;
pub(crate) mod destinations;
pub(crate) mod report;
pub(crate) mod settings;
mod signatures;
mod state;
mod text_types;
mod tool_names;
mod turns;

use ahash::AHashSet;

use super::edits::Draft;
use super::repair::chat::{repair_chat, take_out_empty_calls};
use super::repair::contents::mend_contents;
use super::repair::destinations::{Destination, Form};
use super::repair::ends::keep_ends;
use super::repair::frame::Frame;
use super::repair::ids::assign_ids;
use super::repair::items::repair_items;
use super::repair::members::mend_members;
use super::repair::message_parts::is_thinking;
use super::repair::pairs::Pairs;
use super::repair::prompt::write_prompt;
use super::repair::report::Mends;
use super::repair::settings::{Build, define_tools, stop_thinking};
use super::repair::state::Repair;
use super::repair::text_types::{is_bare_text, is_text_of_responses};
use super::repair::turns::Turns;
use super::request::EditedMessages;
use crate::formats::message::MessageParts;
use crate::formats::read_message;
use crate::json::value::{Value, items, names, text_or_empty};

/// Correct the messages so that their provider accepts them, and add the corrections to `mends`. The changes of the
/// frame are noted in it; `build` makes the message of a draft.
pub(crate) fn repair_messages<'a, V: Value<'a>>(
    edited: &mut EditedMessages<'a, '_, V>,
    destination: &'static Destination,
    mends: &mut Mends<'a>,
    (mut frame, build): (Option<&mut Frame<'a, V>>, Build<'_, 'a, V>),
) -> Vec<Draft<'a, V>> {
    let mut pairs = Pairs::new(edited, destination);
    mend_contents(edited, (destination, &pairs), mends);
    mend_members((&mut *edited, frame.as_deref_mut()), destination, &mut pairs, mends);
    let ids = assign_ids(edited, destination, &pairs, mends);
    let mut repair = Repair { edited: &mut *edited, destination, pairs: &pairs, ids: &ids, mends: &mut *mends };
    take_out_empty_calls(&mut repair);
    let drafts = match destination.form {
        Form::Turns => Turns::new(repair).repaired(),
        Form::Chat => repair_chat(repair),
        Form::Items => repair_items(repair),
    };
    let mut kept = keep_ends(drafts, edited, (destination, &pairs), mends);
    if let Some(frame) = frame {
        write_prompt((&mut *edited, &mut *frame), (destination, &pairs), (&mut kept, build), mends);
        stop_thinking(frame, destination, (&kept, build), mends);
        define_tools(frame, destination, (&*edited, &pairs), mends);
    }
    kept
}

/// Return the sorted names of the formats of the messages that have calls or results. If both Chat and Ollama are
/// found, the calls decide which of them is returned.
///
/// Some formats always count: those that are not a provider's, such as records of a session file, and those with a
/// feature that only one provider has (the reasoning of Responses and of Bedrock).
///
/// If no message has a call and the provider does not hold the earlier messages, results answer nothing and will be
/// left out. Then the messages with reasoning, thinking, media or texts that only one provider has decide, if there are any.
/// If nothing else decides, an empty list of calls means Chat, and words of the assistant in parts mean Anthropic.
///
/// Texts without a type are Bedrock's, unless something tells of a provider whose parts have types: clients forget them.
///
/// `asked` is the shape of the named destination if its parts have types. Texts alone, which have the same type for
/// several providers, are of this shape.
pub(crate) fn formats_of<'a, V: Value<'a>>(
    messages: impl Iterator<Item = V>,
    is_continued: bool,
    asked: Option<&'static str>,
) -> Vec<&'static str> {
    let (mut found, mut callers) = (AHashSet::new(), AHashSet::new());
    let (mut answerers, mut tellers) = (AHashSet::new(), AHashSet::new());
    let (mut lists_calls, mut speaks_in_parts, mut names_calls) = (false, false, false);
    let (mut has_bare, mut has_typed) = (false, false);
    let mut message_parts = MessageParts::default();
    for message in messages {
        let role = message.get(names::ROLE);
        if role.is_none() && (message.has(names::UUID) || message.has(names::MESSAGE)) {
            found.insert("claude-code");
            continue;
        }
        message_parts.clear();
        // The walk halted at a message that needs an importer.
        let shape = read_message(message, role, &mut message_parts).ok().flatten();
        let parts = message.get(names::CONTENT).and_then(Value::list);
        let parts = || parts.into_iter().flat_map(items).filter_map(Value::object);
        let (mut is_bedrock, mut is_responses, mut has_text) = (false, false, false);
        for part in parts() {
            if let Some(kind) = part.get(names::TYPE) {
                has_text = has_text || text_or_empty(Some(kind)).is("text");
                is_responses = is_responses || is_text_of_responses(part);
            } else {
                is_bedrock = is_bedrock || is_bedrocks(part);
                has_bare = has_bare || is_bare_text(part);
            }
        }
        if is_bedrock {
            found.insert("bedrock");
        }
        if has_text {
            has_typed = true;
            speaks_in_parts = speaks_in_parts || text_or_empty(role).is("assistant");
        }
        let is_reasoning = text_or_empty(message.get(names::TYPE)).is("reasoning");
        if is_reasoning && shape == Some("openai-responses") {
            found.insert("openai-responses");
        }
        let tells = || is_reasoning || (role.is_some() && parts().any(is_anthropics));
        if callers.is_empty() && message_parts.results.is_empty() && tells() {
            tellers.insert(shape.unwrap_or("anthropic"));
        }
        if is_responses && message_parts.results.is_empty() {
            tellers.insert("openai-responses");
        }
        lists_calls = lists_calls || message.get(names::TOOL_CALLS).and_then(Value::list).is_some();
        if shape != Some("ollama") && text_or_empty(role).is("tool") {
            answerers.insert("openai-chat");
        }
        let Some(name) = shape else { continue };
        if Destination::of_shape(name).is_none() {
            found.insert(name);
        }
        if !message_parts.calls.is_empty() {
            callers.insert(name);
            names_calls = names_calls || message_parts.calls.iter().any(|call| !call.call_id.is_empty());
        }
        if !message_parts.results.is_empty() {
            answerers.insert(name);
        }
    }
    found.extend(&callers);
    if !found.is_empty() || is_continued || (tellers.is_empty() && !speaks_in_parts) {
        found.extend(answerers);
    }
    let is_of_types = |name: &&str| Destination::of_shape(name).is_some_and(Destination::has_types);
    let telling = if found.is_empty() { &tellers } else { &found };
    if has_bare && !telling.iter().all(is_of_types) {
        found.insert("bedrock");
    }
    // Results that are messages of their own are Ollama's only if no call is Chat's.
    let is_chat = |name: &&str| Destination::named(name).is_some_and(|destination| destination.form == Form::Chat);
    if found.len() > 1 && found.iter().all(is_chat) {
        let is_ollama = !names_calls || (callers.len() == 1 && callers.contains("ollama"));
        return vec![if is_ollama { "ollama" } else { "openai-chat" }];
    }
    if found.is_empty() && tellers.is_empty() {
        return match (lists_calls, speaks_in_parts) {
            (_, true) => vec![asked.unwrap_or("anthropic")],
            (true, false) => vec!["openai-chat"],
            (false, false) if has_bare && !has_typed => vec![asked.unwrap_or("bedrock")],
            (false, false) => Vec::new(),
        };
    }
    let mut found: Vec<&str> = if found.is_empty() { tellers } else { found }.into_iter().collect();
    found.sort_unstable();
    found
}

/// Return true if a part is of a kind that only Anthropic has: thinking, or an image or document with a source.
fn is_anthropics<'a, V: Value<'a>>(part: V) -> bool {
    let kind = text_or_empty(part.get(names::TYPE));
    let is_shown = kind.is("image") || kind.is("document");
    is_thinking(kind) || (is_shown && part.get(names::SOURCE).and_then(Value::object).is_some())
}

/// Return true if a part is of a kind that only Bedrock has: a thought without a type.
fn is_bedrocks<'a, V: Value<'a>>(part: V) -> bool {
    !part.has(names::TYPE) && part.has(names::REASONING_CONTENT_CAMEL)
}
