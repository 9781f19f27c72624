"""What the proxy is told: where it listens, and which upstreams it has."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, get_args
from urllib.parse import urlsplit

from toolcarry.errors import ConfigError

__all__ = ["Settings", "Shape", "Upstream"]

Shape = Literal["anthropic", "openai", "ollama"]
"""Whose requests an upstream takes; ``"openai"`` is Chat Completions and Responses."""

SHAPES: Final = get_args(Shape)

MEBIBYTE: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Upstream:
    """A server that answers requests.

    ``url`` is what stands before ``/v1`` or ``/api``; a ``/v1`` at its end is taken off. ``models`` are globs of the
    models that it is asked for. ``api_key_env`` names the variable with the key that goes out instead of the client's.
    ``timeout`` is how many seconds it may be silent.

    >>> Upstream("claude", "https://api.anthropic.com", "anthropic", models=("claude-*",)).models
    ('claude-*',)
    """

    name: str
    url: str
    shape: Shape
    models: Sequence[str] = ()
    api_key_env: str = ""
    timeout: float = 600.0

    def __post_init__(self) -> None:
        place = f"serve.upstreams {self.name!r}"
        if not self.name:
            raise ConfigError("serve.upstreams: a name is empty; allowed: any other string")
        if self.shape not in SHAPES:
            allowed = ", ".join(SHAPES)
            raise ConfigError(f"{place}: shape {self.shape!r} is not allowed; allowed: {allowed}")
        found = urlsplit(self.url)
        if found.scheme not in ("http", "https") or not found.hostname or found.query:
            raise ConfigError(
                f"{place}: url {self.url!r} is not allowed; allowed: http:// or https:// with a host, no query"
            )
        if not self.timeout > 0:
            raise ConfigError(
                f"{place}: timeout {self.timeout} is not allowed; allowed: seconds > 0"
            )


@dataclass(frozen=True, slots=True)
class Settings:
    """The proxy's settings. ``default`` names the upstream of requests that nothing else decides on: the first if empty.

    ``token_env`` names the variable with the token that lets others than this machine switch. ``tenant_header`` is
    the header that says whose request it is; it must be set by a gateway, never by clients.

    >>> Settings([Upstream("a", "http://127.0.0.1:1", "openai")], default="b")
    Traceback (most recent call last):
    toolcarry.errors.ConfigError: serve.default: 'b' is not allowed; allowed: a
    """

    upstreams: Sequence[Upstream]
    host: str = "127.0.0.1"
    port: int = 8787
    default: str = ""
    max_body_bytes: int = 32 * MEBIBYTE
    token_env: str = ""
    tenant_header: str = ""

    def __post_init__(self) -> None:
        names = [upstream.name for upstream in self.upstreams]
        for name in names:
            if names.count(name) > 1:
                raise ConfigError(f"serve.upstreams: name {name!r} stands twice; allowed: once")
        if self.default and self.default not in names:
            allowed = ", ".join(names)
            raise ConfigError(f"serve.default: {self.default!r} is not allowed; allowed: {allowed}")


def secret(name: str, key: str) -> str:
    """The value of the environment variable that the setting ``key`` names; empty where it names none.

    >>> secret("", "serve.token_env")
    ''
    """
    if not name:
        return ""
    value = os.environ.get(name, "")
    if not value:
        raise ConfigError(f"{key}: the variable {name} is not set; allowed: one that is")
    return value
