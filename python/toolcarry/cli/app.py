"""The commands and their options. Each command is implemented in its own module."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from toolcarry import __version__
from toolcarry.cli.carry import carry_files
from toolcarry.cli.config import config
from toolcarry.cli.convert import convert_file
from toolcarry.cli.exit_codes import EXIT_CODES, USAGE
from toolcarry.cli.history import history
from toolcarry.cli.inspect import inspect_files
from toolcarry.cli.options import (
    Encoding,
    File,
    Files,
    MaxResultChars,
    MaxResultTokens,
    OutputFile,
    Strict,
    read_encoding,
    read_limit,
    read_policy,
)
from toolcarry.cli.project import project_file
from toolcarry.cli.recount import recount_file
from toolcarry.cli.serve import serve

app = typer.Typer(
    help="Carry tool results between LLM backends: inspect, convert, shrink and store agent conversations.",
    epilog=EXIT_CODES,
    rich_markup_mode=None,  # plain help does not import rich, so it appears at once
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(history, name="history")
app.add_typer(config, name="config")


def show_version(is_asked: bool) -> None:
    if is_asked:
        typer.echo(f"toolcarry {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def toolcarry(
    context: typer.Context,
    version: Annotated[  # noqa: ARG001 - its callback answers
        bool,
        typer.Option(
            "--version", callback=show_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), err=True)
        raise typer.Exit(USAGE)


@app.command(epilog=EXIT_CODES)
def carry(
    files: Files,
    max_chars: Annotated[
        str | None,
        typer.Option(
            metavar="N",
            help="Limit on the whole context, in characters: an integer >= 0, or none. Default: 60000.",
            show_default=False,
        ),
    ] = None,
    max_result_chars: MaxResultChars = None,
    max_tokens: Annotated[
        str | None,
        typer.Option(
            metavar="N",
            help="Limit on the whole context, in tokens, instead of --max-chars: an integer >= 0, or none.",
            show_default=False,
        ),
    ] = None,
    max_result_tokens: MaxResultTokens = None,
    encoding: Encoding = "o200k_base",
    summary: Annotated[
        str,
        typer.Option(
            metavar="TEXT|@FILE",
            help="Markdown to put before the results. @FILE reads it from a UTF-8 file and @- from stdin; "
            "to begin the text with a literal @, write @@.",
            show_default=False,
        ),
    ] = "",
    explain: Annotated[
        bool,
        typer.Option(
            "--explain",
            help="List the outcome of each block on stderr, with its reason and the setting that would change it. "
            "With --json, the list is under the key explain instead.",
        ),
    ] = False,
    output: OutputFile = None,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json",
            help="Print one line of JSON per file, with the keys file, context and report.",
        ),
    ] = False,
    strict: Strict = False,
) -> None:
    """Print a conversation's tool results as context for another model.

    The contexts of several files are printed one after another; a line on stderr names the file before each.
    """
    raise typer.Exit(
        carry_files(
            files,
            policy=read_policy(
                max_chars, max_tokens, max_result_chars, max_result_tokens, encoding
            ),
            summary=summary,
            output=output,
            is_explained=explain,
            is_json=as_json,
            is_strict=strict,
        )
    )


@app.command(epilog=EXIT_CODES)
def inspect(
    files: Files,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one line of JSON per file.")
    ] = False,
    strict: Strict = False,
) -> None:
    """Survey conversations: calls, results, duplicates and defects. Results are counted and measured for each tool."""
    raise typer.Exit(inspect_files(files, is_json=as_json, is_strict=strict))


@app.command(epilog=EXIT_CODES)
def convert(
    file: File,
    to: Annotated[
        str,
        typer.Option(
            "--to",
            metavar="SHAPE",
            help="The format to write: anthropic, openai, responses, ollama, gemini or bedrock.",
            show_default=False,
        ),
    ],
    output: OutputFile = None,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json", help="Print one JSON object with the keys file, to, request and losses."
        ),
    ] = False,
    strict: Strict = False,
) -> None:
    """Write a conversation as a request for another provider. Each call is paired with its result.

    Content that the other format can't hold is reported on stderr.
    """
    raise typer.Exit(
        convert_file(file, target=to, output=output, is_json=as_json, is_strict=strict)
    )


@app.command(epilog=EXIT_CODES)
def project(
    file: Annotated[
        str,
        typer.Argument(
            metavar="BODY", help="A request body, or a JSON array; - is stdin.", show_default=False
        ),
    ],
    repair: Annotated[
        bool,
        typer.Option(
            "--repair",
            help="Repair what the provider would refuse: calls without a result, results without a call, wrong ids.",
        ),
    ] = False,
    max_tokens: Annotated[
        str | None,
        typer.Option(
            metavar="N",
            help="Limit on the whole request, in tokens: an integer >= 0, or none. Default: none.",
            show_default=False,
        ),
    ] = None,
    max_result_chars: MaxResultChars = None,
    max_result_tokens: MaxResultTokens = None,
    encoding: Encoding = "o200k_base",
    diff: Annotated[
        bool,
        typer.Option("--diff", help="Show the replaced text and its markers instead of the body."),
    ] = False,
    output: OutputFile = None,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json",
            help="Print one JSON object with the keys file and report instead of the body.",
        ),
    ] = False,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict",
            help="Exit with 1 if calls or results remain unpaired, or a limit is exceeded.",
        ),
    ] = False,
) -> None:
    """Shorten the tool results in a request. Short markers replace results that are superseded or too long.

    A summary of the changes is printed to stderr.
    """
    if diff and as_json:
        raise typer.BadParameter("not allowed together with --diff", param_hint="'--json'")
    limits = read_policy(None, None, max_result_chars, max_result_tokens, encoding)
    request_tokens = read_limit("--max-tokens", max_tokens)
    policy = replace(limits, max_request_tokens=request_tokens, repair=repair)
    raise typer.Exit(
        project_file(
            file, policy=policy, output=output, is_diff=diff, is_json=as_json, is_strict=strict
        )
    )


@app.command(epilog=EXIT_CODES)
def recount(
    file: File,
    max_result_length: Annotated[
        str | None,
        typer.Option(
            metavar="N",
            help="Limit on a single result, in characters: an integer >= 0, or none. Default: 500.",
            show_default=False,
        ),
    ] = None,
    max_tokens: Annotated[
        str | None,
        typer.Option(
            metavar="N",
            help="Limit on the whole history, in tokens: an integer >= 0, or none. Default: none.",
            show_default=False,
        ),
    ] = None,
    encoding: Encoding = "o200k_base",
    output: OutputFile = None,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json", help="Print one JSON object with the keys file, messages and report."
        ),
    ] = False,
    strict: Strict = False,
) -> None:
    """Write a conversation as plain turns, with a line per tool call. The output is a JSON array of messages.

    Messages and results that were cut or left out are reported on stderr.
    """
    raise typer.Exit(
        recount_file(
            file,
            max_result_length=read_limit("--max-result-length", max_result_length),
            max_tokens=read_limit("--max-tokens", max_tokens),
            encoding=read_encoding(encoding),
            output=output,
            is_json=as_json,
            is_strict=strict,
        )
    )


app.command(epilog=EXIT_CODES)(serve)
