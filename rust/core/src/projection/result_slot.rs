//! The place of a result's content in a request, and its replacement by another text.
//!
//! Only results that a client supplies are known here. Results of a provider's own tools and of unknown formats are
//! never changed.

use std::vec::IntoIter;

use ahash::AHashMap;

use super::edits::{Changed, Draft, DraftList, Edit, Json, Members, Parts, PartsKey, Path};
use super::marker::Substitute;
use crate::content::{
    Content, RESPONSE_ANSWERS, RESPONSE_KEYS, TEXT_PARTS, has_no_word, is_bare, part_text, result_text,
};
use crate::formats::TEXT_OUTPUTS;
use crate::json::base64::is_data_url_value;
use crate::json::value::{Key, Value, items, names, text_or_empty};
use crate::text::piece::Piece;
use crate::text::{OwnedText, Text};
use crate::tokens::messages::{MEDIA_TOKENS, count_media};

/// Lists longer than this are searched with a map.
const LONG: usize = 8;

/// The content of one result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ResultSlot<V> {
    /// The path of the result.
    pub(crate) path: Path,
    wire: V,
    /// The member of the result that holds `key`; `None` if the result itself does.
    pub(crate) holder: Option<&'static Key<'static>>,
    pub(crate) key: &'static Key<'static>,
    pub(crate) content: Option<V>,
    /// True if a repair leaves so few of the cache marks that none would be lost.
    pub(crate) is_freed: bool,
}

/// The part that takes the new text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Carrier {
    /// The part at an index.
    At(usize),
    /// There is no text part.
    Nothing,
    /// A cache mark would be lost.
    ManyMarks,
}

impl<'a, V: Value<'a>> ResultSlot<V> {
    /// Find the content of a result that a client supplied; `None` for any other value.
    pub(crate) fn at(path: Path, wire: V) -> Option<Self> {
        let is_freed = false;
        let slot =
            |key: &'static Key<'static>| Self { path, wire, holder: None, key, content: wire.get(*key), is_freed };
        if let Some(kind) = wire.get(names::TYPE) {
            let kind = text_or_empty(Some(kind));
            return match () {
                () if kind.is("tool_result") => Some(slot(&names::CONTENT)),
                () if TEXT_OUTPUTS.iter().any(|name| kind.is(name)) => Some(slot(&names::OUTPUT)),
                () => None,
            };
        }
        let role = text_or_empty(wire.get(names::ROLE));
        if role.is("tool") || role.is("function") {
            return Some(slot(&names::CONTENT));
        }
        let holders = [
            (&names::TOOL_RESULT_CAMEL, &names::CONTENT),
            (&names::FUNCTION_RESPONSE_CAMEL, &names::RESPONSE),
            (&names::FUNCTION_RESPONSE, &names::RESPONSE),
        ];
        holders.into_iter().find_map(|(holder, key)| {
            let held = wire.get(*holder).and_then(Value::object)?;
            Some(Self { path, wire, holder: Some(holder), key, content: held.get(*key), is_freed })
        })
    }

