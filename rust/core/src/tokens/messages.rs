//! Count the tokens of a conversation's messages: their text, the calls, and their results.
//!
//! The counted texts are spoken text, thinking, documents and search results, tool names, arguments as JSON, and results
//! as a context shows them. The protocol around them is not counted.

use ahash::AHashSet;

use super::encoding::Encoding;
use super::memo::Memo;
use crate::content::{
    Content, ENCRYPTED_THINKING, MAX_PARTS, PART_LISTS, THINKING_KEYS, THINKING_LISTS, THINKING_TEXTS, attached_text,
    is_media, result_text, spoken_text,
};
use crate::formats::message::MessageParts;
use crate::formats::{read_message, read_result, read_spoken, speaker_of};
use crate::input::messages::{Halt, Messages, NeedsImport, held_message};
use crate::json::base64::is_data_url_value;
use crate::json::value::{Key, Value, items, names, objects, text_or_empty};
use crate::pairing::Walk;
use crate::session::{Placed, Places, QUEUE, TypedAhead};
use crate::text::piece::Piece;

/// The tokens of an image, a document, a sound or a film; in a result, in addition to the line that describes it.
pub(crate) const MEDIA_TOKENS: usize = 1_600;

/// The digits of base64 that one token of encrypted thinking takes: about four characters, and three bytes in four digits.
const DIGITS_PER_TOKEN: usize = 5;
const IMAGES: Key<'static> = Key::new("images");
const THINKING: Key<'static> = Key::new("thinking");
const SUMMARY: Key<'static> = Key::new("summary");
const REASONING_CONTENT: Key<'static> = Key::new("reasoningContent");
const REASONING_TEXT: Key<'static> = Key::new("reasoningText");

/// Return the tokens of every message; of those off the active branch only results that answer its calls.
///
/// Claude Code writes the results of parallel calls on branches of their own, next to the one that goes on.
pub fn message_tokens<'a, M: Messages<'a>>(
    messages: &M,
    encoding: &Encoding,
    memo: &Memo,
) -> Result<Vec<usize>, Halt<M::Error>> {
    let mut places = Places::default();
    let mut counts = Vec::new();
    let mut message_parts = MessageParts::default();
    let mut apart = AHashSet::new();
    let mut ahead = TypedAhead::default();
    let mut position = None;
    while let Some((found, item)) = messages.before(position).map_err(Halt::Source)? {
        position = Some(found);
        let number = messages.number(found);
        if counts.is_empty() {
            counts = vec![0; number + 1];
        }
        let Some(active) = places.place(messages, found, item)?.filter(|placed| placed.is_active) else {
            apart.insert(found);
            continue;
        };
        if !is_said(&active, &mut ahead) {
            continue;
        }
        if let Some(count) = counts.get_mut(number) {
            message_parts.clear();
            *count = tokens_of(active.message, active.role, &mut message_parts, |text| memo.count(&text, encoding))?;
        }
    }
    if apart.is_empty() {
        return Ok(counts);
    }
    let mut walk = Walk::new(messages);
    while let Some(entry) = walk.next_entry()? {
        let Some(result) = entry.result.filter(|_| entry.is_active && apart.contains(&entry.result_position)) else {
            continue;
        };
        if let Some(count) = counts.get_mut(messages.number(entry.result_position)) {
            let content = read_result(result).content;
            *count += memo.count(&result_text(content), encoding) + MEDIA_TOKENS * media_in(content);
        }
    }
    Ok(counts)
}

/// Return false for a text in the queue of Claude Code that also stands elsewhere; note what the user says.
fn is_said<'a, V: Value<'a>>(placed: &Placed<'a, V>, ahead: &mut TypedAhead<'a, V>) -> bool {
    let record = placed.record;
    if record.get(names::ROLE).is_none() && text_or_empty(record.get(names::TYPE)).is(QUEUE) {
        return ahead.text_in(record).is_some();
    }
    if held_message(record).is_some() {
        let spoken = read_spoken(placed.message);
        if spoken.speaker.is("user") {
            ahead.note(spoken.content);
        }
    }
    true
}

fn media_in<'a, V: Value<'a>>(content: Option<V>) -> usize {
    content.map_or(0, |content| count_media(content, 0))
}

