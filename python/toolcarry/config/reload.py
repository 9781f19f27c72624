"""Settings that are reloaded when their file changes: a change is applied as a whole, or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable

from toolcarry._util.file_watch import Watching
from toolcarry.config.load import SettingsFile, find_file, label, load_bytes, read_file
from toolcarry.config.tables import Config
from toolcarry.errors import ConfigError
from toolcarry.redact.logs import get_logger

__all__ = ["ReloadingConfig"]

logger = get_logger("toolcarry.config")


class ReloadingConfig(Watching):
    """The current settings of a file: ``current`` is replaced when the file changes. Needs the extra ``reload``.

    ``path`` is found, and errors are raised at the start, as in ``load_config``. Later changes never raise: a file that
    is broken, empty or missing is logged once and counted in ``failures``, and the settings stay unchanged.
    ``on_change`` is called with the new settings, in the thread that watches the file; its errors are logged and
    counted as well. The environment still overrides the file. As a context manager, or between ``start`` and ``stop``,
    a thread watches the file's folder. ``current`` may be read in any thread; read it once for settings that belong
    together.

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
        self._place = place = find_file(path)
        super().__init__(place.path if place else None, "toolcarry-config-reload")
        self._on_change = on_change
        data = read_file(place) if place else None
        self._seen: bytes | str | None = data
        loaded = load_bytes(data, place)
        loaded.warn()
        self.current: Config = loaded.config
        self.failures = 0
        """The number of changes that could not be applied, or whose ``on_change`` call failed."""

    def _look(self) -> None:
        """Apply the file if it has changed."""
        place = self._place
        if place is None:
            return
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
            logger.error("%s; the settings are unchanged", error)  # noqa: TRY400 - the message says enough
            self.failures += 1
            return
        if config == self.current:
            return
        self.current = config
        logger.info("%s: reloaded the settings", label(place.path))
        if self._on_change is None:
            return
        try:
            self._on_change(config)
        except Exception as error:  # noqa: BLE001 - the host's function must not stop the watching
            logger.error(  # noqa: TRY400 - its text may contain anything
                "%s: on_change raised %s; the new settings are in effect",
                label(place.path),
                type(error).__name__,
            )
            self.failures += 1

    def _read(self, place: SettingsFile, state: bytes | str | None) -> Config:
        """Return the settings in the given state of the file. Raises ``ConfigError`` if there are none."""
        if isinstance(state, str):
            raise ConfigError(state)
        if not state:  # a writer may empty the file before it writes
            raise ConfigError(f"{label(place.path)}: {'is gone' if state is None else 'is empty'}")
        loaded = load_bytes(state, place)
        loaded.warn()
        return loaded.config


def check_extra() -> None:
    """Raise ``ConfigError`` if the package that watches files is not installed."""
    try:
        import watchfiles  # noqa: F401, PLC0415 - needs the extra "reload"
    except ImportError:
        raise ConfigError(
            "reload: needs watchfiles, which is not installed; pip install 'toolcarry[reload]'"
        ) from None
