"""The side-effect classifier on both backends: the table of cases, and what holds for any text."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.rows import for_each

TABLE = Path(__file__).parents[1] / "cases" / "shell.txt"
LINES = TABLE.read_text(encoding="utf-8").split("\n")
CASES = [
    (json.loads(line[2:]), line[0] == "W") for line in LINES if line and not line.startswith("#")
]
WRITING = [command for command, writes in CASES if writes]

any_backend = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
pieces = st.sampled_from(
    [
        *("'", '"', "`", "$(", "${", "((", "$((", "(", ")", "}", "{", "[[", "]]", "\\", "#", "\n"),
        *(" ", ";", ";;", "&", "|", "<", ">", "<<", "<<EOF\n", "\nEOF\n", "<<<", "case x in", "é"),
        *("rm", "ls", "sudo", "bash -c", "eval", "find", "-exec", "\ud800", "X=1", "git", "tag"),
    ]
)
texts = st.text() | st.lists(pieces).map("".join) | st.lists(pieces).map(" ".join)


@for_each(("command", "writes"), CASES)
def test_table(backend: Any, command: str, writes: bool) -> None:
    assert backend.has_side_effects(command) is writes


def test_the_table_is_large_and_says_nothing_twice() -> None:
    commands = [command for command, _ in CASES]
    assert len(commands) >= 180
    assert len(set(commands)) == len(commands)


@any_backend
@given(text=texts)
def test_any_text_has_an_answer(backend: Any, text: str) -> None:
    assert backend.has_side_effects(text) in (True, False)


@any_backend
@given(text=texts)
def test_lone_surrogates_count_as_replacement_characters(backend: Any, text: str) -> None:
    replaced = "".join("\ufffd" if "\ud800" <= letter <= "\udfff" else letter for letter in text)
    assert backend.has_side_effects(text) == backend.has_side_effects(replaced)


@any_backend
@given(command=st.sampled_from(WRITING))
def test_a_quoted_command_reads(backend: Any, command: str) -> None:
    quoted = "'" + command.replace("'", "'\\''") + "'"
    assert not backend.has_side_effects("echo " + quoted)


@any_backend
@given(command=st.sampled_from([command for command in WRITING if "\r" not in command]))
def test_a_shell_runs_a_quoted_command(backend: Any, command: str) -> None:
    quoted = "'" + command.replace("'", "'\\''") + "'"
    assert backend.has_side_effects("bash -c " + quoted)
    assert backend.has_side_effects("eval " + quoted)
    assert backend.has_side_effects("bash <<'THE END'\n" + command + "\nTHE END\n")


@any_backend
@given(text=texts)
def test_a_comment_and_a_quoted_body_read(backend: Any, text: str) -> None:
    assert not backend.has_side_effects("ls # " + text.replace("\n", " "))
    assert not backend.has_side_effects("cat <<'THE END'\n" + text + "\nTHE END\nls")


@any_backend
@given(command=st.sampled_from(WRITING))
def test_a_prefix_does_not_hide_a_writing_command(backend: Any, command: str) -> None:
    assert backend.has_side_effects("ls && cat <<'EOF' 2>&1 | grep x\nit's $(\nEOF\n" + command)
    assert backend.has_side_effects(
        "echo \"it's\" 'a \"b' $'c\\'' `ls` $(ls) ${a:-\"}\"}\n" + command
    )


def test_too_deep_nesting_counts_as_reading(backend: Any) -> None:
    assert backend.has_side_effects("$(" * 50 + "rm a" + ")" * 50)
    assert not backend.has_side_effects("$(" * 500 + "rm a" + ")" * 500)
    assert backend.has_side_effects("sudo " * 10 + "rm a")
    assert not backend.has_side_effects("sudo " * 50 + "rm a")
    assert backend.has_side_effects("eval " * 10 + "rm a")
    assert not backend.has_side_effects("eval " * 50 + "rm a")


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece",
    [
        " ",
        "a",
        "'",
        '"',
        "`",
        "(",
        "((",
        ")",
        "$(",
        "${",
        ";",
        "|",
        "\\",
        "<<a",
        "<<a\n",
        "a=(",
        "é",
    ],
)
def test_time_is_linear(backend: Any, piece: str) -> None:
    """A million characters of anything: seconds would be minutes if it were not."""
    text = piece * (1_000_000 // len(piece))
    start = time.perf_counter()
    backend.has_side_effects(text)
    assert time.perf_counter() - start < 20
