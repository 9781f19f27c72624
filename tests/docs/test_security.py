"""The table of SECURITY.md names a rule and a test that exists for every class of faults."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "SECURITY.md"
ROW = re.compile(r"^\| (.+?) \| (.+?) \| (.+?) \|$", re.MULTILINE)
PATH = re.compile(r"`([\w./]+)[^`]*`")

pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="the tests run without the sources")


def rows() -> list[tuple[str, str, str]]:
    table = PAGE.read_text("utf-8").partition("\n## Classes of faults\n")[2]
    return [row for row in ROW.findall(table) if row[0] != "class" and set(row[0]) != {"-"}]


def test_every_class_has_a_rule_and_a_test() -> None:
    found = rows()
    assert len(found) > 20
    assert len({name for name, _, _ in found}) == len(found)
    for name, rule, test in found:
        assert rule.endswith("."), name
        paths = [path for path in PATH.findall(test) if "/" in path]
        assert paths, name
        assert [path for path in paths if not (ROOT / path).exists()] == [], name
        for path in paths:
            if path.startswith("tests/"):
                assert "\ndef test_" in (ROOT / path).read_text("utf-8"), path
