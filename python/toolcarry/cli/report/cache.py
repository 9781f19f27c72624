"""The prompt cache of a session, request by request, as its own usage records have it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from toolcarry._input.objects import JsonObject, as_object
from toolcarry._util.plural import counted
from toolcarry.cli.report.page import COLOURS, Number, Page
from toolcarry.cli.report.prices import MILLION, Price, PriceTable
from toolcarry.cli.terminal import one_line


@dataclass(frozen=True, slots=True)
class BilledRequest:
    """The input tokens of a request: ``read`` from the cache, ``written`` into it (``written_1h`` of them for an hour),
    and the ``rest``. ``rewritten`` had been in the cache after the request before, but was not read from it."""

    position: int
    model: str
    read: int
    written: int
    written_1h: int
    rest: int
    is_automatic: bool
    rewritten: int = 0

    @property
    def total(self) -> int:
        """All input tokens."""
        return self.read + self.written + self.rest

    @property
    def new(self) -> int:
        """The tokens that no request had before."""
        return self.total - self.read - self.rewritten

    @property
    def cached(self) -> int:
        """The tokens that are in the cache after the request."""
        return self.total if self.is_automatic else self.read + self.written


def requests_of(messages: Sequence[Any], marks: Sequence[int] = ()) -> list[BilledRequest]:
    """Return the requests of the main conversation, or of a file that is a side chain.

    ``marks`` are the positions of compactions, after which nothing counts as written again.
    """
    found: list[BilledRequest] = []
    for each in list(usages(messages, is_side=False)) or usages(messages, is_side=True):
        before = found[-1] if found else None
        if before is None or any(before.position < mark <= each.position for mark in marks):
            found.append(each)
        else:
            had = min(before.cached, each.total)
            found.append(replace(each, rewritten=max(had - each.read, 0)))
    return found


def usages(messages: Sequence[Any], *, is_side: bool) -> Iterator[BilledRequest]:
    """Yield the usage of each request of the main conversation, or of side chains, without what was written again.

    Claude Code writes one answer over several records, each with the usage; the last of a message's id counts. Codex
    writes the usage after each request, and again with news about limits.
    """
    found: dict[object, BilledRequest] = {}
    model = ""
    total: object = None
    for position, item in enumerate(messages):
        record = as_object(item) or {}
        payload = as_object(record.get("payload")) or {}
        if record.get("type") == "turn_context":
            model = text(payload, "model") or model
        if payload.get("type") == "token_count":
            info = as_object(payload.get("info")) or {}
            usage = as_object(info.get("last_token_usage"))
            if usage is not None and (total is None or info.get("total_token_usage") != total):
                total = info.get("total_token_usage")
                read = count(usage, "cached_input_tokens")
                rest = max(count(usage, "input_tokens") - read, 0)
                found[position] = BilledRequest(
                    position, model, read, 0, 0, rest, is_automatic=True
                )
            continue
        message = as_object(record.get("message")) or record
        usage = as_object(message.get("usage"))
        if (
            usage is None
            or "cache_read_input_tokens" not in usage
            or bool(record.get("isSidechain")) != is_side
        ):
            continue
        key = text(message, "id") or position
        lives = as_object(usage.get("cache_creation")) or {}
        written = count(usage, "cache_creation_input_tokens")
        found[key] = BilledRequest(
            position=found[key].position if key in found else position,
            model=text(message, "model"),
            read=count(usage, "cache_read_input_tokens"),
            written=written,
            written_1h=min(count(lives, "ephemeral_1h_input_tokens"), written),
            rest=count(usage, "input_tokens"),
            is_automatic=False,
        )
    yield from (each for each in found.values() if each.total)


MOST_TOKENS: Final = 10**12


def count(usage: JsonObject, name: str) -> int:
    """Return a number of tokens; 0 if it is no such number."""
    value = usage.get(name)
    return value if type(value) is int and 0 <= value < MOST_TOKENS else 0


def text(holder: JsonObject, name: str) -> str:
    value = holder.get(name)
    return value if isinstance(value, str) else ""


class Cost(NamedTuple):
    """The cost of the input of requests, what it would have been without a cache, and the part for writing again."""

    paid: float
    without_cache: float
    rewriting: float


def cost_of(request: BilledRequest, price: Price) -> Cost:
    """Return what the input of a request costs."""
    short = request.written - request.written_1h
    sent = short * price.cache_write + request.written_1h * price.cache_write_1h + request.rest * price.input  # fmt: skip
    fresh = request.written + request.rest
    again = request.rewritten * (sent / fresh - price.cache_read) if fresh else 0.0
    paid = request.read * price.cache_read + sent
    return Cost(paid / MILLION, request.total * price.input / MILLION, again / MILLION)


def write_cache(page: Page, requests: Sequence[BilledRequest], prices: PriceTable | None) -> None:
    """Write the section about the cache."""
    with page.section("The prompt cache, request by request"):
        if not requests:
            page.say("Not shown: the file has no usage records with cached tokens, as Claude Code and Codex write them.")  # fmt: skip
            return
        page.say(
            "The input tokens of the main conversation. Cached tokens were read from the cache. Re-written ones had been in it after the request before, and were "
            "sent in full again: the beginning had changed, or the cache had expired. After a compaction all is new."
        )
        kinds = (
            ("cached", "needed", [each.read for each in requests]),
            ("re-written", "failed", [each.rewritten for each in requests]),
            ("new", "superseded", [each.new for each in requests]),
        )
        numbers = list(range(1, len(requests) + 1))
        data = [{"type": "bar", "name": name, "x": numbers, "y": sizes, "marker": {"color": COLOURS[colour]}} for name, colour, sizes in kinds]  # fmt: skip
        page.chart("cache", data, {"barmode": "stack", "bargap": 0.1, "xaxis": {"title": {"text": "request"}}, "yaxis": {"title": {"text": "tokens"}}})  # fmt: skip
        sums = [[name, sum(sizes)] for name, _, sizes in kinds]
        net = sum(each.read - each.rewritten for each in requests)
        rows = [*sums, ["net: cached less re-written", net]]
        page.table("cache_table", ["input of all requests", "tokens"], rows)
        if prices is None:
            page.say("With --prices FILE.toml the table has the money, too.")
        else:
            write_costs(page, requests, prices)


def write_costs(page: Page, requests: Sequence[BilledRequest], prices: PriceTable) -> None:
    """Write the costs of the requests whose models have a price."""
    priced = [(each, price) for each in requests if (price := prices.price_of(each.model)) is not None]  # fmt: skip
    costs = [cost_of(each, price) for each, price in priced]
    paid, without, again = (sum(cost[place] for cost in costs) for place in range(3))
    currency = one_line(prices.currency, 20)
    rows = [
        ["all input", money(paid)],
        ["all input, without a cache", money(without)],
        ["net saving of the cache", money(without - paid)],
        ["lost by re-writing", money(again)],
    ]
    page.table("costs", ["costs of the input", currency or "by the table"], rows)
    day = f" of {prices.date}" if prices.date else ""
    page.say(
        f"Prices are from the given table{day}. The saving is net: it includes the price of writing into the cache."
    )
    missing = len(requests) - len(priced)
    if missing:
        names = sorted({each.model for each in requests if prices.price_of(each.model) is None})
        listed = ", ".join(one_line(name) or "no name" for name in names[:5])
        page.say(f"Without {counted(missing, 'request')} to models that the table does not name: {listed}.")  # fmt: skip


def money(value: float) -> Number:
    """Return an amount, with at least three digits that are not 0."""
    return Number(value, f"{value:,.2f}" if abs(value) >= 1 or not value else f"{value:.3g}" if abs(value) >= 1e-4 else f"{value:.6f}")  # fmt: skip
