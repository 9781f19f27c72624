//! Both ends of a repaired conversation: it is not empty, and the model begins and ends it only if it did so before.
//!
//! Bedrock and Gemini refuse a conversation that begins with the model, and the model's last words are the beginning of
//! its answer, which some models refuse to continue. Where the user's first or last message loses all of its content, a
//! text takes its place and names the loss. A window of a conversation may begin or end with the model: where the
//! destination refuses that, a user message is put there and says so.

use ahash::AHashSet;

use super::destinations::{Destination, Form};
use super::message_parts::{Side, is_models};
use super::pairs::Pairs;
use super::report::Mends;
use crate::formats::{REQUEST_USER_ROLES, is_program};
use crate::json::value::{Value, names, text_or_empty};
use crate::projection::edits::{Draft, Json};
use crate::projection::request::EditedMessages;
use crate::text::Text;
use crate::text::constants::{LEFT_OUT, added};
use crate::text::piece::Piece;

/// Return the speaker of a message by its role. An item of Responses may have only a type.
fn speaker_of<'a, V: Value<'a>>(message: V, destination: &Destination) -> Side {
    let role = text_or_empty(message.get(names::ROLE));
    if is_models(message) {
        return Side::Model;
    }
    if REQUEST_USER_ROLES.iter().any(|own| role.is(own)) || (role.is_empty() && destination.answering.contains(&"")) {
        return Side::User;
    }
    if !role.is_empty() || destination.form != Form::Items {
        return Side::Other;
    }
    let kind = text_or_empty(message.get(names::TYPE));
    match () {
        () if is_program(kind) => Side::Model,
        () if kind.ends_with("_output") => Side::User,
        () if kind.is("reasoning") || kind.ends_with("_call") => Side::Model,
        () => Side::Other,
    }
}

/// Return the first side that is the user's or the model's, and how many come before it.
fn edge(mut sides: impl Iterator<Item = Side>) -> Option<(Side, usize)> {
    let mut count = 0;
    let side = sides.find(|side| {
        count += 1;
        *side != Side::Other
    });
    side.map(|side| (side, count - 1))
}

/// Return the speaker of the repaired message at a position.
fn speaker_at<'a, V: Value<'a>>(
    edited: &EditedMessages<'a, '_, V>,
    position: usize,
    destination: &Destination,
) -> Side {
    if edited.users.contains(&position) {
        return Side::User;
    }
    edited.message_at(position).map_or(Side::Other, |message| speaker_of(message, destination))
}

/// Return true if the user has the last word in the request.
pub(crate) fn user_ends<'a, V: Value<'a>>(edited: &EditedMessages<'a, '_, V>, destination: &Destination) -> bool {
    let sides = (0..edited.messages.len()).rev().map(|position| speaker_at(edited, position, destination));
    edge(sides).is_some_and(|(side, _)| side == Side::User)
}

/// Return the repaired messages with a user message at each end where the user spoke, and now the model would.
pub(crate) fn keep_ends<'a, V: Value<'a>>(
    mut drafts: Vec<Draft<'a, V>>,
    edited: &EditedMessages<'a, '_, V>,
    (destination, pairs): (&Destination, &Pairs<'a>),
    mends: &mut Mends<'a>,
) -> Vec<Draft<'a, V>> {
    let callers: AHashSet<usize> = pairs.calls().map(|(path, _)| path.position()).collect();
    let sides = sides_of(edited, (destination, pairs));
    let (Some(first), Some(last)) = (edge(sides.iter().copied()), edge(sides.iter().rev().copied())) else {
        return drafts;
    };
    let side = |draft: &Draft<'a, V>| match draft.path() {
        None => Side::User,
        Some(path) if callers.contains(&path.position()) => Side::Model,
        Some(path) => speaker_at(edited, path.position(), destination),
    };
    let Some(start) = edge(drafts.iter().map(side)) else {
        drafts.push(made(first.1, destination, mends));
        return drafts;
    };
    let end = edge(drafts.iter().rev().map(side));
    let has_user = first.0 == Side::User || drafts.iter().map(side).any(|side| side == Side::User);
    if end.is_some_and(|(side, _)| side == Side::Model) {
        let position = edited.messages.len() - 1 - last.1;
        if last.0 == Side::User {
            drafts.push(made(position, destination, mends));
        } else if is_users_turn(edited, destination, has_user, position) {
            mends.add("missing_user", Some(position), Text::ascii(""));
            drafts.push(spoken(destination, added("continue")));
        }
    }
    if start.0 == Side::Model && first.0 == Side::User {
        drafts.insert(start.1, made(first.1, destination, mends));
    } else if start.0 == Side::Model && destination.rules.user_begins && !edited.guard.contains(&first.1) {
        mends.add("missing_user", Some(first.1), Text::ascii(""));
        drafts.insert(start.1, spoken(destination, text_for("missing_user").unwrap_or_default()));
    }
    drafts
}

