"""Whatever a client sends, repeats, breaks off and changes: the history has all of it, and a request gets back what it lacks."""

import asyncio
import tempfile
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.builders.recorded_talks import Talk, call, model, result, user

from toolcarry import ProjectPolicy
from toolcarry.integrations.identity import ModelRequest, RequestIdentity
from toolcarry.integrations.pipeline import RequestPipeline
from toolcarry.integrations.recorder import Recorder
from toolcarry.integrations.recorder.lines import sign_of
from toolcarry.tract import Tract

JsonObject = dict[str, Any]
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}


def beside(message: JsonObject, *parts: JsonObject) -> JsonObject:
    return {**message, "content": [*message["content"], *parts]}


def stored(target: str) -> str:
    """Return everything that the lines of the conversation hold."""
    with Tract.open(target, tenant="me", conversation="c1") as tract:
        lines = [tract.in_conversation(name) for name in tract.conversations()]
        return b"".join(part for line in lines for part in line.export()).decode()


@pytest.mark.parametrize("answer", [None, model("I will fix prod.")])
@pytest.mark.parametrize(
    "part", [{"type": "text", "text": "STOP, do not touch prod."}, IMAGE], ids=["text", "image"]
)
def test_what_comes_next_to_a_result_that_was_sent_before(talk, answer, part) -> None:
    made = talk()
    first = [user("Run the tests."), call("t1"), result("t1", "3 failed")]
    made.ask(first, answer)
    again = [*first[:2], beside(first[2], part)]
    made.ask(again, model("All right."))
    made.ask([*again, model("All right."), user("Good.")], model("Bye."))
    found = stored(made.target)
    assert "STOP" in found or "aGk=" in found
    assert found.count("Bye.") == 1


def test_a_call_that_ran_again_has_both_results(talk) -> None:
    made = talk()
    for text in ("3 failed", "3 passed"):
        made.ask([user("Run the tests."), call("t1"), result("t1", text)])
    assert "3 failed" in stored(made.target)
    assert "3 passed" in stored(made.target)


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        (call("t1"), beside(call("t1"), {"type": "text", "text": "I will."}), False),
        (result("t1", "a"), beside(result("t1", "a"), {"type": "text", "text": "Stop."}), False),
        (result("t1", "a"), beside(result("t1", "a"), {"type": "text", "text": " "}), True),
        (
            result("t1", "a"),
            beside(
                result("t1", "a"),
                {"type": "text", "text": "<system-reminder>Be brief.</system-reminder>"},
            ),
            True,
        ),
        (
            {"role": "assistant", "content": "", "tool_calls": []},
            {"role": "assistant", "content": None, "tool_calls": []},
            True,
        ),
        ({"role": "tool", "tool_call_id": "t1", "content": "a"}, result("t1", "a"), True),
    ],
)
def test_a_message_is_compared_whole(one: JsonObject, other: JsonObject, is_same: bool) -> None:
    assert (sign_of(one)[:2] == sign_of(other)[:2]) is is_same


@given(st.data(), st.sampled_from(["unique", "the same", "none"]))
def test_a_cut_result_is_filled_with_its_own_whole_and_no_other(
    data: st.DataObject, ids: str
) -> None:
    """Clients that cut some results, drop old turns and send some in full later, with the same commands again."""
    commands = data.draw(st.lists(st.integers(0, 2), min_size=1, max_size=6))
    turns = []
    for number, command in enumerate(commands):
        function = {"name": "Bash", "arguments": {"command": command}}
        call_id = {"unique": f"t{number}", "the same": "call_0", "none": ""}[ids]
        use = {"id": call_id, "function": function} if call_id else {"function": function}
        said = {"role": "assistant", "content": "", "tool_calls": [use]}
        named = {"tool_call_id": call_id} if call_id else {"tool_name": "Bash"}
        turns.append((said, {"role": "tool", **named}, f"line {number} 1\nline {number} 100"))
    cut = "\n[...98 lines omitted...]\n\n"
    with tempfile.TemporaryDirectory() as folder:
        made = Talk(str(Path(folder) / "history.db"), on_truncated_write="count")
        for end in range(len(turns) + 1):
            start = data.draw(st.integers(0, end))
            sent: list[JsonObject] = [user("Go.")]
            for said, given, text in turns[start:end]:
                content = text.replace("\n", cut) if data.draw(st.booleans()) else text
                sent += [said, {**given, "content": content}]
            answer = (
                turns[end][0] if end < len(turns) else {"role": "assistant", "content": "Done."}
            )
            made.ask(sent, {"type": None, "message": answer, "done": True})
        made.recorder.close()
        with Tract.open(made.target, tenant="me", conversation="c1") as tract:
            for line in map(tract.in_conversation, tract.conversations()):
                for filled in (each for each in line.log() if each.kind.name == "EDIT"):
                    root = line.get_content(str(filled.edits))
                    assert root.replace(cut, "\n") == line.get_content(filled)


