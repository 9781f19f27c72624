"""A fault that a provider refuses, put into a request that it accepts: `check` names it, and the repair takes it out."""

import json
from collections.abc import Callable, Iterator
from random import Random
from types import ModuleType
from typing import Any

import pytest
from support.builders.random_requests import histories
from support.examples import IS_LONG
from support.providers.validity import PROVIDERS, problems

from toolcarry import ProjectPolicy, check

Messages = list[dict[str, Any]]
Fault = Callable[[Random, Messages], bool]
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ"
HALF = "\ud83d"
KEYS = {"responses": "input", "gemini": "contents"}
NAMES = {"openai": "openai-chat", "responses": "openai-responses"}
ROUNDS = 2_000 if IS_LONG else 150


def parts_of(value: Any, *kinds: str) -> Iterator[dict[str, Any]]:
    """Yield the parts of these types at any depth."""
    if isinstance(value, dict):
        if value.get("type") in kinds:
            yield value
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from parts_of(each, *kinds)


def one(random: Random, found: Iterator[dict[str, Any]]) -> dict[str, Any] | None:
    parts = list(found)
    return random.choice(parts) if parts else None


def leaked_member(random: Random, messages: Messages) -> bool:
    part = one(random, parts_of(messages, "text", "tool_use", "tool_result", "thinking"))
    name = random.choice(("index", "partial_json", "annotations", "_id"))
    return part is not None and part.setdefault(name, 0) == 0


def image(random: Random, messages: Messages, stated: str, data: str) -> bool:
    """Show an image next to a text of the user."""
    source = {"type": "base64", "media_type": stated, "data": data}
    own = {
        "text": {"type": "image", "source": source},
        "input_text": {"type": "input_image", "image_url": f"data:{stated};base64,{data}"},
    }
    speakers = [
        each
        for each in messages
        if each.get("role") == "user" and isinstance(each.get("content"), list)
    ]
    texts = [
        (each["content"], part)
        for each in speakers
        for part in each["content"]
        if part.get("type") in own
    ]
    if not texts:
        return False
    parts, text = random.choice(texts)
    parts.append(own[text["type"]])
    return True


def broken_image(random: Random, messages: Messages) -> bool:
    data = random.choice(("", PNG[:9] + "...[truncated]", "[redacted]", "aGk="))
    return image(random, messages, "image/png", data)


def image_of_another_type(random: Random, messages: Messages) -> bool:
    return image(random, messages, random.choice(("image/jpeg", "image/x-png")), PNG)


def lone_surrogate(random: Random, messages: Messages) -> bool:
    texts = [
        (each, key) for each in objects(messages) for key in ("text", "content") if each.get(key)
    ]
    holders = [(each, key) for each, key in texts if isinstance(each[key], str)]
    if not holders:
        return False
    each, key = random.choice(holders)
    each[key] += HALF
    return True


def objects(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from objects(each)


def many_marks(_random: Random, messages: Messages) -> bool:
    parts = list(parts_of(messages, "text", "tool_use", "tool_result"))
    for part in parts:
        part["cache_control"] = {"type": "ephemeral"}
    return len(parts) > 4


def id_of_another_item(random: Random, messages: Messages) -> bool:
    items = [each for each in messages if each.get("type") == "function_call"]
    for each in items:
        each["id"] = "fc_1"
    return len(items) > 1


FAULTS: dict[str, tuple[Fault, str, tuple[str, ...]]] = {
    "leaked member": (leaked_member, "refused_member", ("anthropic",)),
    "broken image": (broken_image, "unreadable_media", ("anthropic", "responses")),
    "image of another type": (image_of_another_type, "media_type", ("anthropic",)),
    "lone surrogate": (lone_surrogate, "lone_surrogate", PROVIDERS),
    "many marks": (many_marks, "cache_mark", ("anthropic",)),
    "id of another item": (id_of_another_item, "dropped_id", ("responses",)),
}


@pytest.mark.parametrize(
    ("fault", "provider"), [(name, each) for name, (*_, all_) in FAULTS.items() for each in all_]
)
def test_a_fault_is_named_and_mended(api: ModuleType, fault: str, provider: str) -> None:
    inject, kind, _ = FAULTS[fault]
    key, name = KEYS.get(provider, "messages"), NAMES.get(provider, provider)
    policy = ProjectPolicy(repair=True, destination=name)
    found = 0
    for seed in range(ROUNDS):
        random = Random(f"{fault} {provider} {seed}")
        clean = api.project(histories(random, provider), policy=policy).messages
        if problems(provider, clean) or check(clean, destination=name):
            continue
        messages = json.loads(json.dumps(clean))
        if not inject(random, messages):
            continue
        found += 1
        body = json.dumps({key: messages}).encode()
        assert kind in {problem.rule for problem in check(body, destination=name)}, messages
        mended = api.project(messages, policy=policy)
        assert problems(provider, mended.messages) == [], messages
        assert check(mended.messages, destination=name) == (), messages
        assert api.project(mended.messages, policy=policy).messages == mended.messages, messages
        by_bytes = api.project_body(body, policy=policy)
        assert json.loads(by_bytes.body)[key] == mended.messages, messages
    assert found > ROUNDS // 20
