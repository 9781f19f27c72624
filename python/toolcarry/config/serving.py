"""The settings of the proxy: ``[redaction]`` and ``[serve]``."""

from __future__ import annotations

from typing import Annotated, Literal
from urllib.parse import urlsplit

from msgspec import Meta

from toolcarry.config.secrets import hide
from toolcarry.config.values import (
    Name,
    Positive,
    Seconds,
    Table,
    Text,
    VariableName,
    check_names,
)

__all__ = ["Redaction", "RedactionRule", "Serve", "Shape", "Upstream"]

Shape = Literal["anthropic", "openai", "ollama"]
"""Whose requests an upstream takes; ``"openai"`` is Chat Completions and Responses."""
Port = Annotated[int, Meta(ge=0, le=65_535)]
HeaderName = Annotated[
    str,
    Meta(
        pattern=r"\A[!#$%&'*+.^_`|~0-9A-Za-z-]*\Z",
        description="the name of a header",
    ),
]


class RedactionRule(Table, frozen=True):
    """``[[redaction.rules]]``: what else is a secret.

    ``name`` (must be given): what the rule is counted under; each name once.
    ``pattern`` (must be given): a regular expression in RE2's syntax; its group ``secret`` is what is replaced, else
    the whole match.
    ``keywords`` ([]): the pattern is only tried on texts that hold one of these.
    """

    name: Name
    pattern: Annotated[str, Meta(min_length=1)]
    keywords: tuple[Name, ...] = ()


class Redaction(Table, frozen=True):
    """``[redaction]``: whether secrets are taken out of what is carried. Logs are always redacted.

    ``enabled`` (false): whether carried text is redacted; needs the extra ``redact``.
    ``use_default_rules`` (true): whether the built-in rules are applied.
    ``rules`` (none): ``[[redaction.rules]]``, own rules.
    """

    enabled: bool = False
    use_default_rules: bool = True
    rules: tuple[RedactionRule, ...] = ()

    def __post_init__(self) -> None:
        check_names("rules", (rule.name for rule in self.rules))


class Upstream(Table, frozen=True):
    """``[[serve.upstreams]]``: a backend that requests are sent to.

    ``name`` (must be given): what it is called; each name once.
    ``url`` (must be given): where it is, ``http://`` or ``https://``, without the path of the API.
    ``shape`` (must be given): whose API it speaks: ``"anthropic"``, ``"openai"`` or ``"ollama"``.
    ``models`` ([]): the models that are asked of it; ``*`` and ``?`` are wildcards.
    ``api_key_env`` (""): the environment variable with its API key; empty where the client's own is passed on.
    ``timeout`` (600.0): seconds that it may take until it answers, > 0.
    """

    name: Name
    url: Text
    shape: Shape
    models: tuple[Name, ...] = ()
    api_key_env: VariableName = ""
    timeout: Seconds = 600.0

    def __post_init__(self) -> None:
        if not is_plain_url(self.url):
            raise ValueError(
                f"url: {hide(self.url)!r:.80} is not allowed; "
                "allowed: http:// or https:// and a host, without user, password, query and fragment"
            )


class Serve(Table, frozen=True):
    """``[serve]``: the proxy that ``toolcarry serve`` runs.

    ``host`` ("127.0.0.1"): the address that it listens on.
    ``port`` (8787): the port, 0 to 65535; 0 for any that is free.
    ``default`` (""): the name of the upstream for models that none names; empty for the first.
    ``max_body_bytes`` (33554432, 32 MiB): the longest body of a request, in bytes, >= 1.
    ``token_env`` (""): the environment variable with the token that ``POST /switch`` asks for; empty for none.
    ``tenant_header`` (""): the header that names the tenant; empty where there are none.
    ``upstreams`` (none): ``[[serve.upstreams]]``, the backends.
    """

    host: Name = "127.0.0.1"
    port: Port = 8_787
    default: Text = ""
    max_body_bytes: Positive = 32 * 1_024 * 1_024
    token_env: VariableName = ""
    tenant_header: HeaderName = ""
    upstreams: tuple[Upstream, ...] = ()

    def __post_init__(self) -> None:
        names = [upstream.name for upstream in self.upstreams]
        check_names("upstreams", names)
        if self.default and self.default not in names:
            listed = ", ".join(map(repr, names)) or "an upstream's name, and there is none"
            raise ValueError(f"default: {self.default!r:.80} is not allowed; allowed: {listed}")

    def variable_names(self) -> set[str]:
        """The environment variables that hold secrets.

        >>> Serve(token_env="SWITCH_TOKEN").variable_names()
        {'SWITCH_TOKEN'}
        """
        names = {self.token_env, *(upstream.api_key_env for upstream in self.upstreams)}
        return names - {""}


def is_plain_url(text: str) -> bool:
    """Whether ``text`` is an HTTP address that holds no secret and nothing that would be lost.

    >>> is_plain_url("https://api.example.com/v1"), is_plain_url("https://me:pass@example.com")
    (True, False)
    """
    if not text.isprintable() or " " in text:
        return False
    try:
        parts = urlsplit(text)
        is_there = bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
    is_bare = "@" not in parts.netloc and "?" not in text and "#" not in text
    return parts.scheme in ("http", "https") and is_there and is_bare
