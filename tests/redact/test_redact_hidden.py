"""Secrets that show only after a later step: controls are removed, JSON is decoded; and secrets in names."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.builders.secret_texts import SECRETS
from support.builders.summary_talks import Recording
from support.builders.wire_talks import SHAPES, WHERE, each_shape, transformer
from support.rows import for_each

from toolcarry.errors import RedactionError
from toolcarry.model.text.sanitize import clean
from toolcarry.redact import Redactor, redact_messages
from toolcarry.redact.hook import redact_text
from toolcarry.redact.logs import cleaned
from toolcarry.summarize import ExtractiveSummarizer

KEY = "AKIA" + "QWERTYUIOPASDFGH"
REMOVED = [
    "\x1b[0m", "\x1b[01;31m\x1b[K", "\x9b1m", "\x1b]0;title\x07", "\x1b(B", "\x1bc", "\0", "\b", "\x7f", "\x0e", "\x85",
    "\u202e", "\u2066", "\u200f", "\u061c", "\U000e0041",
]  # fmt: skip
"""Something of each kind that a context doesn't have."""
MARKS = re.compile(r"\[redacted: [a-z -]+\]")


@pytest.fixture(scope="module")
def redactor() -> Redactor:
    return Redactor()


@for_each("removed", REMOVED, ids=ascii)
@for_each("at", [1, 4, 11, len(KEY) - 1])
def test_characters_within_a_secret_do_not_hide_it(
    redactor: Redactor, removed: str, at: int
) -> None:
    divided = KEY[:at] + removed + KEY[at:]
    shown = clean(redact_text(f"first\nid {removed}{divided}{removed} end\nlast", redactor))
    assert KEY not in shown
    assert shown.startswith("first\n")
    assert shown.endswith("\nlast")


def every_secret() -> Iterator[tuple[str, str]]:
    for texts in SECRETS.values():
        yield from texts


@for_each(("text", "secret"), list(every_secret()), ids=lambda text: text[:24])
def test_every_kind_of_secret_is_found_in_colours(
    redactor: Redactor, text: str, secret: str
) -> None:
    at = text.index(secret)
    middle = at + len(secret) // 2
    coloured = f"{text[:at]}\x1b[31m{text[at:middle]}\x1b[m{text[middle:]}"
    assert secret not in clean(redact_text(coloured, redactor))


@pytest.mark.parametrize("around", ["x\0{}", "{}\0x", "x\x1b[1m{}\x1b[0mx", "x\u202e{}"])
def test_a_secret_that_only_a_control_makes_a_word_is_redacted(
    redactor: Redactor, around: str
) -> None:
    """Next to another one, too, which shows without the control only."""
    text = around.format(KEY)
    assert KEY not in clean(redact_text(text, redactor))
    assert KEY not in clean(redact_text(f"{text} {KEY[:7]}\0{KEY[7:]}", redactor))
    assert KEY not in clean(redact_text(f"{text}\n{KEY[:7]}\0{KEY[7:]}\nlast", redactor))


def test_half_of_a_long_token_does_not_stay(redactor: Redactor) -> None:
    token = "ghp_" + "a1B2c3D4e5" * 8
    text = f"{token[:44]}\x1b[m{token[44:]} and x\0{KEY}\nlast"
    shown = clean(redact_text(text, redactor))
    assert token[50:70] not in shown
    assert KEY not in shown
    assert shown.endswith("\nlast")


def test_text_without_secrets_keeps_its_controls(redactor: Redactor) -> None:
    text = "\x1b[32mok\x1b[m\r\n\0"
    assert redact_text(text, redactor) is text
    message = {"role": "user", "content": [{"type": "text", "text": text}]}
    assert redact_messages([message], redactor)[0] is message


@given(st.text(st.sampled_from("AKIQWERTYUOPASDFGH \x1b[0m\0\u202e\n"), max_size=80))
def test_shown_text_has_nothing_left_to_redact(text: str) -> None:
    """Redaction of what is shown would change nothing."""

    def redact(text: str) -> str:
        return text.replace("AK", "[gone]").replace("KI", "[gone]")

    shown = clean(redact_text(text, redact))
    assert redact(shown) == shown