    /// Return the text that is measured and cut: the text parts of the content. If the content has only other parts,
    /// these are written as text.
    pub(crate) fn text(&self) -> Content<'a, V> {
        if let Some(value) = self.content.filter(|_| self.is_json()) {
            return Content::Piece(Piece::own(value.json()));
        }
        if let Some(content) = self.blocks() {
            return text_of_blocks(content);
        }
        let Some(parts) = self.parts() else {
            return result_text(self.answer());
        };
        let mut texts = items(parts).filter_map(words_of);
        let Some(first) = texts.next() else { return content_without_blanks(parts) };
        let Some(second) = texts.next() else { return Content::Value(first) };
        let mut joined = OwnedText::from(text_or_empty(Some(first)));
        for text in std::iter::once(second).chain(texts) {
            joined.push_ascii("\n");
            joined.push(text_or_empty(Some(text)));
        }
        Content::Piece(Piece::own(joined))
    }

    /// Return the estimated tokens of the images and documents in the content.
    pub(crate) fn media_tokens(&self) -> usize {
        if let Some(content) = self.blocks() {
            let media =
                blocks_of(content).filter_map(|block| if let Block::Part(part) = block { Some(part) } else { None });
            return MEDIA_TOKENS * media.map(|part| count_media(part, 1)).sum::<usize>();
        }
        let Some(content) = self.answer().filter(|_| !self.is_json()) else { return 0 };
        let is_text = content.text_len().is_some();
        MEDIA_TOKENS * if is_text { usize::from(is_data_url_value(content)) } else { count_media(content, 0) }
    }

    /// Return true if the content is a value without a type, which a repair sends as the text of its JSON.
    pub(crate) fn is_json(&self) -> bool {
        let Some(content) = self.content.filter(|content| self.holder.is_none() && content.text_len().is_none()) else {
            return false;
        };
        match content.list() {
            None => !has_type(content),
            Some(list) => !items(list).any(has_type) && items(list).any(|item| text_of(item).is_none()),
        }
    }

    /// Return the content if a repair makes blocks of Bedrock of it. A list of texts is text as well.
    pub(crate) fn blocks(&self) -> Option<V> {
        let is_blocks = self.holder == Some(&names::TOOL_RESULT_CAMEL);
        let content = self.content.filter(|content| is_blocks && content.text_len().is_none())?;
        let is_text = |item: V| item.text_len().is_some();
        let is_sent = content.list().is_some_and(|list| items(list).all(is_block) || items(list).all(is_text));
        (!is_sent).then_some(content)
    }

    /// Return the content; of a Gemini function response, the answer.
    pub(crate) fn answer(&self) -> Option<V> {
        if *self.key == names::RESPONSE { answer_of(self.content) } else { self.content }
    }

    /// Return the media next to the answer in a Gemini function response.
    pub(crate) fn response_parts(&self) -> Option<V> {
        let holder = self.holder.filter(|_| *self.key == names::RESPONSE)?;
        self.wire.get(*holder)?.object()?.get(names::PARTS)?.list()
    }

    /// Return true if the content can be replaced without losing a cache mark.
    pub(crate) fn is_replaceable(&self) -> bool {
        self.is_freed
            || self.blocks().is_some()
            || self.parts().is_none_or(|parts| carrier(parts) != Carrier::ManyMarks)
    }

    /// Return the changed members of the result, with `new` as its content. Parts that are not text stay, unless the
    /// whole content is replaced.
    pub(crate) fn replaced(&self, new: &Substitute<'a, V>, whole: bool) -> Members<'a, V> {
        let inner = self.inner(new, whole);
        let Some(holder) = self.holder.copied() else { return vec![(*self.key, Some(inner))] };
        let held = self.wire.get(holder).and_then(Value::object);
        let mut members = vec![(*self.key, Some(inner))];
        if whole && RESPONSE_KEYS.contains(&holder) && held.is_some_and(|held| held.has(names::PARTS)) {
            members.push((names::PARTS, None));
        }
        vec![(holder, Some(Edit::Changed(Changed { path: None, of: held, members })))]
    }

    fn inner(&self, new: &Substitute<'a, V>, whole: bool) -> Edit<'a, V> {
        if *self.key == names::RESPONSE {
            return Edit::NewValue(Json::Object(vec![(response_key(self.content), Json::Text(new.text()))]));
        }
        if let Some(content) = self.blocks() {
            return cut_blocks(content, Json::object([("text", Json::Text(new.text()))]), whole);
        }
        let text = || new.json();
        let carrier = if self.is_freed { freed_carrier } else { carrier };
        let Some((parts, Carrier::At(place))) = self.parts().map(|parts| (parts, carrier(parts))) else {
            let is_list = self.holder == Some(&names::TOOL_RESULT_CAMEL);
            let list = || Json::List(vec![Json::object([("text", Json::Text(new.text()))])]);
            return Edit::NewValue(if is_list { list() } else { text() });
        };
        // If no text part has words, the old text was made from all parts, so none of them stays.
        let is_beside = !whole && first_words(parts).is_some();
        let is_url = is_beside && parts.item(place).is_some_and(|part| words_of(part).is_none());
        let place = if is_url { first_words(parts).unwrap_or(place) } else { place };
        let mut drafts = Vec::new();
        for (index, part) in items(parts).enumerate() {
            let path = Path::Inner(index);
            if index != place {
                if is_beside && words_of(part).is_none() {
                    drafts.push(Draft::Original(path, part));
                }
            } else if part.text_len().is_some() {
                drafts.push(Draft::NewValue(text()));
            } else {
                let members = vec![(names::TEXT, Some(Edit::NewValue(text())))];
                drafts.push(Draft::Changed(Changed { path: Some(path), of: Some(part), members }));
            }
        }
        Edit::Parts(Parts { of: Some((DraftList::Inner, parts)), items: drafts })
    }

    /// Return the parts of the content; `None` if it has none.
    ///
    /// A list in a Gemini function response is the answer, which a repair gives a name.
    fn parts(&self) -> Option<V> {
        let is_value = *self.key == names::RESPONSE || self.is_json();
        self.content.filter(|_| !is_value).and_then(Value::list)
    }
}

/// The paths of calls and results in the messages that they were read from.
#[derive(Debug)]
pub(crate) struct Paths<'m, V> {
    messages: &'m [V],
    /// The path of each part by its identity, for messages with many parts.
    known: AHashMap<usize, AHashMap<usize, Path>>,
    /// The paths of each object that a message contains several times, by position and identity.
    repeated: AHashMap<(usize, usize), IntoIter<Path>>,
}

