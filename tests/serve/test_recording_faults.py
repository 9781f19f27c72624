"""Recording in a proxy that is killed, with writers that interleave, and over long sessions with large results."""

from __future__ import annotations

import json
import random
import threading
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from support.clocks import wait_until
from support.processes.proxy import running
from support.providers.fakes import AnthropicFake, ScriptedTurn

from toolcarry import limit_events
from toolcarry.config import Config, History
from toolcarry.integrations.identity import RequestView, tenant_of
from toolcarry.tract import Tract

HEADERS = {"x-api-key": "test-key", "anthropic-version": "2023-06-01"}
TENANT = tenant_of(RequestView("/", HEADERS, b""))
CLEARED = "[Old tool result content cleared]"


@pytest.fixture
def db(tmp_path):
    return str(tmp_path / "history.db")


@pytest.fixture
def settings(tmp_path, serve, db):
    """Write the settings of a proxy that records, in front of a fake."""

    def write(fake):
        path = tmp_path / "toolcarry.toml"
        path.write_text(
            f'[history]\ntarget = "{db}"\ncanonical_mode = "on"\n'
            f'[[serve.upstreams]]\nname = "a"\nurl = "{serve(fake)}"\nshape = "anthropic"\n'
        )
        return path

    return write


def use(number):
    block = {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"n": number}}
    return {"role": "assistant", "content": [block]}


def result(number, text):
    block = {"type": "tool_result", "tool_use_id": f"t{number}", "content": text}
    return {"role": "user", "content": [block]}


def post(client, url, messages, conversation="c1"):
    body = {"model": "m", "max_tokens": 9, "messages": messages}
    headers = {**HEADERS, "x-session-id": conversation}
    return client.post(f"{url}/v1/messages", json=body, headers=headers).raise_for_status().json()


def texts(db, conversation="c1"):
    with Tract.open(db, tenant=TENANT, conversation=conversation, read_only=True) as tract:
        return {commit.tool_call_id: tract.resolve(commit.tool_call_id) for commit in tract.find_tool_results()}  # fmt: skip


def order(db, conversation="c1"):
    with Tract.open(db, tenant=TENANT, conversation=conversation, read_only=True) as tract:
        return [
            commit.tool_call_id or commit.metadata["tool_calls"][0]["id"]
            for commit in reversed(tract.log())
            if commit.kind.name in ("CALL", "RESULT")
        ]


def proxy(start, fake, db):
    return start({"a": fake}, config=Config(history=History(target=db, canonical_mode="on")))


def test_a_result_of_5_mb_reaches_the_next_turn_without_a_rerun(start, http, db):
    fake = AnthropicFake([ScriptedTurn("Read."), ScriptedTurn("Again.")])
    url = proxy(start, fake, db)
    large = "".join(f"{number}: a line of a large file\n" for number in range(170_000))
    assert len(large) > 5_000_000
    post(http, url, [{"role": "user", "content": "Go."}, use(1), result(1, large)])
    cleared = [{"role": "user", "content": "Go."}, use(1), result(1, CLEARED)]
    said = [{"role": "assistant", "content": "Read."}, {"role": "user", "content": "And?"}]
    post(http, url, [*cleared, *said])
    assert fake.recorded[-1].json["messages"][2] == result(1, large)
    assert texts(db) == {"t1": large}


def test_a_refresh_keeps_every_pair(start, http, db):
    """A client that starts again with what it kept of a conversation, in a proxy that starts again, too."""
    first, second = AnthropicFake(), AnthropicFake()
    messages = [{"role": "user", "content": "Go."}]
    url = proxy(start, first, db)
    for number in range(10):
        messages += [use(number), result(number, f"whole {number}\n" * 50)]
        post(http, url, messages)
    kept = [*messages]
    for place, message in enumerate(messages):
        if place and place % 2 == 0:
            number = int(message["content"][0]["tool_use_id"][1:])
            kept[place] = result(number, None if number % 2 else CLEARED)
    again = proxy(start, second, db)
    hello = [{"role": "assistant", "content": "Hello."}, {"role": "user", "content": "Go on."}]
    post(http, again, [*kept, *hello])
    assert second.recorded[-1].json["messages"] == [*messages, *hello]
    assert second.refusals == []


def test_an_oversized_event_is_limited_on_the_stream_and_whole_in_the_store(start, http, db):
    large = "a line of a search\n" * 60_000
    blocks = [{"type": "web_fetch_tool_result", "tool_use_id": "s1", "content": large}]
    lines = [
        {"type": "message_start", "message": {"role": "assistant", "content": []}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "server_tool_use", "id": "s1", "name": "web_fetch", "input": {}}},
        {"type": "content_block_start", "index": 1, "content_block": blocks[0]},
        {"type": "message_stop"},
    ]  # fmt: skip

    async def app(scope, receive, send):
        headers = [(b"content-type", b"text/event-stream")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        for event in lines:
            data = f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()
            await send({"type": "http.response.body", "body": data, "more_body": True})
        await send({"type": "http.response.body"})

    from support.providers.fakes import serving

    config = Config(history=History(target=db, canonical_mode="on"))
    with serving(app) as upstream:
        url = start({"a": upstream}, config=config)
        headers = {**HEADERS, "x-session-id": "c1"}
        body = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "Go."}]}
        answer = http.post(f"{url}/v1/messages", json=body, headers=headers)
        events = [json.loads(line[6:]) for line in answer.text.splitlines() if line[:6] == "data: "]
        shown = list(limit_events(events, 200))
        assert len(json.dumps(shown)) < 2_000
        wait_until(lambda: texts(db).get("s1") == large, what="the answer to be recorded")


