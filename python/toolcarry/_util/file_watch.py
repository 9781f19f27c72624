"""Watch a file for changes, through events of its folder. Needs watchfiles."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from toolcarry.model.text.sanitize import clean_line
from toolcarry.redact.logs import get_logger

__all__ = ["Watching"]

LOOK_EVERY: Final = 5.0
"""Seconds between checks without an event. They cover network folders, and a folder that was replaced."""
DEBOUNCE: Final = 100
"""Milliseconds for which changes are collected, so that a file is not read while it is being written."""
STEP: Final = 20
"""Milliseconds between two checks for more changes, or for the request to stop."""

logger = get_logger("toolcarry.watching")


class Watching(ABC):
    """Base of the classes that follow a file. Between ``start`` and ``stop``, or in a ``with`` block, a thread calls
    ``_look`` whenever something happens in the folder of the file.
    """

    def __init__(self, path: Path | None, thread: str) -> None:
        self._watched = path
        self._thread_name = thread
        self._end = threading.Event()
        self._thread: threading.Thread | None = None

    @abstractmethod
    def _look(self) -> None:
        """Read the file again if it has changed."""

    def start(self) -> None:
        """Watch the file, in a thread that ends with the process. Do nothing if it is watched already."""
        if self._watched is None or self._thread is not None:
            return
        self._end = end = threading.Event()
        thread = threading.Thread(
            target=self._watch, args=(self._watched, end), name=self._thread_name, daemon=True
        )
        try:
            thread.start()
            self._thread = thread
        except BaseException:  # an interrupt: the thread may have begun
            end.set()
            self._thread = None
            raise

    def stop(self) -> None:
        """Stop watching; values that were read are kept. May be called repeatedly, and from the thread itself."""
        self._end.set()
        thread, self._thread = self._thread, None
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def _watch(self, path: Path, end: threading.Event) -> None:
        for _ in occasions(path, end):
            self._look()


def occasions(path: Path, end: threading.Event) -> Iterator[None]:
    """Yield whenever something happens in a file's folder, and every few seconds, until ``end`` is set."""
    from watchfiles import watch  # noqa: PLC0415 - an extra

    yield  # for changes before the folder was watched
    # Watch folders and not the file: a replacement is a new file. A link needs the folder of its target, too.
    folders = {path.absolute().parent, path.resolve().parent}
    try:
        for _ in watch(
            *folders,
            watch_filter=None,  # a folder may hold a link that is swapped, whatever its name
            debounce=DEBOUNCE,
            step=STEP,
            stop_event=end,
            rust_timeout=int(LOOK_EVERY * 1_000),
            yield_on_timeout=True,
            recursive=False,
            raise_interrupt=False,
        ):
            yield
    except (OSError, RuntimeError) as error:  # the folder does not exist, or too many are watched
        logger.warning(
            "%s: can't watch its folder (%s); checking the file every %g seconds instead",
            clean_line(str(path), 400),
            type(error).__name__,
            LOOK_EVERY,
        )
    while not end.wait(LOOK_EVERY):
        yield
