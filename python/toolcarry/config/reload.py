"""Settings that follow their file: a change is taken over whole, or not at all."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from toolcarry.config.find import Place, find_file
from toolcarry.config.load import label, load_bytes, read_file
from toolcarry.config.tables import Config
from toolcarry.errors import ConfigError
from toolcarry.redact.logs import get_logger

__all__ = ["ReloadingConfig"]

LOOK_EVERY: Final = 5.0
"""Seconds after which the file is looked at unasked: for network folders, and for a folder that was replaced."""
DEBOUNCE: Final = 100
"""Milliseconds for which changes are collected, so that a file is not read while it is being written."""
STEP: Final = 20
"""Milliseconds between two looks whether there are more changes, or an end."""

logger = get_logger("toolcarry.config")


class ReloadingConfig:
    """The settings of a file, now: ``current`` is replaced when the file changes. Needs the extra ``reload``.

    ``path`` is as in ``load_config``, and so are the errors of the beginning. Later nothing raises: a file that is
    broken, empty or gone is logged once, counted in ``failures``, and the settings stay as they were.
    ``on_change`` is called with the new settings, in the thread that watches; what it raises is logged and counted, too.
    The environment still wins over the file. A context manager: between ``start`` and ``stop`` a thread watches the file's folder. ``current`` may be read in any
    thread; who needs settings that agree with one another reads it once.

    >>> with ReloadingConfig() as settings:  # doctest: +SKIP
    ...     serve(settings.current.serve)
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        on_change: Callable[[Config], object] | None = None,
    ) -> None:
        check_extra()
        self._place = find_file(path)
        self._on_change = on_change
        data = read_file(self._place) if self._place else None
        self._seen: bytes | str | None = data
        loaded = load_bytes(data, self._place)
        loaded.warn()
        self.current: Config = loaded.config
        self.failures = 0
        """How many changes could not be taken over, or were more than ``on_change`` could bear."""
        self._end = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Watch the file, in a thread that ends with the process. Does nothing where it is watched already."""
        if self._place is None or self._thread is not None:
            return
        self._end = threading.Event()
        self._thread = threading.Thread(
            target=self._watch,
            args=(self._place, self._end),
            name="toolcarry-config-reload",
            daemon=True,
        )
        self._thread.start()

    def stop(self) -> None:
        """Watch no more; the settings stay as they are. May be called again, and from ``on_change``."""
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

    def _watch(self, place: Place, end: threading.Event) -> None:
        for _ in occasions(place.path, end):
            self._look(place)

    def _look(self, place: Place) -> None:
        """Take over what the file says, where that is something else than before."""
        state: bytes | str | None
        try:
            state = read_file(place)
        except ConfigError as error:
            state = str(error)
        if state == self._seen:
            return
        self._seen = state
        try:
            config = self._read(place, state)
        except ConfigError as error:
            logger.error("%s; the settings stay as they were", error)  # noqa: TRY400 - the message says all
            self.failures += 1
            return
        if config == self.current:
            return
        self.current = config
        logger.info("%s: the settings were loaded again", label(place.path))
        if self._on_change is None:
            return
        try:
            self._on_change(config)
        except Exception as error:  # noqa: BLE001 - the host's own, which must not end the watching
            logger.error(  # noqa: TRY400 - what it says may hold anything
                "%s: on_change raised %s; the settings are the new ones",
                label(place.path),
                type(error).__name__,
            )
            self.failures += 1

    def _read(self, place: Place, state: bytes | str | None) -> Config:
        """The settings of what was seen; ``ConfigError`` where there is nothing to go by."""
        if isinstance(state, str):
            raise ConfigError(state)
        if not state:  # whoever writes it anew empties it first
            raise ConfigError(f"{label(place.path)}: {'is gone' if state is None else 'is empty'}")
        return load_bytes(state, place).config


def check_extra() -> None:
    """Raise ``ConfigError`` where nothing can be watched."""
    try:
        import watchfiles  # noqa: F401, PLC0415 - an extra
    except ImportError:
        raise ConfigError(
            "reload: needs watchfiles, which is not installed; pip install 'toolcarry[reload]'"
        ) from None


def occasions(path: Path, end: threading.Event) -> Iterator[None]:
    """Come up whenever something happened in a file's folder, and every few seconds, until the end."""
    from watchfiles import watch  # noqa: PLC0415 - an extra

    yield  # what changed before the folder was watched
    # Not the file: what replaces it is another one. Its folder tells, and that of what a link leads to.
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
    except (OSError, RuntimeError) as error:  # no such folder, or too many are watched
        logger.warning(
            "%s: its folder can't be watched (%s); the file is looked at every %g seconds",
            label(path),
            type(error).__name__,
            LOOK_EVERY,
        )
    while not end.wait(LOOK_EVERY):
        yield
