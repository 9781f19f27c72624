"""The logs of toolcarry contain no secrets, checked with real handlers."""

import ast
import io
import logging
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.builders.secret_texts import CASES, INNOCENTS, private_key
from support.rows import for_each

import toolcarry
from toolcarry.redact import RedactingFilter, get_logger

SOURCES = Path(toolcarry.__file__).parent


class Output:
    """The output of a handler on the root logger."""

    def __init__(self) -> None:
        self._stream = io.StringIO()
        self.handler = logging.StreamHandler(self._stream)
        self.handler.setFormatter(logging.Formatter("%(levelname)s %(name)s: %(message)s"))

    @property
    def text(self) -> str:
        return self._stream.getvalue()


@pytest.fixture
def output() -> Iterator[Output]:
    made = Output()
    logging.getLogger().addHandler(made.handler)
    yield made
    logging.getLogger().removeHandler(made.handler)


logger = get_logger("toolcarry.tests.redact")


@for_each(("rule", "text", "secret"), CASES)
def test_no_secret_is_logged(rule: str, text: str, secret: str, output: Output) -> None:
    before = len(output.text)
    logger.warning("It says: %s", text)
    logger.warning(text)
    logged = output.text[before:]
    assert secret not in logged
    assert logged.count(f"[redacted: {rule}]") == 2


def test_other_texts_are_logged_as_they_are(output: Output) -> None:
    for text in INNOCENTS[1:4]:
        logger.warning("%s at %d", text, 3)
        assert output.text.endswith(f"WARNING toolcarry.tests.redact: {text} at 3\n")


def test_a_secret_split_over_arguments_is_found(output: Output) -> None:
    logger.warning("PASSWORD=%s", "correcthorse")
    logger.warning("PASSWORD=%(value)s", {"value": "correcthorse"})
    assert "correcthorse" not in output.text
    assert output.text.count("PASSWORD=[redacted: assignment]") == 2


def fail() -> None:
    raise ValueError("DB_PASSWORD=" + "correct" + "horse")


def test_tracebacks_and_stacks(output: Output) -> None:
    try:
        fail()
    except ValueError:
        logger.exception("broken", stack_info=True)
    assert "ValueError: DB_PASSWORD=[redacted: assignment]" in output.text
    assert "in fail" in output.text
    assert "Stack (most recent call last)" in output.text
    assert "correcthorse" not in output.text


def test_an_exception_elsewhere_is_no_part_of_a_record(output: Output) -> None:
    logger.warning("a", exc_info=True)  # noqa: LOG014 - what is tested
    assert output.text == "WARNING toolcarry.tests.redact: a\n"


def test_a_handler_gets_only_clean_text() -> None:
    records: list[logging.LogRecord] = []

    class Keep(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            records.append(record)

    handler = Keep()
    logger.addHandler(handler)
    try:
        fail()
    except ValueError as error:
        logger.warning("PASSWORD=%s", "correcthorse", exc_info=error)
    finally:
        logger.removeHandler(handler)
    assert "correcthorse" not in str(records[0].__dict__)
    assert records[0].args is None
    assert records[0].exc_info is None


class Unprintable:
    def __str__(self) -> str:
        raise RuntimeError("PASSWORD=" + "correcthorse")


@pytest.mark.parametrize("given", [("%d", "correcthorse"), ("%s", Unprintable())])
def test_uncleanable_records_are_withheld(
    given: tuple[Any, ...], output: Output, capsys: pytest.CaptureFixture[str]
) -> None:
    logger.warning(*given)
    assert ": [withheld: " in output.text
    assert "correcthorse" not in output.text + capsys.readouterr().err


def test_long_lines_are_cut_without_half_a_secret(output: Output) -> None:
    logger.warning("%s PASSWORD=correcthorse", "a " * 1_990)
    logger.warning("%s", "b" * 1_000_000)
    assert "correct" not in output.text
    assert "[1000000 characters]" in output.text
    assert len(output.text) < 9_000


def test_a_key_of_many_lines(output: Output) -> None:
    logger.warning("%s", private_key())
    assert output.text == "WARNING toolcarry.tests.redact: [redacted: private-key]\n"


def test_hostile_lines_end(output: Output) -> None:
    for piece in (
        "eyJ",
        "sk-",
        "key=",
        "-----BEGIN PRIVATE KEY-----",
        "a://b:",
        "aws ",
        "password",
    ):
        logger.warning("%s", "\n".join([piece * 5_000] * 5))
    assert output.text.count("characters]") == 35


def test_a_logger_has_one_filter() -> None:
    for _ in range(3):
        assert get_logger("toolcarry.tests.redact") is logger
    assert [type(each) for each in logger.filters] == [RedactingFilter]


def test_every_logger_of_toolcarry_has_the_filter() -> None:
    """No module creates its own logger, except the one that provides them."""
    taken = {
        (path.relative_to(SOURCES).as_posix(), ast.unparse(node))
        for path in SOURCES.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("getLogger")
    }
    assert taken == {
        ("redact/logs.py", "logging.getLogger('toolcarry')"),  # the parent, which logs nothing
        ("redact/logs.py", "logging.getLogger(name)"),
        ("integrations/proxy/server.py", "logging.getLogger('toolcarry')"),  # its level
    }


CODE = """
import logging, re, sys
import toolcarry
from toolcarry.redact import logs
from toolcarry import switch
assert logs.matcher.cache_info().currsize == 0
assert [type(each) for each in logging.getLogger("toolcarry").handlers] == [logging.NullHandler]
logging.getLogger("toolcarry.switch").warning("PASSWORD=%s", "correcthorse")
assert logs.matcher.cache_info().currsize == 1
assert "re2" not in sys.modules
"""


def test_nothing_is_compiled_before_something_is_logged() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    assert done.stdout + done.stderr == ""
