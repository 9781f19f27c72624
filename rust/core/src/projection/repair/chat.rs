//! `OpenAI` Chat and Ollama: results are messages of their own, right after the message with their calls.

use ahash::{AHashMap, AHashSet};

use super::destinations::Form;
use super::message_parts::{kind_of, parts_of, source_of};
use super::pairs::{duplicate_calls, id_of};
use super::state::Repair;
use crate::content::{WORD_KEYS, text_document};
use crate::formats::read_result;
use crate::json::base64::{FILE_PARTS, MEDIA_PARTS};
use crate::json::value::{Key, Value, items, names, text_or_empty};
use crate::projection::edits::{Changed, Draft, DraftList, Edit, Json, Parts, PartsKey, Path};
use crate::text::Text;
use crate::text::constants::{NO_OUTPUT, added};
use crate::text::piece::Piece;

/// The members besides its words with which a message of the model says something.
const SAYING: [Key<'static>; 8] = [
    names::TOOL_CALLS,
    Key::of("function_call"),
    Key::of("audio"),
    Key::of("refusal"),
    Key::of("reasoning"),
    Key::of("reasoning_content"),
    Key::of("reasoning_details"),
    Key::of("thinking_blocks"),
];

/// Repair the messages so that each call is followed by exactly one result, and no other results remain.
pub(crate) fn repair_chat<'a, V: Value<'a>>(mut repair: Repair<'_, 'a, '_, V>) -> Vec<Draft<'a, V>> {
    let (destination, pairs, messages) = (repair.destination, repair.pairs, repair.edited.messages);
    let blocks = repair.edited.blocks;
    let mut by_position: AHashMap<usize, Vec<usize>> = AHashMap::new();
    let mut owners: AHashMap<usize, usize> = AHashMap::new();
    // The images and files that have to follow the results, by the path of the result.
    let mut media: AHashMap<Path, Vec<Draft<'a, V>>> = AHashMap::new();
    for (_, number) in pairs.calls() {
        if let Some(block) = blocks.get(number) {
            by_position.entry(block.entry.position).or_default().push(number);
        }
    }
    for path in &pairs.results {
        let owner = pairs.owner(*path).and_then(|number| Some((number, blocks.get(number)?)));
        if let Some((number, block)) = owner {
            owners.insert(path.position(), block.entry.position);
            if !repair.edited.is_gone(*path) {
                renew(&mut repair, *path, pairs.name_of(number, block), block.entry.call_id);
                fill(&mut repair, *path, block.entry.call_id, block.entry.order);
                let found = take_out_media(&mut repair, *path, block.entry.call_id);
                media.extend((!found.is_empty()).then_some((*path, found)));
            }
        }
    }
    let mut drafts = Vec::with_capacity(messages.len());
    let mut caller = None; // the message whose results come here
    for (position, message) in messages.iter().copied().enumerate() {
        let path = Path::Message(position);
        if repair.edited.guard.contains(&position) {
            caller = Some(position);
            drafts.extend(repair.edited.message(position));
            continue;
        }
        let is_own = pairs.owner(path).is_some() || destination.is_result(message);
        let is_result = is_own || names_call(message, &pairs.ids);
        if pairs.is_stray(path) || (is_result && !pairs.is_other(path)) {
            if !repair.edited.is_gone(path) {
                let call_id = text_or_empty(message.get(names::TOOL_CALL_ID));
                match owners.get(&position) {
                    None => repair.report_stray(path, call_id),
                    Some(owner) if Some(*owner) != caller => repair.mends.add("moved_result", Some(position), call_id),
                    Some(_) => {}
                }
            }
            continue;
        }
        caller = Some(position);
        let numbers = by_position.get(&position).map_or(&[][..], Vec::as_slice);
        if !numbers.is_empty() && !text_or_empty(message.get(names::ROLE)).is(destination.model) {
            let role = Some(Edit::NewValue(Json::ascii(destination.model)));
            repair.edited.edit(path, vec![(names::ROLE, role)]);
            repair.mends.add("renamed_role", Some(position), repair.call_id(numbers.last().copied()));
        }
        repair_message(&mut repair, position, message);
        let Some(draft) = repair.edited.message(position) else { continue };
        match split(&mut repair, (position, message), draft, numbers.len()) {
            Ok(draft) => {
                drafts.push(draft);
                add_results(&mut drafts, &mut repair, numbers, &mut media);
            }
            Err(split) => {
                for (draft, numbers) in split.into_iter().zip(numbers.chunks(destination.rules.most_calls)) {
                    drafts.push(draft);
                    add_results(&mut drafts, &mut repair, numbers, &mut media);
                }
            }
        }
    }
    if destination.rules.model_follows_results { separate(&mut repair, drafts) } else { drafts }
}

/// Return the messages of which each has as many calls of one as the destination takes; the message itself if it has no
/// more (`Ok`).
fn split<'a, V: Value<'a>>(
    repair: &mut Repair<'_, 'a, '_, V>,
    (position, message): (usize, V),
    draft: Draft<'a, V>,
    count: usize,
) -> Result<Draft<'a, V>, Vec<Draft<'a, V>>> {
    let rules = &repair.destination.rules;
    let Some(list) = message.get(names::TOOL_CALLS).and_then(Value::list) else { return Ok(draft) };
    if rules.most_calls == 0 || count <= rules.most_calls {
        return Ok(draft);
    }
    let path = Path::Message(position);
    let mut members = match draft {
        Draft::Changed(changed) => changed.members,
        _ => Vec::new(),
    };
    let calls = match members.iter().position(|(key, _)| *key == names::TOOL_CALLS) {
        Some(index) => members.swap_remove(index).1,
        None => None,
    };
    let part = |(index, call)| Draft::Original(Path::Part(position, PartsKey::ToolCalls, index), call);
    let calls: Vec<Draft<'a, V>> = match calls {
        Some(Edit::Parts(parts)) => parts.items,
        _ => items(list).enumerate().map(part).collect(),
    };
    let of = Some((DraftList::Message(position, PartsKey::ToolCalls), list));
    let mut found = Vec::new();
    for (number, own) in calls.chunks(rules.most_calls).enumerate() {
        let parts = Edit::Parts(Parts { of, items: own.to_vec() });
        if number == 0 {
            let members = members.iter().cloned().chain([(names::TOOL_CALLS, Some(parts))]).collect();
            found.push(Draft::Changed(Changed { path: Some(path), of: Some(message), members }));
            continue;
        }
        let text = |words| Some(Edit::NewValue(Json::ascii(words)));
        let mut members = vec![(names::ROLE, text(repair.destination.model)), (names::CONTENT, text(""))];
        let shared = rules.shared_members.iter().map(|key| (*key, text("")));
        let needed = rules.call_members.iter().map(|key| (*key, text(" ")));
        members.extend(shared.chain(needed).filter(|(key, _)| message.has(*key)));
        members.push((names::TOOL_CALLS, Some(parts)));
        found.push(Draft::Changed(Changed { path: None, of: None, members }));
    }
    repair.mends.add("split_calls", Some(position), Text::ascii(""));
    Err(found)
}

