//! The members of messages, calls and items that a destination refuses, or wants in another form.
//!
//! Nothing here moves a message or a result: each correction is an edit in its place, so that the rest of the repair
//! merges its own edits with it.

use ahash::{AHashMap, AHashSet};

use super::destinations::{ArgumentsAt, ArgumentsForm, Destination, Form, IdRule, begins_word};
use super::frame::{Frame, Step};
use super::ids::id_member;
use super::message_parts::{parts_of, source_of, without_surrogates};
use super::pairs::Pairs;
use super::prompt::{is_systems, take_out_prompt};
use super::report::Mends;
use crate::json::value::{Key, Value, items, names, text_or_empty};
use crate::projection::arguments::with_markers;
use crate::projection::edits::{Changed, Draft, DraftList, Edit, Json, Parts, PartsKey, Path};
use crate::projection::request::EditedMessages;
use crate::text::constants::UNSIGNED_CALL;
use crate::text::piece::Piece;
use crate::text::{OwnedText, Text};

const SIGNATURE: Key<'static> = Key::new("signature");
const SUMMARY: Key<'static> = Key::new("summary");
/// The members that hold the signature of a call.
const THOUGHT_SIGNATURES: [Key<'static>; 2] = [Key::new("thoughtSignature"), Key::new("thought_signature")];

/// Correct the members of messages, calls and items.
pub(crate) fn mend_members<'a, V: Value<'a>>(
    (edited, mut frame): (&mut EditedMessages<'a, '_, V>, Option<&mut Frame<'a, V>>),
    destination: &Destination,
    pairs: &mut Pairs<'a>,
    mends: &mut Mends<'a>,
) {
    if let Some(frame) = frame.as_deref() {
        take_out_prompt((&mut *edited, frame), (destination, pairs), mends);
    }
    mend_roles(edited, destination, pairs, mends);
    let found = Found::new(edited, destination);
    if found.has_thoughts {
        leave_out_thoughts(edited, (destination, pairs), mends);
    }
    if found.has_refused {
        leave_out_members(edited, (destination, pairs), mends);
    }
    share_members(edited, destination, mends);
    leave_out_marks((edited, frame.as_deref_mut()), (destination, found.has_marks), mends);
    if found.has_bare_texts {
        mend_bare_texts(edited, (destination, pairs), mends);
    }
    mend_items(edited, destination, mends);
    mend_names((edited, frame), destination, pairs, mends);
    mend_arguments(edited, destination, pairs, mends);
    mend_call_types(edited, destination, pairs, mends);
    sign_calls(edited, (destination, pairs), mends);
}

/// The things in messages that some steps look for. One look at each part finds them all, so that a request without them
/// skips these steps.
#[derive(Default)]
struct Found {
    has_thoughts: bool,
    has_refused: bool,
    has_marks: bool,
    has_bare_texts: bool,
}

impl Found {
    fn new<'a, V: Value<'a>>(edited: &EditedMessages<'a, '_, V>, destination: &Destination) -> Self {
        let mut found = Self::default();
        let refused = destination.refused_members;
        for message in edited.messages {
            found.has_refused = found.has_refused || (!refused.is_empty() && message.has_any(refused));
            let parts = message.get(names::CONTENT).and_then(Value::list);
            for part in parts.into_iter().flat_map(items).filter_map(Value::object) {
                found.note(part, destination);
            }
        }
        found
    }

    /// Note what a part has. The parts of a result may have marks.
    fn note<'a, V: Value<'a>>(&mut self, part: V, destination: &Destination) {
        self.has_marks = self.has_marks || part.has(names::CACHE_CONTROL);
        let Some(kind) = part.get(names::TYPE) else {
            self.has_bare_texts = self.has_bare_texts || part.has(names::TEXT);
            return;
        };
        let kind = text_or_empty(Some(kind));
        self.has_thoughts = self.has_thoughts || kind.is("thinking");
        if !self.has_marks && destination.cache_marks > 0 && kind.is("tool_result") {
            let inner = part.get(names::CONTENT).and_then(Value::list);
            self.has_marks = inner.into_iter().flat_map(items).filter_map(Value::object).any(is_marked);
        }
    }
}

/// Make system messages the user's where the destination refuses them, except for those of the system prompt. Others get
/// the role `system` if the destination does not know `developer`.
///
/// They stay in their place: what they say holds from there on, and the messages before them stay in the prompt cache.
fn mend_roles<'a, V: Value<'a>>(
    edited: &mut EditedMessages<'a, '_, V>,
    destination: &Destination,
    pairs: &Pairs<'a>,
    mends: &mut Mends<'a>,
) {
    let moves = destination.refuses_system || destination.system_begins;
    if !moves && !destination.refuses_developer {
        return;
    }
    let mut is_begun = destination.refuses_system;
    let mut found = Vec::new();
    for (position, message) in edited.messages.iter().enumerate() {
        if !is_systems(*message) {
            is_begun = true;
        } else if !edited.guard.contains(&position) && !edited.is_gone(Path::Message(position)) {
            let is_refused = is_begun && moves;
            let is_developers = text_or_empty(message.get(names::ROLE)).is("developer");
            if is_refused || (destination.refuses_developer && is_developers) {
                found.push((position, is_refused));
            }
        }
    }
    if found.is_empty() {
        return;
    }
    let callers: AHashSet<usize> = pairs.calls().map(|(path, _)| path.position()).collect();
    for (position, is_refused) in found.into_iter().filter(|(position, _)| !callers.contains(position)) {
        if is_refused {
            edited.users.insert(position);
        }
        let (role, kind) = if is_refused { ("user", "system_message") } else { ("system", "renamed_role") };
        edited.edit(Path::Message(position), vec![(names::ROLE, Some(Edit::NewValue(Json::ascii(role))))]);
        mends.add(kind, Some(position), Text::ascii(""));
    }
}

/// Remove thoughts without a signature, which another model had, or which a gateway passed on without it.
fn leave_out_thoughts<'a, V: Value<'a>>(
    edited: &mut EditedMessages<'a, '_, V>,
    (destination, pairs): (&Destination, &Pairs<'a>),
    mends: &mut Mends<'a>,
) {
    if !destination.signed_thoughts {
        return;
    }
    // They get the model's role.
    let callers: AHashSet<usize> = pairs.calls().map(|(path, _)| path.position()).collect();
    let is_unsigned =
        |part: V| text_or_empty(part.get(names::TYPE)).is("thinking") && text_or_empty(part.get(SIGNATURE)).is_empty();
    for (position, message) in edited.messages.iter().enumerate() {
        let is_models = text_or_empty(message.get(names::ROLE)).is(destination.model);
        if !(is_models || callers.contains(&position)) || edited.guard.contains(&position) {
            continue;
        }
        let parts = message.get(names::CONTENT).and_then(Value::list);
        for (index, part) in parts.into_iter().flat_map(items).enumerate() {
            if part.object().is_some_and(is_unsigned) {
                edited.take_out(Path::Part(position, PartsKey::Content, index));
                mends.add("unsigned_thought", Some(position), Text::ascii(""));
            }
        }
    }
}

/// Remove the members of messages that the destination refuses: those of other providers.
fn leave_out_members<'a, V: Value<'a>>(
    edited: &mut EditedMessages<'a, '_, V>,
    (destination, pairs): (&Destination, &Pairs<'a>),
    mends: &mut Mends<'a>,
) {
    if destination.refused_members.is_empty() {
        return;
    }
    for (position, message) in edited.messages.iter().enumerate() {
        // A message with calls gets the model's role.
        let calls = || pairs.calls().any(|(path, _)| path.position() == position);
        if edited.guard.contains(&position) || (text_or_empty(message.get(names::ROLE)).is_empty() && !calls()) {
            continue;
        }
        for key in destination.refused_members.iter().filter(|key| message.has(**key)) {
            edited.edit(Path::Message(position), vec![(*key, None)]);
            mends.add_with("refused_member", Some(position), Text::ascii(""), Piece::Borrowed(key.name));
        }
    }
}

/// Give each message of the model an empty member that others of them have, if the destination wants it in all.
fn share_members<'a, V: Value<'a>>(
    edited: &mut EditedMessages<'a, '_, V>,
    destination: &Destination,
    mends: &mut Mends<'a>,
) {
    for key in destination.shared_members {
        let messages = edited.messages.iter().copied().enumerate();
        let is_models = |(_, message): &(usize, V)| text_or_empty(message.get(names::ROLE)).is(destination.model);
        let own = || messages.clone().filter(is_models);
        if !own().any(|(_, message)| !text_or_empty(message.get(*key)).is_empty()) {
            continue;
        }
        let lacks = |(position, message): &(usize, V)| {
            !edited.guard.contains(position) && message.get(*key).is_none_or(|value| value.text_len().is_none())
        };
        let lacking: Vec<usize> = own().filter(lacks).map(|(position, _)| position).collect();
        for position in lacking {
            edited.edit(Path::Message(position), vec![(*key, Some(Edit::NewValue(Json::ascii(""))))]);
            mends.add_with("missing_member", Some(position), Text::ascii(""), Piece::Borrowed(key.name));
        }
    }
}

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
fn leave_out_marks<'a, V: Value<'a>>(
    (edited, mut frame): (&mut EditedMessages<'a, '_, V>, Option<&mut Frame<'a, V>>),
    (destination, has_marks): (&Destination, bool),
    mends: &mut Mends<'a>,
) {
    if let Some(frame) = frame.as_deref_mut() {
        leave_out_refused_marks(frame, destination, mends);
    }
    if destination.cache_marks == 0 {
        return;
    }
    let (mut places, mut most) = (Vec::new(), destination.cache_marks);
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
    for pattern in destination.refused_marks {
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

fn is_marked<'a, V: Value<'a>>(part: V) -> bool {
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

/// Give texts without a type theirs, if the destination's parts have types.
fn mend_bare_texts<'a, V: Value<'a>>(
    edited: &mut EditedMessages<'a, '_, V>,
    (destination, pairs): (&Destination, &Pairs<'a>),
    mends: &mut Mends<'a>,
) {
    // "every content block must declare `type`": HKUDS/nanobot#4060
    if destination.form == Form::Items || !destination.has_types() {
        return;
    }
    for (position, message) in edited.messages.iter().enumerate() {
        let Some(parts) = message.get(names::CONTENT).and_then(Value::list) else { continue };
        if !items(parts).any(|part| part.object().is_some_and(is_bare_text))
            || edited.guard.contains(&position)
            || pairs.owner(Path::Message(position)).is_some()
        {
            continue;
        }
        for (index, part) in items(parts).enumerate() {
            if part.object().is_some_and(is_bare_text) {
                let kind = Some(Edit::NewValue(Json::ascii("text")));
                edited.edit(Path::Part(position, PartsKey::Content, index), vec![(names::TYPE, kind)]);
            }
        }
        mends.add_with("text_type", Some(position), Text::ascii(""), Piece::ascii("text"));
    }
}

/// Return true if a part is a text that does not say so.
pub(crate) fn is_bare_text<'a, V: Value<'a>>(part: V) -> bool {
    !part.has(names::TYPE) && part.has(names::TEXT)
}

/// Remove ids of items that the server refuses, and add the summary that reasoning has to have.
fn mend_items<'a, V: Value<'a>>(
    edited: &mut EditedMessages<'a, '_, V>,
    destination: &Destination,
    mends: &mut Mends<'a>,
) {
    if destination.form != Form::Items {
        return;
    }
    for (position, item) in edited.messages.iter().copied().enumerate() {
        if edited.guard.contains(&position) {
            continue;
        }
        let mut kind = text_or_empty(item.get(names::TYPE));
        if kind.is_empty() && item.get(names::ROLE).is_some() {
            kind = Text::ascii("message");
        }
        let item_id = text_or_empty(item.get(names::ID));
        if !item_id.is_empty() && !destination.item_ids.takes_id(item_id, kind) {
            edited.edit(Path::Message(position), vec![(names::ID, None)]);
            mends.add("dropped_id", Some(position), text_or_empty(item.get(names::CALL_ID)));
        }
        if destination.needs_summary && kind.is("reasoning") && item.get(SUMMARY).is_none() {
            let summary = Some(Edit::NewValue(Json::List(Vec::new())));
            edited.edit(Path::Message(position), vec![(SUMMARY, summary)]);
            mends.add("missing_summary", Some(position), Text::ascii(""));
        }
        if destination.texts_by_role && kind.is("message") {
            mend_texts((edited, position), destination, item, mends);
        }
    }
}

/// Give the texts of a message the type that they have by its role.
fn mend_texts<'a, V: Value<'a>>(
    (edited, position): (&mut EditedMessages<'a, '_, V>, usize),
    destination: &Destination,
    message: V,
    mends: &mut Mends<'a>,
) {
    let is_models = text_or_empty(message.get(names::ROLE)).is(destination.model);
    let (given, said) = ("input_text", "output_text");
    let (wanted, other) = if is_models { (said, given) } else { (given, said) };
    let is_wrong = |part: V| {
        let kind = text_or_empty(part.get(names::TYPE));
        kind.is("text") || kind.is(other) || is_bare_text(part)
    };
    let mut is_mended = false;
    let parts = message.get(names::CONTENT).and_then(Value::list);
    for (index, part) in parts.into_iter().flat_map(items).enumerate() {
        if part.object().is_some_and(is_wrong) {
            let kind = Some(Edit::NewValue(Json::ascii(wanted)));
            edited.edit(Path::Part(position, PartsKey::Content, index), vec![(names::TYPE, kind)]);
            is_mended = true;
        }
    }
    if is_mended {
        mends.add_with("text_type", Some(position), Text::ascii(""), Piece::ascii(wanted));
    }
}

/// Give each tool a name that the destination accepts, in its definition and in its calls.
///
/// Equal names stay equal, and different ones different. A call without a name stays without one. The definitions come
/// first, so that a later call changes no name that was sent before.
fn mend_names<'a, V: Value<'a>>(
    (edited, frame): (&mut EditedMessages<'a, '_, V>, Option<&mut Frame<'a, V>>),
    destination: &Destination,
    pairs: &mut Pairs<'a>,
    mends: &mut Mends<'a>,
) {
    let rule = &destination.tool_name;
    let mut defined: Vec<Text<'a>> = Vec::new();
    for pattern in destination.name_paths {
        if let Some(frame) = frame.as_deref() {
            frame.visit(pattern, &mut |_, name| defined.extend(name.text()));
        }
    }
    let calls: Vec<(Path, usize, Text<'a>)> = pairs
        .calls()
        .map(|(path, number)| {
            let call = edited.at(path).and_then(Value::object);
            (path, number, call.map_or(Text::ascii(""), |call| destination.call_name.text(call)))
        })
        .collect();
    let names = || defined.iter().chain(calls.iter().map(|(.., name)| name)).copied();
    let is_refused = |name: &Text<'_>| !name.is_empty() && !rule.takes_id(*name);
    if !names().any(|name| is_refused(&name)) {
        return;
    }
    let mut taken: AHashSet<Piece<'a>> = names().filter(|name| !is_refused(name)).map(Piece::Borrowed).collect();
    let mut new_names: AHashMap<Text<'a>, Piece<'a>> = AHashMap::new();
    for name in names().filter(is_refused) {
        new_names.entry(name).or_insert_with(|| {
            let new = new_name(name, rule, &taken);
            taken.insert(new.clone());
            mends.names.push((new.clone(), name));
            new
        });
    }
    if let Some(frame) = frame {
        let mut told: AHashSet<Text<'a>> = AHashSet::new();
        let mut changes = Vec::new();
        for pattern in destination.name_paths {
            frame.visit(pattern, &mut |path, name| {
                let Some((name, new)) = name.text().and_then(|name| Some((name, new_names.get(&name)?))) else {
                    return;
                };
                changes.push((path.to_vec(), new.clone()));
                if told.insert(name) {
                    mends.add_with("refused_name", None, Text::ascii(""), new.clone());
                }
            });
        }
        for (path, new) in changes {
            frame.change(path, Some(Json::Text(new)));
        }
    }
    for (path, number, name) in calls {
        let Some(new) = new_names.get(&name) else { continue };
        let wire = edited.at(path).and_then(Value::object);
        edited.edit(path, id_member(destination.call_name, wire, new.clone()));
        pairs.rename(number, new.clone());
        let Some(block) = edited.blocks.get(number) else { continue };
        mends.add_with("refused_name", Some(block.entry.position), block.entry.call_id, new.clone());
    }
}

/// Return a name that a rule allows and that is not taken: refused characters become `_`.
fn new_name<'a>(name: Text<'_>, rule: &IdRule, taken: &AHashSet<Piece<'a>>) -> Piece<'a> {
    let most = if rule.at_most == 0 { usize::MAX } else { rule.at_most };
    let is_begun = !rule.begins_as_word || name.get(0).is_some_and(|unit| begins_word(unit) || !is_of_names(unit));
    let start = if is_begun { "" } else { "_" };
    let units = (0..name.len()).filter_map(|index| name.get(index));
    let units = start.bytes().map(u32::from).chain(units).take(most);
    let plain: String = units
        .map(|unit| match u8::try_from(unit) {
            Ok(byte) if is_of_names(unit) => char::from(byte),
            _ => '_',
        })
        .collect();
    let (mut new, mut number) = (Piece::own_ascii(plain.clone()), 2);
    while taken.contains(&new) {
        let end = format!("_{number}");
        let room = if rule.at_most == 0 { plain.len() } else { rule.at_most.saturating_sub(end.len()) };
        new = Piece::own_ascii(format!("{plain:.room$}{end}"));
        number += 1;
    }
    new
}

/// Return true if names have a character everywhere, but perhaps not at the beginning. Others become `_`.
fn is_of_names(unit: u32) -> bool {
    u8::try_from(unit).is_ok_and(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// Give each call an object as its arguments, or the text of one. Anything else is kept as its only member.
fn mend_arguments<'a, V: Value<'a>>(
    edited: &mut EditedMessages<'a, '_, V>,
    destination: &Destination,
    pairs: &Pairs<'a>,
    mends: &mut Mends<'a>,
) {
    let place = &destination.arguments;
    for (path, number) in pairs.calls() {
        let Some(call) = edited.at(path).and_then(Value::object) else { continue };
        let mut held = place.holders.iter().filter_map(|holder| Some((*holder, call.get(*holder)?.object()?)));
        let holder = held.next();
        let is_of_type = || {
            let kind = text_or_empty(call.get(names::TYPE));
            place.types.iter().any(|own| kind.is(own))
        };
        if (!place.holders.is_empty() && holder.is_none()) || (!place.types.is_empty() && !is_of_type()) {
            continue;
        }
        let value = holder.map_or(call, |(_, held)| held).get(place.key);
        let Some(new) = new_arguments(value, place) else { continue };
        let Some(block) = edited.blocks.get(number) else { continue };
        let cleared = block.cleared();
        let new = match new {
            Json::Text(json) if !cleared.is_empty() => Json::Text(with_markers(json.text(), &cleared)),
            Json::Source(json) if !cleared.is_empty() => Json::Source(with_markers(json.text(), &cleared)),
            new => new,
        };
        let members = vec![(place.key, Some(Edit::NewValue(new)))];
        let members = match holder {
            Some((holder, held)) => {
                vec![(holder, Some(Edit::Changed(Changed { path: None, of: Some(held), members })))]
            }
            None => members,
        };
        edited.edit(path, members);
        mends.add("mended_arguments", Some(block.entry.position), block.entry.call_id);
    }
}

/// Give each call a type, if the destination refuses one without it.
fn mend_call_types<'a, V: Value<'a>>(
    edited: &mut EditedMessages<'a, '_, V>,
    destination: &Destination,
    pairs: &Pairs<'a>,
    mends: &mut Mends<'a>,
) {
    if !destination.typed_calls {
        return;
    }
    for (path, number) in pairs.calls() {
        let Some(call) = edited.at(path).and_then(Value::object) else { continue };
        if !text_or_empty(call.get(names::TYPE)).is_empty() {
            continue;
        }
        let held = |holder: &&Key<'static>| call.get(**holder).is_some_and(|held| held.object().is_some());
        let holders = destination.call_name.holders;
        let kind = holders.iter().find(held).or_else(|| holders.first().filter(|holder| call.has(**holder)));
        let (Some(kind), Some(block)) = (kind, edited.blocks.get(number)) else { continue };
        let name = Piece::Borrowed(kind.name);
        edited.edit(path, vec![(names::TYPE, Some(Edit::NewValue(Json::Text(name.clone()))))]);
        mends.add_with("call_type", Some(block.entry.position), block.entry.call_id, name);
    }
}

/// Sign the first call of each message of the open turn, if the destination refuses one without a signature.
///
/// The signature is the one for calls of other models. The turn is open from the last message in which the user speaks.
fn sign_calls<'a, V: Value<'a>>(
    edited: &mut EditedMessages<'a, '_, V>,
    (destination, pairs): (&Destination, &Pairs<'a>),
    mends: &mut Mends<'a>,
) {
    if !destination.signed_calls {
        return;
    }
    let mut firsts: AHashMap<usize, (Path, usize)> = AHashMap::new();
    for (path, number) in pairs.calls() {
        let first = firsts.entry(path.position()).or_insert((path, number));
        *first = (*first).min((path, number));
    }
    let mut unsigned = Vec::new();
    for (position, message) in edited.messages.iter().enumerate().rev() {
        if edited.guard.contains(&position) || edited.is_gone(Path::Message(position)) {
            continue;
        }
        let Some((path, number)) = firsts.get(&position) else {
            if is_users_word(*message, destination) {
                break;
            }
            continue;
        };
        if !edited.at(*path).and_then(Value::object).is_some_and(is_signed) {
            unsigned.push((*path, *number));
        }
    }
    for (path, number) in unsigned.into_iter().rev() {
        let Some(block) = edited.blocks.get(number) else { continue };
        let signature = Some(Edit::NewValue(Json::ascii(UNSIGNED_CALL)));
        edited.edit(path, vec![(THOUGHT_SIGNATURES[0], signature)]);
        mends.add("unsigned_call", Some(block.entry.position), block.entry.call_id);
    }
}

/// Return true if a part has a signature, by any of both names.
fn is_signed<'a, V: Value<'a>>(part: V) -> bool {
    THOUGHT_SIGNATURES.iter().any(|key| !text_or_empty(part.get(*key)).is_empty())
}

/// Return true if a message without calls is the user's, and no result is in it.
fn is_users_word<'a, V: Value<'a>>(message: V, destination: &Destination) -> bool {
    if text_or_empty(message.get(names::ROLE)).is(destination.model) {
        return false;
    }
    let parts = message.get(destination.key.key()).and_then(Value::list).filter(|parts| parts.count() > 0);
    let is_result = |part: V| part.object().is_some_and(|part| destination.is_result(part));
    parts.is_some_and(|parts| !items(parts).any(is_result))
}

/// Return arguments in the form that their place asks for; `None` if they have it.
fn new_arguments<'a, V: Value<'a>>(value: Option<V>, place: &ArgumentsAt) -> Option<Json<'a>> {
    let is_text = place.form == ArgumentsForm::Text;
    let json: OwnedText = match value {
        None if place.is_optional => return None,
        None => OwnedText::from("{}".to_owned()),
        Some(value) if !is_text && value.object().is_some() => return None,
        Some(value) => {
            let object = value.object().unwrap_or_else(|| value.arguments());
            match value.text().filter(|text| !text.is_empty()) {
                None => object.json(),
                Some(text) => {
                    let is_wrapped = object.size() == 1 && text_or_empty(object.get(names::ARGUMENTS)) == text;
                    match is_braced(text) && !is_wrapped {
                        true if is_text => return None,
                        true => object.json(),
                        false => value.under(names::ARGUMENTS).json(),
                    }
                }
            }
        }
    };
    let json = Piece::own(if is_text { json } else { without_surrogates(json) });
    Some(if is_text { Json::Text(json) } else { Json::Source(json) })
}

/// Return true if the first character that is not JSON's white space opens an object.
fn is_braced(text: Text<'_>) -> bool {
    let mut units = (0..text.len()).filter_map(|index| text.get(index));
    units.find(|unit| ![0x20, 0x09, 0x0D, 0x0A].contains(unit)) == Some(u32::from(b'{'))
}
