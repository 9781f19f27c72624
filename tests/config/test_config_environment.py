"""Settings from the environment: the same as from the file, and above it."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.strategies.settings import values

from toolcarry import ConfigError, load_config
from toolcarry.config import Config, parse_config
from toolcarry.config.load import (
    OTHER_VARIABLES,
    SettingsFile,
    load,
    place_of,
    variable_of,
    variables,
)
from toolcarry.config.renamed import RENAMED
from toolcarry.config.schema import keys, type_at
from toolcarry.config.write import toml

PATHS = list(keys())


def test_every_key_has_a_variable_of_its_own() -> None:
    assert {variable.path for variable in variables().values()} == set(PATHS)
    old = sum(map(len, RENAMED.values()))
    assert len(variables()) == len(PATHS) + old
    assert not set(variables()) & OTHER_VARIABLES
    assert variable_of(("thinking", "summarize", "max_chars")) in variables()
    assert "TOOLCARRY_DEDUP_RULES" not in variables()


@pytest.mark.parametrize(("old", "new"), [("newest", "sections"), (" novel ", "auto")])
def test_a_variable_of_the_first_version_has_the_value_of_today(old: str, new: str) -> None:
    found = load(None, {"TOOLCARRY_THINKING_SUMMARIZE_FILL": old})
    assert found.config.thinking.summarize.layout == new
    with pytest.raises(ConfigError, match="TOOLCARRY_THINKING_SUMMARIZE"):
        load(None, {"TOOLCARRY_THINKING_SUMMARIZE_FILL": "oldest"})


@pytest.mark.slow
@given(st.data())
def test_a_variable_is_as_good_as_a_line_of_the_file(data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(PATHS))
    kind = type_at(path)
    assert kind is not None
    value = data.draw(values(kind, str(path[-1])))
    if isinstance(value, list):
        value = [item for item in value if item == item.strip() != "" and "," not in item]
        text = data.draw(st.sampled_from([",", " , ", ",,"])).join(value)
    elif isinstance(value, bool):
        text = data.draw(st.sampled_from([str(value), str(value).lower(), str(int(value))]))
    else:
        text = str(value)
    from_file = outcome(f"{place_of(path)} = {toml(value)}", {})
    from_environment = outcome("", {variable_of(path): text})
    above = outcome(f"{place_of(path)} = {toml(other(value))}", {variable_of(path): text})
    assert from_file == from_environment == above


def other(value: object) -> object:
    """A value of the same kind that is not allowed, so that it matters whether it is looked at."""
    return 7 if isinstance(value, list) else [value]


def outcome(text: str, environment: dict[str, str]) -> Config | str:
    try:
        return parse_config(text, environment=environment)
    except ConfigError as error:
        return str(error).rpartition(": ")[2]


REFUSED: dict[tuple[str, str], str] = {
    ("TOOLCARRY_SERVE_PORT", "http"): "'http' is not allowed; allowed: an integer from 0 to 65,535",
    ("TOOLCARRY_SERVE_PORT", ""): "'' is not allowed; allowed: an integer from 0 to 65,535",
    ("TOOLCARRY_SERVE_PORT", "1_0"): "'1_0' is not allowed; allowed: an integer from 0 to 65,535",
    ("TOOLCARRY_SESSIONS_TTL", "nan"): "nan is not allowed; allowed: a number > 0 and <= 1,000,000,000",
    ("TOOLCARRY_SESSIONS_TTL", "1e999"): "inf is not allowed; allowed: a number > 0 and <= 1,000,000,000",
    ("TOOLCARRY_PROJECTION_ENABLED", "yes"): "'yes' is not allowed; allowed: true, false",
    ("TOOLCARRY_THINKING_SUMMARIZE_KEEP", "all"): "'all' is not allowed; allowed: 'auto', 'ends', 'head', 'tail'",
    ("TOOLCARRY_PROJECTION_EXCLUDE_TOOLS", "a\n,b"): "",
    ("TOOLCARRY_PROJECTION_EXCLUDE_TOOLS", "a\x01,b"): "'a\\x01' is not allowed; allowed: a non-empty string on one line",
    ("TOOLCARRY_SERVE_TOKEN_ENV", "hunter-2"): "the value is not allowed; allowed: the name of an environment variable",
    ("TOOLCARRY_TOOL_CACHE_REDIS_URL", "http://:hunter2@a"): "'http://:***@a' is not allowed; allowed: redis://..., "
    "rediss://..., unix://...",
    ("TOOLCARRY_SERVE_HOST", "\udcff"): "the value is not allowed; allowed: UTF-8",
    ("TOOLCARRY_SERVE_DEFAULT", "a"): "'a' is not allowed; allowed: the name of an upstream; none is defined",
}  # fmt: skip


@pytest.mark.parametrize(("variable", "message"), REFUSED.items(), ids=range(len(REFUSED)))
def test_a_broken_value_names_the_variable(variable: tuple[str, str], message: str) -> None:
    name, text = variable
    if not message:
        assert parse_config("", environment={name: text}).projection.exclude_tools == ("a", "b")
        return
    with pytest.raises(ConfigError) as caught:
        parse_config("", environment={name: text})
    assert str(caught.value) == f"{name}: {message}"


def test_conflicts_of_file_and_environment() -> None:
    litellm = {"TOOLCARRY_THINKING_SUMMARIZE_SUMMARIZER": "litellm"}
    with pytest.raises(
        ConfigError, match=r"^a\.toml: thinking\.summarize\.model: '' is not allowed with"
    ):
        parse_config("", name="a.toml", environment=litellm)
    with pytest.raises(
        ConfigError, match=r"^environment: thinking\.summarize\.model: '' is not allowed with"
    ):
        load(None, litellm)
    model = litellm | {"TOOLCARRY_THINKING_SUMMARIZE_MODEL": "a/b"}
    assert parse_config("", environment=model).thinking.summarize.model == "a/b"
    with pytest.raises(
        ConfigError, match=r"^toolcarry\.toml: serve: 5 is not allowed; allowed: a table$"
    ):
        parse_config("serve = 5", environment={"TOOLCARRY_SERVE_PORT": "80"})


def test_where_everything_comes_from(path: Path) -> None:
    path.write_text("[serve]\nport = 1\nhost = 'a'\n[[dedup.rules]]\ntools = ['x']\n")
    loaded = load(SettingsFile(path, is_asked=True), {"TOOLCARRY_SERVE_PORT": "2", "PATH": ""})
    assert loaded.config.serve.port == 2
    assert loaded.variables == ("TOOLCARRY_SERVE_PORT",)
    assert loaded.sources == {
        ("serve", "port"): "TOOLCARRY_SERVE_PORT",
        ("serve", "host"): str(path),
        ("dedup", "rules", 0, "tools"): str(path),
    }


def test_an_unknown_variable_is_reported_by_name_only(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, path: Path
) -> None:
    path.write_text("serve.token_env = 'TOOLCARRY_SWITCH_TOKEN'")
    for name in (
        *OTHER_VARIABLES - {"TOOLCARRY_CONFIG"},
        "TOOLCARRY_SWITCH_TOKEN",
        "TOOLCARRY_SERVE_PROT",
        "TOOLCARRY_A\x1b",
    ):
        monkeypatch.setenv(name, "hunter2")
    with caplog.at_level(logging.WARNING, "toolcarry.config"):
        load_config(path)
    assert caplog.messages == [
        "TOOLCARRY_A: unknown setting, ignored",
        "TOOLCARRY_SERVE_PROT: unknown setting, ignored",
    ]


def test_types(monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, Any] = {
        "TOOLCARRY_SERVE_PORT": " 80 ",
        "TOOLCARRY_SESSIONS_TTL": "1e3",
        "TOOLCARRY_PROJECTION_ENABLED": "TRUE",
        "TOOLCARRY_PROJECTION_EXCLUDE_TOOLS": "",
        "TOOLCARRY_PROJECTION_MAX_REQUEST_TOKENS": "none",
        "TOOLCARRY_THINKING_SUMMARIZE_MAX_TOOL_RESULT_CHARS": "5",
        "TOOLCARRY_THINKING_SUMMARIZE_INSTRUCTIONS": " Be brief. ",
    }
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    config = load_config()
    assert (config.serve.port, config.sessions.ttl, config.projection.enabled) == (80, 1000.0, True)
    assert (config.projection.exclude_tools, config.projection.max_request_tokens) == ((), "none")
    assert config.thinking.summarize.max_result_chars == 5
    assert config.thinking.summarize.instructions == " Be brief. "
