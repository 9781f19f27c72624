"""``AgentConfig``: the limit on tool results in a text history, read from a file of the host that may change at any time."""

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
from toolcarry._util.file_watch import Watching
from toolcarry.errors import ConfigError, InputError
from toolcarry.model.text.sanitize import clean_line
from toolcarry.redact.logs import get_logger
from toolcarry.types.values import checked_path

__all__ = ["AgentConfig", "check_config"]

MOST_BYTES: Final = 1 << 20
"""A larger file is not a configuration."""
SETTLED: Final = 2_000_000_000
"""Nanoseconds after a write, after which a second write is certain to change the file's times. Some file systems have
clocks with a resolution of two seconds."""

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
    """The content of the file in one state. If it is not ``settled``, the file may change unnoticed, so it is read
    again."""

    signature: Signature | None
    is_settled: bool
    data: bytes | str | None
    value: int


class AgentConfig(Watching):
    """The current settings in the file at ``path``; each access checks whether the file has changed.

    ``tool_result_max_length`` is the integer >= 1 under ``key``, or ``default`` if the file or the key is missing. If
    the value is anything else, or the file is not JSON, it is the last good value with ``keeps_last_good``, otherwise
    ``default``, and each such change of the file is logged as a warning. Reading it never raises and is thread-safe. As
    a context manager, or between ``start`` and ``stop``, a thread watches the file's folder if watchfiles is installed,
    and calls ``on_change`` with each new value.

    Raises ``ConfigError`` for an invalid path, an empty key, or a default below 1.

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
        self.path: Final = Path(
            name
        ).absolute()  # a change of the working directory must not change the file
        super().__init__(self.path, "toolcarry-agent-config")
        self.failures = 0
        """The number of times that the file changed to something unusable."""
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
        """Watch the file, if watchfiles is installed and the file is not watched yet."""
        if find_spec("watchfiles") is None:
            logger.debug("watchfiles is not installed: the file is checked when the value is read")
            return
        if self._thread is None:  # else a change that was not reported yet would be lost
            self._told = self.tool_result_max_length
        super().start()

    def _look(self) -> None:
        """Report a new value."""
        value = self.tool_result_max_length
        if value == self._told:
            return
        self._told = value
        if self._on_change is None:
            return
        try:
            self._on_change(value)
        except Exception as error:  # noqa: BLE001 - the host's function must not stop the watching
            logger.error("on_change raised %s", type(error).__name__)  # noqa: TRY400 - its text may contain anything
            self.failures += 1

    def _read(self) -> int:
        """Read the file, and apply it if it has changed."""
        with self._lock:
            # In this order, so that a write in between changes the signature of the next access.
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
        """Return the value in a file's bytes. ``None`` means that there is no file; a string is the reason why it can't
        be read."""
        if data is None:
            return self._default
        try:
            return self._read_length(data)
        except InputError as error:
            self.failures += 1
            value = last if self._keeps_last_good else self._default
            logger.warning("%s: %s; using %d", clean_line(self._name, 400), error, value)
            return value

    def _read_length(self, data: bytes | str) -> int:
        if isinstance(data, str):
            raise InputError(data)
        document = loads(data)
        if not isinstance(document, dict):
            raise InputError("is not a JSON object")
        found = document.get(self._key, self._default)
        if not is_length(found):
            raise InputError(f"{self._key}: {found!r:.80} is not allowed; allowed: an integer >= 1")
        return int(found)


def is_length(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def is_settled(signature: Signature | None) -> bool:
    """True if any later change of a file that was just read will change its signature.

    Only the time of the last status change counts: the system sets it, while any program can set the modification time.
    """
    return signature is None or abs(time.time_ns() - signature.changed) > SETTLED


def signature_of(name: str) -> Signature | None:
    """Return the signature of a file; ``None`` if there is no file."""
    try:
        found = os.stat(name)  # noqa: PTH116 - takes half the time of ``Path.stat``
    except (OSError, ValueError):
        return None
    is_file = stat.S_ISREG(found.st_mode)
    return Signature(
        found.st_dev, found.st_ino, found.st_mtime_ns, found.st_ctime_ns, found.st_size, is_file
    )


def read(path: Path, *, is_file: bool) -> bytes | str | None:
    """Return a file's bytes; ``None`` if it is gone, and a string with the reason if it can't be read."""
    if not is_file:  # reading a pipe might block forever
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
