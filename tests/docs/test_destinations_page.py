"""The table of docs/reference/destinations.md is the one that ``toolcarry formats --rules --markdown`` prints."""

import re
from pathlib import Path

from toolcarry._data import read_table
from toolcarry.cli.formats import RULES, rules_page
from toolcarry.model.destinations import DESTINATIONS
from toolcarry.types.mends import PROBLEMS

ROOT = Path(__file__).parents[2]


def test_the_page_has_the_table() -> None:
    page = (ROOT / "docs" / "reference" / "destinations.md").read_text("utf-8")
    assert rules_page(RULES) in page, "run `toolcarry formats --rules --markdown`"


def test_every_rule_has_a_destination_and_a_correction() -> None:
    for each in RULES:
        assert each.destinations, each.rule
        assert PROBLEMS.keys() & set(re.findall(r"`([a-z_]+)`", each.repair)), each.rule


def test_every_kind_that_the_repair_names_has_its_sentences() -> None:
    folder = ROOT / "rust" / "core" / "src" / "projection" / "repair"
    source = "".join(path.read_text("utf-8") for path in folder.rglob("*.rs"))
    named = set(re.findall(r"add(?:_with)?\(\s*\"([a-z_]+)\"", source))
    assert named
    assert named <= PROBLEMS.keys()


def test_every_member_of_a_record_is_a_rule_or_a_part_of_the_form() -> None:
    """What the build of the core checks, too."""
    rules = read_table("rules")["rules"]
    form = set.intersection(*(set(each.record) - rules.keys() for each in DESTINATIONS.values()))
    assert {"name", "shape", "form", "model", "call_id", "result_id"} <= form
