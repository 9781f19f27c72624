"""Decisions are about results, and not about names: where ids repeat or are missing, a client that lets go of its first
turns shifts every reference, and what was decided of one result is not done to another."""

import json
import pickle
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.builders import wire

from toolcarry import ProjectPolicy
from toolcarry.types import Decisions
from toolcarry.types.results import Projected

GO: list[Any] = [{"role": "user", "content": "go"}]
EAGER = ProjectPolicy(clear_at_least_tokens=0)
LISTING = "UNIQUE listing\n" * 200


def turn(name: str, given: dict[str, Any], text: str, call_id: str) -> list[Any]:
    """A call and its result, as Ollama has them without ids, and as Chat Completions has them with."""
    if not call_id:
        call: dict[str, Any] = {"function": {"name": name, "arguments": given}}
        result: dict[str, Any] = {"role": "tool", "tool_name": name, "content": text}
    else:
        function = {"name": name, "arguments": json.dumps(given)}
        call = {"id": call_id, "type": "function", "function": function}
        result = {"role": "tool", "tool_call_id": call_id, "content": text}
    return [{"role": "assistant", "content": "", "tool_calls": [call]}, result]


class InputKind:
    """One of the two inputs, objects or bytes, which give the same messages."""

    def __init__(self, api: ModuleType, name: str) -> None:
        self._api = api
        self._name = name

    def project(
        self, messages: list[Any], policy: ProjectPolicy, previous: Decisions | None = None
    ) -> Projected:
        if self._name == "objects":
            found: Projected = self._api.project(messages, policy=policy, previous=previous)
            return found
        body = json.dumps({"model": "m", "messages": messages}).encode()
        made = self._api.project_body(body, policy=policy, previous=previous)
        return Projected(json.loads(made.body)["messages"], made.report, made.decisions)


@pytest.fixture(params=["objects", "body"])
def input_kind(api: ModuleType, request: pytest.FixtureRequest) -> InputKind:
    return InputKind(api, request.param)


@pytest.fixture(params=["", "call_0"], ids=["without", "repeated"])
def call_id(request: pytest.FixtureRequest) -> str:
    """The id of every call."""
    found: str = request.param
    return found


def read(path: str, text: str, call_id: str) -> list[Any]:
    return turn("Read", {"file_path": path}, text, call_id)


def bash(command: str, text: str, call_id: str) -> list[Any]:
    return turn("Bash", {"command": command}, text, call_id)


def results(projected: Projected) -> list[str]:
    return [message["content"] for message in projected.messages if message["role"] == "tool"]


def test_a_superseding_result_supersedes_no_other_call(input_kind: InputKind, call_id: str) -> None:
    ls, later = bash("ls", LISTING, call_id), read("a", "a two\n" * 200, call_id)
    first = input_kind.project(GO + read("a", "a one\n" * 200, call_id) + ls + later, EAGER)
    assert first.report.reasons == {"later_read": 1}
    shifted = GO + ls + later + bash("pwd", "dir\n", call_id)
    then = input_kind.project(shifted, EAGER, first.decisions)
    assert then.messages == shifted
    assert then.decisions.made == {}


def test_a_cut_affects_no_other_result(input_kind: InputKind, call_id: str) -> None:
    short, long = bash("ls", "x\n" * 200, call_id), bash("cat", "y\n" * 3_000, call_id)
    policy = ProjectPolicy(max_result_chars=500)
    first = input_kind.project(GO + long + short + short, policy)
    then = input_kind.project(GO + short + long, ProjectPolicy(), first.decisions)
    assert results(then) == ["x\n" * 200, "y\n" * 3_000]


@pytest.mark.parametrize("line", ["result #\n", "ok\n"])
def test_other_turns_are_not_dropped(input_kind: InputKind, call_id: str, line: str) -> None:
    """Calls are distinguished even if their results have the same length or text."""
    text = line * 300
    turns = [bash(f"c{number}", text.replace("#", f"{number}"), call_id) for number in range(6)]
    first = input_kind.project(
        GO + wire.join(*turns), ProjectPolicy(max_request_tokens=60, clear_at_least_tokens=0)
    )
    assert first.decisions.dropped
    shifted = GO + wire.join(*turns[4:]) + bash("new", "NEW\n", call_id)
    then = input_kind.project(shifted, ProjectPolicy(max_request_tokens=100_000), first.decisions)
    assert then.messages == shifted


def test_a_limit_holds_at_once_where_the_conversation_is_another(
    input_kind: InputKind, call_id: str
) -> None:
    """After the first message that was not sent before, no cache can be kept, however small the gain."""
    policy = ProjectPolicy(max_result_chars=500)
    first = input_kind.project(GO + bash("cat", "x\n" * 3_000, call_id), policy)
    then = input_kind.project(GO + bash("cat", "y\n" * 400, call_id), policy, first.decisions)
    assert then.report.reasons == {"cut": 1}
    assert then.report.cache_break_tokens == 0
    other = input_kind.project(GO + bash("pwd", "y\n" * 400, call_id), policy, first.decisions)
    assert other.report.reasons == {"cut": 1}


