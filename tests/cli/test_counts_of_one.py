"""Every command uses the singular when it counts one of something."""

from __future__ import annotations

import pytest

from toolcarry.tract import Tract

pytestmark = pytest.mark.usefixtures("rust")

BODY = b'[{"role": "user", "content": "x"}]'


def test_of_a_file(run, write):
    path = write("a.json", ("Read", {"file_path": "/a.py"}, "x"))
    done = run("project", path, "--max-request-tokens", "0")
    first, second, third = done.stderr.decode().splitlines()
    assert " of 1 result replaced" in first
    assert first.split("; ")[1].startswith("1 character of results, now ")
    assert " tokens, now " in second
    assert third.startswith(f"{path}: the request exceeds its limit by ")
    done = run("recount", "-", "--max-tokens", "100", stdin=BODY)
    assert done.stderr == b"stdin: 1 message, 0 calls; 1 character, 1 token\n"


def test_counts_of_the_lines_that_the_difference_omits(run, write):
    text = "".join(f"{'long' * 20}\n" for _ in range(4))
    path = write(
        "a.json", *[("Read", {"file_path": "/a.py"}, each) for each in (text, f"{text}end")]
    )
    rows = run("project", path, "--diff").stdout.decode().splitlines()
    assert "- ... 1 more line" in rows


def test_of_a_history(history, db):
    with Tract.open(db) as tract:
        tract.assistant("", tool_calls=[{"id": "t1", "name": "Bash", "arguments": {}}])
        assert history("verify") == (0, "1 commit checked; all intact\n", "")
        first = tract.tool_result("t1", "Bash", "x")
        tract.tool_result("t1", "Bash", "y", edit=first.commit_hash)
    turn, result = history("turns")[1].splitlines()
    assert turn.endswith("  Bash  1 token")
    assert result.endswith("  Bash  1 token")
    shown = history("show", first.commit_hash)[1]
    assert shown.count("  1 token\n") == 1
    assert shown.count("  1 token  (this one)\n") == 1
