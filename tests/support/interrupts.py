"""Interrupts and kills at a chosen moment: where CPython would raise the exception of a signal."""

import os
import signal
import sys
import warnings
from collections.abc import Callable
from types import FrameType


class Interrupted(BaseException):
    """Raised in place of a signal's exception."""


MOMENTS = ("call", "return", "c_return")
"""The moments at which CPython looks for signals: as a function begins, and as a call of any kind returns.

It does not between the return of an ``__enter__`` and the block (https://bugs.python.org/issue29988).
"""


def interrupt() -> None:
    raise Interrupted


def at_moment(
    act: Callable[[], object],
    work: Callable[[], object],
    step: int,
    *files: str,
    and_returns: bool = False,
) -> int:
    """Do ``work``, call ``act`` at moment number ``step`` in the code of ``files``, and return the number of moments.

    Moments in files whose path contains none of the given parts are not counted, nor are those after ``act``.
    With ``and_returns`` the return of every Python function that such a file called is a moment, too.
    """
    count = 0

    def look(frame: FrameType, event: str, _: object) -> None:
        nonlocal count
        is_return = event == "return"
        if event not in MOMENTS or (is_return and frame.f_code.co_name == "__enter__"):
            return
        if is_in(frame, files) or (and_returns and is_return and is_in(frame.f_back, files)):
            count += 1
            if count > step:
                sys.setprofile(None)
                act()

    sys.setprofile(look)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def is_in(frame: FrameType | None, files: tuple[str, ...]) -> bool:
    return frame is not None and any(part in frame.f_code.co_filename for part in files)


def interrupted(
    work: Callable[[], object], step: int, *files: str, and_returns: bool = False
) -> bool:
    """Do ``work``, interrupted at moment number ``step``; return false if it ended before."""
    try:
        return at_moment(interrupt, work, step, *files, and_returns=and_returns) > step
    except Interrupted:
        return True


def killed(work: Callable[[], object], step: int, *files: str) -> bool:
    """Do ``work`` in a fork, which is killed at moment number ``step``; return false if it ended before."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # newer versions of Python warn of forks while threads run
        process = os.fork()
    if process == 0:
        code = 1
        try:
            at_moment(lambda: os.kill(os.getpid(), signal.SIGKILL), work, step, *files)
            code = 0
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    assert code in (0, -signal.SIGKILL)
    return code != 0