/// Convert a result with the role `function`, which predates `tool_calls` and can't answer them, to the role `tool`.
fn renew<'a, V: Value<'a>>(repair: &mut Repair<'_, 'a, '_, V>, path: Path, name: Piece<'a>, call_id: Text<'a>) {
    let (destination, position) = (repair.destination, Some(path.position()));
    let Some(message) = repair.edited.at(path).filter(|message| !destination.is_result(*message)) else { return };
    let mut members = vec![(names::ROLE, Some(Edit::NewValue(Json::ascii("tool"))))];
    if message.get(names::CONTENT).is_none() {
        members.push((names::CONTENT, Some(Edit::NewValue(Json::ascii(""))))); // optional with the old role
    }
    let own = text_or_empty(message.get(names::NAME));
    if !own.is_empty() && own != name.text() {
        // Without an id, the name would pair the result with another call.
        members.push((names::NAME, Some(Edit::NewValue(Json::Text(name.clone())))));
        repair.mends.add_with("renamed_tool", position, call_id, name);
    }
    repair.edited.edit(path, members);
    repair.mends.add("renamed_role", position, call_id);
}

/// Give a result without content a text that says so, if the provider refuses it.
fn fill<'a, V: Value<'a>>(repair: &mut Repair<'_, 'a, '_, V>, path: Path, call_id: Text<'a>, order: usize) {
    let destination = repair.destination;
    let message =
        repair.edited.at(path).filter(|message| destination.rules.refuses_empty && destination.is_result(*message));
    if message.is_some_and(|message| message.get(names::CONTENT).is_none()) {
        repair.edited.edit(path, vec![(names::CONTENT, Some(Edit::NewValue(Json::ascii(NO_OUTPUT))))]);
        repair.mends.add("empty_result", Some(path.position()), call_id);
        repair.mends.texts.insert(order, NO_OUTPUT);
    }
}

