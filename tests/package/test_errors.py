"""One root, few children, and errors that travel."""

import copy
import pickle
from collections.abc import Callable
from types import ModuleType

import pytest
from support.rows import for_each

from toolcarry import ConfigError, InputError, ToolcarryError, carry
from toolcarry.tool_cache import convert_tools


@pytest.mark.parametrize("kind", [InputError, ConfigError])
def test_one_root(kind: type[Exception]) -> None:
    assert issubclass(kind, ToolcarryError)
    assert issubclass(ToolcarryError, Exception)
    assert not issubclass(kind, ValueError)


def test_an_input_error_says_where() -> None:
    with pytest.raises(ToolcarryError) as caught:
        carry([{}, 7])  # type: ignore[list-item]
    assert isinstance(caught.value, InputError)
    assert caught.value.position == 1


def test_an_input_error_travels_between_processes() -> None:
    error = InputError("not JSON at byte 3", 3)
    for twin in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert (type(twin), str(twin), twin.position) == (InputError, "not JSON at byte 3", 3)


def test_messages_are_lower_case_except_for_names() -> None:
    for body in (b"", b"7", b"[" * 200, b"\xff"):
        with pytest.raises(InputError) as caught:
            carry(body)
        assert str(caught.value)[0].islower()


CALLS = {
    "summary None": lambda api: api.carry([], summary=None),
    "summary 7": lambda api: api.carry([], summary=7),
    "summary of explain": lambda api: api.carry([], summary=b"x", explain=True).fates,
    "policy None": lambda api: api.carry([], policy=api.ProjectPolicy()),
    "messages None": lambda api: api.carry(None),
    "messages text": lambda api: api.inspect("session.jsonl"),
    "messages of dialogue": lambda api: api.dialogue(7),
    "summary of files": lambda api: api.carry_files([], summary=b"x"),
    "policy of files": lambda api: api.carry_files([], policy=api.ProjectPolicy()),
    "policy of explain": lambda api: api.carry([], policy={}, explain=True).fates,
    "blocks of dedupe": lambda api: api.deduplicate_tools([1]),
    "blocks of format": lambda api: api.format_tool_context(["x"]),
    "no blocks of dedupe": lambda api: api.deduplicate_tools(None),
    "no blocks of format": lambda api: api.format_tool_context(7),
    "tools": lambda _: convert_tools(7, source="openai", target="anthropic"),
    "tools in a text": lambda _: convert_tools("f", source="openai", target="anthropic"),
    "config of recount": lambda api: api.recount([], config=500),
    "config of the pages": lambda api: api.read_conversation_data([], {}, config=None),
    "text": lambda api: api.truncate(7, 3),
    "marker": lambda api: api.truncate("text", 3, marker=None),
}


@for_each("call", CALLS.values(), ids=CALLS)
def test_arguments_of_the_wrong_type(api: ModuleType, call: Callable[[ModuleType], object]) -> None:
    with pytest.raises(ToolcarryError):
        call(api)
