"""A field of a policy is declared once: keywords, options, keys of the settings and the page follow from it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, get_type_hints

import pytest
from support.builders import wire
from typer.main import get_command

import toolcarry
from toolcarry import CarryPolicy, ConfigError, ProjectPolicy, carry, count_tokens
from toolcarry.cli import main
from toolcarry.cli.app import app
from toolcarry.config import Config, parse_config
from toolcarry.config.reference import settings_page, settings_schema
from toolcarry.config.renamed import NEW_VALUES, RENAMED, new_value
from toolcarry.config.schema import keys
from toolcarry.types.policy import (
    CarryOptions,
    ProjectOptions,
    ResultPolicy,
    policy_from,
)

KINDS = {CarryPolicy: CarryOptions, ProjectPolicy: ProjectOptions}
ROOT = Path(__file__).parents[2]
TALK = wire.bash("ls", "a.py\n" * 400, "t1")


@pytest.mark.parametrize("kind", KINDS)
def test_the_keywords_are_the_fields(kind: type[ResultPolicy]) -> None:
    assert get_type_hints(KINDS[kind]) == {field.name: field.hint for field in kind.declared}


@pytest.mark.parametrize("kind", KINDS)
def test_every_field_says_what_it_means_and_its_unit(kind: type[ResultPolicy]) -> None:
    for field in kind.declared:
        assert re.fullmatch(r"[A-Z].*\.", field.doc), field.name
        if field.name.startswith("max_"):
            assert field.name.endswith(("_tokens", "_chars"))
            assert field.is_token_limit == field.name.endswith("_tokens")


def test_fields_as_keywords(api: Any) -> None:
    assert api.carry(TALK, max_tokens=200) == api.carry(TALK, policy=CarryPolicy(max_tokens=200))
    policy = CarryPolicy(max_chars=900, keep="tail")
    assert api.carry(TALK, policy=policy, keep="head") == api.carry(
        TALK, max_chars=900, keep="head"
    )


def test_fields_as_keywords_of_a_projection(rust: Any) -> None:
    cut = rust.project(TALK, max_result_chars=300, repair=True)
    assert cut == rust.project(TALK, policy=ProjectPolicy(max_result_chars=300, repair=True))
    assert cut.messages != TALK


def test_a_keyword_that_is_no_field() -> None:
    with pytest.raises(
        TypeError, match="'max_token' is not a field of CarryPolicy; did you mean 'max_tokens'"
    ):
        carry(TALK, max_token=9)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="'repair' is not a field of CarryPolicy"):
        carry(TALK, repair=True)  # type: ignore[call-arg]
    with pytest.raises(ConfigError, match="max_chars: -1 is not allowed"):
        carry(TALK, max_chars=-1)


def test_a_policy_of_the_other_job() -> None:
    with pytest.raises(
        ConfigError, match=r"policy: ProjectPolicy.* is not allowed; allowed: a CarryPolicy"
    ):
        carry(TALK, policy=ProjectPolicy())  # type: ignore[arg-type]
    assert policy_from(CarryPolicy, None, {}) is policy_from(CarryPolicy, None, {})


def test_a_context_in_the_tokens_of_a_model(api: Any) -> None:
    """A model whose tokens are estimated has fewer of the encoding's, and the report counts its own."""
    found = api.carry(TALK, max_tokens=500, model="claude-sonnet-4-5")
    assert 300 < count_tokens(found.text) <= 400
    assert count_tokens(found.text) * 1.25 <= found.report.tokens_after <= 500
    assert (
        api.carry(TALK, max_tokens="1%", window_tokens=50_000, model="claude-sonnet-4-5") == found
    )


def test_a_share_needs_a_window() -> None:
    with pytest.raises(ConfigError, match="max_tokens: '10%' needs window_tokens"):
        carry(TALK, max_tokens="10%")
    with pytest.raises(
        ConfigError, match=r"max_tokens: 'many' is not allowed; allowed: .* a share"
    ):
        carry(TALK, max_tokens="many")


@pytest.mark.parametrize(
    ("command", "kinds"),
    [
        ("carry", [CarryPolicy]),
        ("project", [ProjectPolicy]),
        ("batch", [CarryPolicy, ProjectPolicy]),
    ],
)
def test_the_options_of_a_command_are_the_fields(
    command: str, kinds: list[type[ResultPolicy]]
) -> None:
    parameters = {each.name for each in get_command(app).commands[command].params}  # type: ignore[attr-defined]
    fields = {field.name for kind in kinds for field in kind.declared} - {"rules"}
    assert fields <= parameters


