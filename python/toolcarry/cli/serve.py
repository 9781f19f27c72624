"""``toolcarry serve``: run the reference proxy."""

from __future__ import annotations

import socket
import sys
from contextlib import AbstractContextManager, nullcontext
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from msgspec.structs import replace

from toolcarry.cli.config import load_settings
from toolcarry.cli.exit_codes import FAILED, USAGE, FileError
from toolcarry.cli.options import offer, read_choice
from toolcarry.cli.terminal import Screen, one_line, write
from toolcarry.metrics import told_costs

if TYPE_CHECKING:
    from toolcarry.config.tables import Upstream
    from toolcarry.integrations.proxy import Proxy

INSTALL: Final = (
    "serve needs httpx, starlette and uvicorn; install them: pip install 'toolcarry[serve]'"
)

SHAPES: Final = ("anthropic", "openai", "ollama")
LEVELS: Final = ("debug", "info", "warning", "error")
NEEDED: Final = ("anyio", "httpx", "starlette", "uvicorn")


def serve(
    url: Annotated[
        str | None,
        typer.Argument(
            metavar="URL",
            help="Send all requests to this backend instead of the upstreams in the settings file.",
            show_default=False,
        ),
    ] = None,
    shape: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The API that URL serves: anthropic, openai or ollama. Default: inferred from the address, else openai.",
            autocompletion=offer(SHAPES),
            show_default=False,
        ),
    ] = None,
    config: Annotated[
        str | None,
        typer.Option(
            "--config",
            metavar="FILE",
            help="The settings file. Default: as for toolcarry config.",
            show_default=False,
        ),
    ] = None,
    host: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Listen on this address instead of the configured one.",
            show_default=False,
        ),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=0,
            max=65535,
            help="Listen on this port instead of the configured one; 0 chooses a free port.",
            show_default=False,
        ),
    ] = None,
    grace: Annotated[
        int,
        typer.Option(
            metavar="SECONDS",
            min=0,
            help="Time that running requests get to finish after a signal.",
        ),
    ] = 30,
    log_level: Annotated[
        str,
        typer.Option(
            "--log-level",
            metavar="LEVEL",
            help="The lowest level to log: debug, info, warning or error.",
            autocompletion=offer(LEVELS),
        ),
    ] = "info",
) -> None:
    """Run a proxy that routes requests to the configured upstreams. It can switch between them while it runs.

    Once the proxy accepts requests, its address and its control address are printed to stdout. SIGTERM and SIGINT stop it
    gracefully, with exit code 0.
    """
    level = read_choice("--log-level", log_level, LEVELS)
    raise typer.Exit(serve_until_signal(config, host, port, grace, level, upstream_of(url, shape)))


BY_ADDRESS: Final = {"anthropic": "anthropic", "ollama": "ollama", ":11434": "ollama"}
"""The API of a backend whose address has one of these parts; 11434 is the port of Ollama."""


def upstream_of(url: str | None, shape: str | None) -> Upstream | None:
    """Return the upstream that the command line describes, if it describes one."""
    if url is None:
        if shape is not None:
            raise typer.BadParameter("not allowed without URL", param_hint="'--shape'")
        return None
    from toolcarry.config.tables import Upstream  # noqa: PLC0415 - slow to load

    guessed = next((name for part, name in BY_ADDRESS.items() if part in url), "openai")
    named: Any = guessed if shape is None else read_choice("--shape", shape, SHAPES)
    try:
        return Upstream(name="default", url=url, shape=named)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="'URL'") from None


def serve_until_signal(
    file: str | None,
    host: str | None,
    port: int | None,
    grace: int,
    log_level: str,
    upstream: Upstream | None,
) -> int:
    """Serve until a signal arrives and return the exit code; print the address to stdout first."""
    try:
        from toolcarry.integrations.proxy import Proxy  # noqa: PLC0415 - needs the extra "serve"
        from toolcarry.integrations.proxy.server import configure_logging, listen, run  # noqa: PLC0415 - needs the extra "serve"
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in NEEDED:
            raise
        raise FileError(INSTALL, USAGE) from None

    _, loaded = load_settings(file, Screen())
    given: dict[str, Any] = {"host": host, "port": port}
    if upstream is not None:
        given |= {"upstreams": (upstream,), "default": ""}
    table = replace(
        loaded.config.serve, **{key: value for key, value in given.items() if value is not None}
    )
    configure_logging(log_level)
    proxy = Proxy(replace(loaded.config, serve=table))
    sockets: list[socket.socket] = []
    for name, number in ((table.host, table.port), table.control_address()):
        try:
            sockets.append(listen(name, number))
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or error
            where = f"{one_line(name)}:{number}"
            raise FileError(f"cannot listen on {where}: {reason}", FAILED) from None
    listener, control = sockets
    with following(file, proxy) if upstream is None else nullcontext():
        run(
            proxy.app,
            listener,
            control,
            grace=grace,
            head_timeout=table.body_timeout,
            tell=tell,
        )
    if sys.stdout is not None and (words := told_costs(proxy.counts())):
        write(sys.stdout, f"{words}\n".encode())
    return 0


def following(file: str | None, proxy: Proxy) -> AbstractContextManager[object]:
    """Return a context in which the proxy follows changes of the settings, if the extra ``reload`` is installed."""
    if find_spec("watchfiles") is None:
        return nullcontext()
    from toolcarry.config import ReloadingConfig  # noqa: PLC0415 - imports watchfiles, an extra

    return ReloadingConfig(file, on_change=proxy.update)


def tell(address: str, control: str) -> None:
    """Print the addresses on which the proxy listens, so that a script can read them."""
    if sys.stdout is not None:
        write(sys.stdout, f"{address}\ncontrol {control}\n".encode())
