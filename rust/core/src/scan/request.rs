//! Where a document keeps its messages: the members that a request, a trajectory or an export has them in.

use super::index::{Document, Index};
use super::short::Window;
use super::strings::Raw;
use super::syntax::{Literal, Scan, Visit, read_key, read_value, skip_space, unexpected};
use super::value::Scanned;
use crate::lanes::Lanes;
use crate::read::items;
use crate::text::Text;
use crate::value::{Key, Value, names};

include!(concat!(env!("OUT_DIR"), "/documents.rs"));

/// The place of a member among the lists.
fn rank_of(name: &[u8]) -> Option<usize> {
    LISTS.iter().position(|key| is_name(key, name))
}

fn is_name(key: &Key<'static>, name: &[u8]) -> bool {
    matches!(key.name, Text::Latin1(own) if own == name)
}

/// What a member of a document is to those who look for its messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Part {
    /// The messages, whatever else there is.
    Messages,
    /// A list of this rank may be the messages.
    List(usize),
    /// The document is a message.
    OfMessage,
    #[default]
    Other,
}

impl Part {
    #[inline(always)]
    pub(super) fn of(name: Raw<'_>) -> Self {
        let name = &*name.utf8();
        match rank_of(name) {
            _ if name == b"messages" => Self::Messages,
            Some(rank) => Self::List(rank),
            None if MESSAGE_KEYS.iter().any(|key| is_name(key, name)) => Self::OfMessage,
            None => Self::Other,
        }
    }
}

/// Whether a record is a whole request.
pub(super) fn is_request(record: Scanned<'_>) -> bool {
    let is_list = |key: &Key<'_>| record.get(*key).and_then(Value::list).is_some();
    let is_message = || MESSAGE_KEYS.iter().any(|key| record.has(*key));
    is_list(&names::MESSAGES) || (LISTS.iter().any(is_list) && !is_message())
}

/// The messages of a document that is a request or a list of them, and under which name they stand.
pub(crate) fn messages_of(document: Scanned<'_>) -> Option<(Scanned<'_>, Option<Text<'static>>)> {
    if document.list().is_some() {
        return Some((document, None));
    }
    let list = |key: Key<'static>| Some((document.get(key)?.list()?, Some(key.name)));
    if let Some(found) = list(names::MESSAGES) {
        return Some(found);
    }
    if MESSAGE_KEYS.iter().any(|key| document.has(*key)) {
        return None;
    }
    let mut lists = LISTS.iter().copied().filter_map(list);
    let first = lists.next()?;
    let is_history = first.1 == Some(names::HISTORY.name);
    let has_calls = || items(first.0).any(|item| item.has(names::TOOL_CALLS));
    match list(names::TRAJECTORY).filter(|_| is_history && !has_calls()) {
        Some(trajectory) => Some(trajectory),
        None => Some(first),
    }
}

/// What was found of a document's lists.
#[derive(Default)]
struct Found {
    messages: Option<Index>,
    /// Whether `messages` is something else than a list.
    has_other_messages: bool,
    lists: [Option<Index>; LISTS.len()],
    is_message: bool,
    /// Whether `input` is a text: one message of the user's.
    has_prompt: bool,
}

impl Found {
    fn document(self, start: usize) -> Document {
        if let Some(messages) = self.messages {
            return Document::Messages(messages);
        }
        if self.has_other_messages {
            return Document::Other; // the reference says what is wrong, or what there is beside
        }
        let itself = || Index { starts: vec![u32::try_from(start).unwrap_or(0)], ..Index::default() };
        let mut lists = self.lists;
        let first = lists.iter().position(Option::is_some).filter(|_| !self.is_message);
        let mut take = |rank: usize| lists.get_mut(rank).and_then(Option::take);
        match first.and_then(|rank| Some((rank, take(rank)?))) {
            Some((rank, history)) if rank_of(b"history") == Some(rank) => match rank_of(b"trajectory").and_then(take) {
                Some(trajectory) => Document::Either { history, trajectory },
                None => Document::Messages(history),
            },
            Some((_, list)) => Document::Messages(list),
            None if self.has_prompt && !self.is_message => Document::Other,
            None => Document::Messages(itself()),
        }
    }
}

/// Read an object: the offset behind it, and what it is. Of keys that are there twice, the last counts.
#[inline(always)]
pub(super) fn read_request<L: Lanes>(data: &[u8], start: usize) -> Scan<(usize, Document)> {
    let mut members = Members::default();
    let mut found = Found::default();
    let mut at = skip_space(data, start + 1);
    if data.get(at) != Some(&b'}') {
        loop {
            at = read_key::<L, _>(data, at, &mut members, &mut Window::default())?;
            at = skip_space(data, at);
            let part = members.key.map_or(Part::Other, Part::of);
            let mut list = None;
            if data.get(at) == Some(&b'[') && matches!(part, Part::Messages | Part::List(_)) {
                let index = list.insert(Index::default());
                at = index.read_items::<L>(data, at + 1, 2)?;
            } else {
                if rank_of(b"input").map(Part::List) == Some(part) {
                    found.has_prompt = data.get(at) == Some(&b'"');
                }
                at = read_value::<L, _>(data, at, 1, &mut members)?;
            }
            match part {
                Part::Messages => (found.has_other_messages, found.messages) = (list.is_none(), list),
                Part::List(rank) => found.lists.iter_mut().skip(rank).take(1).for_each(|slot| *slot = list.take()),
                Part::OfMessage => found.is_message = true,
                Part::Other => {}
            }
            at = skip_space(data, at);
            match data.get(at) {
                Some(b',') => at = skip_space(data, at + 1),
                Some(b'}') => break,
                _ => return unexpected(at),
            }
        }
    }
    Ok((at + 1, found.document(start)))
}

/// The members of a request that are no messages: nothing of them is kept.
#[derive(Default)]
struct Members<'a> {
    key: Option<Raw<'a>>,
}

impl<'a> Visit<'a> for Members<'a> {
    fn key(&mut self, _: usize, name: Raw<'a>) {
        self.key = Some(name);
    }

    fn text(&mut self, _: usize, _: Raw<'a>) {}
    fn number(&mut self, _: &'a [u8]) {}
    fn literal(&mut self, _: usize, _: Literal) {}
    fn open(&mut self, _: usize, _: bool) {}
    fn close(&mut self, _: bool) {}
}
