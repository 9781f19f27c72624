"""Clients that send their tools once, in front of the proxy: what they sent comes back, to them alone.

Ollama's own client is one of them: without tools it sends an empty list.
"""

from __future__ import annotations

from typing import Any

import pytest
from support.builders.ollama_talks import (
    ALWAYS,
    CONFIG,
    GO_ON,
    HELLO,
    ME,
    OTHER,
    SINGLE_USER,
    TALK,
    TOOLS,
    WORDS,
    chat,
    first_turn,
    names_in,
    tools_in,
)
from support.clocks import Clock
from support.providers.fakes import OllamaFake

from toolcarry.config import Config, parse_config

pytestmark = pytest.mark.sdk


@pytest.fixture
def fake() -> OllamaFake:
    return OllamaFake(lambda asked: TALK[bool(asked.exchanges)])


@pytest.mark.parametrize("stream", [False, True])
def test_the_tools_of_the_first_request_reach_the_model_with_the_second(
    start: Any, clients: Any, http: Any, fake: OllamaFake, stream: bool
) -> None:
    url = start({"a": fake}, config=CONFIG)
    client = clients("ollama", url, headers=ME)
    messages = first_turn(client, stream=stream)
    assert fake.recorded[0].json["tools"] == TOOLS
    messages += chat(client, messages, stream=stream)
    assert messages[-1]["content"] == "It says x = 1."
    messages += [GO_ON]
    chat(client, messages, stream=stream)
    assert len(fake.recorded) == 3
    assert tools_in(fake, 0) == tools_in(fake, 1) == tools_in(fake, 2)
    assert names_in(fake) == WORDS
    assert fake.recorded[2].json["messages"][2:] == messages[2:]
    assert fake.recorded[2].json.get("stream") is stream
    assert fake.refusals == []
    counted = http.get(f"{url.control}/metrics").text
    assert "tools_restored" in counted


@pytest.mark.parametrize(
    "beside", [{}, {"tools": []}, {"tools": None}], ids=["absent", "empty", "null"]
)
def test_whatever_says_that_there_are_not_valid(
    start: Any, clients: Any, http: Any, fake: OllamaFake, beside: dict[str, Any]
) -> None:
    url = start({"a": fake}, config=CONFIG)
    messages = first_turn(clients("ollama", url, headers=ME))
    agent = {"user-agent": fake.recorded[0].header("user-agent")}
    body = {"model": "llama3", "messages": messages, "stream": False, **beside}
    answer = http.post(f"{url}/api/chat", json=body, headers={**ME, **agent}).raise_for_status()
    assert answer.json()["message"]["content"] == "It says x = 1."
    assert tools_in(fake, 1) == tools_in(fake, 0)
    assert {key: fake.recorded[1].json[key] for key in body if key != "tools"} == {
        key: body[key] for key in body if key != "tools"
    }


def test_an_empty_list_may_clear_the_tools(start: Any, clients: Any, fake: OllamaFake) -> None:
    config = parse_config("[tool_cache]\nempty_means_absent = false\n")
    client = clients("ollama", start({"a": fake}, config=config), headers=ME)
    messages = first_turn(client)
    chat(client, messages, tools=[])
    assert tools_in(fake) == b"[]"


def test_another_model_gets_none(start: Any, clients: Any, fake: OllamaFake) -> None:
    client = clients("ollama", start({"a": fake}, config=CONFIG), headers=ME)
    messages = first_turn(client)
    for other in ("qwen3", "llama3:8b", "Llama3"):
        chat(client, messages, model=other)
        assert not names_in(fake)
    chat(client, messages)
    assert names_in(fake) == WORDS


def test_each_model_gets_its_own(start: Any, clients: Any, fake: OllamaFake) -> None:
    client = clients("ollama", start({"a": fake}, config=CONFIG), headers=ME)
    messages = first_turn(client)
    chat(client, messages, model="qwen3", tools=TOOLS[2:4])
    chat(client, messages)
    assert names_in(fake) == WORDS
    chat(client, messages, model="qwen3")
    assert names_in(fake) == WORDS[2:4]


