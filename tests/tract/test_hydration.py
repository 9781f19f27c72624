"""Hydration: what a client sends in the place of a result gives way to the result, and to nothing else."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from support.servers.stores import make_target

from toolcarry import ProjectPolicy, limit_events, preview, project
from toolcarry.tract import Tract, hydrate

CLEARED = "[Old tool result content cleared]"
LONG = "line of a log\n" * 300
CALL = {"id": "t1", "name": "Bash", "arguments": {"command": "make"}}
MADE = {
    "role": "assistant",
    "content": None,
    "tool_calls": [
        {
            "id": "t1",
            "type": "function",
            "function": {"name": "Bash", "arguments": '{"command": "make"}'},
        }
    ],
}
SHOWN = preview(LONG, 90, reference="t1")


@pytest.mark.parametrize(
    "cut",
    [
        {"content": None},
        {"content": ""},
        {"content": SHOWN.text},
        {"content": "line of a log", "metadata": {**SHOWN.metadata, "kept": 1}},
        {"content": "line of a log", **SHOWN.metadata},
        {"content": "line of a log", "truncated": True},
        {"content": "[toolcarry: superseded by call t2; whole: t1]"},
        {"content": "[Old tool result content cleared]"},
        {"content": "line\n[...298 lines omitted...]\nlog"},
    ],
)
def test_what_a_client_sends_gives_way(tract: Tract, cut: dict[str, Any]) -> None:
    tract.assistant("", tool_calls=[CALL])
    tract.tool_result("t1", "Bash", LONG, is_error=True)
    sent = [
        {"role": "user", "content": "Go."},
        MADE,
        {"role": "tool", "tool_call_id": "t1", "name": "Bash", **cut},
        {"role": "user", "content": None},
    ]
    before = json.dumps(sent)
    done = hydrate(sent, tract)
    whole = {"role": "tool", "tool_call_id": "t1", "name": "Bash", "content": LONG}
    kept = {"metadata": {"kept": 1}} if "metadata" in cut else {}
    assert done.messages == [*sent[:2], {**whole, **kept}, sent[3]]
    assert (done.restored, done.refetch) == (("t1",), ())
    assert json.dumps(sent) == before


def test_a_value_is_never_replaced(tract: Tract) -> None:
    """Neither by a null nor by a stand-in nor by a cut result of the history."""
    message = {"role": "tool", "tool_call_id": "t1", "content": None}
    tract.append_many([message])
    tract.append_many([{**message, "content": "[Tool result missing due to internal error]"}])
    tract.append_many([{**message, "content": "3 pas... [truncated]"}])
    sent = [{"role": "tool", "tool_call_id": "t1", "content": "3 passed"}]
    assert tract.hydrate(sent).messages == sent
    done = tract.hydrate([message])
    assert (done.messages, done.refetch) == ([message], ("t1",))
    assert tract.needs_refetch("t1")


def test_a_result_keeps_its_parts(tract: Tract) -> None:
    image = {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": "aGk="},
    }
    block = {
        "type": "tool_result",
        "tool_use_id": "t1",
        "content": [{"type": "text", "text": LONG}, image],
    }
    tract.append_many([{"role": "user", "content": [block]}])
    sent = {
        "role": "user",
        "content": [{**block, "content": SHOWN.text}, {"type": "text", "text": "Go."}],
    }
    (whole,) = hydrate([sent], tract).messages
    assert whole["content"] == [block, sent["content"][1]]


@pytest.mark.rust
def test_a_refetch_is_needed_only_without_a_result(tract: Tract) -> None:
    tract.assistant("", tool_calls=[CALL, {**CALL, "id": "t2"}])
    result = tract.tool_result("t1", "Bash", LONG)
    use = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {}}
    function = {"id": "t2", "type": "function", "function": {"name": "Bash", "arguments": "{}"}}
    tract.tool_result("t1", "Bash", "short", edit=result.commit_hash)
    tract.compile(policy=ProjectPolicy(max_result_chars=50))
    tract.compress(content="They ran make.")
    assert not tract.needs_refetch(use)
    assert not tract.needs_refetch("t1")
    assert tract.needs_refetch(function)
    assert tract.needs_refetch("t3")
    tract.tool_result("t2", "Bash", "")
    assert not tract.needs_refetch(function)


RELOAD = """
import json, sys
from toolcarry.tract import Tract, hydrate

