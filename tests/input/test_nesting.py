"""Nesting past 128 is an error with a position, in bytes and in objects, and never a crash."""

import os
import subprocess
import sys
from types import ModuleType
from typing import Any

import pytest
from support.builders.wire import turn


@pytest.mark.parametrize("brackets", ["[", '{"a":', '[{"role":"user","content":['])
def test_bytes_nested_to_ten_thousand(api: ModuleType, brackets: str) -> None:
    with pytest.raises(api.InputError, match=r"nested deeper than 128 at byte \d+"):
        api.carry(brackets.encode() * 10_000)
    closed = (
        brackets * 10_000
        + "1"
        + brackets.translate({91: 93, 123: 125, 34: None, 97: None, 58: None})[::-1] * 10_000
    )
    if brackets != '[{"role":"user","content":[':
        with pytest.raises(api.InputError, match=r"nested deeper than 128 at byte \d+") as caught:
            api.carry(closed.encode())
        assert caught.value.position == 128 * len(brackets)


def nested(levels: int, wrap: Any) -> Any:
    value: Any = "x"
    for _ in range(levels):
        value = wrap(value)
    return value


WRAPS = {"lists": lambda value: [value], "objects": lambda value: {"a": value}}


@pytest.mark.parametrize("wrap", WRAPS.values(), ids=WRAPS)
@pytest.mark.parametrize("place", ["input", "content"])
def test_objects_nested_to_ten_thousand(api: ModuleType, wrap: Any, place: str) -> None:
    value = nested(10_000, wrap)
    messages = turn(
        "f", {"a": value} if place == "input" else {}, value if place == "content" else "ok"
    )
    position = 0 if place == "input" else 1
    with pytest.raises(api.InputError, match="nested deeper than 128") as caught:
        api.carry([{"role": "user", "content": "hi"}, *messages])
    assert caught.value.position == position + 1
    assert f"message {position + 1}" in str(caught.value)


NEST = """
import sys
from collections import OrderedDict
from toolcarry import InputError, carry
value = "x"
for _ in range(int(sys.argv[2])):
    value = (value,) if sys.argv[1] == "tuples" else OrderedDict(a=value)
call = {"type": "tool_use", "id": "t1", "name": "f", "input": {"a": value}}
try:
    carry([{"role": "assistant", "content": [call]}])
except InputError as error:
    print(error)
"""


@pytest.mark.parametrize("wrap", ["tuples", "subclasses"])
@pytest.mark.parametrize("levels", [200, 10_000])
def test_objects_nested_too_deep_that_are_no_lists(
    backend: ModuleType, wrap: str, levels: int
) -> None:
    name = "rust" if backend.__name__ == "toolcarry._backend._core" else "python"
    environment = os.environ | {"TOOLCARRY_BACKEND": name}
    command = [sys.executable, "-c", NEST, wrap, str(levels)]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert "nested deeper than 128" in run.stdout, (run.returncode, run.stderr[-200:])


def test_an_object_that_contains_itself(api: ModuleType) -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(api.InputError, match="nested deeper than 128"):
        api.carry(turn("f", {"a": loop}, "ok"))


def test_arguments_nested_to_ten_thousand_in_a_string(api: ModuleType) -> None:
    call = {
        "id": "t1",
        "function": {"name": "f", "arguments": '{"a":' * 10_000 + "1" + "}" * 10_000},
    }
    text = api.carry([{"role": "assistant", "tool_calls": [call]}]).text
    assert "### f(arguments=" in text
