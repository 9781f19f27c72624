"""``toolcarry formats``: list every format that is read, or every rule of a destination."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Final

from toolcarry._data import read_table
from toolcarry.cli.io import Output, json_line
from toolcarry.cli.terminal import render
from toolcarry.importers.catalog import FORMATS, as_markdown
from toolcarry.model.destinations import DESTINATIONS


@dataclass(frozen=True, slots=True)
class RuleFacts:
    """The facts about a rule of destinations."""

    rule: str
    refused: str
    """The condition under which a request is rejected."""
    destinations: tuple[str, ...]
    """The destinations that reject such a request."""
    repair: str
    """The correction, with its kind in brackets."""


RULES: Final = tuple(
    RuleFacts(
        rule,
        facts["refused"],
        tuple(name for name, each in DESTINATIONS.items() if each.record.get(rule)),
        facts["repair"],
    )
    for rule, facts in read_table("rules")["rules"].items()
)
"""All rules."""


def list_formats(*, is_json: bool, is_markdown: bool) -> int:
    """Write the catalog and return the exit code."""
    out = Output()
    if is_json:
        for each in FORMATS:
            out.write(json_line(each.to_dict()))
    elif is_markdown:
        out.write(as_markdown().encode())
    else:
        from toolcarry.cli.tables import format_table  # noqa: PLC0415 - imports rich

        out.draw(render([format_table(FORMATS)], sys.stdout).encode())
    return 0


def list_rules(*, is_json: bool, is_markdown: bool) -> int:
    """Write the rules of destinations and return the exit code."""
    out = Output()
    if is_json:
        for each in RULES:
            out.write(json_line(asdict(each)))
    elif is_markdown:
        out.write(rules_page(RULES).encode())
    else:
        from toolcarry.cli.tables import table_of  # noqa: PLC0415 - imports rich

        rows = [(each.rule, each.refused, ", ".join(each.destinations)) for each in RULES]
        out.draw(render([table_of(("rule", "refused", "destinations"), rows)], sys.stdout).encode())
    return 0


def rules_page(rules: Sequence[RuleFacts]) -> str:
    """Return the rules as the table of docs/reference/destinations.md."""
    lines = ["| Rule | Refused | Destinations | What `repair` does |", "|---|---|---|---|"]
    for each in rules:
        cells = (f"`{each.rule}`", each.refused, ", ".join(each.destinations), each.repair)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"
