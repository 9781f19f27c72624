"""Texts are shortened by what they are: their lines with gaps, errors first, or JSON."""

import json
import re
from importlib import resources
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.builders import wire
from support.builders.handovers import FILLER, word
from support.examples import examples
from support.rows import for_each
from support.shortening import ERROR, MARKER, check_both_carry, lines_of, projected, sent
from support.strategies.texts import many

from toolcarry import ConfigError, ProjectPolicy, count_tokens
from toolcarry.types.policy import CONTENT_KINDS

PASSING = {
    "pytest": "tests/test_mod.py::test_error_{} PASSED [ 12%]",
    "cargo test": "test module::error_{} ... ok",
    "go test ./...": "--- PASS: TestError{} (0.00s)",
    "npx jest": "    \u2713 handles errors {} (2 ms)",
    "make": "gcc -O2 -c -o obj/file_{0}.o src/file_{0}.c",
    "npx tsc": "src/file_{}.ts compiled",
    "mvn test": "[INFO] Downloading artifact {}",
    "npm run build": "bundled module {}",
}
FAILURES = {
    "pytest": ["=== test session starts ===", "E       AssertionError: assert 1 == 2", "FAILED tests/test_a.py::test_b", "=== 1 failed, 400 passed in 3.1s ==="],
    "cargo test": ["test parse::odd ... FAILED", "thread 'parse::odd' panicked at src/parse.rs:3:5:", "test result: FAILED. 400 passed; 1 failed"],
    "go test ./...": ["--- FAIL: TestOdd (0.00s)", "    odd_test.go:7: got 1, want 2", "FAIL\texample.org/odd\t0.1s"],
    "npx jest": ["  \u25cf suite \u203a is odd", "    Error: expected 1 to be 2", "Tests:       1 failed, 400 passed, 401 total"],
    "make": ["src/odd.c:3:5: error: expected ';' before 'return'", "make: *** [Makefile:3: odd.o] Error 1"],
    "npx tsc": ["src/odd.ts(3,5): error TS2322: Type 'string' is not assignable to type 'number'.", "Found 1 error in src/odd.ts:3"],
    "mvn test": ["[ERROR] OddTest.odd:7 expected:<1> but was:<2>", "[INFO] BUILD FAILURE"],
    "npm run build": ["npm ERR! code ELIFECYCLE", "npm ERR! Exit status 1"],
}  # fmt: skip


@for_each("command", FAILURES)
def test_failures_and_the_summary_of_a_run_are_shown(rust: ModuleType, command: str) -> None:
    passing = [PASSING[command].format(number) for number in range(400)]
    failures = FAILURES[command]
    lines = [*passing[:200], *failures[:-1], *passing[200:], failures[-1]]
    shown = projected(rust, command, "\n".join(lines), max_result_tokens=300)
    assert count_tokens(shown) <= 300
    found = lines_of(shown)
    assert set(failures) <= set(found) <= set(lines)
    assert [line for line in lines if line in set(found)] == found


def test_passing_lines_are_folded_with_a_count(rust: ModuleType) -> None:
    passing = [f"test module::case_{number} ... ok" for number in range(300)]
    text = "\n".join(["running 301 tests", *passing, "test odd ... FAILED", "test result: FAILED."])
    shown = projected(rust, "cargo test", text, max_result_chars=2_000)
    assert shown.split("\n")[:3] == [
        "running 301 tests",
        "... 300 passing lines",
        "test odd ... FAILED",
    ]


def test_blank_lines_between_errors_are_no_gaps(rust: ModuleType) -> None:
    errors = [f"error: cannot find module number_{number}" for number in range(200)]
    shown = projected(rust, "bun install", "\n\n".join(errors), max_result_chars=1_000)
    assert re.sub(r"\.\.\. [0-9]+ lines", "GAP", shown).count("GAP") == 1
    assert "... 1 " not in shown
    assert 500 < len(shown) <= 1_000


