"""Generated histories are valid for each destination of their format after a repair, and each loss is reported.

The long run tries 20,000 histories of each format.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples import IS_LONG
from support.providers.validity import PROVIDERS, problems
from support.strategies.damages import damages_of
from support.strategies.requests import damaged_requests, requests

from toolcarry import Policy
from toolcarry._pure.projection.repair.destinations import DESTINATIONS, Destination

SHAPES = {"openai": "openai-chat", "responses": "openai-responses"}
NOTE = "A note of the system."
NOT_SAID = {"type", "role", "id", "name", "tool_name", "call_id", "tool_call_id", "tool_use_id", "toolUseId"}  # fmt: skip
"""The members whose texts are no content: a repair may replace them all."""


@st.composite
def histories(draw: st.DrawFn, provider: str) -> list[Any]:
    """Draw a history, mostly with damages, and sometimes with a system message anywhere."""
    kinds = st.lists(st.sampled_from(damages_of(provider)), min_size=1, max_size=5)
    broken = kinds.flatmap(lambda drawn: damaged_requests(provider, drawn))
    messages = draw(st.one_of(broken, broken, requests(provider)))
    if provider == "responses" or not draw(st.booleans()):
        return messages
    parts = {"gemini": ("parts", [{"text": NOTE}]), "bedrock": ("content", [{"text": NOTE}])}
    key, content = parts.get(provider, ("content", NOTE))
    note = {"role": draw(st.sampled_from(("system", "developer"))), key: content}
    place = draw(st.integers(0, len(messages)))
    return [*messages[:place], note, *messages[place:]]


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


def refused(destination: Destination, messages: list[Any]) -> Iterator[str]:
    """Yield what the destination refuses, and other destinations of its format take."""
    roles = [str(message.get("role")) for message in messages]
    systems = [place for place, role in enumerate(roles) if role in ("system", "developer")]
    if destination.refuses_system and systems:
        yield "a system message"
    if destination.system_begins and systems != list(range(len(systems))):
        yield "a system message that does not begin"
    follows = pairwise(roles)
    if destination.model_follows_results and ("tool", "user") in follows:
        yield "a user message after a result"
    if destination.user_ends and roles and roles[-1] == destination.model:
        yield "the model ends"
    if any(key in message for key in destination.refused_members for message in messages):
        yield "a member of another provider"
    for message in messages:
        calls = message.get("tool_calls", []) if destination.form == "chat" else []
        if not all(destination.id.takes_id(call.get("id", "")) for call in calls):
            yield "an id"


def check_losses(messages: list[Any], found: Any) -> None:
    """Check that the report names the message of each text that is gone."""
    told = {mend.position for mend in found.report.mends}
    told |= {replaced.position for replaced in found.report.replacements}
    gone = Counter(texts_in(messages)) - Counter(texts_in(found.messages))
    for text in gone:
        places = [place for place, each in enumerate(messages) if text in texts_in(each)]
        assert told.intersection(places), (text, places, found.report)


@pytest.mark.parametrize("provider", PROVIDERS)
@settings(max_examples=20_000 if IS_LONG else 60)
@given(data=st.data())
def test_repaired_histories(api: ModuleType, provider: str, data: st.DataObject) -> None:
    messages = data.draw(histories(provider))
    shape = SHAPES.get(provider, provider)
    for name, destination in DESTINATIONS.items():
        if destination.shape != shape:
            continue
        policy = Policy(repair=True, destination=name)
        found = api.project(messages, policy=policy)
        assert problems(provider, found.messages) == [], (name, found.report.mends)
        assert list(refused(destination, found.messages)) == [], name
        assert found.report.not_repaired == "", name
        check_losses(messages, found)
        again = api.project(found.messages, policy=policy)
        assert (again.messages, again.report.mends) == (found.messages, ()), name
