"""SDK clients that record by their transport: sync and async, streaming and not, to the end and broken off."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from support.providers.fakes import (
    AnthropicFake,
    Call,
    OpenAIFake,
    ScriptedTurn,
    reads_then_quotes,
    serving,
)
from support.providers.sdk_turns import SAY, result
from support.sdk import sdk

from toolcarry.integrations.recorder import Recorder
from toolcarry.integrations.sdk import AsyncRecordingTransport, RecordingTransport
from toolcarry.tract import Tract

anthropic = sdk("anthropic")
openai = sdk("openai")
httpx2 = pytest.importorskip("httpx2")
pytestmark = pytest.mark.sdk

KEY = "test-key"
FILE = "".join(f"{number}: a line\n" for number in range(1, 40))
FAKES = {"anthropic": AnthropicFake, "chat": OpenAIFake, "responses": OpenAIFake}


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1,localhost")


@pytest.fixture
def db(tmp_path) -> str:
    return str(tmp_path / "history.db")


@pytest.fixture
def recorder(db: str) -> Iterator[Recorder]:
    made = Recorder(db)
    yield made
    made.close()


@pytest.fixture
def serve() -> Iterator[Callable[[Any], str]]:
    with ExitStack() as stack:
        yield lambda app: stack.enter_context(serving(app))


def client_for(api: str, url: str, transport: Any) -> Any:
    http = httpx2.Client(transport=transport)
    if api == "anthropic":
        return anthropic.Anthropic(base_url=url, api_key=KEY, max_retries=0, http_client=http)
    return openai.OpenAI(base_url=f"{url}/v1", api_key=KEY, max_retries=0, http_client=http)


def log(db: str, conversation: str = "c1", tenant: str = "local") -> list[tuple[str, str]]:
    with Tract.open(db, tenant=tenant, conversation=conversation, read_only=True) as tract:
        commits = [each for each in reversed(tract.log()) if each.kind.name != "RECORD"]
        return [(each.role, tract.get_content(each)) for each in commits]


def incomplete(db: str) -> list[str]:
    with Tract.open(db, tenant="local", conversation="c1", read_only=True) as tract:
        return [tract.get_content(each) for each in tract.log() if "incomplete" in each.metadata]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("api", list(FAKES))
def test_a_tool_loop(serve, recorder, db, api, stream) -> None:
    fake = FAKES[api](reads_then_quotes("/a.txt", 17))
    transport = RecordingTransport(httpx2.HTTPTransport(), recorder, conversation="c1")
    with client_for(api, serve(fake), transport) as client:
        messages: list[Any] = [{"role": "user", "content": "Quote line 17."}]
        _, calls, sent = SAY[api](client, messages, stream=stream)
        messages += [*sent, result(api, calls[0], FILE)]
        text, _, _ = SAY[api](client, messages, stream=stream)
    recorder.flush()
    found = log(db)
    assert [role for role, _ in found] == ["user", "assistant", "tool", "assistant"]
    assert [said for _, said in found][2:] == [FILE, text]
    assert incomplete(db) == []


@pytest.mark.parametrize("api", list(FAKES))
def test_a_stream_that_is_left(serve, recorder, db, api) -> None:
    text = "One two three four five six seven eight."
    fake = FAKES[api]([ScriptedTurn(text)])
    fake.hold(5)
    transport = RecordingTransport(httpx2.HTTPTransport(), recorder, conversation="c1")
    asked = [{"role": "user", "content": "Count."}]
    with client_for(api, serve(fake), transport) as client:
        if api == "anthropic":
            stream = client.messages.create(model="m", max_tokens=9, messages=asked, stream=True)
        elif api == "chat":
            stream = client.chat.completions.create(model="m", messages=asked, stream=True)
        else:
            stream = client.responses.create(model="m", input=asked, stream=True)
        for _, _ in zip(range(4), stream, strict=False):
            pass
        stream.close()
    recorder.flush()
    assert log(db)[0] == ("user", "Count.")
    assert all(text.startswith(each) and each != text for each in incomplete(db))
    assert recorder.counts["recorded"] == 1


def test_asynchronous_clients(serve, recorder, db) -> None:
    claude, gpt = (
        AnthropicFake([ScriptedTurn("One two three.")]),
        OpenAIFake([ScriptedTurn("Four five.")]),
    )
    where = serve(claude), serve(gpt)

    def http(name: str) -> Any:
        inside = httpx2.AsyncHTTPTransport()
        transport = AsyncRecordingTransport(inside, recorder, conversation=name)
        return httpx2.AsyncClient(transport=transport)

    async def talk() -> None:
        asked: list[Any] = [{"role": "user", "content": "Hi"}]
        async with (
            anthropic.AsyncAnthropic(base_url=where[0], api_key=KEY, http_client=http("a")) as one,
            openai.AsyncOpenAI(
                base_url=f"{where[1]}/v1", api_key=KEY, http_client=http("b")
            ) as two,
        ):
            async with one.messages.stream(model="m", max_tokens=9, messages=asked) as events:
                said = await events.get_final_text()
            more = [
                *asked,
                {"role": "assistant", "content": said},
                {"role": "user", "content": "More"},
            ]
            await one.messages.create(model="m", max_tokens=9, messages=more)
            stream = await two.chat.completions.create(model="m", messages=asked, stream=True)
            assert [chunk async for chunk in stream]
            await two.chat.completions.create(model="m", messages=asked)

    asyncio.run(talk())
    recorder.flush()
    assert [said for _, said in log(db, "a")] == ["Hi", "One two three.", "More", "One two three."]
    assert [said for _, said in log(db, "b")] == ["Hi", "Four five."]


def test_results_that_the_client_cleared_go_on_whole(serve, recorder) -> None:
    fake = OpenAIFake(
        [ScriptedTurn(calls=[Call("Read", {"file_path": "/a"})]), ScriptedTurn("Done.")]
    )
    transport = RecordingTransport(httpx2.HTTPTransport(), recorder, conversation="c1")
    with client_for("chat", serve(fake), transport) as client:
        messages: list[Any] = [{"role": "user", "content": "Read /a."}]
        _, calls, sent = SAY["chat"](client, messages, stream=False)
        messages += [*sent, result("chat", calls[0], FILE)]
        _, _, sent = SAY["chat"](client, messages, stream=False)
        messages[-1]["content"] = "[Old tool result content cleared]"
        messages += [*sent, {"role": "user", "content": "And now?"}]
        SAY["chat"](client, messages, stream=True)
    assert fake.recorded[-1].json["messages"][2]["content"] == FILE


def test_a_broken_store_fails_no_request(serve, recorder, caplog) -> None:
    recorder.database.close()
    transport = RecordingTransport(httpx2.HTTPTransport(), recorder, conversation="c1")
    with client_for("anthropic", serve(AnthropicFake()), transport) as client:
        for _ in range(3):
            text, _, _ = SAY["anthropic"](client, [{"role": "user", "content": "Hi"}], stream=False)
            assert text == "Hello."
    recorder.flush()
    assert recorder.counts["failed"] >= 1
    assert "Hi" not in caplog.text


def test_other_requests_and_tokens_counts_are_not_recorded(serve, recorder) -> None:
    transport = RecordingTransport(httpx2.HTTPTransport(), recorder, conversation="c1")
    with client_for("anthropic", serve(AnthropicFake()), transport) as client:
        client.messages.count_tokens(model="m", messages=[{"role": "user", "content": "Hi"}])
        assert [model.id for model in client.models.list()] == ["claude-fake"]
    recorder.flush()
    assert recorder.counts == {}
