//! The texts of a conversation, message by message.

use ahash::AHashSet;

use super::message::{ASSISTANT, HistoryMessage, TurnId, history_text, is_named_thought, role_of, steps};
use crate::context::dialogue::{CLIENT, SUMMARY, told};
use crate::formats::message::{MessageParts, Spoken as Words};
use crate::formats::{TOOL_ROLES, read_message, speaker_of};
use crate::input::messages::{Halt, Messages};
use crate::json::value::{Key, Value, items, names};
use crate::session::{Placed, Places, TypedAhead};
use crate::text::Text;
use crate::text::piece::Piece;

/// The messages of the active branch that may be in the history, in order: those with text, and all assistant messages.
#[derive(Debug, Default)]
pub(super) struct Spoken<'a> {
    pub(super) history_messages: Vec<HistoryMessage<'a>>,
    /// The positions of messages without text.
    pub(super) silent: AHashSet<usize>,
    /// The positions of messages without a role.
    pub(super) without_role: Vec<usize>,
    /// The position and the turn of each message that names one, in order.
    pub(super) turns: Vec<(usize, TurnId<'a>)>,
    /// The number of messages from which thinking was left out.
    pub(super) thinking: usize,
    /// The number of messages on other branches and in side chains.
    pub(super) inactive: usize,
    /// The number of texts that the client wrote. A summary counts if a message that it covers is told.
    pub(super) client: usize,
}

impl<'a> Spoken<'a> {
    pub(super) fn read<M: Messages<'a>>(messages: &M, turn_id: Key<'_>) -> Result<Self, Halt<M::Error>> {
        let mut spoken = Self::default();
        let mut message_parts = MessageParts::default();
        let mut places = Places::default();
        let mut ahead = TypedAhead::default();
        let mut position = None;
        let mut summary = None;
        while let Some((found, item)) = messages.before(position).map_err(Halt::Source)? {
            position = Some(found);
            let Some(own) = places.place(messages, found, item)? else { continue };
            if !own.is_active {
                spoken.inactive += 1;
                continue;
            }
            let (words, client) = told(&own, &mut ahead);
            if client == Some(CLIENT) {
                spoken.client += 1;
                continue;
            }
            spoken.client += usize::from(summary.take().is_some());
            if client == Some(SUMMARY) {
                summary = Some((own, found, words));
            } else {
                spoken.add(own, found, words, turn_id, &mut message_parts);
            }
        }
        if let Some((own, found, words)) = summary {
            spoken.add(own, found, words, turn_id, &mut message_parts);
        }
        spoken.history_messages.reverse();
        spoken.without_role.reverse();
        spoken.turns.reverse();
        Ok(spoken)
    }

    fn add<V: Value<'a>>(
        &mut self,
        Placed { message, role: name, .. }: Placed<'a, V>,
        position: usize,
        Words { speaker, content }: Words<'a, V>,
        turn_id: Key<'_>,
        message_parts: &mut MessageParts<'a, V>,
    ) {
        let turn = TurnId::of(message, turn_id);
        self.turns.extend(turn.map(|turn| (position, turn)));
        let role = role_of(speaker);
        if is_thought_alone(message, role) {
            self.thinking += 1;
            self.silent.insert(position);
            return;
        }
        let is_tools = TOOL_ROLES.iter().any(|name| role.is(name));
        let parts = content.filter(|_| !is_tools).map_or_else(Vec::new, |content| match content.list() {
            Some(list) => items(list).collect(),
            None => vec![content],
        });
        message_parts.clear();
        if role.is(ASSISTANT) && parts.len() > 2 {
            _ = read_message(message, name, message_parts); // the walk halts at a message that needs an importer
        }
        let mut is_thinking = false;
        for (calls_before, step) in steps(&parts, message_parts).into_iter().rev() {
            let (mut text, is_thought) = history_text(parts.get(step).into_iter().flatten().copied(), role);
            is_thinking |= is_thought;
            if text.is_empty() && role.is(ASSISTANT) {
                (text, _) = history_text(message.get(names::REFUSAL).into_iter(), role);
            }
            if !text.is_empty() && speaker_of(speaker).is_none() {
                message_parts.clear();
                _ = read_message(message, name, message_parts);
                if !message_parts.results.is_empty() {
                    text = Piece::default(); // the text is that of a result
                } else if role.is_empty() {
                    self.without_role.push(position);
                    return;
                }
            }
            let is_object = || !role.is_empty() || message.size() > 0; // an empty object takes the place of a skipped line
            if text.is_empty() && is_object() {
                self.silent.insert(position);
            }
            if !text.is_empty() || role.is(ASSISTANT) {
                let new = HistoryMessage::new(role, text, position, turn);
                self.history_messages.push(HistoryMessage { calls_before, ..new });
            }
        }
        self.thinking += usize::from(is_thinking);
    }
}

/// Return true if a message is an item that holds nothing but thinking, also inside a Codex record.
fn is_thought_alone<'a, V: Value<'a>>(message: V, role: Text<'_>) -> bool {
    let record = || message.get(names::PAYLOAD).filter(|_| role.is_empty()).and_then(Value::object);
    is_named_thought(message) || record().is_some_and(is_named_thought)
}
