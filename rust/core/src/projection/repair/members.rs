//! The members of messages, calls and items that a destination refuses, or wants in another form.
//!
//! Nothing here moves a message or a result: each correction is an edit in its place, so that the rest of the repair
//! merges its own edits with it.

use std::collections::BTreeSet;

use ahash::AHashSet;

use super::cache_marks::leave_out_marks;
use super::calls::{leave_out_in_calls, mend_arguments, mend_call_types, mend_names};
use super::destinations::{Destination, Form};
use super::found::{Found, members_of_message};
use super::frame::Frame;
use super::pairs::Pairs;
use super::prompt::{is_systems, parts_in, take_out_prompt};
use super::report::Mends;
use super::schemas::mend_frame;
use super::signatures::{leave_out_thoughts, sign_calls};
use super::text_types::{mend_text_types, mend_types_by_role};
use super::tools::mend_tools;
use crate::json::value::{Key, Value, names, text_or_empty};
use crate::projection::edits::{Edit, Json, PartsKey, Path, TextPart};
use crate::projection::request::EditedMessages;
use crate::text::Text;
use crate::text::piece::Piece;

/// The id that openai-agents gives to items of models whose API has none (`src/agents/models/fake_id.py`).
const PLACEHOLDER: &str = "__fake_id__";
const SUMMARY: Key<'static> = Key::new("summary");
const THINKING: Key<'static> = Key::new("thinking");
/// The members that an import adds to a message, which are not written back.
const OF_IMPORTS: [&str; 2] = ["imported", "unread"];

