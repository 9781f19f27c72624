"""Price models: what the input of a request costs with a provider's prompt cache."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, get_args

from toolcarry._data import read_prices
from toolcarry.errors import ConfigError
from toolcarry.types.values import check_choice

if TYPE_CHECKING:
    from toolcarry.types.values import ProjectReport

__all__ = [
    "ALL_PRICES",
    "ANY_MODEL",
    "MOST_PRICE",
    "NO_CACHE",
    "CacheMatching",
    "Cost",
    "PriceModel",
    "price_models",
    "price_of",
    "set_price",
]

CacheMatching = Literal["marks", "prefix", "none"]

NO_CACHE: Final = "none"
"""The name of the price model without a cache."""
ANY_MODEL: Final = "*"
"""The name of a price for every model that no other price matches."""
MOST_PRICE: Final = 1_000
"""The highest allowed price of a written or read token, relative to the price of an uncached token."""
ALL_PRICES: Final = ((10_000, 10_000), (20_000, 250))
"""The prices with the lowest and the highest ratio among the built-in price models, in ten-thousandths.

What holds at both holds at every price between them. They are written here so that a projection need not read the
table."""


class Cost(NamedTuple):
    """The cost of a request's input.

    ``written``, ``read`` and ``uncached`` count the tokens written to the cache, read from it, and processed without
    it; ``units`` is their total price, in uncached tokens.
    """

    written: int
    read: int
    uncached: int
    units: float


@dataclass(frozen=True, slots=True)
class PriceModel:
    """The price of input tokens with a prompt cache, relative to the price of an uncached token.

    >>> PriceModel("own", cache_write=1.0, cache_read=0.25, matching="prefix").in_ten_thousandths
    (10000, 2500)

    ``cache_write``: The price of a token that is written to the cache.
    ``cache_read``: The price of a token that is read from the cache.
    ``matching``: How the cache matches a request with earlier ones: ``"marks"`` (up to a mark in the request),
    ``"prefix"`` (any common prefix), or ``"none"`` (no cache).
    ``lookback``: The number of blocks, counted back from a marked block and including it, in which the cache looks for
    a prefix. None: all.
    ``least_tokens``: The shortest prefix that the cache keeps, in tokens, by the beginning of the model's name.
    ``lifetime``: Seconds that the cache keeps a prefix after its last use. None: not known.
    ``longest_lifetime``: Seconds after the last use when a prefix is certainly gone. None: not known.
    ``input``: Dollars per million input tokens, by the beginning of the model's name.
    ``destinations``: The destinations that charge these prices.
    ``source``: Where the numbers come from.
    ``date``: When they were read there.
    """

    name: str
    cache_write: float
    cache_read: float
    matching: CacheMatching
    lookback: int | None = None
    least_tokens: Mapping[str, int] = field(default_factory=lambda: {"": 0}, hash=False)
    lifetime: float | None = None
    longest_lifetime: float | None = None
    input: Mapping[str, float] = field(default_factory=dict, hash=False)
    destinations: tuple[str, ...] = ()
    source: tuple[str, ...] = ()
    date: dt.date | None = None

    def __post_init__(self) -> None:
        """Raise a ``ConfigError`` for a price that no provider can have."""
        check_choice("matching", self.matching, get_args(CacheMatching))
        for name in ("cache_write", "cache_read"):
            value = getattr(self, name)
            is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
            if not is_number or not 0 <= value <= MOST_PRICE:
                raise ConfigError(
                    f"{name}: {value!r:.80} is not allowed; allowed: a number from 0 to {MOST_PRICE}"
                )
            if self.matching == "none" and value != 1:
                raise ConfigError(f"{name}: {value!r} is not allowed without a cache; allowed: 1")

    @property
    def in_ten_thousandths(self) -> tuple[int, int]:
        """The prices of writing and of reading a token, in ten-thousandths of the price of an uncached token.

        >>> price_models()["claude"].in_ten_thousandths
        (12500, 1000)
        """
        return round(self.cache_write * 10_000), round(self.cache_read * 10_000)

    def least_of(self, model: str = "") -> int:
        """Return the shortest prefix, in tokens, that the cache keeps for a model; without a model, the largest such
        minimum.

        >>> price_models()["claude"].least_of("claude-opus-4-6"), price_models()["claude"].least_of()
        (4096, 4096)
        """
        found = longest_match(model, self.least_tokens) if model else None
        return max(self.least_tokens.values()) if found is None else self.least_tokens[found]

    def cost(self, written: int, read: int, model: str = "", *, is_marked: bool = True) -> Cost:
        """Return the cost of a request that writes ``written`` and reads ``read`` tokens, if the cache accepts it.

        ``is_marked``: False if the request has no mark; some caches need one.

        >>> price_models()["claude"].cost(1_000, 9_000)
        Cost(written=1000, read=9000, uncached=0, units=2150.0)
        >>> price_models()["claude"].cost(1_000, 0, "claude-opus-4-6")
        Cost(written=0, read=0, uncached=1000, units=1000.0)
        """
        total = written + read
        is_cached = self.matching == "prefix" or (self.matching == "marks" and is_marked)
        if not is_cached or total < self.least_of(model):
            return Cost(0, 0, total, float(total))
        return Cost(written, read, 0, written * self.cache_write + read * self.cache_read)

    def costs(
        self,
        report: ProjectReport,
        model: str = "",
        *,
        is_warm: bool = True,
        is_marked: bool = True,
    ) -> tuple[Cost, Cost]:
        """Return the cost of a projected request, and the cost of sending it unchanged.

        ``report`` is the report of the projection. ``is_warm``: False if the cache no longer holds anything of the
        previous request.
        """
        sent = (report.written_tokens, report.read_tokens)
        read = min(max(report.read_tokens + report.read_tokens_saved, 0), report.unchanged_tokens)
        without = (report.unchanged_tokens - read, read)
        if not is_warm:
            sent, without = (sum(sent), 0), (sum(without), 0)
        return (
            self.cost(*sent, model, is_marked=is_marked),
            self.cost(*without, model, is_marked=is_marked),
        )

    def dollars(self, tokens: float, model: str) -> float | None:
        """Return the price of uncached input tokens in dollars; None for a model whose price is not known.

        >>> price_models()["claude"].dollars(1_000_000, "claude-opus-4-6")
        5.0
        """
        found = longest_match(model, self.input)
        return None if found is None else tokens * self.input[found] / 1_000_000


@cache
def price_models() -> dict[str, PriceModel]:
    """Return the built-in price models by name. The caller must not change them.

    >>> price_models()["claude-1h"].cache_write
    2.0
    """
    return {record["name"]: price_model(record) for record in read_prices()}


def price_model(record: Mapping[str, Any]) -> PriceModel:
    """Return the price model of a record."""
    least = record["least_tokens"]
    return PriceModel(
        name=record["name"],
        cache_write=record["cache_write"],
        cache_read=record["cache_read"],
        matching=record["matching"],
        lookback=record.get("lookback"),
        least_tokens=least if isinstance(least, dict) else {"": least},
        lifetime=record.get("lifetime"),
        longest_lifetime=record.get("longest_lifetime"),
        input=record["input"],
        destinations=tuple(record["destinations"]),
        source=tuple(record["source"]),
        date=record["date"],
    )


@lru_cache(maxsize=256)
def price_of(model: str, *, lifetime: int | None = None) -> PriceModel | None:
    """Return the price model of a model; None if it is not known. A provider before the name, and a region, are ignored.

    If a provider has price models with several lifetimes, ``lifetime`` selects one; by default the shortest.

    >>> price_of("anthropic/claude-sonnet-4-5").name, price_of("claude-sonnet-4-5", lifetime=3_600).name
    ('claude', 'claude-1h')
    >>> price_of("us.anthropic.claude-opus-5-5-v1:0").name, price_of("unknown")
    ('claude-5.5', None)
    """
    found = [(key, price) for price in price_models().values() if (key := longest_match(model, price.input)) is not None]  # fmt: skip
    longest = max((len(key) for key, _ in found), default=0)
    fitting = [price for key, price in found if len(key) == longest]
    exact = [price for price in fitting if price.lifetime == lifetime]
    return next(iter(exact or fitting), None)


def set_price(model: str, prices: Mapping[str, PriceModel]) -> PriceModel | None:
    """Return the price model that the user set for a model, by the beginning of its name, or for ``"*"``.

    >>> own = {name: PriceModel(name, 1.0, 0.5, "prefix") for name in ("gpt-5", "*")}
    >>> set_price("openai/gpt-5-mini", own).name, set_price("llama", own).name, set_price("llama", {})
    ('gpt-5', '*', None)
    """
    found = longest_match(
        model, {name: price for name, price in prices.items() if name != ANY_MODEL}
    )
    return prices.get(ANY_MODEL if found is None else found)


def longest_match(model: str, names: Mapping[str, object]) -> str | None:
    """Return the longest name that a model's name begins with; the match must end at the end of a part.

    >>> longest_match("openai/gpt-5.4-mini-2026-03-17", {"gpt-5": 1, "gpt-5.4": 2, "gpt-5.4-mini": 3})
    'gpt-5.4-mini'
    """
    own = model.lower().removeprefix("ft:").rpartition("/")[2]
    for region in ("anthropic.", "amazon.", "openai.", "xai."):
        own = own.rpartition(region)[2]
    ends = ("", "-", "@", ":")
    fitting = [
        name
        for name in names
        if own.startswith(name) and (not name or own[len(name) : len(name) + 1] in ends)
    ]
    return max(fitting, key=len, default=None)
