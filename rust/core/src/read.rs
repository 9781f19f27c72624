//! What a message says: its tool calls, its tool results, and the text of a result.
//!
//! Every message is recognised by its own structure: Anthropic Messages (content blocks), `OpenAI` Chat
//! (`tool_calls`, role `tool`, the legacy `function_call` and role `function`) and Ollama (arguments as objects,
//! `tool_name`, no ids). The twin is `_pure/read.py`.

use ahash::AHashSet;

use crate::pieces::Piece;
use crate::text::{OwnedText, Text, grouped};
use crate::value::{Key, Value, names, text_or_empty};

/// The name of a tool that nothing names.
pub const UNKNOWN: &str = "unknown";

/// How texts begin that stand for a result that never came.
const SYNTHETIC: [&str; 3] = ["[Request interrupted by user", "[Tool result missing", "[Tool use interrupted"];

/// The kinds of parts that are no text.
const MEDIA: [&str; 7] = ["image", "image_url", "input_image", "document", "audio", "input_audio", "video"];
/// What tells, in a part of another kind, that it is no text either.
const OPAQUE: [Key<'static>; 5] = [names::DATA, names::BLOB, names::FILE_DATA, names::SOURCE, names::ENCRYPTED_CONTENT];
/// Where a part holds what is no text.
const DATA_KEYS: [Key<'static>; 3] = [names::DATA, names::BLOB, names::FILE_DATA];
/// How deep parts may stand in parts: deeper ones are shown as JSON.
const MAX_PARTS: usize = 8;

/// The calls and the results of one message, each in their order, as the wire's own objects.
#[derive(Debug)]
pub struct Said<V> {
    /// `tool_use` blocks, `tool_calls` entries, a legacy `function_call`.
    pub calls: Vec<V>,
    /// `tool_result` blocks, or the message itself where its role is `tool` or `function`.
    pub results: Vec<V>,
}

impl<'a, V: Value<'a>> Said<V> {
    /// Room for what messages say.
    #[must_use]
    pub fn new() -> Self {
        Self { calls: Vec::new(), results: Vec::new() }
    }

    /// Read `message` in place of what was read before.
    pub fn read(&mut self, message: V, role: Text<'a>) {
        self.calls.clear();
        self.results.clear();
        if let Some(content) = message.get(names::CONTENT).and_then(Value::list) {
            self.read_content_blocks(content);
        }
        if role.is("user") {
            return;
        }
        if self.results.is_empty() && (role.is("tool") || role.is("function")) {
            self.calls.clear();
            self.results.push(message);
            return;
        }
        let calls = message.get(names::TOOL_CALLS);
        let legacy = message.get(names::FUNCTION_CALL);
        if calls.is_some() || legacy.is_some() {
            self.read_tool_calls(calls, legacy);
        }
    }

    /// Anthropic: calls and results are blocks of the content.
    fn read_content_blocks(&mut self, content: V) {
        for block in items(content).filter_map(Value::object) {
            let kind = text_or_empty(block.get(names::TYPE));
            if kind.is("tool_result") {
                self.results.push(block);
            } else if kind.is("tool_use") {
                self.calls.push(block);
            } else if kind.ends_with("_tool_result") {
                self.results.push(block);
            } else if kind.is("server_tool_use") || kind.is("mcp_tool_use") {
                self.calls.push(block);
            }
        }
    }

    /// `OpenAI` Chat and Ollama. A call that stands in the content too is one call.
    fn read_tool_calls(&mut self, calls: Option<V>, legacy: Option<V>) {
        let known: AHashSet<Text<'a>> =
            self.calls.iter().map(|call| call_id_of(*call)).filter(|id| !id.is_empty()).collect();
        for wire in calls.and_then(Value::list).into_iter().flat_map(items).filter_map(Value::object) {
            if known.is_empty() || !known.contains(&call_id_of(wire)) {
                self.calls.push(wire);
            }
        }
        self.calls.extend(legacy.and_then(Value::object));
    }
}

impl<'a, V: Value<'a>> Default for Said<V> {
    fn default() -> Self {
        Self::new()
    }
}

/// The items of a list.
pub(crate) fn items<'a, V: Value<'a>>(list: V) -> impl Iterator<Item = V> {
    (0..list.count()).filter_map(move |index| list.item(index))
}

/// The id of a call; empty where it has none.
pub fn call_id_of<'a, V: Value<'a>>(call: V) -> Text<'a> {
    text_or_empty(call.get(names::ID))
}

/// The id of the call that a result answers; empty where it names none.
pub fn answered_id<'a, V: Value<'a>>(result: V) -> Text<'a> {
    text_or_empty(result.get(names::TOOL_USE_ID).or_else(|| result.get(names::TOOL_CALL_ID)))
}

/// The name of the tool that a call is for, and its arguments, as an object.
pub fn name_and_input<'a, V: Value<'a>>(call: V) -> (Text<'a>, V) {
    let source = call.get(names::FUNCTION).and_then(Value::object).unwrap_or(call);
    let raw = source.get(names::INPUT).or_else(|| source.get(names::ARGUMENTS));
    let input = match raw {
        None => call.empty(),
        Some(raw) => raw.object().unwrap_or_else(|| raw.arguments()),
    };
    (text_or_empty(source.get(names::NAME)), input)
}

/// The name of the tool that a call is for.
pub fn call_name<'a, V: Value<'a>>(call: V) -> Text<'a> {
    let source = call.get(names::FUNCTION).and_then(Value::object).unwrap_or(call);
    text_or_empty(source.get(names::NAME))
}

/// The tool's name as a result says it of itself; empty where it does not.
pub fn result_name<'a, V: Value<'a>>(result: V) -> Text<'a> {
    text_or_empty(result.get(names::TOOL_NAME).or_else(|| result.get(names::NAME)))
}

