"""The examples in docstrings are true, and no integration is loaded before it is asked for."""

import doctest
import importlib
import pkgutil
import subprocess
import sys

import pytest

from toolcarry import integrations

MODULES = [found.name for found in pkgutil.iter_modules(integrations.__path__)]
HOSTS = ("litellm",)
"""Modules that need what they are for."""


@pytest.mark.parametrize("name", [name for name in MODULES if name not in HOSTS])
def test_the_examples_of_a_module(name: str) -> None:
    module = importlib.import_module(f"toolcarry.integrations.{name}")
    found = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert found.failed == 0


def test_importing_toolcarry_imports_none_of_them() -> None:
    script = "import sys, toolcarry; print([n for n in sys.modules if 'integrations' in n])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert done.stdout.strip() == b"[]"
