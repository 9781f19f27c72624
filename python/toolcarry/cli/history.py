"""``toolcarry history``: the commands on the canonical history, with their options."""

from __future__ import annotations

from typing import Annotated

import typer

from toolcarry.cli.exit_codes import USAGE
from toolcarry.cli.help import Commands
from toolcarry.cli.log import Filter, show_log
from toolcarry.cli.options import JsonLines
from toolcarry.cli.shadow import show_shadow
from toolcarry.cli.store import (
    Store,
    backfill_store,
    compact_store,
    export_lines,
    search_store,
    show_commit,
    show_conversations,
    show_legacy,
    show_stats,
    show_turns,
    verify_store,
)
from toolcarry.cli.store_import import import_files

history = Commands(
    help="Keep complete conversations in a store. A store is a file or a PostgreSQL database.",
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
OnlyTenant = Annotated[
    str | None,
    typer.Option(
        "--tenant",
        metavar="NAME",
        help="Only this tenant's conversations. Default: all.",
        show_default=False,
    ),
]
Tenant = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The tenant that owns the conversations. Default: none, or the only one in the store.",
        show_default=False,
    ),
]
Conversation = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The name of the conversation. Default: the only one in the store, else the one named default.",
        show_default=False,
    ),
]
BusyTimeout = Annotated[
    float,
    typer.Option(metavar="SECONDS", help="Time to wait while other processes use the store."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
JsonObjects = Annotated[bool, typer.Option("--json", help="Print one JSON object per line.")]


@history.callback(invoke_without_command=True)
def main(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), err=True)
        raise typer.Exit(USAGE)


@history.command("import")
def take_in(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE",
            help="Session files (JSONL), request bodies or JSON arrays, compressed or not.",
            show_default=False,
        ),
    ],
    db: Database,
    conversation: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Import all files into this conversation. Default: one conversation per file, named after the "
            "file without its extension.",
            show_default=False,
        ),
    ] = None,
    tenant: Annotated[
        str, typer.Option(metavar="NAME", help="The tenant that will own the conversations.")
    ] = "",
    busy_timeout: BusyTimeout = 10.0,
    as_json: JsonLines = False,
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Exit with 1 if a message has an unknown structure."),
    ] = False,
) -> None:
    """Import files line by line, unchanged. Lines that the store already has are skipped, so an import can be repeated."""
    store = Store(db, tenant, busy_timeout)
    raise typer.Exit(import_files(files, store, conversation, is_json=as_json, is_strict=strict))


@history.command("conversations")
def conversations(
    db: Database,
    tenant: OnlyTenant = None,
    busy_timeout: BusyTimeout = 10.0,
    as_json: JsonObjects = False,
) -> None:
    """List the conversations of all tenants. Each is listed with its number of commits and the time of the last one.

    In recorded conversations, the tenant is a hash of the client's key, or single-user.
    """
    show_conversations(Store(db, tenant, busy_timeout), is_json=as_json)


@history.command("log")
def log(
    db: Database,
    limit: Annotated[
        int | None,
        typer.Option("-n", metavar="N", min=0, help="Show at most N commits.", show_default=False),
    ] = None,
    role: Annotated[
        str | None,
        typer.Option(metavar="ROLE", help="Show only this role, such as user.", show_default=False),
    ] = None,
    tool: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Show only calls and results of this tool.", show_default=False
        ),
    ] = None,
    text: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="Show only commits that contain this text, ignoring case.",
            show_default=False,
        ),
    ] = None,
    records: Annotated[
        bool, typer.Option("--records", help="Show records that are not messages, too.")
    ] = False,
    conversation: Conversation = None,
    tenant: Tenant = None,
    busy_timeout: BusyTimeout = 10.0,
    as_json: JsonObjects = False,
) -> None:
    """List the commits, newest first. Each line has hash, time, role, tool, tokens, and the first line of the text.

    The time is that of the message if it was imported with one, otherwise that of the commit.
    """
    only = Filter(role, tool, text, records)
    show_log(Store(db, tenant, busy_timeout), conversation, limit, only, is_json=as_json)


@history.command("show")
def show(
    commit: Annotated[
        str,
        typer.Argument(
            metavar="HASH|REFERENCE",
            help="The hash of a commit, or at least its first eight digits; or the reference of a marker.",
            show_default=False,
        ),
    ],
    db: Database,
    raw: Annotated[
        bool,
        typer.Option(
            "--raw", help="Print only the stored bytes: for an imported commit, its line."
        ),
    ] = False,
    conversation: Conversation = None,
    tenant: Tenant = None,
    busy_timeout: BusyTimeout = 10.0,
    as_json: Json = False,
) -> None:
    """Show a commit, or the result of a reference. A commit has its fields, its versions and its text."""
    if raw and as_json:
        raise typer.BadParameter("not allowed together with --raw", param_hint="'--json'")
    store = Store(db, tenant, busy_timeout)
    show_commit(store, conversation, commit, is_raw=raw, is_json=as_json)


