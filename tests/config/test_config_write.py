"""Settings, written and read back."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given
from msgspec import convert
from support.strategies.settings import all_settings

from toolcarry.config import Config, parse_config
from toolcarry.config.mask import hide
from toolcarry.config.schema import root, struct_of
from toolcarry.config.write import plain_values, write_toml
from toolcarry.model.text.sanitize import DIRTY


@given(all_settings())
def test_written_values_are_read_back(settings: dict[str, Any]) -> None:
    config = convert(settings, Config)
    text = write_toml(config)
    assert parse_config(text) == config
    assert tomllib.loads(text) == plain_values(config)
    assert not DIRTY.search(text)


def test_every_table_is_written() -> None:
    struct = struct_of(root())
    assert struct is not None
    assert set(tomllib.loads(write_toml(Config()))) == {field.name for field in struct.fields}


def test_sources_are_comments() -> None:
    config = parse_config(
        "serve.port = 1\n[[dedup.rules]]\ntools = 'a'\n[[dedup.rules]]\ntools = 'b'"
    )
    sources = {("serve", "port"): "a.toml", ("dedup", "rules", 1, "tools"): "b.toml"}
    lines = write_toml(config, sources).splitlines()
    assert [line for line in lines if "#" in line] == [
        'tools = "b"  # b.toml',
        "port = 1  # a.toml",
    ]
    assert lines.count("[[dedup.rules]]") == 2


def test_a_hostile_text_stays_in_its_place() -> None:
    text = 'a"\\\n# \x1b[31m\u202e\x85\x7f\t\U000e0041é'
    config = convert({"thinking": {"summarize": {"instructions": text}}}, Config)
    written = write_toml(config)
    assert parse_config(written) == config
    line = next(line for line in written.splitlines() if line.startswith("instructions"))
    assert line == r'instructions = "a\"\\\n# \u001b[31m\u202e\u0085\u007f\t\U000e0041é"'


@pytest.mark.parametrize(
    ("address", "hidden"),
    [
        ("postgresql://u:hunter2@h/d", "postgresql://u:***@h/d"),
        ("postgresql://u:hun/t?er#2@h/d", "postgresql://u:***@h/d"),
        ("postgresql://u:hun@ter2@h:5432/d", "postgresql://u:***@h:5432/d"),
        ("postgresql://h/d?user=u&password=hunter2&sslmode=require", "postgresql://h/d?user=u&password=***&sslmode=require"),
        ("redis://:hunter2@h:6379/0", "redis://:***@h:6379/0"),
        ("host=h password=hunter2 dbname=d", "host=h password=*** dbname=d"),
        ("postgresql://u@h/d", "postgresql://u@h/d"),
        ("/var/lib/history.db", "/var/lib/history.db"),
    ],
)  # fmt: skip
def test_passwords_are_hidden(address: str, hidden: str) -> None:
    assert hide(address) == hidden
    config = convert({"history": {"target": address}}, Config)
    assert plain_values(config)["history"]["target"] == hidden
    assert "hunter" not in write_toml(config)


def test_a_pattern_is_no_address() -> None:
    rule = {"name": "urls", "pattern": r"postgres://[^:]+:(?P<secret>[^@]+)@"}
    config = convert({"redaction": {"rules": [rule]}}, Config)
    assert parse_config(write_toml(config)) == config
