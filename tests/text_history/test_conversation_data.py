"""The tool with which an agent pages through its own conversation."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import toolcarry
from toolcarry import AgentConfig, InputError, read_conversation_data, recount
from toolcarry.api.projection import STYLES

pytestmark = pytest.mark.usefixtures("rust")

TALK = [
    {"role": "user", "content": "Is it empty?", "turn_id": 1},
    {"role": "assistant", "content": "No.", "turn_id": 1},
    {"role": "user", "content": "Thanks.", "turn_id": 2},
]
CALLS = [{"turn_id": 1, "name": "ReadFile", "arguments": {"path": "a.cs"}, "result": "0123456789"}]
NEXT = re.compile(r"next offset: (\d+)(?:, character: (\d+))?\]$")


@pytest.fixture
def config(tmp_path: Path) -> AgentConfig:
    path = tmp_path / "agent.json"
    path.write_text('{"toolResultMaxLength": 4}')
    return AgentConfig(path)


def test_a_page(rust: ModuleType, config: AgentConfig) -> None:
    read = rust.read_conversation_data
    assert read(TALK, {"offset": 1, "limit": 1}, config=config, tool_calls=CALLS) == (
        "[message 1, assistant]\n"
        'No.\n\n[Tool: ReadFile(path="a.cs")] \u2192 0123... [truncated]\n'
        "[toolcarry: messages 1 to 2 of 3; next offset: 2]"
    )
    assert read(TALK, '{"offset": "2"}', config=config).endswith(
        "Thanks.\n[toolcarry: messages 2 to 3 of 3]"
    )
    assert read(TALK, {"offset": 9}, config=config) == "[toolcarry: messages 3 to 3 of 3]"


def test_the_limit_is_that_of_the_history(config: AgentConfig) -> None:
    for length in (4, 9, 10):
        config.path.write_text(json.dumps({"toolResultMaxLength": length}))
        page = read_conversation_data(TALK, {}, config=config, tool_calls=CALLS)
        for message in toolcarry.recount(TALK, tool_calls=CALLS, config=config).messages:
            assert f"\n{message['content']}\n" in page


@given(st.lists(st.integers(0, 45_000), max_size=6), st.integers(1, 4))
def test_all_of_it_can_be_read(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[int], limit: int
) -> None:
    talk: list[dict[str, Any]] = [
        {"role": "user", "content": str(number) * size} for number, size in enumerate(sizes, 1)
    ]
    config = AgentConfig(tmp_path_factory.getbasetemp() / "none.json")
    asked: dict[str, int] | None = {"limit": limit}
    read: list[str] = []
    while asked is not None:
        page = read_conversation_data(talk, asked, config=config)
        assert len(page) < 20_400
        read += [line for line in page.split("\n") if line and not line.startswith("[")]
        more = NEXT.search(page)
        asked = None
        if more is not None:
            asked = {"limit": limit, "offset": int(more[1]), "character": int(more[2] or 0)}
    assert "".join(read) == "".join(message["content"] for message in recount(talk).messages)


@pytest.mark.parametrize("given", [{"offset": -1}, {"limit": "x"}, {"character": True}])
def test_arguments_that_are_invalid(config: AgentConfig, given: dict[str, Any]) -> None:
    (name,) = given
    with pytest.raises(InputError, match=f"{name}: .* is not allowed; allowed: an integer >= 0"):
        read_conversation_data(TALK, given, config=config)


@pytest.mark.parametrize("given", ["{bad", '{"offset": 2', "[2]", None, 3, [2], b"{}"])
def test_arguments_that_are_no_object(config: AgentConfig, given: Any) -> None:
    with pytest.raises(InputError, match="arguments"):
        read_conversation_data(TALK, given, config=config)
    assert read_conversation_data(TALK, "", config=config).startswith("[message 0")


@pytest.mark.parametrize("style", STYLES)
def test_every_provider_is_given_the_same_tool(style: Any) -> None:
    written = json.dumps(toolcarry.conversation_data_tool(style))
    assert '"read_conversation_data"' in written
    for name in ("offset", "limit", "character"):
        assert f'"{name}": {{"type": "integer"' in written
