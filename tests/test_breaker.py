from __future__ import annotations

import time

from toolcarry.breaker import Breaker


def test_what_failed_is_left_alone_and_then_tried_by_one() -> None:
    breaker = Breaker(pause=0.2)
    assert breaker.may_try()
    assert breaker.may_try()
    breaker.failed()
    assert not breaker.may_try()
    time.sleep(0.25)
    assert [breaker.may_try() for _ in range(3)] == [True, False, False]
    breaker.failed()
    assert not breaker.may_try()
    time.sleep(0.25)
    assert breaker.may_try()
    breaker.succeeded()
    assert [breaker.may_try() for _ in range(3)] == [True, True, True]
