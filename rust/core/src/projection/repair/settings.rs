//! The settings of a request that depend on its messages: its thinking, and the definitions of the tools that were
//! called.

use super::destinations::Destination;
use super::frame::{Frame, Step};
use super::message_parts::is_thinking;
use super::pairs::Pairs;
use super::report::Mends;
use crate::json::value::{Key, Value, items, names, text_or_empty};
use crate::projection::edits::{Draft, Json, Path};
use crate::projection::request::EditedMessages;
use crate::text::piece::Piece;
use crate::text::{OwnedText, Text};

/// Builds the message that a draft describes.
pub(crate) type Build<'b, 'a, V> = &'b dyn Fn(&Draft<'a, V>) -> Option<V>;

/// Ask for no thinking, if the open turn would have to begin with a thought and does not.
///
/// Edits of the context that clear thoughts need the thinking, and go with it.
pub(crate) fn stop_thinking<'a, V: Value<'a>>(
    frame: &mut Frame<'a, V>,
    destination: &Destination,
    (drafts, build): (&[Draft<'a, V>], Build<'_, 'a, V>),
    mends: &mut Mends<'a>,
) {
    if destination.rules.thinking.is_empty() {
        return;
    }
    let mut gone: Vec<Vec<Step>> = Vec::new();
    frame.visit(destination.rules.thinking, &mut |path, thinking| {
        // With "adaptive", a turn need not begin with a thought:
        // https://platform.claude.com/docs/en/build-with-claude/adaptive-thinking
        let kind = text_or_empty(thinking.object().and_then(|thinking| thinking.get(names::TYPE)));
        if kind.is("enabled") && lacks_thought(destination, drafts, build) {
            gone.push(path.to_vec());
        }
    });
    if gone.is_empty() {
        return;
    }
    frame.visit(destination.thinking_edits, &mut |path, edits| {
        for (index, edit) in edits.list().into_iter().flat_map(items).enumerate() {
            let kind = text_or_empty(edit.object().and_then(|edit| edit.get(names::TYPE)));
            if kind.starts_with("clear_thinking") {
                gone.push([path, &[Step::Item(index)]].concat());
            }
        }
    });
    for path in gone {
        frame.change(path, None);
    }
    mends.add("stopped_thinking", None, Text::ascii(""));
}

/// Return true if the open turn does not begin with a thought.
fn lacks_thought<'a, V: Value<'a>>(
    destination: &Destination,
    drafts: &[Draft<'a, V>],
    build: Build<'_, 'a, V>,
) -> bool {
    let mut begin = None;
    for (count, draft) in drafts.iter().rev().enumerate() {
        let Some(message) = build(draft).and_then(Value::object) else { break };
        let has_results = has_results(message, destination);
        if text_or_empty(message.get(names::ROLE)).is(destination.model) {
            begin = Some(message);
        } else if !has_results {
            break;
        }
        if count == 0 && !has_results {
            return false;
        }
    }
    let first = |begin: V| begin.get(destination.key.key())?.list()?.item(0)?.object();
    begin.is_some_and(|begin| !first(begin).is_some_and(is_thought))
}

/// Return true if a message holds results.
fn has_results<'a, V: Value<'a>>(message: V, destination: &Destination) -> bool {
    let parts = message.get(destination.key.key()).and_then(Value::list);
    parts.into_iter().flat_map(items).filter_map(Value::object).any(|part| destination.is_result(part))
}

fn is_thought<'a, V: Value<'a>>(part: V) -> bool {
    is_thinking(text_or_empty(part.get(names::TYPE))) || part.has(names::REASONING_CONTENT_CAMEL)
}

/// Define the tools of the calls, if the destination refuses calls in a request that defines none.
pub(crate) fn define_tools<'a, V: Value<'a>>(
    frame: &mut Frame<'a, V>,
    destination: &Destination,
    (edited, pairs): (&EditedMessages<'a, '_, V>, &Pairs<'a>),
    mends: &mut Mends<'a>,
) {
    let (Some(definition), [_, ..]) = (&destination.definition, destination.rules.needs_definitions) else { return };
    let mut has_some = false;
    frame.visit(destination.rules.needs_definitions, &mut |_, defined| {
        has_some |= defined.list().is_some_and(|defined| defined.count() > 0);
    });
    if has_some {
        return;
    }
    let mut called: Vec<Piece<'a>> = Vec::new();
    for (path, number) in pairs.calls() {
        let Some(block) = edited.blocks.get(number) else { continue };
        let name = pairs.name_of(number, block);
        let is_gone = edited.is_gone(path) || edited.is_gone(Path::Message(path.position()));
        if !is_gone && !name.is_empty() && !called.contains(&name) {
            called.push(name);
        }
    }
    if called.is_empty() {
        return;
    }
    let path = destination.rules.needs_definitions.iter().map(|key: &Key<'static>| Step::Member(*key)).collect();
    frame.change(path, Some(Json::List(called.iter().map(|name| definition.define(name.clone())).collect())));
    let mut all = OwnedText::default();
    for (index, name) in called.iter().enumerate() {
        if index > 0 {
            all.push_ascii(", ");
        }
        all.push(name.text());
    }
    mends.add_with("missing_definitions", None, Text::ascii(""), Piece::own(all));
}
