//! The place where the content of a result stands in a request, and how another text is put in its place.
//!
//! Known are the results that a client gives: those of a provider's own tools are never touched, nor is what nobody knows.

use std::vec::IntoIter;

use ahash::AHashMap;

use super::edits::{Changed, Draft, Edit, Home, Json, Members, Parts, PartsKey, Path};
use super::marker::Substitute;
use crate::content::{Content, TEXT_PARTS, has_no_word, is_bare, result_content};
use crate::json::value::{Key, Value, items, names, text_or_empty};
use crate::text::piece::Piece;
use crate::text::{OwnedText, Text};
use crate::tokens::messages::{MEDIA_TOKENS, count_media};

/// The items of Responses whose `output` is text or parts.
const OUTPUTS: [&str; 3] = ["function_call_output", "custom_tool_call_output", "local_shell_call_output"];
const RESPONSES: [Key<'static>; 2] = [names::FUNCTION_RESPONSE_CAMEL, names::FUNCTION_RESPONSE];
/// Lists that are so long are searched by a map.
const LONG: usize = 8;

/// The content of one result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site<V> {
    /// Where the result stands.
    pub(crate) path: Path,
    wire: V,
    /// The member of the result that holds `key`; nothing where the result does so itself.
    holder: Option<&'static Key<'static>>,
    key: &'static Key<'static>,
    content: Option<V>,
}

/// Which part takes the new text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Carrier {
    /// The part at an index.
    At(usize),
    /// There is no text part.
    Nothing,
    /// A mark would be lost.
    ManyMarks,
}

impl<'a, V: Value<'a>> Site<V> {
    /// The content of a result that a client gave; nothing where it is of another kind.
    pub(crate) fn at(path: Path, wire: V) -> Option<Self> {
        let site = |key: &'static Key<'static>| Self { path, wire, holder: None, key, content: wire.get(*key) };
        if let Some(kind) = wire.get(names::TYPE) {
            let kind = text_or_empty(Some(kind));
            return match () {
                () if kind.is("tool_result") => Some(site(&names::CONTENT)),
                () if OUTPUTS.iter().any(|name| kind.is(name)) => Some(site(&names::OUTPUT)),
                () => None,
            };
        }
        let role = text_or_empty(wire.get(names::ROLE));
        if role.is("tool") || role.is("function") {
            return Some(site(&names::CONTENT));
        }
        let holders = [
            (&names::TOOL_RESULT_CAMEL, &names::CONTENT),
            (&names::FUNCTION_RESPONSE_CAMEL, &names::RESPONSE),
            (&names::FUNCTION_RESPONSE, &names::RESPONSE),
        ];
        holders.into_iter().find_map(|(holder, key)| {
            let held = wire.get(*holder).and_then(Value::object)?;
            Some(Self { path, wire, holder: Some(holder), key, content: held.get(*key) })
        })
    }

    /// What is measured, and cut: the text of the content, without what is no text beside it.
    pub(crate) fn text(&self) -> Content<'a, V> {
        let Some(parts) = self.parts() else {
            return if *self.key == names::RESPONSE {
                response_text(self.content)
            } else {
                result_content(self.content)
            };
        };
        let mut texts = items(parts).filter_map(words_of);
        let Some(first) = texts.next() else { return result_content(self.content) };
        let Some(second) = texts.next() else { return Content::Value(first) };
        let mut joined = OwnedText::from(text_or_empty(Some(first)));
        for text in std::iter::once(second).chain(texts) {
            joined.push_ascii("\n");
            joined.push(text_or_empty(Some(text)));
        }
        Content::Piece(Piece::own(joined))
    }

    /// What the content's images and documents count.
    pub(crate) fn media_tokens(&self) -> usize {
        let content = self.content.filter(|content| content.text_len().is_none());
        MEDIA_TOKENS * content.map_or(0, |content| count_media(content, 0))
    }

    /// Return whether no cache mark would be lost.
    pub(crate) fn is_replaceable(&self) -> bool {
        self.parts().is_none_or(|parts| carrier(parts) != Carrier::ManyMarks)
    }

    /// The members of the result with `new` as its content. Of a list what is no text stays, unless the whole content is
    /// replaced.
    pub(crate) fn replaced(&self, new: &Substitute<'a, V>, whole: bool) -> Members<'a, V> {
        let inner = self.inner(new, whole);
        let Some(holder) = self.holder.copied() else { return vec![(*self.key, Some(inner))] };
        let held = self.wire.get(holder).and_then(Value::object);
        let mut members = vec![(*self.key, Some(inner))];
        if whole && RESPONSES.contains(&holder) && held.is_some_and(|held| held.has(names::PARTS)) {
            members.push((names::PARTS, None));
        }
        vec![(holder, Some(Edit::Changed(Changed { path: None, of: held, members })))]
    }

    fn inner(&self, new: &Substitute<'a, V>, whole: bool) -> Edit<'a, V> {
        if *self.key == names::RESPONSE {
            return Edit::Made(Json::Object(vec![(response_key(self.content), Json::Text(new.text()))]));
        }
        let text = || new.json();
        let Some((parts, Carrier::At(place))) = self.parts().map(|parts| (parts, carrier(parts))) else {
            let is_list = self.holder == Some(&names::TOOL_RESULT_CAMEL);
            let list = || Json::List(vec![Json::object([("text", Json::Text(new.text()))])]);
            return Edit::Made(if is_list { list() } else { text() });
        };
        // Without a text that says something, the old text was that of all parts.
        let is_beside = !whole && first_words(parts).is_some();
        let mut drafts = Vec::new();
        for (index, part) in items(parts).enumerate() {
            let path = Path::Inner(index);
            if index != place {
                if is_beside && words_of(part).is_none() {
                    drafts.push(Draft::Kept(path, part));
                }
            } else if part.text_len().is_some() {
                drafts.push(Draft::Made(text()));
            } else {
                let members = vec![(names::TEXT, Some(Edit::Made(text())))];
                drafts.push(Draft::Changed(Changed { path: Some(path), of: Some(part), members }));
            }
        }
        Edit::Parts(Parts { of: Some((Home::Inner, parts)), items: drafts })
    }

    fn parts(&self) -> Option<V> {
        self.content.and_then(Value::list)
    }
}

/// Where in the messages the calls and the results stand that were read from them.
#[derive(Debug)]
pub(crate) struct Paths<'m, V> {
    messages: &'m [V],
    /// Of messages with many parts: where each stands, by its identity.
    known: AHashMap<usize, AHashMap<usize, Path>>,
    /// Where each object stands that a message holds several times, by the position and its identity.
    repeated: AHashMap<(usize, usize), IntoIter<Path>>,
}

