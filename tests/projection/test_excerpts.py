"""A projection that knows what shortened results became says the same as one that reads them again."""

import json
import pickle
from itertools import count
from random import Random
from types import ModuleType
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from support.builders import wire
from support.goldens.inputs import workload

from toolcarry import ProjectPolicy
from toolcarry.types import Decisions

MOST = 2_048
"""The most bytes of an excerpt in decisions, as the docs say."""
RUNS = count()
"""Numbers of texts, so that no text was shortened before in this process: the core remembers what it shortened."""
LINES = (
    "tests/test_a.py::test_one PASSED\n", "tests/test_b.py::test_two FAILED\n", "E   AssertionError: 1 == 2\n", "\n", "}\n",
    "2026-11-30 12:00:01 INFO started the server on port 80\n", "ERROR: no space left\n", "src/app.py:12: naïve 日本 \U0001f600\n",
    "+ added a line\n", "- removed a line\n", "@@ -1,3 +1,3 @@\n", 'say "hi" with a \\ and a\ttab\n', "trailing blanks   \n",
    "\x1b[32mok\x1b[0m in green\n", " 10 %\r 55 %\r100 %\n", "... 3 lines\n", "...\n", "lone \\ud800 spelled\n", "\x0b\x00",
)  # fmt: skip
COMMANDS = ("pytest -q", "make", "git diff", "rg error", "ls -R", "cat a.py")
POLICIES = (
    ProjectPolicy(max_result_chars=600),
    ProjectPolicy(max_result_tokens=150),
    ProjectPolicy(max_result_chars=2_000, keep="ends", repair=True),
    ProjectPolicy(max_all_results_chars=2_000),
    ProjectPolicy(max_request_tokens=600),
    ProjectPolicy(content=("terminal",), references=False),
)


def text_of(random: Random) -> str:
    """Return the text of a result of any kind."""
    first = f"run {next(RUNS)}\n"
    size = random.choice([3, 40, 200])
    if random.random() < 0.25:
        items = [
            {"name": random.choice(LINES), "lines": [random.choice(LINES)] * random.randrange(30)}
            for _ in range(size)
        ]
        return json.dumps({"first": first, "items": items}, ensure_ascii=random.random() < 0.5)
    numbered = random.random() < 0.5
    lines = [random.choice(LINES) for _ in range(size)]
    return first + "".join(f"{at} {line}" if numbered else line for at, line in enumerate(lines))


def conversation(seed: int) -> list[Any]:
    random = Random(seed)
    return list(wire.join(*(
        wire.bash(random.choice(COMMANDS), text_of(random), f"t{number}")
        if random.random() < 0.8
        else wire.read(f"f{number % 3}.py", text_of(random), f"t{number}")
        for number in range(random.choice([1, 3, 8]))
    )))  # fmt: skip


def in_bytes(messages: list[Any], ascii_only: bool) -> bytes:
    return json.dumps({"messages": messages}, ensure_ascii=ascii_only).encode()


@given(seed=st.integers(0, 10_000), policy=st.sampled_from(POLICIES), ascii_only=st.booleans())
def test_the_next_request_has_the_same_text(
    rust: ModuleType, seed: int, policy: ProjectPolicy, ascii_only: bool
) -> None:
    messages = conversation(seed)
    longer = [*messages, *wire.bash("make", text_of(Random(seed)), "last")]
    one = rust.project(messages, policy=policy)
    for found in (one, rust.project(messages, policy=policy)):  # the second one remembers
        known = rust.project(longer, policy=policy, previous=found.decisions)
        forgot = replace(found.decisions, excerpts={})
        assert known == rust.project(longer, policy=policy, previous=forgot)
        again = rust.project(messages, policy=policy, previous=found.decisions)
        assert again.messages == one.messages
    body, more = in_bytes(messages, ascii_only), in_bytes(longer, ascii_only)
    written = rust.project_body(body, policy=policy)
    assert json.loads(written.body)["messages"] == one.messages
    then = rust.project_body(more, policy=policy, previous=written.decisions)
    assert json.loads(then.body)["messages"] == known.messages
    from_objects = rust.project_body(more, policy=policy, previous=one.decisions)
    assert from_objects.body == then.body
    assert all(len(excerpt) <= MOST for excerpt in then.decisions.excerpts.values())


def failing(middle: str, tail: str = "") -> str:
    lines = "".join(f"tests/test_{number}.py::test PASSED\n" for number in range(200))
    return f"run {next(RUNS)}\n{lines}{middle}\n{lines}{tail}"


@pytest.mark.parametrize("door", ["objects", "bytes"])
def test_another_text_gets_none_of_the_old_parts(rust: ModuleType, door: str) -> None:
    """Not even if its length, its ends and its call are the same."""
    old = failing("E   AssertionError: old one")
    new = old.replace("old one", "new one")
    policy = ProjectPolicy(max_result_chars=500)

    def sent(text: str, previous: Decisions | None) -> Any:
        messages = wire.bash("pytest", text, "t1")
        if door == "objects":
            found = rust.project(messages, policy=policy, previous=previous)
            return found.messages[1]["content"][0]["content"], found.decisions
        found = rust.project_body(in_bytes(messages, True), policy=policy, previous=previous)
        return json.loads(found.body)["messages"][1]["content"][0]["content"], found.decisions

    shown, decisions = sent(old, None)
    assert "old one" in shown
    assert set(decisions.excerpts) == {"t1"}
    again, then = sent(new, decisions)
    assert again == shown.replace("old one", "new one")
    assert then.excerpts != decisions.excerpts


@given(damage=st.integers(0, 255), at=st.integers(0, 200), cut=st.booleans())
def test_a_damaged_excerpt_counts_for_nothing(
    rust: ModuleType, damage: int, at: int, cut: bool
) -> None:
    messages = wire.bash("pytest", failing("E   AssertionError: \u00e9 is \\ here", "FAILED"), "t1")
    policy = ProjectPolicy(max_result_chars=500)
    one = rust.project_body(in_bytes(messages, True), policy=policy)
    excerpt = bytearray(one.decisions.excerpts["t1"])
    at %= len(excerpt)
    excerpt[at] = damage
    damaged = bytes(excerpt[:at] if cut else excerpt)
    previous = replace(one.decisions, excerpts={"t1": damaged})
    then = rust.project_body(in_bytes(messages, True), policy=policy, previous=previous)
    assert then.body == one.body


def test_decisions_can_be_stored(rust: ModuleType) -> None:
    messages = wire.bash("pytest", failing("E   AssertionError: one"), "t1")
    policy = ProjectPolicy(max_result_chars=500)
    decisions = rust.project(messages, policy=policy).decisions
    assert decisions.excerpts
    assert pickle.loads(pickle.dumps(decisions)) == decisions
    assert msgspec.json.decode(msgspec.json.encode(decisions), type=Decisions) == decisions


def test_an_excerpt_is_small(rust: ModuleType) -> None:
    """As docs/reference says: some 150 bytes for a result of 2,000 characters."""
    found = rust.project(list(workload(200).given), policy=ProjectPolicy(max_result_chars=2_000))
    shortened = [name for name, (fate, *_) in found.decisions.made.items() if fate == "shortened"]
    assert set(found.decisions.excerpts) == set(shortened)
    sizes = list(map(len, found.decisions.excerpts.values()))
    assert 100 < sum(sizes) / len(sizes) < 200