@pytest.mark.parametrize(
    ("given", "error"),
    [
        (["carry", "--max-chars", "1", "--max-tokens", "2"], "'--max-tokens': 2 is not allowed together with --max-chars"),
        (["carry", "--keep", "middle"], "'--keep': 'middle' is not allowed; allowed: auto, head, tail, ends"),
        (["carry", "--content", "json,all"], "'--content': ['json', 'all'] is not allowed"),
        (["project", "--max-request-tokens", "80%"], "'--max-request-tokens': '80%' needs --window-tokens"),
        (["project", "--keep-last-turns", "-1"], "'--keep-last-turns': '-1' is not allowed"),
        (["batch", "--job", "carry", "--out", "x.jsonl", "--repair"], "'--repair': is not an option of this job"),
    ],
)  # fmt: skip
def test_an_option_that_is_not_allowed(
    given: list[str], error: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*given, str(ROOT / "examples" / "session.jsonl")]) == 2
    assert error in " ".join(capsys.readouterr().err.split())


@pytest.mark.rust
def test_options_do_what_keywords_do(capsys: pytest.CaptureFixture[str]) -> None:
    path = ROOT / "examples" / "session.jsonl"
    given = ["--max-chars", "2k", "--no-include-failed", "--content", "off", "--keep", "tail"]
    assert main(["carry", str(path), *given]) == 0
    options: Any = {"max_chars": 2_000, "include_failed": False, "content": "off", "keep": "tail"}
    assert capsys.readouterr().out == carry(path.read_bytes(), **options).text + "\n"


def test_the_page_of_the_settings_is_the_one_that_the_command_prints() -> None:
    assert (ROOT / "docs" / "reference" / "settings.md").read_text("utf-8") == settings_page(), (
        "run: toolcarry config reference > docs/reference/settings.md"
    )


def test_the_schema_has_every_key_with_its_meaning() -> None:
    tables = settings_schema()["$defs"]
    for path in keys():
        struct: Any = Config()
        for key in path[:-1]:
            struct = getattr(struct, str(key))
        found = tables[type(struct).__name__]["properties"][path[-1]]
        assert found["description"], path
        assert tables[type(struct).__name__]["additionalProperties"] is False


@pytest.mark.parametrize(
    ("table", "old"), [(table, old) for table in RENAMED for old in RENAMED[table]]
)
def test_a_key_of_version_0_1(
    table: tuple[str, ...], old: str, caplog: pytest.LogCaptureFixture
) -> None:
    name, new = ".".join(table), RENAMED[table][old]
    given = next(iter(NEW_VALUES.get(old, ())), 77)
    now = f"[{name}]\n{new} = {new_value(old, given)!r}"
    assert parse_config(f"[{name}]\n{old} = {given!r}") == parse_config(now)
    assert f"toolcarry.toml: {name}.{old} is called {new} since version 0.2" in caplog.text
    variable = f"TOOLCARRY_{'_'.join(table)}_{old}".upper()
    assert parse_config("", environment={variable: str(given)}) == parse_config(now)
    with pytest.raises(ConfigError, match=f"{name}.{old}: is the old name of {new}"):
        parse_config(f"[{name}]\n{old} = 77\n{new} = 77")


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("Policy", "toolcarry.CarryPolicy or toolcarry.ProjectPolicy"),
        ("Report", "toolcarry.types.Report"),
        ("ExtractiveSummarizer", "toolcarry.summarize.ExtractiveSummarizer"),
    ],
)
def test_a_name_of_version_0_1(name: str, hint: str) -> None:
    with pytest.raises(
        AttributeError, match=f"no attribute '{name}'; since version 0.2 it is {hint}"
    ):
        getattr(toolcarry, name)


@pytest.mark.parametrize("kind", [CarryPolicy, ProjectPolicy])
def test_a_name_of_version_0_1_as_a_keyword(kind: type[CarryPolicy | ProjectPolicy]) -> None:
    for old, new in kind.old_names.items():
        with pytest.warns(DeprecationWarning, match=f"^{kind.__name__}: {old} is called {new} "):
            policy = kind(**{old: 9})
        assert policy == kind(**{new: 9})
        with pytest.raises(ConfigError, match=f"^{old}: is the old name of {new}"):
            kind(**{old: 9, new: 9})
        with pytest.raises(TypeError, match=f"^{old} is called {new} since version 0.2"):
            policy_from(kind, None, {old: 9})