/// Correct the members of messages, calls and items.
pub(crate) fn mend_members<'a, V: Value<'a>>(
    (edited, mut frame): (&mut EditedMessages<'a, '_, V>, Option<&mut Frame<'a, V>>),
    destination: &'static Destination,
    (pairs, found): (&mut Pairs<'a>, &Found),
    mends: &mut Mends<'a>,
) {
    let is_body = frame.is_some();
    if let Some(frame) = frame.as_deref() {
        take_out_prompt((&mut *edited, frame), (destination, pairs), mends);
    }
    join_system(edited, destination, mends);
    mend_roles(edited, destination, pairs, mends);
    if found.has_thoughts {
        leave_out_thoughts(edited, (destination, pairs), mends);
    }
    if found.has_refused {
        leave_out_members(edited, (destination, pairs), mends);
    }
    share_members(edited, destination, mends);
    give_calls_members(edited, (destination, pairs, frame.as_deref()), mends);
    if let Some(frame) = frame.as_deref_mut() {
        mend_frame(frame, destination, mends);
        mend_tools((&mut *edited, frame), (destination, pairs, found), mends);
    }
    leave_out_marks((edited, frame.as_deref_mut()), (destination, found.has_marks), mends);
    if found.has_other_texts {
        mend_text_types(edited, (destination, pairs), mends);
    }
    mend_items(edited, (destination, is_body), mends);
    mend_names((edited, frame), destination, pairs, mends);
    mend_arguments(edited, destination, pairs, mends);
    mend_call_types(edited, destination, pairs, mends);
    leave_out_in_calls(edited, destination, pairs, mends);
    sign_calls(edited, (destination, pairs), mends);
}

/// Join the system messages that begin a request to one, if the destination takes only one.
fn join_system<'a, V: Value<'a>>(
    edited: &mut EditedMessages<'a, '_, V>,
    destination: &Destination,
    mends: &mut Mends<'a>,
) {
    if !destination.rules.one_system {
        return;
    }
    let positions = (0..edited.messages.len()).filter(|position| !edited.is_gone(Path::Message(*position)));
    let is_first =
        |position: &usize| !edited.guard.contains(position) && edited.message_at(*position).is_some_and(is_systems);
    let first: Vec<usize> = positions.take_while(is_first).collect();
    let [holder, others @ ..] = &*first else { return };
    if others.is_empty() {
        return;
    }
    let contents = first.iter().filter_map(|position| edited.message_at(*position)?.get(names::CONTENT));
    let contents: Vec<V> = contents.collect();
    let joined = match contents.iter().map(|content| content.text()).collect::<Option<Vec<_>>>() {
        Some(texts) => {
            let part = |text| [TextPart::Text(Piece::ascii("\n\n")), TextPart::Text(Piece::Borrowed(text))];
            Json::Joined(texts.into_iter().flat_map(part).skip(1).collect())
        }
        None => Json::List(contents.iter().flat_map(|content| parts_in(*content, destination)).collect()),
    };
    edited.edit(Path::Message(*holder), vec![(names::CONTENT, Some(Edit::NewValue(joined)))]);
    for position in others {
        edited.take_out(Path::Message(*position));
        mends.add("joined_system", Some(*position), Text::ascii(""));
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
    let moves = destination.rules.refuses_system || destination.rules.system_begins;
    if !moves && !destination.rules.refuses_developer {
        return;
    }
    let mut is_begun = destination.rules.refuses_system;
    let mut found = Vec::new();
    for (position, message) in edited.messages.iter().enumerate() {
        if !is_systems(*message) {
            is_begun = true;
        } else if !edited.guard.contains(&position) && !edited.is_gone(Path::Message(position)) {
            let is_refused = is_begun && moves;
            let is_developers = text_or_empty(message.get(names::ROLE)).is("developer");
            if is_refused || (destination.rules.refuses_developer && is_developers) {
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

/// Remove the members of messages that the destination refuses: those of other providers and those that it does not know,
/// even if they are null.
fn leave_out_members<'a, V: Value<'a>>(
    edited: &mut EditedMessages<'a, '_, V>,
    (destination, pairs): (&Destination, &Pairs<'a>),
    mends: &mut Mends<'a>,
) {
    for (position, message) in edited.messages.iter().enumerate() {
        // A message with calls gets the model's role.
        let calls = || pairs.calls().any(|(path, _)| path.position() == position);
        let path = Path::Message(position);
        // What answers no call goes as a whole.
        let is_lost = || pairs.owner(path).is_none() && is_result_message(*message);
        if edited.guard.contains(&position) || edited.is_gone(path) || pairs.is_stray(path) || is_lost() {
            continue;
        }
        let known = members_of_message(*message, destination).filter(|known| !message.has_only(known));
        let refused = destination.rules.refused_members;
        let has_role = || !text_or_empty(message.get(names::ROLE)).is_empty() || calls();
        let mut others = Vec::new();
        if known.is_some() || (message.has_any_name(refused) && has_role()) {
            message.members(&mut |name, member| {
                let is_named = |key: &Key<'_>| key.name == name;
                let is_unknown = |known: &[Key<'_>]| {
                    // Those of other providers go even if they are null; SDKs write all members of their types.
                    let says = PartsKey::ALL.iter().any(|own| is_named(&own.key()));
                    let is_imports = OF_IMPORTS.iter().any(|own| name.is(own));
                    !known.iter().any(is_named) && !says && !is_imports && !member.is_null()
                };
                if refused.iter().any(is_named) || known.is_some_and(is_unknown) {
                    others.push(name);
                }
                true
            });
        }
        if others.is_empty() {
            continue;
        }
        edited.edit(path, others.iter().map(|name| (Key::named(*name), None)).collect());
        for name in others {
            mends.add_with("refused_member", Some(position), Text::ascii(""), Piece::Borrowed(name));
        }
    }
}

/// Return true if a message or an item is a result in any format.
fn is_result_message<'a, V: Value<'a>>(message: V) -> bool {
    let role = text_or_empty(message.get(names::ROLE));
    role.is("tool") || role.is("function") || text_or_empty(message.get(names::TYPE)).ends_with("_output")
}

/// Give each message of the model an empty member that others of them have, if the destination wants it in all.
fn share_members<'a, V: Value<'a>>(
    edited: &mut EditedMessages<'a, '_, V>,
    destination: &Destination,
    mends: &mut Mends<'a>,
) {
    for key in destination.rules.shared_members {
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

/// Give each message with calls a member that may not be empty, if thinking is asked for or another message has it.
fn give_calls_members<'a, V: Value<'a>>(
    edited: &mut EditedMessages<'a, '_, V>,
    (destination, pairs, frame): (&Destination, &Pairs<'a>, Option<&Frame<'a, V>>),
    mends: &mut Mends<'a>,
) {
    for key in destination.rules.call_members {
        let asked =
            frame.and_then(|frame| text_or_empty(frame.members.get(THINKING)?.object()?.get(names::TYPE)).into());
        let has_it = |position: usize| {
            edited.message_at(position).is_some_and(|message| !text_or_empty(message.get(*key)).is_empty())
        };
        if !asked.is_some_and(|asked| asked.is("enabled")) && !(0..edited.messages.len()).any(has_it) {
            continue;
        }
        let callers: BTreeSet<usize> = pairs.calls().map(|(path, _)| path.position()).collect();
        let is_lacking = |position: &usize| !edited.guard.contains(position) && !has_it(*position);
        let lacking: Vec<usize> = callers.into_iter().filter(is_lacking).collect();
        for position in lacking {
            edited.edit(Path::Message(position), vec![(*key, Some(Edit::NewValue(Json::ascii(" "))))]);
            mends.add_with("missing_member", Some(position), Text::ascii(""), Piece::Borrowed(key.name));
        }
    }
}

/// Remove ids of items that the server refuses, and add the summary that reasoning has to have.
///
/// The placeholder of a client library stays in a list of messages: the library removes it as it writes the body, and
/// does not know the item without it.
fn mend_items<'a, V: Value<'a>>(
    edited: &mut EditedMessages<'a, '_, V>,
    (destination, is_body): (&Destination, bool),
    mends: &mut Mends<'a>,
) {
    if destination.form != Form::Items {
        return;
    }
    let mut seen = AHashSet::new();
    for (position, item) in edited.messages.iter().copied().enumerate() {
        if edited.guard.contains(&position) {
            continue;
        }
        let mut kind = text_or_empty(item.get(names::TYPE));
        if kind.is_empty() && item.get(names::ROLE).is_some() {
            kind = Text::ascii("message");
        }
        let item_id = item.get(names::ID).and_then(Value::text);
        let item_id = item_id.filter(|item_id| is_body || !item_id.is(PLACEHOLDER));
        let is_refused = |item_id: Text<'a>| !destination.rules.item_ids.takes_id(item_id, kind);
        let is_twice = destination.rules.item_ids.is_unique
            && item_id.is_some_and(|item_id| !item_id.is_empty() && !seen.insert(Piece::Borrowed(item_id)));
        if is_twice && kind.is("reasoning") {
            edited.take_out(Path::Message(position));
            mends.add("duplicate_reasoning", Some(position), Text::ascii(""));
            continue;
        }
        if is_twice || item_id.is_some_and(is_refused) {
            edited.edit(Path::Message(position), vec![(names::ID, None)]);
            mends.add("dropped_id", Some(position), text_or_empty(item.get(names::CALL_ID)));
        }
        if destination.rules.needs_summary && kind.is("reasoning") && item.get(SUMMARY).is_none() {
            let summary = Some(Edit::NewValue(Json::List(Vec::new())));
            edited.edit(Path::Message(position), vec![(SUMMARY, summary)]);
            mends.add("missing_summary", Some(position), Text::ascii(""));
        }
        if destination.rules.texts_by_role && kind.is("message") {
            mend_types_by_role((edited, position), destination, item, mends);
        }
    }
}
