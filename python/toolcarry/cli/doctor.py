"""``toolcarry doctor``: say what is installed, where the settings are, and what does not work."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Final

from toolcarry import backend
from toolcarry.cli.config import load_settings, source
from toolcarry.cli.exit_codes import FAILED, FileError
from toolcarry.cli.io import Output, json_line
from toolcarry.cli.sources import places_of
from toolcarry.cli.terminal import Screen, one_line
from toolcarry.errors import ConfigError
from toolcarry.sessions.agents import AGENTS

EXTRAS: Final = {
    "postgres": ("psycopg",),
    "litellm": ("litellm",),
    "metrics": ("prometheus_client",),
    "redis": ("redis",),
    "redact": ("re2",),
    "reload": ("watchfiles",),
    "serve": ("httpx", "starlette", "uvicorn"),
    "batch": ("pyarrow",),
    "report": ("plotly",),
}
"""The modules that each extra needs; the command line itself needs the extra ``cli``."""
PACKAGES: Final = {"prometheus_client": "prometheus-client", "re2": "google-re2"}
"""The names of packages that differ from their module's."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One line: ``state`` is ``ok``, ``absent`` (an extra that is not installed) or ``broken``."""

    name: str
    state: str
    detail: str


def examine(*, is_json: bool) -> int:
    """Write what was found, and return the exit code: 1 if something is broken."""
    out = Output()
    found = list(findings())
    for each in found:
        if is_json:
            out.write(json_line(asdict(each)))
        else:
            out.write(f"{each.name:12}  {each.state:6}  {one_line(each.detail, 400)}\n".encode())
    return FAILED if any(each.state == "broken" for each in found) else 0


def findings() -> Iterator[Finding]:
    """Yield a finding about each part."""
    python = f"{platform.python_implementation()} {platform.python_version()}, {sys.executable}"
    yield Finding("toolcarry", "ok", f"{version_of('toolcarry')}, {os.path.dirname(import_module('toolcarry').__file__ or '')}")  # fmt: skip  # noqa: PTH120
    yield Finding("python", "ok", python)
    yield Finding("backend", "ok", backend_detail())
    for extra, modules in EXTRAS.items():
        yield extra_finding(extra, modules)
    try:
        place, loaded = load_settings(None, Screen())
        yield Finding("settings", "ok", source(place, loaded))
    except (ConfigError, FileError) as error:
        yield Finding("settings", "broken", str(error))
    for agent in AGENTS:
        count = sum(1 for _ in agent.files(os.environ))
        if count:
            where = f"{count:,} in {places_of(agent, os.environ)}"
            yield Finding("sessions", "ok", f"{agent.title}: {where}")


def backend_detail() -> str:
    if backend() == "rust":
        return f"rust, {import_module('toolcarry._backend._core').__file__}"
    if find_spec("toolcarry._backend._core") is None:
        return "python: the Rust extension is missing, so project, check, inspect and recount don't work, and carry is slower"
    return "python, because TOOLCARRY_BACKEND is set"


def extra_finding(extra: str, modules: tuple[str, ...]) -> Finding:
    """Return whether the modules of an extra are installed and can be imported."""
    absent = [name for name in modules if find_spec(name) is None]
    if absent:
        return Finding(extra, "absent", f"{', '.join(absent)}; pip install 'toolcarry[{extra}]'")
    try:
        for name in modules:
            import_module(name)
    except ImportError as error:
        return Finding(extra, "broken", f"{type(error).__name__}: {error}")
    return Finding(extra, "ok", ", ".join(f"{name} {version_of(name)}" for name in modules))


def version_of(module: str) -> str:
    try:
        return version(PACKAGES.get(module, module))
    except PackageNotFoundError:
        return "of unknown version"
