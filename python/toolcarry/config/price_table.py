"""The table of the settings for the price of a model's input."""

from __future__ import annotations

from toolcarry.config.field_types import Count, Dollars, Name, Price, TimeToLive
from toolcarry.config.table import Table
from toolcarry.errors import ConfigError
from toolcarry.types.prices import MOST_PRICE, CacheMatching, PriceModel


class ModelPrice(Table, frozen=True):
    """``[[prices]]``: what a provider charges for the input of a model; replaces the built-in price model.

    ``model``: the model's name, or whole parts from its beginning, as ``gpt-5`` for ``gpt-5-mini``; ``"*"`` for every
    model that no other entry matches.
    ``match``: how the cache matches a request with earlier ones: ``"marks"`` (up to a mark in the request),
    ``"prefix"`` (any common prefix), or ``"none"`` (no cache).
    ``cache_write``: the price of a token written to the cache, relative to the price of an uncached token.
    ``cache_read``: the price of a token read from the cache, relative to the price of an uncached token; required
    unless ``match`` is ``"none"``.
    ``input``: dollars per million uncached tokens; without it, costs are reported in tokens only.
    ``ttl``: seconds that the cache keeps a prefix after its last use; by default not known.
    ``least_tokens``: the shortest prefix that the cache keeps, in tokens.
    """

    model: Name
    match: CacheMatching = "prefix"
    cache_write: Price = 1.0
    cache_read: Price | None = None
    input: Dollars | None = None
    ttl: TimeToLive | None = None
    least_tokens: Count = 0

    def __post_init__(self) -> None:
        if self.match != "none" and self.cache_read is None:
            raise ValueError(
                f"cache_read: is required with match {self.match!r}; allowed: a number from 0 to {MOST_PRICE:,}"
            )
        try:
            self.price()
        except ConfigError as error:
            raise ValueError(str(error)) from None

    def price(self) -> PriceModel:
        """Return the price model.

        >>> ModelPrice(model="gpt-5", cache_read=0.1).price().in_ten_thousandths
        (10000, 1000)
        """
        return PriceModel(
            self.model,
            self.cache_write,
            1.0 if self.cache_read is None else self.cache_read,
            self.match,
            least_tokens={"": self.least_tokens},
            lifetime=self.ttl,
            longest_lifetime=self.ttl,
            input={} if self.input is None else {"": self.input},
        )
