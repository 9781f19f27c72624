"""``toolcarry project``: the body on stdout, what was done on stderr."""

from __future__ import annotations

import json

import pytest
from support.builders import wire
from support.builders.producers import DOCUMENTS
from support.rows import for_each

import toolcarry
from toolcarry import Conversation
from toolcarry.cli.request import as_request

LONG = "line\n" * 100


@pytest.fixture
def body(tmp_path):
    """A request with a superseded read, a control character in its new text, and a result without call."""
    messages = [*wire.read("a.py", LONG, "t1"), *wire.read("a.py", "line\nshort\x1b[31m", "t2")]
    messages.append(wire.user(wire.result("t9", "lost")))
    path = tmp_path / "body.json"
    path.write_text(json.dumps({"model": "m", "messages": messages}, indent=2))
    return path


def test_body_equals_that_of_the_library(run, body):
    done = run("project", body, "--repair", "--max-result-chars", "90")
    policy = toolcarry.ProjectPolicy(repair=True, max_result_chars=90)
    assert done.stdout == toolcarry.project_body(body.read_bytes(), policy=policy).body
    assert done.returncode == 0
    assert done.stderr.decode().splitlines() == [
        f"{body}: 1 of 3 results replaced (1 read again later); 519 characters of results, now 60",
        f"{body}: a result without a call was left out: 1",
        f"{body}: a message without remaining content was left out: 1",
    ]


def test_the_difference(run, body):
    done = run("project", body, "--repair", "--diff")
    assert done.stdout.decode() == (
        "message 2, Read t1: read again later, 500 of 500 characters\n"
        "- line\n- line\n- line\n- ... 97 more lines\n"
        "+ [toolcarry: superseded by call t2; whole: t1]\n"
        "message 5, call t9: a result without a call was left out\n"
        "message 5: a message without remaining content was left out\n"
    )


def test_the_difference_of_a_cut(run, body):
    done = run("project", body, "--max-request-tokens", "120", "--diff")
    assert "message 2, Read t1: " in done.stdout.decode()
    assert done.stderr.decode().splitlines()[1].startswith(f"{body}: ")
    assert " tokens, now " in done.stderr.decode()


def test_json(run, body):
    done = run("project", "--json", "-", stdin=body.read_bytes())
    found = json.loads(done.stdout)
    assert found["file"] == "-"
    assert found["report"]["reasons"] == {"later_read": 1}
    assert done.stderr == b""


def test_strict(run, body):
    done = run("project", body, "--strict")
    assert done.returncode == 1
    assert done.stderr.decode().endswith("calls without a result: 0, results without a call: 1\n")
    assert run("project", body, "--strict", "--repair").returncode == 0
    assert run("project", body, "--strict", "--repair", "--max-request-tokens", "1").returncode == 1


def test_an_output_file(run, body, tmp_path):
    out = tmp_path / "out.json"
    assert run("project", body, "-o", out).stdout == b""
    assert out.read_bytes() == toolcarry.project_body(body.read_bytes()).body


def test_a_session_file_gets_a_hint(run):
    line = b'{"role": "user", "content": "hi"}\n'
    done = run("project", "-", stdin=line + line)
    assert done.returncode == 1
    assert b"it is a session file: name the provider with --destination" in done.stderr


@for_each("name", [name for name, make in DOCUMENTS.items() if len(make()) == 1])
def test_a_session_in_one_document_becomes_a_request(name):
    """That of each importer whose file is one document. A request is not changed by its name."""
    data = json.dumps(DOCUMENTS[name]()[0]).encode()
    assert Conversation.of(data).is_session
    request = json.loads(as_request(data, "anthropic").body)
    assert request["messages"]
    assert not Conversation.of(json.dumps({"messages": request["messages"]}).encode()).is_session


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (("nowhere.json",), 3, "nowhere.json: no such file"),
        (("-",), 1, "stdin: is not a request: not JSON: byte 0"),
        (("-", "--max-requst-tokens", "3"), 2, "--max-request-tokens"),
        (("-", "--max-request-tokens", "many"), 2, "'many' is not allowed"),
        (("-", "--diff", "--json"), 2, "not allowed together with --diff"),
    ],
)
def test_errors_are_reported(run, args, code, message):
    done = run("project", *args, stdin=b"no json")
    assert done.returncode == code
    assert message in done.stderr.decode()
    assert done.stdout == b""
