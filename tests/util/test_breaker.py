from __future__ import annotations

from support.clocks import Clock

from toolcarry._util.circuit_breaker import Breaker


def test_a_failed_call_is_paused_and_then_tried_by_one() -> None:
    clock = Clock()
    breaker = Breaker(pause=60.0, clock=clock)
    assert breaker.may_try()
    assert breaker.may_try()
    breaker.failed()
    assert not breaker.may_try()
    clock.advance(59)
    assert not breaker.may_try()
    clock.advance(1)
    assert [breaker.may_try() for _ in range(3)] == [True, False, False]
    breaker.failed()
    assert not breaker.may_try()
    clock.advance(60)
    assert breaker.may_try()
    breaker.succeeded()
    assert [breaker.may_try() for _ in range(3)] == [True, True, True]
