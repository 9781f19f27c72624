"""Interrupts at a chosen moment: an exception where CPython would raise that of a signal."""

import sys
from collections.abc import Callable
from types import FrameType


class Interrupted(BaseException):
    """Raised in place of a signal's exception."""


MOMENTS = ("call", "return", "c_return")
"""The moments at which CPython looks for signals: as a function begins, and as a call of any kind returns."""


def interrupted(work: Callable[[], object], step: int, *files: str) -> bool:
    """Do ``work``, interrupted at moment number ``step`` in the code of ``files``; return false if it ended before.

    Moments in files whose path contains none of the given parts are not counted.
    """
    left = step

    def look(frame: FrameType, event: str, _: object) -> None:
        nonlocal left
        if event in MOMENTS and any(part in frame.f_code.co_filename for part in files):
            if left == 0:
                sys.setprofile(None)
                raise Interrupted
            left -= 1

    sys.setprofile(look)
    try:
        work()
    except Interrupted:
        return True
    finally:
        sys.setprofile(None)
    return False
