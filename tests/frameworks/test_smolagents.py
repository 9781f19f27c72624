"""smolagents writes the talk. A step has one observation, whatever it called, so each step has one call here."""

from __future__ import annotations

import json
from types import ModuleType
from typing import Any

import pytest
from support.framework_talk import ASKED, CALLS, DONE, FIRST, SAID, SECOND, THIRD, check

pytest.importorskip("smolagents", reason="smolagents is not installed; `just frameworks` installs it")  # fmt: skip


def memory() -> Any:
    from smolagents.memory import ActionStep, AgentMemory, FinalAnswerStep, TaskStep, ToolCall
    from smolagents.monitoring import AgentLogger, LogLevel, Timing
    from smolagents.utils import AgentExecutionError

    found = AgentMemory(system_prompt="Du malst.")
    logger = AgentLogger(level=LogLevel.OFF)
    found.steps.append(TaskStep(task=ASKED))
    number = 0
    for call in CALLS:
        number += 1
        made = ToolCall(name=call.name, arguments=call.arguments, id=call.call_id)
        error: Any = AgentExecutionError(call.result, logger) if call.has_failed else None
        found.steps.append(
            ActionStep(
                step_number=number,
                timing=Timing(start_time=0.0, end_time=1.0),
                tool_calls=[made],
                model_output=SAID if number == 1 else None,
                observations=None if call.has_failed else call.result,
                error=error,
            )
        )
    found.steps.append(ActionStep(number + 1, Timing(0.0, 1.0), model_output=DONE, observations=""))
    found.steps.append(FinalAnswerStep(output=DONE))
    return found


def test_the_steps_of_a_memory(api: ModuleType) -> None:
    from smolagents.utils import make_json_serializable

    steps = make_json_serializable(memory().get_full_steps())
    assert len(steps) == len(FIRST + SECOND + THIRD) + 3
    check(api, "smolagents", "get_full_steps", json.dumps(steps).encode(), "smolagents", said=(ASKED,))  # fmt: skip
    lines = "\n".join(map(json.dumps, steps))
    check(api, "smolagents", "get_full_steps, lines", lines.encode(), "smolagents", said=(ASKED,))


def test_an_answer_in_the_wrong_place_is_no_call(rust: ModuleType) -> None:
    steps = memory().get_full_steps()
    assert rust.inspect(json.dumps([{"role": "user", "content": str(steps)}]).encode()).calls == 0
