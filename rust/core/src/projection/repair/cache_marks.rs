//! Marks for the prompt cache: how many a destination takes, and where.

use super::destinations::{Destination, Form};
use super::frame::{Frame, Step};
use super::message_parts::{parts_of, source_of};
use super::report::Mends;
use crate::json::value::{Value, items, names};
use crate::projection::edits::{Changed, Draft, DraftList, Edit, Parts, PartsKey, Path};
use crate::projection::request::EditedMessages;
use crate::text::Text;
use crate::text::piece::Piece;

/// The place of a mark for the prompt cache.
enum MarkAt {
    /// A part of the frame.
    Frame(Vec<Step>),
    /// A part of a message.
    Part(Path),
    /// An item of a result's content.
    Inner(Path, usize),
}

/// Remove the first marks for the prompt cache, if there are more than the destination takes.
///
/// Their order is that of the prefix: the tools, the system prompt, and the messages, with the content of a result
/// before the result. So the longest prefixes stay in the cache.
pub(crate) fn leave_out_marks<'a, V: Value<'a>>(
    (edited, mut frame): (&mut EditedMessages<'a, '_, V>, Option<&mut Frame<'a, V>>),
    (destination, has_marks): (&Destination, bool),
    mends: &mut Mends<'a>,
) {
    if let Some(frame) = frame.as_deref_mut() {
        leave_out_refused_marks(frame, destination, mends);
    }
    if destination.rules.cache_marks == 0 {
        return;
    }
    let (mut places, mut most) = (Vec::new(), destination.rules.cache_marks);
    if let Some(frame) = frame.as_deref() {
        // A mark of the whole request counts as well:
        // https://platform.claude.com/docs/en/build-with-claude/prompt-caching
        most -= usize::from(is_marked(frame.members));
        for pattern in destination.mark_paths {
            frame.visit(pattern, &mut |path, part| {
                if part.object().is_some_and(is_marked) {
                    places.push(MarkAt::Frame(path.to_vec()));
                }
            });
        }
    }
    let messages = if has_marks { edited.messages } else { &[] };
    for (position, message) in messages.iter().enumerate() {
        if destination.form == Form::Chat && destination.is_result(*message) {
            push_inner(edited, Path::Message(position), *message, &mut places);
            continue;
        }
        let parts = message.get(names::CONTENT).and_then(Value::list);
        for (index, part) in parts.into_iter().flat_map(items).enumerate() {
            let Some(part) = part.object() else { continue };
            let path = Path::Part(position, PartsKey::Content, index);
            if destination.is_result(part) {
                push_inner(edited, path, part, &mut places);
            }
            if is_marked(part) {
                places.push(MarkAt::Part(path));
            }
        }
    }
    let over = places.len().saturating_sub(most);
    for place in places.into_iter().take(over) {
        let position = match &place {
            MarkAt::Frame(_) => None,
            MarkAt::Part(path) | MarkAt::Inner(path, _) => Some(path.position()),
        };
        if position.is_some_and(|position| edited.guard.contains(&position)) {
            continue;
        }
        let mut detail = Piece::default();
        match place {
            MarkAt::Frame(mut path) => {
                if let Some(Step::Member(key)) = path.first() {
                    detail = Piece::Borrowed(key.name);
                }
                path.push(Step::Member(names::CACHE_CONTROL));
                if let Some(frame) = frame.as_deref_mut() {
                    frame.change(path, None);
                }
            }
            MarkAt::Part(path) => edited.edit(path, vec![(names::CACHE_CONTROL, None)]),
            MarkAt::Inner(path, index) => leave_out_inner(edited, path, index),
        }
        mends.add_with("cache_mark", position, Text::ascii(""), detail);
    }
}

/// Remove the parts of the frame that are marks for the prompt cache in a place where they are refused.
fn leave_out_refused_marks<'a, V: Value<'a>>(
    frame: &mut Frame<'a, V>,
    destination: &Destination,
    mends: &mut Mends<'a>,
) {
    let mut gone: Vec<Vec<Step>> = Vec::new();
    for pattern in destination.rules.refused_marks {
        frame.visit(pattern, &mut |path, _| gone.extend(path.split_last().map(|(_, part)| part.to_vec())));
    }
    for path in gone {
        let detail = match path.first() {
            Some(Step::Member(key)) => Piece::Borrowed(key.name),
            _ => Piece::default(),
        };
        mends.add_with("cache_mark", None, Text::ascii(""), detail);
        frame.change(path, None);
    }
}

pub(crate) fn is_marked<'a, V: Value<'a>>(part: V) -> bool {
    part.get(names::CACHE_CONTROL).is_some()
}

/// Add the marks in the content of a result, as it will be.
fn push_inner<'a, V: Value<'a>>(edited: &EditedMessages<'a, '_, V>, path: Path, part: V, places: &mut Vec<MarkAt>) {
    let mut push = |index, is_marked| {
        if is_marked {
            places.push(MarkAt::Inner(path, index));
        }
    };
    match edited.new_content(path, names::CONTENT) {
        Some(Edit::Parts(parts)) => {
            parts.items.iter().enumerate().for_each(|(index, item)| push(index, keeps_mark(item)));
        }
        Some(_) => {}
        None => {
            let list = part.get(names::CONTENT).and_then(Value::list);
            let items = list.into_iter().flat_map(items).enumerate();
            items.for_each(|(index, item)| push(index, item.object().is_some_and(is_marked)));
        }
    }
}

/// Return true if a part of a result has a mark, and keeps it.
fn keeps_mark<'a, V: Value<'a>>(item: &Draft<'a, V>) -> bool {
    let is_removed = match item {
        Draft::Changed(changed) => changed.members.iter().any(|(key, _)| *key == names::CACHE_CONTROL),
        _ => false,
    };
    !is_removed && source_of(item).is_some_and(is_marked)
}

/// Remove the mark of an item of a result's content.
fn leave_out_inner<'a, V: Value<'a>>(edited: &mut EditedMessages<'a, '_, V>, path: Path, index: usize) {
    let content = edited.at(path).and_then(|part| part.object()?.get(names::CONTENT));
    let of = content.and_then(Value::list).map(|list| (DraftList::Inner, list));
    let Some(mut drafts) = parts_of(edited, path, (names::CONTENT, content)) else { return };
    let Some(item) = drafts.get_mut(index) else { return };
    match item {
        Draft::Original(own, value) => {
            let members = vec![(names::CACHE_CONTROL, None)];
            *item = Draft::Changed(Changed { path: Some(*own), of: Some(*value), members });
        }
        Draft::Changed(changed) => changed.members.push((names::CACHE_CONTROL, None)),
        Draft::NewValue(_) => return,
    }
    edited.edit(path, vec![(names::CONTENT, Some(Edit::Parts(Parts { of, items: drafts })))]);
}
