"""The cache of a session by its usage records, and the price table that ``report --prices`` reads."""

from __future__ import annotations

from typing import Any

import pytest
from support.rows import for_each

from toolcarry.cli.report.cache import cost_of, requests_of
from toolcarry.cli.report.prices import Price, parse_prices, read_prices
from toolcarry.errors import ConfigError


def answer(name: object, read: object, written: object, rest: object = 0, **more: Any) -> dict[str, Any]:  # fmt: skip
    """A record of Claude Code with the usage of a request."""
    usage = {"cache_read_input_tokens": read, "cache_creation_input_tokens": written, "input_tokens": rest}  # fmt: skip
    return {"message": {"id": name, "model": "m", "usage": usage | more.pop("usage", {})}, **more}


def codex(total: int, given: int, cached: int) -> dict[str, Any]:
    """An event of Codex with the usage of a request, and of all requests."""
    last = {"input_tokens": given, "cached_input_tokens": cached}
    info = {"total_token_usage": {"input_tokens": total}, "last_token_usage": last}
    return {"type": "event_msg", "payload": {"type": "token_count", "info": info}}


def sizes(*records: object, marks: tuple[int, ...] = ()) -> list[tuple[int, int, int]]:
    """The cached, re-written and new tokens of each request."""
    return [(each.read, each.rewritten, each.new) for each in requests_of(records, marks)]


def test_what_grows_is_new() -> None:
    assert sizes(answer("a", 0, 1_000, 5), answer("b", 1_000, 300, 5)) == [(0, 0, 1_005), (1_000, 0, 305)]  # fmt: skip


def test_what_was_cached_and_is_not_read_was_written_again() -> None:
    assert sizes(answer("a", 0, 1_000), answer("b", 400, 900)) == [(0, 0, 1_000), (400, 600, 300)]


def test_a_shorter_request_was_written_again_as_far_as_it_goes() -> None:
    assert sizes(answer("a", 0, 1_000), answer("b", 100, 300))[1] == (100, 300, 0)


def test_after_a_compaction_all_is_new() -> None:
    records = [answer("a", 0, 1_000), {"isCompactSummary": True}, answer("b", 100, 300)]
    assert sizes(*records, marks=(1,))[1] == (100, 0, 300)


def test_records_of_one_answer_are_one_request() -> None:
    records = [answer("a", 0, 10), answer("a", 0, 20), answer("b", 20, 0)]
    assert sizes(*records) == [(0, 0, 20), (20, 0, 0)]


def test_side_chains_are_other_conversations() -> None:
    assert sizes(answer("a", 0, 10), answer("b", 0, 99, isSidechain=True)) == [(0, 0, 10)]
    assert sizes(answer("b", 0, 99, isSidechain=True)) == [(0, 0, 99)]


def test_codex_caches_by_itself_and_repeats_its_events() -> None:
    records = [
        {"type": "turn_context", "payload": {"model": "gpt-5"}},
        codex(1_000, 1_000, 0),
        codex(1_000, 1_000, 0),
        codex(2_200, 1_200, 640),
    ]
    assert sizes(*records) == [(0, 0, 1_000), (640, 360, 200)]
    assert {each.model for each in requests_of(records)} == {"gpt-5"}


@for_each(
    "record",
    [
        3,
        None,
        {"message": 3},
        {"message": {"usage": []}},
        {"payload": {"type": "token_count", "info": None}},
        {"payload": {"type": "token_count", "info": {"last_token_usage": {"input_tokens": "9"}}}},
        answer("a", True, -3, 10**400),
        answer(["a"], 1.5, "7", None),
    ],
)
def test_what_is_no_usage_is_left_out(record: object) -> None:
    assert sizes(record) == []


def test_an_id_that_is_no_string_is_none() -> None:
    assert sizes(answer({"x": 1}, 0, 5), answer({"x": 1}, 5, 0)) == [(0, 0, 5), (5, 0, 0)]


def test_costs_of_a_request() -> None:
    price = Price(input=10, cache_read=1, cache_write=12, cache_write_1h=20)
    first, second = requests_of(
        [
            answer("a", 0, 1_000_000),
            answer("b", 400_000, 600_000, usage={"cache_creation": {"ephemeral_1h_input_tokens": 100_000}}),
        ]
    )  # fmt: skip
    assert cost_of(first, price) == (12, 10, 0)
    paid, without, again = cost_of(second, price)
    assert (paid, without) == pytest.approx((0.4 + 0.5 * 12 + 0.1 * 20, 10))
    assert again == pytest.approx(0.5 * 12 + 0.1 * 20 - 0.6)


def test_a_name_comes_before_a_pattern_and_a_long_pattern_before_a_short_one() -> None:
    table = parse_prices(b"""
        [models]
        "*".input = 1
        "gpt-4*".input = 2
        "gpt-4o".input = 3
        "x[1]".input = 4
    """)
    found = [table.price_of(name) for name in ("o3", "gpt-4.1", "gpt-4o", "x[1]")]
    assert [each and each.input for each in found] == [1, 2, 3, 4]
    assert parse_prices(b"models.a.input = 1").price_of("b") is None


@for_each(
    ("data", "error"),
    [
        (b"a = = 1", "is not TOML: Invalid value (at line 1, column 5)"),
        (b"\xff", "is not UTF-8 at byte 0"),
        (b"", "models: None is not allowed"),
        (b"price = 1", "price: is not allowed; allowed: currency, date, models"),
        (b"models.a = 1", 'models."a": 1 is not allowed; allowed: a table'),
        (b"models.a.cache_read = 1", 'models."a".input: is missing'),
        (b"models.a.inputs = 1", 'models."a".inputs: is not allowed; allowed: input,'),
        (b"models.a.input = true", 'models."a".input: True is not allowed; allowed: a number >= 0'),
        (b"models.a.input = nan", 'models."a".input: nan is not allowed'),
        (b"models.a.input = inf", 'models."a".input: inf is not allowed'),
        (b"models.a.input = -1", 'models."a".input: -1 is not allowed'),
        (b"currency = 1", "currency: 1 is not allowed; allowed: a string"),
        (b'date = "today"', "date: 'today' is not allowed; allowed: a date"),
    ],
)
def test_errors_of_a_price_table_have_a_place(data: bytes, error: str) -> None:
    with pytest.raises(ConfigError) as raised:
        parse_prices(data)
    assert error in str(raised.value)


def test_the_file_is_named(tmp_path) -> None:
    path = tmp_path / "prices.toml"
    path.write_bytes(b"models.a.input = -1")
    with pytest.raises(ConfigError, match=r"prices\.toml: models"):
        read_prices(str(path))


def test_a_price_table_that_may_never_end_is_refused() -> None:
    with pytest.raises(ConfigError, match="/dev/zero: is a device or a named pipe"):
        read_prices("/dev/zero")
