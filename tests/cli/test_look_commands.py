"""``toolcarry count``, ``resolve``, ``explain`` and ``doctor``, and what is the same in all commands: numbers, names, help."""

from __future__ import annotations

import json

import pytest
from support.rows import for_each

import toolcarry
from toolcarry import NO_LIMIT, CarryPolicy, ProjectPolicy
from toolcarry.api.survey import survey_context
from toolcarry.cli import main
from toolcarry.cli.options import read_limit, read_share
from toolcarry.cli.serve import upstream_of


@pytest.fixture
def call(capfdbinary):
    """Run a command; its exit code and what it wrote."""

    def call(*args: object) -> tuple[int, str, str]:
        code = main(list(map(str, args)))
        out, err = capfdbinary.readouterr()
        return code, out.decode(), err.decode()

    return call


@pytest.fixture
def session(write):
    return write("a.json", ("Read", {"file_path": "a.py"}, "x = 1\n" * 99), ("Bash", {"command": "ls"}, "a.py"))  # fmt: skip


def test_count(call, session, tmp_path):
    tokens = survey_context(session.read_bytes(), model="gpt-4o").tokens
    code, out, _ = call("count", session, "--model", "gpt-4o")
    assert (code, out.split()) == (0, [f"{tokens:,}", str(session)])
    assert (
        "(estimated for claude-opus-4-5)" in call("count", session, "--model", "claude-opus-4-5")[1]
    )
    both = call("count", session, "--json", tmp_path)[1].splitlines()
    assert [json.loads(line)["exact"] for line in both] == [False]
    text = tmp_path / "notes.txt"
    text.write_text("one two three")
    assert call("count", "--text", text)[1].split() == ["3", str(text)]
    text.write_text('{"a": 1}')
    assert call("count", text)[0] == 1


def test_resolve(call, session, tmp_path):
    assert call("resolve", session, "t1") == (0, "a.py", "")
    out = tmp_path / "out"
    assert call("resolve", session, "t0", "-o", out)[0] == 0
    assert out.read_text() == "x = 1\n" * 99
    code, _, err = call("resolve", session, "t9")
    assert code == 3
    assert "no tool result has the reference 't9'" in err


def test_explain(call, session):
    fates = toolcarry.carry(
        session.read_bytes(), policy=CarryPolicy(max_chars=700), explain=True
    ).fates
    code, out, _ = call("carry", session, "--explain", "--max-chars", "700", "--json")
    assert code == 0
    assert [fate["fate"] for fate in json.loads(out)["explain"]] == [fate.fate for fate in fates]
    shown = call("carry", session, "--explain", "--max-chars", "700")[2]
    assert "--max-chars" in shown


def test_doctor(call, monkeypatch, tmp_path):
    code, out, _ = call("doctor", "--json")
    found = {each["name"]: each for each in map(json.loads, out.splitlines())}
    assert code == 0
    assert found["backend"]["detail"].startswith(toolcarry.backend())
    assert found["redact"]["state"] == "ok"
    settings = tmp_path / "toolcarry.toml"
    settings.write_text("[unknown]\nx = 1\n")
    monkeypatch.setenv("TOOLCARRY_CONFIG", str(settings))
    code, out, _ = call("doctor")
    assert code == 1
    assert "settings      broken" in out


@for_each(
    ("text", "number"),
    [
        ("20000", 20_000), ("20k", 20_000), ("20K", 20_000), ("20_000", 20_000), ("20,000", 20_000), ("1.5M", 1_500_000),
        (".5k", 500), ("none", NO_LIMIT), ("9" * 40, NO_LIMIT), ("0", 0),
    ],
)  # fmt: skip
def test_numbers(text, number):
    assert read_limit("--max-chars", text) == number


@for_each("text", ["-1", "20kk", "1.5", "2,00", "20 k", "", "k", "٣", "80%"])
def test_texts_that_are_no_numbers(call, session, text):
    code, _, err = call("carry", session, f"--max-chars={text}")
    assert code == 2
    assert "is not allowed; allowed:" in err


