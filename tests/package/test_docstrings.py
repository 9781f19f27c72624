"""The examples in docstrings are true."""

import doctest
import importlib
import pkgutil

from support.rows import for_each

import toolcarry

ELSEWHERE = {
    "toolcarry._backend._core": "not Python",
    "toolcarry.__main__": "runs the command line",
    "toolcarry.tables": "needs pyarrow; tests/tables runs them",
    "toolcarry.cli": "its texts are for the shell",
    "toolcarry.integrations.litellm": "needs LiteLLM, which its own tests install",
}
MODULES = [
    found.name
    for found in pkgutil.walk_packages(toolcarry.__path__, "toolcarry.")
    if not any(found.name == name or found.name.startswith(f"{name}.") for name in ELSEWHERE)
]


@for_each("name", MODULES)
def test_the_examples_of_a_module(name: str) -> None:
    module = importlib.import_module(name)
    found = doctest.testmod(
        module, optionflags=doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL
    )
    assert found.failed == 0


@for_each("name", sorted(toolcarry.__all__))
def test_every_public_name_is_documented(name: str) -> None:
    value = getattr(toolcarry, name)
    if callable(value):
        assert value.__doc__
    if callable(value) and not isinstance(value, type):
        assert ">>> " in value.__doc__


def test_every_public_name_is_there() -> None:
    assert sorted(toolcarry.__all__) == sorted(set(toolcarry.__all__))
    assert {
        "carry", "carry_files", "deduplicate_tools", "dialogue", "extract_tool_blocks", "format_tool_context",
        "inspect", "prepend_summary_to_user_message", "truncate", "CarryPolicy", "Rule", "ToolBlock",
        "NO_LIMIT", "DEFAULT_RULES", "ToolcarryError", "InputError", "ConfigError",
    } <= set(toolcarry.__all__)  # fmt: skip
