"""Content that is nested too deep is refused in every result, whether it failed or not."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
from support.builders import wire
from support.rows import for_each

from toolcarry import InputError

JOBS: dict[str, Callable[[ModuleType, list[Any]], object]] = {
    "extract_tool_blocks": lambda api, messages: api.extract_tool_blocks(messages),
    "resolve": lambda api, messages: api.resolve(messages, "t1"),
    "carry": lambda api, messages: api.carry(messages),
    "inspect": lambda api, messages: api.inspect(messages),
    "project": lambda api, messages: api.project(messages),
    "recount": lambda api, messages: api.recount(messages),
}


def nested(levels: int) -> Any:
    value: Any = "deep"
    for _ in range(levels):
        value = {"x": value}
    return value


@for_each("is_error", [True, False])
@for_each("job", JOBS)
def test_too_deep(api: ModuleType, job: str, is_error: bool) -> None:
    result = wire.result("t1", [nested(200)], is_error=is_error)
    messages = [wire.assistant(wire.use("t1")), wire.user(result)]
    with pytest.raises(InputError, match=r"^message 1 is nested deeper than 128"):
        JOBS[job](api, messages)


@for_each("is_error", [True, False])
@for_each("job", JOBS)
def test_deep_enough(api: ModuleType, job: str, is_error: bool) -> None:
    result = wire.result("t1", [nested(60)], is_error=is_error)
    JOBS[job](api, [wire.assistant(wire.use("t1")), wire.user(result)])
