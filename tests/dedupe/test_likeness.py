"""Results in which no known word says that the tool failed: which leave an older success standing."""

from types import ModuleType
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from support.builders.wire import bash, join, read, turn, write
from support.rows import for_each

from toolcarry import CarryPolicy, ProjectPolicy, Rule
from toolcarry.api.context import check_rules

CODE = "def greet():\n    return 'hello'\n" * 12
NUMBERED = "".join(f"{line:6}\u2192x_{line} = {line}\n" for line in range(1, 40))
TESTS = "tests/test_a.py ..F.\n" + "E   assert 1 == 2\n" * 20 + "1 failed, 3 passed in 0.31s\n"
STATUS = """On branch main
Changes not staged for commit:
  (use "git add <file>..." to update what will be committed)
\tmodified:   a.py

no changes added to commit (use "git add" and/or "git commit -a")
"""
SAYINGS = [
    "[System: Tool execution skipped/interrupted by user. No result provided for tool 'x'.]",
    "Tool execution was interrupted before completion.",
    "The tool call was interrupted before a result was produced.",
    '1 validation error:\n```json\n[{"type":"missing","loc":["path"]}]\n```\n\nFix the errors.',
    "aborted",
    "aborted by user after 3.2s",
    "[Operation Cancelled] Reason: User did not allow tool call",
    "The user has declined to run this tool. DO NOT attempt to call this tool again.",
    "File does not exist.",
    "[Errno 2] No such file or directory: 'a.py'",
    "FileNotFoundError: [Errno 2] No such file or directory: 'a.py'",
    "Permission denied",
    "The tool call timed out after 30 seconds",
    "The path /w/a.py does not exist. Please provide a valid path.",
    "Could not read file: a.py",
    "<error>File not found</error>",
    "Fehler: Datei nicht gefunden: a.py",
    "Die Ausf\u00fchrung wurde vom Benutzer abgebrochen.",
    "\u6587\u4ef6\u4e0d\u5b58\u5728",
    "\u64cd\u4f5c\u5df2\u88ab\u7528\u6237\u53d6\u6d88\u3002",
    "\u0414\u043e\u0441\u0442\u0443\u043f \u0437\u0430\u043f\u0440\u0435\u0449\u0451\u043d",
    "\u30d5\u30a1\u30a4\u30eb\u304c\u898b\u3064\u304b\u308a\u307e\u305b\u3093",
    "HTTP 404",
    "exit status 1",
    "502 Bad Gateway",
    "rate limit exceeded, retry in 20s",
    "nope",
    '{"message": "quota exceeded"}',
]


def kept(api: ModuleType, *turns: list[Any], rules: Any = ()) -> list[str]:
    """Return the ids of the blocks that stay."""
    blocks = api.extract_tool_blocks(join(*turns))
    return [block.call_id for block in api.deduplicate_tools(blocks, rules=rules)]


def runs(*results: str, command: str = "pytest a.py") -> list[list[Any]]:
    return [bash(command, text, str(number)) for number, text in enumerate(results)]


def reads(*results: str) -> list[list[Any]]:
    return [read("a.py", text, str(number)) for number, text in enumerate(results)]


@for_each("saying", SAYINGS)
def test_a_short_text_unlike_the_last_success_leaves_it_standing(
    api: ModuleType, saying: str
) -> None:
    for older in (CODE, NUMBERED, TESTS, STATUS, "4 passed in 0.31s", "hello world\n"):
        for turns in (runs(older, saying), reads(older, saying)):
            assert kept(api, *turns) == ["0", "1"], older
            carried = api.carry(join(*turns)).text
            assert older.strip() in carried
            assert saying in carried


@for_each("saying", SAYINGS)
def test_a_projection_keeps_the_last_success(rust: ModuleType, saying: str) -> None:
    for turns in (runs(CODE, CODE, saying), reads(CODE, CODE, saying)):
        messages = join(*turns)
        projected = rust.project(messages, policy=ProjectPolicy()).messages
        assert projected[-3:] == messages[-3:]
        assert "superseded" in str(projected[1])


SHORT_ANSWERS = [
    ("2 failed, 1 passed", "3 passed"),
    ("1 failed", "2 passed"),
    (TESTS, "....\n4 passed in 0.30s\n"),
    (STATUS, "On branch main\nnothing to commit, working tree clean\n"),
    (" M a.py\n?? b.py\n", ""),
    (" M a.py\n?? b.py\n", "(no output)"),
    (
        "a.py:1: error: Name not defined\nFound 3 errors in 1 file (checked 2 source files)",
        "Success: no issues found in 2 source files",
    ),
    ("total 8\n-rw-r--r-- 1 root root 5 Nov 1 10:00 a.py\n", "total 0\n"),
    ("a.py\nb.py\nc.py\n" * 40, "a.py\n"),
    ('{"rows": [1, 2, 3], "total": 3}', '{"rows": [], "total": 0}'),
    ('{"status": "queued", "rows": []}' + " " * 900, '{"error": null}'),
    ("pending", "done"),
    ("Mon Nov  3 10:00:00 UTC 2026", "Tue Dec  4 11:00:00 UTC 2026"),
    (CODE, "17"),
    (CODE, "Exit code: 0\nWall time: 1 seconds\nOutput:\nall is well"),
    (CODE, "all is well\n[exit 0]"),
    ("3 \u4e2a\u6d4b\u8bd5\u5931\u8d25,1 \u4e2a\u901a\u8fc7", "4 \u4e2a\u6d4b\u8bd5\u901a\u8fc7"),
    ("BUILD FAILED in 3s\n5 actionable tasks", "BUILD SUCCESSFUL in 2s\n5 actionable tasks"),
]


