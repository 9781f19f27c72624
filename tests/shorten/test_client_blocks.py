"""A block that a client puts next to what a tool returned stays whole, or goes whole, when the result is shortened."""

import json
import random
import re
from types import ModuleType

from support.oracles.format_checks import JsonObject
from support.rows import for_each

from toolcarry import CarryPolicy, ProjectPolicy
from toolcarry.model.content.client_blocks import client_blocks

TAGS = ["system-reminder", "environment_details", "user-prompt-submit-hook"]


def block(tag: str, size: int) -> str:
    return (
        f"<{tag}>\n{'This file was changed by the user. ' * size}\nTake it into account.\n</{tag}>"
    )


def listing(rng: random.Random) -> str:
    return "\n".join(f"{number:>5}\tvalue = {rng.random()} # naïve" for number in range(60))


def pytest_run(rng: random.Random) -> str:
    lines = [f"tests/test_{rng.randrange(99)}.py::test_{number} PASSED" for number in range(60)]
    return "\n".join(["=== test session starts ===", *lines, "FAILED tests/test_a.py - assert 1 == 2", "1 failed, 60 passed"])  # fmt: skip


def rows(rng: random.Random) -> str:
    return json.dumps([{"id": number, "value": rng.random()} for number in range(80)])


def diff(rng: random.Random) -> str:
    return "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,60 +1,60 @@\n" + "\n".join(f"{rng.choice('+- ')}line {number}" for number in range(90))  # fmt: skip


def result_of(make: object, tag: str, seed: int) -> str:
    """A result with blocks at its end, its beginning, or between its lines."""
    rng = random.Random(seed)
    text: str = make(rng)  # type: ignore[operator]
    lines = text.split("\n")
    for _ in range(rng.randint(1, 2)):
        place = rng.choice([0, len(lines), len(lines), rng.randint(0, len(lines))])
        lines.insert(place, block(tag, rng.choice([1, 5, 20])))
    return "\n".join(lines)


def conversation(text: str, command: str) -> list[JsonObject]:
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": command}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": text}
    return [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]


def assert_whole(shown: str, given: str, tag: str) -> None:
    wholes = [given[start:end] for start, end in client_blocks(given)]
    rest = shown
    for whole in wholes:
        rest = rest.replace(whole, "")
    assert f"<{tag}>" not in rest
    assert f"</{tag}>" not in rest
    assert "Take it into account" not in rest
    assert "This file was changed" not in rest


EACH = for_each("make, command", [(listing, "cat a.py"), (pytest_run, "pytest"), (rows, "curl x"), (diff, "git diff"), (listing, "python a.py")])  # fmt: skip


@EACH
@for_each("tag", TAGS)
@for_each("seed", range(5))
@for_each("limit", [150, 400, 900, 1500, 2500])
def test_in_a_projection(rust: ModuleType, make: object, command: str, tag: str, seed: int, limit: int) -> None:  # fmt: skip
    given = result_of(make, tag, seed)
    messages = conversation(given, command)
    for policy in (
        ProjectPolicy(max_result_chars=limit),
        ProjectPolicy(max_result_tokens=limit // 3),
        ProjectPolicy(max_result_chars=limit, content="off", keep="ends"),
        ProjectPolicy(max_result_chars=limit, keep="tail"),
        ProjectPolicy(max_all_results_chars=limit),
    ):
        projected = rust.project(messages, policy=policy)
        shown = projected.messages[1]["content"][0]["content"]
        assert_whole(shown, given, tag)
        assert rust.project(projected.messages, policy=policy).messages == projected.messages


@EACH
@for_each("tag", TAGS)
@for_each("seed", range(3))
@for_each("limit", [150, 900, 2500])
def test_in_a_context(api: ModuleType, make: object, command: str, tag: str, seed: int, limit: int) -> None:  # fmt: skip
    given = result_of(make, tag, seed)
    messages = conversation(given, command)
    for policy in (
        CarryPolicy(max_result_chars=limit),
        CarryPolicy(max_result_tokens=limit // 3),
        CarryPolicy(max_result_chars=limit, content="off"),
        CarryPolicy(max_chars=limit + 400),
    ):
        text = api.carry(messages, policy=policy).text
        assert_whole(re.sub(r"\n\.\.\. [^\n]*", "", text), given, tag)


def test_what_is_not_closed_is_text(rust: ModuleType) -> None:
    given = "<system-reminder>" + "a line\n" * 200
    projected = rust.project(conversation(given, "x"), policy=ProjectPolicy(max_result_chars=300))
    assert "a line" in projected.messages[1]["content"][0]["content"]


def test_both_backends_agree(both: tuple[ModuleType, ModuleType]) -> None:
    for seed in range(150):
        rng = random.Random(seed)
        make, command = rng.choice(
            [(listing, "cat a.py"), (pytest_run, "pytest"), (rows, "curl x"), (diff, "git diff")]
        )
        messages = conversation(result_of(make, rng.choice(TAGS), seed), command)
        policy = CarryPolicy(
            max_result_chars=rng.randrange(2500), keep=rng.choice(["auto", "ends", "tail", "head"])
        )
        python, rust = (each.carry(messages, "", policy).context for each in both)
        assert python == rust
        policy = CarryPolicy(max_chars=rng.randrange(600, 4000))
        python, rust = (each.carry(messages, "", policy).context for each in both)
        assert python == rust
