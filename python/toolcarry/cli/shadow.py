"""``toolcarry history shadow-report``: what the canonical history would change in requests, from shadow mode's records."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Final

from toolcarry.cli.io import Output, json_line
from toolcarry.cli.store import Store
from toolcarry.cli.terminal import render

if TYPE_CHECKING:
    from toolcarry.integrations.recorder.shadow import ShadowRow

__all__ = ["show_shadow"]

PARTS: Final = ("bytes", "cuts", "orphans", "refetches")


def show_shadow(store: Store, *, is_json: bool) -> None:
    """Write a row for each conversation that was compared, and the total."""
    from toolcarry.integrations.recorder.shadow import shadow_report  # noqa: PLC0415 - imports apsw

    with store.database() as database:
        rows = shadow_report(database, store.tenant)
    out = Output()
    if is_json:
        for row in rows:
            out.write(json_line(asdict(row)))
    else:
        out.draw(shadow_table(rows).encode())


def shadow_table(rows: list[ShadowRow]) -> str:
    """Return a table with a row for each conversation and a total; each pair is the old path and the new one."""
    from toolcarry.cli.tables import cell, new_table  # noqa: PLC0415 - imports rich

    table = new_table(has_footer=True)
    table.add_column("conversation", "total", overflow="fold")
    for name in ("requests", "changed"):
        table.add_column(name, f"{sum(getattr(row, name) for row in rows):,}", justify="right")
    for part in PARTS:
        table.add_column(part, pair(rows, part), justify="right")
    for row in rows:
        pairs = (pair([row], part) for part in PARTS)
        table.add_row(cell(row.conversation), f"{row.requests:,}", f"{row.changed:,}", *pairs)
    return render([table], sys.stdout)


def pair(rows: list[ShadowRow], part: str) -> str:
    old, new = (sum(getattr(row, f"{part}_{path}") for row in rows) for path in ("old", "new"))
    return f"{old:,} -> {new:,}"