/// Return the tokens of one message.
pub(crate) fn tokens_of<'a, V: Value<'a>>(
    message: V,
    role: Option<V>,
    message_parts: &mut MessageParts<'a, V>,
    count: impl Fn(Content<'a, V>) -> usize,
) -> Result<usize, NeedsImport> {
    read_message(message, role, message_parts)?;
    let spoken = read_spoken(message);
    let images = message.get(IMAGES).and_then(Value::list); // Ollama
    let mut media = images.into_iter().flat_map(items).filter(|image| image.text_len().is_some()).count();
    let mut tokens = thinking_tokens(message, &count);
    // The text of a tool is its result.
    if message_parts.results.is_empty() || speaker_of(spoken.speaker).is_some() {
        tokens += count(spoken_text(spoken.content));
        for part in objects(spoken.content) {
            if is_media(part) {
                media += 1;
            } else if let Some(text) = attached_text(part) {
                tokens += count(Content::Piece(text));
                media += count_media(part, 0);
            }
        }
    }
    for call in &message_parts.calls {
        tokens += count(Content::Piece(Piece::Borrowed(call.name)));
        tokens += call.arguments.map_or(0, |arguments| count(arguments_content(arguments)));
    }
    for result in &message_parts.results {
        tokens += count(result_text(result.content));
        media += media_in(result.content);
    }
    Ok(tokens + MEDIA_TOKENS * media)
}

/// Return the tokens of a message's thinking, which is sent and charged like any other text.
///
/// Gateways write it twice, as a text and as a list; the list counts then.
fn thinking_tokens<'a, V: Value<'a>>(message: V, count: &impl Fn(Content<'a, V>) -> usize) -> usize {
    let mut tokens = encrypted_tokens(message);
    let mut is_listed = false;
    for key in THINKING_LISTS {
        if let Some(list) = message.get(*key).filter(|_| !is_listed) {
            for part in objects(Some(list)) {
                texts_in(part, &mut |text| {
                    is_listed = true;
                    tokens += count(Content::Value(text));
                });
                tokens += encrypted_tokens(part);
            }
        }
    }
    for key in THINKING_KEYS.iter().filter(|_| !is_listed) {
        if let Some(text) = message.get(*key).filter(|text| text.text_len().is_some()) {
            tokens += count(Content::Value(text));
        }
    }
    for part in [names::CONTENT, names::PARTS, SUMMARY].into_iter().flat_map(|key| objects(message.get(key))) {
        texts_in(part, &mut |text| tokens += count(Content::Value(text)));
        tokens += encrypted_tokens(part);
    }
    tokens
}

/// Visit the texts of thinking in a part.
fn texts_in<'a, V: Value<'a>>(part: V, visit: &mut dyn FnMut(V)) {
    let mut add = |text: Option<V>| {
        if let Some(text) = text.filter(|text| text.text_len().is_some()) {
            visit(text);
        }
    };
    if let Some(thinking) = part.get(THINKING) {
        add(Some(thinking));
        objects(Some(thinking)).for_each(|chunk| add(chunk.get(names::TEXT))); // Mistral
    }
    let kind = text_or_empty(part.get(names::TYPE));
    let known = THINKING_TEXTS.iter().find(|(name, _)| kind.is(name)).map(|(_, key)| *key);
    let thought = || part.get(names::THOUGHT).is_some_and(Value::is_true).then_some(names::TEXT);
    add(known.or_else(thought).and_then(|key| part.get(key)));
    let held = part.get(REASONING_CONTENT).and_then(Value::object); // Bedrock
    add(held.and_then(|held| held.get(REASONING_TEXT)?.object()?.get(names::TEXT)));
}

/// Return the tokens of the encrypted thinking that a message or a part is, which its provider decrypts into the prompt.
fn encrypted_tokens<'a, V: Value<'a>>(part: V) -> usize {
    let kind = text_or_empty(part.get(names::TYPE));
    let known = ENCRYPTED_THINKING.iter().find(|(name, _)| kind.is(name));
    known.and_then(|(_, key)| part.get(*key)?.text_len()).map_or(0, |digits| digits / DIGITS_PER_TOKEN)
}

fn arguments_content<'a, V: Value<'a>>(arguments: V) -> Content<'a, V> {
    if arguments.text_len().is_some() {
        Content::Value(arguments)
    } else {
        Content::Piece(Piece::own(arguments.json()))
    }
}

/// Count the media in a result, at any depth at which parts are read. A string that is a data URL is one of them.
pub(crate) fn count_media<'a, V: Value<'a>>(content: V, depth: usize) -> usize {
    if depth > MAX_PARTS {
        return 0;
    }
    if content.text_len().is_some() {
        return usize::from(is_data_url_value(content));
    }
    let Some(part) = content.object() else {
        return content.list().into_iter().flat_map(items).map(|item| count_media(item, depth + 1)).sum();
    };
    if is_media(part) {
        return 1;
    }
    // The source of a document may be parts, including images.
    let is_document = text_or_empty(part.get(names::TYPE)).is("document");
    let source = part.get(names::SOURCE).filter(|_| is_document);
    // Media in any other JSON answer count as text.
    let held = PART_LISTS.iter().filter_map(|key| part.get(*key)).chain(source);
    let in_text = part.get(names::TEXT).is_some_and(is_data_url_value);
    usize::from(in_text) + held.map(|value| count_media(value, depth + 1)).sum::<usize>()
}