@given(st.data())
def test_everything_that_a_request_said_is_in_the_history(data: st.DataObject) -> None:
    """Turns that go on, are sent again, get a text next to their results, run again or branch off; answers or none."""
    said: list[str] = []

    def word() -> str:
        said.append(f"word{len(said)}.")
        return said[-1]

    with tempfile.TemporaryDirectory() as folder:
        made = Talk(str(Path(folder) / "history.db"))
        messages: list[JsonObject] = [user(word())]
        for number in range(data.draw(st.integers(1, 6))):
            use = call(f"t{number}", word())
            made.ask(messages, use if data.draw(st.booleans()) else None)
            messages = [*messages, use, result(f"t{number}", word())]
            for change in data.draw(st.lists(st.sampled_from(["again", "text", "result"]))):
                made.ask(messages, model(word()) if data.draw(st.booleans()) else None)
                if change == "text":
                    text = {"type": "text", "text": word()}
                    messages = [*messages[:-1], beside(messages[-1], text)]
                elif change == "result":
                    messages = [*messages[:-1], result(f"t{number}", word())]
            if data.draw(st.booleans()):
                messages = [*messages, model(word()), user(word())]
            if data.draw(st.booleans()):  # a new process
                made.recorder.close()
                made = Talk(made.target)
        made.ask(messages)
        made.recorder.close()
        found = stored(made.target)
    assert [each for each in said if each not in found] == []


def use_of(name: str) -> JsonObject:
    return {"type": "tool_use", "id": name, "name": "Bash", "input": {"command": name}}


@pytest.mark.rust
@given(st.data(), st.integers(1, 3), st.integers(1, 3))
def test_what_is_recorded_is_restored_before_anything_is_mended(
    data: st.DataObject, turns: int, calls: int
) -> None:
    """A client leaves out results that it sent before; the model gets all of them, and no "interrupted"."""
    names = [[f"t{turn}_{number}" for number in range(calls)] for turn in range(turns)]
    whole: list[JsonObject] = [user("Go.")]
    sent: list[JsonObject] = [user("Go.")]
    with tempfile.TemporaryDirectory() as folder:
        recorder = Recorder(Path(folder) / "history.db")
        pipeline = RequestPipeline(recorder=recorder, projection=ProjectPolicy(repair=True))

        def ask(messages: list[JsonObject], answer: JsonObject) -> list[JsonObject]:
            body = orjson.dumps({"model": "m", "max_tokens": 9, "messages": messages})
            request = ModelRequest(body, RequestIdentity("me", "c1", "m"), None, "anthropic")
            done = asyncio.run(pipeline.process(request))
            assert done.exchange is not None
            done.exchange.start(200)
            done.exchange.add(orjson.dumps({"type": "message", **answer}))
            done.exchange.write()
            return list(orjson.loads(done.body)["messages"])

        for turn in names:
            uses = {"role": "assistant", "content": [use_of(name) for name in turn]}
            assert ask(whole, uses) == whole
            parts = [part for name in turn for part in result(name, f"out {name}")["content"]]
            whole = [*whole, uses, {"role": "user", "content": parts}]
            kept = [part for part in parts if data.draw(st.booleans())]
            sent = [*sent, uses, *([{"role": "user", "content": kept}] if kept else [])]
        assert ask(whole, model("Done.")) == whole
        more = [model("Done."), user("More.")]
        assert ask([*sent, *more], model("Yes.")) == [*whole, *more]
        more += [model("Yes."), user("And more.")]
        assert ask([*sent, *more], model("Yes.")) == [*whole, *more]
        recorder.close()
