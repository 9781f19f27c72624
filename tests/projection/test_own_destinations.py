"""Destinations of users: one that is known, except for some rules."""

import json
from types import ModuleType
from typing import Any

import pytest

from toolcarry import ConfigError, Destination, ProjectPolicy
from toolcarry.config import parse_config

ASK = {"role": "user", "content": "Go."}


def chat(call_id: str = "call_1", name: str = "ls") -> list[dict[str, Any]]:
    function = {"name": name, "arguments": "{}"}
    call = {"id": call_id, "type": "function", "function": function}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": call_id, "content": "ok"},
    ]


RULED: list[tuple[dict[str, Any], list[dict[str, Any]], list[str]]] = [
    ({"id": {"at_least": 9, "at_most": 9, "is_word": True}}, [ASK, *chat()], ["renamed_id"]),
    ({"tool_name": {"at_most": 64, "is_word": True, "marks": "_-."}}, [ASK, *chat(name="a.b")], []),
    ({"refused_members": ["x_trace"]}, [{**ASK, "x_trace": 1}, *chat()], ["refused_member"]),
    ({"user_ends": True}, [ASK, *chat(), {"role": "assistant", "content": "Hi."}], ["missing_user"]),
    ({"model_follows_results": True}, [ASK, *chat(), ASK], ["missing_model"]),
    ({"refuses_empty": False}, [ASK, chat()[0], {**chat()[1], "content": ""}], []),
    ({"cache_marks": 1}, [{"role": "user", "content": [{"type": "text", "text": "a", "cache_control": {}}, {"type": "text", "text": "b", "cache_control": {}}]}, *chat()], ["cache_mark"]),
    ({}, [ASK, *chat(name="a.b")], ["refused_name"]),
]  # fmt: skip


@pytest.mark.parametrize(("rules", "messages", "kinds"), RULED)
def test_rules_replace_those_of_the_base(
    api: ModuleType, rules: dict[str, Any], messages: list[dict[str, Any]], kinds: list[str]
) -> None:
    own = Destination("gateway", "openai-chat", rules)
    for destination in (own, {"base": "openai-chat", **rules}):
        policy = ProjectPolicy(repair=True, destination=destination)
        found = api.project(messages, policy=policy)
        assert [mend.kind for mend in found.report.mends] == kinds
        body = api.project_body(json.dumps({"messages": messages}).encode(), policy=policy)
        assert json.loads(body.body)["messages"] == found.messages
        assert api.project(found.messages, policy=policy).messages == found.messages


def test_ids_of_items_are_ruled_by_their_types(api: ModuleType) -> None:
    rules = {"item_ids": {"at_most": 8, "starts": {"message": "m_"}}}
    own = Destination("items", "openai-responses", rules)
    said = {"type": "message", "role": "assistant", "content": "Hi."}
    items = [ASK, {**said, "id": "m_1"}, ASK, {**said, "id": "x_1"}, ASK, {**said, "id": "m_1234567"}, ASK]  # fmt: skip
    found = api.project(items, policy=ProjectPolicy(repair=True, destination=own))
    assert [mend.position for mend in found.report.mends] == [3, 5]


def test_a_base_of_another_format_is_not_taken(api: ModuleType) -> None:
    own = Destination("gateway", "anthropic")
    report = api.project([ASK, *chat()], policy=ProjectPolicy(repair=True, destination=own)).report
    assert report.not_repaired == "openai-chat: gateway takes anthropic"
    assert [each.rule for each in api.check([ASK, *chat()], destination=own)] == ["not_repaired"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"base": "none"}, "base: 'none' is not allowed; allowed: 'anthropic', "),
        ({"base": "ollama", "colour": 1}, "colour: is not a rule of a destination; allowed: answers_at_once, "),
        ({"base": "bedrock", "merges": 1}, "merges: 1 is not allowed; allowed: True, False"),
        ({"base": "ollama", "merges": True}, "merges: is not a rule for 'ollama', whose requests have another form"),
        ({"base": "anthropic", "most_calls": 9}, "most_calls: is not a rule for 'anthropic', whose requests have another form; did you mean most_tools\\?; allowed: "),
        ({"base": "ollama", "refused_member": []}, "refused_member: is not a rule of a destination; did you mean refused_members\\?; allowed: "),
        ({"base": "ollama", "id": {"at_most": "9"}}, "id.at_most: '9' is not allowed; allowed: an integer >= 0"),
        ({"base": "ollama", "id": 9}, "id: 9 is not allowed; allowed: a mapping"),
        ({"base": "ollama", "refused_members": ["ä"]}, r"refused_members: \['ä'\] is not allowed; allowed: a list of ASCII texts"),
        ({"base": "ollama", "name": "mistral"}, "name: destination name 'mistral' is already taken"),
    ],
)  # fmt: skip
def test_what_is_not_allowed(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=f"^{message}"):
        ProjectPolicy(destination=given)


def test_destinations_of_the_settings() -> None:
    config = parse_config("""
        [projection]
        destination = "gateway"
        [destinations.gateway]
        base = "openai-chat"
        cache_marks = 2
        id = { at_most = 9 }
        [[serve.upstreams]]
        name = "a"
        url = "http://a"
        shape = "openai"
        destination = "mistral"
        [[serve.upstreams]]
        name = "b"
        url = "http://b"
        shape = "openai"
    """)
    own = Destination("gateway", "openai-chat", {"cache_marks": 2, "id": {"at_most": 9}})
    assert config.projection_policy().destination == own
    assert config.upstream_destinations() == {"a": "mistral"}
    assert hash(ProjectPolicy(destination=own)) == hash(ProjectPolicy(destination=own))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[projection]\ndestination = 'gone'", "projection.destination: 'gone' is not allowed; allowed: 'anthropic', "),
        ("[destinations.a]\nbase = 'b'", "destinations.a.base: 'b' is not allowed; allowed: 'anthropic', "),
        ("[destinations.a]\nbase = 'groq'\nuser_ends = 'no'", "destinations.a.user_ends: 'no' is not allowed; allowed: True, False"),
    ],
)  # fmt: skip
def test_settings_that_are_not_allowed(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        parse_config(text)
