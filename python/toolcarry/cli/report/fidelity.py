"""The section about what each policy of ``carry`` would keep of a session, measured by what its agent used next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from toolcarry._util.plural import counted
from toolcarry.api.fidelity import AHEAD, LEAST_RESULTS, POLICIES, Cut, cuts_of, score_of
from toolcarry.cli.report.page import COLOURS, Number, Page
from toolcarry.errors import InputError

BUDGETS: Final = (2_000, 8_000, 32_000)
MOST_CUTS: Final = 12
"""The most cuts of a session. More take longer, and overlap."""
FEW_CUTS: Final = 5
SHOWN: Final = {
    "handover": ("carry, hand-over", "needed"),
    "sections": ("carry, sections", "results"),
    "last N tokens": ("the last tokens", "superseded"),
    "the last 3 results": ("the last 3 results", "failed"),
}
"""The wording and the colour of each policy."""


def cuts_in(messages: Sequence[Any]) -> list[Cut]:
    """Return the cuts of a session; none of one that can't be cut."""
    try:
        return list(cuts_of(messages, most=MOST_CUTS))
    except InputError:
        return []


def write_fidelity(page: Page, cuts: Sequence[Cut]) -> None:
    """Write the section."""
    with page.section("Policies compared"):
        if not cuts:
            page.say(
                f"Not measured: no cut of this session has {LEAST_RESULTS:,} characters of results before "
                "it, and calls after it that need something of them."
            )
            return
        page.say(
            f"Measured at {counted(len(cuts), 'cut')} of this session: the mean share of the words, and of the lines that "
            f"edits replace, that the next {AHEAD} calls use and only earlier results had, and that a context made at the "
            "cut still holds."
        )
        page.say(
            "Contexts of carry are a hand-over, or sections with the newest results (layout); the last tokens are those of "
            "all calls and results; the last 3 results are whole, whatever their size. Tokens are counted in o200k_base. "
            "The cuts of one session overlap, so small differences say nothing."
            + (" With so few cuts, large ones say little." if len(cuts) < FEW_CUTS else "")
        )
        data: list[dict[str, Any]] = []
        rows: list[list[object]] = []
        for name, (title, colour) in SHOWN.items():
            scores = [score_of(POLICIES[name], cuts, budget) for budget in BUDGETS]
            data.append(
                {
                    "type": "bar", "name": title, "x": [f"{budget:,} tokens" for budget in BUDGETS],
                    "y": [score.words for score in scores], "text": [f"{score.words:.0%}" for score in scores],
                    "textposition": "auto", "marker": {"color": COLOURS[colour]},
                }
            )  # fmt: skip
            for budget, score in zip(BUDGETS, scores, strict=True):
                lines = "-" if score.lines is None else share(score.lines)
                rows.append([title, budget, share(score.words), share(score.least_words), lines, round(score.tokens)])  # fmt: skip
        page.chart("fidelity", data, {"barmode": "group", "yaxis": {"range": [0, 1], "tickformat": ".0%", "title": {"text": "words held"}}})  # fmt: skip
        heads = ["policy", "limit", "words", "worst cut", "edit lines", "tokens used"]
        page.table("fidelity_table", heads, rows)


def share(value: float) -> Number:
    """Return a share as a cell."""
    return Number(value, f"{value:.0%}")
