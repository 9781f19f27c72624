"""The proxy records what SDK clients say, over sockets: every API, streaming and not, to the end and broken off."""

from __future__ import annotations

import json

import pytest
from support.clocks import wait_until
from support.providers.fakes import (
    AnthropicFake,
    Call,
    OllamaFake,
    OpenAIFake,
    ScriptedTurn,
    reads_then_quotes,
)
from support.providers.sdk_turns import PROVIDERS, SAY, result

from toolcarry.config import Config, History, Sessions
from toolcarry.tract import Tract

pytestmark = pytest.mark.sdk

FAKES = {"anthropic": AnthropicFake, "openai": OpenAIFake, "ollama": OllamaFake}
FILE = "".join(f'{number}: \u00e9\u4e2d \\ " <tag>\n' for number in range(1, 31))
TENANT = "single-user"


@pytest.fixture
def db(tmp_path):
    return str(tmp_path / "history.db")


def recording(db, mode="on", **others):
    """Return settings of a proxy that records, and the header that names a conversation."""
    history = History(target=db, canonical_mode=mode, **others)
    return Config(sessions=Sessions(single_user=True), history=history)


def said(db, conversation="c1"):
    """Return the role and the text of each message in the history, in order."""
    with Tract.open(db, tenant=TENANT, conversation=conversation, read_only=True) as tract:
        return [(commit.role, tract.get_content(commit)) for commit in reversed(tract.log())]


def named(clients, api, url, conversation="c1"):
    options = {"default_headers": {"x-session-id": conversation}}
    if api == "ollama":
        options = {"headers": {"x-session-id": conversation}}
    return clients(PROVIDERS[api], url, **options)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("api", list(SAY))
def test_a_tool_loop_is_recorded_once_and_in_order(start, clients, db, api, stream):
    fake = FAKES[PROVIDERS[api]](reads_then_quotes("/a.txt", 17, thinking="I must look."))
    client = named(clients, api, start({"a": fake}, config=recording(db)))
    options = {}
    if api == "anthropic":
        options["thinking"] = {"type": "enabled", "budget_tokens": 1_024}
    messages = [{"role": "user", "content": "Quote line 17 of /a.txt."}]
    _, calls, sent = SAY[api](client, messages, stream=stream, **options)
    messages += [*sent, result(api, calls[0], FILE)]
    text, _, sent = SAY[api](client, messages, stream=stream, **options)
    messages += [*sent, {"role": "user", "content": "Again."}]
    SAY[api](client, messages, stream=stream, **options)
    wait_until(lambda: len(said(db)) >= 6, what="the last answer to be recorded")
    with Tract.open(db, tenant=TENANT, conversation="c1", read_only=True) as tract:
        commits = [each for each in reversed(tract.log()) if each.kind.name != "RECORD"]
        found = [(commit.kind.name, tract.get_content(commit)) for commit in commits]
        assert set(tract.conversations()) == {"c1", "c1#switch"}
        assert [len(turn.results) for turn in tract.find_tool_turns("Read")] == [1]
        assert all("incomplete" not in commit.metadata for commit in commits)
    kinds = [kind for kind, _ in found]
    assert kinds == ["MESSAGE", "CALL", "RESULT", "MESSAGE", "MESSAGE", "MESSAGE"]
    assert [each for _, each in found][2:] == [FILE, text, "Again.", text]


@pytest.mark.parametrize("api", ["anthropic", "chat", "responses"])
@pytest.mark.parametrize("after", [0, 5])
def test_an_answer_that_is_broken_off_is_kept_and_marked(start, clients, db, api, after):
    long = "One two three four five six seven eight nine ten."
    fake = FAKES[PROVIDERS[api]]([ScriptedTurn(long), ScriptedTurn("Better.")])
    fake.cut(after)
    client = named(clients, api, start({"a": fake}, config=recording(db)))
    messages = [{"role": "user", "content": "Count."}]
    with pytest.raises(Exception, match=r"."):  # each SDK has its own error
        SAY[api](client, messages, stream=True)
    wait_until(lambda: said(db), what="the first request to be recorded")
    with Tract.open(db, tenant=TENANT, conversation="c1", read_only=True) as tract:
        (asked, *answers) = reversed(tract.log())
        assert tract.get_content(asked) == "Count."
        assert "incomplete" not in asked.metadata
        for answer in answers:
            assert answer.metadata["incomplete"] is True
            assert 0 < len(tract.get_content(answer)) < len(long)
            assert long.startswith(tract.get_content(answer))
    SAY[api](client, messages, stream=True)
    wait_until(lambda: said(db)[-1] == ("assistant", "Better."), what="the second answer")
    assert [role for role, _ in said(db)].count("user") == 1


