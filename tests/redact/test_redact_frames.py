"""Secrets inside of other notations: quoted, escaped, encoded, and next to letters. None of them leaves by any way."""

import base64
import json
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.builders.secret_texts import CASES, INNOCENTS, some
from support.rows import for_each

from toolcarry import SummarizeTransformer, carry
from toolcarry.redact import Redactor, redact_messages
from toolcarry.redact.logs import cleaned

REDACTOR = Redactor()
Frame = Callable[[str], str]


def nested(depth: int) -> Frame:
    def frame(text: str) -> str:
        for level in range(depth):
            text = json.dumps({f"line{level}": f"out:\n{text}\n"})
        return text

    return frame


FRAMES: dict[str, Frame] = {
    "after an escaped line break": lambda text: f'INFO {{"out": "x\\n{text}"}}',
    "after an escaped tab": lambda text: f"id\\t{text}\\r\\n",
    "JSON": nested(1),
    "a line of JSON": lambda text: f"INFO 12:00 {nested(1)(text)}",
    "JSON in JSON": nested(2),
    "a line of JSON in JSON in JSON": lambda text: f"got {nested(3)(text)}",
    "cut JSON": lambda text: nested(1)(text) + "\n" + nested(1)(text + " " * 90)[:-40],
    "repr": lambda text: repr({"out": f"x\n{text}\n"}),
    "repr of bytes": lambda text: repr(f"x\n{text}\n".encode()),
    "repr of JSON": lambda text: repr(nested(1)(text)),
    "address": lambda text: f"GET https://example.org/cb?state=1&x={quote(text, safe='')}&y=2",
    "address in JSON": lambda text: nested(1)("/cb?x=" + quote(f"a\n{text}", safe="")),
    "Base64": lambda text: f"data: {base64.b64encode(text.encode()).decode()}",
    "Base64 for addresses": lambda text: "x " + base64.urlsafe_b64encode(text.encode()).decode(),
    "lines of Base64": lambda text: base64.encodebytes(f"{'a b ' * 30}{text}".encode()).decode(),
    "Base64 after letters": lambda text: f"x_{base64.b64encode(text.encode()).decode()}",
    "JSON with lines of Base64": lambda text: nested(1)(
        base64.encodebytes(f"{'a b ' * 30}{text}".encode()).decode()
    ),
}
TOUCHING: dict[str, Frame] = {
    "underscore": lambda text: f"my_{text}",
    "letter": lambda text: f"token{text}",
    "camelCase": lambda text: f"let myToken{text}",
    "digit": lambda text: f"v2{text}",
}
BY_SHAPE = frozenset(
    [
        "aws-key-id",
        "github",
        "gitlab",
        "slack",
        "slack-hook",
        "stripe",
        "anthropic",
        "openai",
        "google",
        "npm",
        "pypi",
        "docker",
        "hugging-face",
        "sendgrid",
        "digitalocean",
        "databricks",
        "shopify",
        "vault",
        "jwt",
        "telegram",
        "connection-string",
        "private-key",
    ]
)
"""The rules that find a secret without a name before it."""


def shown(case: tuple[str, str, str]) -> str:
    """Return the part of a secret that no frame may show."""
    secret = case[2]
    return max(secret.replace("\\n", "\n").split("\n"), key=len)


def said_everywhere(text: str) -> list[dict[str, Any]]:
    """Return a conversation that has this text in a request, a result and an answer."""
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "kubectl logs"}}
    answer = {"type": "tool_result", "tool_use_id": "t1", "content": text}
    return [
        {"role": "user", "content": f"go {text}"},
        {"role": "assistant", "content": [call]},
        {"role": "user", "content": [answer]},
        {"role": "assistant", "content": [{"type": "text", "text": text}]},
        {"role": "user", "content": "next"},
    ]


def carried(text: str) -> str:
    """Return the context of a redacted conversation."""
    return carry(redact_messages(said_everywhere(text), REDACTOR)).text


def switched(text: str) -> str:
    """Return what another model backend is sent of a conversation with this text."""
    transformer = SummarizeTransformer(redact=REDACTOR)
    messages = said_everywhere(text)
    transformer.transform(messages[:1], conversation="c", backend="a")
    transformer.answered("c", "a")
    found = transformer.transform(messages, conversation="c", backend="b")
    assert found.is_switched
    return json.dumps(found.messages, ensure_ascii=False)


EXITS: dict[str, Frame] = {
    "redactor": REDACTOR,
    "log": lambda text: cleaned(str, text),
    "carry": carried,
    "switch": switched,
}


@pytest.mark.parametrize("exit_name", EXITS)
@given(frame=st.sampled_from(sorted(FRAMES)), case=st.sampled_from(CASES))
def test_no_frame_hides_a_secret(exit_name: str, frame: str, case: tuple[str, str, str]) -> None:
    framed = FRAMES[frame](case[1])
    found = EXITS[exit_name](framed)
    assert "[redacted: " in found
    assert shown(case) not in found
    if "Base64" in frame:
        assert all(
            word not in found for word in framed.replace("\\n", " ").split() if len(word) > 24
        )


@pytest.mark.parametrize("frame", FRAMES)
def test_each_frame_with_each_kind(frame: str) -> None:
    hidden = []
    for case in CASES:
        framed = FRAMES[frame](case[1])
        if shown(case) in REDACTOR(framed) or REDACTOR(framed) == framed:
            hidden.append(case[0])
    assert hidden == []


@pytest.mark.parametrize("frame", TOUCHING)
def test_a_token_is_found_next_to_letters(frame: str) -> None:
    hidden = []
    for case in CASES:
        secret = case[2]
        if case[0] in BY_SHAPE - {"connection-string"}:
            framed = TOUCHING[frame](secret)
            if secret in REDACTOR(framed) or secret in cleaned(str, framed):
                hidden.append(case[0])
    assert hidden == []


@for_each(
    "name", ["dbPasswordProd", "DB_PASSWORD_PROD", "passwordOld", "my-secret-2", "appSecretValue"]
)
@for_each("line", ['{{"{}": "{}"}}', "{} = '{}'", '{}: "{}"', '{{\\"{}\\": \\"{}\\"}}'])  # fmt: skip
def test_a_name_with_the_word_inside(name: str, line: str) -> None:
    assert "correct-horse" not in REDACTOR(line.format(name, "correct-horse-7"))


@pytest.mark.parametrize("frame", FRAMES)
def test_innocent_texts_stay_in_every_frame(frame: str) -> None:
    for text in INNOCENTS:
        framed = FRAMES[frame](text.encode("utf-8", "replace").decode())
        assert REDACTOR(framed) is framed


def test_only_the_secret_is_replaced() -> None:
    token = "ghp" + "_" + some(36)
    text = f'INFO {{"a": "\\u00e9\\n{token}\\n%41", "b": "\\\\"}}'
    assert REDACTOR(text) == text.replace(token, "[redacted: github]")


@pytest.mark.parametrize(
    "text",
    [
        "\\" * 1_000_000,
        "\\n" * 500_000,
        "%5C" * 300_000,
        "%25" * 300_000,
        "A" * 1_000_000,
        ("A" * 41 + "\n") * 20_000,
        base64.b64encode(bytes(range(256)) * 2_000).decode(),
    ],
    ids=lambda text: text[:6],
)
def test_hostile_notations_end(text: str) -> None:
    assert REDACTOR(text) == text
    assert "\n" in cleaned(str, "\n" + text)
