"""The options and arguments that several commands have."""

from __future__ import annotations

from typing import Annotated

import typer

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
        help="Write to this file instead of stdout: all at once, and never over an input.",
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
    typer.Option(metavar="NAME", help="Whose tokens they are: o200k_base, or cl100k_base."),
]
Strict = Annotated[
    bool,
    typer.Option(
        "--strict",
        help="Exit with 1 where a call has no result, a result no call, or a line was skipped.",
    ),
]
