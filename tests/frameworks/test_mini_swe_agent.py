"""mini-swe-agent runs commands, with a model that gives fixed answers, and saves its trajectory."""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from support.framework_talk import COUNTED

import toolcarry

pytest.importorskip("minisweagent", reason="mini-swe-agent is not installed; `just frameworks` installs it")  # fmt: skip
pytestmark = pytest.mark.skipif(
    version("mini-swe-agent").startswith("1."), reason="this is version 1 of mini-swe-agent"
)

COMMANDS = (
    ["printf 'drei Meter — grün'", "ls /nowhere/at/all"],
    ["printf weiß", "false"],
)
"""The commands of two steps; the second one of each fails."""
END = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
TASK, SAID = "Färbe den Zaun.", "Ich sehe nach."


def outputs(kind: str) -> list[Any]:
    from minisweagent.models import test_models

    made: list[Any] = []
    number = 0
    for commands in (*COMMANDS, [END]):
        actions: list[dict[str, str]] = []
        for command in commands:
            number += 1
            actions.append({"command": command, "tool_call_id": f"c{number}"})
        if kind == "text":
            made.extend(test_models.make_output(f"{SAID}\n```mswea_bash_command\n{action['command']}\n```", [action]) for action in actions)  # fmt: skip
        elif kind == "responses":
            made.append(test_models.make_response_api_output(SAID, actions))
        else:
            calls = [{"id": action["tool_call_id"], "type": "function", "function": {"name": "bash", "arguments": json.dumps({"command": action["command"]})}} for action in actions]  # fmt: skip
            made.append(test_models.make_toolcall_output(SAID, calls, actions))
    return made


@pytest.mark.parametrize("kind", ["chat", "responses", "text"])
def test_a_trajectory(api: ModuleType, rust: ModuleType, tmp_path: Path, kind: str) -> None:
    from minisweagent.agents.default import DefaultAgent
    from minisweagent.environments.local import LocalEnvironment
    from minisweagent.models import test_models

    model: Any = {
        "chat": test_models.DeterministicToolcallModel,
        "responses": test_models.DeterministicResponseAPIToolcallModel,
        "text": test_models.DeterministicModel,
    }[kind]
    path = tmp_path / "run.traj.json"
    settings: Any = {"system_template": "Du malst.", "instance_template": "{{task}}", "output_path": path, "cost_limit": 0.0}  # fmt: skip
    DefaultAgent(model(outputs=outputs(kind)), LocalEnvironment(), **settings).run(TASK)
    body = path.read_bytes()
    found = rust.inspect(body)
    assert found.shape == "mini-swe-agent"
    assert not found.unread, found.unread
    assert (found.calls, found.results, found.errors) == (5, 4, 2)  # the last one ends the run
    assert (found.orphan_calls, found.orphan_results) == (1, 0)
    shown = api.carry(body, policy=toolcarry.CarryPolicy(max_chars=10**6)).text
    assert "drei Meter — grün" in shown
    assert "weiß" in shown
    assert TASK in api.dialogue(body)
    row = ("mini-swe-agent", version("mini-swe-agent"), f"trajectory, {kind}", 5, 4)
    if row not in COUNTED:
        COUNTED.append(row)