impl<'a, 'm, V: Value<'a>> Paths<'m, V> {
    pub(crate) fn new(messages: &'m [V]) -> Self {
        Self { messages, known: AHashMap::new(), repeated: AHashMap::new() }
    }

    /// The path of what was read from the message at a position.
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
        // An object that stands twice stands where it stands last.
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

    /// The same; of an object that stands several times in the message, each of its places in its turn.
    pub(crate) fn next_of(&mut self, position: usize, wire: V) -> Option<Path> {
        let path = self.of(position, wire);
        let place = self.repeated.get_mut(&(position, wire.identity())).and_then(Iterator::next);
        place.or(path)
    }

    /// Return whether any object stood several times in a message that was asked for.
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

/// The text of a part that is nothing but text.
fn text_of<'a, V: Value<'a>>(part: V) -> Option<V> {
    if part.text_len().is_some() {
        return Some(part);
    }
    let found = part.object()?;
    let text = found.get(names::TEXT).filter(|text| text.text_len().is_some())?;
    let kind = text_or_empty(found.get(names::TYPE));
    (TEXT_PARTS.iter().any(|name| kind.is(name)) || is_bare(found, names::TEXT)).then_some(text)
}

/// The text of a part that is nothing but text, and not white space alone: such a one says nothing, and may be taken out.
fn words_of<'a, V: Value<'a>>(part: V) -> Option<V> {
    text_of(part).filter(|text| !has_no_word(*text))
}

/// Which text part takes the new text: the one with a cache mark, else the first. Marks of texts without a word, which may be
/// taken out, count where there is no other, and then the last one.
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

/// The first text part that says something.
fn first_words<'a, V: Value<'a>>(parts: V) -> Option<usize> {
    items(parts).position(|part| words_of(part).is_some())
}

/// The only member of an object, and its name.
fn only_member<'a, V: Value<'a>>(response: Option<V>) -> Option<(Text<'a>, V)> {
    let held = response?.object().filter(|held| held.size() == 1)?;
    let mut only = None;
    held.members(&mut |name, value| {
        only = Some((name, value));
        false
    });
    only
}

/// What a response that is an answer and nothing else may call it.
const ANSWERS: [Key<'static>; 3] = [names::OUTPUT, names::RESULT, names::ERROR];

/// The text of what a function of Gemini's gave back.
fn response_text<'a, V: Value<'a>>(response: Option<V>) -> Content<'a, V> {
    if let Some((_, text)) = only_member(response).filter(|(_, value)| value.text_len().is_some()) {
        return Content::Value(text);
    }
    let held = response.and_then(Value::object).filter(|held| held.size() == 1);
    let only = held.and_then(|held| ANSWERS.iter().find_map(|key| held.get(*key)));
    result_content(only.or(response))
}

/// Under which name a text is given back: as it was, else as `result`.
fn response_key<'a, V: Value<'a>>(response: Option<V>) -> Piece<'a> {
    only_member(response).map_or(Piece::ascii("result"), |(name, _)| Piece::Borrowed(name))
}