def test_colours_and_progress_are_taken_out_first(rust: ModuleType) -> None:
    bar = "".join(f"\r\x1b[32m{percent} %\x1b[0m" for percent in range(100))
    passing = [f"test case_{number} ... ok" for number in range(300)]
    text = "\n".join([f"downloading {bar}", "\x1b[31merror: no such thing\x1b[0m   ", *passing])
    shown = projected(rust, "cargo test", text, max_result_chars=600)
    assert shown.split("\n")[:2] == ["99 %", "error: no such thing"]


def test_a_log_shows_its_first_and_last_error_and_folds_what_is_similar(rust: ModuleType) -> None:
    lines = [
        f"2026-01-01T00:00:{number % 60:02} INFO request {number} done" for number in range(2_000)
    ]
    lines[700] = "2026-01-01T00:00:10 ERROR db: connection lost"
    lines[701] = "  at pool.acquire (pool.js:3)"
    lines[1_500] = "2026-01-01T00:00:20 ERROR queue: full"
    shown = projected(rust, "tail -n 2000 app.log", "\n".join(lines), max_result_tokens=300)
    assert {lines[700], lines[701], lines[1_500], lines[0], lines[-1]} <= set(lines_of(shown))
    assert "similar lines" in shown


def test_a_diff_shows_its_headers_and_changes_before_its_context(rust: ModuleType) -> None:
    hunks = [
        [f"@@ -{number},9 +{number},9 @@", *[f" context {number} {line}" for line in range(20)], f"-old {number}", f"+new {number}"]
        for number in range(10)
    ]  # fmt: skip
    lines = [
        "diff --git a/x.py b/x.py",
        "--- a/x.py",
        "+++ b/x.py",
        *(line for hunk in hunks for line in hunk),
    ]
    found = lines_of(projected(rust, "git diff", "\n".join(lines), max_result_chars=1_500))
    assert all(f"-old {number}" in found and f"+new {number}" in found for number in range(10))


TRACES = {
    "python app.py": ["Traceback (most recent call last):", '  File "app.py", line 3, in <module>', "ValueError: too small"],
    "node app.js": ["TypeError: x is not a function", "    at main (app.js:3:5)", "    at node:internal/main:7:1"],
    "java App": ['Exception in thread "main" java.lang.IllegalStateException: closed', "\tat App.main(App.java:3)", "Caused by: java.io.IOException: gone"],
    "go run .": ["panic: index out of range [3] with length 2", "goroutine 1 [running]:", "main.main()"],
    "dotnet run": ["Unhandled exception. System.InvalidOperationException: closed", "   at App.Main() in App.cs:line 3"],
    "ruby app.rb": ["app.rb:3:in `main': undefined method `x' for nil (NoMethodError)", "\tfrom app.rb:7:in `<main>'"],
    "php app.php": ["PHP Fatal error:  Uncaught TypeError: x must be int in app.php:3", "#0 app.php(7): main()"],
    "./target/app": ["thread 'main' panicked at src/main.rs:3:5:", "called `Option::unwrap()` on a `None` value"],
}  # fmt: skip


@for_each("command", TRACES)
@pytest.mark.parametrize("after", [0, 10, 400])
def test_a_trace_is_shown_with_its_frames(rust: ModuleType, command: str, after: int) -> None:
    noise = [f"item {number} of the list: value {number * number}" for number in range(400 + after)]
    lines = [*noise[:400], *TRACES[command], *noise[400:]]
    if after == 400 and command == "./target/app":
        return  # only the ends of an unknown command's output are looked at
    shown = lines_of(projected(rust, command, "\n".join(lines), max_result_tokens=300))
    assert set(TRACES[command]) <= set(shown) <= set(lines)