/// Return the speaker of each repaired message.
fn sides_of<'a, V: Value<'a>>(
    edited: &EditedMessages<'a, '_, V>,
    (destination, pairs): (&Destination, &Pairs<'a>),
) -> Vec<Side> {
    let positions = 0..edited.messages.len();
    let mut sides: Vec<Side> = positions.map(|position| speaker_at(edited, position, destination)).collect();
    for (path, _) in pairs.calls() {
        if let Some(side) = sides.get_mut(path.position()).filter(|side| **side == Side::Other) {
            *side = Side::Model; // a message with calls and no known role gets the model's
        }
    }
    sides
}

/// Return true if the model has the last word, and a user message will be put after it.
pub(crate) fn is_last_turn_over<'a, V: Value<'a>>(
    edited: &EditedMessages<'a, '_, V>,
    (destination, pairs): (&Destination, &Pairs<'a>),
) -> bool {
    let sides = sides_of(edited, (destination, pairs));
    let last = edge(sides.iter().rev().copied()).filter(|(side, _)| *side == Side::Model);
    let has_user = sides.contains(&Side::User);
    last.is_some_and(|(_, count)| is_users_turn(edited, destination, has_user, sides.len() - 1 - count))
}

/// Return true if a conversation whose message at `last` ends it with the model is refused.
fn is_users_turn<V>(
    edited: &EditedMessages<'_, '_, V>,
    destination: &Destination,
    has_user: bool,
    last: usize,
) -> bool {
    let is_refused = destination.rules.user_ends || (destination.rules.user_speaks && !has_user);
    is_refused && !edited.guard.contains(&last)
}

/// Make a user message that says why the one at a position is gone.
fn made<'a, V>(position: usize, destination: &Destination, mends: &mut Mends<'a>) -> Draft<'a, V> {
    let mut own = mends.made.iter().filter(|mend| mend.position == Some(position));
    let text = own.find_map(|mend| text_for(&mend.kind)).or_else(|| text_for("")).unwrap_or_default();
    mends.add("stand_in", Some(position), Text::ascii(""));
    spoken(destination, text)
}

/// Return the text in place of a message, by the kind of the correction.
fn text_for(kind: &str) -> Option<&'static str> {
    LEFT_OUT.iter().find(|(own, _)| *own == kind).map(|(_, text)| *text)
}

/// Return a user message.
fn spoken<'a, V>(destination: &Destination, text: &'static str) -> Draft<'a, V> {
    let (key, content) = match destination.form {
        Form::Turns => (destination.key.key().name, Json::List(vec![destination.text(Text::ascii(text))])),
        Form::Chat | Form::Items => (names::CONTENT.name, Json::ascii(text)),
    };
    let role = (Piece::ascii("role"), Json::ascii("user"));
    Draft::NewValue(Json::Object(vec![role, (Piece::Borrowed(key), content)]))
}
