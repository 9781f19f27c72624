//! The place of a result's content in a request, and its replacement by another text.
//!
//! Only results that a client supplies are known here. Results of a provider's own tools and of unknown formats are
//! never changed.

use std::vec::IntoIter;

use ahash::AHashMap;

use super::edits::{Changed, Draft, DraftList, Edit, Json, Members, Parts, PartsKey, Path, TextPart};
use super::marker::Substitute;
use crate::content::media::counted_line;
use crate::content::{
    Content, RESPONSE_ANSWERS, RESPONSE_KEYS, TEXT_PARTS, has_no_word, is_bare, is_media, is_null_json, part_text,
    result_text,
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

/// An item of a content, as a repair sends it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Said<V> {
    /// A part, or a text.
    Part(V),
    /// A value that is no part: the text of its JSON. `None` is null.
    Json(Option<V>),
}

impl<'a, V: Value<'a>> Said<V> {
    /// Return the text of a value that is no part.
    pub(crate) fn json_text(value: Option<V>) -> Piece<'a> {
        value.map_or_else(|| Piece::ascii("null"), |value| Piece::own(value.json()))
    }

    /// Return the item, unless it is a value that is no part.
    pub(crate) fn part(self) -> Option<V> {
        match self {
            Self::Part(part) => Some(part),
            Self::Json(_) => None,
        }
    }

    /// Return the text of an item that is no medium; `None` if it is one, or blank.
    fn words(self) -> Option<Content<'a, V>> {
        match self {
            Self::Part(part) if !self.is_other() => words_of(part).map(Content::Value),
            Self::Part(part) => Some(Content::Piece(part_text(part, 0))),
            Self::Json(value) => Some(Content::Piece(Self::json_text(value))),
        }
    }

    /// Return true if an item is neither a text nor a medium, such as a search result or JSON.
    fn is_other(self) -> bool {
        self.part().is_none_or(|part| text_of(part).is_none() && !part.object().is_some_and(is_media))
    }

    pub(crate) fn has_words(self) -> bool {
        self.is_other() || self.is_text()
    }

    fn is_text(self) -> bool {
        self.part().is_some_and(|part| words_of(part).is_some())
    }
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

    /// Return the members of the result that give it another content.
    pub(crate) fn holding(&self, content: Edit<'a, V>) -> Members<'a, V> {
        let members = vec![(*self.key, Some(content))];
        match self.holder {
            None => members,
            Some(holder) => {
                let of = self.wire.get(*holder).and_then(Value::object);
                vec![(*holder, Some(Edit::Changed(Changed { path: None, of, members })))]
            }
        }
    }

    /// Return the text that is measured and cut: that of all parts of the content but media. If the content has only
    /// media, their lines.
    pub(crate) fn text(&self) -> Content<'a, V> {
        if let Some(value) = self.content.filter(|_| self.is_json()) {
            return Content::Piece(Piece::own(value.json()));
        }
        let Some(parts) = self.parts() else {
            let answer = self.answer();
            let medium = answer.filter(|answer| answer.object().is_some_and(is_media));
            let answer = medium.map_or_else(|| result_text(answer), |medium| Content::Piece(line_of(medium)));
            let mut more = self.parts_with_words().peekable();
            if more.peek().is_none() {
                return answer;
            }
            let mut joined = OwnedText::from(answer.whole().text());
            for part in more {
                joined.push_ascii("\n");
                joined.push(part_text(part, 0).text());
            }
            return Content::Piece(Piece::own(joined));
        };
        let mut texts = items(parts).filter_map(|part| self.said(part).words());
        let Some(first) = texts.next() else { return self.content_without_blanks(parts) };
        let Some(second) = texts.next() else { return first };
        let mut joined = OwnedText::default();
        joined.push(first.whole().text());
        for text in std::iter::once(second).chain(texts) {
            joined.push_ascii("\n");
            joined.push(text.whole().text());
        }
        Content::Piece(Piece::own(joined))
    }

    /// Return an item of the content as a repair sends it.
    pub(crate) fn said(&self, part: V) -> Said<V> {
        if *self.key == names::RESPONSE || text_of(part).is_some() {
            return Said::Part(part);
        }
        if self.holder.is_none() {
            return if has_type(part) { Said::Part(part) } else { Said::Json(Some(part)) };
        }
        if is_block(part) {
            return Said::Part(part);
        }
        match part.object() {
            None => Said::Json(Some(part)),
            Some(block) if block.size_without_nulls() < 2 => match block.get(names::JSON) {
                Some(value) if value.text_len().is_some() => Said::Part(value),
                value => Said::Json(value),
            },
            Some(_) => Said::Part(part),
        }
    }

    fn all_said(&self, parts: V) -> impl Iterator<Item = Said<V>> {
        items(parts).map(|part| self.said(part))
    }

    /// Return the content of a list without a word. A blank text is no part of the answer, and may be removed.
    fn content_without_blanks(&self, parts: V) -> Content<'a, V> {
        let said = self.all_said(parts).filter_map(Said::part);
        let mut others = said.filter(|part| !text_of(*part).is_some_and(has_no_word));
        let Some(first) = others.next() else { return result_text(Some(parts)) };
        let Some(second) = others.next() else { return Content::Piece(line_of(first)) };
        let mut joined = OwnedText::default();
        joined.push(line_of(first).text());
        for part in std::iter::once(second).chain(others) {
            joined.push_ascii("\n");
            joined.push(line_of(part).text());
        }
        Content::Piece(Piece::own(joined))
    }

    /// Return the estimated tokens of the images and documents in the content.
    pub(crate) fn media_tokens(&self) -> usize {
        let Some(content) = self.answer().filter(|_| !self.is_json()) else { return 0 };
        if content.text_len().is_some() {
            return MEDIA_TOKENS * usize::from(is_data_url_value(content));
        }
        let Some(parts) = self.parts() else { return MEDIA_TOKENS * count_media(content, 0) };
        MEDIA_TOKENS * self.all_said(parts).filter_map(Said::part).map(|part| count_media(part, 1)).sum::<usize>()
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

    /// Return the content; of a Gemini function response, the answer.
    pub(crate) fn answer(&self) -> Option<V> {
        if *self.key == names::RESPONSE { answer_of(self.content) } else { self.content }
    }

    /// Return the media next to the answer in a Gemini function response.
    pub(crate) fn response_parts(&self) -> Option<V> {
        let holder = self.holder.filter(|_| *self.key == names::RESPONSE)?;
        self.wire.get(*holder)?.object()?.get(names::PARTS)?.list()
    }

    /// Return the members of a Gemini function response without some of the parts next to the answer. `told` is a member
    /// of the answer with what was said of them before, and more lines.
    pub(crate) fn without_parts(&self, gone: &[usize], told: Option<(Key<'static>, Piece<'a>)>) -> Members<'a, V> {
        let rest = self.response_parts().into_iter().flat_map(items).enumerate();
        let rest = rest.filter(|(index, _)| !gone.contains(index));
        self.with_parts(rest.map(|(index, part)| Draft::Original(Path::Inner(index), part)).collect(), told)
    }

    /// Return the members of a Gemini function response with other parts next to the answer, and `told`.
    pub(crate) fn with_parts(
        &self,
        rest: Vec<Draft<'a, V>>,
        told: Option<(Key<'static>, Piece<'a>)>,
    ) -> Members<'a, V> {
        let Some(holder) = self.holder.copied() else { return Vec::new() };
        let of = self.response_parts().map(|parts| (DraftList::Inner, parts));
        let parts = (!rest.is_empty()).then_some(Edit::Parts(Parts { of, items: rest }));
        let mut members = vec![(names::PARTS, parts)];
        if let (Some((key, lines)), Some(answer)) = (told, self.content.and_then(Value::object)) {
            let before = text_or_empty(answer.get(key));
            let gap = if before.is_empty() { "" } else { "\n" };
            let words = [Piece::Borrowed(before), Piece::ascii(gap), lines];
            let words = Json::Joined(words.into_iter().map(TextPart::Text).collect());
            let new = vec![(key, Some(Edit::NewValue(words)))];
            members.push((*self.key, Some(Edit::Changed(Changed { path: None, of: Some(answer), members: new }))));
        }
        let held = self.wire.get(holder).and_then(Value::object);
        vec![(holder, Some(Edit::Changed(Changed { path: None, of: held, members })))]
    }

    /// Return the parts next to the answer in a Gemini function response that are not media.
    fn parts_with_words(&self) -> impl Iterator<Item = V> {
        self.response_parts().into_iter().flat_map(items).filter(|part| Said::Part(*part).has_words())
    }

    /// Return true if the content can be replaced without losing a cache mark.
    pub(crate) fn is_replaceable(&self) -> bool {
        self.is_freed || self.parts().is_none_or(|parts| self.carrier(parts) != Carrier::ManyMarks)
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
        } else if let Some(parts) = self.response_parts().filter(|_| self.parts_with_words().next().is_some()) {
            let media = items(parts).enumerate().filter(|(_, part)| !Said::Part(*part).has_words());
            let items: Vec<_> = media.map(|(index, part)| Draft::Original(Path::Inner(index), part)).collect();
            let of = Some((DraftList::Inner, parts));
            members.push((names::PARTS, (!items.is_empty()).then_some(Edit::Parts(Parts { of, items }))));
        }
        vec![(holder, Some(Edit::Changed(Changed { path: None, of: held, members })))]
    }

    fn inner(&self, new: &Substitute<'a, V>, whole: bool) -> Edit<'a, V> {
        if *self.key == names::RESPONSE {
            return Edit::NewValue(Json::Object(vec![(response_key(self.content), Json::Text(new.text()))]));
        }
        let text = || new.json();
        let parts = self.parts();
        let is_beside = !whole && parts.is_some_and(|parts| self.leaves_others(parts));
        let carrier = |parts| if self.is_freed { self.freed_carrier(parts) } else { self.carrier(parts) };
        let is_text = |parts: V, place| is_beside || parts.item(place).is_some_and(|part| text_of(part).is_some());
        let place = parts.map(|parts| (parts, carrier(parts)));
        let Some((parts, Carrier::At(place))) = place.filter(|(parts, carrier)| match carrier {
            Carrier::At(place) => is_text(*parts, *place),
            _ => true,
        }) else {
            let is_list = self.holder == Some(&names::TOOL_RESULT_CAMEL);
            let list = || Json::List(vec![Json::object([("text", Json::Text(new.text()))])]);
            return Edit::NewValue(if is_list { list() } else { text() });
        };
        let is_url = is_beside && parts.item(place).is_some_and(|part| !self.said(part).has_words());
        let place = if is_url { self.first_words(parts).unwrap_or(place) } else { place };
        let mut drafts = Vec::new();
        for (index, part) in items(parts).enumerate() {
            let path = Path::Inner(index);
            if index != place {
                if is_beside && !self.said(part).has_words() {
                    drafts.push(Draft::Original(path, part));
                }
            } else if part.text_len().is_some() || matches!(self.said(part), Said::Json(_)) {
                drafts.push(Draft::NewValue(text()));
            } else if text_of(part).is_none() {
                drafts.push(Draft::NewValue(self.text_part(text())));
            } else {
                let members = vec![(names::TEXT, Some(Edit::NewValue(text())))];
                drafts.push(Draft::Changed(Changed { path: Some(path), of: Some(part), members }));
            }
        }
        Edit::Parts(Parts { of: Some((DraftList::Inner, parts)), items: drafts })
    }

    /// Return a new part with a text.
    fn text_part(&self, text: Json<'a>) -> Json<'a> {
        let kind = Json::ascii(if *self.key == names::OUTPUT { "input_text" } else { "text" });
        match self.holder {
            Some(_) => Json::object([("text", text)]),
            None => Json::object([("type", kind), ("text", text)]),
        }
    }

    /// Return true if the text was not made of all parts: others stay next to it.
    ///
    /// If no text part has a word, blank ones do not.
    fn leaves_others(&self, parts: V) -> bool {
        if items(parts).any(|part| words_of(part).is_some()) {
            return true;
        }
        let is_medium = |said: Said<V>| !said.has_words() && !said.part().and_then(text_of).is_some_and(has_no_word);
        self.first_words(parts).is_some() && self.all_said(parts).any(is_medium)
    }

    /// Choose the text part that takes the new text: the one with a cache mark, otherwise the first. The mark of a part
    /// without a word counts only if there is no other mark, and then the last one does.
    fn carrier(&self, parts: V) -> Carrier {
        let (mut blank, mut spoken) = (None, None);
        for (index, part) in self.marked(parts) {
            let text = text_of(part);
            if text.is_some_and(has_no_word) {
                blank = Some(index);
            } else if text.is_none() || spoken.is_some() {
                return Carrier::ManyMarks;
            } else {
                spoken = Some(index);
            }
        }
        spoken.or(blank).or_else(|| self.first_words(parts)).map_or(Carrier::Nothing, Carrier::At)
    }

    /// Choose the text part that takes the new text if all but the last mark are left out: the last one with a mark,
    /// which is the one that stays, if any does.
    fn freed_carrier(&self, parts: V) -> Carrier {
        let marked = self.marked(parts).filter(|(_, part)| words_of(*part).is_some());
        let last = marked.map(|(index, _)| index).last();
        last.or_else(|| self.first_words(parts)).map_or(Carrier::Nothing, Carrier::At)
    }

    /// Return the parts with a cache mark, and their indices.
    fn marked(&self, parts: V) -> impl Iterator<Item = (usize, V)> {
        let said = items(parts).enumerate();
        let marked = said.filter(|(_, part)| part.object().is_some_and(|part| part.has(names::CACHE_CONTROL)));
        marked.filter_map(|(index, part)| Some((index, self.said(part).part()?)))
    }

    /// Return the index of the first text part that has a word, or else of the first other part that is no medium.
    fn first_words(&self, parts: V) -> Option<usize> {
        let position = |has: fn(Said<V>) -> bool| self.all_said(parts).position(has);
        position(Said::is_text).or_else(|| position(Said::has_words))
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

/// Return true if an item says what kind of part it is.
pub(crate) fn has_type<'a, V: Value<'a>>(item: V) -> bool {
    item.object().is_some_and(|item| !text_or_empty(item.get(names::TYPE)).is_empty())
}

/// Return true if an item is a block of Bedrock, whose JSON has to be an object.
pub(crate) fn is_block<'a, V: Value<'a>>(item: V) -> bool {
    // "The format of the value at messages.2.content.0.toolResult.content.0.json is invalid. Provide a json object":
    // sigoden/aichat#1542
    let is_object = |block: V| match block.get(names::JSON) {
        Some(json) => json.object().is_some(),
        None => !is_null_json(block),
    };
    item.object().is_some_and(is_object)
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

/// Return the text of a part of a result; the line of a medium as a limit counts it.
pub(crate) fn line_of<'a, V: Value<'a>>(part: V) -> Piece<'a> {
    let text = part_text(part, 0);
    if part.object().is_some_and(is_media) { counted_line(text) } else { text }
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
