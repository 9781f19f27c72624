"""The examples in docstrings are true."""

import doctest
import importlib
import pkgutil

import pytest

import toolcarry
from toolcarry import _pure, summarize, tract

PUBLIC = [f"toolcarry.{found.name}" for found in pkgutil.iter_modules(toolcarry.__path__)]
PURE = [f"toolcarry._pure.{found.name}" for found in pkgutil.iter_modules(_pure.__path__)]
TRACT = [found.name for found in pkgutil.walk_packages(tract.__path__, "toolcarry.tract.")]
SUMMARIZE = [
    found.name for found in pkgutil.iter_modules(summarize.__path__, "toolcarry.summarize.")
]
MODULES = [
    name
    for name in [*PUBLIC, *PURE, *TRACT, *SUMMARIZE]
    if name not in ("toolcarry._core", "toolcarry.__main__", "toolcarry.cli")
]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module(name: str) -> None:
    module = importlib.import_module(name)
    found = doctest.testmod(
        module, optionflags=doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL
    )
    assert found.failed == 0


@pytest.mark.parametrize("name", sorted(toolcarry.__all__))
def test_every_public_name_is_documented(name: str) -> None:
    value = getattr(toolcarry, name)
    if callable(value):
        assert value.__doc__
    if callable(value) and not isinstance(value, type):
        assert ">>> " in value.__doc__


def test_every_public_name_is_there() -> None:
    assert sorted(toolcarry.__all__) == sorted(set(toolcarry.__all__))
    assert {
        "carry", "carry_files", "deduplicate_tools", "dialogue", "explain", "extract_tool_blocks", "format_tool_context",
        "inspect", "prepend_summary_to_user_message", "truncate", "Policy", "Report", "Rule", "ToolBlock",
        "NO_LIMIT", "DEFAULT_RULES", "ToolcarryError", "InputError", "ConfigError",
    } <= set(toolcarry.__all__)  # fmt: skip
