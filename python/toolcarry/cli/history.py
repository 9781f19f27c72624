"""``toolcarry history``: its commands and their options. What they do stands in ``history_import`` and ``history_read``."""

from __future__ import annotations

from typing import Annotated

import typer

from toolcarry.cli.codes import EXIT_CODES, USAGE
from toolcarry.cli.history_import import import_files
from toolcarry.cli.history_read import (
    export_lines,
    show_commit,
    show_log,
    show_stats,
    show_turns,
    verify_store,
)
from toolcarry.cli.history_store import Store

history = typer.Typer(
    help="The canonical history: conversations taken in whole, kept for good in one file or on PostgreSQL.",
    epilog=EXIT_CODES,
    rich_markup_mode=None,
)

Database = Annotated[
    str,
    typer.Option(
        "--db",
        metavar="FILE|URL",
        envvar="TOOLCARRY_DB",
        help="The store: a file, or postgresql://...",
        show_default=False,
    ),
]
Tenant = Annotated[
    str,
    typer.Option(metavar="NAME", help="Whose conversations they are.", show_default=False),
]
Conversation = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The conversation. Default: the only one there is, or else default.",
        show_default=False,
    ),
]
BusyTimeout = Annotated[
    float,
    typer.Option(metavar="SECONDS", help="How long to wait for others who use the store."),
]
Json = Annotated[bool, typer.Option("--json", help="One JSON object.")]
JsonLines = Annotated[bool, typer.Option("--json", help="One JSON object a line.")]


@history.callback(invoke_without_command=True)
def main(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), err=True)
        raise typer.Exit(USAGE)


@history.command("import", epilog=EXIT_CODES)
def take_in(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE",
            help="Session files (JSONL), request bodies or JSON arrays; packed ones as well.",
            show_default=False,
        ),
    ],
    db: Database,
    conversation: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The conversation that all files go into. Default: each into one of the file's name, "
            "without its extension.",
            show_default=False,
        ),
    ] = None,
    tenant: Tenant = "",
    busy_timeout: BusyTimeout = 10.0,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object a line for each file.")
    ] = False,
) -> None:
    """Take in files, line by line as they stand. What is there already is skipped, so that it may be repeated."""
    store = Store(db, tenant, busy_timeout)
    raise typer.Exit(import_files(files, store, conversation, is_json=as_json))


@history.command("log", epilog=EXIT_CODES)
def log(
    db: Database,
    limit: Annotated[
        int | None,
        typer.Option(
            "-n", metavar="N", min=0, help="No more than so many commits.", show_default=False
        ),
    ] = None,
    conversation: Conversation = None,
    tenant: Tenant = "",
    busy_timeout: BusyTimeout = 10.0,
    as_json: JsonLines = False,
) -> None:
    """List the commits, newest first: hash, time, role, tool, tokens, and the first line of the text."""
    show_log(Store(db, tenant, busy_timeout), conversation, limit, is_json=as_json)


@history.command("show", epilog=EXIT_CODES)
def show(
    commit: Annotated[
        str,
        typer.Argument(
            metavar="HASH",
            help="A commit's hash, or the first eight digits of it or more.",
            show_default=False,
        ),
    ],
    db: Database,
    raw: Annotated[
        bool,
        typer.Option("--raw", help="The stored bytes alone: of an imported commit, its line."),
    ] = False,
    conversation: Conversation = None,
    tenant: Tenant = "",
    busy_timeout: BusyTimeout = 10.0,
    as_json: Json = False,
) -> None:
    """Show a commit: what is known of it, its versions where it was edited, and its text."""
    if raw and as_json:
        raise typer.BadParameter("not allowed beside --raw", param_hint="'--json'")
    store = Store(db, tenant, busy_timeout)
    show_commit(store, conversation, commit, is_raw=raw, is_json=as_json)


@history.command("turns", epilog=EXIT_CODES)
def turns(
    db: Database,
    name: Annotated[
        str | None,
        typer.Option(metavar="TOOL", help="Only turns that call this tool.", show_default=False),
    ] = None,
    conversation: Conversation = None,
    tenant: Tenant = "",
    busy_timeout: BusyTimeout = 10.0,
    as_json: JsonLines = False,
) -> None:
    """List what the model called, oldest first, each call with the results that came back."""
    show_turns(Store(db, tenant, busy_timeout), conversation, name, is_json=as_json)


@history.command("verify", epilog=EXIT_CODES)
def verify(db: Database, busy_timeout: BusyTimeout = 10.0, as_json: Json = False) -> None:
    """Prove the whole store: hash every commit and content anew, list what is damaged, and exit with 1 if anything is."""
    raise typer.Exit(verify_store(Store(db, "", busy_timeout), is_json=as_json))


@history.command("export", epilog=EXIT_CODES)
def export(
    db: Database,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="OUT",
            help="Write to this file instead of stdout, all at once.",
            show_default=False,
        ),
    ] = None,
    conversation: Conversation = None,
    tenant: Tenant = "",
    busy_timeout: BusyTimeout = 10.0,
) -> None:
    """Write a conversation: imported lines byte for byte, each other message as a line of JSON."""
    export_lines(Store(db, tenant, busy_timeout), conversation, output)


@history.command("stats", epilog=EXIT_CODES)
def stats(
    db: Database,
    conversation: Conversation = None,
    is_all: Annotated[
        bool, typer.Option("--all", help="All conversations of the tenant, as a table.")
    ] = False,
    tenant: Tenant = "",
    busy_timeout: BusyTimeout = 10.0,
    as_json: JsonLines = False,
) -> None:
    """Count what a conversation holds: commits by kind, tokens, and bytes, plain and as they are stored."""
    if is_all and conversation is not None:
        raise typer.BadParameter("not allowed beside --all", param_hint="'--conversation'")
    store = Store(db, tenant, busy_timeout)
    show_stats(store, conversation, is_all=is_all, is_json=as_json)
