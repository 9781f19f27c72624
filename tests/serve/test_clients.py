"""The SDKs of the providers, over sockets, through the proxy: every API, streaming and not."""

from __future__ import annotations

import asyncio

import pytest
from support.providers.fakes import (
    AnthropicFake,
    Call,
    OllamaFake,
    OpenAIFake,
    ScriptedTurn,
    reads_then_quotes,
)
from support.providers.sdk_turns import PROVIDERS, SAY, result
from support.sdk import sdk

anthropic = sdk("anthropic")
openai = sdk("openai")
pytestmark = pytest.mark.sdk

FAKES = {"anthropic": AnthropicFake, "openai": OpenAIFake, "ollama": OllamaFake}
PATHS = {
    "anthropic": "/v1/messages",
    "chat": "/v1/chat/completions",
    "responses": "/v1/responses",
    "ollama": "/api/chat",
}
FILE = "".join(f'{number}: \u00e9\u4e2d \\ " <tag>\n' for number in range(1, 31))


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("api", list(SAY))
def test_a_tool_loop(start, clients, api, stream):
    fake = FAKES[PROVIDERS[api]](reads_then_quotes("/a.txt", 17, thinking="I must look."))
    client = clients(PROVIDERS[api], start({"a": fake}))
    options = {}
    if api == "anthropic":
        options["thinking"] = {"type": "enabled", "budget_tokens": 1_024}
    messages = [{"role": "user", "content": "Quote line 17 of /a.txt."}]
    _, calls, sent = SAY[api](client, messages, stream=stream, **options)
    assert [(name, given) for _, name, given in calls] == [("Read", {"file_path": "/a.txt"})]
    messages += [*sent, result(api, calls[0], FILE)]
    text, calls, sent = SAY[api](client, messages, stream=stream, **options)
    assert (text, calls) == (FILE.split("\n")[16], [])
    messages += [*sent, {"role": "user", "content": "Again."}]
    assert SAY[api](client, messages, stream=stream, **options)[0] == text
    assert fake.refusals == []
    assert [(seen.method, seen.path) for seen in fake.recorded] == [("POST", PATHS[api])] * 3


def test_counting_and_listing(start, clients):
    claude, gpt, llama = AnthropicFake(), OpenAIFake(), OllamaFake()
    url = start({"claude": claude, "gpt": gpt, "llama": llama})
    messages = [{"role": "user", "content": "x" * 400}]
    counted = clients("anthropic", url).messages.count_tokens(model="m", messages=messages)
    assert counted.input_tokens == 101
    assert [model.id for model in clients("anthropic", url).models.list()] == ["claude-fake"]
    named = clients("openai", url, default_headers={"X-ToolCarry-Upstream": "gpt"})
    assert [model.id for model in named.models.list()] == ["gpt-fake"]
    assert [model.model for model in clients("ollama", url).list().models] == ["llama-fake"]


def test_asynchronous_clients(start):
    claude, gpt = AnthropicFake([ScriptedTurn("One two three four.")]), OpenAIFake()
    url = start({"claude": claude, "gpt": gpt})

    async def talk():
        messages = [{"role": "user", "content": "Hi"}]
        async with (
            anthropic.AsyncAnthropic(base_url=url, api_key="test-key", max_retries=0) as one,
            openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="test-key", max_retries=0) as two,
        ):
            given = {"model": "m", "max_tokens": 9, "messages": messages}
            async with one.messages.stream(**given) as events:
                pieces = [piece async for piece in events.text_stream]
            made = await asyncio.gather(
                *(two.chat.completions.create(model="m", messages=messages) for _ in range(20))
            )
            return pieces, [answer.choices[0].message.content for answer in made]

    pieces, answers = asyncio.run(talk())
    assert (len(pieces), "".join(pieces)) == (2, "One two three four.")
    assert answers == ["Hello."] * 20


@pytest.mark.parametrize(
    ("api", "message", "told"),
    [
        ("anthropic", {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "x"}]}, "no call"),
        ("chat", {"role": "tool", "tool_call_id": "x", "content": "y"}, "no call"),
        ("responses", {"type": "function_call_output", "call_id": "x", "output": "y"}, "no call"),
        ("ollama", {"role": "tool", "tool_name": "Read", "content": "y"}, "0 calls with 1 results"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("stream", [False, True])
def test_refusals_of_a_provider_pass(start, clients, api, message, told, stream):
    fake = FAKES[PROVIDERS[api]]()
    client = clients(PROVIDERS[api], start({"a": fake}))
    with pytest.raises(Exception, match=told) as caught:  # each SDK has its own error class
        SAY[api](client, [{"role": "user", "content": "Hi"}, message], stream=stream)
    assert caught.value.status_code == 400
    assert len(fake.refusals) == 1


@pytest.mark.parametrize("api", ["anthropic", "responses", "ollama"])
def test_thinking_of_one_upstream_is_foreign_to_the_other(start, clients, api):
    kind = FAKES[PROVIDERS[api]]
    one, two = (
        kind([ScriptedTurn(thinking="Hm.", calls=[Call("Read", {"file_path": "/a"})])]),
        kind(),
    )
    client = clients(PROVIDERS[api], start({"one": one, "two": two}))
    options = {}
    if api == "anthropic":
        options["thinking"] = {"type": "enabled", "budget_tokens": 1_024}
    messages = [{"role": "user", "content": "Hi"}]
    _, calls, sent = SAY[api](client, messages, stream=True, **options)
    messages += [*sent, result(api, calls[0], "x")]
    SAY[api](client, messages, stream=False, **options)
    client._client.headers["x-toolcarry-upstream"] = "two"
    with pytest.raises(Exception, match=r"signature|verified|another") as caught:
        SAY[api](client, messages, stream=False, **options)
    assert caught.value.status_code == 400
    assert len(two.refusals) == 1


def test_a_key_that_the_upstream_does_not_know(start, clients):
    client = clients("anthropic", start({"a": AnthropicFake(key="other")}))
    with pytest.raises(anthropic.AuthenticationError, match="invalid x-api-key"):
        SAY["anthropic"](client, [{"role": "user", "content": "Hi"}], stream=False)
