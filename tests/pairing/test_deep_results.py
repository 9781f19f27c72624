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
}
ALONE = ("inspect", "project", "recount")
"""The jobs that exist in Rust alone."""


def nested(levels: int) -> Any:
    value: Any = "deep"
    for _ in range(levels):
        value = {"x": value}
    return value


@for_each("is_error", [True, False])
@for_each("job", JOBS)
def test_too_deep(api: ModuleType, job: str, is_error: bool) -> None:
    check_too_deep(lambda messages: JOBS[job](api, messages), is_error=is_error)


@pytest.mark.parametrize("is_error", [True, False])
@pytest.mark.parametrize("job", ALONE)
def test_too_deep_on_rust(rust: ModuleType, job: str, is_error: bool) -> None:
    check_too_deep(getattr(rust, job), is_error=is_error)


def check_too_deep(job: Callable[[list[Any]], object], *, is_error: bool) -> None:
    result = wire.result("t1", [nested(200)], is_error=is_error)
    messages = [wire.assistant(wire.use("t1")), wire.user(result)]
    with pytest.raises(InputError, match=r"^message 1 is nested deeper than 128"):
        job(messages)


@for_each("is_error", [True, False])
@for_each("job", JOBS)
def test_deep_enough(api: ModuleType, job: str, is_error: bool) -> None:
    JOBS[job](api, deep_enough(is_error=is_error))


@pytest.mark.parametrize("is_error", [True, False])
@pytest.mark.parametrize("job", ALONE)
def test_deep_enough_on_rust(rust: ModuleType, job: str, is_error: bool) -> None:
    getattr(rust, job)(deep_enough(is_error=is_error))


def deep_enough(*, is_error: bool) -> list[Any]:
    result = wire.result("t1", [nested(60)], is_error=is_error)
    return [wire.assistant(wire.use("t1")), wire.user(result)]
