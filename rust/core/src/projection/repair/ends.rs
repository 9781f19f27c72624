//! Both ends of a repaired conversation: it is not empty, and the model begins and ends it only if it did so before.
//!
//! Bedrock and Gemini refuse a conversation that begins with the model, and the model's last words are the beginning of
//! its answer. Where the user's first or last message loses all of its content, a text takes its place and names the
//! loss. A window of a conversation may begin with the model: for these two providers, a user message is put first and
//! says so.

use ahash::AHashSet;

use super::message_parts::{Side, is_models};
use super::pairs::Pairs;
use super::providers::{Dialect, Form};
use super::report::Mends;
use crate::formats::{REQUEST_USER_ROLES, is_program};
use crate::json::value::{Value, names, text_or_empty};
use crate::projection::edits::{Draft, Json};
use crate::projection::request::EditedMessages;
use crate::text::Text;
use crate::text::constants::LEFT_OUT;
use crate::text::piece::Piece;

/// Return the speaker of a message by its role. An item of Responses may have only a type.
fn speaker_of<'a, V: Value<'a>>(message: V, dialect: &Dialect) -> Side {
    let role = text_or_empty(message.get(names::ROLE));
    if is_models(message) {
        return Side::Model;
    }
    if REQUEST_USER_ROLES.iter().any(|own| role.is(own)) || (role.is_empty() && dialect.answering.contains(&"")) {
        return Side::User;
    }
    if !role.is_empty() || dialect.form != Form::Items {
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

/// Return true if the user has the last word in the request.
pub(crate) fn user_ends<'a, V: Value<'a>>(edited: &EditedMessages<'a, '_, V>, dialect: &Dialect) -> bool {
    let sides = edited.messages.iter().rev().map(|message| speaker_of(*message, dialect));
    edge(sides).is_some_and(|(side, _)| side == Side::User)
}

/// Return the repaired messages with a user message at each end where the user spoke, and now the model would.
pub(crate) fn keep_ends<'a, V: Value<'a>>(
    mut drafts: Vec<Draft<'a, V>>,
    edited: &EditedMessages<'a, '_, V>,
    (dialect, pairs): (&Dialect, &Pairs<'a>),
    mends: &mut Mends<'a>,
) -> Vec<Draft<'a, V>> {
    let callers: AHashSet<usize> = pairs.calls().map(|(path, _)| path.position()).collect();
    let mut sides: Vec<Side> = edited.messages.iter().map(|message| speaker_of(*message, dialect)).collect();
    for (position, side) in sides.iter_mut().enumerate() {
        if *side == Side::Other && callers.contains(&position) {
            *side = Side::Model; // a message with calls and no known role gets the model's
        }
    }
    let (Some(first), Some(last)) = (edge(sides.iter().copied()), edge(sides.iter().rev().copied())) else {
        return drafts;
    };
    let side = |draft: &Draft<'a, V>| match draft.path() {
        None => Side::User,
        Some(path) if callers.contains(&path.position()) => Side::Model,
        Some(path) => edited.message_at(path.position()).map_or(Side::Other, |message| speaker_of(message, dialect)),
    };
    let Some(start) = edge(drafts.iter().map(side)) else {
        drafts.push(made(first.1, dialect, mends));
        return drafts;
    };
    let end = edge(drafts.iter().rev().map(side));
    if end.is_some_and(|(side, _)| side == Side::Model) && last.0 == Side::User {
        drafts.push(made(edited.messages.len() - 1 - last.1, dialect, mends));
    }
    if start.0 == Side::Model && first.0 == Side::User {
        drafts.insert(start.1, made(first.1, dialect, mends));
    } else if start.0 == Side::Model && dialect.user_begins && !edited.guard.contains(&first.1) {
        mends.add("missing_user", Some(first.1), Text::ascii(""));
        drafts.insert(start.1, spoken(dialect, text_for("missing_user").unwrap_or_default()));
    }
    drafts
}

/// Make a user message that says why the one at a position is gone.
fn made<'a, V>(position: usize, dialect: &Dialect, mends: &mut Mends<'a>) -> Draft<'a, V> {
    let mut own = mends.made.iter().filter(|mend| mend.position == Some(position));
    let text = own.find_map(|mend| text_for(&mend.kind)).or_else(|| text_for("")).unwrap_or_default();
    mends.add("stand_in", Some(position), Text::ascii(""));
    spoken(dialect, text)
}

/// Return the text in place of a message, by the kind of the correction.
fn text_for(kind: &str) -> Option<&'static str> {
    LEFT_OUT.iter().find(|(own, _)| *own == kind).map(|(_, text)| *text)
}

/// Return a user message.
fn spoken<'a, V>(dialect: &Dialect, text: &'static str) -> Draft<'a, V> {
    let (key, content) = match dialect.form {
        Form::Turns => (dialect.key.key().name, Json::List(vec![dialect.text(Text::ascii(text))])),
        Form::Chat | Form::Items => (names::CONTENT.name, Json::ascii(text)),
    };
    let role = (Piece::ascii("role"), Json::ascii("user"));
    Draft::NewValue(Json::Object(vec![role, (Piece::Borrowed(key), content)]))
}
