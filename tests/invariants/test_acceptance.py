"""The acceptance criteria of the canonical history, each as a test of its name, through the middleware and a store."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from toolcarry import ProjectPolicy, limit_events
from toolcarry.integrations.asgi import ToolCarryMiddleware
from toolcarry.integrations.identity import Identification
from toolcarry.integrations.pipeline import RequestPipeline
from toolcarry.integrations.recorder import Recorder
from toolcarry.tract import Tract

Opener = Callable[..., Tract]
JsonObject = dict[str, Any]

CLEARED = "[Old tool result content cleared]"
WHOLE = "a line of the log\n" * 300


class Agent:
    """A client with its tools, and a model after the middleware that asks for one file after the other."""

    def __init__(self, target: str, policy: ProjectPolicy | None, *, keep: int) -> None:
        self.recorder = Recorder(target)
        self.pipeline = RequestPipeline(projection=policy, recorder=self.recorder)
        identify = Identification(tenant="me")
        app = ToolCarryMiddleware(self.model, self.pipeline, identify=identify)
        self.http = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://m")
        self.messages: list[JsonObject] = [{"role": "user", "content": "Read all files."}]
        self.got: list[JsonObject] = []
        self.runs: list[str] = []
        self.keep = keep

    async def model(self, scope: Any, receive: Any, send: Any) -> None:  # noqa: ARG002 - ASGI
        body = b""
        while True:
            message = await receive()
            body += message["body"]
            if not message["more_body"]:
                break
        request = json.loads(body)
        self.got = request["messages"]
        number = sum(each["role"] == "assistant" for each in self.got)
        use = {
            "type": "tool_use",
            "id": f"t{number}",
            "name": "Read",
            "input": {"file_path": f"/{number}"},
        }
        answer = {"type": "message", "role": "assistant", "content": [use]}
        headers = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": json.dumps(answer).encode()})

    async def turn(self) -> None:
        """Ask the model, run its tool, and clear old results, as a client with a small window does."""
        sent = {"x-session-id": "c1"}
        body = {"model": "m", "messages": self.messages}
        response = await self.http.post("/v1/messages", json=body, headers=sent)
        (use,) = response.json()["content"]
        self.runs.append(use["id"])
        result = {
            "type": "tool_result",
            "tool_use_id": use["id"],
            "content": f"{use['id']}\n{WHOLE}",
        }
        self.messages.append({"role": "assistant", "content": [use]})
        self.messages.append({"role": "user", "content": [result]})
        for message in self.messages[: -2 * self.keep]:
            if message["role"] == "user" and isinstance(message["content"], list):
                message["content"] = [{**message["content"][0], "content": CLEARED}]


@pytest.fixture
def agent(durable_target: str) -> Iterator[Callable[..., Agent]]:
    made: list[Agent] = []

    def make(policy: ProjectPolicy | None = None, *, keep: int = 3) -> Agent:
        made.append(Agent(durable_target, policy, keep=keep))
        return made[-1]

    yield make
    for each in made:
        each.recorder.close()


def run(agent: Agent, turns: int) -> None:
    async def go() -> None:
        for _ in range(turns):
            await agent.turn()

    asyncio.run(go())
    agent.recorder.flush()


def results_of(messages: list[JsonObject]) -> dict[str, str]:
    return {
        part["tool_use_id"]: part["content"]
        for message in messages
        if isinstance(message["content"], list)
        for part in message["content"]
        if part["type"] == "tool_result"
    }


def test_no_automatic_marker_in_canonical_history(
    agent: Callable[..., Agent], durable_target: str
) -> None:
    """A client clears results and a projection cuts them; no mark of either is in the history."""
    made = agent(ProjectPolicy(max_result_chars=200))
    run(made, 8)
    assert made.pipeline.counts["projection_cuts"] > 0
    with Tract.open(durable_target, tenant="me", conversation="c1") as tract:
        found = tract.find_tool_results()
        assert [each.tool_call_id for each in found] == made.runs[:-1]
        assert [tract.get_content(each) for each in found] == [
            f"{name}\n{WHOLE}" for name in made.runs[:-1]
        ]
        assert not any("legacy_truncated" in each.metadata for each in found)
    assert made.recorder.counts["refused"] == 0


def test_long_sessions_without_re_reading(agent: Callable[..., Agent], durable_target: str) -> None:
    """No result that the client cleared is missing for the model, so no tool is run again."""
    made = agent()
    run(made, 30)
    got = results_of(made.got)
    assert got == {name: f"{name}\n{WHOLE}" for name in made.runs[:-1]}
    assert len(set(made.runs)) == len(made.runs) == 30
    with Tract.open(durable_target, tenant="me", conversation="c1") as tract:
        assert not any(map(tract.needs_refetch, made.runs[:-1]))


def test_both_sides_in_sync(agent: Callable[..., Agent], durable_target: str) -> None:
    """The model, the history, and the client after a reload have the same."""
    made = agent()
    run(made, 6)
    with Tract.open(durable_target, tenant="me", conversation="c1") as tract:
        kept = tract.compile(style="anthropic")
        assert kept[: len(made.got)] == made.got
        restored = tract.hydrate(made.messages[: len(made.got)]).messages
        assert restored == made.got


def test_transport_warnings_allowed(agent: Callable[..., Agent], durable_target: str) -> None:
    """A stream to a screen is limited, and says so; the store has all of it."""
    made = agent()
    run(made, 3)
    (name, text), *_ = results_of(made.got).items()
    block = {"type": "tool_result", "tool_use_id": name, "content": text}
    event = {"type": "content_block_start", "index": 0, "content_block": block}
    (shown,) = limit_events([event], 100)
    assert "[toolcarry: preview" in json.dumps(shown)
    assert event["content_block"] == {**block, "content": text}
    with Tract.open(durable_target, tenant="me", conversation="c1") as tract:
        assert tract.resolve(name) == text


def test_compaction_the_only_reduction(history: Opener, tmp_path: Any) -> None:
    """Every way to write keeps the bytes; only a compaction makes what is compiled shorter, and it can be undone."""
    use = {"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "/a"}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": WHOLE}
    session = [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]

    def said(tract: Tract) -> None:
        tract.assistant("", tool_calls=[use])
        tract.tool_result("t1", "Read", WHOLE)

    def imported(tract: Tract) -> None:
        path = tmp_path / "session.jsonl"
        path.write_text("".join(json.dumps(each) + "\n" for each in session))
        tract.import_transcript(path)

    def edited(tract: Tract) -> None:
        said(tract)
        (first,) = tract.find_tool_results()
        tract.tool_result("t1", "Read", WHOLE, edit=first.commit_hash)

    ways: tuple[Callable[[Tract], object], ...] = (
        said,
        imported,
        edited,
        lambda tract: tract.append_many(session),
    )
    for number, write in enumerate(ways):
        tract = history(conversation=f"c{number}")
        write(tract)
        before = tract.compile(style="anthropic")
        assert results_of(before) == {"t1": WHOLE}
        tract.compile(policy=ProjectPolicy(max_result_chars=50))
        assert tract.compile(style="anthropic") == before
        done = tract.compress(content="They read /a.")
        assert len(json.dumps(tract.compile(style="anthropic"))) < len(WHOLE)
        assert tract.resolve("t1") == WHOLE
        tract.uncompress(done.commit.commit_hash)
        assert tract.compile(style="anthropic") == before