/// Remove images and files from a result, if the provider takes only texts in it, and return them.
fn take_out_media<'a, V: Value<'a>>(
    repair: &mut Repair<'_, 'a, '_, V>,
    path: Path,
    call_id: Text<'a>,
) -> Vec<Draft<'a, V>> {
    let Repair { edited, destination, mends, .. } = repair;
    let message = edited.at(path).filter(|_| destination.rules.refuses_media);
    let Some(message) = message else { return Vec::new() };
    let content = message.get(names::CONTENT);
    let given = parts_of(edited, path, (names::CONTENT, content)).unwrap_or_default();
    let is_told = |item: &Draft<'a, V>| {
        source_of(item).is_some_and(|part| text_document(part, text_or_empty(part.get(names::TYPE))).is_some())
    };
    let (media, stay): (Vec<_>, Vec<_>) =
        given.into_iter().partition(|item| is_media(kind_of(item).text()) && !is_told(item));
    if media.is_empty() {
        return media;
    }
    let new = if stay.is_empty() {
        Edit::NewValue(Json::ascii(added("media_follow")))
    } else {
        let of = content.and_then(Value::list).map(|list| (DraftList::Inner, list));
        Edit::Parts(Parts { of, items: stay })
    };
    edited.edit(path, vec![(names::CONTENT, Some(new))]);
    mends.add("moved_media", Some(path.position()), call_id);
    media
}

/// Return true if a part of this type is an image, a sound or a file.
fn is_media(kind: Text<'_>) -> bool {
    MEDIA_PARTS.iter().chain(FILE_PARTS).any(|name| kind.is(name))
}

/// Return the messages with a word of the model between a result and a user message.
fn separate<'a, V: Value<'a>>(repair: &mut Repair<'_, 'a, '_, V>, drafts: Vec<Draft<'a, V>>) -> Vec<Draft<'a, V>> {
    let mut kept = Vec::with_capacity(drafts.len());
    let mut follows_result = false;
    for draft in drafts {
        let role = role_of(&draft);
        if follows_result && role.text().is("user") {
            let position = draft.path().map(Path::position);
            repair.mends.add("missing_model", position, Text::ascii(""));
            let (role, words) = (Json::ascii(repair.destination.model), Json::ascii(added("missing_model")));
            kept.push(Draft::NewValue(Json::object([("role", role), ("content", words)])));
        }
        follows_result = role.text().is("tool");
        kept.push(draft);
    }
    kept
}

/// Return the role of a message.
fn role_of<'a, V: Value<'a>>(draft: &Draft<'a, V>) -> Piece<'a> {
    let of_value = |value: V| Piece::Borrowed(text_or_empty(value.get(names::ROLE)));
    let of_json = |json: &Json<'a>| match json {
        Json::Text(role) => role.clone(),
        _ => Piece::default(),
    };
    match draft {
        Draft::Original(_, value) => of_value(*value),
        Draft::Changed(changed) => match changed.members.iter().find(|(key, _)| *key == names::ROLE) {
            Some((_, Some(Edit::NewValue(role)))) => of_json(role),
            _ => changed.of.map_or_else(Piece::default, of_value),
        },
        Draft::NewValue(Json::Object(members)) => {
            let role = members.iter().find(|(name, _)| name.text().is("role"));
            role.map_or_else(Piece::default, |(_, role)| of_json(role))
        }
        Draft::NewValue(_) => Piece::default(),
    }
}

/// Return true if a message of the old role names a call of `tool_calls`, which the provider refuses.
fn names_call<'a, V: Value<'a>>(message: V, call_ids: &AHashSet<Text<'a>>) -> bool {
    let call_id = text_or_empty(message.get(names::TOOL_CALL_ID));
    text_or_empty(message.get(names::ROLE)) == Text::ascii("function")
        && !call_id.is_empty()
        && call_ids.contains(&call_id)
}

/// Add the results for the calls of one message: the existing ones in their order, then new ones.
///
/// A user message with the media of the results follows them.
fn add_results<'a, V: Value<'a>>(
    drafts: &mut Vec<Draft<'a, V>>,
    repair: &mut Repair<'_, 'a, '_, V>,
    numbers: &[usize],
    media: &mut AHashMap<Path, Vec<Draft<'a, V>>>,
) {
    let pairs = repair.pairs;
    let mut paths: Vec<Path> = numbers.iter().filter_map(|number| pairs.result_of(*number)).collect();
    paths.sort_unstable();
    drafts.extend(paths.iter().filter_map(|path| repair.edited.message(path.position())));
    let missing = numbers.iter().filter(|number| pairs.result_of(**number).is_none());
    drafts.extend(missing.filter_map(|number| repair.answer(*number)));
    let mut items: Vec<Draft<'a, V>> = paths.iter().filter_map(|path| media.remove(path)).flatten().collect();
    if !items.is_empty() {
        items.insert(0, Draft::NewValue(repair.destination.text(Text::ascii(added("media_of_results")))));
        let members = vec![
            (names::ROLE, Some(Edit::NewValue(Json::ascii("user")))),
            (names::CONTENT, Some(Edit::Parts(Parts { of: None, items }))),
        ];
        drafts.push(Draft::Changed(Changed { path: None, of: None, members }));
    }
}

