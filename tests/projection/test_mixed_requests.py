"""A request of two providers is not repaired, so no turn is dropped: the rest would be repaired as the other's."""

from itertools import permutations
from types import ModuleType
from typing import Any

import pytest
from support.builders.draft_writers import write
from support.builders.drafts import Call, DraftTurn, Manner, Result, Text
from support.providers.validity import PROVIDERS
from support.rows import for_each

from toolcarry import ProjectPolicy

SMALL = ProjectPolicy(repair=True, max_request_tokens=40)
CHATS = {"openai", "ollama"}
PAIRS = [pair for pair in permutations(PROVIDERS, 2) if set(pair) != CHATS]


def turns(provider: str, names: str) -> list[Any]:
    """Return an exchange for each letter; the call of the last one has the id of the first, and no result."""
    said: list[DraftTurn] = []
    for name in names:
        said.append(DraftTurn("user", [Text("Go on.")]))
        said.append(DraftTurn("assistant", [Call(f"t{name}", "Read", {"file_path": f"{name}.py"})]))
        said.append(DraftTurn("user", [Result(f"t{name}", "Read", "a line\n" * 60, False)]))
    said.append(DraftTurn("assistant", [Call(f"t{names[0]}", "Bash", {"command": "ls"})]))
    return list(write(provider, said, Manner(False, True)))


@for_each(("first", "second"), PAIRS)
def test_nothing_is_dropped(api: ModuleType, first: str, second: str) -> None:
    messages = [*turns(first, "ab"), *turns(second, "cd")]
    found = api.project(messages, policy=SMALL)
    assert len(found.messages) == len(messages)
    assert found.report.mends == ()
    assert {replaced.reason for replaced in found.report.replacements} <= {"cleared", "cut"}
    assert len(found.report.not_repaired.split(", ")) > 1  # Chat is also named next to Ollama
    assert found.report.over_request > 0
    twice = api.project(found.messages, policy=SMALL)
    assert twice.messages == found.messages
    again = api.project(messages, policy=SMALL, previous=found.decisions)
    assert again.messages == found.messages


@pytest.mark.parametrize("provider", PROVIDERS)
def test_turns_of_one_provider_are_dropped(api: ModuleType, provider: str) -> None:
    found = api.project(turns(provider, "abcd"), policy=SMALL)
    assert "dropped" in {replaced.reason for replaced in found.report.replacements}
    assert found.report.not_repaired == ""
    assert api.project(found.messages, policy=SMALL).messages == found.messages


@for_each(("first", "second"), PAIRS)
def test_dropped_turns_stay_dropped(api: ModuleType, first: str, second: str) -> None:
    """A client that changes the provider sends the same beginning again."""
    before = api.project(turns(first, "abcd"), policy=SMALL)
    assert before.decisions.dropped
    messages = [*turns(first, "abcd"), *turns(second, "ef")]
    found = api.project(messages, policy=SMALL, previous=before.decisions)
    assert found.decisions.dropped == before.decisions.dropped
    assert found.report.mends == ()
