//! What the user asked for, and what the assistant said in the end.

use std::borrow::Cow;

use super::chars::{string_of, strip};
use super::clean::then;
use super::kinds::CLIENT_TEXTS;
use crate::content::client_blocks::without_blocks;
use crate::context::dialogue;
use crate::formats::{ASSISTANT, USER};

/// A request that is written again within so many messages was not made twice.
const NEAR: usize = 3;

/// What a person said: the position and the number of the message, and the text.
#[derive(Clone, Debug)]
pub(crate) struct Turn<'a> {
    pub(super) position: usize,
    pub(super) number: usize,
    pub(super) text: Cow<'a, str>,
}

/// The requests of the user, oldest first, and what the assistant said after the last one, if it ends there.
#[derive(Debug, Default)]
pub(crate) struct Spoken<'a> {
    pub(super) requests: Vec<Turn<'a>>,
    pub(super) answer: Option<Turn<'a>>,
}

/// Return the requests and the final answer among the turns, which are given newest first. `number` returns the number of
/// the message at a position.
pub(crate) fn spoken_in<'a>(turns: &[dialogue::Turn<'a>], number: impl Fn(usize) -> usize) -> Spoken<'a> {
    let mut requests: Vec<Turn<'a>> = Vec::new();
    for turn in turns.iter().filter(|turn| turn.speaker == USER) {
        let text = then(string_of(&turn.text), without_blocks);
        let text = then(text, |text| Cow::Borrowed(strip(text)));
        let own = number(turn.position);
        let is_again = |last: &Turn<'a>| last.text == text && last.number.saturating_sub(own) <= NEAR;
        let is_clients = CLIENT_TEXTS.iter().any(|start| text.starts_with(start));
        if !text.is_empty() && !requests.last().is_some_and(is_again) && !is_clients {
            requests.push(Turn { position: turn.position, number: own, text });
        }
    }
    requests.reverse();
    let last = turns.iter().find(|turn| turn.speaker == USER || turn.speaker == ASSISTANT);
    let last = last.filter(|turn| turn.speaker == ASSISTANT);
    let answer = last.map(|turn| {
        let (position, text) = (turn.position, string_of(&turn.text));
        Turn { position, number: number(position), text }
    });
    Spoken { requests, answer }
}
