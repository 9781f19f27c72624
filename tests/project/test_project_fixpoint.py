"""Requests that were mended once more the next time: what a mend leaves is what the next projection leaves as it is."""

from types import ModuleType
from typing import Any

import pytest
import wire
from repairs import ASK, answer, kinds, repair

THOUGHT = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
NAMED = {"role": "tool", "tool_name": "f", "content": "ok"}


@pytest.mark.parametrize("orphan", [answer("t1"), NAMED, {**NAMED, "content": []}])
def test_results_without_calls_beside_anothers_thoughts(
    api: ModuleType, orphan: dict[str, Any]
) -> None:
    """They go, so that the thoughts tell whose request it is; it was Chat's first, and Anthropic's the next time."""
    said = wire.assistant(ASK["content"][0], THOUGHT)
    blank = {"role": "user", "content": " "}
    found = repair(api, [ASK, orphan, blank, said])
    assert found.messages == [ASK, wire.assistant(ASK["content"][0])]
    assert kinds(found) == ["orphan_result", "empty_message", "trailing_thought"]
    assert found.report.mends[0].position == 1


def test_a_call_tells_whose_request_it_is(api: ModuleType) -> None:
    """So do results that answer it: the thoughts beside it stay, as in a request to a gateway."""
    call = {"id": "t1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    said = {"role": "assistant", "content": [THOUGHT], "tool_calls": [call]}
    messages = [{"role": "user", "content": " "}, said, answer("t1")]
    assert repair(api, messages, "openai").messages == messages
