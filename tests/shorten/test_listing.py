"""A listing is shown folder by folder: the first entries of each, similar names folded with a count."""

import re
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.builders import wire
from support.examples import examples
from support.rows import for_each
from support.shortening import (
    ERROR,
    check_both_carry,
    check_cut_at_its_ends,
    lines_of,
    projected,
    sent,
)
from support.strategies.texts import many

from toolcarry import count_tokens

WORDS = ("alpha", "beta", "gamma", "delta", "zeta", "eta", "theta", "iota", "kappa", "lambda")
FOLDERS = [f"src/{word}" for word in WORDS]
NAMES = [f"{one}_{two}.py" for one in WORDS for two in WORDS[:4]]
PATHS = [f"{folder}/{name}" for folder in FOLDERS for name in NAMES]
MODE = "-rw-r--r-- 1 root root 1234 Jan  1 12:00 "


@for_each(
    ("command", "lines"),
    [
        ("find src -name '*.py'", PATHS),
        ("fd -e py", PATHS),
        ("git ls-files", PATHS),
        ("rg -l import", PATHS),
        ("du -a src", [f"4.0K\t{path}" for path in PATHS]),
    ],
)
def test_the_first_entries_of_each_folder_are_shown(
    rust: ModuleType, command: str, lines: list[str]
) -> None:
    shown = projected(rust, command, "\n".join(lines), max_result_chars=1_500)
    found = lines_of(shown)
    for number in range(len(FOLDERS)):
        own = lines[number * len(NAMES) : (number + 1) * len(NAMES)]
        kept = [line for line in found if line in own]
        assert kept == own[: len(kept)]
        assert len(kept) >= 2
        assert f"{kept[-1]}\n... {len(NAMES) - len(kept)} more lines\n" in shown


def test_a_recursive_listing_shows_the_head_of_each_folder(rust: ModuleType) -> None:
    lines: list[str] = []
    for folder in FOLDERS:
        lines += [f"./{folder}:", "total 160", *[f"{MODE}{name}" for name in NAMES], ""]
    found = lines_of(projected(rust, "ls -lR .", "\n".join(lines), max_result_chars=3_000))
    assert {f"./{folder}:" for folder in FOLDERS} <= set(found)
    assert sum(line.startswith(MODE) for line in found) >= 2 * len(FOLDERS)


@pytest.mark.parametrize(
    ("branch", "stem"), [("\u251c\u2500\u2500 ", "\u2502\xa0\xa0 "), ("|-- ", "|   ")]
)
def test_a_tree_shows_branches_below_their_folders(
    rust: ModuleType, branch: str, stem: str
) -> None:
    lines = ["."]
    for word in WORDS:
        lines.append(f"{branch}{word}")
        lines += [f"{stem}{branch}{name}" for name in NAMES]
    lines += ["", "10 directories, 400 files"]
    shown = projected(rust, "tree", "\n".join(lines), max_result_chars=1_500)
    found = lines_of(shown)
    assert {".", *[f"{branch}{word}" for word in WORDS], lines[-1]} <= set(found)
    assert f"{stem}{branch}{NAMES[0]}" in found
    assert "more lines" in shown


def test_similar_names_are_folded_with_a_count(rust: ModuleType) -> None:
    lines = ["README.md", *[f"step_{number}.log" for number in range(400)], "setup.cfg", "uv.lock"]
    shown = projected(rust, "ls", "\n".join(lines), max_result_chars=200)
    found = lines_of(shown)
    assert {"README.md", "step_0.log", "setup.cfg", "uv.lock"} <= set(found)
    assert re.search(r"^\.\.\. [0-9]+ more lines$", shown, re.MULTILINE)


@pytest.mark.parametrize("name", ["Glob", "LS", "list_dir", "mcp__files__directory_tree"])
def test_the_tool_of_an_agent_is_a_command(rust: ModuleType, name: str) -> None:
    text = "\n".join(PATHS)
    messages = wire.turn(name, {"pattern": "*"}, text)
    assert "more lines" in sent(rust, messages, text, max_result_chars=900)


@for_each(
    ("command", "line"),
    [
        ("ls && cat notes", "a line of some text {0}"),
        ("cat names", "name_{0}"),
        ("find . -exec cat {{}} +", "x = {0}"),
    ],
)
def test_another_text_is_cut_as_before(rust: ModuleType, command: str, line: str) -> None:
    check_cut_at_its_ends(rust, command, "\n".join(line.format(number) for number in range(300)))


def test_the_output_of_a_run_after_a_listing_is_that_of_the_run(rust: ModuleType) -> None:
    lines = [
        "a.py",
        "b.py",
        *[f"test case {number} ... ok" for number in range(300)],
        "test odd ... FAILED",
    ]
    shown = projected(rust, "ls; cargo test", "\n".join(lines), max_result_chars=400)
    assert "passing lines" in shown


entries = st.one_of(
    st.sampled_from(("a", "src", "src/a.py", "src/b12.py", "src/b7.py", "./x/y/z", "/etc/passwd", "/a b/c", "..", "src:", "src/:", "total 12", "")),
    st.builds(lambda name: f"{MODE}{name}", st.sampled_from(("a", "b1", "b22", "c -> d", "caf\u00e9"))),
    st.builds(
        lambda stems, branch, name: "".join(stems) + branch + name,
        st.lists(st.sampled_from(("|   ", "    ", "\u2502\xa0\xa0 ", "\u2502   ")), max_size=3),
        st.sampled_from(("|-- ", "`-- ", "\u251c\u2500\u2500 ", "\u2514\u2500\u2500\xa0")),
        st.sampled_from(("a", "b1", "b2", "c d", "\u4e2d")),
    ),
    st.builds(lambda size, name: f"{size}\t{name}", st.sampled_from(("4.0K", "12", "  7")), st.sampled_from(("a", "src/b", "src"))),
)  # fmt: skip
messages_of = st.sampled_from(
    ("find: 'x': Permission denied", "ls: cannot access 'y': No such file", "E   ValueError: bad", "[ERROR] it broke",
     "a.ts(1,2): error TS1005: ';' expected", "12 directories, 30 files")
)  # fmt: skip


@pytest.mark.rust
@examples(600)
@given(
    found=st.lists(entries, max_size=60), spoken=st.lists(messages_of, max_size=6), room=st.integers(80, 900)
)  # fmt: skip
def test_both_backends_choose_the_same_entries(
    found: list[str], spoken: list[str], room: int
) -> None:
    messages = wire.bash("ls -R", "\n".join([*found, *spoken, *found, *found]), "t1")
    check_both_carry(messages, max_result_chars=room)


@given(
    found=many(entries, 100, 200),
    spoken=st.lists(messages_of, min_size=1, max_size=4, unique=True),
    tokens=st.integers(300, 600),
)
def test_errors_are_shown_and_all_lines_are_those_of_the_text(
    rust: ModuleType, found: list[str], spoken: list[str], tokens: int
) -> None:
    lines = [*found[:60], *spoken, *found[60:]]
    text = "\n".join(lines)
    shown = projected(rust, "find .", text, max_result_tokens=tokens)
    if shown == text or "shortened" not in shown:
        return
    kept = lines_of(shown)
    assert count_tokens(shown) <= tokens
    assert {line for line in lines if ERROR.search(line)} <= set(kept)
    rest = iter(lines)
    assert all(line in rest for line in kept)
