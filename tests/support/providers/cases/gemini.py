"""Gemini."""

from typing import Any

JsonObject = dict[str, Any]

WORDS = {"text": "Go."}


def model(*parts: JsonObject) -> JsonObject:
    return {"role": "model", "parts": list(parts)}


def user(*parts: JsonObject) -> JsonObject:
    return {"role": "user", "parts": list(parts)}


def call(name: str = "f", **more: str) -> JsonObject:
    return {"functionCall": {"name": name, "args": {}, **more}}


def answer(name: str = "f", **more: str) -> JsonObject:
    return {"functionResponse": {"name": name, "response": {"output": "ok"}, **more}}


ASK = user(WORDS)

# fmt: off
CASES: list[tuple[str, list[JsonObject], list[JsonObject], str]] = [
    (
        "there are as many responses as calls",
        [ASK, model(call(), call()), user(answer(), answer())],
        [ASK, model(call(), call()), user(answer())],
        "2 calls with 1 responses",
    ), (
        "and no more",
        [ASK, model(call()), user(answer())],
        [ASK, model(call()), user(answer(), answer())],
        "1 calls with 2 responses",
    ), (
        "contents of the model's in a row are one turn",
        [ASK, model(call()), model(WORDS, call()), user(answer(), answer())],
        [ASK, model(call()), model(WORDS, call()), user(answer())],
        "2 calls with 1 responses",
    ), (
        "the responses are in one content",
        [ASK, model(call(), call()), {"role": "function", "parts": [answer(), answer()]}],
        [ASK, model(call(), call()), user(answer()), user(answer())],
        "contents.3: 0 calls with 1 responses",
    ), (
        "they stand before other parts",
        [ASK, model(call()), user(answer(), WORDS)],
        [ASK, model(call()), user(WORDS, answer())],
        "a response behind something else",
    ), (
        "they stand right behind the calls",
        [ASK, model(call()), user(answer()), ASK],
        [ASK, model(call()), ASK, user(answer())],
        "contents.2: 1 calls with 0 responses",
    ), (
        "a response has a call",
        [ASK, model(call()), user(answer())],
        [ASK, model(WORDS), user(answer())],
        "0 calls with 1 responses",
    ), (
        "a conversation does not end with open calls",
        [ASK, model(call()), user(answer())],
        [ASK, model(call())],
        "the end: 1 calls with 0 responses",
    ), (
        "names are those of the calls, as often",
        [ASK, model(call("f"), call("g")), user(answer("g"), answer("f"))],
        [ASK, model(call("f"), call("g")), user(answer("f"), answer("f"))],
        "responses with other names than the calls",
    ), (
        "ids are those of the calls, where both have them",
        [
            ASK, model(call(id="a"), call(id="b")), user(answer(id="b"), answer(id="a")),
            model(call(id="a")), user(answer()),
        ],
        [ASK, model(call(id="a")), user(answer(id="b"))],
        "responses with other ids than the calls",
    ), (
        "an id and a name are those of one call",
        [ASK, model(call("f", id="a"), call("g", id="b")), user(answer("g", id="b"), answer("f", id="a"))],
        [ASK, model(call("f", id="a"), call("g", id="b")), user(answer("g", id="a"), answer("f", id="b"))],
        "a response with the id of a call of another name",
    ), (
        "a call is the model's",
        [ASK, model(call()), user(answer())],
        [user(call()), model(WORDS)],
        "a call that is not the model's",
    ), (
        "a response is not",
        [ASK, model(call()), user(answer())],
        [ASK, model(answer())],
        "a response in the model's turn",
    ), (
        "a content has parts",
        [ASK, model(WORDS)],
        [ASK, model(), ASK],
        "contents.1: no parts",
    ),
]