@history.command("turns")
def turns(
    db: Database,
    name: Annotated[
        str | None,
        typer.Option(
            metavar="TOOL", help="Show only turns that call this tool.", show_default=False
        ),
    ] = None,
    conversation: Conversation = None,
    tenant: Tenant = None,
    busy_timeout: BusyTimeout = 10.0,
    as_json: JsonObjects = False,
) -> None:
    """List the model's calls with their results, oldest first."""
    show_turns(Store(db, tenant, busy_timeout), conversation, name, is_json=as_json)


@history.command("verify")
def verify(db: Database, busy_timeout: BusyTimeout = 10.0, as_json: Json = False) -> None:
    """Verify the whole store. All hashes are recomputed and all damage is listed; exit with 1 if there is any."""
    raise typer.Exit(verify_store(Store(db, "", busy_timeout), is_json=as_json))


@history.command("export")
def export(
    db: Database,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="OUT",
            help="Write to this file instead of stdout. It is replaced only on success.",
            show_default=False,
        ),
    ] = None,
    conversation: Conversation = None,
    tenant: Tenant = None,
    busy_timeout: BusyTimeout = 10.0,
) -> None:
    """Write a conversation as JSONL. Imported lines are written byte for byte, other messages as JSON."""
    export_lines(Store(db, tenant, busy_timeout), conversation, output)


@history.command("stats")
def stats(
    db: Database,
    conversation: Conversation = None,
    is_all: Annotated[
        bool, typer.Option("--all", help="Show all conversations of the tenant, as a table.")
    ] = False,
    tenant: Tenant = None,
    busy_timeout: BusyTimeout = 10.0,
    as_json: JsonObjects = False,
) -> None:
    """Count a conversation's commits, tokens and bytes. Bytes are counted before and after compression."""
    if is_all and conversation is not None:
        raise typer.BadParameter("not allowed together with --all", param_hint="'--conversation'")
    store = Store(db, tenant, busy_timeout)
    show_stats(store, conversation, is_all=is_all, is_json=as_json)


@history.command("legacy")
def legacy(
    db: Database,
    conversation: Conversation = None,
    tenant: Tenant = None,
    busy_timeout: BusyTimeout = 10.0,
    as_json: JsonObjects = False,
) -> None:
    """List the results that were cut before they were stored. Each line says where the full text may be."""
    show_legacy(Store(db, tenant, busy_timeout), conversation, is_json=as_json)


@history.command("backfill")
def backfill(
    db: Database,
    source: Annotated[
        str | None,
        typer.Argument(
            metavar="SOURCE",
            help="A folder in which the host kept full results, or a session file that contains them. "
            "Default: only the imported lines themselves.",
            show_default=False,
        ),
    ] = None,
    conversation: Conversation = None,
    tenant: Tenant = None,
    busy_timeout: BusyTimeout = 10.0,
    as_json: JsonObjects = False,
) -> None:
    """Replace cut results with their full text. Results that are still cut are listed; exit with 1 if there are any."""
    store = Store(db, tenant, busy_timeout)
    raise typer.Exit(backfill_store(store, conversation, source, is_json=as_json))


@history.command("shadow-report")
def shadow_report(
    db: Database,
    tenant: OnlyTenant = None,
    busy_timeout: BusyTimeout = 10.0,
    as_json: JsonObjects = False,
) -> None:
    """Compare requests in shadow mode. Old is the request that was forwarded, new is the request that the history would
    have made.

    Refetches are results that a request lacked, so that the model would have to run their tools again.
    """
    show_shadow(Store(db, tenant, busy_timeout), is_json=as_json)


@history.command("compact")
def compact(
    db: Database,
    limit: Annotated[
        int | None,
        typer.Option(metavar="TOKENS", min=1, help="The context window.", show_default=False),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="The model whose window is the limit.", show_default=False
        ),
    ] = None,
    compact_at: Annotated[
        float,
        typer.Option(
            metavar="SHARE", help="The share of the window at which messages are replaced."
        ),
    ] = 0.8,
    target: Annotated[
        float,
        typer.Option(
            metavar="SHARE", help="The share of the window that the conversation takes afterwards."
        ),
    ] = 0.5,
    conversation: Conversation = None,
    tenant: Tenant = None,
    busy_timeout: BusyTimeout = 10.0,
    as_json: Json = False,
) -> None:
    """Replace the oldest messages with excerpts. Nothing is done unless the conversation takes too much of a context
    window.

    Nothing is deleted; Tract.uncompress undoes the replacement.
    """
    store = Store(db, tenant, busy_timeout)
    settings = {"limit": limit, "model": model, "compact_at": compact_at, "target": target}
    compact_store(store, conversation, settings, is_json=as_json)


@history.command("search")
def search(
    db: Database,
    query: Annotated[
        str, typer.Argument(metavar="WORDS", help="The words to find, ignoring case.")
    ],
    limit: Annotated[int, typer.Option(metavar="N", min=1, help="Maximum number of results.")] = 10,
    conversation: Conversation = None,
    tenant: Tenant = None,
    busy_timeout: BusyTimeout = 10.0,
    as_json: JsonObjects = False,
) -> None:
    """Find tool results by words. Results with all of the words are listed, each with a part of its text."""
    store = Store(db, tenant, busy_timeout)
    search_store(store, conversation, query, limit=limit, is_json=as_json)
