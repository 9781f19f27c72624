"""The event loop does no work that grows with a request: worker threads do, and it serves others meanwhile."""

import asyncio
import json
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from support.builders.hostile import TEXTS, VALUES, bodies, talk
from support.builders.wire_talks import ANTHROPIC
from support.rows import for_each
from support.servers.hosts import Echo, call, messages_of, scope_for

import toolcarry
from toolcarry import ProjectPolicy, SummarizeTransformer, ToolCache
from toolcarry._util import workers
from toolcarry._util.workers import LARGE, in_worker
from toolcarry.integrations.asgi import ToolCarryMiddleware
from toolcarry.integrations.identity import Identification, RequestIdentity, RequestView
from toolcarry.integrations.pipeline import RequestPipeline
from toolcarry.redact import Redactor
from toolcarry.summarize import strip_injected
from toolcarry.switch.request_fields import RequestFields, read_fields

ROOT = Path(toolcarry.__file__).parent
GLUE = ("integrations", "_util", "redact/logs.py", "switch/transformer.py", "switch/pending_answers.py")  # fmt: skip
"""The files whose functions run on the loop, and wait there for the workers. All others do the work."""
ANSWERS = (
    "switch/decision.py",
    "switch/sessions.py",
    "switch/branches.py",
    "switch/types.py",
    "types/values.py",
)
"""Take note of an answer, in which nothing grows with the request."""
KNOWN = ("switch/body.py:open_request", "types/models.py:window_of")
"""Look at what a worker has read of a body. If it has read nothing, they call what is seen."""
WAITING = {
    "asummarize", "_amake", "arun", "coroutine_of", "_start", "_remembered", "_counted", "_done", "start", "finish",
    "entry_size",
}  # fmt: skip
"""The functions of ``summarize`` that wait for a summarizer and keep what it wrote."""


@contextmanager
def calls_on_this_thread() -> Iterator[set[str]]:
    """Record the functions of the package that this thread calls."""
    seen: set[str] = set()

    def note(frame: FrameType, event: str, _argument: Any) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "call" and ROOT in path.parents:
            seen.add(f"{path.relative_to(ROOT).as_posix()}:{frame.f_code.co_name}")

    sys.setprofile(note)
    try:
        yield seen
    finally:
        sys.setprofile(None)


def work(seen: set[str]) -> set[str]:
    found = {call for call in seen if not call.startswith((*GLUE, *ANSWERS, *KNOWN))}
    return {call for call in found if call.partition(":")[2] not in WAITING}


def body_of(size: int) -> bytes:
    text = "<task>look</task> at it\n" * (size // 24)
    messages = [
        ANTHROPIC.user(text),
        *ANTHROPIC.turn("call_1", "Bash", {"command": "cat a"}, text),
        ANTHROPIC.says("Done."),
        ANTHROPIC.user("Go on."),
    ]
    tools = [{"name": "Bash", "input_schema": {"type": "object"}}]
    return json.dumps({"model": "m", "tools": tools, "messages": messages}).encode()


def summarizer(text: str, _instructions: str) -> str:
    return f"{len(text)} characters were said."


def switching() -> RequestPipeline:
    transformer = SummarizeTransformer(summarizer, redact=Redactor())
    transformer.answered("c", "a", tenant="t")
    return RequestPipeline(transformer=transformer, tool_cache=ToolCache())


def projecting() -> RequestPipeline:
    return RequestPipeline(projection=ProjectPolicy(repair=True, max_result_chars=500))


def sent_through(made: RequestPipeline, body: bytes, identify: Any) -> set[str]:
    """Send a request through the middleware; the work that the loop did."""

    async def app(_scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"{}"})

    scope = {
        "type": "http",
        "method": "POST",
        "path": "/v1/messages",
        "headers": [(b"content-type", b"application/json"), (b"x-session-id", b"c")],
    }

    async def send_it() -> set[str]:
        async def receive() -> Any:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(_message: Any) -> None:
            return None

        with calls_on_this_thread() as seen:
            await ToolCarryMiddleware(app, made, identify=identify)(scope, receive, send)
        return work(seen)

    return asyncio.run(send_it())


IDENTIFY = Identification(tenant="t", backend="b", guess_conversation=True)


@pytest.mark.parametrize(("make", "done"), [(switching, "switched"), (projecting, "projected")])
def test_the_loop_does_no_work_for_a_large_body(make: Any, done: str) -> None:
    made, body = make(), body_of(3 * LARGE)
    assert sent_through(made, body, IDENTIFY) == set()
    assert made.counts[done] == 1
    # Again, as part of a conversation that is known.
    assert sent_through(made, body, IDENTIFY) == set()
    assert made.counts[done] == 2
    assert not [name for name in made.counts if name.startswith("failed_open")]


def test_the_test_would_see_it() -> None:
    """A small body is worked on at once, which is what is looked for above."""
    seen = sent_through(switching(), body_of(200), IDENTIFY)
    assert any("fingerprint" in call for call in seen)


