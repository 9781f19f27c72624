"""The commands and their options. Each command is implemented in its own module."""

from __future__ import annotations

from typing import Annotated

import typer

from toolcarry._data import destination_names
from toolcarry.cli.batch import JOBS, Job, batch_files
from toolcarry.cli.carry import carry_files
from toolcarry.cli.check import check_file
from toolcarry.cli.config import config
from toolcarry.cli.convert import convert_file
from toolcarry.cli.doctor import examine, version_of
from toolcarry.cli.exit_codes import EXIT_CODES
from toolcarry.cli.formats import list_formats, list_rules
from toolcarry.cli.help import Commands, Grouped, WithArguments
from toolcarry.cli.history import history
from toolcarry.cli.inspect import SORTS, inspect_files
from toolcarry.cli.look import count_files, resolve_in
from toolcarry.cli.options import (
    Destination,
    Encoding,
    File,
    Files,
    JsonLines,
    LimitModel,
    Model,
    OutputFile,
    Sessions,
    Strict,
    destination_named,
    offer,
    read_choice,
    read_encoding,
    read_limit,
    read_share,
    scaled,
)
from toolcarry.cli.policy_options import Given, with_policies
from toolcarry.cli.project import project_file
from toolcarry.cli.recount import recount_file
from toolcarry.cli.report import report_files
from toolcarry.cli.serve import serve
from toolcarry.cli.session_commands import go_on, sessions
from toolcarry.cli.watch import watch_file
from toolcarry.types.models import scale_of
from toolcarry.types.policy import CarryPolicy, ProjectPolicy

app = Commands(
    cls=Grouped,
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
        typer.echo(f"toolcarry {version_of('toolcarry')}")
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
        from toolcarry.cli.welcome import first_lines  # noqa: PLC0415 - imports SQLite

        typer.echo(first_lines())


@app.command()
@with_policies(CarryPolicy)
def carry(
    files: Files,
    given: Given,
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
    """Print the tool results of a conversation as context for another model.

    For several files, the contexts are printed one after another, each preceded by a line on stderr with the file's
    name.
    """
    raise typer.Exit(
        carry_files(
            files,
            policy=given.policy(CarryPolicy),
            summary=summary,
            output=output,
            is_explained=explain,
            is_json=as_json,
            is_strict=strict,
        )
    )


@app.command()
def inspect(
    files: Sessions = None,
    model: Model = None,
    sort: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            autocompletion=offer(SORTS),
            help=f"Sort several files by this column: {', '.join(SORTS)}.",
            show_default=False,
        ),
    ] = None,
    as_json: JsonLines = False,
    strict: Strict = False,
) -> None:
    """Show what fills a context. Tokens by kind, the heaviest results and files, duplicates and defects.

    One file is shown in full detail, several as rows. Without a file, this lists the newest sessions of Claude Code,
    Codex, Gemini CLI and pi on this machine, and says where opencode stores its sessions.
    """
    raise typer.Exit(
        inspect_files(files or [], model=model, sort=sort, is_json=as_json, is_strict=strict)
    )


@app.command()
def watch(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE", help="A session file that an agent is writing.", show_default=False
        ),
    ],
    model: Model = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one line of JSON for each change.")
    ] = False,
) -> None:
    """Show what fills a context, and update it as the session grows. Ctrl-C ends it.

    If the output is not a terminal, one line is written for each change.
    """
    raise typer.Exit(watch_file(file, model=model, is_json=as_json))


@app.command()
def report(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE|FOLDER|GLOB",
            help="A session, or several; - is stdin.",
            show_default=False,
        ),
    ],
    output: Annotated[
        str,
        typer.Option(
            "--output", "-o", metavar="PAGE.html", help="The page to write.", show_default=False
        ),
    ],
    model: Model = None,
    private: Annotated[
        bool,
        typer.Option("--private", help="Leave out names of files, arguments, ids and folders."),
    ] = False,
    max_result_tokens: Annotated[
        str,
        typer.Option(
            metavar="N",
            help="Limit on each result in the projection that the page shows, in tokens: 1000, 1k, or none.",
        ),
    ] = "1000",
    prices: Annotated[
        str | None,
        typer.Option(
            metavar="PRICES.toml",
            help="A file with the price of a million input tokens for each model, for the prompt-cache figures.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Write an HTML report about sessions. It shows what fills the context, and what could be saved.

    The page loads nothing from elsewhere: plotly.js, which draws the charts, is part of it.
    """
    limit = read_limit("--max-result-tokens", max_result_tokens)
    policy = ProjectPolicy(max_result_tokens=limit)
    code = report_files(
        files, output=output, model=model, is_private=private, policy=policy, prices=prices
    )
    raise typer.Exit(code)


@app.command()
def count(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE|FOLDER|GLOB",
            help="Conversations, or any text files with --text; - is stdin.",
            show_default=False,
        ),
    ],
    model: Model = None,
    text: Annotated[bool, typer.Option("--text", help="Count each file as plain text.")] = False,
    as_json: JsonLines = False,
) -> None:
    """Count tokens. Counts are exact for OpenAI's models; other counts are marked as estimates."""
    raise typer.Exit(count_files(files, model=model, is_text=text, is_json=as_json))


@app.command()
def resolve(
    file: File,
    reference: Annotated[
        str,
        typer.Argument(
            metavar="REFERENCE",
            help="The reference at the end of a marker: the id of a call, or t1#2 if the id repeats.",
            show_default=False,
        ),
    ],
    output: OutputFile = None,
) -> None:
    """Print the full result behind a marker. FILE is the conversation before projection."""
    raise typer.Exit(resolve_in(file, reference, output=output))


@app.command()
def doctor(
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one line of JSON for each finding.")
    ] = False,
) -> None:
    """Check the installation. List what is installed, where settings and sessions are, and what does not work; exit
    with 1 if something does not work."""
    raise typer.Exit(examine(is_json=as_json))


@app.command()
def convert(
    file: File,
    destination: Annotated[
        str,
        typer.Option(
            "--destination",
            "--to",
            metavar="NAME",
            help="Provider to write for: anthropic, openai-chat, openai-responses, gemini, bedrock, ollama, or another destination.",
            autocompletion=offer(destination_names()),
            show_default=False,
        ),
    ],
    output: OutputFile = None,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json", help="Print one JSON object with the request, its losses and its corrections."
        ),
    ] = False,
    strict: Strict = False,
) -> None:
    """Write a conversation as a request for another provider. Each call is paired with its result.

    The request is repaired for its destination. Corrections, and content that the target format can't hold, are
    reported on stderr.
    """
    raise typer.Exit(
        convert_file(file, target=destination, output=output, is_json=as_json, is_strict=strict)
    )