def test_writers_that_interleave_keep_the_order_of_each_conversation(start, db):
    """Two proxies on one store, and many conversations at once; each takes turns between the proxies."""
    fakes = AnthropicFake(), AnthropicFake()
    urls = [proxy(start, fake, db) for fake in fakes]
    turns = 6

    def converse(name):
        messages = [{"role": "user", "content": f"Go, {name}."}]
        with httpx.Client(timeout=60) as client:
            for number in range(turns):
                messages += [use(number), result(number, f"{name} {number}")]
                post(client, urls[number % 2], messages, name)
                messages += [
                    {"role": "assistant", "content": "Hello."},
                    {"role": "user", "content": f"On, {name}, {number}."},
                ]

    names = [f"c{number}" for number in range(8)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(converse, names))
    wanted = [each for number in range(turns) for each in (f"t{number}", f"t{number}")]
    for name in names:
        wait_until(lambda name=name: len(texts(db, name)) == turns, what="all to be recorded")
        assert order(db, name) == wanted
        assert texts(db, name) == {f"t{number}": f"{name} {number}" for number in range(turns)}


@pytest.mark.slow
def test_a_kill_at_any_moment_loses_no_acknowledged_write(settings, db):
    """A request that reached the backend shows that all before it is on the disk."""
    fake = AnthropicFake()
    path = settings(fake)
    chance = random.Random(7)
    messages = [{"role": "user", "content": "Go."}]
    number = 0
    for _ in range(6):
        fake.recorded.clear()
        with running("--config", path) as (process, url), httpx.Client(timeout=30) as client:
            timer = threading.Timer(chance.uniform(0.05, 0.6), process.kill)
            timer.start()
            try:
                while True:
                    number += 1
                    asked = [*messages, use(number), result(number, f"{number}\n" * 2_000)]
                    post(client, url, asked)
                    messages = [
                        *asked,
                        {"role": "assistant", "content": "Hello."},
                        {"role": "user", "content": f"On {number}."},
                    ]
            except httpx.HTTPError:
                timer.join()
                process.wait(10)
        whole = [each for each in fake.recorded if each.is_whole]
        reached = whole[-1].json["messages"] if whole else []
        acknowledged = {
            part["tool_use_id"]
            for message in reached[:-2]
            for part in message["content"]
            if isinstance(part, dict) and part["type"] == "tool_result"
        }
        # The messages of the last request are its own; those before it were answered, or sent before.
        earlier = acknowledged - {f"t{number}"}
        if len(whole) > 1:
            found = texts(db)
            assert earlier <= found.keys()
            assert all(found[name] == f"{name[1:]}\n" * 2_000 for name in found)
        messages = messages[: 1 + 4 * (len(messages) // 4)]
    with Tract.open(db, read_only=True) as tract:
        assert tract.verify(all_tenants=True).is_whole


def test_truncated_history_stays_readable_and_is_marked(start, http, db, tmp_path):
    """A session that was imported with cut results goes on."""
    cut = "line 1\n[...98 lines omitted...]\n\nline 100"
    messages = [{"role": "user", "content": "Go."}, use(1), result(1, cut)]
    session = tmp_path / "session.jsonl"
    session.write_text("".join(json.dumps(message) + "\n" for message in messages))
    with Tract.open(db, tenant=TENANT, conversation="c1", on_truncated_write="count") as tract:
        tract.import_transcript(session)
    fake = AnthropicFake()
    url = proxy(start, fake, db)
    post(
        http,
        url,
        [*messages, {"role": "assistant", "content": "Hm."}, {"role": "user", "content": "On."}],
    )
    assert fake.recorded[-1].json["messages"][2] == result(1, cut)
    with Tract.open(db, tenant=TENANT, conversation="c1", on_truncated_write="count") as tract:
        wait_until(lambda: len(tract.log()) == 6, what="what is new to be recorded")
        (found,) = tract.find_tool_results()
        assert found.metadata["legacy_truncated"] is True
        assert tract.resolve("t1") == cut
        assert tract.needs_refetch("t1")


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_a_session_of_1000_turns_without_one_refetch(start, http, db):
    """A client that sends its last eight calls, with the results of the last two; the model has all eight of them."""
    fake = AnthropicFake()
    url = proxy(start, fake, db)
    first = {"role": "user", "content": "Go."}
    pairs = []
    for number in range(1_000):
        pairs = [*pairs, (use(number), result(number, f"whole {number}\n" * 3))][-8:]
        sent, wanted = [first], [first]
        for place, (made, whole) in enumerate(pairs):
            is_old = place < len(pairs) - 2
            sent += [made, result(name(made), CLEARED) if is_old else whole]
            wanted += [made, whole]
        post(http, url, sent)
        (seen,) = fake.recorded
        assert seen.json["messages"] == wanted
        fake.recorded.clear()
    wanted = [each for number in range(1_000) for each in (f"t{number}", f"t{number}")]
    wait_until(lambda: order(db) == wanted, what="the last turn to be recorded")
    with Tract.open(db, tenant=TENANT, conversation="c1", read_only=True) as tract:
        assert not any(tract.needs_refetch(f"t{number}") for number in range(0, 1_000, 50))
        assert not any("legacy_truncated" in each.metadata for each in tract.find_tool_results())


def name(message):
    return int(message["content"][0]["id"][1:])