def test_a_page_shows_its_headings_and_text_before_its_markup(rust: ModuleType) -> None:
    head = ["<!DOCTYPE html>", "<html>", "<head>", "<title>Orders</title>"]
    markup = [f'<link rel="x" href="{number}.css">' for number in range(200)]
    body = [
        "<h1>Orders of today</h1>",
        *[f"<p>Order {number} was sent.</p>" for number in range(9)],
    ]
    rest = [f'  <div class="row-{number}">' for number in range(200)]
    text = "\n".join([*head, *markup, *body, *rest, "</html>"])
    shown = lines_of(projected(rust, "curl -s example.org", text, max_result_chars=900))
    assert {"<title>Orders</title>", *body} <= set(shown)


@pytest.mark.parametrize("corner", ["\u253c", "-+-"])
def test_a_table_shows_its_total_and_no_rules(rust: ModuleType, corner: str) -> None:
    rule = corner.join(["\u2500" * 12 if corner == "\u253c" else "-" * 12] * 3)
    rows = [f" day {number:>3}     | {number * 7:>12} | {number:>10}" for number in range(120)]
    lines = [" day         | tokens       | cost", *[line for row in rows for line in (rule, row)], rule, " Total       |       49,980 |      7,140"]  # fmt: skip
    shown = lines_of(projected(rust, "usage", "\n".join(lines), max_result_chars=900))
    assert shown[0] == lines[0]
    assert shown[-1] == lines[-1]
    assert rule not in shown
    assert {rows[0], rows[-1]} <= set(shown)


@pytest.mark.parametrize("indent", [None, 2])
def test_json_stays_json_with_its_keys_and_errors(rust: ModuleType, indent: int | None) -> None:
    value = {
        "stdout": "line \u00e9\n" * 5_000,
        "items": [{"id": number, "status": "ok"} for number in range(500)]
        + [{"id": 7, "error": "boom"}],
        "nested": {"exitCode": 3, "none": None, "share": 1.50},
    }
    shown = projected(rust, "curl rust", json.dumps(value, indent=indent), max_result_tokens=300)
    assert count_tokens(shown) <= 300
    found = json.loads(shown)
    assert list(found) == [*value, "toolcarry"]
    assert MARKER.fullmatch(found["toolcarry"])
    assert found["nested"] == value["nested"]
    assert {"id": 7, "error": "boom"} in found["items"]
    assert re.search(r"\.\.\. [0-9,]+ more characters \.\.\.", found["stdout"])
    assert any(re.fullmatch(r"\.\.\. [0-9,]+ more items", str(item)) for item in found["items"])


def test_a_list_of_json_ends_with_the_marker(rust: ModuleType) -> None:
    shown = json.loads(projected(rust, "x", json.dumps(list(range(9_000))), max_result_chars=300))
    assert shown[:3] == [0, 1, 2]
    assert MARKER.fullmatch(shown[-1])


def test_lines_of_json_are_items(rust: ModuleType) -> None:
    """Those of a tool, whose first ones matter most; the output of a command has its newest lines at its end."""
    rows = [json.dumps({"id": n, "state": "ok", "share": 1.50}) for n in range(400)]
    rows[300] = json.dumps({"id": 300, "state": "Error: no room"})
    text = "\n".join(rows) + "\n"
    lines = sent(rust, wire.turn("query", {}, text, "t1"), text, max_result_tokens=300).split("\n")
    found = [json.loads(line) for line in lines]
    assert {rows[0], rows[1], rows[300]} < set(lines)
    assert MARKER.fullmatch(found[-1])
    assert all(
        line in rows or re.fullmatch(r'"\.\.\. [0-9]+ more items"', line) for line in lines[:-1]
    )
    printed = projected(rust, "./run", text, max_result_tokens=300)
    assert rows[-1] in printed.split("\n")
    for odd in ("\n".join([*rows, "{"]), " ".join(rows), "\n".join([*rows, "1"])):
        cut = sent(rust, wire.turn("query", {}, odd, "t1"), odd, max_result_tokens=300)
        assert '"[toolcarry' not in cut