def test_a_client_that_leaves_is_no_reason_to_lose_what_arrived(start, clients, db):
    fake = AnthropicFake([ScriptedTurn("One two three four five six.")])
    held = fake.hold(5)
    client = named(clients, "anthropic", start({"a": fake}, config=recording(db)))
    given = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Count."}]}
    with client.messages.stream(**given) as events:
        next(iter(events.text_stream))
        assert held.is_held.wait(10)
    wait_until(lambda: len(said(db)) == 2, what="the abort to be recorded")
    with Tract.open(db, tenant=TENANT, conversation="c1", read_only=True) as tract:
        (answer,) = tract.log(1)
        assert answer.metadata["incomplete"] is True
        assert "One two three four five six.".startswith(tract.get_content(answer))


def test_a_refused_request_is_not_recorded(start, clients, db):
    fake = AnthropicFake([ScriptedTurn("Hello.")])
    fake.fail(1, 529)
    client = named(clients, "anthropic", start({"a": fake}, config=recording(db)))
    messages = [{"role": "user", "content": "Hi"}]
    with pytest.raises(Exception, match="overloaded"):
        SAY["anthropic"](client, messages, stream=False)
    SAY["anthropic"](client, messages, stream=False)
    wait_until(lambda: len(said(db)) == 2, what="the answer to be recorded")
    assert said(db) == [("user", "Hi"), ("assistant", "Hello.")]


def test_results_that_a_client_cleared_go_on_whole(start, clients, db):
    fake = AnthropicFake(
        [ScriptedTurn(calls=[Call("Read", {"file_path": "/a"})]), ScriptedTurn("Done.")]
    )
    client = named(clients, "anthropic", start({"a": fake}, config=recording(db)))
    messages = [{"role": "user", "content": "Read /a."}]
    _, calls, sent = SAY["anthropic"](client, messages, stream=False)
    messages += [*sent, result("anthropic", calls[0], FILE)]
    _, _, sent = SAY["anthropic"](client, messages, stream=False)
    whole = fake.recorded[-1].json["messages"]
    messages[-1] = result("anthropic", calls[0], "[Old tool result content cleared]")
    messages += [*sent, {"role": "user", "content": "And now?"}]
    SAY["anthropic"](client, messages, stream=False)
    assert fake.recorded[-1].json["messages"][: len(whole)] == whole


@pytest.mark.parametrize("mode", ["off", pytest.param("shadow", marks=pytest.mark.kernels)])
def test_in_other_modes_requests_go_on_as_they_came(start, http, db, mode):
    fake = AnthropicFake()
    url = start({"a": fake}, config=recording(db, mode))
    use = {"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "/a"}}
    headers = {"x-api-key": "test-key", "anthropic-version": "1", "x-session-id": "c1"}
    for text in (FILE, "[Old tool result content cleared]"):
        answer = {"type": "tool_result", "tool_use_id": "t1", "content": text}
        messages = [
            {"role": "user", "content": "Read /a."},
            {"role": "assistant", "content": [use]},
            {"role": "user", "content": [answer]},
        ]
        body = json.dumps({"model": "m", "max_tokens": 9, "messages": messages}).encode()
        sent = {**headers, "content-type": "application/json"}
        http.post(f"{url}/v1/messages", content=body, headers=sent).raise_for_status()
        assert fake.recorded[-1].body == body


def test_metrics_have_what_was_recorded(start, clients, http, db):
    url = start({"a": AnthropicFake()}, config=recording(db))
    SAY["anthropic"](
        named(clients, "anthropic", url), [{"role": "user", "content": "Hi"}], stream=False
    )
    line = 'toolcarry_pipeline_total{counter="history.recorded"} 1'
    wait_until(lambda: line in http.get(f"{url.control}/metrics").text, what="the counter")