/// Remove empty lists of calls. Chat refuses an empty list, and other providers refuse the member.
pub(crate) fn take_out_empty_calls<'a, V: Value<'a>>(repair: &mut Repair<'_, 'a, '_, V>) {
    for (position, message) in repair.edited.messages.iter().enumerate() {
        let calls = message.get(names::TOOL_CALLS).and_then(Value::list);
        if calls.is_none_or(|calls| calls.count() > 0) || repair.edited.guard.contains(&position) {
            continue;
        }
        let mut members = vec![(names::TOOL_CALLS, None)];
        if repair.destination.form == Form::Chat && WORD_KEYS.iter().all(|key| message.get(*key).is_none()) {
            members.push((names::CONTENT, Some(Edit::NewValue(Json::ascii("")))));
        }
        repair.edited.edit(Path::Message(position), members);
        repair.mends.add("empty_calls", Some(position), Text::ascii(""));
    }
}

/// Write an empty text as the content of a message that has an empty list, and of a message of the model that has neither
/// content nor anything else to say.
pub(crate) fn fill_contents<'a, V: Value<'a>>(repair: &mut Repair<'_, 'a, '_, V>) {
    let destination = repair.destination;
    if !destination.rules.refuses_empty_lists {
        return;
    }
    for (position, message) in repair.edited.messages.iter().enumerate() {
        let role = text_or_empty(message.get(names::ROLE));
        let is_empty = match message.get(names::CONTENT) {
            Some(content) => content.list().is_some_and(|list| list.count() == 0),
            None => role.is(destination.model) && !SAYING.iter().chain(WORD_KEYS).any(|key| message.has(*key)),
        };
        if !is_empty || role.is_empty() || repair.edited.guard.contains(&position) || destination.is_result(*message) {
            continue;
        }
        let content = Some(Edit::NewValue(Json::ascii("")));
        repair.edited.edit(Path::Message(position), vec![(names::CONTENT, content)]);
        repair.mends.add("empty_content", Some(position), Text::ascii(""));
    }
}

/// Remove the copies of calls that are both in the content and in `tool_calls`, and results in the content that answer
/// calls of the client.
fn repair_message<'a, V: Value<'a>>(repair: &mut Repair<'_, 'a, '_, V>, position: usize, message: V) {
    let calls = message.get(names::TOOL_CALLS).and_then(Value::list);
    if calls.is_none_or(|calls| calls.count() == 0) && !repair.pairs.has_strays() {
        return;
    }
    let content = message.get(names::CONTENT).and_then(Value::list);
    let part = |index: usize| content.and_then(|content| content.item(index));
    let kind = |part: V| text_or_empty(part.object().and_then(|part| part.get(names::TYPE)));
    let mut doubled = duplicate_calls(message);
    doubled.retain(|(index, _)| part(*index).is_some_and(|part| kind(part).is("tool_use")));
    let path_of = |index: usize| Path::Part(position, PartsKey::Content, index);
    let mut gone: Vec<Path> = doubled.iter().map(|(index, _)| path_of(*index)).collect();
    for (index, _) in &doubled {
        repair.mends.add("doubled_call", Some(position), part(*index).map_or(Text::ascii(""), id_of));
    }
    for (index, part) in content.into_iter().flat_map(items).enumerate() {
        let path = path_of(index);
        if let Some(part) = part.object().filter(|part| repair.pairs.is_misplaced(path, *part)) {
            repair.report_stray(path, read_result(part).call_id);
            gone.push(path);
        }
    }
    if !gone.is_empty() && Some(gone.len()) == content.map(Value::count) {
        let content = Some(Edit::NewValue(Json::ascii("")));
        repair.edited.edit(Path::Message(position), vec![(names::CONTENT, content)]);
    } else {
        for path in gone {
            repair.edited.take_out(path);
        }
    }
    let id_at = |index: usize| calls.and_then(|calls| calls.item(index)).map_or(Text::ascii(""), id_of);
    let kept: AHashMap<Text<'_>, usize> = doubled.iter().map(|(_, place)| (id_at(*place), *place)).collect();
    for (index, call) in calls.into_iter().flat_map(items).enumerate().filter(|_| !kept.is_empty()) {
        let call_id = id_of(call);
        if !call_id.is_empty() && kept.get(&call_id).is_some_and(|place| *place != index) {
            repair.edited.take_out(Path::Part(position, PartsKey::ToolCalls, index));
        }
    }
}