def test_shares_of_a_window(call, session):
    assert read_share("--max-tokens", "80%", "gpt-4o") == 102_400
    assert call("carry", session, "--max-tokens", "80%", "--model", "gpt-4o")[0] == 0
    code, _, err = call("carry", session, "--max-tokens", "80%")
    assert (code, "needs --window-tokens" in err) == (2, True)
    assert call("carry", session, "--max-tokens", "80%", "--model", "unheard-of")[0] == 2


def test_limits_in_the_tokens_of_a_model(call, write):
    path = write("b.json", ("Bash", {"command": "x"}, "word " * 3_000))
    context = call("carry", path, "--max-tokens", "1k", "--model", "claude-sonnet-4-5")[1]
    assert 700 < toolcarry.count_tokens(context) <= 800


def test_a_session_is_projected_for_a_destination(call, example):
    code, out, _ = call("project", example, "--destination", "openai-chat")
    assert code == 0
    assert {"tool_calls", "role", "content"} >= {key for each in json.loads(out)["messages"][:2] for key in each}  # fmt: skip
    code, _, err = call("project", example)
    assert (code, "--destination" in err) == (1, True)


@pytest.mark.usefixtures("rust")
def test_convert_takes_every_destination(call, session):
    expected = call("convert", session, "--destination", "openai")[1]
    assert call("convert", session, "--destination", "openai-chat")[1] == expected
    written = call("convert", session, "--destination", "mistral")[1].encode()
    assert toolcarry.check(written, destination="mistral") == ()


@pytest.mark.usefixtures("rust")
@pytest.mark.parametrize("command", [["inspect"], ["carry"], ["convert", "--destination", "openai"], ["recount"], ["project"], ["count"]])  # fmt: skip
@pytest.mark.parametrize("content", ["{}", '{"a": 1}', "42", '"text"', '[{"x": 1}]', "true"])
def test_json_that_is_no_conversation(call, tmp_path, command, content):
    path = tmp_path / "a.json"
    path.write_text(content)
    assert call(command[0], path, *command[1:])[0] == 1


def test_help_is_in_groups_and_without_exit_codes_under_each_command(call):
    whole = call("--help")[1]
    assert "See what fills a context:" in whole
    assert "Others:" not in whole
    assert "Exit codes:" in whole
    for args in (["carry"], ["history"], ["history", "log"], ["config", "show"]):
        assert "Exit codes:" not in call(*args, "--help")[1]


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        (
            "toolcarry convert a --destination open",
            {"openai-chat", "openai-responses", "openrouter"},
        ),
        ("toolcarry check a --destination mis", {"mistral"}),
        ("toolcarry carry a --encoding cl", {"cl100k_base"}),
        ("toolcarry inspect --sort dup", {"duplicates"}),
        ("toolcarry serve --shape ant", {"anthropic"}),
    ],
)
def test_completion_offers_values(run, line, offered):
    words = line.split()
    env = {"_TOOLCARRY_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}  # fmt: skip
    assert set(run(env=env).stdout.decode().split()) == offered


@pytest.mark.parametrize(
    ("url", "shape"),
    [
        ("https://api.anthropic.com", "anthropic"),
        ("http://localhost:11434", "ollama"),
        ("http://localhost:8000", "openai"),
    ],
)
def test_a_backend_on_the_command_line(url, shape):
    found = upstream_of(url, None)
    assert found is not None
    assert (found.url, found.shape) == (url, shape)


def test_backends_that_can_not_be_served(call):
    assert call("serve", "ftp://host")[0] == 2
    assert call("serve", "http://host", "--shape", "smtp")[0] == 2
    assert call("serve", "--shape", "openai")[0] == 2


def test_short_reprs():
    talk = [{"role": "user", "content": "word " * 9_000}]
    body = json.dumps({"messages": talk}).encode()
    assert repr(ProjectPolicy(repair=True)) == "ProjectPolicy(repair=True)"
    assert repr(toolcarry.project(talk)) == "Projected(1 messages, 0 replacements, 0 mends)"
    assert len(repr(toolcarry.project_body(body))) < 100


def test_a_share_of_a_history(call, session):
    code, _, err = call("recount", session, "--max-tokens", "10%")
    assert (code, "'10%' is not allowed without --model" in " ".join(err.split())) == (2, True)
    code, _, err = call("recount", session, "--max-tokens", "10%", "--model", "unheard-of")
    assert (code, "whose window is not known" in " ".join(err.split())) == (2, True)