@for_each(
    ("command", "text"),
    [
        ("cat notes", FILLER),
        ("./a.out", "".join(f"7 passed along {word(n)}\n" for n in range(500))),
        ("cat x.json", '{"a": [1, 2, ' + "3, " * 2_000),
    ],
)
def test_an_unknown_text_is_cut_as_any_other(rust: ModuleType, command: str, text: str) -> None:
    settings = {"max_result_chars": 500}
    shown = projected(rust, command, text, **settings)
    assert shown == projected(rust, command, text, content="off", **settings)
    assert "shortened" not in shown


def test_a_file_is_read_for_its_lines_whatever_it_holds(rust: ModuleType) -> None:
    text = "\n".join(
        ["Traceback (most recent call last)", *[f"line {n}" for n in range(500)], "ValueError: x"]
    )
    messages = wire.read("trace.txt", text, "t1")
    kinds = tuple(kind for kind in CONTENT_KINDS if kind != "lines")
    for content, reason in (("auto", "shortened"), (kinds, "cut")):
        found = rust.project(messages, policy=ProjectPolicy(max_result_chars=300, content=content))
        assert found.messages[1]["content"][0]["content"].startswith(text[:100])
        assert found.report.replacements[0].reason == reason


def test_an_unknown_text_is_shown_by_its_end_errors_and_new_words(rust: ModuleType) -> None:
    text = "\n".join(
        [
            *[f"value {word(n)}" for n in range(100)],
            "the only mention of connection_pool",
            *[f"value {word(n)}" for n in range(100)],
            "an error here",
            *[f"value {word(n)}" for n in range(100)],
        ]
    )
    shown = projected(rust, "./a.out", text, max_result_chars=300).split("\n")
    assert shown[0] == f"value {word(0)}"
    assert shown[-2] == f"value {word(99)}"
    assert "an error here" in shown
    assert "the only mention of connection_pool" in shown
    rest = iter(text.split("\n"))
    assert all(line in rest for line in shown[:-1] if line != "...")
    assert "connection_pool" not in projected(
        rust, "./a.out", text, max_result_chars=300, content="off"
    )


new_words = st.sampled_from(
    ("x = 1", "import", "connection_pool", "connection_pool.py:12", "error", "\u00e9t\u00e9s_longs", "\u4e2d" * 7,
     " ", "    ", "\n", "\n", "}", "a/long/path/name.py", "7", "\t12\t", "return", "\r\n", "\U0001f600")
)  # fmt: skip


@examples(600)
@given(
    text=st.lists(new_words, max_size=120).map("".join),
    keep=st.sampled_from(("auto", "head", "tail", "ends")),
    tool=st.sampled_from((wire.bash, wire.read)),
    unit=st.sampled_from(("max_result_chars", "max_result_tokens")),
    room=st.integers(30, 500),
)
def test_both_backends_choose_the_same_new_lines(
    rust: ModuleType, text: str, keep: str, tool: Any, unit: str, room: int
) -> None:
    messages = tool("a.out", text * 3, "t1")
    settings: Any = {unit: room, "keep": keep}
    policy = ProjectPolicy(**settings)
    check_both_carry(messages, **settings)
    one = rust.project(messages, policy=policy)
    assert rust.project(one.messages, policy=policy).messages == one.messages
    longer = wire.join(messages, wire.bash("ls", "a.py", "t2"))
    later = rust.project(longer, policy=policy, previous=one.decisions)
    assert later.messages[:2] == one.messages
    found = one.messages[1]["content"][0]["content"]
    assert one.report.chars_after <= one.report.chars_before
    if one.decisions.made.get("t1", ("",))[0] == "shortened":
        rest = iter((text * 3).split("\n"))
        assert all(line in rest for line in found.split("\n")[:-1] if line != "...")


def test_no_word_of_a_line_has_a_line_feed() -> None:
    table = json.loads(resources.files("toolcarry").joinpath("_data/shorten.json").read_text())
    for kind in table["kinds"]:
        for rank in ("folded", "important", "next"):
            for words in kind.get(rank, {}).values():
                assert not [word for word in words if "\n" in word or not word], kind["name"]


