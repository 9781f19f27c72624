"""A format is whole: a reader on both sides and what fuzzes it, or an importer; and a conversation and tests for each."""

import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from support.builders.families import FAMILIES
from support.rows import for_each

import toolcarry
from toolcarry.importers.producers import IMPORTERS, MESSAGES
from toolcarry.model.formats import FORMATS
from toolcarry.types.policy import DEFAULT_RULES

ROOT = Path(__file__).resolve().parents[2]
TESTS = Path(__file__).parent
IMPORTER_FILES = Path(toolcarry.__file__).parent / "importers" / "producers"


def names_of(modules: tuple[Any, ...]) -> list[str]:
    return sorted(module.__name__.rpartition(".")[2] for module in modules)


READERS, IMPORTED = names_of(FORMATS), names_of(MESSAGES)


def test_the_families() -> None:
    readers = ROOT / "rust" / "core" / "src" / "formats"
    others = {"mod", "message", "foreign", "in_text", "roles", "unread"}
    assert {*READERS, *others} == {path.stem for path in readers.glob("*.rs")}
    assert FAMILIES.keys() == {*READERS, *IMPORTED}


@for_each("module", FORMATS, ids=READERS)
def test_a_reader_is_fuzzed(module: Any) -> None:
    source = (ROOT / "fuzz" / "fuzz_targets" / "readers.rs").read_text("utf-8")
    assert f'"{module.NAME}"' in source
    table = source[source.index("static FORMATS") : source.index("fuzz_target!")]
    choices = re.findall(r"&\[[^&]*\]", table.partition("=")[2])
    assert f"CHOICES = {len(choices)}\n" in (ROOT / "fuzz" / "seeds.py").read_text("utf-8")


def test_every_importer_is_in_the_list() -> None:
    files = {path.stem for path in IMPORTER_FILES.glob("*.py")} - {"__init__", "base", "registered"}
    assert files == set(names_of(IMPORTERS))


@for_each("name", IMPORTED)
def test_an_importer_has_tests(name: str) -> None:
    assert (TESTS / f"test_{name}.py").is_file()


@for_each("name", FAMILIES)
def test_a_format_has_its_name(rust: ModuleType, name: str) -> None:
    modules = {module.__name__.rpartition(".")[2]: module for module in (*FORMATS, *MESSAGES)}
    assert rust.inspect(FAMILIES[name]("t1")).shape == modules[name].NAME  # type: ignore[attr-defined]


@for_each("name", READERS)
def test_nothing_of_a_request_format_needs_an_importer(
    backend: Any, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else each request would be read in Python."""
    monkeypatch.setattr("toolcarry.importers.jobs.run_imported", pytest.fail)
    blocks = backend.extract_tool_blocks(FAMILIES[name]("t1"))
    assert backend.deduplicate_tools(blocks, DEFAULT_RULES)
