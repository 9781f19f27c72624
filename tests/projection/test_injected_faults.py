"""Faults that a provider refuses, put into a request that it accepts: `check` names them, and the repair takes them out.

The judge is ``support.providers.requests``, which knows nothing of this package.
"""

import json
from random import Random
from types import ModuleType
from typing import Any

import pytest
from support.builders.faults import ALL, FAULTS, calls_of, tool
from support.builders.random_requests import histories
from support.examples import IS_LONG
from support.oracles.sdk_types import MAKERS
from support.providers.requests import KEYS, refused

from toolcarry import ProjectPolicy, check

NAMES = {"openai": "openai-chat", "responses": "openai-responses"}
CONVERSATIONS = 20_000 if IS_LONG else 240
"""For each format."""
OF_ONE_PROVIDER = [(name, each) for name, fault in FAULTS.items() for each in fault.providers]
WITH_TOOLS = {"cache_mark", "cache_mark_order", "undefined_tool"}
"""The mends for which the definitions of tools count."""
FEWEST = 20
"""At least one in this number of conversations has a place for a fault."""


def clean(api: ModuleType, random: Random, provider: str) -> dict[str, Any] | None:
    """Return a request that is accepted, with the tools that it calls; ``None`` if there is none."""
    key, name = KEYS.get(provider, "messages"), NAMES.get(provider, provider)
    request: dict[str, Any] = {key: histories(random, provider)}
    names = {str(call.get("name")) for call in calls_of(provider, request)} | {"Read"}
    tools = [tool(provider, each) for each in sorted(names)]
    if provider == "bedrock":
        request["toolConfig"] = {"tools": tools}
    else:
        request["tools"] = [{"functionDeclarations": tools}] if provider == "gemini" else tools
    policy = ProjectPolicy(repair=True, destination=name)
    found = api.project_body(json.dumps(request).encode(), policy=policy)
    if found.report.not_repaired or found.report.untouched:
        return None
    made: dict[str, Any] = json.loads(found.body)
    return None if refused(provider, made) else made


def mended(api: ModuleType, provider: str, request: dict[str, Any]) -> dict[str, Any]:
    """Return the repaired request. It is accepted, stays as it is, and `check` has nothing to say about it.

    A list of its messages is repaired alike, unless the tools around them count.
    """
    name = NAMES.get(provider, provider)
    policy = ProjectPolicy(repair=True, destination=name)
    once = api.project_body(json.dumps(request).encode(), policy=policy)
    made: dict[str, Any] = json.loads(once.body)
    assert once.report.not_repaired == "", request
    assert refused(provider, made) == [], request
    assert check(once.body, destination=name) == (), request
    assert api.project_body(once.body, policy=policy).body == once.body, request
    key = KEYS.get(provider, "messages")
    is_around = {**made, key: None} != {**request, key: None}
    if not is_around and WITH_TOOLS.isdisjoint(mend.kind for mend in once.report.mends):
        assert api.project(request[key], policy=policy).messages == made[key], request
    return made


@pytest.mark.parametrize(("fault", "provider"), OF_ONE_PROVIDER)
def test_a_fault_is_named_and_mended(api: ModuleType, fault: str, provider: str) -> None:
    inject, providers, kinds = FAULTS[fault]
    count = CONVERSATIONS // sum(provider in each.providers for each in FAULTS.values())
    found = 0
    for seed in range(count):
        random = Random(f"{fault} {provider} {seed}")
        request = clean(api, random, provider)
        if request is None or not inject(random, provider, request):
            continue
        found += 1
        assert provider in providers
        assert refused(provider, request) != [], request
        body = json.dumps(request).encode()
        named = {problem.rule for problem in check(body, destination=NAMES.get(provider, provider))}
        assert named & set(kinds), (named, request)
        mended(api, provider, request)
    assert found > count // FEWEST


def with_faults(api: ModuleType, random: Random, provider: str) -> dict[str, Any] | None:
    """Return a request with two to four faults; ``None`` if there is none."""
    request = clean(api, random, provider)
    if request is not None:
        own = [fault for fault in FAULTS.values() if provider in fault.providers]
        for fault in random.sample(own, min(len(own), random.randint(2, 4))):
            fault.inject(random, provider, request)
    return request


@pytest.mark.parametrize("provider", ALL)
def test_several_faults_are_mended(api: ModuleType, provider: str) -> None:
    for seed in range(CONVERSATIONS // 4):
        request = with_faults(api, Random(f"several {provider} {seed}"), provider)
        if request is not None:
            mended(api, provider, request)


@pytest.mark.sdk
@pytest.mark.parametrize("provider", ALL)
def test_mended_requests_have_the_types_of_the_sdk(api: ModuleType, provider: str) -> None:
    """A second judge, which is slower."""
    check_types = MAKERS[provider]()
    policy = ProjectPolicy(repair=True, destination=NAMES.get(provider, provider))
    for seed in range(CONVERSATIONS // 8):
        request = with_faults(api, Random(f"types {provider} {seed}"), provider)
        if request is not None:
            found = api.project_body(json.dumps(request).encode(), policy=policy)
            check_types(json.loads(found.body)[KEYS.get(provider, "messages")])


@pytest.mark.parametrize("provider", ALL)
def test_an_accepted_request_stays(api: ModuleType, provider: str) -> None:
    """The repair leaves alone each of its own outputs, which the judge accepts."""
    kept = 0
    for seed in range(CONVERSATIONS // 4):
        request = clean(api, Random(f"clean {provider} {seed}"), provider)
        if request is not None:
            kept += 1
            assert mended(api, provider, request) == request
    assert kept > CONVERSATIONS // 8
