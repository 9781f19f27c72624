"""Projections of projections, by the thousand: a second one changes nothing, with the decisions of the first or without."""

import json
from collections.abc import Callable
from dataclasses import replace
from random import Random
from types import ModuleType
from typing import Any

import pytest
from support.builders.random_requests import histories, policies
from support.examples import IS_LONG
from support.oracles.format_checks import JsonObject
from support.providers.validity import PROVIDERS

from toolcarry import ProjectPolicy
from toolcarry._data import destination_names

WORDS = [
    "error",
    "ok",
    "the",
    "file",
    "naïve",
    "日本",
    "🦊",
    "return",
    "FAILED",
    "warning:",
    "0x1f",
    "```",
    "<b>",
]
SHORTEST = 40
"""The length of the texts of a request that others replace."""


def words(random: Random, count: int) -> str:
    return " ".join(random.choices(WORDS, k=count))


def log(random: Random, size: int) -> str:
    levels = ["INFO", "ERROR", "WARN"]
    return "".join(
        f"2026-11-{number % 28:02} {random.choice(levels)} {words(random, 4)}\n"
        for number in range(size)
    )


def run(random: Random, size: int) -> str:
    tests = "".join(
        f"tests/test_{number}.py {random.choice(['PASSED', 'FAILED'])}\n" for number in range(size)
    )
    return f"=== test session starts ===\n{tests}=== 1 failed, {size} passed in 0.2s ===\n"


def diff(random: Random, size: int) -> str:
    hunks = "".join(
        f"@@ -{number},2 +{number},2 @@\n {words(random, 3)}\n-{words(random, 3)}\n+{words(random, 3)}\n"
        for number in range(size)
    )
    return f"diff --git a/x b/x\n--- a/x\n+++ b/x\n{hunks}"


def trace(random: Random, size: int) -> str:
    frames = "".join(
        f'  File "/x/{number}.py", line {number}, in f\n    {words(random, 3)}\n'
        for number in range(size)
    )
    return f"Traceback (most recent call last):\n{frames}ValueError: bad\n"


def rows(random: Random, size: int) -> str:
    return json.dumps([{"id": number, "name": words(random, 2)} for number in range(size)])


def reminder(random: Random, size: int) -> str:
    return f"{log(random, size)}\n<system-reminder>\n{words(random, size)}\n</system-reminder>"


def terminal(random: Random, size: int) -> str:
    states = "\r".join(f"{number} % {words(random, 1)}" for number in range(size))
    return f"\x1b[3{size % 8}m{words(random, size)}\x1b[0m  \n{states}\n" * random.choice([1, 3])


def overwritten(random: Random, size: int) -> str:
    """A short text over which a shorter one was written last."""
    return f"{words(random, size % 7)}\x1b[0m\r{random.choice(['2', 'done', '100%', words(random, 2)])}"


def hits(random: Random, size: int) -> str:
    return "".join(f"src/f{number % 5}.py:{number}:{words(random, 3)}\n" for number in range(size))


def failure(random: Random, size: int) -> str:
    start = random.choice(["Error: ENOENT: no such file ", "Exit code: 1\n", "Permission denied: "])
    return start + words(random, size)


def odd(random: Random, size: int) -> str:
    lines = "\r\n".join(["x y"] * size)
    data = "data:image/png;base64," + "iVBO" * 9 * size + " "
    return random.choice([" x" * size, "=" * 9 * size, lines, data, "a " * 60 * size])


def one_word(random: Random, size: int) -> str:
    return "w" * (90 + random.randrange(60))


def plain(random: Random, size: int) -> str:
    return words(random, 3 * size)


KINDS: list[Callable[[Random, int], str]] = [
    *(log, run, diff, trace, rows, reminder, plain),
    *(terminal, terminal, overwritten, overwritten, hits, failure, odd, one_word),
]
IDS = ["{}", "{}", "{}", "{}", "", "toolu_{}" + "q" * 244, "call {}", "{}[1]", "{}" + "z" * 40]
"""The forms of ids of calls: one for all calls of a request."""
SEARCH = {"pattern": "x"}
"""The arguments of the calls of ``Grep`` that calls of another tool replace."""
WRITES = {
    "Write": {"file_path": "a.py", "content": None},
    "Edit": {"file_path": "a.py", "old_string": None, "new_string": None},
}


def text(random: Random) -> str:
    return random.choice(KINDS)(random, random.choice([1, 3, 10, 40]))


class Variant:
    """Other texts in place of the long ones of a request, other ids, and edits in place of searches."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._ids = random.choice(IDS)
        self._tool = random.choice(["Grep", "Grep", *WRITES])
        self._type = random.choice([None, None, None, "", 5])

    def of(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, list):
            return [self.of(item) for item in value]
        if not isinstance(value, dict):
            return value
        if value == SEARCH:
            return self._given()
        made = {key: self.of(value[key]) for key in value}
        if "function" in made and self._type is not None:
            made["type"] = self._type
        return made

    def _text(self, value: str) -> str:
        if value == "Grep":
            return self._tool
        if value == json.dumps(SEARCH):
            return json.dumps(self._given())
        if value[:1] == "t" and value[1:].isdigit():
            return self._ids.format(value)
        is_long = len(value) >= SHORTEST and " " in value and value[0] not in "{["
        return text(self._random) if is_long else value

    def _given(self) -> JsonObject:
        given = WRITES.get(self._tool, SEARCH)
        return {key: given[key] or text(self._random) for key in given}


def more(random: Random) -> dict[str, Any]:
    """Return settings that ``policies`` does not vary."""
    settings: dict[str, list[Any]] = {
        "destination": sorted(destination_names()),
        "repair": [False],
        "clear_tool_inputs": [True, False, ("Write",)],
        "content": ["off", ("lines",), ("tests", "logs"), ("terminal",)],
        "references": [False],
        "exclude_tools": [("Bash",)],
        "encoding": ["cl100k_base"],
    }
    return {
        name: random.choice(choices) for name, choices in settings.items() if random.random() < 0.2
    }


def made(seed: int) -> tuple[list[JsonObject], ProjectPolicy]:
    random = Random(seed)
    messages = Variant(random).of(histories(random, random.choice(PROVIDERS)))
    usual = {field.name: field.default for field in ProjectPolicy.declared if random.random() < 0.2}
    return messages, replace(policies(random), **(usual | more(random)))


def changes(api: ModuleType, seeds: range) -> list[int]:
    """Return the seeds whose projection another one changes."""
    found = []
    for seed in seeds:
        messages, policy = made(seed)
        once = api.project(messages, policy=policy)
        again = [
            api.project(once.messages, policy=policy),
            api.project(messages, policy=policy, previous=once.decisions),
        ]
        if any(each.messages != once.messages for each in again):
            found.append(seed)
    return found


def test_a_second_projection_changes_nothing(rust: ModuleType) -> None:
    assert changes(rust, range(400)) == []


@pytest.mark.slow
@pytest.mark.timeout(0)
@pytest.mark.parametrize("part", range(10))
def test_in_the_long_run(rust: ModuleType, part: int) -> None:
    count = 5_000 if IS_LONG else 200
    start = 1_000 + part * count
    assert changes(rust, range(start, start + count)) == []
