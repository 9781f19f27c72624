//! Marks for the prompt cache: how many a destination takes, and where.

use super::destinations::{Destination, Form};
use super::frame::{Frame, Step};
use super::message_parts::{parts_of, source_of};
use super::report::Mends;
use crate::json::value::{Key, Value, items, names, text_or_empty};
use crate::projection::edits::{Changed, Draft, DraftList, Edit, Parts, PartsKey, Path};
use crate::projection::request::EditedMessages;
use crate::text::Text;
use crate::text::piece::Piece;

const TTL: Key<'static> = Key::new("ttl");
/// The only member of a part that is a mark by itself (Bedrock).
const POINT: Key<'static> = Key::new("cachePoint");
/// The members with which a part of Bedrock says something.
const CONTENTS: [Key<'static>; 7] = [
    names::TEXT,
    Key::of("toolUse"),
    Key::of("toolResult"),
    Key::of("reasoningContent"),
    Key::of("image"),
    Key::of("document"),
    Key::of("video"),
];
/// The longest lifetime of a mark; without one, a mark has the shortest.
const LONGEST: &str = "1h";

/// The place of a mark for the prompt cache.
enum MarkAt {
    /// A part of the frame.
    Frame(Vec<Step>),
    /// A part of a message.
    Part(Path),
    /// An item of a result's content.
    Inner(Path, usize),
}

/// Remove the first marks for the prompt cache, if there are more than the destination takes, and give one that lasts
/// longer than one before it the shorter lifetime, if the destination asks for that.
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
                let own = part.object().and_then(mark_of);
                places.extend(own.map(|own| (MarkAt::Frame(path.to_vec()), own)));
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
        let mut follows_thought = false;
        for (index, part) in parts.into_iter().flat_map(items).enumerate() {
            let Some(part) = part.object() else { continue };
            let path = Path::Part(position, PartsKey::Content, index);
            if destination.is_result(part) {
                push_inner(edited, path, part, &mut places);
            }
            if follows_thought && is_point(part) && !edited.guard.contains(&position) {
                edited.take_out(path);
                mends.add("cache_mark", Some(position), Text::ascii(""));
                continue;
            }
            follows_thought = destination.rules.refuses_marked_thoughts && part.has(names::REASONING_CONTENT_CAMEL);
            places.extend(mark_of(part).map(|mark| (MarkAt::Part(path), mark)));
        }
    }
    let over = places.len().saturating_sub(most);
    let mut is_short = false;
    for (number, (place, (key, mark))) in places.into_iter().enumerate() {
        let is_long = text_or_empty(mark.get(TTL)).is(LONGEST);
        is_short = is_short || (number >= over && !is_long);
        let kind = match () {
            () if number < over => "cache_mark",
            () if destination.rules.marks_shorten && is_short && is_long => "cache_mark_order",
            () => continue,
        };
        let position = match &place {
            MarkAt::Frame(_) => None,
            MarkAt::Part(path) | MarkAt::Inner(path, _) => Some(path.position()),
        };
        if position.is_some_and(|position| edited.guard.contains(&position)) {
            continue;
        }
        let shorter = (kind == "cache_mark_order")
            .then(|| Edit::Changed(Changed { path: None, of: Some(mark), members: vec![(TTL, None)] }));
        let mut detail = Piece::default();
        match place {
            MarkAt::Frame(mut path) => {
                if let Some(Step::Member(key)) = path.first() {
                    detail = Piece::Borrowed(key.name);
                }
                if key != POINT || shorter.is_some() {
                    path.push(Step::Member(key));
                }
                path.extend(shorter.is_some().then_some(Step::Member(TTL)));
                if let Some(frame) = frame.as_deref_mut() {
                    frame.change(path, None);
                }
            }
            MarkAt::Part(path) if key == POINT && shorter.is_none() => edited.take_out(path),
            MarkAt::Part(path) => edited.edit(path, vec![(key, shorter)]),
            MarkAt::Inner(path, index) => edit_inner(edited, path, index, shorter),
        }
        mends.add_with(kind, position, Text::ascii(""), detail);
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

/// Return true if a part is a mark by itself.
pub(super) fn is_point<'a, V: Value<'a>>(part: V) -> bool {
    part.has(POINT) && !CONTENTS.iter().any(|key| part.has(*key))
}

/// Return the mark of a part, or the one that the part is, and the member with it.
fn mark_of<'a, V: Value<'a>>(part: V) -> Option<(Key<'static>, V)> {
    let key = if is_point(part) { POINT } else { names::CACHE_CONTROL };
    part.get(key).map(|mark| (key, mark))
}

/// Add the marks in the content of a result, as it will be.
fn push_inner<'a, V: Value<'a>>(
    edited: &EditedMessages<'a, '_, V>,
    path: Path,
    part: V,
    places: &mut Vec<(MarkAt, (Key<'static>, V))>,
) {
    let mut push =
        |index, mark: Option<(Key<'static>, V)>| places.extend(mark.map(|mark| (MarkAt::Inner(path, index), mark)));
    match edited.new_content(path, names::CONTENT) {
        Some(Edit::Parts(parts)) => {
            parts.items.iter().enumerate().for_each(|(index, item)| push(index, kept_mark(item)));
        }
        Some(_) => {}
        None => {
            let list = part.get(names::CONTENT).and_then(Value::list);
            let items = list.into_iter().flat_map(items).enumerate();
            items.for_each(|(index, item)| push(index, item.object().and_then(mark_of)));
        }
    }
}

/// Return the mark of a part of a result, if the part keeps it.
fn kept_mark<'a, V: Value<'a>>(item: &Draft<'a, V>) -> Option<(Key<'static>, V)> {
    let is_removed = match item {
        Draft::Changed(changed) => changed.members.iter().any(|(key, _)| *key == names::CACHE_CONTROL),
        _ => false,
    };
    source_of(item).and_then(mark_of).filter(|_| !is_removed)
}

/// Change the mark of an item of a result's content, or remove it (`None`).
fn edit_inner<'a, V: Value<'a>>(
    edited: &mut EditedMessages<'a, '_, V>,
    path: Path,
    index: usize,
    mark: Option<Edit<'a, V>>,
) {
    let content = edited.at(path).and_then(|part| part.object()?.get(names::CONTENT));
    let of = content.and_then(Value::list).map(|list| (DraftList::Inner, list));
    let Some(mut drafts) = parts_of(edited, path, (names::CONTENT, content)) else { return };
    let Some(item) = drafts.get_mut(index) else { return };
    match item {
        Draft::Original(own, value) => {
            let members = vec![(names::CACHE_CONTROL, mark)];
            *item = Draft::Changed(Changed { path: Some(*own), of: Some(*value), members });
        }
        Draft::Changed(changed) => changed.members.push((names::CACHE_CONTROL, mark)),
        Draft::NewValue(_) => return,
    }
    edited.edit(path, vec![(names::CONTENT, Some(Edit::Parts(Parts { of, items: drafts })))]);
}
