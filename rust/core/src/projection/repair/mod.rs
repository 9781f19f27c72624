//! The repair of a request: each call gets one result in its place, no result remains without a call, and the ids
//! match.
//!
//! Anything that the provider accepts is unchanged. Repairing a repaired request changes nothing.

mod bare_images;
mod cache_marks;
mod calls;
mod chat;
mod contents;
mod documents;
mod ends;
mod found;
pub(crate) mod frame;
pub(crate) mod guard;
mod ids;
mod image_limits;
mod items;
pub(crate) mod media;
mod members;
pub(crate) mod message_parts;
mod own;
mod pairs;
pub(crate) mod parts;
pub(crate) mod prompt;
pub(crate) mod destinations;
pub(crate) mod report;
pub(crate) mod rules;
mod schemas;
pub(crate) mod settings;
mod signatures;
mod state;
mod text_types;
pub(crate) mod texts;
mod tool_names;
mod tools;
mod turns;

use ahash::{AHashMap, AHashSet};

use super::blocks::Block;
use super::edits::{Draft, PartsKey, Path};
use super::repair::bare_images::{join_contents, mend_bare_images};
use super::repair::chat::{fill_contents, repair_chat, take_out_empty_calls};
use super::repair::contents::mend_contents;
use super::repair::destinations::{Destination, Form};
use super::repair::documents::name_documents;
use super::repair::ends::keep_ends;
use super::repair::found::Found;
use super::repair::frame::Frame;
use super::repair::ids::assign_ids;
use super::repair::image_limits::limit_images;
use super::repair::items::repair_items;
use super::repair::members::mend_members;
use super::repair::message_parts::is_thinking;
use super::repair::pairs::Pairs;
use super::repair::parts::mend_parts;
use super::repair::prompt::write_prompt;
use super::repair::report::Mends;
use super::repair::settings::{Build, define_tools, stop_thinking};
use super::repair::state::Repair;
use super::repair::text_types::{is_bare_text, is_text_of_responses};
use super::repair::texts::mend_texts;
use super::repair::turns::{Turns, holds_more};
use super::request::{EditedMessages, is_guarded};
use crate::formats::message::{MessageParts, ReadMessage};
use crate::formats::read_message;
use crate::json::value::{Value, items, names, text_or_empty};
use crate::text::Text;

/// Correct the messages so that their provider accepts them, and add the corrections to `mends`. The changes of the
/// frame are noted in it; `build` makes the message of a draft, and `size` returns the bytes of the request.
pub(crate) fn repair_messages<'a, V: Value<'a>>(
    edited: &mut EditedMessages<'a, '_, V>,
    destination: &'static Destination,
    mends: &mut Mends<'a>,
    (mut frame, build, size): (Option<&mut Frame<'a, V>>, Build<'_, 'a, V>, &dyn Fn() -> usize),
) -> Vec<Draft<'a, V>> {
    take_out_foreign_results(edited, destination, mends);
    let mut pairs = Pairs::new(edited, destination);
    mend_contents(edited, (destination, &pairs), mends);
    let found = Found::new(edited, destination);
    if found.has_odd_parts && mend_parts(edited, (destination, &pairs), mends) {
        limit_images(edited, destination, size, mends);
    }
    mend_bare_images(edited, destination, mends);
    name_documents(edited, destination, mends);
    mend_members((&mut *edited, frame.as_deref_mut()), destination, (&mut pairs, &found), mends);
    let ids = assign_ids(edited, destination, &pairs, mends);
    let mut repair = Repair { edited: &mut *edited, destination, pairs: &pairs, ids: &ids, mends: &mut *mends };
    take_out_empty_calls(&mut repair);
    fill_contents(&mut repair);
    let drafts = match destination.form {
        Form::Turns => Turns::new(repair).repaired(),
        Form::Chat => repair_chat(repair),
        Form::Items => repair_items(repair),
    };
    let mut kept = keep_ends(drafts, edited, (destination, &pairs), mends);
    if let Some(frame) = frame.as_deref_mut() {
        write_prompt((&mut *edited, &mut *frame), (destination, &pairs), (&mut kept, build), mends);
        stop_thinking(frame, destination, (&kept, build), mends);
        define_tools(frame, destination, (&*edited, &pairs), mends);
    }
    join_contents(&mut kept, (&*edited, destination), build, mends);
    if edited.may_be_broken && destination.rules.refuses_surrogates {
        mend_texts(&mut kept, edited, (frame, build), mends);
    }
    kept
}