@pytest.mark.parametrize("text", ["plain", "\0 two calls"])
def test_it_fails_closed(text: str) -> None:
    def broken(_text: str) -> str:
        raise KeyError(KEY)

    with pytest.raises(RedactionError, match="redaction failed: KeyError"):
        redact_text(text, broken)
    with pytest.raises(RedactionError, match="redaction failed: the function returned int"):
        redact_text(text, len)  # type: ignore[arg-type]


def talk(shape: Any, name: str, arguments: dict[str, Any], result: str) -> list[Any]:
    return [
        shape.user("Look."),
        *shape.turn("call_1", name, arguments, result),
        shape.says("I have seen it."),
        shape.user("Go on."),
    ]


DIVIDED = f"{KEY[:6]}\x1b[m\x1b[K{KEY[6:]}"
PLACES = {
    "result": ("Bash", {"command": "env"}, f"id {DIVIDED}"),
    "result in JSON": ("Bash", {"command": "env"}, json.dumps({"output": f"id {DIVIDED}"})),
    "escaped in JSON": ("Bash", {"command": "env"}, '{"output": "id \\u0041' + KEY[1:] + '"}'),
    "command": ("Bash", {"command": f"echo {DIVIDED}"}, "ok"),
    "path": ("Read", {"file_path": f"/etc/{DIVIDED}/a.py"}, "ok"),
    "a name of an argument": ("Grep", {DIVIDED: "x", "pattern": "y"}, "ok"),
    "a plain name of an argument": ("Grep", {KEY: "x", f"a {KEY}": {KEY: 1}}, "ok"),
    "tool": (f"run_{KEY}", {"a": 1}, "ok"),
    "a tool that is one": (KEY, {"a": 1}, "ok"),
    "a tool with controls": (DIVIDED, {"a": 1}, "ok"),
}


@each_shape
@for_each("place", PLACES)
def test_no_place_lets_a_secret_through(shape: Any, place: str) -> None:
    summarizer = Recording()
    for made in (
        transformer(redact=Redactor(), summarizer=summarizer),
        transformer(redact=Redactor(), summarizer=ExtractiveSummarizer()),
    ):
        sent = made.transform(talk(shape, *PLACES[place]), **WHERE)
        assert sent.is_switched
        assert KEY not in str(sent.messages)
        assert not [text for text in summarizer.texts if KEY in text]


VALID_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")


def names_in(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from (value[key] for key in ("name", "tool_name") if isinstance(value.get(key), str))
        for each in value.values():
            yield from names_in(each)
    if isinstance(value, list):
        for each in value:
            yield from names_in(each)


@for_each("name", [KEY, f"mcp__{KEY}__run", DIVIDED, f"{KEY} " * 9])
@for_each("shape", SHAPES, ids=lambda shape: shape.name)
def test_a_name_stays_one_that_providers_take(shape: Any, name: str) -> None:
    """In an open call, which goes on as a message, and its result, which may be known by the name alone."""
    request = [shape.user("Look."), *shape.turn("call_1", name, {"a": 1}, "ok")]
    sent = transformer(redact=Redactor()).transform(request, **WHERE).messages
    names = set(names_in(json.loads(json.dumps(sent))))
    assert len(names) <= 1
    assert all(VALID_NAME.fullmatch(name) for name in names)
    assert KEY not in str(sent)


def test_names_of_arguments_stay_apart() -> None:
    given_as = {"input": {KEY: 1, f"{KEY[:5]}\0{KEY[5:]}": 2, "[redacted: aws-key-id]": 3}}
    (message,) = redact_messages([given_as], Redactor())
    assert sorted(message["input"].values()) == [1, 2, 3]
    assert all(KEY not in clean(key) for key in message["input"])


def test_json_that_has_a_name_twice_hides_nothing() -> None:
    arguments = json.dumps({"b": KEY, "a": 1}).replace('"a"', '"b"')
    (message,) = redact_messages([{"arguments": arguments}], Redactor())
    assert json.loads(message["arguments"]) == {"b": 1}
    assert KEY not in message["arguments"]


def test_logs_are_cleaned_in_this_order_too() -> None:
    line = cleaned(lambda: f"key {DIVIDED}\n\x1b[2J next")
    assert line == "key [redacted: aws-key-id]\n next"
