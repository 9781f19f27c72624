"""The tables of ``--explain`` and ``formats``, and the parts of all tables. Cells are plain text: no markup, no escapes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from rich import box
from rich.table import Table
from rich.text import Text

from toolcarry.cli.policy_options import option_of
from toolcarry.cli.terminal import one_line
from toolcarry.importers.catalog import FormatFacts
from toolcarry.types.policy import CarryPolicy
from toolcarry.types.results import Fate

OPTIONS: Final = frozenset(field.name for field in CarryPolicy.declared)
STYLES: Final = {
    "shown": "green",
    "cut": "yellow",
    "superseded": "dim",
    "excluded": "dim",
    "left_out": "red",
}


def fate_table(fates: Sequence[Fate]) -> Table:
    """Return a table of the blocks with the outcome, the reason, and the setting that would change it."""
    table = new_table()
    table.add_column("message", justify="right")
    for name in ("tool", "what", "fate", "reason", "changed by"):
        table.add_column(name, overflow="fold")
    for fate in fates:
        table.add_row(
            str(fate.position + 1),
            cell(fate.tool_name, 40),
            cell(fate.title),
            Text(fate.fate.replace("_", " "), STYLES.get(fate.fate, "")),
            cell(fate.reason),
            cell(", ".join(changed_by(name) for name in fate.setting.split(", "))),
        )
    return table


def changed_by(setting: str) -> str:
    """Return the option of a setting; the setting itself if it has none."""
    return option_of(setting) if setting in OPTIONS else setting


def format_table(formats: Iterable[FormatFacts]) -> Table:
    """Return the catalog of formats."""
    titles = ("format", "producer", "recognised by", "projected", "converted to", "tested with")
    rows = []
    for each in formats:
        flags = ["yes" if flag else "" for flag in (each.projected, each.converted)]
        rows.append((each.name, each.producer, each.recognised_by, *flags, each.tested_with))
    return table_of(titles, rows)


def table_of(titles: Iterable[str], rows: Iterable[Iterable[str]]) -> Table:
    """Return a table of texts."""
    table = Table(box=box.SIMPLE_HEAD)
    for title in titles:
        table.add_column(title, overflow="fold")
    for cells in rows:
        table.add_row(*map(Text, cells))
    return table


def new_table(*, has_footer: bool = False) -> Table:
    return Table(
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        collapse_padding=True,
        header_style="bold",
        show_footer=has_footer,
        show_edge=False,
    )


def cell(text: str, limit: int = 100) -> Text:
    """Return text of a conversation as a table cell: one line, safe to print."""
    return Text(one_line(text, limit))