with Tract.open(sys.argv[1]) as tract:
    done = hydrate(json.load(sys.stdin), tract)
    print(json.dumps([done.messages, tract.compile(), tract.log()[0].sequence]))
"""


@pytest.mark.rust
@pytest.mark.parametrize("kind", ["file", pytest.param("postgres", marks=pytest.mark.services)])
def test_both_sides_are_the_same_after_a_reload(
    request: pytest.FixtureRequest, tmp_path: Path, kind: str
) -> None:
    """Write, project, stream; reload in a second process, and the client's side is the server's again."""
    target = make_target(request, tmp_path, kind)
    with Tract.open(target) as tract:
        tract.user("Build it.")
        for number in range(20):
            tract.assistant("", tool_calls=[{**CALL, "id": f"t{number}"}])
            tract.tool_result(f"t{number}", "Bash", f"{number}\n{LONG}")
        whole = tract.compile()
        count = tract.log()[0].sequence
    projected = project(whole, policy=ProjectPolicy(max_result_chars=200)).messages
    events = [{"choices": [{"index": 0, "message": message}]} for message in whole]
    streamed = [event["choices"][0]["message"] for event in limit_events(iter(events), 50)]
    for client in (projected, streamed):
        assert client != whole
        done = subprocess.run(
            [sys.executable, "-c", RELOAD, target],
            input=json.dumps(client), capture_output=True, text=True, check=True,
        )  # fmt: skip
        hydrated, compiled, sequence = json.loads(done.stdout)
        assert hydrated == compiled == whole
        assert sequence == count


def test_what_another_writer_adds_is_found(durable_target: str) -> None:
    """A history that was read before reads what came since, and nothing of a conversation that is gone."""
    with Tract.open(durable_target) as reader, Tract.open(durable_target) as writer:
        assert reader.needs_refetch("t1")
        cut = writer.tool_result("t1", "Bash", "3 pas... [truncated]")
        assert reader.needs_refetch("t1")
        writer.user("Go on.")
        writer.backfill({"t1": "3 passed"})
        assert not reader.needs_refetch("t1")
        assert restored(reader, "t1") == "3 passed"
        writer.tool_result("t2", "Bash", "4 passed")
        assert (restored(reader, "t1"), restored(reader, "t2")) == ("3 passed", "4 passed")
        assert cut.sequence == 1
        writer.forget()
        assert reader.needs_refetch("t1")


def test_a_conversation_that_begins_again(tract: Tract) -> None:
    tract.tool_result("t1", "Bash", "3 passed")
    assert not tract.needs_refetch("t1")
    tract.forget()
    for number in range(2, 5):
        tract.tool_result(f"t{number}", "Bash", "4 passed")
    assert [tract.needs_refetch(f"t{number}") for number in range(1, 5)] == [True, *[False] * 3]


def test_a_result_is_found_without_reading_the_log_again(
    tract: Tract, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(30):
        tract.tool_result(f"t{number}", "Bash", f"{number} passed")
    assert not tract.needs_refetch("t3")
    read, pages = tract._log.database.read, list[str]()

    def noted(sql: str, values: Sequence[Any] = (), /) -> list[Any]:
        pages.extend([sql] if "ORDER BY c.sequence LIMIT" in sql else [])
        return read(sql, values)

    monkeypatch.setattr(tract._log.database, "read", noted)
    assert not any(tract.needs_refetch(f"t{number}") for number in range(30))
    assert not pages
    tract.tool_result("t30", "Bash", "30 passed")
    assert not tract.needs_refetch("t30")
    assert len(pages) == 1


def restored(tract: Tract, call_id: str) -> object:
    """Return the text of a cleared result, hydrated."""
    cleared = {"role": "tool", "tool_call_id": call_id, "content": CLEARED}
    return tract.hydrate([cleared]).messages[0]["content"]
