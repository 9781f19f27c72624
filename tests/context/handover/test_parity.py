"""Python and Rust write the same hand-over, to the character, with the same report.

Each document is handed over at many totals: small ones, for which hardly anything fits, and large ones, for which nearly
all does. A document that fits as a whole is written as sections, which is compared as well.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.builders.families import FAMILIES
from support.builders.sources import SOURCES
from support.builders.wire import bash, edit, join, read, turn, write
from support.examples import IS_LONG, examples
from support.goldens.inputs import corpus, workload
from support.oracles.parity import blocks_of, compare
from support.strategies.conversations import summaries, transcripts
from support.strategies.policies import carry_policy, result_limits, rule_sets

from toolcarry import CarryPolicy

Both = tuple[ModuleType, ModuleType]

SAMPLES = sorted(
    path for path in (Path(__file__).parents[2] / "samples").rglob("*") if path.is_file()
)
TOTALS: tuple[int, ...] = (150, 400, 1_000, 5_000, 30_000)
if IS_LONG:
    TOTALS = (150, 200, 300, 400, 600, 800, 1_000, 1_500, 2_000, 3_000, 5_000, 8_000, 15_000, 30_000)  # fmt: skip


def policies() -> Iterator[CarryPolicy]:
    """Yield a policy for each total, in tokens and in characters in turns; in the long run, both for each."""
    for number, total in enumerate(TOTALS):
        if IS_LONG or number % 2 == 0:
            yield CarryPolicy(layout="handover", max_tokens=total)
        if IS_LONG or number % 2 == 1:
            yield CarryPolicy(layout="handover", max_chars=total, keep="ends", references=False)


def check(both: Both, messages: Any, summary: str, *policies: CarryPolicy) -> None:
    """Compare the kernels that write a context, on one conversation."""
    blocks = None if isinstance(messages, bytes) else blocks_of(both, messages)
    for policy in policies:
        compare(both, "carry", messages, summary, policy)
        if not isinstance(messages, bytes):
            compare(both, "explain", messages, summary, policy)
        if blocks is not None:
            compare(both, "format_tool_context", blocks, summary, policy)


def check_all(both: Both, messages: Any, summary: str = "") -> None:
    check(both, messages, summary, *policies())


@pytest.mark.parametrize("name", sorted(corpus()))
def test_the_cases(both: Both, name: str) -> None:
    case = corpus()[name]
    check_all(both, case.given, case.summary)


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_the_samples_of_producers(both: Both, path: Path) -> None:
    check_all(both, path.read_bytes())


@pytest.mark.parametrize("name", sorted(SOURCES))
def test_the_formats_in_bytes(both: Both, name: str) -> None:
    check_all(both, json.dumps({"messages": SOURCES[name]}).encode())
    check_all(both, "\n".join(map(json.dumps, SOURCES[name])).encode())


@pytest.mark.parametrize("size", [20, 66, pytest.param(200, marks=pytest.mark.slow)])
def test_the_workloads(both: Both, size: int) -> None:
    messages = workload(size).given
    check_all(both, messages, "Goal: mend the tests.")
    check(both, json.dumps(messages).encode(), "", CarryPolicy(layout="handover", max_tokens=1_000))


def test_all_families_together(both: Both) -> None:
    messages = [message for name, make in FAMILIES.items() for message in make(f"call_{name}")]
    check_all(both, messages * 3)


PATHS = st.sampled_from(("src/a.py", "/w/src/a.py", "b.rs", "/w/é.md", "c/", ""))
LINES = st.sampled_from(
    (
        "def f():",
        "    return 1",
        "error: no",
        "E   x",
        "",
        "7 passed, 2 failed",
        "x" * 90,
        "é…",
        "</output>",
        "# A",
        "```",
    )
)
TEXTS = st.lists(LINES, max_size=12).map("\n".join)
LONG_TEXTS = st.lists(LINES, max_size=6).map(lambda lines: "\n".join(lines * 40))
COMMANDS = st.sampled_from(
    (
        "pytest -q | tail", "cd /w && cat src/a.py", "sed -n '2,5p' b.rs", "git checkout .", "mv src/a.py d/", "ls /w",
        "cp src/a.py d/", "cp -r b.rs src/a.py", "npm ci && npm test -q 2>&1 | tail", "npm test", "nl -ba b.rs", "rg -n x && ls",
        "cd /w/src && cargo test", "git commit -m \"$(cat <<'EOF'\nFix\n\nMore.\nEOF\n)\"", "echo > b.rs", "head -3 b.rs",
        'cat ""', "git pull", "git checkout -- src/a.py", "git -C /w stash", "git restore .", "ruff format . && pytest src", "make x",
        "uv run pytest src/a.py::test_b", "sudo timeout 5 python3.11 -m pytest src", "npx tsc", "cargo build", "python src/a.py",
        "git commit -m 'pull it'", "curl -H x: https://a.example/b", "python - <<'EOF'\nimport x\nEOF", "x" * 400, "word " * 99,
    )
)  # fmt: skip
NUMBERED = st.lists(LINES, min_size=1, max_size=20).map(
    lambda lines: "\n".join([f"{number:6d}\t{line}" for number, line in enumerate(lines, 1)])
)
RESULTS = st.one_of(
    TEXTS,
    LONG_TEXTS,
    NUMBERED,
    st.sampled_from(
        (
            "Exit code 2\nE   assert 0", "ERROR:\nNo replacement", "bash: syntax error near unexpected token", "", '{"node": 1}',
            "a\nb\nc\nd\n\n[8 more lines in file. Use offset=5 to continue.]", "Task #2 created", "\n".join(["a: 1 x"] * 9),
            "The file src/a.py has been updated", "Plan updated", "\x1b[31mred\x1b[0m\n1%\r9%",
            "The user doesn't want to proceed with this tool use. the user said: no\n\nNote: The user's next message",
            '{"query": "x", "result": "a\\nb\\u00e9", "success": true}', '{"output": "no rule", "metadata": {"exit_code": 2, "duration_ms": 3}}',
            '{"stdout": "a", "stderr": "", "exitCode": 0}', '{"stdout": "a", "stderr": "b", "exitCode": 1}', '{"result": "a", "success": true}',
            '{"content": "x = 1\\ny = 2\\nz = 3\\nw = 4", "query": null, "metadata": {"lines": 4}}', '{"result": "' + "y" * 5_000 + '", "query": ""}',
            "Already up to date.", "1 file reformatted", 'Traceback (most recent call last):\n  File "a.py"\nStop: no\nbye', "usage: make [x]",
            "npm ERR! code 1\nnpm ERR! missing script", "thread panicked at src/a.py:\nno", "test a_error ... ok\nFAILED src/a.py", "make: x: not found",
            '{"a": "' + "x" * 900 + '", "b": [' + ", ".join(map(str, range(900))) + "]}", '{"a": 1}\n' * 400, json.dumps(["y" * 99] * 99),
            "[Request interrupted by user]", "-----BEGIN PRIVATE KEY-----\nMII\n-----END PRIVATE KEY-----", None,
            [{"query": "x", "result": "a\nb", "success": True}], [{"query": "x", "result": "a"}, {"query": "y", "result": "b"}], [{"text": "{}"}],
        )
    ),
)  # fmt: skip
PATCHES = st.sampled_from(
    (
        "*** Begin Patch\n*** Update File: src/a.py\n@@\n-def f():\n+def g():\n*** Delete File: b.rs\n*** End Patch",
        "--- a/b.rs\n+++ b/b.rs\n@@ -1 +1 @@\n-x\n+y\n", "*** Begin Patch\n*** Add File: n.py\n+# A\n*** End Patch",
        "*** Begin Patch\n*** Update File: b.rs\n*** Move to: c.rs\n@@\n-# A\n+# B\n*** Add File: src/a.py\n+# A\n*** End Patch",
    )
)  # fmt: skip


def plan(text: str, state: str) -> dict[str, Any]:
    return {"todos": [{"content": text, "status": state}, {"content": "next", "status": "pending"}]}


def calls(number: int) -> st.SearchStrategy[list[dict[str, Any]]]:
    """A call of a coding agent, with its result."""
    name = f"t{number}"

    def called(
        tool: str, arguments: st.SearchStrategy[Any]
    ) -> st.SearchStrategy[list[dict[str, Any]]]:
        return st.builds(turn, st.just(tool), arguments, RESULTS, st.just(name))

    return st.one_of(
        st.builds(bash, COMMANDS, RESULTS, st.just(name)),
        st.builds(read, PATHS, RESULTS, st.just(name)),
        st.builds(edit, PATHS, TEXTS, TEXTS, st.just(name)),
        st.builds(write, PATHS, TEXTS, st.just(name)),
        called("apply_patch", st.fixed_dictionaries({"input": PATCHES})),
        called("Read", st.fixed_dictionaries({"file_path": PATHS, "offset": st.integers(0, 9), "limit": st.just(5)})),
        called("str_replace_editor", st.fixed_dictionaries({"command": st.just("insert"), "path": PATHS, "insert_line": st.integers(0, 9), "new_str": TEXTS, "file_text": TEXTS})),
        called("WebFetch", st.fixed_dictionaries({"url": PATHS})),
        called("TaskCreate", st.fixed_dictionaries({"subject": TEXTS})),
        called("TodoWrite", st.builds(plan, TEXTS, st.sampled_from(("completed", "in_progress", "x")))),
        called("TaskUpdate", st.fixed_dictionaries({"taskId": st.just("1"), "subject": TEXTS, "status": st.just("done")})),
        called("AskUserQuestion", st.fixed_dictionaries({"questions": st.lists(st.fixed_dictionaries({"question": TEXTS}), max_size=2)})),
        called("Grep", st.fixed_dictionaries({"pattern": TEXTS, "path": PATHS})),
        called("helper", st.fixed_dictionaries({"prompt": LONG_TEXTS})),
        st.builds(lambda text: [{"role": "user", "content": text}], TEXTS | CLIENTS),
        called("exec", st.fixed_dictionaries({"input": TEXTS, "n": st.sampled_from((1, None, {"b": 1, "a": [2]}))})),
        st.builds(lambda text: [{"role": "assistant", "content": text}], TEXTS),
    )  # fmt: skip


CLIENTS = st.sampled_from(
    (
        "<command-name>/clear</command-name>", "<command-message>a</command-message>\n<command-name>/a</command-name>\n<command-args>b</command-args>",
        "<user_query>\nGo on.\n</user_query>", "<task>x", "Base directory for this skill: /a\n\nDo.", "<skill>a</skill>", "<environment_context>",
    )
)  # fmt: skip
WORK = (
    st.integers(1, 25)
    .flatmap(lambda count: st.tuples(*map(calls, range(count))))
    .map(lambda parts: join(*parts))
)
HANDED = st.builds(
    carry_policy,
    total=st.one_of(st.integers(0, 600), st.integers(150, 4_000), st.integers(150, 30_000)),
    counts_tokens=st.booleans(),
    layout=st.just("handover"),
    encoding=st.sampled_from(("o200k_base", "cl100k_base")),
    keep=st.sampled_from(("auto", "head", "tail", "ends")),
    max_result_chars=result_limits,
    rules=rule_sets(st.none() | result_limits),
    framing=st.booleans(),
    include_summary=st.booleans(),
    include_failed=st.booleans(),
    include_interrupted=st.booleans(),
)


COMMANDS = st.lists(
    st.sampled_from([
        "a.py", "/w/a.py", "./a.py", "*.py", "$X/a.py", "of=a.py", "C:/x/é.py", "sed -i s/1/2/ ", "cat ", "cp ", "xargs ",
        "git pull", "git -C /w stash", "git checkout -- a.py", "git commit -m ", "cd /w && ", " && ", "; ", "|", "&", " > ",
        "<<'EOF'\n", "\nEOF\n", "<<", "'", '"', "\\", " ", "\n",
    ]), max_size=12,
).map("".join)  # fmt: skip
PRINTED = st.sampled_from([
    "", "Already up to date.", "error: pathspec x", "Fast-forward\n a.py | 2 +-\n 1 file changed",
    "Fast-forward\n {x => w}/a.py | 1\n ...é/b.py | 2\n 2 files changed",
])  # fmt: skip


@examples(1_000)
@given(st.lists(st.tuples(COMMANDS, PRINTED), min_size=1, max_size=3))
def test_any_commands(both: Both, ran: list[tuple[str, str]]) -> None:
    reads = [read(path, "1\tx = 1\n2\ty = 2", path) for path in ("a.py", "/w/é.py", "/home/x/a.py")]
    commands = [bash(command, printed, str(n)) for n, (command, printed) in enumerate(ran)]
    check(both, join(*reads, *commands), "", CarryPolicy(layout="handover"))


@examples(400)
@given(messages=WORK, summary=summaries, policy=HANDED)
def test_work_on_files(both: Both, messages: list[Any], summary: str, policy: CarryPolicy) -> None:
    check(both, messages, summary, policy)


@examples(800)
@given(messages=transcripts, summary=summaries, policy=HANDED)
def test_any_conversation(
    both: Both, messages: list[Any], summary: str, policy: CarryPolicy
) -> None:
    check(both, messages, summary, policy)


HOSTILE = {
    "one line": lambda size: bash("cat big", "x" * size),
    "a line of words": lambda size: bash("cat big", "error in line 7 " * (size // 16)),
    "line feeds": lambda size: bash("cat big", "\n" * size),
    "fences": lambda size: bash("cat big", "```\n~~~~\n" * (size // 9)),
    "blocks": lambda size: bash("cat big", "<system-reminder>\n" * (size // 18)),
    "keys": lambda size: bash("cat big", "-----BEGIN PRIVATE KEY-----\n" * (size // 28)),
    "numbered": lambda size: read("a.py", "".join([f"{number}\tx\n" for number in range(size // 8)])),
    "edits": lambda size: join(*[edit("a.py", "a", "b" * 50, f"t{number}") for number in range(size // 500)]),
    "commands": lambda size: join(*[bash(f"rm -r d{number}/x", "", f"t{number}") for number in range(size // 500)]),
    "equal": lambda size: join(*[bash("ls", "a", f"t{number}") for number in range(size // 500)]),
    "escapes": lambda size: bash("cat big", "\x1b]" * (size // 2)),
    "surrogates": lambda size: bash("cat \ud800", "\udfff\n" * (size // 2)),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_hostile_input(both: Both, name: str) -> None:
    size = 1_000_000 if IS_LONG else 50_000
    messages = join(HOSTILE[name](size), bash("make", "done", "last"))
    for total in (150, 2_000, 30_000) if IS_LONG else (150, 30_000):
        policies = [
            CarryPolicy(layout="handover", max_tokens=total),
            CarryPolicy(layout="handover", max_chars=total),
        ]
        check(both, messages, "", *policies)
