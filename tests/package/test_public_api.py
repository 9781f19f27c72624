"""The public API is the one in ``public_api/``: names, signatures, fields, and their order.

If you changed the API on purpose, run ``TOOLCARRY_WRITE_GOLDEN=1 pytest tests/package/test_public_api.py``, read the
difference of the files, commit it, and add a line to the CHANGELOG.
"""

import importlib
import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType

import pytest
from support.public_api import describe

FOLDER = Path(__file__).parent / "public_api"
MODULES = (
    "toolcarry",
    "toolcarry.config",
    "toolcarry.integrations.asgi",
    "toolcarry.integrations.pipeline",
    "toolcarry.metrics",
    "toolcarry.redact",
    "toolcarry.sessions",
    "toolcarry.summarize",
    "toolcarry.switch",
    "toolcarry.tables",
    "toolcarry.tool_cache",
    "toolcarry.tract",
)
LITELLM = "toolcarry.integrations.litellm"


def check(module: ModuleType) -> None:
    path = FOLDER / f"{module.__name__}.txt"
    found = describe(module)
    if os.environ.get("TOOLCARRY_WRITE_GOLDEN") == "1":
        path.write_text(found, "utf-8")
    assert found == path.read_text("utf-8"), __doc__


@pytest.mark.parametrize("name", MODULES)
def test_the_api_of_a_module(name: str) -> None:
    check(importlib.import_module(name))


def test_the_api_of_the_handler_for_litellm(monkeypatch: pytest.MonkeyPatch) -> None:
    """LiteLLM can't be installed next to the newest SDKs, so an empty class takes the place of its base class."""
    if importlib.util.find_spec("litellm") is None:
        logger = ModuleType("litellm.integrations.custom_logger")
        logger.CustomLogger = type("CustomLogger", (), {})  # type: ignore[attr-defined]
        for name in ("litellm", "litellm.integrations"):
            monkeypatch.setitem(sys.modules, name, ModuleType(name))
        monkeypatch.setitem(sys.modules, logger.__name__, logger)
        monkeypatch.delitem(sys.modules, LITELLM, raising=False)
    try:
        check(importlib.import_module(LITELLM))
    finally:
        sys.modules.pop(LITELLM, None)


def test_every_file_has_its_module() -> None:
    assert {path.stem for path in FOLDER.iterdir()} == {*MODULES, LITELLM}
