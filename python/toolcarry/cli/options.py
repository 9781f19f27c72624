"""Options and arguments that several commands share, and the functions that read their values."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Annotated, Final, TypeVar

import typer

from toolcarry._data import destination_names
from toolcarry.api.survey import time_of
from toolcarry.errors import ConfigError
from toolcarry.types.destinations import Destination as OwnDestination
from toolcarry.types.models import WINDOWS
from toolcarry.types.policy import (
    NO_LIMIT,
    share_of,
)
from toolcarry.types.values import ENCODINGS, EncodingName


def offer(values: Sequence[str]) -> Callable[[str], list[str]]:
    """Return a function for tab completion: the values that begin with what was typed."""
    return lambda incomplete: [value for value in values if value.startswith(incomplete)]


Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE",
        help="Request bodies, JSON arrays or session files (JSONL); - is stdin.",
        show_default=False,
    ),
]
Sessions = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="FILE|FOLDER|GLOB",
        help="Request bodies, JSON arrays or session files (JSONL), folders with such files, or patterns; - is stdin.",
        show_default=False,
    ),
]
Model = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Count tokens for this model, such as gpt-4o. Default: the last model named in the file.",
        autocompletion=offer(tuple(WINDOWS)),
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
JsonLines = Annotated[bool, typer.Option("--json", help="Print one line of JSON per file.")]
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
Encoding = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="Encoding to count tokens in: o200k_base or cl100k_base. --model overrides it.",
        autocompletion=offer(ENCODINGS),
    ),
]
LimitModel = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="NAME",
        help="Count tokens for this model, such as gpt-4o; a limit of 80% is a share of its window.",
        autocompletion=offer(tuple(WINDOWS)),
        show_default=False,
    ),
]
Destination = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Provider to repair for, such as mistral. Default: inferred from the request.",
        autocompletion=offer(destination_names()),
        show_default=False,
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


def destination_named(option: str, name: str, older: Sequence[str] = ()) -> str | OwnDestination:
    """Return the destination of a name: the name of a known one, or one that the settings define.

    ``older`` are other names that the option takes. The settings are read only for a name that is not known. Raises a
    usage error for one that they do not define.
    """
    if name in destination_names() or name in older:
        return name
    from toolcarry.config.load import find_file, load  # noqa: PLC0415 - slow to load

    own = {each.name: each for each in load(find_file(None)).config.own_destinations()}
    if name not in own:
        allowed = ", ".join(dict.fromkeys((*older, *destination_names(), *own)))
        raise typer.BadParameter(
            f"{name!r} is not allowed; allowed: {allowed}", param_hint=f"'{option}'"
        )
    return own[name]


def scaled(limit: int | None, factor: float) -> int | None:
    """Return a limit in a model's tokens in those of its encoding."""
    return limit if limit is None or limit >= NO_LIMIT else math.floor(limit / factor)


NUMBER: Final = re.compile(r"([0-9]+(?:[_,][0-9]{3})*|[0-9]+(?:_[0-9]+)+|[0-9]*\.[0-9]+)([kKmM]?)")
UNITS: Final = {"": 1, "k": 1_000, "m": 1_000_000}


def read_limit(option: str, text: str | None, others: str = "") -> int | None:
    """Return the limit of an option, or ``None`` if the option was not used. ``others`` names what else it may be.

    >>> read_limit("--max-chars", "20k"), read_limit("--max-chars", "20_000"), read_limit("--max-chars", "1.5M")
    (20000, 20000, 1500000)
    """
    if text is None:
        return None
    if text.lower() == "none":
        return NO_LIMIT
    match = NUMBER.fullmatch(text) if len(text) < 30 else None
    digits = match[1].replace("_", "").replace(",", "") if match is not None else ""
    if match is None and text.isascii() and text.isdecimal():
        return NO_LIMIT  # larger than any limit
    if match is None or ("." in digits and not match[2]):
        raise typer.BadParameter(
            f"{text!r} is not allowed; allowed: an integer >= 0, such as 20000, 20_000 or 20k; none{others}",
            param_hint=f"'{option}'",
        )
    return min(int(Decimal(digits) * UNITS[match[2].lower()]), NO_LIMIT)


def read_share(option: str, text: str | None, model: str | None) -> int | None:
    """Return a limit in tokens, which may be a share of the window of a model, such as ``80%``."""
    if text is None or not text.endswith("%"):
        return read_limit(option, text)
    try:
        return share_of(option, text, None, model)
    except ConfigError:
        why = (
            "without --model" if model is None else f"for {model!r:.80}, whose window is not known"
        )
        raise typer.BadParameter(
            f"{text!r} is not allowed {why}; allowed: 1% to 100% with a model, an integer >= 0, none",
            param_hint=f"'{option}'",
        ) from None


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


AGO: Final = re.compile(r"([0-9]{1,4})([dh])")


def read_since(since: str) -> datetime:
    """Return the time that ``--since`` means: a date, such as ``2026-01-31``, or the time since then, such as ``7d``."""
    match = AGO.fullmatch(since)
    if match is not None:
        hours = int(match[1]) * (24 if match[2] == "d" else 1)
        return datetime.now(UTC) - timedelta(hours=hours)
    start = time_of(since)
    if start is None:
        raise typer.BadParameter(
            f"{since!r} is not allowed; allowed: a date such as 2026-01-31, 7d, 12h",
            param_hint="'--since'",
        )
    return start