@for_each(("older", "newer"), SHORT_ANSWERS)
def test_a_short_answer_of_the_same_kind_supersedes(
    api: ModuleType, older: str, newer: str
) -> None:
    assert kept(api, *runs(older, newer)) == ["1"]


@for_each(
    ("older", "newer"),
    [
        (CODE, "def greet():\n    pass\n"),
        ("import os\nimport sys\n\n" + CODE, "import os\n\nprint('new')\n"),
        (NUMBERED, "     1\u2192import everything from here\n"),
        ("1\tone\n" * 30, "1\tpass"),
        ("key = 1\n" * 50, "key = 2\n"),
    ],
)
def test_a_file_that_became_short_supersedes(api: ModuleType, older: str, newer: str) -> None:
    assert kept(api, *reads(older, newer)) == ["1"]


def test_a_read_that_shows_what_was_written_is_certain(api: ModuleType) -> None:
    written = write("a.py", "VERSION = [1, 2]\n", "w")
    short = read("a.py", "VERSION = [1, 2]\n", "n")
    assert kept(api, *reads(CODE), written, short) == ["w", "n"]
    assert kept(api, *reads(CODE), short) == ["0", "n"]
    denied = read("a.py", "Zugriff auf die Datei verweigert", "n")
    assert kept(api, *reads(CODE), written, denied) == ["0", "w", "n"]
    assert kept(api, written, denied, rules="careful") == ["w", "n"]
    assert kept(api, written, short, rules="careful") == ["n"]


def test_a_flag_is_certain(api: ModuleType) -> None:
    turns = [*reads(CODE, "Zugriff verweigert")]
    turns[1][-1]["content"][0]["is_error"] = False
    assert kept(api, *turns) == ["1"]


def test_a_message_of_a_range_leaves_the_lines_standing(api: ModuleType) -> None:
    part = read("a.py", CODE, "p", offset=5, limit=20)
    assert kept(api, part, *reads("Zugriff verweigert")) == ["p", "0"]
    denied = read("a.py", "Zugriff verweigert", "d", offset=1, limit=90)
    assert kept(api, part, denied) == ["p", "d"]


def test_the_first_success_is_no_message_that_nothing_was_done(api: ModuleType) -> None:
    texts = {"a": "Zugriff auf die Datei verweigert", "b": CODE, "c": CODE}
    turns = [turn("f", {"q": "x"}, text, call_id) for call_id, text in texts.items()]
    rules = (Rule("f", kind="other", key="q", keep="first"),)
    assert kept(api, *turns, rules=rules) == ["a", "b"]


def test_arguments_stay_if_the_read_after_them_may_have_failed(rust: ModuleType) -> None:
    turns = [write("a.py", CODE, "w"), *reads("Zugriff verweigert")]
    turns += [bash("ls", "", f"l{number}") for number in range(4)]
    policy = ProjectPolicy(clear_tool_inputs=True)
    assert rust.project(join(*turns), policy=policy).messages == join(*turns)


def test_a_call_whose_answers_always_differ_keeps_a_few(api: ModuleType) -> None:
    letters = "abcdefghijklmnopqrstuvwxyz"
    texts = [f"{one}{two}{one} {two}{one}{one}" for one in letters for two in letters]
    assert len(kept(api, *runs(*texts))) == 9


answers = st.sampled_from([CODE, CODE + "x = 1\n", CODE * 2])


@given(
    results=st.lists(answers, min_size=1, max_size=3),
    sayings=st.lists(st.sampled_from(SAYINGS), max_size=6),
    is_read=st.booleans(),
)
def test_no_saying_hides_the_last_success(
    api: ModuleType, results: list[str], sayings: list[str], is_read: bool
) -> None:
    turns = (reads if is_read else runs)(*results, *sayings)
    stay = kept(api, *turns)
    assert stay[0] == str(len(results) - 1)
    assert len(stay) <= 1 + len(set(sayings))
    text = api.carry(join(*turns), policy=CarryPolicy()).text
    assert results[-1].strip() in text


odd = st.one_of(
    st.sampled_from([*SAYINGS, *(text for pair in SHORT_ANSWERS for text in pair), NUMBERED]),
    st.text(st.sampled_from("aZ0_ \n\t|:\u2192\u00c0\u00df\u0130\u1e9e\u3042\u6587\ud800\uffff\U0001f600\x1f\x85\xa0"), max_size=30),
    st.text(max_size=12),
    st.lists(st.sampled_from(["one", "1", "\n", "two ", "a.py", "\u4e00", "[toolcarry: "]), max_size=700).map(" ".join),
)  # fmt: skip


@given(
    turns=st.lists(st.tuples(st.sampled_from(["read", "edit", "run"]), odd, odd), max_size=8),
    rules=st.sampled_from([(), "careful", (Rule("*", key="command", keep="first"),)]),
)
def test_both_backends_agree(both: Any, turns: list[tuple[str, str, str]], rules: Any) -> None:
    parts = []
    for number, (kind, text, written) in enumerate(turns):
        name = str(number)
        if kind == "edit":
            parts.append(write("a.py", written, name))
        else:
            parts.append(read("a.py", text, name) if kind == "read" else bash("a.py b", text, name))
    blocks = both[0].extract_tool_blocks(join(*parts))
    stay = [backend.deduplicate_tools(blocks, check_rules(rules)) for backend in both]
    assert [block.call_id for block in stay[0]] == [block.call_id for block in stay[1]]
