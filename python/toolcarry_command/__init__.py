"""The script ``toolcarry``. It stands outside of the package, so that it is running before the package is imported."""

from __future__ import annotations

import os
import signal
from contextlib import suppress

__all__ = ["main"]

INTERRUPTED = 130


def main() -> int:
    """Import the command line and run it. An interrupt before it runs ends the process with one line."""
    is_default = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if is_default:  # else the interrupt is ignored, as in the background of a shell
        signal.signal(signal.SIGINT, stop)
    from toolcarry.cli import main as run  # noqa: PLC0415 - half a second, in which an interrupt is answered

    with suppress(ModuleNotFoundError):  # of the extra, which ``run`` reports
        import toolcarry.cli.app  # noqa: F401, PLC0415 - the same
    if is_default:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    return run()


def stop(*_: object) -> None:
    """End at once: nothing was begun. An exception in the middle of an import might be swallowed, or shown whole."""
    os.write(2, b"toolcarry: interrupted\n")
    os._exit(INTERRUPTED)
