"""The price models: well-formed, with their sources, found by the names of models, and listed in the docs."""

import datetime as dt
import os
from pathlib import Path

import pytest

from toolcarry._data import destination_names, read_prices
from toolcarry.types import NO_CACHE, PriceModel, price_models, price_of
from toolcarry.types.prices import ALL_PRICES

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "prices.md"
HEAD = "| Price model | Write | Read | Matching | Least tokens | Lifetime | Longest | Models: dollars for a million input tokens |"


@pytest.mark.parametrize("price", price_models().values(), ids=price_models())
def test_a_price_model(price: PriceModel) -> None:
    assert 0 < price.cache_read <= 1 <= price.cache_write
    assert (price.matching == "none") == (price.cache_read == 1)
    assert price.source
    assert all(address.startswith("https://") for address in price.source)
    assert isinstance(price.date, dt.date)
    assert set(price.destinations) <= set(destination_names())
    assert all(dollars > 0 for dollars in price.input.values())
    assert all(least >= 0 for least in price.least_tokens.values())
    if price.lifetime is not None and price.longest_lifetime is not None:
        assert price.lifetime <= price.longest_lifetime


def test_the_records_say_no_more_than_the_models_hold() -> None:
    fields = set(PriceModel.__dataclass_fields__)
    assert all(set(record) <= fields for record in read_prices())
    assert len(price_models()) == len(read_prices())


UNPRICED = {
    "bedrock-llama", "cohere", "deepseek-vision", "glm", "kimi", "minimax", "openrouter", "qwen", "vertex-gemini", "xai",
}  # fmt: skip


def test_every_other_destination_has_a_price() -> None:
    priced = {name for price in price_models().values() for name in price.destinations}
    assert set(destination_names()) - priced == UNPRICED


def test_without_a_cache_nothing_is_cheaper() -> None:
    price = price_models()[NO_CACHE]
    assert (price.cache_write, price.cache_read, price.least_of("any")) == (1, 1, 0)


@pytest.mark.parametrize(
    ("model", "name", "least", "dollars"),
    [
        ("claude-opus-4-20250514", "claude", 1_024, 15),
        ("claude-opus-4-6", "claude", 4_096, 5),
        ("anthropic.claude-opus-5-5", "claude-5.5", 512, 4),
        ("openrouter/anthropic/claude-fable-5-1", "claude-5.1", 512, 10),
        ("gpt-4o-mini-2024-07-18", "gpt-4o", 1_024, 0.15),
        ("gpt-5.6", "gpt-5.6", 1_024, 4),
        ("gemini/gemini-2.5-pro", "gemini", 2_048, 1.25),
        ("eu.amazon.nova-pro-v1:0", "nova", 1_000, 0.8),
    ],
)
def test_the_price_of_a_model(model: str, name: str, least: int, dollars: float) -> None:
    price = price_of(model)
    assert price is not None
    assert (price.name, price.least_of(model)) == (name, least)
    assert price.dollars(1_000_000, model) == dollars


@pytest.mark.parametrize("model", ["", "gpt-40", "claudette", "gpt-5x"])
def test_no_price_is_guessed(model: str) -> None:
    assert price_of(model) is None


def test_the_lifetime_chooses_the_price_model() -> None:
    assert [getattr(price_of("claude-opus-5-5", lifetime=each), "name", None) for each in (None, 300, 3_600)] == [
        "claude-5.5", "claude-5.5", "claude-5.5-1h",
    ]  # fmt: skip


def test_the_bounds_hold_for_every_price_model() -> None:
    ratios = [price.cache_write / price.cache_read for price in price_models().values()]
    assert {write / read for write, read in ALL_PRICES} == {min(ratios), max(ratios)}


def row(price: PriceModel) -> str:
    """Return the line of a price model in the docs."""
    least = ", ".join(f"{name} {size:,}".strip() for name, size in price.least_tokens.items())
    models = ", ".join(f"{name} {dollars:g}" for name, dollars in sorted(price.input.items()))
    ages = [f"{age:,} s" if age else "not known" for age in (price.lifetime, price.longest_lifetime)]  # fmt: skip
    cells = [f"`{price.name}`", f"{price.cache_write:g}", f"{price.cache_read:g}", price.matching, least, *ages, models]  # fmt: skip
    return f"| {' | '.join(cells)} |"


def test_the_docs_list_every_price_model() -> None:
    """The table ends the page. ``TOOLCARRY_WRITE_GOLDEN=1`` writes it."""
    rows = [HEAD, "|---|--:|--:|---|---|--:|--:|---|", *map(row, price_models().values())]
    text = PAGE.read_text("utf-8")
    new = text.partition(HEAD)[0] + "\n".join(rows) + "\n"
    if os.environ.get("TOOLCARRY_WRITE_GOLDEN") == "1":
        PAGE.write_text(new, "utf-8")
    assert PAGE.read_text("utf-8") == new
