"""The examples in docstrings are true."""

import doctest
import importlib
import pkgutil

import pytest

from toolcarry import config

MODULES = [found.name for found in pkgutil.iter_modules(config.__path__, "toolcarry.config.")]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module(name: str) -> None:
    module = importlib.import_module(name)
    found = doctest.testmod(
        module, optionflags=doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL
    )
    assert found.failed == 0


def test_errors_in_examples_are_word_for_word() -> None:
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    for test in doctest.DocTestFinder().find(importlib.import_module("toolcarry.config.load")):
        assert runner.run(test).failed == 0
