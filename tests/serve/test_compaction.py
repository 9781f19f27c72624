"""Compaction by the middleware: a conversation that fills its model's window gets a new beginning, and keeps it."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from support.providers.fakes import OpenAIFake, ScriptedTurn

from toolcarry.config import Config, Sessions, Summarize, Thinking
from toolcarry.config.tables import Projection

pytestmark = pytest.mark.sdk

WINDOW = 8_192
"""The tokens that gpt-4 takes: https://platform.openai.com/docs/models/gpt-4"""
LONG = "one line of a long log of a build\n" * 60


def config(compact_at: float, window: int | None = None) -> Config:
    summary = Summarize(compact_at=compact_at, max_chars=6_000)
    return Config(
        thinking=Thinking(summarize=summary),
        projection=Projection(window_tokens=window),
        sessions=Sessions(single_user=True),
    )


def talk(number: int) -> list[dict[str, Any]]:
    """A request, a call with its long result, and the answer."""
    function = {"name": "Read", "arguments": json.dumps({"file_path": f"{number}.log"})}
    call = {"id": f"t{number}", "type": "function", "function": function}
    return [
        {"role": "user", "content": f"Read log {number}."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"t{number}", "content": LONG},
        {"role": "assistant", "content": f"I read {number}."},
    ]


def run(
    start: Callable[..., Any],
    clients: Callable[..., Any],
    compact_at: float,
    model: str = "gpt-4",
    window: int | None = None,
) -> list[Any]:
    """Send a session that grows past the window, and return the messages that the model got, and the sent ones."""
    fake = OpenAIFake([ScriptedTurn("Done.")])
    client = clients("openai", start({"a": fake}, config=config(compact_at, window)))
    messages: list[Any] = []
    sent = []
    for number in range(24):
        asked = [*messages, {"role": "user", "content": "Go on."}]
        headers = {"x-toolcarry-conversation": "talk"}
        client.chat.completions.create(model=model, messages=asked, extra_headers=headers)
        sent.append((asked, fake.recorded[-1].json["messages"]))
        messages = [*asked, {"role": "assistant", "content": "Done."}, *talk(number)]
    assert fake.refusals == []
    return sent


@pytest.mark.parametrize(("model", "window"), [("gpt-4", None), ("glm-4.6", WINDOW)])
def test_a_conversation_that_fills_the_window_begins_again(
    start: Callable[..., Any], clients: Callable[..., Any], model: str, window: int | None
) -> None:
    sent = run(start, clients, 0.8, model, window)
    beginnings = [got[0]["content"] for asked, got in sent if got != asked]
    assert 10 < len(beginnings) < 24
    assert [asked for asked, got in sent if got == asked] == [
        asked for asked, _ in sent[: 24 - len(beginnings)]
    ]
    assert max(len(json.dumps(got)) for _, got in sent) / 4 < WINDOW
    assert (
        1 < len(set(beginnings)) < len(beginnings) / 2
    )  # each is sent again until the window is full again
    assert all(
        "0.log" in got[0]["content"] or "Read log" in got[0]["content"]
        for asked, got in sent
        if got != asked
    )


def test_it_is_off_by_default(start: Callable[..., Any], clients: Callable[..., Any]) -> None:
    assert Summarize().compact_at == 0
    assert all(asked == got for asked, got in run(start, clients, 0))