/// Leave out results in a format other than the destination's, if no call shows that the request is in that format.
///
/// Later steps leave out the orphans that are in the destination's own format.
fn take_out_foreign_results<'a, V: Value<'a>>(
    edited: &mut EditedMessages<'a, '_, V>,
    destination: &Destination,
    mends: &mut Mends<'a>,
) {
    if edited.blocks.iter().any(|block| block.entry.call.is_some()) {
        return;
    }
    let is_found = |path| match path {
        Path::Message(_) => destination.form == Form::Turns,
        Path::Part(_, key, _) => destination.rules.server_pairs && key == destination.key,
        Path::Inner(_) => true,
    };
    let is_foreign = |block: &&Block<'a, V>| {
        let slot = block.slot.zip(block.entry.result).filter(|(slot, _)| !edited.is_gone(slot.path));
        slot.is_some_and(|(slot, result)| {
            let holds_more = slot.holder.is_some_and(|holder| holds_more(result, &[*holder]));
            !holds_more && !destination.is_result(result) && !is_found(slot.path) && !is_guarded(block, edited.guard)
        })
    };
    let foreign: Vec<(Path, Text<'a>)> = edited.blocks.iter().filter(is_foreign).filter_map(named_path).collect();
    let mut counts: AHashMap<usize, usize> = AHashMap::new();
    for (path, _) in &foreign {
        *counts.entry(path.position()).or_default() += 1;
    }
    for (path, call_id) in foreign {
        let position = path.position();
        if let Path::Part(_, key, _) = path {
            let is_all = edited.list(position, key).map(Value::count) == counts.get(&position).copied();
            match key == destination.key {
                true => edited.take_out(path),
                false if is_all => edited.take_out(Path::Message(position)),
                false => continue, // other parts stand where the destination does not look
            }
        } else {
            edited.take_out(path);
        }
        mends.add("orphan_result", Some(position), call_id);
        mends.left_out.insert(path);
    }
}

/// Return the path of a block's result, and the id of its call.
fn named_path<'a, V: Value<'a>>(block: &Block<'a, V>) -> Option<(Path, Text<'a>)> {
    Some((block.result_path?, block.entry.call_id))
}

/// Return the sorted names of the formats of the messages that have calls or results. If both Chat and Ollama are
/// found, the calls decide which of them is returned.
///
/// Some formats always count: those that are not a provider's, such as records of a session file, and those with a
/// feature that only one provider has (the reasoning of Responses and of Bedrock).
///
/// If no message has a call, results answer nothing and will be left out. Then the messages with reasoning, thinking,
/// media or texts that only one provider has decide, if there are any, and so do lists of `parts`, which are Gemini's.
/// If nothing else decides, an empty list of calls means Chat, and words of the assistant in parts mean Anthropic.
///
/// Texts without a type are Bedrock's, unless something tells of a provider whose parts have types: clients forget them.
///
/// `wanted` is the named destination. Results without a call don't decide against it, and texts alone, which have the
/// same type for several providers, are of its shape if its parts have types. Contents are not Gemini's. `known` is what was
/// read of the messages before.
pub(crate) fn formats_of<'a, V: Value<'a>>(
    messages: impl Iterator<Item = V>,
    known: &[Option<ReadMessage>],
    wanted: Option<&'static Destination>,
) -> Vec<&'static str> {
    let asked = wanted.filter(|wanted| wanted.has_types()).map(|wanted| wanted.shape);
    let (mut found, mut callers) = (AHashSet::new(), AHashSet::new());
    let (mut answerers, mut tellers) = (AHashSet::new(), AHashSet::new());
    let (mut lists_calls, mut speaks_in_parts, mut names_calls) = (false, false, false);
    let (mut has_bare, mut has_typed, mut has_content) = (false, false, false);
    let mut message_parts = MessageParts::default();
    for (position, message) in messages.enumerate() {
        let role = message.get(names::ROLE);
        if role.is_none() && (message.has(names::UUID) || message.has(names::MESSAGE)) {
            found.insert("claude-code");
            continue;
        }
        let read = known.get(position).copied().flatten().unwrap_or_else(|| {
            message_parts.clear();
            // The walk halted at a message that needs an importer.
            let shape = read_message(message, role, &mut message_parts).ok().flatten();
            ReadMessage::new(shape, &message_parts)
        });
        let ReadMessage { shape, has_calls, has_results, has_call_ids } = read;
        let content = message.get(names::CONTENT);
        has_content = has_content || content.is_some();
        let parts = content.and_then(Value::list);
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
        if callers.is_empty() && !has_results && tells() {
            tellers.insert(shape.unwrap_or("anthropic"));
        }
        if is_responses && !has_results {
            tellers.insert("openai-responses");
        }
        if !has_results && is_geminis(message) {
            tellers.insert("gemini");
        }
        lists_calls = lists_calls || message.get(names::TOOL_CALLS).and_then(Value::list).is_some();
        if shape != Some("ollama") && text_or_empty(role).is("tool") {
            answerers.insert("openai-chat");
        }
        let Some(name) = shape else { continue };
        if Destination::of_shape(name).is_none() {
            found.insert(name);
        }
        if has_calls {
            callers.insert(name);
            names_calls = names_calls || has_call_ids;
        }
        if has_results {
            answerers.insert(name);
        }
    }
    found.extend(&callers);
    if !found.is_empty() || (tellers.is_empty() && !speaks_in_parts && wanted.is_none()) {
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
            (false, false) if has_content && wanted.is_some_and(|wanted| wanted.key == PartsKey::Parts) => {
                vec!["openai-chat"]
            }
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

/// Return true if a message is one of Gemini's by its parts, which have no type.
fn is_geminis<'a, V: Value<'a>>(message: V) -> bool {
    let parts = message.get(names::PARTS).and_then(Value::list).filter(|parts| parts.count() > 0);
    let is_bare = |part: V| part.object().is_some_and(|part| part.get(names::TYPE).is_none());
    parts.is_some_and(|parts| items(parts).all(is_bare)) && message.get(names::CONTENT).is_none()
}

/// Return true if a part is of a kind that only Bedrock has: a thought without a type.
fn is_bedrocks<'a, V: Value<'a>>(part: V) -> bool {
    !part.has(names::TYPE) && part.has(names::REASONING_CONTENT_CAMEL)
}
