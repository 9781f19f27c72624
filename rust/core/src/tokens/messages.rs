//! Count the tokens of a conversation's messages: what is said, the calls, and their results.
//!
//! Counted is text: what was spoken, tool names, arguments as JSON, and results as a context shows them. Not counted is
//! what no other backend is given: the protocol around it, and thinking.

use super::encoding::Encoding;
use super::memo::Memo;
use crate::content::spoken_content;
use crate::content::{Content, MAX_PARTS, is_media, result_content};
use crate::formats::message::Said;
use crate::formats::{read_message, read_spoken, speaker_of};
use crate::input::messages::{Halt, Messages, NeedsImport};
use crate::json::value::{Key, Value, items, names, objects};
use crate::session::Places;
use crate::text::piece::Piece;

/// Where a part may hold parts. What else an answer in JSON says of media are words.
const HOLDERS: [Key<'static>; 3] = [names::CONTENT, names::PARTS, names::FUNCTION_RESPONSE_CAMEL];
/// What an image, a document, a sound or a film counts beside the line that names it.
pub(crate) const MEDIA_TOKENS: usize = 1_600;

/// The tokens of every message; 0 for what is not on the active branch.
pub fn message_tokens<'a, M: Messages<'a>>(
    messages: &M,
    encoding: &Encoding,
    memo: &Memo,
) -> Result<Vec<usize>, Halt<M::Error>> {
    let mut places = Places::default();
    let mut counts = Vec::new();
    let mut said = Said::default();
    let mut position = None;
    while let Some((found, item)) = messages.before(position).map_err(Halt::Source)? {
        position = Some(found);
        let number = messages.number(found);
        if counts.is_empty() {
            counts = vec![0; number + 1];
        }
        let Some(found) = places.place(messages, found, item)?.filter(|placed| placed.is_active) else { continue };
        if let Some(count) = counts.get_mut(number) {
            said.clear();
            *count = tokens_of(found.message, found.role, &mut said, |text| memo.count(&text, encoding))?;
        }
    }
    Ok(counts)
}

/// The tokens of one message.
pub(crate) fn tokens_of<'a, V: Value<'a>>(
    message: V,
    role: Option<V>,
    said: &mut Said<'a, V>,
    count: impl Fn(Content<'a, V>) -> usize,
) -> Result<usize, NeedsImport> {
    read_message(message, role, said)?;
    let spoken = read_spoken(message);
    let (mut tokens, mut media) = (0, 0);
    // What a tool says is its result.
    if said.results.is_empty() || speaker_of(spoken.speaker).is_some() {
        tokens += count(spoken_content(spoken.content));
        media += objects(spoken.content).filter(|part| is_media(*part)).count();
    }
    for call in &said.calls {
        tokens += count(Content::Piece(Piece::Borrowed(call.name)));
        tokens += call.arguments.map_or(0, |arguments| count(arguments_content(arguments)));
    }
    for result in &said.results {
        tokens += count(result_content(result.content));
        media += result.content.map_or(0, |content| count_media(content, 0));
    }
    Ok(tokens + MEDIA_TOKENS * media)
}

fn arguments_content<'a, V: Value<'a>>(arguments: V) -> Content<'a, V> {
    if arguments.text_len().is_some() {
        Content::Value(arguments)
    } else {
        Content::Piece(Piece::own(arguments.json()))
    }
}

/// The number of parts that are not text, wherever in a result parts may stand.
pub(crate) fn count_media<'a, V: Value<'a>>(content: V, depth: usize) -> usize {
    if depth > MAX_PARTS || content.text_len().is_some() {
        return 0;
    }
    let Some(part) = content.object() else {
        return content.list().into_iter().flat_map(items).map(|item| count_media(item, depth + 1)).sum();
    };
    if is_media(part) {
        return 1;
    }
    let held = HOLDERS.iter().filter_map(|key| part.get(*key));
    held.map(|value| count_media(value, depth + 1)).sum()
}
