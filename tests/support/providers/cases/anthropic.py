"""Anthropic Messages."""

from typing import Any

from support.builders.wire import assistant, result, use, user

JsonObject = dict[str, Any]


def text(words: str) -> JsonObject:
    return {"type": "text", "text": words}


ASK = user(text("Go."))
DONE = assistant(text("Done."))
ONE, TWO = use("t1"), use("t2")
FIRST, SECOND = result("t1"), result("t2")
THOUGHT = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
HIDDEN = {"type": "redacted_thinking", "data": "x"}
SEARCH = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
IMAGE = {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}}
EMPTY = {"role": "assistant", "content": ""}

# fmt: off
CASES: list[tuple[str, list[JsonObject], list[JsonObject], str]] = [
    (
        "each call has a result in the turn behind it, in any order",
        [ASK, assistant(ONE, TWO), user(SECOND, FIRST)],
        [ASK, assistant(ONE, TWO), user(SECOND)],
        "call 't1' has no result",
    ), (
        "messages of one role are one turn",
        [ASK, assistant(ONE), assistant(TWO), user(FIRST), user(SECOND)],
        [ASK, assistant(ONE), assistant(TWO), user(SECOND)],
        "call 't1' has no result",
    ), (
        "a result does not come late",
        [ASK, assistant(ONE), user(FIRST), DONE, ASK],
        [ASK, assistant(ONE), ASK, DONE, user(FIRST)],
        "result 't1' has no call in the turn before",
    ), (
        "a call has one result",
        [ASK, assistant(ONE), user(FIRST)],
        [ASK, assistant(ONE), user(FIRST, FIRST)],
        "call 't1' has 2 results",
    ), (
        "a result has a call",
        [ASK, assistant(ONE), user(FIRST)],
        [ASK, DONE, user(FIRST)],
        "result 't1' has no call in the turn before",
    ), (
        "results stand before anything else",
        [ASK, assistant(ONE), user(FIRST, text("Go on."))],
        [ASK, assistant(ONE), user(text("Go on."), FIRST)],
        "the result of 't1' stands behind something else",
    ), (
        "and so do those of parallel calls",
        [ASK, assistant(ONE, TWO), user(FIRST, SECOND, text("Go on."))],
        [ASK, assistant(ONE, TWO), user(FIRST, text("Go on."), SECOND)],
        "the result of 't2' stands behind something else",
    ), (
        "calls stand behind what is said with them",
        [ASK, assistant(text("I look."), ONE), user(FIRST)],
        [ASK, assistant(ONE, text("I look.")), user(FIRST)],
        "a text behind the calls",
    ), (
        "and behind what the server answered itself",
        [ASK, assistant(SEARCH, FOUND, ONE), user(FIRST)],
        [ASK, assistant(ONE, SEARCH, FOUND), user(FIRST)],
        "an answer of the server's behind a call",
    ), (
        "a call is the assistant's",
        [ASK, assistant(ONE), user(FIRST)],
        [user(ONE), DONE],
        "a call in a turn that is not the assistant's",
    ), (
        "a result is not the assistant's",
        [ASK, assistant(ONE), user(FIRST), DONE],
        [ASK, assistant(FIRST), ASK],
        "a result in an assistant's turn",
    ), (
        "a conversation does not end with open calls",
        [ASK, assistant(ONE), user(FIRST)],
        [ASK, assistant(ONE)],
        "the end: call 't1' has no result",
    ), (
        "ids are unique over the request",
        [ASK, assistant(ONE), user(FIRST), assistant(TWO), user(SECOND)],
        [ASK, assistant(ONE), user(FIRST), assistant(ONE), user(FIRST)],
        "'t1' is not unique",
    ), (
        "ids have letters, digits, _ and -",
        [ASK, assistant(use("a_B-9")), user(result("a_B-9"))],
        [ASK, assistant(use("call:1")), user(result("call:1"))],
        "'call:1' has the wrong form",
    ), (
        "ids are not empty",
        [],
        [ASK, assistant(use("")), user(result(""))],
        "'' has the wrong form",
    ), (
        "ids are there",
        [],
        [ASK, assistant({"type": "tool_use", "name": "f", "input": {}}), ASK],
        "None has the wrong form",
    ), (
        "a text block has text",
        [ASK],
        [user(text("Go."), text(""))],
        "a text block without text",
    ), (
        "white space is no text",
        [ASK],
        [{"role": "user", "content": " \n"}],
        "a text block without text",
    ), (
        "a text in a result has text, and a result need have none",
        [ASK, assistant(ONE, TWO), user(result("t1", ""), result("t2", []))],
        [ASK, assistant(ONE), user(result("t1", [text("a"), text("")]))],
        "a text block without text",
    ), (
        "a failure has content",
        [ASK, assistant(ONE), user(result("t1", "No.", is_error=True))],
        [ASK, assistant(ONE), user(result("t1", "", is_error=True))],
        "a failed result without content",
    ), (
        "and that is text",
        [ASK, assistant(ONE), user(result("t1", [text("No.")], is_error=True))],
        [ASK, assistant(ONE), user(result("t1", [text("No."), IMAGE], is_error=True))],
        "a failed result with more than text",
    ), (
        "a message has content",
        [{"role": "user", "content": "Go."}],
        [user(), DONE],
        "messages.0: empty content",
    ), (
        "but for the last one, if it is the assistant's",
        [ASK, EMPTY],
        [ASK, EMPTY, ASK],
        "messages.1: empty content",
    ), (
        "a conversation does not end in white space",
        [ASK, assistant(text("Done. ")), ASK, assistant(text("Done."))],
        [ASK, assistant(text("Done. "))],
        "the conversation ends in white space",
    ), (
        "a conversation does not end in thinking, and may have it anywhere else",
        [ASK, assistant(THOUGHT), ASK, assistant(THOUGHT, text("Done."))],
        [ASK, assistant(THOUGHT)],
        "ends in thinking",
    ), (
        "a last turn of several messages does not, either",
        [ASK, assistant(THOUGHT), DONE],
        [ASK, DONE, assistant(HIDDEN)],
        "ends in redacted_thinking",
    ), (
        "a server's result has its call before it",
        [ASK, assistant(SEARCH, FOUND, text("Done."))],
        [ASK, assistant(FOUND, SEARCH, text("Done."))],
        "web_search_tool_result 'srvtoolu_1' has no call",
    ), (
        "a server's call has its result in its turn",
        [ASK, assistant(SEARCH, FOUND), ASK],
        [ASK, assistant(SEARCH), ASK],
        "the server's call 'srvtoolu_1' has no result",
    ), (
        "or behind what the client was asked for",
        [ASK, assistant(SEARCH, ONE), user(FIRST), assistant(FOUND, text("Done."))],
        [ASK, assistant(SEARCH), ASK, assistant(FOUND)],
        "web_search_tool_result 'srvtoolu_1' has no call",
    ), (
        "and nothing but results is said before that",
        [ASK, assistant(SEARCH, ONE), user(FIRST), assistant(FOUND), ASK],
        [ASK, assistant(SEARCH, ONE), user(FIRST, text("Stop."))],
        "the server's call 'srvtoolu_1' has no result",
    ), (
        "or not yet, where the turn was paused",
        [ASK, assistant(SEARCH)],
        [ASK, assistant(SEARCH), ASK, DONE],
        "the server's call 'srvtoolu_1' has no result",
    ),
]
