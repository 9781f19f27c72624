"""Options and arguments that several commands share, and the functions that read their values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, TypeVar

import typer

from toolcarry.types.policy import NO_LIMIT, Policy
from toolcarry.types.values import ENCODINGS, EncodingName

Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE",
        help="Request bodies, JSON arrays or session files (JSONL); - is stdin.",
        show_default=False,
    ),
]
File = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="A request body, a JSON array or a session file (JSONL); - is stdin.",
        show_default=False,
    ),
]
OutputFile = Annotated[
    str | None,
    typer.Option(
        "--output",
        "-o",
        metavar="OUT",
        help="Write to this file instead of stdout. It is replaced only on success, and must not be an input.",
        show_default=False,
    ),
]
MaxResultChars = Annotated[
    str | None,
    typer.Option(
        metavar="N",
        help="Limit on a single result, in characters: an integer >= 0, or none. Default: none.",
        show_default=False,
    ),
]
MaxResultTokens = Annotated[
    str | None,
    typer.Option(
        metavar="N",
        help="Limit on a single result, in tokens: an integer >= 0, or none. Default: none.",
        show_default=False,
    ),
]
Encoding = Annotated[
    str,
    typer.Option(
        metavar="NAME", help="The encoding in which tokens are counted: o200k_base or cl100k_base."
    ),
]
Strict = Annotated[
    bool,
    typer.Option(
        "--strict",
        help="Exit with 1 if a call has no result, a result has no call, a line was skipped, or a message "
        "has an unknown structure.",
    ),
]


Choice = TypeVar("Choice", bound=str)


def read_policy(
    max_chars: str | None,
    max_tokens: str | None,
    max_result_chars: str | None,
    max_result_tokens: str | None,
    encoding: str,
) -> Policy:
    """Return the policy that the options describe."""
    if max_chars is not None and max_tokens is not None:
        raise typer.BadParameter(
            "not allowed together with --max-chars", param_hint="'--max-tokens'"
        )
    return Policy(
        max_tool_context_chars=read_limit("--max-chars", max_chars),
        max_tool_context_tokens=read_limit("--max-tokens", max_tokens),
        max_tool_result_chars=read_limit("--max-result-chars", max_result_chars),
        max_tool_result_tokens=read_limit("--max-result-tokens", max_result_tokens),
        encoding=read_encoding(encoding),
    )


def read_limit(option: str, text: str | None) -> int | None:
    """Return the limit of an option, or ``None`` if the option was not used."""
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
    """Return ``text`` as one of the allowed values. Raises ``typer.BadParameter`` for any other text."""
    for value in allowed:
        if text == value:
            return value
    raise typer.BadParameter(
        f"{text!r} is not allowed; allowed: {', '.join(allowed)}", param_hint=f"'{option}'"
    )


def read_encoding(text: str) -> EncodingName:
    """Return the encoding that ``--encoding`` names."""
    return read_choice("--encoding", text, ENCODINGS)