impl<'a, 'm, V: Value<'a>> Paths<'m, V> {
    pub(crate) fn new(messages: &'m [V]) -> Self {
        Self { messages, known: AHashMap::new(), repeated: AHashMap::new() }
    }

    /// Return the path of a value that was read from the message at a position.
    pub(crate) fn of(&mut self, position: usize, wire: V) -> Option<Path> {
        let message = *self.messages.get(position)?;
        let wanted = wire.identity();
        if message.identity() == wanted {
            return Some(Path::Message(position));
        }
        let lists = PartsKey::ALL.map(|key| message.get(key.key()).and_then(Value::list));
        let paths = || {
            let lists = PartsKey::ALL.into_iter().zip(lists);
            let lists = lists.filter_map(|(key, list)| list.map(|list| (key, list)));
            lists.flat_map(move |(key, list)| {
                items(list).enumerate().map(move |(index, part)| (part.identity(), Path::Part(position, key, index)))
            })
        };
        // If an object occurs twice, its last path counts.
        if lists.iter().flatten().map(|list| list.count()).sum::<usize>() <= LONG {
            let mut found = paths().filter(|(identity, _)| *identity == wanted).map(|(_, path)| path);
            let first = found.next();
            let last = found.last();
            if last.is_some() && !self.repeated.contains_key(&(position, wanted)) {
                self.note_repeated(position, paths());
            }
            return last.or(first);
        }
        if !self.known.contains_key(&position) {
            let known: AHashMap<usize, Path> = paths().collect();
            if known.len() < paths().count() {
                self.note_repeated(position, paths());
            }
            self.known.insert(position, known);
        }
        self.known.get(&position)?.get(&wanted).copied()
    }

    /// Do the same as [`Paths::of`], but return the paths of an object that occurs several times one after the other.
    pub(crate) fn next_of(&mut self, position: usize, wire: V) -> Option<Path> {
        let path = self.of(position, wire);
        let place = self.repeated.get_mut(&(position, wire.identity())).and_then(Iterator::next);
        place.or(path)
    }

    /// Return the path of an object that the message contains once.
    pub(crate) fn only(&mut self, position: usize, wire: V) -> Option<Path> {
        let path = self.of(position, wire);
        path.filter(|_| !self.repeated.contains_key(&(position, wire.identity())))
    }

    /// Return true if any requested message contains an object several times.
    pub(crate) fn has_repeated(&self) -> bool {
        !self.repeated.is_empty()
    }

    fn note_repeated(&mut self, position: usize, paths: impl Iterator<Item = (usize, Path)>) {
        let mut found: AHashMap<usize, Vec<Path>> = AHashMap::new();
        for (identity, path) in paths {
            found.entry(identity).or_default().push(path);
        }
        let repeated = found.into_iter().filter(|(_, paths)| paths.len() > 1);
        self.repeated.extend(repeated.map(|(identity, paths)| ((position, identity), paths.into_iter())));
    }
}