@app.command()
@with_policies(ProjectPolicy)
def project(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="A request body, a JSON array, or with --destination a session file; - is stdin.",
            show_default=False,
        ),
    ],
    given: Given,
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
    """Make a request smaller. Short markers replace superseded results, and long results are shortened.

    A summary of the changes is printed to stderr.
    """
    if diff and as_json:
        raise typer.BadParameter("not allowed together with --diff", param_hint="'--json'")
    policy = given.policy(ProjectPolicy)
    raise typer.Exit(
        project_file(
            file, policy=policy, output=output, is_diff=diff, is_json=as_json, is_strict=strict
        )
    )


@app.command()
def check(
    file: Annotated[
        str,
        typer.Argument(
            metavar="BODY", help="A request body, or a JSON array; - is stdin.", show_default=False
        ),
    ],
    destination: Destination = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object with the keys file and problems.")
    ] = False,
) -> None:
    """List what the provider would reject, and where. Exit with 1 if there are problems."""
    found = None if destination is None else destination_named("--destination", destination)
    raise typer.Exit(check_file(file, destination=found, is_json=as_json))


@app.command()
def recount(
    file: File,
    max_result_length: Annotated[
        str | None,
        typer.Option(
            metavar="N",
            help="Limit on a single result, in characters: 500, 2k, or none. Default: 500.",
            show_default=False,
        ),
    ] = None,
    max_tokens: Annotated[
        str | None,
        typer.Option(
            metavar="N",
            help="Limit on the whole history, in tokens: 20000, 20k, 10% of the window of --model, or none. "
            "Default: none.",
            show_default=False,
        ),
    ] = None,
    encoding: Encoding = "o200k_base",
    model: LimitModel = None,
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
            max_tokens=scaled(
                read_share("--max-tokens", max_tokens, model), scale_of(model or "").factor
            ),
            encoding=read_encoding(encoding) if model is None else scale_of(model).encoding,
            output=output,
            is_json=as_json,
            is_strict=strict,
        )
    )


@app.command()
@with_policies(CarryPolicy, ProjectPolicy)
def batch(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FOLDER|GLOB|FILE",
            help="Folders with conversations, patterns, or files.",
            show_default=False,
        ),
    ],
    job: Annotated[
        str,
        typer.Option(
            "--job",
            metavar="NAME",
            help=f"What to do with each file: {', '.join(JOBS)}.",
            autocompletion=offer(tuple(JOBS)),
            show_default=False,
        ),
    ],
    out: Annotated[
        str,
        typer.Option(
            "--out",
            metavar="X.parquet|X.jsonl|FOLDER",
            help="A file for all rows, or a folder for a file per conversation and rows.jsonl.",
            show_default=False,
        ),
    ],
    given: Given,
    jobs: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Number of files to process in parallel. Default: one per processor.",
            show_default=False,
        ),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Process only files that are new, changed, or had an error."),
    ] = False,
    since: Annotated[
        str | None,
        typer.Option(
            metavar="DATE",
            help="Only files that changed since a date, such as 2026-01-31, or in the last 7d or 12h.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Run one job on many files. Each file becomes a row; a file that can't be read becomes a row with its error.

    An interrupted run leaves only complete files, and --resume continues it.
    """
    read_choice("--job", job, tuple(JOBS))
    if job == "carry":
        work = Job(job, context=given.policy(CarryPolicy))
    else:
        work = Job(job, projection=given.policy(ProjectPolicy))
    raise typer.Exit(
        batch_files(files, job=work, out=out, jobs=jobs, since=since, is_resumed=resume)
    )


@app.command()
def formats(
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one line of JSON per format, or per rule.")
    ] = False,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print the table as Markdown.")
    ] = False,
    rules: Annotated[
        bool, typer.Option("--rules", help="List the rules of destinations instead.")
    ] = False,
) -> None:
    """List every format. For each: how it is recognised, what toolcarry does with it, and what it was tested with."""
    if as_json and markdown:
        raise typer.BadParameter("not allowed together with --markdown", param_hint="'--json'")
    listed = list_rules if rules else list_formats
    raise typer.Exit(listed(is_json=as_json, is_markdown=markdown))


app.command("continue", cls=WithArguments)(go_on)
app.command()(sessions)
app.command()(serve)
