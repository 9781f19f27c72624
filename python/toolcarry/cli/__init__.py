"""The command line. It parses arguments and prints results; the library does the work.

Data goes to stdout as UTF-8, everything else to stderr. ``main`` turns every expected error into an exit code. Only a
bug in toolcarry produces a traceback.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress

from toolcarry._util.pool import is_busy
from toolcarry.cli.exit_codes import BROKEN_PIPE, FAILED, INTERRUPTED, USAGE, FileError, store_code
from toolcarry.cli.terminal import one_line
from toolcarry.errors import BackendError, ConfigError, StoreError

__all__ = ["main"]

INSTALL = (
    "toolcarry: the command line needs typer and rich; install them: pip install 'toolcarry[cli]'"
)


def main(args: Sequence[str] | None = None) -> int:
    """Run the command line on ``args`` (default: ``sys.argv``) and return its exit code.

    >>> main(["--version"])
    toolcarry 0.2.0
    0
    """
    code = FAILED
    try:
        code = run(args)
        flush()
    except KeyboardInterrupt:
        code = INTERRUPTED
    except BrokenPipeError:
        code = BROKEN_PIPE
    except FileError as error:
        code = error.code
        complain(f"toolcarry: {error}")
    except (BackendError, ConfigError) as error:
        code = USAGE
        complain(f"toolcarry: {error}")
    except StoreError as error:
        code = store_code(error)
        complain(f"toolcarry: {one_line(str(error), 400)}")
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("click", "rich", "typer"):
            raise
        code = USAGE
        complain(INSTALL)
    except MemoryError:
        complain("toolcarry: the input does not fit into memory")
    except OSError as error:  # read errors were reported by the command that read
        complain(f"toolcarry: cannot write: {error.strerror or error}")
    if code == INTERRUPTED:
        with suppress(ValueError):  # raised outside of the main thread
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second Ctrl-C has nothing to stop
        if (
            is_busy()
        ):  # a thread that was left may hold the lock of stdout, or the interpreter for seconds
            os._exit(code)
    if code not in (0, USAGE):
        discard()
    return code


def run(args: Sequence[str] | None) -> int:
    """Run the command and return its exit code; typer ends every command with ``SystemExit``."""
    from toolcarry.cli.app import app  # noqa: PLC0415 - needs the extra "cli"

    try:
        app(args=args, prog_name="toolcarry")
    except SystemExit as error:
        reason: BaseException | None = error
        while reason is not None:  # typer and rich exit with 1 on a broken pipe
            if isinstance(reason, BrokenPipeError):
                raise reason from None
            reason = reason.__context__
        return error.code if isinstance(error.code, int) else FAILED if error.code else 0
    return 0


def flush() -> None:
    """Flush stdout and stderr while a failure can still be reported."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()


def discard() -> None:
    """Discard buffered output that can't be written, so that the interpreter does not fail on it at exit."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):
            with suppress(OSError, ValueError):
                nowhere = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nowhere, stream.fileno())
                os.close(nowhere)


def complain(message: str) -> None:
    """Print ``message`` to stderr, if there is one."""
    with suppress(OSError, ValueError):
        print(message, file=sys.stderr, flush=True)  # noqa: T201 - the command line prints