/// Return the content of a list without a word. A blank text is no part of the answer, and may be removed.
fn content_without_blanks<'a, V: Value<'a>>(parts: V) -> Content<'a, V> {
    let mut others = items(parts).filter(|part| !text_of(*part).is_some_and(has_no_word));
    let Some(first) = others.next() else { return result_text(Some(parts)) };
    let Some(second) = others.next() else { return Content::Piece(part_text(first, 0)) };
    let mut joined = OwnedText::default();
    joined.push(part_text(first, 0).text());
    for part in std::iter::once(second).chain(others) {
        joined.push_ascii("\n");
        joined.push(part_text(part, 0).text());
    }
    Content::Piece(Piece::own(joined))
}

/// A block of Bedrock that a repair makes.
pub(crate) enum Block<V> {
    /// An item as it is, or a text.
    Part(V),
    /// The JSON of a value, as text.
    Text(OwnedText),
}

impl<'a, V: Value<'a>> Block<V> {
    fn of(item: V) -> Self {
        if is_block(item) || item.text_len().is_some() {
            return Self::Part(item);
        }
        match item.object().map_or(Some(item), |block| block.get(names::JSON)) {
            Some(text) if text.text_len().is_some() => Self::Part(text),
            value => Self::Text(value.map_or_else(|| OwnedText::from_utf8("null"), Value::json)),
        }
    }

    fn has_words(&self) -> bool {
        match self {
            Self::Part(part) => words_of(*part).is_some(),
            Self::Text(_) => true,
        }
    }

    fn text(self) -> Piece<'a> {
        match self {
            Self::Part(part) => {
                words_of(part).and_then(Value::text).map_or_else(|| part_text(part, 0), Piece::Borrowed)
            }
            Self::Text(text) => Piece::own(text),
        }
    }
}

/// Return the blocks that a repair makes of the content of a result. Blank texts are left out, and an object is one block.
pub(crate) fn blocks_of<'a, V: Value<'a>>(content: V) -> impl Iterator<Item = Block<V>> {
    let list = content.list();
    let only = Some(content).filter(|content| list.is_none() && content.object().is_none());
    only.into_iter().chain(list.into_iter().flat_map(items)).filter(|item| !is_blank_text(*item)).map(Block::of)
}

/// Return the texts of the blocks that a repair makes. If there are none, all blocks are written as text.
fn text_of_blocks<'a, V: Value<'a>>(content: V) -> Content<'a, V> {
    if content.object().is_some() {
        return Content::Piece(Piece::own(content.answer_json()));
    }
    let has_words = blocks_of(content).any(|block| block.has_words());
    let mut joined = OwnedText::default();
    for (number, block) in blocks_of(content).filter(|block| !has_words || block.has_words()).enumerate() {
        if number > 0 {
            joined.push_ascii("\n");
        }
        joined.push(block.text().text());
    }
    Content::Piece(Piece::own(joined))
}

