"""A shortened diff keeps its changed lines, each with the headers of its hunk and its file."""

import itertools
import random
from types import ModuleType
from typing import Final

from hypothesis import given
from hypothesis import strategies as st
from support.rows import for_each

from toolcarry import CarryPolicy, ProjectPolicy
from toolcarry.fallback.shorten.diff import rank_diff
from toolcarry.fallback.shorten.lines import Rank, choose

WORDS: Final = [
    "alpha",
    "beta",
    "gamma",
    "delta",
    "return",
    "self",
    "value",
    "number",
    "of",
    "the",
    "lines",
]


def diff_of(seed: int, files: int = 8, is_git: bool = True, most: int = 6) -> str:
    """A diff with changed lines that occur once each."""
    rng = random.Random(seed)
    number = itertools.count()
    said = lambda: " ".join(rng.choices(WORDS, k=rng.randint(1, 8)))  # noqa: E731 - short
    lines: list[str] = []
    for file in range(files):
        if is_git:
            lines += [
                f"diff --git a/src/f{file}.py b/src/f{file}.py",
                f"index {file}abc..def 100644",
            ]
        lines += [f"--- a/src/f{file}.py", f"+++ b/src/f{file}.py"]
        for hunk in range(rng.randint(1, 3)):
            body = [f" {said()}" for _ in range(3)]
            for _ in range(rng.randint(1, most)):
                body += [f"-{said()} {next(number)}" for _ in range(rng.randint(0, 3))]
                body += [f"+{said()} {next(number)}" for _ in range(rng.randint(1, 3))]
                body += [f" {said()}" for _ in range(rng.randint(0, 4))]
            body += [f"--- a comment {next(number)}"] if rng.random() < 0.3 else []
            old, new = (sum(not line.startswith(sign) for line in body) for sign in ("+", "-"))
            lines += [
                f"@@ -{hunk * 100 + 1},{old} +{hunk * 100 + 1},{new} @@ def f{file}_{hunk}():",
                *body,
            ]
    return "\n".join(lines)  # fmt: skip


def changes_of(diff: str) -> dict[str, tuple[str, str]]:
    """The changed lines, each with the headers of its hunk and its file."""
    found = {}
    hunk = file = ""
    old = new = 0
    for line in diff.split("\n"):
        if old > 0 or new > 0:
            old, new = old - (line[:1] != "+"), new - (line[:1] != "-")
            if line[:1] in ("+", "-"):
                found[line] = hunk, file
        elif line.startswith("@@"):
            hunk = line
            old, new = (int(each.split(",")[1]) for each in line.split(" ")[1:3])
        elif line.startswith("+++ "):
            file = line
    return found


def shown(rust: ModuleType, diff: str, command: str = "git diff", **limit: object) -> str:
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": command}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": diff}
    messages = [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    (block,) = rust.project(messages, policy=ProjectPolicy(**limit)).messages[1]["content"]  # type: ignore[arg-type]
    return str(block["content"])


@for_each("share", [0.7, 0.5, 0.3, 0.2, 0.1])
@for_each("seed", range(12))
def test_changed_lines_come_first_with_their_headers(
    rust: ModuleType, share: float, seed: int
) -> None:
    diff = diff_of(seed, is_git=seed % 3 > 0)
    room = int(len(diff) * share)
    lines = shown(rust, diff, max_result_chars=room).split("\n")
    assert sum(map(len, lines)) + len(lines) - 1 <= room
    changes = changes_of(diff)
    kept = [line for line in lines if line in changes]
    plain = shown(rust, diff, max_result_chars=room, content="off").split("\n")
    assert len(kept) >= sum(line in changes for line in plain)
    for line in kept:
        before = lines[: lines.index(line)]
        hunk, file = changes[line]
        assert [each for each in before if each.startswith("@@")][-1] == hunk
        assert [each for each in before if each.startswith("+++ b/")][-1] == file
    if len(kept) < len(changes):  # then context fills only what no change fits into
        assert sum(len(line) for line in lines if line.startswith(" ")) < room / 6


@for_each("name", ["rename from a", "new file mode 100644", "Binary files a/x and b/x differ"])
def test_other_headers_stay_in_their_file(name: str) -> None:
    lines = [
        "diff --git a/x b/x",
        name,
        "diff --git a/y b/y",
        "--- a/y",
        "+++ b/y",
        "@@ -1 +1 @@",
        "-old",
        "+new",
    ]
    ranking = rank_diff(lines, "")
    assert list(ranking.above) == [0, 0, 2, 2, 3, 4, 5, 5]
    assert choose(lines, ranking, 88) == "... 2 lines\n" + "\n".join(lines[2:])


def test_a_merge_and_a_diff_that_begins_in_a_hunk() -> None:
    lines = [
        "+first",
        "diff --cc x",
        "@@@ -1,2 -1,2 +1,3 @@@",
        "++both",
        " -one",
        "--- a",
        "+++ b",
        "@@ -1 +1 @@",
        "-- c",
    ]
    ranking = rank_diff(lines, "")
    assert list(ranking.above) == [0, 1, 1, 2, 2, 2, 2, 1, 7]
    assert [place for place, rank in enumerate(ranking.ranks) if rank == Rank.IMPORTANT] == [
        0,
        3,
        5,
        6,
        8,
    ]


@for_each("limit", [{"max_result_chars": 3_000}, {"max_chars": 4_000}])
def test_a_context_shows_them(api: ModuleType, limit: dict[str, int]) -> None:
    diff = diff_of(5, files=20)
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "git diff"}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": diff}
    messages = [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    text = api.carry(messages, policy=CarryPolicy(**limit)).text  # type: ignore[arg-type]
    assert sum(line in changes_of(diff) for line in text.split("\n")) > 8


LINE = st.sampled_from((
    "diff --git a/x b/x", "index 1..2", "--- a/x", "+++ b/x", "@@ -1,2 +1,2 @@", "@@ -1 +1 @@ f", "@@@ -1 -1 +1 @@@", "@@",
    "+a", "-b", " c", "", "\\ No newline at end of file", "--- d", "-- e", "rename from a", "commit 1", "text", "@@ -1,99999999999 +1 @@",
))  # fmt: skip


@given(lines=st.lists(LINE, max_size=40), room=st.integers(0, 300))
def test_both_backends_read_any_diff_alike(
    both: tuple[ModuleType, ModuleType], lines: list[str], room: int
) -> None:
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "git diff"}}
    text = "\n".join(["diff --git a/x b/x", *lines])
    result = {"type": "tool_result", "tool_use_id": "t1", "content": text}
    messages = [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    policy = CarryPolicy(max_result_chars=room)
    python, rust = (each.carry(messages, "", policy).context for each in both)
    assert python == rust
