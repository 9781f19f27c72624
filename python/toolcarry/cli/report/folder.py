"""The page of several sessions: a row for each, with the growth of its context and what is not needed of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from toolcarry.api.survey import Measured
from toolcarry.cli.report.page import COLOURS, Page, Sparkline
from toolcarry.cli.survey_words import PARTS
from toolcarry.cli.surveyed import Surveyed
from toolcarry.cli.terminal import label, one_line

POINTS: Final = 40
"""The most points of a sparkline."""


class Row(NamedTuple):
    """A session, and the growth of its context."""

    surveyed: Surveyed
    growth: Sparkline


def sparkline(measured: Measured) -> Sparkline:
    """Return the tokens of the context after some of the messages, the last one included."""
    totals: list[int] = []
    for position, sizes in enumerate(measured.by_message):
        before = totals[-1] if totals and position not in measured.compactions else 0
        if sizes:
            totals.append(before + sum(sizes.values()))
    step = max(len(totals) / POINTS, 1)
    places = [round((at + 1) * step) - 1 for at in range(min(len(totals), POINTS))]
    return Sparkline([0, *(totals[place] for place in places)])


def write_folder(page: Page, rows: Sequence[Row], *, is_private: bool) -> None:
    """Write the page of several sessions."""
    page.body.append(f"<h1>{len(rows):,} sessions</h1>")
    shown: list[list[object]] = []
    for number, (surveyed, growth) in enumerate(rows, 1):
        context, survey = surveyed.context, surveyed.inspection
        unneeded = sum(amount.tokens for state, amount in context.results.items() if state != "needed")  # fmt: skip
        last = context.session.last
        name = f"session {number}" if is_private else label(surveyed.name)
        shown.append([name, growth, f"{last:%Y-%m-%d %H:%M}" if last else "", one_line(context.model), context.tokens, unneeded, survey.calls, survey.errors])  # fmt: skip
    tokens = sum(each.surveyed.context.tokens for each in rows)
    page.body.append(f'<p>Together <span id="tokens" data-value="{tokens}">{tokens:,}</span> tokens.</p>')  # fmt: skip
    heaviest = sorted((each.surveyed for each in rows), key=lambda each: -each.context.tokens)[:30]
    data: list[Any] = []
    names = [f"{place}. {Path(each.name).stem[:12] if not is_private else ''}" for place, each in enumerate(heaviest, 1)]  # fmt: skip
    for part, title in PARTS.items():
        sizes = [each.context.parts.get(part, 0) for each in heaviest]
        if any(sizes):
            data.append({"type": "bar", "name": title, "x": names, "y": sizes, "marker": {"color": COLOURS[part]}})  # fmt: skip
    with page.section("The heaviest sessions"):
        page.chart("sessions_chart", data, {"barmode": "stack", "yaxis": {"title": {"text": "tokens"}}})  # fmt: skip
    with page.section("All sessions"):
        page.say("Not needed are the tokens of results that are superseded, stale, repeated or failed.")  # fmt: skip
        heads = ["session", "growth", "last", "model", "tokens", "not needed", "calls", "errors"]
        page.table("sessions", heads, shown)