/// Return the blocks that a repair makes, with a new one in place of the first text. Others with text are left out.
fn cut_blocks<'a, V: Value<'a>>(content: V, new: Json<'a>, whole: bool) -> Edit<'a, V> {
    let is_beside = !whole && blocks_of(content).any(|block| block.has_words());
    let Some(list) = content.list().filter(|_| is_beside) else { return Edit::NewValue(Json::List(vec![new])) };
    let mut new = Some(Draft::NewValue(new));
    let mut drafts = Vec::new();
    for (index, item) in items(list).enumerate().filter(|(_, item)| !is_blank_text(*item)) {
        match Block::of(item) {
            block if block.has_words() => drafts.extend(new.take()),
            Block::Part(text) if text.text_len().is_some() => {
                let text = Json::Text(Piece::Borrowed(text_or_empty(Some(text))));
                drafts.push(Draft::NewValue(Json::object([("text", text)])));
            }
            _ => drafts.push(Draft::Original(Path::Inner(index), item)),
        }
    }
    Edit::Parts(Parts { of: Some((DraftList::Inner, list)), items: drafts })
}

/// Return true if an item is a text without a word, which is refused in a block, or the block of such a text.
pub(crate) fn is_blank_text<'a, V: Value<'a>>(item: V) -> bool {
    let text = item.object().map_or(Some(item), |block| block.get(names::JSON));
    text.is_some_and(|text| text.text_len().is_some() && has_no_word(text))
}

/// Return true if an item is a block of Bedrock, whose JSON has to be an object.
pub(crate) fn is_block<'a, V: Value<'a>>(item: V) -> bool {
    // "The format of the value at messages.2.content.0.toolResult.content.0.json is invalid. Provide a json object":
    // sigoden/aichat#1542
    let is_object = |block: V| !block.has(names::JSON) || block.get(names::JSON).and_then(Value::object).is_some();
    item.object().is_some_and(is_object)
}

/// Return true if an item says what kind of part it is.
pub(crate) fn has_type<'a, V: Value<'a>>(item: V) -> bool {
    item.object().is_some_and(|item| !text_or_empty(item.get(names::TYPE)).is_empty())
}

/// Return the text of a part that is nothing but text.
pub(crate) fn text_of<'a, V: Value<'a>>(part: V) -> Option<V> {
    if part.text_len().is_some() {
        return Some(part);
    }
    let found = part.object()?;
    let text = found.get(names::TEXT).filter(|text| text.text_len().is_some())?;
    let kind = text_or_empty(found.get(names::TYPE));
    (TEXT_PARTS.iter().any(|name| kind.is(name)) || is_bare(found, names::TEXT)).then_some(text)
}

/// Return the text of a part that is nothing but text, unless it is a data URL, or blank and may be removed.
pub(crate) fn words_of<'a, V: Value<'a>>(part: V) -> Option<V> {
    text_of(part).filter(|text| !has_no_word(*text) && !is_data_url_value(*text))
}

/// Return the text of a part if it is a data URL, and so the medium that it holds.
pub(crate) fn data_url_of<'a, V: Value<'a>>(part: V) -> Option<V> {
    text_of(part).filter(|text| is_data_url_value(*text))
}

/// Choose the text part that takes the new text: the one with a cache mark, otherwise the first. The mark of a part
/// without a word counts only if there is no other mark, and then the last one does.
fn carrier<'a, V: Value<'a>>(parts: V) -> Carrier {
    let is_marked = |part: &V| part.object().is_some_and(|part| part.has(names::CACHE_CONTROL));
    let (mut blank, mut spoken) = (None, None);
    for (index, part) in items(parts).enumerate().filter(|(_, part)| is_marked(part)) {
        let text = text_of(part);
        if text.is_some_and(has_no_word) {
            blank = Some(index);
        } else if text.is_none() || spoken.is_some() {
            return Carrier::ManyMarks;
        } else {
            spoken = Some(index);
        }
    }
    spoken.or(blank).or_else(|| first_words(parts)).map_or(Carrier::Nothing, Carrier::At)
}

/// Choose the text part that takes the new text if all but the last mark are left out: the last one with a mark, which is
/// the one that stays, if any does.
fn freed_carrier<'a, V: Value<'a>>(parts: V) -> Carrier {
    let is_marked = |part: &V| part.object().is_some_and(|part| part.has(names::CACHE_CONTROL));
    let marked = items(parts).enumerate().filter(|(_, part)| is_marked(part) && words_of(*part).is_some());
    let last = marked.map(|(index, _)| index).last();
    last.or_else(|| first_words(parts)).map_or(Carrier::Nothing, Carrier::At)
}

/// Return the index of the first text part that has a word.
fn first_words<'a, V: Value<'a>>(parts: V) -> Option<usize> {
    items(parts).position(|part| words_of(part).is_some())
}

/// Return the name and the value of the only member of an object.
fn only_member<'a, V: Value<'a>>(response: Option<V>) -> Option<(Text<'a>, V)> {
    let held = response?.object().filter(|held| held.size() == 1)?;
    let mut only = None;
    held.members(&mut |name, value| {
        only = Some((name, value));
        false
    });
    only
}

/// Return the answer in a Gemini function response: its only member, else all of it.
fn answer_of<'a, V: Value<'a>>(response: Option<V>) -> Option<V> {
    if let Some((_, text)) = only_member(response).filter(|(_, value)| value.text_len().is_some()) {
        return Some(text);
    }
    let held = response.and_then(Value::object).filter(|held| held.size() == 1);
    let only = held.and_then(|held| RESPONSE_ANSWERS.iter().find_map(|key| held.get(*key)));
    only.or(response)
}

/// Return the member name for a new text: the only name of the old response, otherwise `result`.
fn response_key<'a, V: Value<'a>>(response: Option<V>) -> Piece<'a> {
    only_member(response).map_or(Piece::ascii("result"), |(name, _)| Piece::Borrowed(name))
}