words_of_kinds = st.sampled_from(
    ("ok ", "FAILED", "error", "error:", "Error", " ERROR ", "INFO:", "test result: ", "@@ -", "+", "-", "diff ", "12", "7", "x",
     "\n", "\n", " ", "index ", "Traceback", "at ", "\u00e9", "=== RUN", " passed", "<title", "</", "-+-", "Total", "   ")
)  # fmt: skip


@pytest.mark.rust
@examples(600)
@given(
    text=st.lists(words_of_kinds, max_size=80).map("".join),
    command=st.sampled_from(("make", "git diff", "cat x", "python a.py")),
    room=st.integers(80, 500),
)
def test_both_backends_choose_the_same_lines(text: str, command: str, room: int) -> None:
    start = "diff --git a b\n" if command == "git diff" else ""
    messages = wire.bash(command, start + text * 5, "t1")
    check_both_carry(messages, max_result_chars=room)


def test_content_names_the_kinds(rust: ModuleType) -> None:
    text = json.dumps({"out": "word " * 1_000})
    settings = {"max_result_chars": 300}
    assert "shortened" in projected(rust, "x", text, content=["json"], **settings)
    assert "shortened" not in projected(rust, "x", text, content="off", **settings)
    assert "shortened" not in projected(rust, "x", text, content=("tests",), **settings)
    with pytest.raises(ConfigError, match="content: 'all' is not allowed"):
        ProjectPolicy(content="all")  # type: ignore[arg-type]


def test_a_shortened_result_stays_so_in_later_requests(rust: ModuleType) -> None:
    text = "\n".join(
        [f"test case_{n} ... ok" for n in range(400)]
        + ["test odd ... FAILED", "test result: FAILED."]
    )
    policy = ProjectPolicy(max_result_chars=500)
    first = rust.project(wire.bash("cargo test", text, "t1"), policy=policy)
    longer = wire.join(wire.bash("cargo test", text, "t1"), wire.bash("ls", "a.py", "t2"))
    second = rust.project(longer, policy=policy, previous=first.decisions)
    assert second.messages[:2] == first.messages
    assert second.report.cache_break_tokens == 0
    kept = rust.project(
        wire.join(first.messages, wire.bash("ls", "a.py", "t2")),
        policy=policy,
        previous=first.decisions,
    )
    assert kept.messages[:2] == first.messages
    assert kept.report.cache_break_tokens == 0


words = st.sampled_from(
    ("alpha", "beta", "ok", "1.5s", "src/a.py:3", "==", "PASSED", "done", "\u00e9\u4e2d")
)
plain = st.lists(words, min_size=1, max_size=8).map(" ".join)
errors = st.sampled_from(
    ("FAILED tests/a.py::b", "E   ValueError: bad", "error: no such file", "error[E0308]: mismatched", "npm ERR! code 1",
     "not ok 3 odd", "a.ts(1,2): error TS1005: ';' expected", "thread 'x' panicked at a.rs:1:1", "[ERROR] it broke")
)  # fmt: skip
runs = st.builds(
    lambda before, found, after: [*before, *found, *after],
    many(plain, 60, 120),
    st.lists(errors, min_size=1, max_size=4, unique=True),
    many(plain, 60, 120),
)


@given(
    source=st.sampled_from(("make check", "./a.out", "a file")),
    lines=runs,
    tokens=st.integers(300, 600),
)
def test_errors_are_shown_and_all_lines_are_those_of_the_text(
    rust: ModuleType, source: str, lines: list[str], tokens: int
) -> None:
    """Also those of a file, and of a command whose output is of no known kind."""
    text = "\n".join(lines)
    is_file = source == "a file"
    messages = wire.read("a.txt", text, "t1") if is_file else wire.bash(source, text, "t1")
    shown = sent(rust, messages, text, max_result_tokens=tokens)
    if shown == text:
        return
    found = lines_of(shown)
    assert count_tokens(shown) <= tokens
    assert {line for line in lines if ERROR.search(line)} <= set(found)
    rest = iter(lines)
    assert all(line in rest for line in found)