def test_who_identifies_runs_in_a_worker_too() -> None:
    threads: list[threading.Thread] = []

    def identify(_request: RequestView) -> RequestIdentity:
        threads.append(threading.current_thread())
        return RequestIdentity("t", "c", "b")

    for size in (200, 3 * LARGE):
        sent_through(switching(), body_of(size), identify)
    assert [thread is threading.main_thread() for thread in threads] == [True, False]


def test_objects_are_worked_on_in_a_worker() -> None:
    transformer = SummarizeTransformer(summarizer, redact=Redactor())
    transformer.answered("c", "a")
    messages = json.loads(body_of(3 * LARGE))["messages"]

    async def transform(method: Any) -> set[str]:
        with calls_on_this_thread() as seen:
            await method(messages, conversation="c", backend="b")
        return work(seen)

    assert asyncio.run(transform(transformer.atransform)) == set()
    assert asyncio.run(transform(transformer.aon_backend_switch)) == set()


def test_work_that_takes_too_long_is_left() -> None:
    """The request goes on without it."""
    held = threading.Event()

    def wait(text: str) -> str:
        held.wait(10)
        return text

    transformer = SummarizeTransformer(summarizer, redact=wait)
    transformer.answered("c", "a", tenant="t")
    made = RequestPipeline(transformer=transformer, timeout=0.05)
    try:
        sent_through(made, body_of(3 * LARGE), IDENTIFY)
    finally:
        held.set()
    assert made.counts["failed_open.switch"] == 1
    assert made.counts["switched"] == 0


def test_workers_are_few_and_have_the_context_of_the_caller() -> None:
    names: set[str] = set()

    def note() -> None:
        names.add(threading.current_thread().name)

    async def ask() -> None:
        await asyncio.gather(*(in_worker(note) for _ in range(100)))

    asyncio.run(ask())
    assert 1 <= len(names) <= workers.MOST_WORKERS
    assert all(name.startswith("toolcarry-work") for name in names)


@for_each("kind", TEXTS)
def test_injected_text_is_found_in_linear_time(kind: str) -> None:
    """A quadratic search would run into the limit of the whole suite."""
    text = TEXTS[kind](400_000)
    assert len(strip_injected(text)) <= len(text)


@for_each("before", range(60, 70))
def test_a_window_cuts_no_tag(before: int) -> None:
    """With windows of any size, the outcome is that of one search."""
    from toolcarry.summarize import dialogue

    note = "\nRead the output file to retrieve the result: <a> /tmp/b <task>"
    text = "<" * before + f"<task-notification>x</task-notification>{note}\nFix <b>it</b>.<task/>"
    expected = strip_injected(text)
    assert expected.endswith("Fix <b>it</b>.")
    with pytest.MonkeyPatch.context() as patch:
        for window in range(1, 90):
            patch.setattr(dialogue, "WINDOW", window)
            assert strip_injected(text) == expected


@for_each(
    ("part", "value"),
    [*(("messages", value) for value in VALUES), ("tools", "{}"), ("metadata", "{}")],
)
def test_a_body_of_very_many_values_goes_on_unread(part: str, value: str) -> None:
    """One call of a decoder would hold the interpreter for seconds, whatever thread makes it."""
    body = bodies(800_000)[f"{part} {value}"]()
    transformer = SummarizeTransformer(summarizer, redact=Redactor())
    transformer.answered("c", "a", tenant="t")
    made = RequestPipeline(
        transformer=transformer, tool_cache=ToolCache(), projection=ProjectPolicy(repair=True)
    )
    assert sent_through(made, body, IDENTIFY) == set()
    assert made.counts["skipped.too_many_values"] == 1
    assert made.counts["changed"] == made.counts["switched"] == made.counts["projected"] == 0
    assert made.counts["bytes_before"] == made.counts["bytes_after"] == len(body)
    assert not [name for name in made.counts if name.startswith("failed_open")]


def test_of_a_body_of_very_many_values_nothing_is_decoded() -> None:
    body = bodies(800_000)["messages {}"]()
    assert read_fields(body) == RequestFields(has_many_values=True)
    done = SummarizeTransformer().transform_body(body, conversation="c", backend="b")
    assert done.body is body
    assert done.untouched == "too many values"


def test_a_long_text_full_of_brackets_is_read() -> None:
    body = talk(json.dumps("[{," * 400_000))
    made = switching()
    sent_through(made, body, IDENTIFY)
    assert made.counts["switched"] == 1


def test_a_request_waits_for_its_identity_no_longer_than_for_any_other_step() -> None:
    held = threading.Event()
    echo = Echo()

    def wait(_: RequestView) -> RequestIdentity:
        held.wait()
        return RequestIdentity("me", "c1", "m")

    pipeline = RequestPipeline(tool_cache=ToolCache(), timeout=0.05)
    app = ToolCarryMiddleware(echo, pipeline, identify=wait)
    body = json.dumps({"messages": [{"role": "user", "content": "x" * LARGE}]}).encode()

    async def ask() -> None:
        try:
            await call(app, scope_for(), messages_of(body))
        finally:
            held.set()

    asyncio.run(ask())
    assert echo.bodies == [body]
    assert pipeline.counts["failed_open.identify"] == 1
