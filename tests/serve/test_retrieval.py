"""The retrieval loop: a model that asks for a result which was left out gets it from the proxy, and the client an answer."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from support.providers.fakes import AnthropicFake, Call, OpenAIFake, ScriptedTurn
from support.providers.fakes.script import Asked
from support.providers.sdk_turns import PROVIDERS, SAY, result
from support.servers.forwarded import FAKES
from support.servers.stores import make_target

from toolcarry.config import Config, History, Projection, Sessions
from toolcarry.integrations.proxy.held_answer import MOST_TEXT
from toolcarry.tract import Tract

pytestmark = pytest.mark.sdk

LINES = [f"line {number} of the log" for number in range(1, 400)]
LOG = "\n".join([*LINES, "the needle is blue"])
OWN = ("read_tool_result", "search_tool_results")
TALK = {"x-toolcarry-conversation": "talk"}


def config(target: str = "", mode: str = "off", **projection: Any) -> Config:
    given = {"enabled": True, "max_result_chars": 300, "clear_at_least_tokens": 0, **projection}
    return Config(
        projection=Projection(**given),
        sessions=Sessions(single_user=True),
        history=History(target=target, canonical_mode=mode),  # type: ignore[arg-type]
    )


def looks_it_up(asked: Asked, *, said: str = "Let me see.", query: str = "") -> ScriptedTurn:
    """A model that reads a log, then the part of it that was left out, by its reference or by a word of it."""
    if not asked.exchanges:
        return ScriptedTurn(calls=[Call("Read", {"file_path": "a.log"})])
    own = [each for each in asked.exchanges if each.name in OWN]
    if own and (own[-1].name == OWN[0] or not query):
        return ScriptedTurn(own[-1].result.rpartition("needle ")[2] or "nothing")
    if query and not own:
        return ScriptedTurn(said, [Call(OWN[1], {"query": query})])
    texts = [each.result for each in asked.exchanges] if query else asked.texts
    ref = re.findall(r"whole: ([^\]\s;]+)\]", "\n".join(texts))[-1]
    return ScriptedTurn(said, [Call(OWN[0], {"ref": ref, "limit": 1_000_000})])


def talk_to_the_end(
    api: str, client: Any, *, stream: bool, **options: Any
) -> tuple[str, list[Any]]:
    """Ask, give the log as the result, and return the text and the calls of the answer."""
    say = SAY[api]
    messages: list[Any] = [{"role": "user", "content": "Which colour is it?"}]
    _, calls, sent = say(client, messages, stream=stream, **options)
    assert [name for _, name, _ in calls] == ["Read"]
    messages += [*sent, result(api, calls[0], LOG)]
    text, calls, _ = say(client, messages, stream=stream, **options)
    return text, calls


def options_of(api: str) -> dict[str, Any]:
    return {} if api == "ollama" else {"extra_headers": TALK}


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("api", list(SAY))
def test_the_client_gets_the_answer_alone(
    start: Callable[..., Any], clients: Callable[..., Any], api: str, stream: bool
) -> None:
    fake = FAKES[PROVIDERS[api]](looks_it_up)
    url = start({"a": fake}, config=config(), retrieval_rounds=3)
    text, calls = talk_to_the_end(
        api, clients(PROVIDERS[api], url), stream=stream, **options_of(api)
    )
    assert (text, calls, fake.refusals) == ("is blue", [], [])
    first, held, last = (request.json for request in fake.recorded)
    key = "input" if api == "responses" else "messages"
    assert last[key][: len(held[key])] == held[key]
    assert [OWN[0] in json.dumps(each.get("tools")) for each in (first, held, last)] == [True, True, True]  # fmt: skip
    assert "the needle is blue" in json.dumps(last[key][len(held[key]) :])


@pytest.mark.parametrize("kind", ["file", pytest.param("postgres", marks=pytest.mark.services)])
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_a_search_in_the_history(
    request: pytest.FixtureRequest,
    start: Callable[..., Any],
    clients: Callable[..., Any],
    tmp_path: Path,
    kind: str,
    stream: bool,
) -> None:
    """Found is what was put away, also what the client has no more; the reference of a match is read like any other."""
    target = make_target(request, tmp_path, kind)
    with Tract.open(target, tenant="single-user", conversation="talk") as tract:
        tract.tool_result("t0", "Bash", f"{LOG} and round")
        fake = AnthropicFake(lambda asked: looks_it_up(asked, query="round needle"))
        url = start({"a": fake}, config=config(target), retrieval_rounds=3)
        text, calls = talk_to_the_end(
            "anthropic", clients("anthropic", url), stream=stream, **options_of("anthropic")
        )
    assert (text, calls, fake.refusals) == ("is blue and round", [], [])
    assert len(fake.recorded) == 4


CLEARED = "[Old tool result content cleared]"


@pytest.mark.parametrize("kind", ["file", pytest.param("postgres", marks=pytest.mark.services)])
@pytest.mark.parametrize("query", ["", "needle log"])
def test_a_result_that_the_client_has_cleared(
    request: pytest.FixtureRequest,
    start: Callable[..., Any],
    clients: Callable[..., Any],
    tmp_path: Path,
    kind: str,
    query: str,
) -> None:
    """The recorder has the result, from which the request is made whole: the model reads that, not the placeholder.

    The second request goes on in another way, so that its results are in a line of its own.
    """
    fake = AnthropicFake([ScriptedTurn("Seen.")])
    target = make_target(request, tmp_path, kind)
    url = start({"a": fake}, config=config(target, mode="on"), retrieval_rounds=3)
    client = clients("anthropic", url)
    use = {"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "a.log"}}
    messages: list[Any] = [
        {"role": "user", "content": "Which colour is it?"},
        {"role": "assistant", "content": [use]},
        result("anthropic", ("t1", "Read", {}), LOG),
    ]
    say, options = SAY["anthropic"], options_of("anthropic")
    say(client, messages, stream=False, **options)
    fake.say(lambda asked: looks_it_up(asked, query=query))
    other: list[Any] = [
        *messages[:2],
        result("anthropic", ("t1", "Read", {}), CLEARED),
        {"role": "assistant", "content": "Another answer."},
        {"role": "user", "content": "Look again."},
    ]
    text, calls, _ = say(client, other, stream=False, **options)
    assert (text, calls, fake.refusals) == ("is blue", [], [])


def test_nothing_is_offered_without_a_cut(
    start: Callable[..., Any], clients: Callable[..., Any]
) -> None:
    fake = OpenAIFake(
        [ScriptedTurn(calls=[Call("Read", {"file_path": "a"})]), ScriptedTurn("Done.")]
    )
    url = start({"a": fake}, config=config(max_result_chars="none"), retrieval_rounds=3)
    talk_to_the_end("chat", clients("openai", url), stream=False)
    assert not any(name.encode() in each.body for each in fake.recorded for name in OWN)


def test_it_is_off_by_default(start: Callable[..., Any], clients: Callable[..., Any]) -> None:
    fake = AnthropicFake(
        [ScriptedTurn(calls=[Call("Read", {"file_path": "a"})]), ScriptedTurn("Done.")]
    )
    url = start({"a": fake}, config=config())
    text, _ = talk_to_the_end("anthropic", clients("anthropic", url), stream=False)
    assert text == "Done."
    assert not any(name.encode() in each.body for each in fake.recorded for name in OWN)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_the_rounds_are_bounded(
    start: Callable[..., Any], clients: Callable[..., Any], http: httpx.Client, stream: bool
) -> None:
    """A model that never stops asking gets a note; then the client gets its answer."""

    def never_stops(asked: Asked) -> ScriptedTurn:
        if not asked.exchanges:
            return ScriptedTurn(calls=[Call("Read", {"file_path": "a.log"})])
        return ScriptedTurn(calls=[Call(OWN[0], {"ref": "no-such-result"})])

    fake = AnthropicFake(never_stops)
    url = start({"a": fake}, config=config(), retrieval_rounds=2)
    text, calls = talk_to_the_end("anthropic", clients("anthropic", url), stream=stream)
    assert (text, [name for _, name, _ in calls], fake.refusals) == ("", [OWN[0]], [])
    assert len(fake.recorded) == 1 + 2 + 1
    assert "no tool result has the reference" in fake.recorded[-1].body.decode()
    metrics = http.get(f"{url.control}/metrics").text
    assert re.search(r"retrieval.*failed.* 2", metrics)
    assert re.search(r"retrieval.*passed_on.* 1", metrics)


def test_what_the_rounds_and_the_tools_add_is_counted_apart(
    start: Callable[..., Any], clients: Callable[..., Any], http: httpx.Client
) -> None:
    fake = AnthropicFake(looks_it_up)
    url = start({"a": fake}, config=config(), retrieval_rounds=3)
    talk_to_the_end("anthropic", clients("anthropic", url), stream=False)
    first, held, last = (request.json for request in fake.recorded)
    added = [tool for request in (first, held) for tool in request["tools"] if tool["name"] in OWN]
    metrics = http.get(f"{url.control}/metrics").text
    counted = {
        name: int(re.findall(rf'"retrieval.{name}"}} (\d+)', metrics)[0])
        for name in ("round_tokens", "definition_tokens")
    }
    assert counted["round_tokens"] == pytest.approx(len(json.dumps(last)) / 4, rel=0.1)
    assert counted["definition_tokens"] == pytest.approx(len(json.dumps(added)) / 4, rel=0.1)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_an_answer_with_other_calls_is_the_clients(
    start: Callable[..., Any], clients: Callable[..., Any], stream: bool
) -> None:
    def asks_both(asked: Asked) -> ScriptedTurn:
        if not asked.exchanges:
            return ScriptedTurn(calls=[Call("Read", {"file_path": "a.log"})])
        return ScriptedTurn("Both.", [Call(OWN[0], {"ref": "x"}), Call("Read", {"file_path": "b"})])

    fake = AnthropicFake(asks_both)
    url = start({"a": fake}, config=config(), retrieval_rounds=2)
    text, calls = talk_to_the_end("anthropic", clients("anthropic", url), stream=stream)
    assert (text, [name for _, name, _ in calls]) == ("Both.", [OWN[0], "Read"])
    assert len(fake.recorded) == 2


def test_a_long_text_streams(start: Callable[..., Any], clients: Callable[..., Any]) -> None:
    """An answer is held back for some characters alone: then the client gets each part as it comes."""
    said = "word " * MOST_TEXT
    fake = AnthropicFake(
        [ScriptedTurn(calls=[Call("Read", {"file_path": "a"})]), ScriptedTurn(said)]
    )
    url = start({"a": fake}, config=config(), retrieval_rounds=2)
    client = clients("anthropic", url)
    messages: list[Any] = [{"role": "user", "content": "Read."}]
    _, calls, sent = SAY["anthropic"](client, messages, stream=False)
    messages += [*sent, result("anthropic", calls[0], LOG)]
    hold = fake.hold(after=2 * MOST_TEXT // 12)
    tools = [{"name": "Read", "input_schema": {"type": "object"}}]
    with client.messages.stream(
        model="claude-a", max_tokens=4_000, messages=messages, tools=tools
    ) as events:
        first = next(iter(events.text_stream))
        assert hold.is_held.wait(30)
        hold.may_go.set()
        assert first + "".join(events.text_stream) == said


def test_a_round_that_the_provider_refuses_fails_no_request(
    start: Callable[..., Any], clients: Callable[..., Any]
) -> None:
    fake = AnthropicFake()

    def fails_then(asked: Asked) -> ScriptedTurn:
        turn = looks_it_up(asked)
        if turn.calls and turn.calls[0].name == OWN[0]:
            fake.fail(1, 529)
        return turn

    fake.say(fails_then)
    url = start({"a": fake}, config=config(), retrieval_rounds=2)
    text, calls = talk_to_the_end("anthropic", clients("anthropic", url), stream=False)
    assert (text, [name for _, name, _ in calls]) == ("Let me see.", [OWN[0]])


def test_a_client_with_the_tool_answers_it_itself(
    start: Callable[..., Any], clients: Callable[..., Any]
) -> None:
    fake = OpenAIFake(looks_it_up)
    url = start({"a": fake}, config=config(), retrieval_rounds=2)
    client = clients("openai", url)
    function = {"name": OWN[0], "parameters": {"type": "object", "properties": {}}}
    read = {"name": "Read", "arguments": "{}"}
    answer = client.chat.completions.create(
        model="gpt-a",
        tools=[{"type": "function", "function": function}],
        messages=[
            {"role": "user", "content": "Which colour is it?"},
            {
                "role": "assistant",
                "tool_calls": [{"id": "t1", "type": "function", "function": read}],
            },
            {"role": "tool", "tool_call_id": "t1", "content": LOG},
        ],
    )
    (call,) = answer.choices[0].message.tool_calls
    assert call.function.name == OWN[0]
    assert len(fake.recorded) == 1


TOOL = {"name": "Bash", "input_schema": {"type": "object"}}


@pytest.mark.parametrize(
    ("limit", "is_short"), [({}, True), ({"max_result_tokens": "none"}, False)]
)
def test_long_outputs_are_shortened_by_default(
    start: Callable[..., Any], clients: Callable[..., Any], limit: dict[str, Any], is_short: bool
) -> None:
    """The tool to ask with is in the first request, before any result was left out: the cached beginning never changes."""
    fake = AnthropicFake(lambda asked: ScriptedTurn("Seen." if asked.exchanges else "", [] if asked.exchanges else [Call("Bash", {"command": "make"})]))  # fmt: skip
    settings = Config(
        projection=Projection(enabled=True, **limit), sessions=Sessions(single_user=True)
    )
    url = start({"a": fake}, config=settings, retrieval_rounds=3)
    client = clients("anthropic", url)
    messages: list[Any] = [{"role": "user", "content": "Build it."}]
    options = {**options_of("anthropic"), "tools": [TOOL], "system": "x" * 20_000}
    _, calls, sent = SAY["anthropic"](client, messages, stream=False, **options)
    messages += [*sent, result("anthropic", calls[0], LOG)]
    SAY["anthropic"](client, messages, stream=False, **options)
    first, second = (request.json for request in fake.recorded)
    shown = second["messages"][-1]["content"][0]["content"]
    assert (len(json.dumps(shown)) < 5_000 < len(LOG)) is is_short
    names = [[tool["name"] for tool in each["tools"]] for each in (first, second)]
    assert names == [["Bash", *([OWN[0]] if is_short else [])]] * 2