/// The text of a result: parts on lines of their own; what is no text becomes a line that names it.
pub fn result_text<'a, V: Value<'a>>(content: Option<V>) -> Piece<'a> {
    content.map_or(Piece::ascii(""), |content| content_text(content, 0))
}

fn content_text<'a, V: Value<'a>>(content: V, depth: usize) -> Piece<'a> {
    if let Some(text) = content.text() {
        return Piece::Borrowed(text);
    }
    let Some(parts) = content.list() else { return part_text(content, depth) };
    let text_at = |index: usize| parts.item(index).map_or(Piece::ascii(""), |part| part_text(part, depth));
    if parts.count() == 1 {
        return text_at(0);
    }
    let mut joined = OwnedText::default();
    for index in 0..parts.count() {
        if index > 0 {
            joined.push_ascii("\n");
        }
        joined.push(text_at(index).text());
    }
    Piece::own(joined)
}

/// The text of one part of a result; parts may hold parts.
fn part_text<'a, V: Value<'a>>(item: V, depth: usize) -> Piece<'a> {
    if let Some(text) = item.text() {
        return Piece::Borrowed(text);
    }
    let Some(part) = item.object() else { return Piece::own(item.json()) };
    if let Some(text) = part.get(names::TEXT).and_then(Value::text) {
        return Piece::Borrowed(text);
    }
    let Some(kind) = part.get(names::TYPE).and_then(Value::text) else { return Piece::own(part.json()) };
    let kind_name = kind.to_utf8();
    let inner_key = if kind_name == "document" { names::SOURCE } else { Key::named(&kind_name) };
    let inner = part.get(inner_key).and_then(Value::object).unwrap_or(part);
    if let Some(text) = inner.get(names::TEXT).and_then(Value::text) {
        return Piece::Borrowed(text);
    }
    let content = inner.get(names::CONTENT).filter(|content| !is_empty(*content)).or_else(|| part.get(names::CONTENT));
    if let Some(content) = content
        && (content.text().is_some() || content.list().is_some())
        && depth < MAX_PARTS
    {
        return content_text(content, depth + 1);
    }
    let is_opaque = |key: &Key<'_>| part.has(*key) || inner.has(*key);
    if MEDIA.iter().any(|name| kind.is(name)) || OPAQUE.iter().any(is_opaque) {
        return media_line(kind, part);
    }
    Piece::own(part.json())
}

/// Whether a value holds nothing: an empty text or list.
fn is_empty<'a, V: Value<'a>>(value: V) -> bool {
    value.text().is_some_and(Text::is_empty) || value.list().is_some_and(|list| list.count() == 0)
}

/// Whether the content of a result only stands for one that never came.
pub(crate) fn is_synthetic<'a, V: Value<'a>>(content: Option<V>) -> bool {
    let Some(content) = content.filter(|content| !is_empty(*content)) else { return false };
    let text = result_text(Some(content));
    text.text().get(0) == Some(u32::from(b'[')) && SYNTHETIC.iter().any(|start| text.text().starts_with(start))
}

/// `[image: image/png, 34,211 bytes]` for an image, a document or a sound; never its base64.
fn media_line<'a, V: Value<'a>>(kind: Text<'a>, part: V) -> Piece<'a> {
    let label = kind.without_suffix("_url").without_prefix("input_");
    let inner = part.get(names::SOURCE).or_else(|| part.get(Key::named(&kind.to_utf8())));
    let holder = inner.and_then(Value::object).unwrap_or(part);
    let url = inner.and_then(Value::text).or_else(|| holder.get(names::URL).and_then(Value::text));
    if let Some(url) = url {
        return url_line(label, url);
    }
    let data = DATA_KEYS.iter().find_map(|key| holder.get(*key).and_then(Value::text));
    let Some(data) = data else { return line(label, &[]) };
    if data.starts_with("data:") {
        return url_line(label, data);
    }
    if text_or_empty(holder.get(names::TYPE)).is("text") {
        return Piece::Borrowed(data);
    }
    let size = size_note(data);
    let media_type = [names::MEDIA_TYPE, names::MIME_TYPE, names::FORMAT]
        .iter()
        .find_map(|key| holder.get(*key).and_then(Value::text));
    match media_type {
        Some(name) => line(label, &[Text::ascii(": "), name, Text::ascii(", "), Text::ascii(&size)]),
        None => line(label, &[Text::ascii(": "), Text::ascii(&size)]),
    }
}

fn url_line<'a>(label: Text<'_>, url: Text<'_>) -> Piece<'a> {
    if !url.starts_with("data:") {
        return line(label, &[Text::ascii(": "), url]);
    }
    let url = url.slice(5, url.len());
    let comma = url.find(b',').unwrap_or(url.len());
    let size = size_note(url.slice(comma + 1, url.len()));
    let media_type = url.slice(0, comma).without_suffix(";base64");
    line(label, &[Text::ascii(": "), media_type, Text::ascii(", "), Text::ascii(&size)])
}

fn line<'a>(label: Text<'_>, rest: &[Text<'_>]) -> Piece<'a> {
    let mut text = OwnedText::default();
    text.push_ascii("[");
    text.push(label);
    for part in rest {
        text.push(*part);
    }
    text.push_ascii("]");
    Piece::own(text)
}

/// How many bytes base64 text stands for, by its length.
fn size_note(data: Text<'_>) -> String {
    let padding = if data.ends_with("==") { 2 } else { usize::from(data.ends_with("=")) };
    format!("{} bytes", grouped((data.len() * 3 / 4).saturating_sub(padding)))
}
