"""``AgentConfig``: how much of a tool's result a history tells, as a file of the host's says, which may change meanwhile."""

from __future__ import annotations

import os
import stat
import threading
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Final, NamedTuple

from toolcarry._input.json import loads
from toolcarry._pure.text.sanitize import clean_line
from toolcarry._util.file_watch import Watching
from toolcarry.errors import ConfigError, InputError
from toolcarry.redact.logs import get_logger
from toolcarry.types.values import checked_path

__all__ = ["AgentConfig", "check_config"]

MOST_BYTES: Final = 1 << 20
"""A larger file is not a configuration."""
SETTLED: Final = 2_000_000_000
"""Nanoseconds after which a file's times tell whether it was written again: the clocks of file systems are coarser than
processors are fast, some by two seconds."""

logger = get_logger("toolcarry.api.agent_config")


class Signature(NamedTuple):
    """The identity of a state of a file."""

    device: int
    inode: int
    modified: int
    changed: int
    size: int
    is_file: bool


class Seen(NamedTuple):
    """The content of a state of the file. One that is not ``settled`` may have changed unnoticed, and is read again."""

    signature: Signature | None
    is_settled: bool
    data: bytes | str | None
    value: int


class AgentConfig(Watching):
    """The settings of the file at ``path``, now: each look asks the system whether the file changed.

    ``tool_result_max_length`` stands under ``key``, a whole number from 1 on. It is ``default`` where the file or the key is
    missing, and, with a warning for each change of the file, where it is something else or the file is no JSON; with
    ``keeps_last_good`` it then stays as it was. Looks never raise, and may come from many threads.

    As a context manager, or from ``start`` to ``stop``, and where watchfiles is installed, a thread watches the file's
    folder, so that a change is read unasked; then ``on_change`` is called in that thread with a new value. Raises
    ``ConfigError`` for a path that can be none, a key that is empty and a default below 1.

    >>> AgentConfig("no/such/agent.json").tool_result_max_length
    500
    """

    def __init__(
        self,
        path: str | os.PathLike[str] = ".agents/agent.json",
        *,
        key: str = "toolResultMaxLength",
        default: int = 500,
        keeps_last_good: bool = False,
        on_change: Callable[[int], object] | None = None,
    ) -> None:
        name = checked_path("path", path)
        if not isinstance(key, str) or not key:
            raise ConfigError(f"key: {key!r:.80} is not allowed; allowed: the name of a member")
        if not is_length(default):
            raise ConfigError(f"default: {default!r:.80} is not allowed; allowed: an integer >= 1")
        self.path: Final = Path(name).absolute()  # so that it stays the same file
        super().__init__(self.path, "toolcarry-agent-config")
        self.failures = 0
        """The number of states of the file that could not be used."""
        self._name = str(self.path)
        self._key = key
        self._default = default
        self._keeps_last_good = keeps_last_good
        self._on_change = on_change
        self._lock = threading.Lock()
        self._seen: Seen | None = None
        self._told = default

    @property
    def tool_result_max_length(self) -> int:
        """The limit on the characters of a tool's result."""
        seen = self._seen
        if seen is not None and seen.is_settled and signature_of(self._name) == seen.signature:
            return seen.value
        return self._read()

    def start(self) -> None:
        """Watch the file, where watchfiles is installed and the file is not watched already."""
        if find_spec("watchfiles") is None:
            logger.debug("watchfiles is not installed: who asks for the value looks at the file")
            return
        if self._thread is None:  # else a change that is not told yet would never be
            self._told = self.tool_result_max_length
        super().start()

    def _look(self) -> None:
        """Tell of a new value."""
        value = self.tool_result_max_length
        if value == self._told:
            return
        self._told = value
        if self._on_change is None:
            return
        try:
            self._on_change(value)
        except Exception as error:  # noqa: BLE001 - the host's own, which must not end the watching
            logger.error("on_change raised %s", type(error).__name__)  # noqa: TRY400 - what it says may hold anything
            self.failures += 1

    def _read(self) -> int:
        """Read the file, and apply it if it has changed."""
        with self._lock:
            # In this order: what is written in between has another signature at the next look.
            signature = signature_of(self._name)
            data = None if signature is None else read(self.path, is_file=signature.is_file)
            seen = self._seen
            if seen is None or seen.data != data:
                value = self._value_of(data, self._default if seen is None else seen.value)
            else:
                value = seen.value
            self._seen = Seen(signature, is_settled(signature), data, value)
            return value

    def _value_of(self, data: bytes | str | None, last: int) -> int:
        """The value in a file's bytes; ``None`` is no file, and a text says why it can't be read."""
        if data is None:
            return self._default
        try:
            return self._read_length(data)
        except InputError as error:
            self.failures += 1
            value = last if self._keeps_last_good else self._default
            logger.warning("%s: %s; %d stands", clean_line(self._name, 400), error, value)
            return value

    def _read_length(self, data: bytes | str) -> int:
        if isinstance(data, str):
            raise InputError(data)
        document = loads(data)
        if not isinstance(document, dict):
            raise InputError("holds no object")
        found = document.get(self._key, self._default)
        if not is_length(found):
            raise InputError(f"{self._key}: {found!r:.80} is not allowed; allowed: an integer >= 1")
        return int(found)


def is_length(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def is_settled(signature: Signature | None) -> bool:
    """True if a file that was just read can't have changed since without showing it.

    What counts is when its state changed, by the system's clock: the other time is anybody's to set.
    """
    return signature is None or abs(time.time_ns() - signature.changed) > SETTLED


def signature_of(name: str) -> Signature | None:
    """The state of a file; ``None`` if there is no file."""
    try:
        found = os.stat(name)  # noqa: PTH116 - half the time of a path's own
    except (OSError, ValueError):
        return None
    is_file = stat.S_ISREG(found.st_mode)
    return Signature(
        found.st_dev, found.st_ino, found.st_mtime_ns, found.st_ctime_ns, found.st_size, is_file
    )


def read(path: Path, *, is_file: bool) -> bytes | str | None:
    """A file's bytes; ``None`` where it is gone, and a text that says why it can't be read."""
    if not is_file:  # a pipe would let the reader wait
        return "is no file"
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        return f"can't be read: {type(error).__name__}"
    return data if len(data) <= MOST_BYTES else f"has more than {MOST_BYTES:,} bytes"


def check_config(config: object) -> None:
    """Raise a ``ConfigError`` unless ``config`` is an ``AgentConfig``."""
    if not isinstance(config, AgentConfig):
        raise ConfigError(f"config: {config!r:.80} is not allowed; allowed: an AgentConfig")
