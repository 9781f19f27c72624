"""The tables that both backends read: well-formed, without duplicates, and what Rust is built with.

That each has no other members than both know, ``rust/core/build`` checks: with others, the extension is not built.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from support.builders import wire
from support.rows import for_each

from toolcarry._data import FOLDER, destination_names, read_destination, read_table
from toolcarry.fallback.context.block import _LANGUAGES, LONGEST_EXTENSION
from toolcarry.types.values import KEEP_BLOCK, KINDS, KeepBlock

PYTHON_ALONE = {"asides", "truncation", "windows"}
"""The tables of modules that Rust has no part in."""
TABLES = sorted(path.stem for path in Path(FOLDER).glob("*.json"))
BUILD = Path(__file__).parents[2] / "rust" / "core" / "build" / "main.rs"
PLACES = {"id", "id?", "name", "type", "text"}


def unlike(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the members of an object; fail if two have the same name."""
    assert len(dict(pairs)) == len(pairs), [name for name, _ in pairs]
    return dict(pairs)


def lists(value: object) -> Iterator[list[Any]]:
    """All lists in a value."""
    if isinstance(value, list):
        yield value
    for item in (
        value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    ):
        yield from lists(item)


def texts(value: object) -> Iterator[str]:
    """All texts in a value but the names of members."""
    if isinstance(value, str):
        yield value
    for item in (
        value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    ):
        yield from texts(item)


@pytest.mark.parametrize("name", TABLES)
def test_a_table(name: str) -> None:
    text = Path(FOLDER, f"{name}.json").read_text("utf-8")
    table = json.loads(text, object_pairs_hook=unlike)
    assert table == read_table(name)
    assert table["comment"]
    for found in lists(table):
        assert all(found.count(item) == 1 for item in found), found
    assert text.endswith("}\n")


@pytest.mark.skipif(not BUILD.exists(), reason="the tests run without the sources of the extension")
def test_rust_is_built_with_every_table() -> None:
    named = re.findall(r'^    \(\s*"(\w+)",\s*&\[', BUILD.read_text("utf-8"), re.MULTILINE)
    assert sorted([*named, "rules"]) == sorted(set(TABLES) - PYTHON_ALONE)  # rules become a struct


def test_default_rules() -> None:
    rules = read_table("default_rules")["rules"]
    assert {rule["kind"] for rule in rules} < set(KINDS)
    assert {rule["keep"] for rule in rules} <= set(KEEP_BLOCK) == set(get_args(KeepBlock))
    tools = [tool for rule in rules for tool in rule["tools"]]
    assert len(set(tools)) == len(tools)
    assert all(tool == tool.lower() for tool in tools)  # that is how names are compared


def test_languages() -> None:
    assert list(_LANGUAGES) == sorted(_LANGUAGES)
    for extension, language in _LANGUAGES.items():
        assert extension.isascii()
        assert extension == extension.lower()
        assert 0 < len(extension) <= LONGEST_EXTENSION
        assert re.fullmatch(r"[a-z]+", language)


def test_media() -> None:
    table = read_table("media")
    assert table["untyped_media"][-len(table["files"]) :] == table["files"]


def test_texts() -> None:
    table = read_table("texts")
    assert read_table("texts")["interrupted"].startswith(
        tuple(table["stand_ins"])
    )  # so that repair knows its own results again
    assert table["open_marker"][1:] == table["close_marker"][2:]
    assert all(text.isascii() for text in texts(table))


@for_each("name", destination_names())
def test_destinations(name: str) -> None:
    given = read_destination(name)
    assert given["shape"] in destination_names()
    assert "*" in given["results"]
    for text in texts([given["results"], given["text"]]):
        assert set(re.findall(r"\{(.*?)\}", text)) <= PLACES


@for_each("name", destination_names())
def test_every_rule_of_a_destination_has_a_source(name: str) -> None:
    """The record begins with the name of the provider, and says where its rules are documented or were seen."""
    record = (Path(FOLDER) / "destinations" / f"{name}.toml").read_text("utf-8")
    assert record.startswith("# ")
    assert re.search(r"https://|[\w.-]+/[\w.-]+#\d+", record)


HEADINGS = {"read": "files_heading", "edit": "changes_heading", "command": "commands_heading"}


@pytest.mark.parametrize(
    "rule", read_table("default_rules")["rules"], ids=lambda rule: rule["kind"]
)
def test_both_backends_have_the_rules_of_the_table(api: Any, rule: dict[str, Any]) -> None:
    for tool in rule["tools"]:
        for key in rule["key"]:
            name, _, command = tool.partition(":")
            given = {key: "a.py"} | ({"command": command} if command else {})
            call = wire.use("t1", name, **given)
            text = api.carry([wire.assistant(call), wire.user(wire.result("t1", "x"))]).text
            assert read_table("texts")[HEADINGS[rule["kind"]]] + "### a.py" in text, (tool, key)


def test_both_backends_have_the_languages_of_the_table(api: Any) -> None:
    for extension, language in _LANGUAGES.items():
        call = wire.use("t1", "Read", file_path=f"a.{extension}")
        text = api.carry([wire.assistant(call), wire.user(wire.result("t1", "x"))]).text
        assert f"### a.{extension}\n```{language}\nx\n```" in text
