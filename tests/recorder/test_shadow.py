"""Shadow mode: requests go on as they came, and what hydration would have changed is recorded and reported."""

from __future__ import annotations

import asyncio
import json

import httpx
import pytest
from support.builders.recorded_talks import call, model, result, user

from toolcarry import ProjectPolicy
from toolcarry.cli import main
from toolcarry.integrations.asgi import ToolCarryMiddleware
from toolcarry.integrations.identity import Identification
from toolcarry.integrations.pipeline import RequestPipeline
from toolcarry.integrations.recorder import Recorder
from toolcarry.integrations.recorder.shadow import shadow_report

CLEARED = "[Old tool result content cleared]"
WHOLE = "a line\n" * 1_000


@pytest.fixture
def sent(tmp_path):
    """Send requests in shadow mode; the bodies as they came to the model, and the store."""
    bodies: list[bytes] = []
    store = str(tmp_path / "history.db")

    async def app(scope, receive, send):
        bodies.append((await receive())["body"])
        answer = {"type": "message", "role": "assistant", **model("Ok.")}
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": json.dumps(answer).encode()})

    def run(requests, policy):
        recorder = Recorder(store, mode="shadow", projection=policy)
        pipeline = RequestPipeline(projection=policy, recorder=recorder)
        wrapped = ToolCarryMiddleware(app, pipeline, identify=Identification(tenant="me"))

        async def ask():
            transport = httpx.ASGITransport(wrapped)
            async with httpx.AsyncClient(transport=transport, base_url="http://m") as client:
                for name, messages in requests:
                    body = {"model": "m", "messages": messages}
                    headers = {"x-session-id": name}
                    (
                        await client.post("/v1/messages", json=body, headers=headers)
                    ).raise_for_status()

        asyncio.run(ask())
        recorder.flush()
        return recorder, bodies, store

    return run


def conversation(text):
    return [user("Go."), call("t1"), result("t1", text), *([model("Ok."), user("On.")])]


REQUESTS = [
    ("c1", conversation(WHOLE)[:3]),
    ("c1", conversation(CLEARED)),
    ("c2", [*conversation(WHOLE)[:2], user("Never mind.")]),
]


def test_the_differences_are_recorded_and_the_old_path_answers(sent):
    recorder, bodies, _ = sent(REQUESTS, None)
    assert [json.loads(body)["messages"] for body in bodies] == [each for _, each in REQUESTS]
    one, two = shadow_report(recorder.database)
    assert (one.conversation, one.requests, one.changed) == ("c1", 2, 1)
    assert one.bytes_new - one.bytes_old == len(json.dumps(WHOLE)) - len(json.dumps(CLEARED))
    assert (one.refetches_old, one.refetches_new) == (1, 0)
    assert (two.requests, two.changed, two.orphans_old, two.orphans_new) == (1, 0, 1, 1)
    assert shadow_report(recorder.database, "somebody") == []
    recorder.close()


def test_both_paths_are_projected_with_decisions_of_their_own(sent):
    policy = ProjectPolicy(max_result_chars=200)
    recorder, bodies, _ = sent(REQUESTS, policy)
    assert all(len(body) < 1_000 for body in bodies)
    (one, _) = shadow_report(recorder.database)
    assert (one.cuts_old, one.cuts_new) == (1, 1)
    assert one.bytes_new < 2_000
    recorder.close()


def printed(capfd, store, *options):
    """Run the command, and return its exit code and what it printed."""
    code = main(["history", "shadow-report", "--db", str(store), *options])
    return code, capfd.readouterr().out


def test_the_command_prints_them(sent, capfd):
    recorder, _, store = sent(REQUESTS, None)
    recorder.close()
    code, lines = printed(capfd, store, "--json")
    rows = [json.loads(line) for line in lines.splitlines()]
    assert [(row["conversation"], row["changed"]) for row in rows] == [("c1", 1), ("c2", 0)]
    table = printed(capfd, store)[1]
    assert " ".join(table.splitlines()[-1].split()).startswith("total 3 1 ")
    assert " ".join(table.split()).endswith("0 -> 0 1 -> 1 2 -> 1")
    assert printed(capfd, store, "--tenant", "nobody", "--json") == (0, "")
    assert (code, printed(capfd, f"{store}-none")[0]) == (0, 3)


def test_a_conversation_with_the_name_of_a_comparison_is_no_comparison(sent, capfd):
    """A client chooses its names, and may send messages of any structure."""
    odd = [
        {"foo": 1},
        {"role": []},
        {"bytes": [1, 9], "cuts": [0, 9], "orphans": [0, 9], "refetches": [0, 9]},
    ]
    requests = [
        ("x#shadow", [user("Go."), *odd]),
        ("x", conversation(WHOLE)),
        ("#shadow", [user("Go.")]),
    ]
    _, _, store = sent(requests, None)
    rows = [json.loads(line) for line in printed(capfd, store, "--json")[1].splitlines()]
    assert sorted((row["conversation"], row["requests"], row["changed"]) for row in rows) == [
        ("#shadow", 1, 0),
        ("x", 1, 0),
        ("x#shadow", 1, 0),
    ]
    assert all(row["orphans_new"] == 0 for row in rows if row["conversation"] == "x")
