"""``toolcarry config``: whether the settings are good, and what they are."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from toolcarry.cli import main
from toolcarry.config import load_config, parse_config

Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def config(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> Command:
    """Run a command without settings but those given; its exit code, and what it wrote."""
    for name in os.environ:
        if name.startswith("TOOLCARRY_") and name != "TOOLCARRY_REQUIRE_RUST":
            monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "user"))

    def run(*args: object) -> tuple[int, str, str]:
        code = main(["config", *map(str, args)])
        out, err = capfdbinary.readouterr()
        return code, out.decode(), err.decode()

    return run


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.toml"


def test_a_good_file(config: Command, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.write_text("[serve]\nport = 1\n")
    assert config("check", path) == (0, f"{path}: every setting is allowed\n", "")
    monkeypatch.setenv("TOOLCARRY_CONFIG", str(path))
    monkeypatch.setenv("TOOLCARRY_SERVE_PORT", "2")
    monkeypatch.setenv("TOOLCARRY_SERVE_PROT", "hunter2")
    assert config("check") == (
        0,
        f"{path}: every setting is allowed\nTOOLCARRY_SERVE_PORT is used\n",
        "warning: TOOLCARRY_SERVE_PROT: no such setting\n",
    )


def test_names_of_version_0_1(config: Command, path: Path) -> None:
    path.write_text("[projection]\nwindow = 5\n[thinking.summarize]\nfill = 'newest'\n")
    code, out, err = config("check", path)
    assert (code, out) == (0, f"{path}: every setting is allowed\n")
    assert err == (
        f"warning: {path}: thinking.summarize.fill is called layout since version 0.2\n"
        f"warning: {path}: projection.window is called window_tokens since version 0.2\n"
    )
    assert load_config(path).thinking.summarize.layout == "sections"


def test_no_file(config: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    where = tmp_path / "user" / "toolcarry" / "toolcarry.toml"
    assert config("check") == (0, f"no file at {where}: using the defaults\n", "")
    monkeypatch.setenv("XDG_CONFIG_HOME", "")
    monkeypatch.setenv("HOME", "relative")
    assert config("check") == (
        0,
        "no file, and no user configuration folder: using the defaults\n",
        "",
    )


def test_a_broken_file(config: Command, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.write_text("[serve]\nport = 'http'\n")
    message = f"toolcarry: {path}: serve.port: 'http' is not allowed; allowed: an integer from 0 to 65,535\n"
    for command in ("check", "show"):
        assert config(command, path) == (2, "", message)
    monkeypatch.setenv("TOOLCARRY_SERVE_PORT", "x")
    assert config("check", path)[2].startswith(
        "toolcarry: TOOLCARRY_SERVE_PORT: 'x' is not allowed"
    )


@pytest.mark.parametrize("name", ["absent", "a.toml/below"])
def test_a_file_that_is_not_there(
    config: Command, path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path.touch()
    absent = path.parent / name
    for command in ("check", "show"):
        assert config(command, absent) == (3, "", f"toolcarry: {absent}: no such file\n")
    monkeypatch.setenv("TOOLCARRY_CONFIG", str(absent))
    assert config("check")[0] == 3


def test_usage(config: Command, path: Path) -> None:
    assert config()[0] == 2
    assert config("check", path, path)[0] == 2
    assert config("check", "")[0] == 2
    assert config("check", path.parent) == (
        2,
        "",
        f"toolcarry: {path.parent}: cannot read: Is a directory\n",
    )
    assert config("show", "x" * 5_000)[0] == 2


WARNINGS = {
    "[thinking.summarize]\nmodel = 'a/b'": "thinking.summarize.model: has no effect with summarizer = 'extractive'",
    "[thinking.summarize]\nsummarizer = 'os:sep'": "thinking.summarize.summarizer: 'os:sep' is not callable, but str",
    "[thinking.summarize]\nsummarizer = 'os:no'": "thinking.summarize.summarizer: 'os:no' can't be imported: "
    "AttributeError: module 'os' has no attribute 'no'",
    "[thinking.summarize]\nsummarizer = 'absent.module:no'": "thinking.summarize.summarizer: 'absent.module:no' can't be "
    "imported: ModuleNotFoundError: No module named 'absent'",
    "[thinking.summarize]\nsummarizer = 'falls_over:it'": "thinking.summarize.summarizer: 'falls_over:it' can't be "
    "imported: ZeroDivisionError: division by zero",
    "[serve]\ntoken_env = 'hunter2'": "serve.token_env: names an environment variable that is not set",
    "[[serve.upstreams]]\nname = 'a'\nurl = 'http://a'\nshape = 'ollama'\napi_key_env = 'hunter2'": "serve.upstreams[0]."
    "api_key_env: names an environment variable that is not set",
    "[[redaction.rules]]\nname = 'a'\npattern = '(?=a)'": "redaction.rules[0].pattern: is not valid RE2 syntax: invalid perl "
    "operator: (?=",
}  # fmt: skip


@pytest.mark.parametrize(("text", "warning"), WARNINGS.items(), ids=range(len(WARNINGS)))
def test_unusable_settings_are_reported(
    config: Command, path: Path, text: str, warning: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (path.parent / "falls_over.py").write_text("1 / 0")
    monkeypatch.syspath_prepend(path.parent)
    path.write_text(text)
    code, out, err = config("check", path)
    assert (code, out, err) == (0, f"{path}: every setting is allowed\n", f"warning: {warning}\n")
    assert config("show", path)[2] == ""


@pytest.mark.parametrize(
    ("text", "key", "module", "extra"),
    [
        ("[redaction]\nenabled = true", "redaction.enabled", "re2", "redact"),
        ("[history]\ntarget = 'postgres://h/d'", "history.target", "psycopg", "postgres"),
        (
            "[thinking.summarize]\nsummarizer = 'litellm'\nmodel = 'a/b'",
            "thinking.summarize.summarizer",
            "litellm",
            "litellm",
        ),
    ],
)
def test_missing_extras_are_reported(
    config: Command,
    path: Path,
    text: str,
    key: str,
    module: str,
    extra: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path.write_text(text)
    monkeypatch.setitem(sys.modules, module, None)
    assert config("check", path)[2] == (
        f"warning: {key}: needs {module}, which is not installed; pip install 'toolcarry[{extra}]'\n"
    )


def test_installed_extras_give_no_warning(
    config: Command, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOLCARRY_SWITCH_TOKEN", "hunter2")
    path.write_text(
        "[thinking.summarize]\nsummarizer = 'os.path:join'\n[redaction]\nenabled = true\n"
        "[[redaction.rules]]\nname = 'a'\npattern = 'a+'\n[serve]\ntoken_env = 'TOOLCARRY_SWITCH_TOKEN'\n"
    )
    assert config("check", path) == (0, f"{path}: every setting is allowed\n", "")


def test_show(config: Command, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.write_text("[serve]\nport = 1\nhost = 'é'\n[[dedup.rules]]\ntools = 'a'\n")
    monkeypatch.setenv("TOOLCARRY_SERVE_PORT", "2")
    code, out, err = config("show", path)
    assert (code, err) == (0, "")
    assert [line for line in out.splitlines() if "#" in line] == [
        f"# {path}: every setting is allowed",
        f'tools = "a"  # {path}',
        f'host = "é"  # {path}',
        "port = 2  # TOOLCARRY_SERVE_PORT",
    ]
    assert parse_config(out) == load_config(path)
    again = path.with_name("again.toml")
    again.write_text(out)
    assert config("check", again)[0] == 0


def test_show_the_defaults(config: Command) -> None:
    code, out, _ = config("show")
    assert code == 0
    assert parse_config(out) == parse_config("")
    assert [line[:7] for line in out.splitlines() if "#" in line] == ["# no fi"]


def test_show_as_json(config: Command, path: Path) -> None:
    path.write_text(
        "[[dedup.rules]]\ntools = 'a'\n[tool_cache]\nredis_url = 'redis://:hunter2@h'\n"
    )
    code, out, _ = config("show", path, "--json")
    found = json.loads(out)
    assert (code, out.count("\n"), set(found)) == (0, 1, {"file", "settings", "sources"})
    assert found["file"] == str(path)
    assert found["sources"] == {
        "dedup.rules[0].tools": str(path),
        "tool_cache.redis_url": str(path),
    }
    assert found["settings"]["dedup"]["rules"][0]["tools"] == "a"
    assert found["settings"]["tool_cache"]["redis_url"] == "redis://:***@h"
    assert json.loads(config("show", "--json")[1])["file"] is None


def test_secrets_are_not_shown(config: Command, path: Path) -> None:
    path.write_text("[history]\ntarget = 'postgresql://u:hunter2@h/d'\n")
    for args in (("check",), ("show",), ("show", "--json")):
        code, out, err = config(args[0], path, *args[1:])
        assert code == 0
        assert "hunter" not in out + err


def test_a_name_that_a_terminal_would_obey(config: Command, path: Path) -> None:
    hostile = path.with_name("a\x1b[31m\nb.toml")
    hostile.write_text("")
    for command in ("check", "show"):
        out = config(command, hostile)[1]
        assert "\x1b" not in out
        assert "a\\nb.toml: every setting" in out
    hostile.write_text("[serve]\nport = 1\n")
    assert parse_config(config("show", hostile)[1]).serve.port == 1


def test_other_commands_do_not_import_the_settings() -> None:
    code = (
        "import sys; from toolcarry.cli import main; main(['--version']); "
        "sys.exit('toolcarry.config' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
