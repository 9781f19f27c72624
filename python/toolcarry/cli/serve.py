"""``toolcarry serve``: the reference proxy as a process."""

from __future__ import annotations

import sys
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from toolcarry.cli.codes import FAILED, NOT_FOUND, USAGE, FileError
from toolcarry.cli.screen import label, one_line, write
from toolcarry.errors import ConfigError

if TYPE_CHECKING:
    from toolcarry.serve import Settings

INSTALL: Final = (
    "serve needs httpx, starlette and uvicorn; install them: pip install 'toolcarry[serve]'"
)

NEEDED: Final = ("anyio", "httpx", "starlette", "uvicorn")


def serve_until_told(config: str, host: str | None, port: int | None, grace: int) -> int:
    """Serve until a signal comes, with the address as a line on stdout; the exit code."""
    try:
        from toolcarry.serve import create_app  # noqa: PLC0415 - slow, and may be missing
        from toolcarry.serve.server import configure_logging, listen, run  # noqa: PLC0415
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in NEEDED:
            raise
        raise FileError(INSTALL, USAGE) from None
    settings = read_settings(config)
    if host is not None:
        settings = replace(settings, host=host)
    if port is not None:
        settings = replace(settings, port=port)
    app = create_app(settings)
    try:
        listener = listen(settings.host, settings.port)
    except (OSError, OverflowError) as error:
        where = f"{one_line(settings.host)}:{settings.port}"
        reason = getattr(error, "strerror", None) or error
        raise FileError(f"cannot listen on {where}: {reason}", FAILED) from None
    configure_logging()
    run(app, listener, grace=grace, tell=tell)
    return 0


def tell(address: str) -> None:
    """Say where the proxy listens, so that a script can read it."""
    if sys.stdout is not None:
        write(sys.stdout, f"{address}\n".encode())


def read_settings(name: str) -> Settings:
    """The table ``[serve]`` of a file of settings."""
    from toolcarry.serve import Settings, Upstream  # noqa: PLC0415 - slow

    try:
        table = tomllib.loads(Path(name).read_text("utf-8")).get("serve", {})
    except FileNotFoundError:
        raise FileError(f"--config {label(name)}: no such file", NOT_FOUND) from None
    except OSError as error:
        raise FileError(f"--config {label(name)}: cannot read: {error.strerror}", FAILED) from None
    except ValueError as error:
        raise ConfigError(f"--config {label(name)}: {error}") from None
    upstreams: list[dict[str, Any]] = table.pop("upstreams", [])
    try:
        return Settings([Upstream(**upstream) for upstream in upstreams], **table)
    except TypeError as error:  # an unknown key
        raise ConfigError(f"--config {label(name)}: [serve]: {error}") from None