def test_after_the_time_to_live_nothing_is_left(start: Any, clients: Any, fake: OllamaFake) -> None:
    config, clock = parse_config("[tool_cache]\nttl = 160.0\n"), Clock()
    client = clients("ollama", start({"a": fake}, config=config, clock=clock), headers=ME)
    messages = first_turn(client)
    for _ in range(3):  # each use extends their life
        clock.advance(80)
        chat(client, messages)
        assert names_in(fake) == WORDS
    clock.advance(170)  # a sixteenth more than 160
    chat(client, messages)
    assert not names_in(fake)


def test_tenants_never_see_each_other_s(start: Any, clients: Any, fake: OllamaFake) -> None:
    url = start({"a": fake}, config=CONFIG)
    mine, theirs = clients("ollama", url, headers=ME), clients("ollama", url, headers=OTHER)
    messages = first_turn(mine)
    chat(theirs, messages)
    assert not names_in(fake)
    chat(theirs, messages, tools=TOOLS[:1])
    chat(mine, messages)
    assert names_in(fake) == WORDS
    chat(theirs, messages)
    assert names_in(fake) == WORDS[:1]


def test_tenants_by_a_header_never_see_each_other_s(
    start: Any, clients: Any, fake: OllamaFake
) -> None:
    url = start({"a": fake}, config=CONFIG, tenant_header="x-tenant")
    mine, theirs = (
        clients("ollama", url, headers={**ME, "x-tenant": tenant}) for tenant in ("a", "b")
    )
    messages = first_turn(mine)
    chat(theirs, messages)
    assert not names_in(fake)
    chat(clients("ollama", url, headers=ME), messages)  # a key alone makes no tenant then
    assert not names_in(fake)
    chat(mine, messages)
    assert names_in(fake) == WORDS


def test_conversations_and_programs_of_one_tenant_are_apart(
    start: Any, clients: Any, http: Any, fake: OllamaFake
) -> None:
    url = start({"a": fake}, config=CONFIG)
    named = {**ME, "x-session-id": "s1"}
    mine = clients("ollama", url, headers=named)
    messages = first_turn(mine)
    for apart in ({**ME, "x-session-id": "s2"}, ME):
        chat(clients("ollama", url, headers=apart), messages)
        assert not names_in(fake)
    body = {"model": "llama3", "messages": messages}
    http.post(f"{url}/api/chat", json=body, headers={**named, "user-agent": "another/1"})
    assert not names_in(fake)
    chat(mine, messages)
    assert names_in(fake) == WORDS


@pytest.mark.parametrize(
    ("config", "options", "headers"),
    [
        (ALWAYS, {"host": "0.0.0.0", "control_listen": "127.0.0.1:0"}, {}),
        (ALWAYS, {"tenant_header": "x-tenant"}, {}),
        (ALWAYS, {"allowed_hosts": ("models.example.com",)}, {}),
        (ALWAYS, {}, {"x-forwarded-for": "192.0.2.7"}),
        (parse_config('[tool_cache]\nwhen = "always"\n[sessions]\nsingle_user = false'), {}, {}),
    ],
    ids=["other machines", "tenant header", "public name", "forwarded", "several users"],
)
def test_nothing_is_shared_without_a_key_if_there_may_be_several_users(
    start: Any,
    clients: Any,
    fake: OllamaFake,
    config: Config,
    options: dict[str, Any],
    headers: dict[str, str],
) -> None:
    client = clients("ollama", start({"a": fake}, config=config, **options), headers=headers)
    messages = first_turn(client)
    chat(client, messages)
    assert not names_in(fake)


