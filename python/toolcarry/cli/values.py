"""What the options say that several commands have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import typer

from toolcarry.policy import NO_LIMIT, Policy
from toolcarry.types import ENCODINGS, EncodingName

Choice = TypeVar("Choice", bound=str)


def read_policy(
    max_chars: str | None,
    max_tokens: str | None,
    max_result_chars: str | None,
    max_result_tokens: str | None,
    encoding: str,
) -> Policy:
    """The policy that the options ask for."""
    if max_chars is not None and max_tokens is not None:
        raise typer.BadParameter("not allowed beside --max-chars", param_hint="'--max-tokens'")
    return Policy(
        max_tool_context_chars=read_limit("--max-chars", max_chars),
        max_tool_context_tokens=read_limit("--max-tokens", max_tokens),
        max_tool_result_chars=read_limit("--max-result-chars", max_result_chars),
        max_tool_result_tokens=read_limit("--max-result-tokens", max_result_tokens),
        encoding=read_encoding(encoding),
    )


def read_limit(option: str, text: str | None) -> int | None:
    """The limit that an option gives; ``None`` where it was not given."""
    if text is None:
        return None
    if text.lower() == "none":
        return NO_LIMIT
    if not (text.isascii() and text.isdecimal()):
        raise typer.BadParameter(
            f"{text!r} is not allowed; allowed: an integer >= 0, none", param_hint=f"'{option}'"
        )
    return min(int(text), NO_LIMIT) if len(text) < 20 else NO_LIMIT


def read_choice(option: str, text: str, allowed: Sequence[Choice]) -> Choice:
    """The one of the values that are allowed which an option names."""
    for value in allowed:
        if text == value:
            return value
    raise typer.BadParameter(
        f"{text!r} is not allowed; allowed: {', '.join(allowed)}", param_hint=f"'{option}'"
    )


def read_encoding(text: str) -> EncodingName:
    """The encoding that ``--encoding`` names."""
    return read_choice("--encoding", text, ENCODINGS)
