"""The section about money: what the input of each request costs, as it was and as ``project`` would send it."""

from __future__ import annotations

from typing import Any, Final

from toolcarry import convert, project
from toolcarry.cli.report.cache import money
from toolcarry.cli.report.page import COLOURS, Page
from toolcarry.cli.terminal import one_line
from toolcarry.errors import InputError
from toolcarry.types.policy import ProjectPolicy
from toolcarry.types.prices import PriceModel

MOST_REQUESTS: Final = 400
"""The most requests that are replayed, since each one is projected."""


def write_bill(page: Page, data: bytes, policy: ProjectPolicy) -> None:
    """Write the section about a session with these bytes, by the prices of the policy's model."""
    with page.section("What the input costs, request by request"):
        price, model = policy.price_model, policy.model or ""
        if price is None:
            page.say("Not shown: the price of the model is not known.")
            return
        try:
            messages = convert(data, to="anthropic", repair=False).messages
        except InputError:
            page.say("Not shown: the session can't become a request.")
            return
        ends = ends_of(messages)
        if len(ends) < 2:
            page.say("Not shown: there is one request.")
            return
        sent, unchanged = curves(messages, ends[:MOST_REQUESTS], policy, price)
        numbers = list(range(1, len(sent) + 1))
        lines = (("unchanged", unchanged, "failed"), ("as project would send it", sent, "results"))
        data_of = [{"x": numbers, "y": [round(cost) for cost in costs], "name": name, "mode": "lines", "line": {"color": COLOURS[colour], "width": 2}} for name, costs, colour in lines]  # fmt: skip
        page.chart("bill", data_of, {"xaxis": {"title": {"text": "request"}}, "yaxis": {"title": {"text": "sum so far, in tokens at list price"}, "rangemode": "tozero"}, "hovermode": "x unified"})  # fmt: skip
        rows: list[list[Any]] = []
        for name, costs, _ in lines:
            dollars = price.dollars(costs[-1], model)
            amount = [] if dollars is None else [money(dollars)]
            rows.append([name, round(costs[-1]), *amount])
        heads = ["input of all requests", "tokens at list price"]
        page.table("bill_table", [*heads, "dollars"] if len(rows[0]) > 2 else heads, rows)
        page.say(
            f"Estimated at four bytes a token, by the price model {one_line(price.name)}, without the system prompt and the tools, as if the cache never expired."
            + (f" The first {len(sent):,} of {len(ends):,} requests." if len(sent) < len(ends) else "")
        )  # fmt: skip


def ends_of(messages: Any) -> list[int]:
    """Return how many messages each request had: those before an answer of the model."""
    return [
        place
        for place, message in enumerate(messages)
        if place and message["role"] == "assistant" and messages[place - 1]["role"] != "assistant"
    ]


def curves(
    messages: Any, ends: list[int], policy: ProjectPolicy, price: PriceModel
) -> tuple[list[float], list[float]]:
    """Return the sum of the costs after each request: of projections, each with the decisions before, and unchanged."""
    previous = None
    sums: tuple[list[float], list[float]] = ([], [])
    for end in ends:
        found = project(messages[:end], policy=policy, previous=previous)
        previous = found.decisions
        costs = price.costs(found.report, policy.model or "")
        for line, cost in zip(sums, costs, strict=True):
            line.append(cost.units + (line[-1] if line else 0.0))
    return sums
