//! What the user asked for, and what the assistant said in the end.

use std::borrow::Cow;

use super::chars::{string_of, strip};
use super::clean::then;
use super::kinds::{CLIENT_TEXTS, COMMAND_TAGS, CONTROLS, USER_TAGS};
use crate::content::client_blocks::without_blocks;
use crate::context::dialogue;
use crate::formats::{self, ASSISTANT, USER};

/// A request that is written again within so many messages was not made twice.
const NEAR: usize = 3;

/// What a person said: the position and the number of the message, and the text.
#[derive(Clone, Debug)]
pub(crate) struct NumberedTurn<'a> {
    pub(super) position: usize,
    pub(super) number: usize,
    pub(super) text: Cow<'a, str>,
}

/// The requests of the user, oldest first, and what the assistant said after the last one, if it ends there.
#[derive(Debug, Default)]
pub(crate) struct Spoken<'a> {
    pub(super) requests: Vec<NumberedTurn<'a>>,
    pub(super) answer: Option<NumberedTurn<'a>>,
}

/// Return the requests and the final answer among the turns, which are given newest first. `number` returns the number of
/// the message at a position.
pub(crate) fn spoken_in<'a>(turns: &[dialogue::SpokenText<'a>], number: impl Fn(usize) -> usize) -> Spoken<'a> {
    let mut requests: Vec<NumberedTurn<'a>> = Vec::new();
    for turn in turns.iter().filter(|turn| turn.speaker == USER) {
        let text = then(string_of(&turn.text), without_blocks);
        let text = then(text, request_in);
        let own = number(turn.position);
        let is_again = |last: &NumberedTurn<'a>| last.text == text && last.number.saturating_sub(own) <= NEAR;
        if !text.is_empty() && !requests.last().is_some_and(is_again) {
            requests.push(NumberedTurn { position: turn.position, number: own, text });
        }
    }
    requests.reverse();
    let last = turns.iter().find(|turn| turn.speaker == USER || turn.speaker == ASSISTANT);
    let last = last.filter(|turn| turn.speaker == ASSISTANT);
    let answer = last.map(|turn| {
        let (position, text) = (turn.position, string_of(&turn.text));
        NumberedTurn { position, number: number(position), text }
    });
    Spoken { requests, answer }
}

/// Return what the user asked for in a text, without the tags of a client; empty if the client wrote all of it.
fn request_in(text: &str) -> Cow<'_, str> {
    let text = strip(text);
    if COMMAND_TAGS.iter().any(|tag| text.starts_with(tag)) {
        let name = within(text, "command-name");
        if CONTROLS.contains(&name) {
            return Cow::Borrowed("");
        }
        return Cow::Owned(strip(&format!("{name} {}", within(text, "command-args"))).to_owned());
    }
    if text.starts_with('<')
        && let Some(said) = USER_TAGS.iter().map(|tag| within(text, tag)).find(|said| !said.is_empty())
    {
        return Cow::Borrowed(said);
    }
    let is_clients = formats::CLIENT_TEXTS.iter().chain(CLIENT_TEXTS).any(|start| text.starts_with(start));
    Cow::Borrowed(if is_clients { "" } else { text })
}

/// Return the text in the first pair of tags; empty if there is none.
fn within<'t>(text: &'t str, tag: &str) -> &'t str {
    let inside = text.split_once(&*format!("<{tag}>")).and_then(|(_, rest)| rest.split_once(&*format!("</{tag}>")));
    inside.map_or("", |(inside, _)| strip(inside))
}

#[cfg(test)]
mod tests {
    use super::request_in;

    #[test]
    fn tags_of_a_client_are_no_words_of_the_user() {
        let typed =
            "<command-message>x</command-message><command-name>/x</command-name><command-args>a.py</command-args>";
        let texts = [typed, "<task>Fix it.</task>", "<command-name>/clear</command-name>", "<skill>x</skill>", " Go. "];
        assert_eq!(texts.map(request_in), ["/x a.py", "Fix it.", "", "", "Go."]);
    }
}
