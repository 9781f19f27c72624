"""The table of docs/destinations.md says what the records say."""

from pathlib import Path

from toolcarry.api.check import PROBLEMS
from toolcarry.model.destinations import DESTINATIONS, Destination
from toolcarry.types.destinations import RULES

PAGE = Path(__file__).parents[2] / "docs" / "destinations.md"
FORM = {
    "name", "shape", "form", "key", "model", "call_id", "result_id", "template", "results", "call_name", "answering",
    "call_types", "result_types", "models", "has_telling_ids", "name_paths", "mark_paths", "system_paths", "thinking_edits", "definition",
}  # fmt: skip
"""The fields that say how a request is written, or belong to another rule."""


def rows() -> dict[str, list[str]]:
    """Return the cells of the table by rule."""
    lines = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| `")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {rule.strip("`"): rest for rule, *rest in cells}


def test_every_rule_has_a_row() -> None:
    assert rows().keys() == set(Destination._fields) - FORM
    assert RULES.keys() <= rows().keys()


def test_a_row_names_the_destinations_with_the_rule() -> None:
    defaults = Destination._field_defaults
    for rule, (_, named, _) in rows().items():
        found = [
            name
            for name, destination in sorted(DESTINATIONS.items())
            if rule not in defaults or getattr(destination, rule) != defaults[rule]
        ]
        assert named.split(", ") == found, rule


def test_a_row_names_the_corrections() -> None:
    for rule, (*_, done) in rows().items():
        told = [word for word in PROBLEMS if f"`{word}`" in done]
        assert told, rule