def test_a_client_that_resends_projected_messages_keeps_its_cache(
    input_kind: InputKind, call_id: str
) -> None:
    """Its results have the lengths that were decided, so the messages after them were sent before, too."""
    policy, eager = ProjectPolicy(max_result_chars=2_000), ProjectPolicy(max_result_chars=500)
    turns = GO + bash("cat", "x\n" * 3_000, call_id) + bash("pwd", "y\n" * 400, call_id)
    first = input_kind.project(turns, policy)
    assert first.report.reasons == {"cut": 1}
    then = input_kind.project(first.messages, eager, first.decisions)
    assert then.messages == first.messages
    assert then.report.cache_break_tokens == 0


def test_results_that_nothing_shifts_stay_decided(input_kind: InputKind, call_id: str) -> None:
    turns = [bash(f"c{number}", f"result {number}\n" * 300, call_id) for number in range(6)]
    messages = GO + wire.join(*turns)
    for policy in (
        ProjectPolicy(max_all_results_chars=5_000),
        ProjectPolicy(max_result_chars=300),
        ProjectPolicy(max_request_tokens=700, clear_at_least_tokens=0),
    ):
        first = input_kind.project(messages, policy)
        kept = pickle.loads(pickle.dumps(first.decisions))
        then = input_kind.project(messages, ProjectPolicy(), kept)
        assert then.messages == first.messages
        assert (then.decisions.made, then.decisions.signs) == (
            first.decisions.made,
            first.decisions.signs,
        )
        assert then.report.cache_break_tokens == 0


def test_a_call_that_is_gone_supersedes_nothing(input_kind: InputKind) -> None:
    """Where ids are unique, too: the one that held the newer text may have been let go of alone."""
    one, two = read("a", "a one\n" * 200, "t1"), read("a", "a two\n" * 200, "t2")
    first = input_kind.project(GO + one + two, EAGER)
    assert first.report.reasons == {"later_read": 1}
    then = input_kind.project(GO + one + bash("pwd", "dir\n", "t3"), EAGER, first.decisions)
    assert results(then) == ["a one\n" * 200, "dir\n"]
    other = input_kind.project(GO + one + bash("pwd", "dir\n", "t2"), EAGER, first.decisions)
    assert results(other) == ["a one\n" * 200, "dir\n"]
    assert (
        other.report.stable_prefix_tokens < input_kind.project(GO + one, EAGER).report.chars_before
    )


def test_a_call_that_waits_for_its_result_supersedes_as_it_did(input_kind: InputKind) -> None:
    """A result that arrived since does not make it another call."""
    failed = wire.read("a", "x" * 2_000, "t1", is_error=True)
    messages = failed + wire.read("a", "", "t2")[:1]
    first = input_kind.project(messages, EAGER)
    assert first.report.reasons == {"later_read": 1}
    longer = failed + wire.read("a", "a two\n" * 200, "t2")
    then = input_kind.project(longer, EAGER, first.decisions)
    assert then.messages[: len(messages)] == first.messages
    assert then.report.cache_break_tokens == 0


def test_decisions_of_another_conversation_decide_nothing(
    input_kind: InputKind, call_id: str
) -> None:
    mine = GO + wire.join(
        *[bash(f"m{number}", f"mine {number}\n" * 300, call_id) for number in range(4)]
    )
    yours = GO + wire.join(
        *[bash(f"y{number}", f"your {number}\n" * 300, call_id) for number in range(4)]
    )
    for policy in (ProjectPolicy(max_result_chars=300), ProjectPolicy(max_request_tokens=700)):
        first = input_kind.project(mine, policy)
        assert input_kind.project(yours, ProjectPolicy(), first.decisions).messages == yours


PATHS = ("a", "b")
talks = st.lists(st.tuples(st.sampled_from(PATHS), st.integers(1, 40)), min_size=1, max_size=8)
policies = st.builds(
    ProjectPolicy,
    max_result_chars=st.none() | st.integers(100, 300),
    clear_at_least_tokens=st.just(0),
)


@given(
    talk=talks,
    more=talks,
    gone=st.integers(0, 8),
    policy=policies,
    call_id=st.sampled_from(("", "c")),
)
def test_a_part_of_a_conversation_is_decided_as_by_itself(
    api: ModuleType,
    talk: list[tuple[str, int]],
    more: list[tuple[str, int]],
    gone: int,
    policy: ProjectPolicy,
    call_id: str,
) -> None:
    """A superseded read has a later read of its file, and the same results are whole, cut or superseded."""
    texts = [(path, f"{number}\n" * lines) for number, (path, lines) in enumerate(talk + more)]
    turns = [read(path, text, call_id) for path, text in texts]
    first = api.project(wire.join(*turns[: len(talk)]), policy=policy)
    shifted = wire.join(*turns[gone:])
    then = api.project(shifted, policy=policy, previous=first.decisions)
    alone = api.project(shifted, policy=policy)
    assert [(found.position, found.reason) for found in then.report.replacements] == [
        (found.position, found.reason) for found in alone.report.replacements
    ]
    names = ["c"[: len(call_id)] + f"#{number}" for number in range(1, len(turns) + 1)]
    names[0] = call_id or "#1"
    for reference, (kind, by, _, _) in then.decisions.made.items():
        if kind == "superseded":
            mine, other = names.index(reference), names.index(by)
            assert mine < other
            assert texts[gone:][mine][0] == texts[gone:][other][0]