@pytest.mark.parametrize("config", [Config(), SINGLE_USER], ids=["default", "single user"])
def test_a_user_of_this_machine_needs_no_key(
    start: Any, clients: Any, fake: OllamaFake, caplog: Any, config: Config
) -> None:
    with caplog.at_level("INFO"):
        client = clients("ollama", start({"a": fake}, config=config))
        assert "[sessions] single_user = false" in caplog.text
        messages = first_turn(client)
        chat(client, messages)
        assert "restored the tools of model 'llama3'" in caplog.text
    assert tools_in(fake, 1) == tools_in(fake, 0)
    assert names_in(fake) == WORDS


def test_a_request_without_a_key_has_not_the_tools_of_one_with_a_key(
    start: Any, clients: Any, fake: OllamaFake
) -> None:
    url = start({"a": fake}, config=ALWAYS)
    messages = first_turn(clients("ollama", url, headers=ME))
    chat(clients("ollama", url), messages)
    assert not names_in(fake)


def test_the_only_user_needs_no_key_on_any_address(
    start: Any, clients: Any, fake: OllamaFake
) -> None:
    options = {"host": "0.0.0.0", "control_listen": "127.0.0.1:0"}
    client = clients("ollama", start({"a": fake}, config=SINGLE_USER, **options))
    messages = first_turn(client)
    chat(client, messages)
    assert tools_in(fake, 1) == tools_in(fake, 0)
    assert names_in(fake) == WORDS


@pytest.mark.parametrize("choice", ["none", {"type": "none"}])
def test_who_wants_no_tools_gets_none(
    start: Any, clients: Any, http: Any, fake: OllamaFake, choice: Any
) -> None:
    url = start({"a": fake}, config=CONFIG)
    messages = first_turn(clients("ollama", url, headers=ME))
    headers = {**ME, "user-agent": fake.recorded[0].header("user-agent")}
    body = {"model": "llama3", "messages": messages, "stream": False}
    http.post(f"{url}/api/chat", json={**body, "tool_choice": choice}, headers=headers)
    assert tools_in(fake) is None
    assert fake.recorded[-1].json["tool_choice"] == choice
    http.post(f"{url}/api/chat", json={**body, "tool_choice": "auto"}, headers=headers)
    assert names_in(fake) == WORDS


@pytest.mark.parametrize(
    ("config", "expected"), [(CONFIG, []), (ALWAYS, WORDS)], ids=["default", "always"]
)
def test_where_no_tool_was_called(
    start: Any, clients: Any, fake: OllamaFake, config: Config, expected: list[str]
) -> None:
    client = clients("ollama", start({"a": fake}, config=config), headers=ME)
    first_turn(client)
    chat(client, [*HELLO, {"role": "assistant", "content": "I know."}, GO_ON])
    assert names_in(fake) == expected


@pytest.mark.parametrize("settings", ["enabled = false", 'when = "never"'])
def test_where_it_is_not_wanted(start: Any, clients: Any, fake: OllamaFake, settings: str) -> None:
    config = parse_config(f"[tool_cache]\n{settings}\n")
    client = clients("ollama", start({"a": fake}, config=config), headers=ME)
    messages = first_turn(client)
    chat(client, messages)
    assert not names_in(fake)


def test_the_newest_tools_come_back(start: Any, clients: Any, fake: OllamaFake) -> None:
    client = clients("ollama", start({"a": fake}, config=CONFIG), headers=ME)
    messages = first_turn(client)
    chat(client, messages, tools=TOOLS[3:6])
    chat(client, messages)
    assert names_in(fake) == WORDS[3:6]


def test_a_file_of_tools_outlives_the_proxy(
    start: Any, clients: Any, fake: OllamaFake, tmp_path: Any
) -> None:
    config = parse_config(f'[tool_cache]\npath = "{tmp_path / "tools.db"}"\n')
    messages = first_turn(clients("ollama", start({"a": fake}, config=config), headers=ME))
    again = start({"a": fake}, config=config)
    chat(clients("ollama", again, headers=ME), messages)
    assert tools_in(fake, 1) == tools_in(fake, 0)
