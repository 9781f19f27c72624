"""Generated histories are valid for each destination of their format after a repair, and each loss is reported.

The long run tries 20,000 histories of each format. One history is drawn for all of its destinations: drawing takes
longer than repairing.
"""

import json
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples import IS_LONG
from support.oracles.destinations import RECORDS, Record
from support.providers.validity import PROVIDERS, problems
from support.strategies.histories import histories
from support.strategies.other_members import calls_in, objects_in

from toolcarry import ProjectPolicy

SHAPES = {"openai": "openai-chat", "responses": "openai-responses"}
PARTS = 8 if IS_LONG else 1
"""The parts of the long run, which workers share. Each has a seed of its own."""
NOT_SAID = {"type", "role", "id", "name", "tool_name", "call_id", "tool_call_id", "tool_use_id", "toolUseId"}  # fmt: skip
"""The members whose texts are no content: a repair may replace them all."""


def texts_in(value: Any) -> Iterator[str]:
    """Yield all texts that say something, at any depth."""
    if isinstance(value, str):
        yield from [value] if value.strip() else []
    elif isinstance(value, list):
        for each in value:
            yield from texts_in(each)
    elif isinstance(value, dict):
        for key, each in value.items():
            if key not in NOT_SAID or not isinstance(each, str):
                yield from texts_in(each)


def refused(destination: Record, messages: list[Any]) -> Iterator[str]:
    """Yield what the destination refuses, and other destinations of its format take."""
    roles = [str(message.get("role")) for message in messages]
    systems = [place for place, role in enumerate(roles) if role in ("system", "developer")]
    if destination.refuses_system and systems:
        yield "a system message"
    if destination.system_begins and systems != list(range(len(systems))):
        yield "a system message that does not begin"
    if destination.refuses_developer and "developer" in roles:
        yield "a developer"
    follows = pairwise(roles)
    if destination.model_follows_results and ("tool", "user") in follows:
        yield "a user message after a result"
    if destination.user_ends and roles and roles[-1] == destination.model:
        yield "the model ends"
    if any(key in message for key in destination.refused_members for message in messages):
        yield "a member of another provider"
    held = list(objects_in(messages))
    marks = sum("cache_control" in each for each in held)
    if destination.cache_marks and marks > destination.cache_marks:
        yield f"{marks} marks"
    if destination.signed_thoughts and any(map(is_unsigned, held)):
        yield "a thought without a signature"
    if destination.signed_calls:
        yield from unsigned_calls(destination, messages)
    for key in destination.shared_members:
        of_model = [key in each for each in messages if each.get("role") == destination.model]
        if any(of_model) and not all(of_model):
            yield f"a message without {key}"
    for message in messages:
        calls = message.get("tool_calls", []) if destination.form == "chat" else []
        if not all(destination.id.takes_id(call.get("id", "")) for call in calls):
            yield "an id"
        if destination.typed_calls and not all(call.get("type") for call in calls):
            yield "a call without a type"
        if destination.form == "items":
            yield from refused_item(destination, message)
    for call in calls_in(destination_provider(destination), messages):
        if not destination.tool_name.takes_id(call["name"]):
            yield "a name"
        given = call[destination.arguments.key]
        if given is None and destination.arguments.is_optional:
            continue
        if destination.arguments.form == "text":
            assert isinstance(given, str)
            given = json.loads(given)
        if not isinstance(given, dict):
            yield "arguments that are no object"


def refused_item(destination: Record, item: Any) -> Iterator[str]:
    """Yield what the destination refuses in an item."""
    kind = item.get("type", "message")
    if "id" in item and not destination.takes_item_id(item["id"], kind):
        yield "an id of an item"
    if kind == "reasoning" and "summary" not in item:
        yield "reasoning without a summary"
    if kind == "message" and isinstance(item["content"], list):
        wanted = "output_text" if item["role"] == "assistant" else "input_text"
        if any("text" in part and part["type"] != wanted for part in item["content"]):
            yield "a text of the other side"


def unsigned_calls(destination: Record, messages: list[Any]) -> Iterator[str]:
    """Yield what lacks a signature after the last message of the user that has no result."""
    for message in reversed(messages):
        calls = [part for part in message["parts"] if "functionCall" in part]
        if message["role"] == "user" and not any(
            "functionResponse" in part for part in message["parts"]
        ):
            return
        if calls and "thoughtSignature" not in calls[0]:
            yield "a call without a signature"


def is_unsigned(part: Any) -> bool:
    return part.get("type") == "thinking" and not part.get("signature")


def destination_provider(destination: Record) -> str:
    return next(
        (each for each, shape in SHAPES.items() if shape == destination.shape), destination.shape
    )


def is_judged(name: str, problem: str) -> bool:
    """Return false for the length of an id at a destination that has no limit of its own."""
    return RECORDS[name].id.at_most > 0 or "is longer than" not in problem


def check_losses(messages: list[Any], found: Any) -> None:
    """Check that the report names the message of each text that is gone."""
    told = {mend.position for mend in found.report.mends}
    told |= {replaced.position for replaced in found.report.replacements}
    gone = Counter(texts_in(messages)) - Counter(texts_in(found.messages))
    for text in gone:
        places = [place for place, each in enumerate(messages) if text in texts_in(each)]
        assert told.intersection(places), (text, places, found.report)


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("part", range(PARTS))
@settings(max_examples=20_000 // PARTS if IS_LONG else 40)
@given(data=st.data())
def test_repaired_histories(api: ModuleType, part: int, provider: str, data: st.DataObject) -> None:
    messages = data.draw(histories(provider))
    shape = SHAPES.get(provider, provider)
    names = [name for name, each in RECORDS.items() if each.shape == shape]
    for name in names:
        policy = ProjectPolicy(repair=True, destination=name)
        found = api.project(messages, policy=policy)
        found_problems = [
            each for each in problems(provider, found.messages) if is_judged(name, each)
        ]
        assert found_problems == [], (name, found.report.mends)
        assert list(refused(RECORDS[name], found.messages)) == [], name
        assert found.report.not_repaired == "", name
        check_losses(messages, found)
        again = api.project(found.messages, policy=policy)
        assert (again.messages, again.report.mends) == (found.messages, ()), name
