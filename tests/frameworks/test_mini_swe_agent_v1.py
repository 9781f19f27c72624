"""mini-swe-agent 1 runs commands of a model that gives fixed answers, and saves its trajectory."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from support.framework_talk import COUNTED

import toolcarry

pytest.importorskip("minisweagent", reason="mini-swe-agent is not installed; `just frameworks` installs it")  # fmt: skip
pytestmark = pytest.mark.skipif(
    not version("mini-swe-agent").startswith("1."), reason="this is not version 1 of mini-swe-agent"
)

TASK, SAID = "Färbe den Zaun.", "Ich sehe nach."
COMMANDS = ("printf 'drei Meter — grün'", "ls /nowhere/at/all", "sleep 3", "seq 20000")
"""The second one fails, the third one takes too long, and of the last one the output is cut."""
END = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT; echo fertig"


def test_a_trajectory(api: ModuleType, rust: ModuleType, tmp_path: Path) -> None:
    from minisweagent.agents.default import DefaultAgent
    from minisweagent.environments.local import LocalEnvironment
    from minisweagent.models.test_models import DeterministicModel
    from minisweagent.run.utils.save import save_traj

    texts = [f"{SAID}\n\n```bash\n{command}\n```" for command in (*COMMANDS, END)]
    texts.insert(1, "Ohne Befehl.")
    cut = "<returncode>{{output.returncode}}</returncode>\n<output>\n{{output.output[:5000]}}\n</output>"
    settings: Any = {
        "instance_template": "{{task}}",
        "action_observation_template": cut,
        "cost_limit": 0.0,
    }
    agent = DefaultAgent(DeterministicModel(outputs=texts), LocalEnvironment(timeout=1), **settings)
    status, result = agent.run(TASK)
    path = tmp_path / "run.traj.json"
    save_traj(agent, path, exit_status=status, result=result)
    body = path.read_bytes()
    found = rust.inspect(body)
    assert found.shape == "mini-swe-agent-1"
    assert not found.unread, found.unread
    assert (found.calls, found.results, found.errors) == (5, 5, 2)
    assert (found.orphan_calls, found.orphan_results) == (0, 0)
    shown = api.carry(body, policy=toolcarry.CarryPolicy(max_chars=10**6)).text
    for words in ("drei Meter — grün", "timed out", "fertig"):
        assert words in shown
    said = api.dialogue(body)
    assert f"[USER]\n{TASK}\n[/USER]" in said
    assert said.count("[CLIENT]") == 1
    assert "printf" not in said
    row = (
        "mini-swe-agent",
        version("mini-swe-agent"),
        "trajectory, text, with a timeout and a wrong format",
        5,
        5,
    )
    if row not in COUNTED:
        COUNTED.append(row)
