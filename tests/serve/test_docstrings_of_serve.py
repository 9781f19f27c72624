"""The examples in the proxy's docstrings are true."""

import doctest
import importlib
import pkgutil

import pytest

from toolcarry import serve

MODULES = [found.name for found in pkgutil.walk_packages(serve.__path__, "toolcarry.serve.")]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module(name: str) -> None:
    found = doctest.testmod(
        importlib.import_module(name), optionflags=doctest.IGNORE_EXCEPTION_DETAIL
    )
    assert found.failed == 0


def test_there_are_modules() -> None:
    assert len(MODULES) > 5
