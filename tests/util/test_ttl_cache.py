from __future__ import annotations

import random
import threading

import pytest
from support.clocks import Clock

from toolcarry._util.ttl_cache import SlidingCache
from toolcarry.errors import ConfigError


def test_an_entry_lives_from_its_last_use_on() -> None:
    clock = Clock()
    cache = SlidingCache[str, int](10, ttl=160.0, clock=clock)
    cache.set("used", 1)
    cache.set("unused", 2)
    for _ in range(4):
        clock.advance(80)
        assert cache.get("used") == 1
    assert cache.get("unused") is None
    clock.advance(159)
    assert cache.get("used") == 1
    clock.advance(170)  # a sixteenth more than 160
    assert cache.get("used") is None
    assert (len(cache), cache.size) == (0, 0)


def test_recent_entries_stay_and_oversized_ones_are_not_stored() -> None:
    cache = SlidingCache[str, str](10, 60.0, len)
    cache.set("a", "xxxx")
    cache.set("b", "xxxx")
    assert cache.get("a") == "xxxx"
    cache.set("c", "xxxx")
    assert [cache.get(key) for key in "abc"] == ["xxxx", None, "xxxx"]
    assert cache.size == 8
    cache.set("a", "x" * 11)
    assert cache.get("a") is None
    assert cache.get("c") == "xxxx"


@pytest.mark.parametrize("ttl", [0, -1.0, float("nan"), True, "1"])
def test_a_time_that_is_invalid(ttl: float) -> None:
    with pytest.raises(
        ConfigError, match=r"ttl: .* is not allowed; allowed: a number of seconds > 0"
    ):
        SlidingCache[str, int](1, ttl)


def test_many_threads_get_what_was_set_under_their_key() -> None:
    cache = SlidingCache[int, int](50, 60.0)
    wrong: list[tuple[int, int]] = []

    def work(seed: int) -> None:
        chance = random.Random(seed)
        for _ in range(500):
            key = chance.randrange(100)
            cache.set(key, key * 7)
            found = cache.get(chance.randrange(100))
            if found is not None and found % 7:
                wrong.append((key, found))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert len(cache) == 50
