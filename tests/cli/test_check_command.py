"""``toolcarry check``: a line for each problem, and the exit code."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def body(tmp_path):
    """A Chat request with a refused name and an escape in it, and a result without call."""
    function = {"name": "ls\x1b[31m", "arguments": "{}"}
    call = {"id": "c1", "type": "function", "function": function}
    messages = [
        {"role": "user", "content": "Go."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "a.py"},
        {"role": "tool", "tool_call_id": "c9", "content": "lost"},
    ]
    path = tmp_path / "body.json"
    path.write_text(json.dumps({"messages": messages}))
    return path


def test_a_line_for_each_problem(run, body):
    done = run("check", body)
    assert done.stdout.decode().splitlines() == [
        "message 2, call c1: the name of a tool has a form that is refused (becomes ls__31m) [refused_name]",
        "message 4, call c9: a result has no call [orphan_result]",
    ]
    assert (done.returncode, done.stderr) == (1, b"")


def test_messages_are_counted_from_one_everywhere(run, tmp_path):
    """In the details, too, where reports have positions."""
    path = tmp_path / "body.json"
    said = {"role": "user", "content": "Go."}
    odd = {"role": "assistant", "content": [{"type": "pointing", "at": 1}]}
    path.write_text(json.dumps({"messages": [said, odd, odd, said]}))
    done = run("check", path, "--destination", "anthropic")
    assert b"unread in messages 2, 3" in done.stdout
    done = run("project", path, "--repair", "--diff")
    assert b"unread in messages 2, 3" in done.stdout + done.stderr


def test_problems_of_another_destination(run, body):
    done = run("check", body, "--destination", "mistral", "--json")
    found = json.loads(done.stdout)
    assert found["file"] == str(body)
    rules = [problem["rule"] for problem in found["problems"]]
    assert rules == ["refused_name", "renamed_id", "orphan_result"]
    assert done.returncode == 1


def test_a_request_without_problems(run):
    done = run("check", "-", stdin=b'{"messages": [{"role": "user", "content": "Go."}]}')
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_what_is_no_request(run, tmp_path):
    path = tmp_path / "body.json"
    path.write_text("{")
    done = run("check", path)
    assert done.returncode == 1
    assert done.stderr.decode() == f"{path}: is not a request: not JSON: byte 1\n"


def test_an_unknown_destination(run, body):
    done = run("check", body, "--destination", "mistrall")
    assert done.returncode == 2
    assert "'mistrall' is not allowed; allowed: anthropic, " in " ".join(
        done.stderr.decode().split()
    )


OWN = """
[destinations.my-gateway]
base = "openai-chat"
id = { at_least = 1, at_most = 1 }
"""


@pytest.fixture
def own(tmp_path):
    """The environment of a user with a destination of their own."""
    path = tmp_path / "own.toml"
    path.write_text(OWN)
    return {"TOOLCARRY_CONFIG": str(path)}


def test_a_destination_of_the_settings(run, body, own):
    done = run("check", body, "--destination", "my-gateway", env=own)
    assert b"call c1: an id is used twice, or has a form that is refused" in done.stdout
    assert done.returncode == 1


def test_a_replacement_is_told_as_one(run, body):
    """The line names the call's id first, and then the one that a repair would write."""
    done = run("check", body, "--destination", "mistral")
    (line,) = [each for each in done.stdout.splitlines() if b"[renamed_id]" in each]
    assert b"call c1: an id is used twice, or has a form that is refused (becomes " in line


@pytest.mark.parametrize(
    ("rule", "place"),
    [('base = "x"', b"base"), ('base = "openai-chat"\nnope = 1', b"nope")],
)
def test_a_wrong_rule_is_named_with_its_destination(run, body, tmp_path, rule, place):
    path = tmp_path / "wrong.toml"
    path.write_text(f"[destinations.my-gateway]\n{rule}\n")
    done = run("check", body, "--destination", "my-gateway", env={"TOOLCARRY_CONFIG": str(path)})
    assert b"destinations.my-gateway." + place + b": " in done.stderr
    assert done.returncode == 2


def test_a_projection_for_a_destination_of_the_settings(run, body, own):
    done = run("project", body, "--repair", "--destination", "my-gateway", env=own)
    call = json.loads(done.stdout)["messages"][1]["tool_calls"][0]
    assert len(call["id"]) == 1


def test_a_conversion_for_a_destination_of_the_settings(run, body, own):
    done = run("convert", body, "--destination", "my-gateway", "--json", env=own)
    assert json.loads(done.stdout)["to"] == "my-gateway"


def test_a_batch_for_a_destination_of_the_settings(run, body, own, tmp_path):
    rows = tmp_path / "rows.jsonl"
    done = run(
        "batch", body, "--job", "convert", "--destination", "my-gateway", "--out", rows, env=own
    )
    assert done.returncode == 0, done.stderr
    (row,) = [json.loads(line) for line in rows.read_text().splitlines()]
    assert row["error"] is None


@pytest.mark.parametrize("command", ["check", "project", "convert"])
def test_both_kinds_of_names_are_allowed(run, body, own, command):
    done = run(command, body, "--destination", "mistrall", env=own)
    said = " ".join(done.stderr.decode().replace("│", "").split())
    assert done.returncode == 2
    assert "'mistrall' is not allowed; allowed: anthropic, " in said
    assert "my-gateway" in said
